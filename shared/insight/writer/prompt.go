package writer

import (
	_ "embed"
	"fmt"
	"strings"
	"time"

	"lectern/shared/query"
)

// language describes the language of queries for the model, and form the form of its answer.
var (
	//go:embed language.txt
	language string
	//go:embed form.txt
	form string
)

// The largest description of entities in bytes, and the largest number of characters of a remark in it.
const (
	maxDescription = 60_000
	maxRemark      = 100
)

// instructions returns the instructions of the model: the language, the time and the entities of a schema. It has no
// record.
func instructions(s *query.Schema, now time.Time) string {
	return language + "\n# Time\nNow it is " + now.UTC().Format("Monday, 2006-01-02T15:04Z") + ".\n" + describe(s) + "\n" + form
}

// describe returns the description of the entities of a schema. A long description loses the remarks of fields, then
// the custom fields.
func describe(s *query.Schema) (text string) {
	for _, d := range []extent{{remarks: true, custom: true}, {custom: true}, {}} {
		text = d.schema(s)
		if len(text) <= maxDescription {
			return text
		}
	}
	return text
}

// extent says what a description has of the fields.
type extent struct{ remarks, custom bool }

// schema returns the description of the entities.
func (d extent) schema(s *query.Schema) string {
	var b strings.Builder
	b.WriteString("\n# Entities\n")
	for _, e := range s.Entities {
		fmt.Fprintf(&b, "\n## %s, singular %s\n", e.Name, e.Singular)
		if e.Doc != "" {
			b.WriteString(cut(oneLine(e.Doc), 2*maxRemark) + "\n")
		}
		if names := s.Related(e); len(names) > 0 {
			b.WriteString("Related to: " + strings.Join(names, ", ") + "\n")
		}
		for _, c := range e.Columns {
			if d.custom || !isCustom(c) {
				b.WriteString("- " + d.column(e, c) + "\n")
			}
		}
	}
	return b.String()
}

// column returns the description of a field.
func (d extent) column(e *query.Entity, c *query.Column) string {
	text := e.Singular + "." + c.Name + " " + string(c.Type)
	if c.PII {
		text += ", personal"
	}
	if d.remarks && c.Doc != "" {
		text += ": " + cut(oneLine(c.Doc), maxRemark)
	}
	return text
}

// oneLine returns a text without line breaks.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// isCustom reports whether a column is a custom field.
func isCustom(c *query.Column) bool { return strings.HasPrefix(c.Name, query.CustomPrefix) }
