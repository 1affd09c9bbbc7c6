package querytest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"lectern/shared/query"
)

// writer writes a random query.
type writer struct {
	*rand.Rand
	entities []*query.Entity
}

// errs reports whether the next choice may be a mistake.
func (w *writer) errs() bool { return w.IntN(20) == 0 }

// Query returns the text of a random query. Some have a mistake of names, types or groups.
func Query(r *rand.Rand) string {
	w := &writer{Rand: r, entities: []*query.Entity{one(r, Schema.Entities...)}}
	if w.IntN(6) == 0 {
		return w.find()
	}
	var joins strings.Builder
	for range w.IntN(3) {
		if e := w.related(); e != nil {
			joins.WriteString(one(r, " JOIN ", " left join ") + w.name(e))
		}
	}
	var items, groups string
	order := []string{w.field()}
	switch w.IntN(4) {
	case 0:
		items = "*"
	case 1:
		key, n := w.field(), w.aggregate(query.Float)
		items, order = key+", "+n+" AS n, "+w.aggregate()+" AS m", []string{key, "n", "m", n, w.aggregate()}
		groups = " GROUP BY " + key + one(r, "", " HAVING "+w.test("n")+" OR "+w.test(w.aggregate(query.Float)))
	case 2:
		items, order = w.aggregate()+" AS n, COUNT(*)", []string{"n", "COUNT(*)", w.aggregate()}
	default:
		items, order = w.field()+" AS first, "+w.field()+" AS second", append(order, "first", "second")
		if w.IntN(2) == 0 {
			items, order = "DISTINCT "+items, order[1:]
		}
	}
	text := "SELECT " + items + " FROM " + w.name(w.entities[0]) + joins.String() + w.where() + groups
	if w.IntN(2) == 0 {
		if w.errs() {
			order = []string{"first", "n", w.field(), "COUNT(*)"}
		}
		text += " ORDER BY " + one(r, order...) + one(r, "", " DESC", " asc")
	}
	return text + w.limit()
}

// related adds an entity that is related to those of the query, and returns the entity; nil if there is none. Rarely it is any entity.
func (w *writer) related() *query.Entity {
	var all []*query.Entity
	for _, e := range Schema.Entities {
		near := slices.ContainsFunc(w.entities, func(o *query.Entity) bool { return related[e.Name] == o.Name || related[o.Name] == e.Name })
		if w.errs() || near && !slices.Contains(w.entities, e) {
			all = append(all, e)
		}
	}
	if len(all) == 0 {
		return nil
	}
	w.entities = append(w.entities, one(w.Rand, all...))
	return w.entities[len(w.entities)-1]
}

func (w *writer) limit() string {
	if w.IntN(4) > 0 {
		return ""
	}
	return fmt.Sprint(" LIMIT ", 1+w.IntN(6))
}

func (w *writer) find() string {
	text := "FIND " + w.name(w.entities[0])
	if w.IntN(2) == 0 {
		if e := w.related(); e != nil {
			text += " WITH " + w.name(e)
		}
	}
	return text + w.where() + w.limit()
}

func (w *writer) name(e *query.Entity) string {
	return one(w.Rand, e.Name, e.Singular, strings.ToUpper(e.Name))
}

// column returns a column of an entity of the query.
func (w *writer) column() (*query.Entity, *query.Column) {
	e := one(w.Rand, w.entities...)
	return e, one(w.Rand, e.Columns...)
}

func (w *writer) field() string {
	e, c := w.column()
	if w.IntN(60) == 0 {
		return e.Singular + "." + c.Name + "x"
	}
	return one(w.Rand, e.Name, e.Singular) + "." + c.Name
}

// aggregate returns an aggregate, mostly one that the column has. Of a type it is mostly a number.
func (w *writer) aggregate(of ...query.Type) string {
	e, c := w.column()
	if w.IntN(3) == 0 {
		return "COUNT(*)"
	}
	known := []string{"COUNT"}
	if c.Type != query.Bool && (len(of) == 0 || c.Type == of[0]) || w.errs() {
		known = append(known, "min", "MAX")
	}
	if c.Type == query.Float || w.errs() {
		known = append(known, "SUM", "AVG")
	}
	return one(w.Rand, known...) + "(" + one(w.Rand, "", "DISTINCT ") + e.Singular + "." + c.Name + ")"
}

func (w *writer) where() string {
	if w.IntN(3) == 0 {
		return ""
	}
	return " WHERE " + w.condition(3)
}

func (w *writer) condition(depth int) string {
	if depth == 0 || w.IntN(2) == 0 {
		e, c := w.column()
		return w.compare(e.Singular+"."+c.Name, c)
	}
	switch a, b := w.condition(depth-1), w.condition(depth-1); w.IntN(4) {
	case 0:
		return a + " AND " + b
	case 1:
		return a + " OR " + b
	case 2:
		return "(" + a + " OR " + b + ") AND " + one(w.Rand, "", "NOT ") + "(" + b + ")"
	default:
		return "NOT " + a
	}
}

// test returns a comparison of an operand with a number.
func (w *writer) test(operand string) string {
	return operand + one(w.Rand, " > ", " <= ", " = ", " != ") + one(w.Rand, "0", "1", "2", "20.5")
}

// compare returns a comparison of a column with values, mostly of its type.
func (w *writer) compare(operand string, c *query.Column) string {
	if w.IntN(40) == 0 {
		c = &query.Column{Type: query.Float}
	}
	a, b := w.literal(c), w.literal(c)
	switch w.form(c) {
	case 0:
		return operand + one(w.Rand, " IN (", " NOT IN (") + a + ", " + b + ")"
	case 1:
		return operand + one(w.Rand, " IS NULL", " IS NOT NULL")
	case 2:
		return operand + one(w.Rand, " BETWEEN ", " not between ") + a + " AND " + b
	case 3:
		return operand + one(w.Rand, " LIKE ", " NOT LIKE ") + one(w.Rand, "'G%'", "'%O%'", "'_'", "'%zür%'", "'a_b'", "'%'", "''")
	case 4:
		return operand + one(w.Rand, " CONTAINS ", " NOT CONTAINS ") + one(w.Rand, "'g'", "''", "'%'", "'ÜR'", "''''")
	case equality:
		return operand + one(w.Rand, " = ", " != ") + a
	default:
		return operand + one(w.Rand, "=", " != ", "<>", " < ", "<=", " > ", ">=") + a
	}
}

// equality is a form of comparisons that each type has.
const equality = 7

// form returns a form of comparisons, mostly one that the column has.
func (w *writer) form(c *query.Column) int {
	form := w.IntN(equality)
	ordered, isText := c.Type != query.Bool, c.Type == query.String
	if !w.errs() && (form > 1 && !ordered || (form == 3 || form == 4) && !isText) {
		return equality
	}
	return form
}

func (w *writer) literal(c *query.Column) string {
	switch v := value(w.Rand, c).(type) {
	case nil:
		if !w.errs() {
			return w.literal(c)
		}
		return one(w.Rand, "'x'", "20")
	case string:
		if c.Type == query.Time {
			return "'" + one(w.Rand, v, v[:10], v[:16], v[:19]+"+02:00") + "'"
		}
		return "'" + strings.ReplaceAll(v, "'", "''") + "'"
	case bool:
		return strings.ToUpper(fmt.Sprint(v))
	default:
		return fmt.Sprint(v)
	}
}
