package result

import (
	"regexp"
	"strings"
)

// CSV returns a table as lines of CSV (RFC 4180), the names of the columns first. An apostrophe stands before what a spreadsheet would run
// as a formula. A text with a mark at which a spreadsheet may part it is in quotes, and the text of a single column always is: readers pass
// over empty lines.
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

// formula matches the sign of a formula: at the beginning, and after a mark at which a spreadsheet may part a text. A list in a text has
// lines that begin with a minus.
var formula = regexp.MustCompile(`((?:^|[;\t\r\n]) *)([=+@＝＋＠])|^( *)([-|%－])`)

// quoted returns a text as a cell that no spreadsheet takes for a formula.
func (t Table) quoted(text string) string {
	text = formula.ReplaceAllString(text, "$1$3'$2$4")
	if len(t.Columns) > 1 && !strings.ContainsAny(text, "\",;\t\r\n") && strings.Trim(text, " ") == text {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}
