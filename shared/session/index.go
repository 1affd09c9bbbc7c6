package session

import (
	"iter"

	"lectern/shared/numbering"
	"lectern/shared/party"
)

// Index numbers the ids that rows name: the rows of an event keep numbers of contacts and
// roles instead of texts, so that a search of people goes through them without looking up
// any text. The contacts have the numbers of the rows of contacts.
type Index struct {
	Contacts *numbering.Numbers
	Roles    numbering.Numbers
}

// NewIndex returns an index without roles.
func NewIndex(contacts *numbering.Numbers) *Index { return &Index{Contacts: contacts} }

// pack returns a cast in numbers: for each role its number, how many contacts have it, and
// theirs.
func (x *Index) pack(casts []cast) []uint32 {
	size := 0
	for _, c := range casts {
		size += 2 + len(c.Contacts)
	}
	if size == 0 {
		return nil
	}
	packed := make([]uint32, 0, size)
	for _, c := range casts {
		packed = append(packed, x.Roles.Give(c.Role), uint32(len(c.Contacts))) //nolint:gosec // a session has at most 200 people
		for _, id := range c.Contacts {
			packed = append(packed, x.Contacts.Give(id))
		}
	}
	return packed
}

// People yields the roles of the session, each with the contacts that have it, as numbers
// of the row's Index.
func (r *Row) People() iter.Seq2[uint32, []uint32] {
	return func(yield func(uint32, []uint32) bool) {
		for rest := r.people; len(rest) > 0; {
			end := 2 + rest[1]
			if !yield(rest[0], rest[2:end]) {
				return
			}
			rest = rest[end:]
		}
	}
}

// indexes has the Index of each event whose rows are in memory, by their partition. The
// rows of an event hold their Index.
type indexes struct {
	known    numbering.Shared[Index]
	contacts *party.Numbers
}

// get returns the Index of the rows in a partition.
func (x *indexes) get(pk string) *Index {
	return x.known.Get(pk, func() *Index { return NewIndex(x.contacts.Of(pk)) })
}
