package query

import (
	"fmt"
	"strings"
)

// condition reads conditions with OR between.
func (p *parser) condition() Condition {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		p.refuse(p.now().at, fmt.Sprintf("more than %d nested conditions", maxDepth), fmt.Sprintf("at most %d", maxDepth))
	}
	all := []Condition{p.every()}
	for p.keyword("OR") {
		all = append(all, p.every())
	}
	if len(all) == 1 {
		return all[0]
	}
	return &Any{all}
}

// every reads conditions with AND between.
func (p *parser) every() Condition {
	all := []Condition{p.single()}
	for p.keyword("AND") {
		all = append(all, p.single())
	}
	if len(all) == 1 {
		return all[0]
	}
	return &Every{all}
}

// single reads a test, a negation, or conditions in brackets.
func (p *parser) single() Condition {
	negations := 0
	for p.keyword("NOT") {
		negations++
	}
	p.atMost(maxDepth, negations, "times NOT")
	p.depth += negations
	defer func() { p.depth -= negations }()
	var c Condition
	if p.symbol("(") {
		c = p.condition()
		p.must(")")
	} else {
		c = p.test()
	}
	for range negations {
		c = &Negation{c}
	}
	return c
}

// comparisons are the operators that are symbols.
var comparisons = map[string]Operator{
	"=": Equal, "!=": NotEqual, "<>": NotEqual, "<": Less, "<=": AtMost, ">": More, ">=": AtLeast,
}

// test reads a comparison of an operand.
func (p *parser) test() *Test {
	p.tests++
	p.atMost(maxTests, p.tests, "comparisons")
	t := &Test{Operand: p.operand()}
	if op := comparisons[p.now().text]; op != "" && p.now().kind == symbol {
		p.advance()
		t.Operator, t.Values = op, []Value{p.value()}
		return t
	}
	if p.keyword("IS") {
		t.Operator, t.Not = Null, p.keyword("NOT")
		if !p.keyword("NULL") {
			p.fail("NULL")
		}
		return t
	}
	switch t.Not = p.keyword("NOT"); {
	case p.keyword("IN"):
		t.Operator, t.Values = In, p.list()
	case p.keyword("LIKE"):
		t.Operator, t.Values = Like, []Value{p.value()}
	case p.keyword("CONTAINS"):
		t.Operator, t.Values = Contains, []Value{p.value()}
	case p.keyword("BETWEEN"):
		low := p.value()
		if !p.keyword("AND") {
			p.fail("AND")
		}
		t.Operator, t.Values = Between, []Value{low, p.value()}
	default:
		p.fail("an operator: =, !=, <, <=, >, >=, IN, IS NULL, BETWEEN, LIKE or CONTAINS")
	}
	return t
}

// list reads the values of IN.
func (p *parser) list() (values []Value) {
	p.must("(")
	for more := true; more; more = p.symbol(",") {
		values = append(values, p.value())
		p.atMost(maxValues, len(values), "values of IN")
	}
	p.must(")")
	return values
}

// value reads a literal.
func (p *parser) value() Value {
	t := p.now()
	switch {
	case t.kind == text:
		p.advance()
		return Value{Text, t.text, t.at}
	case t.kind == number:
		p.advance()
		return Value{Number, t.text, t.at}
	case p.keyword("TRUE"), p.keyword("FALSE"):
		return Value{Boolean, strings.ToUpper(t.text), t.at}
	case p.is("NULL"):
		p.fail("a value; IS NULL finds what has no value")
	default:
		p.fail("a text in single quotes, a number, TRUE or FALSE")
	}
	return Value{}
}
