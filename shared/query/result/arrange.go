package result

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"lectern/shared/apierr"
	"lectern/shared/query"
)

// Arrangement says how a result is arranged anew, in this order: search, groups or pivot, sort.
type Arrangement struct {
	Search        string `json:"search,omitempty" maxLength:"255" doc:"Keeps the rows with this text in one of the values, whatever its case."`
	GroupBy       string `json:"groupBy,omitempty" maxLength:"255" doc:"A column of the result: the result then has each of its values, with the number of rows as count."`
	Pivot         *Pivot `json:"pivot,omitempty" doc:"Makes a table of two columns: a row for each value of one, a column for each value of the other."`
	SortBy        string `json:"sortBy,omitempty" maxLength:"255" doc:"A column of the result to sort by, after groupBy or pivot."`
	SortDirection string `json:"sortDirection,omitempty" enum:"asc,desc" default:"asc" doc:"The direction of sortBy."`
}

// Pivot makes columns of values.
type Pivot struct {
	Row       string `json:"row" maxLength:"255" doc:"The column whose values become rows."`
	Column    string `json:"column" maxLength:"255" doc:"The column whose values become columns: 100 at most."`
	Value     string `json:"value,omitempty" maxLength:"255" doc:"The number column to aggregate; not needed to count."`
	Aggregate string `json:"aggregate,omitempty" enum:"count,sum,avg,min,max" default:"count" doc:"What each cell has of the rows that belong to it."`
}

// IsNone reports whether nothing is arranged.
func (a *Arrangement) IsNone() bool {
	return a.Search == "" && a.GroupBy == "" && a.Pivot == nil && a.SortBy == ""
}

// Of returns a table arranged anew. The caller sees columns with personal data masked if masked is set; such a column cannot be grouped
// or sorted. The error is a 400 that names the property.
func (a *Arrangement) Of(t Table, masked bool) (Table, error) {
	if a.GroupBy != "" && a.Pivot != nil {
		return t, apierr.Invalid("pivot", "A result can have groupBy or pivot, not both.")
	}
	if a.Search != "" {
		t = t.mentioning(strings.ToLower(a.Search))
	}
	var err error
	switch {
	case a.GroupBy != "":
		t, err = t.grouped(a.GroupBy, masked)
	case a.Pivot != nil:
		t, err = a.Pivot.of(t, masked)
	}
	if err != nil || a.SortBy == "" {
		return t, err
	}
	return t.sorted(a.SortBy, a.SortDirection == "desc", masked)
}

// mentioning returns the rows with a text, in lower case, in one of the values.
func (t Table) mentioning(words string) Table {
	found := Table{Columns: t.Columns}
	for _, row := range t.Rows {
		for _, v := range row {
			if strings.Contains(strings.ToLower(Text(v)), words) {
				found.Rows = append(found.Rows, row)
				break
			}
		}
	}
	return found
}

// sorted returns the rows by a column. Rows with equal values keep their order.
func (t Table) sorted(by string, descending, masked bool) (Table, error) {
	i, err := t.column("sortBy", by, masked)
	if err != nil {
		return t, err
	}
	t.Rows = slices.Clone(t.Rows)
	slices.SortStableFunc(t.Rows, func(a, b []any) int {
		if descending {
			return compare(b[i], a[i])
		}
		return compare(a[i], b[i])
	})
	return t, nil
}

// count is the name of the number of rows of a group.
const count = "count"

// grouped returns each value of a column with its number of rows, in the order in which the values come.
func (t Table) grouped(by string, masked bool) (Table, error) {
	i, err := t.column("groupBy", by, masked)
	if err != nil {
		return t, err
	}
	name := count
	if by == name {
		name += "_"
	}
	made, at := Table{Columns: []query.Result{t.Columns[i], {Name: name, Type: query.Float}}}, map[any]int{}
	for _, row := range t.Rows {
		number, known := at[row[i]]
		if !known {
			number = len(made.Rows)
			at[row[i]], made.Rows = number, append(made.Rows, []any{row[i], float64(0)})
		}
		made.Rows[number][1] = made.Rows[number][1].(float64) + 1
	}
	return made, nil
}

