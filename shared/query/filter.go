package query

import (
	"cmp"
	"slices"
)

// Filter is a comparison that every row of a result meets. A record that does not meet it need not be in the tables.
type Filter struct {
	Column   *Column
	Operator Operator
	Not      bool
	Values   []any
}

// findFilters notes the comparisons of WHERE that every row meets: the only condition, or those with AND between. A comparison with
// NULL is none: a LEFT JOIN makes rows without values.
func (c *compiler) findFilters() {
	all := []Condition{c.query.Where}
	if every, ok := c.query.Where.(*Every); ok {
		all = every.Of
	}
	for _, one := range all {
		t, ok := one.(*Test)
		if !ok || t.Operator == Null || t.Operator == Like || t.Operator == Contains {
			continue
		}
		found := c.field(t.Operand)
		if found.column == nil {
			return
		}
		found.source.Filters = append(found.source.Filters, Filter{found.column, t.Operator, t.Not, c.values(t, found.typ)})
	}
}

// Allows reports whether a value meets the comparison: a text, a float64, a bool, or nil, which meets none.
func (f Filter) Allows(value any) bool {
	if value == nil {
		return false
	}
	switch f.Operator {
	case In:
		return slices.Contains(f.Values, value) != f.Not
	case Between:
		return (compare(value, f.Values[0]) >= 0 && compare(value, f.Values[1]) <= 0) != f.Not
	}
	order := compare(value, f.Values[0])
	switch f.Operator {
	case Equal:
		return order == 0
	case NotEqual:
		return order != 0
	case Less:
		return order < 0
	case AtMost:
		return order <= 0
	case More:
		return order > 0
	default:
		return order >= 0
	}
}

// compare compares two values of a type: bytes of texts, numbers, or false before true.
func compare(a, b any) int {
	switch a := a.(type) {
	case string:
		return cmp.Compare(a, b.(string))
	case float64:
		return cmp.Compare(a, b.(float64))
	default:
		return cmp.Compare(asNumber(a.(bool)), asNumber(b.(bool)))
	}
}

// asNumber returns 1 for true.
func asNumber(b bool) int {
	if b {
		return 1
	}
	return 0
}
