package result

import "strings"

// CSV returns a table as lines of CSV (RFC 4180), the names of the columns first. A text that a spreadsheet would run as a formula begins
// with an apostrophe. A text with a mark at which a spreadsheet may part it is in quotes, and the text of a single column always is, since
// readers pass over empty lines.
func (t Table) CSV() []string {
	lines := make([]string, 1+len(t.Rows))
	cells := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		cells[i] = t.quoted(c.Name)
	}
	lines[0] = strings.Join(cells, ",") + "\r\n"
	for n, row := range t.Rows {
		for i, v := range row {
			if cells[i] = Text(v); cells[i] == v || cells[i] == "" { // a text or no value
				cells[i] = t.quoted(cells[i])
			}
		}
		lines[1+n] = strings.Join(cells, ",") + "\r\n"
	}
	return lines
}

// quoted returns a text as a cell that no spreadsheet takes for a formula.
func (t Table) quoted(text string) string {
	if strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "=") || text != "" && strings.ContainsAny(text[:1], "=+-@\t\r\n|%") {
		text = "'" + text
	}
	if len(t.Columns) > 1 && !strings.ContainsAny(text, "\",;\t\r\n") && strings.Trim(text, " ") == text {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}
