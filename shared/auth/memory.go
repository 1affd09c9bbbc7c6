package auth

import (
	"sync"

	"lectern/shared/tenancy"
)

// maxKept is how many tokens a process keeps: at their longest, with a thousand events
// each for token and member, they take 16 MB.
const maxKept = 1000

// entry is a token and its maker as of an auth version of their organization. Its records
// are shared by requests and never changed.
type entry struct {
	token  *tenancy.Token
	member *tenancy.Member
	auth   int64
}

// tokenID names a token. The organization belongs to it: a bearer may write any.
type tokenID struct{ org, id int64 }

// memory keeps the tokens that were used last, in two halves: when the newer one is full,
// the older one is forgotten. Only a text with the right secret puts one in. The zero
// memory is empty.
type memory struct {
	mu           sync.Mutex
	newer, older map[tokenID]entry
}

// get returns the entry of a text's token, whatever secret the text has.
func (m *memory) get(text Text) (entry, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := tokenID{text.Org, text.ID}
	if e, ok := m.newer[id]; ok {
		return e, true
	}
	e, ok := m.older[id]
	if ok {
		m.set(id, e)
	}
	return e, ok
}

// put keeps an entry of a text's token in the place of an earlier one.
func (m *memory) put(text Text, e entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.set(tokenID{text.Org, text.ID}, e)
}

func (m *memory) set(id tokenID, e entry) {
	if _, there := m.newer[id]; m.newer == nil || !there && len(m.newer) >= maxKept/2 {
		m.newer, m.older = map[tokenID]entry{}, m.newer
	}
	m.newer[id] = e
}
