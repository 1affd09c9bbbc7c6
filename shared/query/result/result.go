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

// MostRows is how many rows can be arranged anew, mostColumns how many columns a pivot makes, and longestName how many bytes the name of
// such a column has.
const (
	MostRows    = 10_000
	mostColumns = 100
	longestName = 255
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

// compare compares two values of a column: no value comes first, false before true, and texts compare without regard to case.
func compare(a, b any) int {
	x, isNumber := a.(float64)
	switch y, both := b.(float64); {
	case a == b:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	case isNumber && both:
		return cmp.Compare(x, y)
	}
	first, second := Text(a), Text(b)
	return cmp.Or(cmp.Compare(strings.ToLower(first), strings.ToLower(second)), cmp.Compare(first, second))
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
