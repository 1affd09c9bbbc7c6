package query

import (
	"fmt"
	"slices"
	"strings"
)

// Statement is a query for the engine.
type Statement struct {
	// SQL gives all rows, in a total order. Args are its values: texts, float64 and bool.
	SQL  string
	Args []any
	// Results are the columns of a row.
	Results []Result
	// Needs are the tables that SQL reads.
	Needs []*Need
	// Limit is the largest number of rows; 0 for all.
	Limit int
}

// Result is a column of the result. PII reports whether it shows a field with personal data.
type Result struct {
	Name string
	Type Type
	PII  bool
}

// Need is a table and the columns that a query reads, or a table of pairs.
type Need struct {
	Entity  *Entity
	Columns []*Column
	// Pairs are the tables of pairs that lead from or to the entity.
	Pairs []string
	// Filters are comparisons that each record meets that is in the result.
	Filters []Filter
	alias   string
	left    bool
}

// compiler makes a statement. After the first mistake the rest does not matter.
type compiler struct {
	schema  *Schema
	query   *Query
	masked  bool
	mistake *Error
	made    Statement
	from    strings.Builder
	items   []operand
	groups  []operand
	grouped bool
}

// operand is an operand of the query that the schema knows.
type operand struct {
	sql    string
	typ    Type
	source *Need
	column *Column
}

// Compile returns the statement of a query. For a caller who sees personal data masked, a column with such data can be shown and
// counted alone. The error is an *Error.
func (s *Schema) Compile(q *Query, masked bool) (*Statement, error) {
	c := &compiler{schema: s, query: q, masked: masked}
	c.grouped = len(q.GroupBy) > 0 || q.Having != nil || slices.ContainsFunc(q.Items, func(i Item) bool { return i.Aggregate != "" })
	c.made.Limit = q.Limit
	c.sources()
	c.findItems()
	where := c.optional(q.Where, inWhere)
	c.findFilters()
	c.findGroups()
	having := c.optional(q.Having, inHaving)
	order := c.order()
	if c.mistake != nil {
		return nil, c.mistake
	}
	c.made.SQL = "SELECT " + c.list() + " FROM " + c.from.String() + where + c.groupBy() + having + order
	return &c.made, nil
}

// fail notes the first mistake.
func (c *compiler) fail(at Position, found, expected string) {
	if c.mistake == nil {
		c.mistake = &Error{at, found, expected, ""}
	}
}

// failNear notes the first mistake: an unknown name that may be near a known one.
func (c *compiler) failNear(name Word, expected string, known []string) {
	if c.mistake == nil {
		c.fail(name.At, quote(shorten(name.Text)), expected)
		c.mistake.suggest(name.Text, known)
	}
}

// sources finds the entities, and joins them by their relations.
func (c *compiler) sources() {
	c.add(c.query.From, false)
	for _, j := range c.query.Joins {
		c.add(j.Entity, j.Left)
	}
}

// add adds an entity: the first, or one that has a relation to the last entity before it that is related.
func (c *compiler) add(name Word, left bool) {
	e := c.schema.Find(name.Text)
	if e == nil {
		known := c.schema.names()
		c.failNear(name, "an entity: "+strings.Join(known, ", "), known)
		return
	}
	n := &Need{Entity: e, alias: fmt.Sprint("t", len(c.made.Needs)), left: left}
	switch {
	case len(c.made.Needs) == 0:
		c.from.WriteString(Identifier(e.Name) + " AS t0")
	case slices.ContainsFunc(c.made.Needs, func(n *Need) bool { return n.Entity == e }):
		c.fail(name.At, quote(name.Text)+" again", "each entity once")
	default:
		c.join(n, name.At)
	}
	c.made.Needs = append(c.made.Needs, n)
	for _, key := range e.Key {
		n.use(e.Column(key))
	}
}

// join writes the join of an entity.
func (c *compiler) join(n *Need, at Position) {
	other, r, reversed := c.partner(n)
	if other == nil {
		first := c.made.Needs[0].Entity
		c.fail(at, quote(n.Entity.Name), "an entity that is related to "+first.Name+": "+strings.Join(c.schema.Related(first), ", "))
		return
	}
	kind := " JOIN "
	if n.left {
		kind = " LEFT JOIN "
	}
	table := kind + Identifier(n.Entity.Name) + " AS " + n.alias + " ON "
	if r.Through == "" {
		from, to := r.Column, r.ToColumn
		if reversed {
			from, to = to, from
		}
		c.from.WriteString(table + other.read(from) + " = " + n.read(to))
		return
	}
	near, far := From, To
	if reversed {
		near, far = To, From
	}
	n.Pairs = append(n.Pairs, r.Through)
	pairs := "p" + n.alias
	c.from.WriteString(kind + Identifier(r.Through) + " AS " + pairs + " ON " + pairs + "." + near + " = " + other.alias + "." + Row)
	c.from.WriteString(table + n.alias + "." + Row + " = " + pairs + "." + far)
}

// partner returns the entity that a JOIN leads from: the last one before it that is related, by a relation that is not Last if there is
// one. It returns nil without a related entity.
func (c *compiler) partner(n *Need) (found *Need, r Relation, reversed bool) {
	for _, other := range slices.Backward(c.made.Needs) {
		one, back, ok := relation(other.Entity, n.Entity)
		if ok && (found == nil || r.Last && !one.Last) {
			found, r, reversed = other, one, back
		}
	}
	return found, r, reversed
}

