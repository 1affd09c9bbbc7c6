// Package numbering gives ids numbers from 0. Data in memory about many records then refers
// to other records by number, and a search looks up no text for each reference.
package numbering

import (
	"sync"
	"weak"
)

// Numbers gives ids numbers. It is safe for concurrent use.
type Numbers struct {
	mu  sync.RWMutex
	of  map[string]uint32
	ids []string
}

// IDs returns the ids by number.
func (n *Numbers) IDs() []string {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.ids
}

// Of returns the number of an id; false if the id has no number.
func (n *Numbers) Of(id string) (number uint32, known bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	number, known = n.of[id]
	return number, known
}

// Give returns the number of an id. An id without a number gets a new number.
func (n *Numbers) Give(id string) uint32 {
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

// Shared keeps a value for each key while another object points to the value. The zero
// value is empty. Shared is safe for concurrent use.
type Shared[T any] struct {
	mu sync.Mutex
	of map[string]weak.Pointer[T]
}

// Get returns the value of a key. If no value is kept, Get keeps and returns the result of
// fresh.
func (s *Shared[T]) Get(key string, fresh func() *T) *T {
	s.mu.Lock()
	defer s.mu.Unlock()
	if value := s.of[key].Value(); value != nil {
		return value
	}
	for other, kept := range s.of {
		if kept.Value() == nil {
			delete(s.of, other)
		}
	}
	if s.of == nil {
		s.of = map[string]weak.Pointer[T]{}
	}
	value := fresh()
	s.of[key] = weak.Make(value)
	return value
}
