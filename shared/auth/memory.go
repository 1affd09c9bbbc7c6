package auth

import (
	"sync"

	"lectern/shared/tenancy"
)

// maxCached is the largest number of tokens that a process caches. The largest tokens, with a
// thousand events each for token and member, take 16 MB together.
const maxCached = 1000

// entry is a token with its member, at an auth version of the organization. Requests share the
// records, so nothing may change them.
type entry struct {
	token  *tenancy.Token
	member *tenancy.Member
	auth   int64
}

// lacks reports whether the entry is of an application, and has no such access token: it may be a new one.
func (e entry) lacks(text Text) bool {
	return e.token.Grant != nil && e.token.With(text.Hash()).SecretHash == nil
}

// tokenID identifies a token. It contains the organization, since a forged text may combine the
// id with another organization.
type tokenID struct{ org, id int64 }

// memory caches the tokens that were used last, in two halves: when the newer half is full, the
// older half is dropped. Only texts with the right secret are cached. The zero memory is empty.
type memory struct {
	mu           sync.Mutex
	newer, older map[tokenID]entry
}

// get returns the entry of a text's token. The text may have a wrong secret.
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

// put caches an entry of a text's token, and replaces an earlier entry.
func (m *memory) put(text Text, e entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.set(tokenID{text.Org, text.ID}, e)
}

func (m *memory) set(id tokenID, e entry) {
	if _, known := m.newer[id]; m.newer == nil || !known && len(m.newer) >= maxCached/2 {
		m.newer, m.older = map[tokenID]entry{}, m.newer
	}
	m.newer[id] = e
}
