package querytest

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"lectern/shared/query"
)

// checker looks for mistakes of a query in the rules of the language. It knows nothing of the compiler.
type checker struct {
	q        *query.Query
	masked   bool
	entities []*query.Entity
	grouped  bool
	mistake  string
}

// Mistake returns a mistake of a query on Schema; empty for a query that is valid. masked stands for a caller who sees personal data
// masked.
func Mistake(q *query.Query, masked bool) string {
	c := &checker{q: q, masked: masked, grouped: len(q.GroupBy) > 0 || q.Having != nil}
	for _, i := range q.Items {
		c.grouped = c.grouped || i.Aggregate != ""
	}
	c.checkEntities()
	if c.mistake == "" {
		c.checkItems()
		c.checkCondition(q.Where, false)
		for _, g := range q.GroupBy {
			c.use(g, false)
		}
		c.checkCondition(q.Having, true)
		c.checkOrder()
	}
	return c.mistake
}

// require notes a mistake unless something holds.
func (c *checker) require(holds bool, mistake string) {
	if !holds && c.mistake == "" {
		c.mistake = mistake
	}
}

// checkEntities requires known entities, each once, each with a relation to one before it.
func (c *checker) checkEntities() {
	names := []string{c.q.From.Text}
	for _, j := range c.q.Joins {
		names = append(names, j.Entity.Text)
	}
	for i, name := range names {
		e := Schema.Find(name)
		if e == nil {
			c.require(false, "unknown entity")
			return
		}
		c.require(!slices.Contains(c.entities, e), "entity twice")
		near := slices.ContainsFunc(c.entities, func(o *query.Entity) bool { return related[e.Name] == o.Name || related[o.Name] == e.Name })
		c.require(i == 0 || near, "unrelated entity")
		c.entities = append(c.entities, e)
	}
}

// column returns the column of a field; nil if there is none, or more than one.
func (c *checker) column(field string) (found *query.Column) {
	for _, e := range c.entities {
		for _, column := range e.Columns {
			if slices.Contains([]string{column.Name, e.Name + "." + column.Name, e.Singular + "." + column.Name}, field) {
				c.require(found == nil, "field of two entities")
				found = column
			}
		}
	}
	c.require(found != nil, "unknown field")
	return found
}

// named returns the operand of the item that an operand names in HAVING and ORDER BY, or the operand.
func (c *checker) named(o query.Operand) query.Operand {
	for _, i := range c.q.Items {
		if o.Aggregate == "" && i.As != "" && i.As == o.Field {
			return i.Operand
		}
	}
	return o
}

// use requires that an operand is one, and returns its type. shows reports whether the values are only shown.
func (c *checker) use(o query.Operand, shows bool) query.Type {
	if o.Field == "*" {
		return query.Float
	}
	column := c.column(o.Field)
	if column == nil {
		return ""
	}
	number, counts := column.Type == query.Float, o.Aggregate == "COUNT"
	switch o.Aggregate {
	case "SUM", "AVG":
		c.require(number, "sum of no numbers")
	case "MIN", "MAX":
		c.require(column.Type != query.Bool, "order of booleans")
	}
	c.require(!c.masked || !column.PII || counts && !o.Distinct || shows && o.Aggregate == "", "masked field")
	if counts {
		return query.Float
	}
	return column.Type
}

// key returns the text of an operand by which two operands are the same.
func (c *checker) key(o query.Operand) string {
	for _, e := range c.entities {
		if name, ok := strings.CutPrefix(o.Field, e.Name+"."); ok {
			o.Field = e.Singular + "." + name
		}
	}
	return o.String()
}

// requireGroup requires that a field outside of aggregates is a field of GROUP BY.
func (c *checker) requireGroup(o query.Operand) {
	same := func(g query.Operand) bool { return c.key(g) == c.key(o) }
	c.require(!c.grouped || o.Aggregate != "" || slices.ContainsFunc(c.q.GroupBy, same), "field outside of groups")
}

func (c *checker) checkItems() {
	c.require(!c.grouped || len(c.q.Items) > 0, "all fields of groups")
	names := map[string]bool{}
	for _, i := range c.q.Items {
		c.use(i.Operand, true)
		c.requireGroup(i.Operand)
		name := i.As
		if name == "" {
			name = c.key(i.Operand)
		}
		c.require(!names[name], "name twice")
		names[name] = true
	}
}

func (c *checker) checkOrder() {
	for _, k := range c.q.OrderBy {
		o := c.named(k.Operand)
		c.use(o, false)
		c.requireGroup(o)
		c.require(o.Aggregate == "" || c.grouped, "order by an aggregate of no groups")
		shown := func(i query.Item) bool { return c.key(i.Operand) == c.key(o) }
		c.require(!c.q.Distinct || len(c.q.Items) == 0 || slices.ContainsFunc(c.q.Items, shown), "order of what is not shown")
	}
}

func (c *checker) checkCondition(of query.Condition, having bool) {
	switch of := of.(type) {
	case nil:
	case *query.Every:
		for _, one := range of.Of {
			c.checkCondition(one, having)
		}
	case *query.Any:
		for _, one := range of.Of {
			c.checkCondition(one, having)
		}
	case *query.Negation:
		c.checkCondition(of.Of, having)
	case *query.Test:
		c.checkTest(of, having)
	}
}

func (c *checker) checkTest(t *query.Test, having bool) {
	o := t.Operand
	if having {
		o = c.named(o)
		c.requireGroup(o)
	} else {
		c.require(o.Aggregate == "", "aggregate in WHERE")
	}
	typ := c.use(o, false)
	switch t.Operator {
	case query.Like, query.Contains:
		c.require(typ == query.String, "form of no text")
	case query.Equal, query.NotEqual, query.In, query.Null:
	default:
		c.require(typ != query.Bool, "order of booleans")
	}
	for _, v := range t.Values {
		c.require(isOf(v, typ), "value of another type")
	}
}

// isOf reports whether a literal is a value of a type.
func isOf(v query.Value, typ query.Type) bool {
	layouts := map[query.Type][]string{
		query.Date: {time.DateOnly}, query.Time: {time.RFC3339, time.DateOnly, "2006-01-02T15:04", "2006-01-02T15:04:05"},
	}
	switch typ {
	case query.Float:
		_, err := strconv.ParseFloat(v.Text, 64)
		return v.Kind == query.Number && err == nil
	case query.Bool:
		return v.Kind == query.Boolean
	case query.String:
		return v.Kind == query.Text
	}
	return v.Kind == query.Text && slices.ContainsFunc(layouts[typ], func(layout string) bool {
		_, err := time.Parse(layout, v.Text)
		return err == nil
	})
}
