package query

import "strings"

// clause is a part of a query.
type clause string

const (
	inSelect  clause = "SELECT"
	inWhere   clause = "WHERE"
	inGroupBy clause = "GROUP BY"
	inHaving  clause = "HAVING"
	inOrderBy clause = "ORDER BY"
)

// resolve returns an operand of a clause.
func (c *compiler) resolve(o Operand, in clause) operand {
	ordered := in == inHaving || in == inOrderBy
	if ordered {
		o = c.byName(o)
	}
	if o.Aggregate != "" && in == inWhere {
		c.fail(o.At, quote(o.String()), "a field; HAVING compares aggregates")
	}
	if o.Field == "*" {
		return operand{sql: "COUNT(*)", typ: Float}
	}
	found := c.field(o)
	if found.column == nil {
		return found
	}
	if ordered {
		c.requireGrouped(found, o)
	}
	if c.masked && found.column.PII {
		c.requireShown(o, in)
	}
	return c.aggregate(found, o)
}

// byName returns the operand of the item that an operand names, or else the operand. HAVING and ORDER BY may name an item.
func (c *compiler) byName(o Operand) Operand {
	for _, i := range c.query.Items {
		if o.Aggregate == "" && i.As != "" && i.As == o.Field {
			named := i.Operand
			named.At = o.At
			return named
		}
	}
	return o
}

// requireShown refuses a masked operand that does more than to show the masked values or to count them.
func (c *compiler) requireShown(o Operand, in clause) {
	shows, counts := in == inSelect && o.Aggregate == "", o.Aggregate == count && !o.Distinct
	if !shows && !counts {
		c.fail(o.At, quote(o.String()), "a field without personal data in "+string(in)+", which the caller sees masked; COUNT is possible")
	}
}

// field returns the column of an operand.
func (c *compiler) field(o Operand) (found operand) {
	qualifier, name := split(o.Field)
	for _, n := range c.made.Needs {
		column := n.Entity.Column(name)
		if column == nil || qualifier != "" && !n.Entity.isCalled(qualifier) {
			continue
		}
		if found.column != nil {
			c.fail(o.At, quote(o.Field), "a field with the entity, such as "+n.Entity.Singular+"."+name)
		}
		found = operand{n.read(name), column.Type, n, column}
	}
	if found.column == nil && c.mistake == nil {
		c.failUnknown(o, qualifier, name)
	}
	return found
}

// failUnknown notes the first mistake: a field that no entity of the query has.
func (c *compiler) failUnknown(o Operand, qualifier, name string) {
	var known, entities []string
	for _, n := range c.made.Needs {
		entities = append(entities, n.Entity.Name)
		if qualifier != "" && !n.Entity.isCalled(qualifier) {
			continue
		}
		for _, column := range n.Entity.Columns {
			known = append(known, n.Entity.Singular+"."+column.Name)
		}
	}
	field := Word{o.Field, o.At}
	if known == nil {
		c.failNear(field, "a field of an entity of the query: "+strings.Join(entities, ", "), entities)
		return
	}
	if c.failNear(field, "a field", known); c.mistake.Nearest == "" {
		c.mistake.suggestName(name, known)
	}
}

// suggestName adds the known field whose name without the entity is nearest.
func (e *Error) suggestName(name string, known []string) {
	byName, names := map[string]string{}, make([]string, len(known))
	for i, k := range known {
		_, names[i] = split(k)
		byName[names[i]] = k
	}
	e.suggest(name, names)
	e.Nearest = byName[e.Nearest]
}

// aggregate returns the aggregate of a column.
func (c *compiler) aggregate(o operand, as Operand) operand {
	distinct := ""
	if as.Distinct {
		distinct = "DISTINCT "
	}
	switch as.Aggregate {
	case "":
		return o
	case "SUM", "AVG":
		if o.typ != Float {
			c.fail(as.At, quote(as.String()), "a number field in "+as.Aggregate)
		}
	case count:
		o.typ = Float
	default:
		if o.typ == Bool {
			c.fail(as.At, quote(as.String()), "a field that has an order in "+as.Aggregate)
		}
	}
	o.sql = as.Aggregate + "(" + distinct + o.sql + ")"
	return o
}

// is reports whether two operands are the same.
func (o operand) is(other operand) bool { return o.sql == other.sql }

// name returns the name of an operand in a result.
func (o operand) name(as Operand) string {
	if o.column != nil {
		as.Field = o.source.Entity.Singular + "." + o.column.Name
	}
	return as.String()
}
