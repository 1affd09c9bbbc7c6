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
	// leased is how many requests may still be admitted here without the table,
	// under limit; total is the table's count when they were leased.
	leased, total int64
	// taken is how many requests were counted here while the table failed.
	taken int64
	// until is when a refusal under limit ceases to be remembered.
	until time.Time
	// limit is the one that lease and refusal were made under. Under another one they
	// are void: a lease that is given up stays counted.
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
	if c.limit != limit {
		c.leased, c.total = 0, 0
	}
	c.until, c.limit = now.Add(remembered), limit
}

// use takes a request from the slot's lease and gives the table's count when that was
// made; false where none is left.
func (m *memory) use(s slot, limit int64) (total int64, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.counts[s]
	if c == nil || c.limit != limit || c.leased == 0 {
		return 0, false
	}
	c.leased--
	return c.total, true
}

// lease notes requests that were counted in the table ahead.
func (m *memory) lease(s slot, limit, requests, total int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.at(s)
	if c.limit != limit {
		c.leased, c.total, c.limit, c.until = 0, 0, limit, time.Time{}
	}
	c.leased, c.total = c.leased+requests, max(c.total, total)
}

// known gives the slot's count in the table when it was last told under the limit.
func (m *memory) known(s slot, limit int64) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.counts[s]; c != nil && c.limit == limit {
		return c.total
	}
	return 0
}

// add counts a request here and gives its number in the slot, at most limit+1.
func (m *memory) add(s slot, limit int64) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.at(s)
	c.taken = min(c.taken+1, limit+1)
	return c.taken
}
