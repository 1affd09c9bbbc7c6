package ratelimit

import (
	"sync"
	"time"
)

const (
	// remembered is the time for which a refusal is repeated without a read of the table. A
	// refusal stays right until its window ends, except after a change of the custom limit;
	// count.limit detects the change.
	remembered = 60 * time.Second
	// maxSlots is the number of slots at which a process clears its memory.
	maxSlots = 10_000
)

// memory has the counts of slots in this process.
type memory struct {
	mu     sync.Mutex
	counts map[slot]*count
}

type count struct {
	// advance is the number of requests that the table has counted in advance for this
	// process. total is the count in the table after that.
	advance, total int64
	// taken is the number of requests counted in this process while the table failed.
	taken int64
	// until is the time until which a refusal is remembered.
	until time.Time
	// limit is the limit of the advance and the refusal. Under another limit, both are void;
	// the table still counts the requests of the void advance.
	limit int64
}

// at returns the count of a slot. The caller has locked m.mu.
func (m *memory) at(s slot) *count {
	if m.counts[s] == nil {
		if len(m.counts) >= maxSlots {
			clear(m.counts)
		}
		m.counts[s] = &count{}
	}
	return m.counts[s]
}

// refuses reports whether the memory has a valid refusal for the slot.
func (m *memory) refuses(s slot, limit int64, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.counts[s]
	return c != nil && c.limit == limit && now.Before(c.until)
}

// refuse remembers that the slot is used up. After the end of the slot, requests are counted in
// another slot, so the refusal needs no end of its own.
func (m *memory) refuse(s slot, limit int64, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.at(s)
	if c.limit != limit {
		c.advance, c.total = 0, 0
	}
	c.until, c.limit = now.Add(remembered), limit
}

// use takes a request from the advance of the slot and returns total; false without an advance.
func (m *memory) use(s slot, limit int64) (total int64, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.counts[s]
	if c == nil || c.limit != limit || c.advance == 0 {
		return 0, false
	}
	c.advance--
	return c.total, true
}

// addAdvance adds requests that the table has counted in advance; total is the count in the
// table.
func (m *memory) addAdvance(s slot, limit, requests, total int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.at(s)
	if c.limit != limit {
		c.advance, c.total, c.limit, c.until = 0, 0, limit, time.Time{}
	}
	c.advance, c.total = c.advance+requests, max(c.total, total)
}

// known returns the last known count in the table for the slot and the limit.
func (m *memory) known(s slot, limit int64) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.counts[s]; c != nil && c.limit == limit {
		return c.total
	}
	return 0
}

// add counts a request in this process and returns the count, at most limit+1.
func (m *memory) add(s slot, limit int64) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.at(s)
	c.taken = min(c.taken+1, limit+1)
	return c.taken
}
