// Package result arranges the result of a query anew, without another query: search, groups, pivot, sort. It also writes results as
// CSV. result.go has the table, arrange.go what a client asks for, csv.go the CSV.
package result

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"lectern/shared/apierr"
	"lectern/shared/query"
	"lectern/shared/wire"
)

// MostRows is how many rows can be arranged anew, and mostColumns how many columns a pivot makes.
const (
	MostRows    = 10_000
	mostColumns = 100
)

// Table is a result. The values of a row are texts, float64, bool and nil, in the order of the columns.
type Table struct {
	Columns []query.Result
	Rows    [][]any
}

// Row is a result of a query: an object with a property for each column.
type Row struct{ wire.Object }

// Schema returns the schema of an object with any properties.
func (Row) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// Objects returns the rows as objects by the names of the columns.
func (t Table) Objects() []Row {
	all := make([]Row, len(t.Rows))
	for i, row := range t.Rows {
		for j, c := range t.Columns {
			all[i].Add(c.Name, row[j])
		}
	}
	return all
}

// column returns the number of a column. field is the property of the request that names the column. masked columns are refused: the
// arrangement would tell rows apart by data that the caller must not see.
func (t *Table) column(field, name string, masked bool) (int, error) {
	i := slices.IndexFunc(t.Columns, func(c query.Result) bool { return c.Name == name })
	if i < 0 {
		names := make([]string, len(t.Columns))
		for j, c := range t.Columns {
			names[j] = c.Name
		}
		return 0, apierr.Invalid(field, "The result has no column %q. Its columns are %s.", name, strings.Join(names, ", "))
	}
	if masked && t.Columns[i].PII {
		return 0, apierr.Invalid(field, "The column %q is personal data, which the caller sees masked. Name another column.", name)
	}
	return i, nil
}

// compare compares two values of a column: no value comes first, texts compare without regard to case.
func compare(a, b any) int {
	switch a := a.(type) {
	case nil:
		return cmp.Compare(0, rank(b))
	case float64:
		if b, ok := b.(float64); ok {
			return cmp.Compare(a, b)
		}
	case bool:
		if b, ok := b.(bool); ok && a != b {
			return cmp.Compare(Text(a), Text(b)) // false before true
		}
	case string:
		if b, ok := b.(string); ok {
			return cmp.Or(cmp.Compare(strings.ToLower(a), strings.ToLower(b)), cmp.Compare(a, b))
		}
	}
	return cmp.Compare(rank(a), rank(b))
}

// rank orders values of different types.
func rank(v any) int {
	switch v.(type) {
	case nil:
		return 0
	case bool:
		return 1
	case float64:
		return 2
	default:
		return 3
	}
}

// Text returns a value as a text, a number without an exponent; empty for no value.
func Text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return fmt.Sprint(v)
	}
}
