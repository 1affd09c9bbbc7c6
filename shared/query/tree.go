// Package query is the query language of insights (gaps.md 5.1 and 5.2): SELECT and FIND over the entities of a schema. Parse makes
// a tree of a text, and Compile makes a statement of SQL of the tree, with all values bound. The package reads no record and runs no
// statement (package engine). Each refusal says where it is, what was found and what was expected. Read the files in this order:
//
//	tree.go       a query as a tree
//	lex.go        the errors, and the tokens of a text
//	parse.go      the queries
//	condition.go  the conditions of WHERE and HAVING
//	print.go      the text of a tree
//	schema.go     the entities, their columns and relations
//	resolve.go    the fields of a query, and what a masked field is good for
//	compile.go    the statement
//	where.go      the statement of conditions
//	filter.go     the conditions that every record of the result meets
package query

// Query is a query as its text says it.
type Query struct {
	// Find reports the form: FIND, or else SELECT.
	Find     bool
	Distinct bool
	// Items are what a row shows; empty for all fields, and for FIND.
	Items   []Item
	From    Word
	Joins   []Join
	Where   Condition
	GroupBy []Operand
	Having  Condition
	OrderBy []Key
	// Limit is the largest number of rows; 0 for all.
	Limit int
}

// Position is a place in the text of a query: both numbers begin with 1, and a column is a character.
type Position struct {
	Line   int `json:"line" doc:"The line, from 1."`
	Column int `json:"column" doc:"The character of the line, from 1."`
}

// Word is a name in the text, in lower case.
type Word struct {
	Text string
	At   Position
}

// Join adds the related records of an entity. Left keeps rows without a related record.
type Join struct {
	Entity Word
	Left   bool
}

// Item is a value that a row shows, and its name in the result; empty for the text of the operand.
type Item struct {
	Operand
	As string
}

// Operand is a field or an aggregate.
type Operand struct {
	// Aggregate is COUNT, SUM, AVG, MIN or MAX; empty for a field.
	Aggregate string
	Distinct  bool
	// Field has the qualifier, if the text has one. It is "*" for COUNT(*).
	Field string
	At    Position
}

// Key is a value to sort by: an operand, or the name of an item, which stands in Field.
type Key struct {
	Operand
	Desc bool
}

// Condition is an *Every, *Any, *Negation or *Test; nil for none.
type Condition interface{ condition() }

// Every holds if each condition does: two or more with AND between.
type Every struct{ Of []Condition }

// Any holds if a condition does: two or more with OR between.
type Any struct{ Of []Condition }

// Negation holds if a condition does not: NOT.
type Negation struct{ Of Condition }

// Test compares an operand with values: with one, with two for BETWEEN, with some for IN, with none for NULL.
type Test struct {
	Operand
	Operator Operator
	Not      bool
	Values   []Value
}

func (*Every) condition()    {}
func (*Any) condition()      {}
func (*Negation) condition() {}
func (*Test) condition()     {}

// Operator says how a Test compares.
type Operator string

// The operators. NotEqual is also written <>.
const (
	Equal    Operator = "="
	NotEqual Operator = "!="
	Less     Operator = "<"
	AtMost   Operator = "<="
	More     Operator = ">"
	AtLeast  Operator = ">="
	In       Operator = "IN"
	Null     Operator = "IS NULL"
	Between  Operator = "BETWEEN"
	Like     Operator = "LIKE"
	Contains Operator = "CONTAINS"
)

// Value is a literal.
type Value struct {
	Kind Kind
	// Text is the content of a text, the digits of a number, or TRUE or FALSE.
	Text string
	At   Position
}

// Kind is the kind of a literal.
type Kind string

// The kinds of literals.
const (
	Text    Kind = "text"
	Number  Kind = "number"
	Boolean Kind = "TRUE or FALSE"
)
