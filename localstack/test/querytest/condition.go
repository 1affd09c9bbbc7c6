package querytest

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"lectern/shared/query"
)

// truth is yes, no or unknown.
type truth int

const (
	unknown truth = iota
	no
	yes
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

func (t truth) not() truth { return [...]truth{unknown, yes, no}[t] }

// holds reports whether a condition holds for a group.
func (e *evaluator) holds(c query.Condition, g []joined) truth {
	switch c := c.(type) {
	case *query.Every:
		return e.all(c.Of, g, no)
	case *query.Any:
		return e.all(c.Of, g, yes)
	case *query.Negation:
		return e.holds(c.Of, g).not()
	default:
		t := c.(*query.Test)
		result := test(t, e.value(t.Operand, g))
		if t.Not {
			return result.not()
		}
		return result
	}
}

// all returns the truth of conditions of which a decisive one decides.
func (e *evaluator) all(of []query.Condition, g []joined, decisive truth) truth {
	result := decisive.not()
	for _, c := range of {
		t := e.holds(c, g)
		if t == decisive {
			return t
		}
		if t == unknown {
			result = unknown
		}
	}
	return result
}

// test compares a value.
func test(t *query.Test, v any) truth {
	if t.Operator == query.Null {
		return truthOf(v == nil)
	}
	if v == nil {
		return unknown
	}
	values := make([]any, len(t.Values))
	for i, of := range t.Values {
		values[i] = literal(of, v)
	}
	switch t.Operator {
	case query.In:
		return truthOf(slices.Contains(values, v))
	case query.Between:
		return truthOf(compare(v, values[0]) >= 0 && compare(v, values[1]) <= 0)
	case query.Like:
		return truthOf(like([]rune(strings.ToLower(v.(string))), []rune(strings.ToLower(values[0].(string)))))
	case query.Contains:
		return truthOf(strings.Contains(strings.ToLower(v.(string)), strings.ToLower(values[0].(string))))
	default:
		return truthOf(slices.Contains(outcomes[t.Operator], compare(v, values[0])))
	}
}

// outcomes are the results of a comparison for which an operator holds.
var outcomes = map[query.Operator][]int{
	query.Equal: {0}, query.NotEqual: {-1, 1}, query.Less: {-1}, query.AtMost: {-1, 0}, query.More: {1}, query.AtLeast: {0, 1},
}

// like tries all ways.
func like(text, pattern []rune) bool {
	switch {
	case len(pattern) == 0:
		return len(text) == 0
	case pattern[0] == '%':
		return like(text, pattern[1:]) || len(text) > 0 && like(text[1:], pattern)
	default:
		return len(text) > 0 && (pattern[0] == '_' || pattern[0] == text[0]) && like(text[1:], pattern[1:])
	}
}

// literal returns a literal in the form of a value.
func literal(l query.Value, as any) any {
	switch v := as.(type) {
	case float64:
		n, err := strconv.ParseFloat(l.Text, 64)
		if err != nil {
			panic(err)
		}
		return n
	case bool:
		return l.Text == "TRUE"
	case string:
		if len(v) != len(query.TimeLayout) || v[10] != 'T' {
			return l.Text
		}
		for _, layout := range []string{time.RFC3339, time.DateOnly, "2006-01-02T15:04"} {
			if at, err := time.Parse(layout, l.Text); err == nil {
				return at.UTC().Format(query.TimeLayout)
			}
		}
	}
	return l.Text
}
