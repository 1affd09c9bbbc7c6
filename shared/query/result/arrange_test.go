package result_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/query"
	"lectern/shared/query/result"
)

// table returns a table of a text column and a column with some values.
func table(values ...any) result.Table {
	t := result.Table{Columns: []query.Result{{Name: "title", Type: query.String}, {Name: "of", Type: query.String}}}
	for i, v := range values {
		t.Rows = append(t.Rows, []any{fmt.Sprint("row ", i), v})
	}
	return t
}

// TestAPivotHasColumnsWithinLimits: 100 of them, with names of at most 255 bytes, which each row of the answer repeats.
func TestAPivotHasColumnsWithinLimits(t *testing.T) {
	pivot := &result.Arrangement{Pivot: &result.Pivot{Row: "title", Column: "of"}}
	var many []any
	for i := range 101 {
		many = append(many, fmt.Sprint("value ", i))
	}
	_, err := pivot.Of(table(many...), false)
	require.ErrorContains(t, err, "has 101 values; a pivot makes at most 100 columns")
	made, err := pivot.Of(table(many[:100]...), false)
	require.NoError(t, err)
	require.Len(t, made.Columns, 101)
	_, err = pivot.Of(table(strings.Repeat("x", 256)), false)
	require.ErrorContains(t, err, "too long for the name of a column")
	_, err = pivot.Of(table(strings.Repeat("x", 255)), false)
	require.NoError(t, err)
}

// TestAPivotTellsNoValueFromAnEmptyText, also where a text reads like the name of the column of no value.
func TestAPivotTellsNoValueFromAnEmptyText(t *testing.T) {
	pivot := &result.Arrangement{Pivot: &result.Pivot{Row: "title", Column: "of"}}
	made, err := pivot.Of(table(nil, "", "null"), false)
	require.NoError(t, err)
	var names []string
	for _, c := range made.Columns {
		names = append(names, c.Name)
	}
	require.Equal(t, []string{"title", "", "null", "null_"}, names)
	require.Equal(t, [][]any{{"row 0", 0.0, 1.0, 0.0}, {"row 1", 1.0, 0.0, 0.0}, {"row 2", 0.0, 0.0, 1.0}}, made.Rows)
}
