package ratelimit

import (
	"sync"
	"time"
)

const (
	// remembered is how long a refusal is given without asking the table again.
	// Another process cannot make it wrong before the window ends; a higher
	// custom limit can, which is told apart.
	remembered = 60 * time.Second
	// maxSlots is how many slots a process remembers before it forgets all.
	maxSlots = 10_000
)

// memory is what a process knows by itself about slots.
type memory struct {
	mu     sync.Mutex
	counts map[slot]*count
}

type count struct {
	// taken is how many requests were counted here while the table failed.
	taken int64
	// until is when a refusal under limit ceases to be remembered.
	until time.Time
	limit int64
}

// at gives the count of a slot. The caller holds the lock.
func (m *memory) at(s slot) *count {
	if m.counts[s] == nil {
		if len(m.counts) >= maxSlots {
			clear(m.counts)
		}
		m.counts[s] = &count{}
	}
	return m.counts[s]
}

// refuses is whether the slot is known to be used up.
func (m *memory) refuses(s slot, limit int64, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.counts[s]
	return c != nil && c.limit == limit && now.Before(c.until)
}

// refuse remembers that the slot is used up. The slot's own end needs no care:
// after it, now is in another slot.
func (m *memory) refuse(s slot, limit int64, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.at(s)
	c.until, c.limit = now.Add(remembered), limit
}

// add counts a request here and gives its number in the slot, at most limit+1.
func (m *memory) add(s slot, limit int64) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.at(s)
	c.taken = min(c.taken+1, limit+1)
	return c.taken
}
