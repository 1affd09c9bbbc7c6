package size

// Detail is how much an answer shows of a record. Each Detail omits what the one before omits,
// and more.
type Detail int

const (
	// Full omits nothing.
	Full Detail = iota
	// Brief omits about and custom fields of people.
	Brief
	// Unexpanded omits expansions, too.
	Unexpanded
	// Alone omits the records that the record contains, too, but for its people.
	Alone
	// Bare omits its people, too. Every record is small enough then.
	Bare
)

// Reducer is an answer with one record that can omit parts. Reduce renders the record at the
// Detail, and lists the parts left out in the property omitted, or says in another way that they are. A Detail that is not higher
// than before changes nothing. Reduce reports whether it has omitted more than before.
type Reducer interface{ Reduce(to Detail) bool }

// Page is a page of results. Items returns the results in order; a result that can be reduced
// is returned as a Reducer.
type Page interface{ Items() []any }