// of returns a table with a row for each value of a column, and a column for each value of another.
func (p *Pivot) of(t Table, masked bool) (Table, error) {
	row, err := t.column("pivot.row", p.Row, masked)
	if err != nil {
		return t, err
	}
	column, err := t.column("pivot.column", p.Column, masked)
	if err != nil {
		return t, err
	}
	value := -1
	if p.Value != "" || p.aggregates() {
		if value, err = t.column("pivot.value", p.Value, masked); err != nil {
			return t, err
		}
		if p.aggregates() && t.Columns[value].Type != query.Float {
			return t, apierr.Invalid("pivot.value", "The column %q has no numbers. Name a number column, or count.", p.Value)
		}
	}
	c := cells{names: map[any]bool{}, all: map[any]map[any]*cell{}}
	for _, values := range t.Rows {
		var number any
		if value >= 0 {
			number = values[value]
		}
		if len(Text(values[column])) > longestName {
			return t, apierr.Invalid("pivot.column", "The column %q has a value of more than %d bytes, which is too long for the name of a column.",
				p.Column, longestName)
		}
		c.add(values[row], values[column], number)
	}
	if len(c.names) > mostColumns {
		return t, apierr.Invalid("pivot.column", "The column %q has %d values; a pivot makes at most %d columns.",
			p.Column, len(c.names), mostColumns)
	}
	return c.table(t.Columns[row], p.Aggregate), nil
}

// aggregates reports whether the cells have anything but the number of rows.
func (p *Pivot) aggregates() bool { return p.Aggregate != "" && p.Aggregate != count }

// cells are the cells of a pivot: the keys of its rows in the order in which they come, the values that become columns, and the cells by
// both.
type cells struct {
	keys  []any
	names map[any]bool
	all   map[any]map[any]*cell
}

// cell has the rows that belong to a row and a column of a pivot: their number, and the numbers among their values.
type cell struct {
	rows, numbers int
	sum, min, max float64
}

// add adds a row of the result to its cell.
func (c *cells) add(key, name, value any) {
	if c.all[key] == nil {
		c.keys, c.all[key] = append(c.keys, key), map[any]*cell{}
	}
	if c.all[key][name] == nil {
		c.names[name], c.all[key][name] = true, &cell{}
	}
	c.all[key][name].add(value)
}

// add adds a row with a value to the cell.
func (c *cell) add(value any) {
	c.rows++
	n, ok := value.(float64)
	if !ok {
		return
	}
	if c.numbers == 0 {
		c.min, c.max = n, n
	}
	c.numbers++
	c.sum, c.min, c.max = c.sum+n, min(c.min, n), max(c.max, n)
}

// of returns an aggregate of the cell: nil without a number, and for a sum that is too large for a number.
func (c *cell) of(aggregate string) any {
	switch {
	case aggregate == "" || aggregate == count:
		return float64(c.rows)
	case c.numbers == 0:
		return nil
	case aggregate == "min":
		return c.min
	case aggregate == "max":
		return c.max
	case math.IsInf(c.sum, 0) || math.IsNaN(c.sum):
		return nil // Beyond all numbers of JSON.
	case aggregate == "sum":
		return c.sum
	}
	return c.sum / float64(c.numbers)
}

// nameOf returns the name of the column of a value; null for no value.
func nameOf(value any) string {
	if value == nil {
		return "null"
	}
	return Text(value)
}

// byName compares the values of two columns by the names of the columns.
func byName(a, b any) int { return cmp.Or(cmp.Compare(nameOf(a), nameOf(b)), compare(a, b)) }

// table returns the pivot: the columns in the order of their names, the rows in the order in which they come. A cell without a row is 0
// for a count, and has no value otherwise.
func (c *cells) table(first query.Result, aggregate string) Table {
	made := Table{Columns: []query.Result{first}}
	values := slices.SortedFunc(maps.Keys(c.names), byName)
	for _, value := range values {
		name := nameOf(value)
		for slices.ContainsFunc(made.Columns, func(c query.Result) bool { return c.Name == name }) {
			name += "_"
		}
		made.Columns = append(made.Columns, query.Result{Name: name, Type: query.Float})
	}
	for _, key := range c.keys {
		row := []any{key}
		for _, value := range values {
			row = append(row, cmp.Or(c.all[key][value], &cell{}).of(aggregate))
		}
		made.Rows = append(made.Rows, row)
	}
	return made
}
