package query

import (
	"strconv"
	"strings"
)

// String returns a text of the query. Parse makes the same query of it, but for the positions.
func (q *Query) String() string {
	var b strings.Builder
	if q.Find {
		b.WriteString("FIND " + q.From.Text)
		writeList(&b, " WITH ", q.Joins, func(j Join) string { return j.Entity.Text })
	} else {
		b.WriteString("SELECT ")
		if q.Distinct {
			b.WriteString("DISTINCT ")
		}
		if len(q.Items) == 0 {
			b.WriteString("*")
		}
		writeList(&b, "", q.Items, Item.text)
		b.WriteString(" FROM " + q.From.Text)
		for _, j := range q.Joins {
			if j.Left {
				b.WriteString(" LEFT")
			}
			b.WriteString(" JOIN " + j.Entity.Text)
		}
	}
	if q.Where != nil {
		b.WriteString(" WHERE " + textOf(q.Where))
	}
	writeList(&b, " GROUP BY ", q.GroupBy, Operand.String)
	if q.Having != nil {
		b.WriteString(" HAVING " + textOf(q.Having))
	}
	writeList(&b, " ORDER BY ", q.OrderBy, Key.text)
	if q.Limit > 0 {
		b.WriteString(" LIMIT " + strconv.Itoa(q.Limit))
	}
	return b.String()
}

// writeList writes a keyword and the texts of values with commas between; nothing for no value.
func writeList[T any](b *strings.Builder, keyword string, values []T, text func(T) string) {
	for i, v := range values {
		if i == 0 {
			b.WriteString(keyword)
		} else {
			b.WriteString(", ")
		}
		b.WriteString(text(v))
	}
}

// String returns the text of an operand.
func (o Operand) String() string {
	switch {
	case o.Aggregate == "":
		return o.Field
	case o.Distinct:
		return o.Aggregate + "(DISTINCT " + o.Field + ")"
	default:
		return o.Aggregate + "(" + o.Field + ")"
	}
}

func (i Item) text() string {
	if i.As == "" {
		return i.String()
	}
	return i.String() + " AS " + i.As
}

func (k Key) text() string {
	if k.Desc {
		return k.String() + " DESC"
	}
	return k.String()
}

// textOf returns the text of a condition.
func textOf(c Condition) string {
	switch c := c.(type) {
	case *Every:
		return textOfAll(c.Of, " AND ")
	case *Any:
		return textOfAll(c.Of, " OR ")
	case *Negation:
		return "NOT " + inBrackets(c.Of)
	default:
		return c.(*Test).text()
	}
}

// textOfAll returns the texts of conditions, each in brackets if it has parts, with an operator between.
func textOfAll(of []Condition, operator string) string {
	texts := make([]string, len(of))
	for i, c := range of {
		texts[i] = inBrackets(c)
	}
	return strings.Join(texts, operator)
}

func inBrackets(c Condition) string {
	switch c.(type) {
	case *Every, *Any:
		return "(" + textOf(c) + ")"
	default:
		return textOf(c)
	}
}

// text returns the text of a comparison.
func (t *Test) text() string {
	not := ""
	if t.Not {
		not = "NOT "
	}
	switch t.Operator {
	case Null:
		return t.String() + " IS " + not + "NULL"
	case In:
		var b strings.Builder
		writeList(&b, "", t.Values, Value.String)
		return t.String() + " " + not + "IN (" + b.String() + ")"
	case Between:
		return t.String() + " " + not + "BETWEEN " + t.Values[0].String() + " AND " + t.Values[1].String()
	default:
		return t.String() + " " + not + string(t.Operator) + " " + t.Values[0].String()
	}
}

// String returns the text of a literal.
func (v Value) String() string {
	if v.Kind == Text {
		return quote(v.Text)
	}
	return v.Text
}
