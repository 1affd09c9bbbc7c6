package result

import (
	"bytes"
	"encoding/csv"
	"strings"
)

// CSV returns a table as CSV (RFC 4180) with the names of the columns in the first line. A text that a spreadsheet would run as a
// formula begins with an apostrophe. A line with one empty text is "", since readers pass over empty lines.
func (t Table) CSV() ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.UseCRLF = true
	line := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		line[i] = plain(c.Name)
	}
	if err := w.Write(line); err != nil {
		return nil, err
	}
	for _, row := range t.Rows {
		for i, v := range row {
			if line[i] = Text(v); line[i] == v { // a text
				line[i] = plain(line[i])
			}
		}
		if len(line) == 1 && line[0] == "" {
			w.Flush()
			out.WriteString("\"\"\r\n")
			continue
		}
		if err := w.Write(line); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return out.Bytes(), w.Error()
}

// Lengths returns about how many bytes each row has as CSV.
func (t Table) Lengths() []int {
	all := make([]int, len(t.Rows))
	for i, row := range t.Rows {
		for _, v := range row {
			all[i] += len(Text(v)) + len(`"",`)
		}
	}
	return all
}

// plain returns a text that no spreadsheet takes for a formula.
func plain(text string) string {
	if strings.HasPrefix(strings.TrimLeft(text, " \t\r\n"), "=") || text != "" && strings.ContainsRune("=+-@\t\r\n|%", rune(text[0])) {
		return "'" + text
	}
	return text
}
