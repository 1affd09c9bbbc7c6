package query

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The largest numbers of parts of a query.
const (
	maxJoins  = 5
	maxItems  = 100
	maxValues = 200
	maxTests  = 200
	maxDepth  = 50
	maxLimit  = 10_000
)

// reserved are the words that cannot be the name of an item.
var reserved = strings.Fields("SELECT DISTINCT FROM JOIN LEFT WHERE GROUP BY HAVING ORDER ASC DESC LIMIT FIND WITH AS " +
	"AND OR NOT IN IS NULL BETWEEN LIKE CONTAINS TRUE FALSE")

// count is the aggregate that every field has.
const count = "COUNT"

// aggregates are the names of aggregates.
var aggregates = []string{count, "SUM", "AVG", "MIN", "MAX"}

// parser reads tokens. After the first mistake the rest is the end, so each loop ends.
type parser struct {
	tokens       []token
	mistake      *Error
	tests, depth int
}

// Parse returns the query of a text. Keywords may be in capital or small letters. The error is an *Error.
func Parse(text string) (*Query, error) {
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens}
	q := p.query()
	if p.symbol(";"); p.now().kind != end {
		p.fail("the end of the query")
	}
	if p.mistake != nil {
		return nil, p.mistake
	}
	return q, nil
}

// now returns the next token.
func (p *parser) now() token { return p.tokens[0] }

// advance takes the next token.
func (p *parser) advance() {
	if p.now().kind != end {
		p.tokens = p.tokens[1:]
	}
}

// fail notes the first mistake: the next token is not what is expected.
func (p *parser) fail(expected string) { p.refuse(p.now().at, p.now().String(), expected) }

// refuse notes the first mistake, and goes to the end.
func (p *parser) refuse(at Position, found, expected string) {
	if p.mistake == nil {
		p.mistake = &Error{at, found, expected, ""}
	}
	p.tokens = p.tokens[len(p.tokens)-1:]
}

// atMost refuses more than so many of something.
func (p *parser) atMost(most, n int, things string) {
	if n > most {
		p.refuse(p.now().at, "more than "+strconv.Itoa(most)+" "+things, "at most "+strconv.Itoa(most))
	}
}

// is reports whether the next token is a keyword.
func (p *parser) is(keyword string) bool {
	return p.now().kind == word && strings.EqualFold(p.now().text, keyword)
}

// keyword takes keywords that follow each other if the first of them comes next, and reports whether it did.
func (p *parser) keyword(first string, others ...string) bool {
	if !p.is(first) {
		return false
	}
	p.advance()
	for _, k := range others {
		if !p.is(k) {
			p.fail(k)
			return false
		}
		p.advance()
	}
	return true
}

// symbol takes a symbol if it comes next, and reports whether it did.
func (p *parser) symbol(s string) bool {
	if !p.now().is(s) {
		return false
	}
	p.advance()
	return true
}

// must takes a symbol.
func (p *parser) must(s string) {
	if !p.symbol(s) {
		p.fail(`"` + s + `"`)
	}
}

// query reads a query of either form.
func (p *parser) query() *Query {
	q := &Query{}
	switch {
	case p.keyword("SELECT"):
		q.Distinct = p.keyword("DISTINCT")
		q.Items = p.items()
		if !p.keyword("FROM") {
			p.fail("FROM")
		}
		q.From = p.name("an entity")
		q.Joins = p.joins()
	case p.keyword("FIND"):
		q.Find, q.From = true, p.name("an entity")
		for more := p.keyword("WITH"); more; more = p.symbol(",") {
			q.Joins = append(q.Joins, Join{p.name("an entity"), true})
		}
	default:
		p.fail("SELECT or FIND")
	}
	p.atMost(maxJoins, len(q.Joins), "joined entities")
	if p.keyword("WHERE") {
		q.Where = p.condition()
	}
	if !q.Find {
		p.groups(q)
	}
	for more := p.keyword("ORDER", "BY"); more; more = p.symbol(",") {
		key := Key{Operand: p.operand()}
		if !p.keyword("ASC") {
			key.Desc = p.keyword("DESC")
		}
		q.OrderBy = append(q.OrderBy, key)
		p.atMost(maxItems, len(q.OrderBy), "keys of ORDER BY")
	}
	if p.keyword("LIMIT") {
		q.Limit = p.limit()
	}
	return q
}

// items reads what a row shows.
func (p *parser) items() (items []Item) {
	if p.symbol("*") {
		return nil
	}
	for more := true; more; more = p.symbol(",") {
		item := Item{Operand: p.operand()}
		if p.keyword("AS") {
			if slices.Contains(reserved, strings.ToUpper(p.now().text)) {
				p.fail("a name that is no keyword")
			}
			item.As = p.name("a name").Text
		}
		items = append(items, item)
		p.atMost(maxItems, len(items), "fields of SELECT")
	}
	return items
}

// joins reads the joined entities of SELECT.
func (p *parser) joins() (joins []Join) {
	for {
		left := p.keyword("LEFT", "JOIN")
		if !left && !p.keyword("JOIN") {
			return joins
		}
		joins = append(joins, Join{p.name("an entity"), left})
	}
}

// groups reads GROUP BY and HAVING.
func (p *parser) groups(q *Query) {
	for more := p.keyword("GROUP", "BY"); more; more = p.symbol(",") {
		q.GroupBy = append(q.GroupBy, p.field())
		p.atMost(maxItems, len(q.GroupBy), "fields of GROUP BY")
	}
	if p.keyword("HAVING") {
		q.Having = p.condition()
	}
}

// limit reads the number of LIMIT.
func (p *parser) limit() int {
	n, err := strconv.Atoi(p.now().text)
	if p.now().kind != number || err != nil || n < 1 || n > maxLimit {
		p.fail(fmt.Sprintf("a whole number from 1 to %d", maxLimit))
	}
	p.advance()
	return n
}

// name reads a word.
func (p *parser) name(what string) Word {
	t := p.now()
	if t.kind != word {
		p.fail(what)
		return Word{}
	}
	p.advance()
	return Word{strings.ToLower(t.text), t.at}
}

// field reads a field: names with points between.
func (p *parser) field() Operand {
	if p.now().kind == word && slices.Contains(reserved, strings.ToUpper(p.now().text)) {
		p.fail("a field")
	}
	first := p.name("a field")
	o := Operand{Field: first.Text, At: first.At}
	for range 2 {
		if p.symbol(".") {
			o.Field += "." + p.name("a name after the point").Text
		}
	}
	return o
}

// operand reads a field or an aggregate.
func (p *parser) operand() Operand {
	t, called := p.now(), strings.ToUpper(p.now().text)
	if !slices.Contains(aggregates, called) || t.kind != word || !p.tokens[1].is("(") {
		return p.field()
	}
	p.advance()
	p.advance()
	distinct := p.keyword("DISTINCT")
	var o Operand
	if !distinct && called == count && p.symbol("*") {
		o.Field = "*"
	} else {
		o = p.field()
	}
	o.Aggregate, o.Distinct, o.At = called, distinct, t.at
	p.must(")")
	return o
}
