package query

import (
	"slices"
	"strings"
)

// Schema has the entities of queries.
type Schema struct{ Entities []*Entity }

// Entity is a family of records: a table for the engine. Its name is plural.
type Entity struct {
	Name, Singular string
	Aliases        []string
	Doc            string
	// Columns are the fields. Key names the columns that tell two records apart.
	Columns   []*Column
	Key       []string
	Relations []Relation
}

// CustomPrefix begins the names of custom fields.
const CustomPrefix = custom + "."

const custom = "custom"

// Column is a field of an entity. The name of a custom field begins with CustomPrefix.
type Column struct {
	Name string
	Type Type
	// PII reports whether the values are personal data.
	PII bool
	Doc string
}

// Relation says which records of another entity belong to a record: those with an equal column, or those that a table of pairs
// names.
type Relation struct {
	To               string
	Column, ToColumn string
	Through          string
	// Last has a JOIN take every other relation first: it leads to all records of an event.
	Last bool
}

// Row is the column with the number of a record in a table.
const Row = "_row"

// From and To are the columns of a table of pairs, with the numbers of records.
const (
	From = "_from"
	To   = "_to"
)

// Type is the type of a column.
type Type string

// The types. A time is in UTC with milliseconds, such as 2027-05-10T09:00:00.000Z.
const (
	String Type = "text"
	Float  Type = "number"
	Bool   Type = "boolean"
	Time   Type = "time"
	Date   Type = "date"
)

// Find returns the entity of a name in singular or plural; nil if there is none.
func (s *Schema) Find(name string) *Entity {
	i := slices.IndexFunc(s.Entities, func(e *Entity) bool { return e.isCalled(name) })
	if i < 0 {
		return nil
	}
	return s.Entities[i]
}

func (e *Entity) isCalled(name string) bool {
	return name == e.Name || name == e.Singular || slices.Contains(e.Aliases, name)
}

// Column returns the column of a name; nil if there is none.
func (e *Entity) Column(name string) *Column {
	i := slices.IndexFunc(e.Columns, func(c *Column) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return e.Columns[i]
}

// names returns the names of all entities.
func (s *Schema) names() (names []string) {
	for _, e := range s.Entities {
		names = append(names, e.Name)
	}
	return names
}

// Related returns the names of the entities that a JOIN can add to an entity.
func (s *Schema) Related(to *Entity) (names []string) {
	for _, e := range s.Entities {
		if _, _, ok := relation(to, e); ok {
			names = append(names, e.Name)
		}
	}
	return names
}

// relation returns the relation between two entities, and whether it leads from the second to the first.
func relation(a, b *Entity) (r Relation, reversed, ok bool) {
	if i := slices.IndexFunc(a.Relations, func(r Relation) bool { return r.To == b.Name }); i >= 0 {
		return a.Relations[i], false, true
	}
	if i := slices.IndexFunc(b.Relations, func(r Relation) bool { return r.To == a.Name }); i >= 0 {
		return b.Relations[i], true, true
	}
	return r, false, false
}

// split returns the qualifier of a field, if there is one, and the name.
func split(field string) (qualifier, name string) {
	first, rest, qualified := strings.Cut(field, ".")
	if !qualified || first == custom && !strings.Contains(rest, ".") {
		return "", field
	}
	return first, rest
}
