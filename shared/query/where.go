package query

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// The functions of the engine for LIKE and CONTAINS: each takes a text and a pattern in small letters.
const (
	LikeFunction     = "lectern_like"
	ContainsFunction = "lectern_contains"
)

// condition returns the SQL of a condition, and adds its values.
func (c *compiler) condition(of Condition, in clause) string {
	switch of := of.(type) {
	case *Every:
		return c.all(of.Of, " AND ", in)
	case *Any:
		return c.all(of.Of, " OR ", in)
	case *Negation:
		return "NOT (" + c.condition(of.Of, in) + ")"
	default:
		return c.test(of.(*Test), in)
	}
}

func (c *compiler) all(of []Condition, operator string, in clause) string {
	texts := make([]string, len(of))
	for i, one := range of {
		texts[i] = "(" + c.condition(one, in) + ")"
	}
	return strings.Join(texts, operator)
}

// test returns the SQL of a comparison.
func (c *compiler) test(t *Test, in clause) string {
	o := c.resolve(t.Operand, in)
	if c.mistake != nil {
		return ""
	}
	values := c.values(t, o.typ)
	c.made.Args = append(c.made.Args, values...)
	not := ""
	if t.Not {
		not = "NOT "
	}
	switch t.Operator {
	case Null:
		return o.sql + " IS " + not + "NULL"
	case In:
		return o.sql + " " + not + "IN (" + Placeholders(len(values)) + ")"
	case Between:
		return o.sql + " " + not + "BETWEEN ? AND ?"
	case Like:
		return not + LikeFunction + "(" + o.sql + ", ?)"
	case Contains:
		return not + ContainsFunction + "(" + o.sql + ", ?)"
	default:
		return o.sql + " " + string(t.Operator) + " ?"
	}
}

// values returns the values of a comparison with an operand of a type.
func (c *compiler) values(t *Test, typ Type) (values []any) {
	isText := t.Operator == Like || t.Operator == Contains
	if isText && typ != String {
		c.fail(t.At, quote(t.String()), "a text field before "+string(t.Operator))
	}
	if typ == Bool && !slices.Contains([]Operator{Equal, NotEqual, In, Null}, t.Operator) {
		c.fail(t.At, quote(t.String()), "a field that has an order before "+string(t.Operator))
	}
	for _, v := range t.Values {
		value, expected := literal(v, typ)
		if expected != "" {
			kinds := map[Kind]kind{Text: text, Number: number, Boolean: word}
			c.fail(v.At, token{kinds[v.Kind], v.Text, v.At}.String(), expected)
		}
		if small, ok := value.(string); ok && isText {
			value = strings.ToLower(small)
		}
		values = append(values, value)
	}
	return values
}

// TimeLayout is the form of times in tables and values.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// literal returns a literal as the value of a type, or else what is expected.
func literal(v Value, typ Type) (value any, expected string) {
	switch {
	case typ == Bool && v.Kind == Boolean:
		return v.Text == "TRUE", ""
	case typ == Bool:
		return nil, "TRUE or FALSE"
	case typ == Float && v.Kind == Number:
		n, _ := strconv.ParseFloat(v.Text, 64) // The lexer takes numbers alone.
		return n, ""
	case typ == Float:
		return nil, "a number"
	case v.Kind != Text:
		return nil, "a text in single quotes"
	case typ == String:
		return v.Text, ""
	case typ == Date:
		return inLayouts(v.Text, time.DateOnly, "a date such as '2027-05-10'", time.DateOnly)
	default:
		return inLayouts(v.Text, TimeLayout, "a time such as '2027-05-10T09:00:00Z', or a date",
			time.RFC3339, time.DateOnly, "2006-01-02T15:04", "2006-01-02T15:04:05")
	}
}

// inLayouts returns a time in a layout, or else what is expected. The text has any layout of some.
func inLayouts(text, as, expected string, layouts ...string) (any, string) {
	for _, layout := range layouts {
		at, err := time.Parse(layout, text)
		if at = at.UTC(); err == nil && at.Year() >= 0 && at.Year() <= 9999 && at.Nanosecond()%int(time.Millisecond) == 0 {
			return at.Format(as), ""
		}
	}
	return nil, expected
}
