package session

import (
	"iter"
	"sync"
	"weak"
)

// Index numbers the ids that rows name: the rows of an event keep numbers of contacts and
// roles instead of texts, so that a search of people goes through them without looking up
// any text.
type Index struct{ Contacts, Roles Numbers }

// Numbers gives ids numbers from 0. It is safe for concurrent use.
type Numbers struct {
	mu  sync.RWMutex
	of  map[string]uint32
	ids []string
}

// IDs returns the ids by their numbers.
func (n *Numbers) IDs() []string {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.ids
}

// Of returns the number of an id; false if it has none.
func (n *Numbers) Of(id string) (number uint32, known bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	number, known = n.of[id]
	return number, known
}

// give returns the number of an id, a new one if it has none.
func (n *Numbers) give(id string) uint32 {
	if number, known := n.Of(id); known {
		return number
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if number, known := n.of[id]; known {
		return number
	}
	if n.of == nil {
		n.of = map[string]uint32{}
	}
	number := uint32(len(n.ids)) //nolint:gosec // memory holds fewer ids
	n.of[id], n.ids = number, append(n.ids, id)
	return number
}

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
		packed = append(packed, x.Roles.give(c.Role), uint32(len(c.Contacts))) //nolint:gosec // a session has at most 200 people
		for _, id := range c.Contacts {
			packed = append(packed, x.Contacts.give(id))
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

// indexes has the Index of each event whose rows are in memory. The rows of an event hold
// their Index, and with the last of them it goes.
type indexes struct {
	mu sync.Mutex
	of map[string]weak.Pointer[Index]
}

// get returns the Index of the rows in a partition.
func (x *indexes) get(pk string) *Index {
	x.mu.Lock()
	defer x.mu.Unlock()
	if index := x.of[pk].Value(); index != nil {
		return index
	}
	for key, held := range x.of {
		if held.Value() == nil {
			delete(x.of, key)
		}
	}
	index := &Index{}
	x.of[pk] = weak.Make(index)
	return index
}