// read returns the SQL of a column, and notes that the query needs it.
func (n *Need) read(name string) string {
	n.use(n.Entity.Column(name))
	return n.alias + "." + Identifier(name)
}

// use notes a column that the query needs.
func (n *Need) use(c *Column) {
	if !slices.Contains(n.Columns, c) {
		n.Columns = append(n.Columns, c)
	}
}

// Identifier returns a name as SQL has it.
func Identifier(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Placeholders returns the SQL of n values with commas between.
func Placeholders(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

// sqlOf returns the SQL of operands.
func sqlOf(operands []operand) []string {
	texts := make([]string, len(operands))
	for i, o := range operands {
		texts[i] = o.sql
	}
	return texts
}

// maxColumns is how many columns a result has: SQLite takes 2,000, and the tables have one more each.
const maxColumns = 1_900

// findItems finds the columns of the result.
func (c *compiler) findItems() {
	q := c.query
	if len(q.Items) == 0 && c.grouped {
		c.fail(q.From.At, "all fields", "the fields of GROUP BY and aggregates in SELECT")
	}
	if len(q.Items) == 0 {
		for _, n := range c.made.Needs {
			for _, column := range n.Entity.Columns {
				if c.mistake != nil {
					return
				}
				all := Item{Operand{At: q.From.At}, n.Entity.Singular + "." + column.Name}
				c.item(operand{n.read(column.Name), column.Type, n, column}, all)
			}
		}
	}
	for _, i := range q.Items {
		o := c.resolve(i.Operand, inSelect)
		if i.As == "" {
			i.As = o.name(i.Operand)
		}
		c.item(o, i)
	}
}

// item adds a column of the result. A count of personal data is none.
func (c *compiler) item(o operand, i Item) {
	if len(c.items) == maxColumns {
		c.fail(i.At, fmt.Sprintf("more than %d fields", maxColumns), "the fields by their names; * means all fields of all events")
	}
	if slices.ContainsFunc(c.made.Results, func(r Result) bool { return r.Name == i.As }) {
		c.fail(i.At, quote(i.As)+" again", "another name with AS")
	}
	c.items = append(c.items, o)
	c.made.Results = append(c.made.Results, Result{i.As, o.typ, o.column != nil && o.column.PII && i.Aggregate != count})
}

// list returns the SQL of the columns of the result.
func (c *compiler) list() string {
	list := strings.Join(sqlOf(c.items), ", ")
	if c.query.Distinct {
		return "DISTINCT " + list
	}
	return list
}

// optional returns the SQL of a clause with a condition; empty without a condition.
func (c *compiler) optional(of Condition, in clause) string {
	if of == nil {
		return ""
	}
	return " " + string(in) + " " + c.condition(of, in)
}

// findGroups finds the fields of GROUP BY. Each other field of SELECT must be in an aggregate.
func (c *compiler) findGroups() {
	for _, g := range c.query.GroupBy {
		c.groups = append(c.groups, c.resolve(g, inGroupBy))
	}
	for i, item := range c.query.Items {
		c.requireGrouped(c.items[i], item.Operand)
	}
}

// requireGrouped refuses a field outside of aggregates that GROUP BY does not name.
func (c *compiler) requireGrouped(o operand, as Operand) {
	if c.grouped && as.Aggregate == "" && !slices.ContainsFunc(c.groups, o.is) {
		c.fail(as.At, quote(as.Field), "an aggregate, or a field of GROUP BY")
	}
}

// groupBy returns the SQL of GROUP BY.
func (c *compiler) groupBy() string {
	if len(c.groups) == 0 {
		return ""
	}
	return " GROUP BY " + strings.Join(sqlOf(c.groups), ", ")
}

// order returns the SQL of ORDER BY. The order is total: what tells rows apart comes last.
func (c *compiler) order() string {
	var keys []string
	for _, k := range c.query.OrderBy {
		keys = append(keys, c.key(k))
	}
	switch {
	case c.query.Distinct:
		keys = append(keys, sqlOf(c.items)...)
	case c.grouped:
		keys = append(keys, sqlOf(c.groups)...)
	default:
		for _, n := range c.made.Needs {
			for _, key := range n.Entity.Key {
				keys = append(keys, n.read(key))
			}
		}
	}
	if len(keys) == 0 {
		return ""
	}
	return " ORDER BY " + strings.Join(keys, ", ")
}

// key returns the SQL of a key of ORDER BY.
func (c *compiler) key(k Key) string {
	o := c.resolve(k.Operand, inOrderBy)
	if k.Aggregate != "" && !c.grouped {
		c.fail(k.At, quote(k.String()), "a field; only a query with GROUP BY or aggregates has an order by aggregates")
	}
	if c.query.Distinct && !slices.ContainsFunc(c.items, o.is) {
		c.fail(k.At, quote(k.Field), "a field of SELECT, since the query is DISTINCT")
	}
	key := o.sql
	if o.typ == String {
		key += " COLLATE NOCASE"
	}
	if k.Desc {
		key += " DESC"
	}
	return key
}
