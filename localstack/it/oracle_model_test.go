package it_test

import (
	"fmt"
	"slices"
	"sync"

	"lectern/shared/session"
	"lectern/shared/wire"
)

// facet is a kind of metadata that sessions are searched by: what it is called
// in filters, and among what it stands.
type facet struct{ name, collection string }

var facetKinds = []facet{
	{"track", "tracks"}, {"level", "levels"}, {"format", "formats"}, {"language", "languages"}, {"tag", "tags"},
}

// state is one version of a session, as far as searches go by it.
type state struct {
	id, friendly, title, status, custom, parent string
	abstract, source                            bool
	target                                      string
	version                                     int64
	created, updated, starts, deleted           int64 // Unix milliseconds; 0 for none
	ids                                         map[string][]string
	subs                                        []string
}

// stateOf reads a stored body, apart from the code that searches.
func stateOf(b *session.Body) *state {
	one := func(id *string) []string {
		if id == nil {
			return nil
		}
		return []string{*id}
	}
	ms := func(at *wire.Time) int64 {
		if at == nil {
			return 0
		}
		return at.UnixMilli()
	}
	s := &state{
		id: b.ID, friendly: b.FriendlyID(), title: b.Title, parent: b.Parent, abstract: b.IsAbstract, source: b.Target != nil,
		version: b.Version, created: b.CreatedAt.UnixMilli(), updated: b.UpdatedAt.UnixMilli(), starts: ms(b.StartsAt), deleted: ms(b.DeletedAt),
		ids: map[string][]string{"track": one(b.TrackID), "level": one(b.LevelID), "format": one(b.FormatID),
			"language": one(b.LanguageID), "tag": b.TagIDs},
		subs: b.Subsessions,
	}
	if b.Status != nil {
		s.status = *b.Status
	}
	if b.Target != nil {
		s.target = b.Target.SessionID
	}
	if b.CustomStatusID != nil {
		s.custom = *b.CustomStatusID
	}
	return s
}

// activity says when something was written last: whether it is just now, and
// until when it was, by the model's own clock.
type activity struct {
	busy  int
	ended int64
}

// still is whether nothing was written since the moment.
func (a activity) still(since int64) bool { return a.busy == 0 && a.ended <= since }

// known is a session as it was read after the last acknowledged write.
type known struct {
	activity
	state *state
	// writes is how many acknowledged writes have changed it; doubt is whether
	// another one may have, which was answered with an error of the service.
	writes int64
	doubt  bool
}

// label is one piece of metadata, or a custom status.
type label struct {
	activity
	collection, id, name, category string
	live                           bool
}

// model is what the service must answer by, kept beside the writes that it has
// acknowledged.
type model struct {
	mu       sync.Mutex
	clock    int64
	sessions map[string]*known
	entries  map[string]*label
	// creating is how many sessions may be there whose ids are not known yet.
	creating int
	// past has every version that was read, by id and updated_at.
	past map[string]*state
	// composing lets one link be made or cut at a time, so that it is known who
	// the partners are.
	composing sync.Mutex
}

func newModel() *model {
	return &model{sessions: map[string]*known{}, entries: map[string]*label{}, past: map[string]*state{}}
}

func moment(id string, updated int64) string { return fmt.Sprint(id, " ", updated) }

// begin notes that a write is under way on the sessions, and makes some.
func (m *model) begin(ids []string, creates int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clock++
	m.creating += creates
	for _, id := range ids {
		m.sessions[id].busy++
	}
}

// end notes that the write has been acknowledged or refused, what was read after
// it, and how often it changed each session. With a doubt it may have been done
// or not; what it may have made is looked for at the next reload.
func (m *model) end(ids []string, creates int, read []*state, changed map[string]int64, doubt bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clock++
	for _, s := range read {
		m.learn(s)
	}
	for _, id := range ids {
		m.sessions[id].busy--
		m.sessions[id].ended = m.clock
		m.sessions[id].doubt = m.sessions[id].doubt || doubt
	}
	if !doubt {
		m.creating -= creates
	}
	for id, times := range changed {
		m.sessions[id].writes += times
	}
}

// learn takes over a version that was read, if it is the newest. The lock is held.
func (m *model) learn(s *state) {
	m.past[moment(s.id, s.updated)] = s
	k := m.sessions[s.id]
	if k == nil {
		k = &known{activity: activity{ended: m.clock}}
		m.sessions[s.id] = k
	}
	if k.state == nil || k.state.version < s.version {
		k.state = s
	}
}

// take begins a write on metadata, unless another is under way.
func (m *model) take(id string) (collection string, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.entries[id]
	if l.busy > 0 {
		return "", false
	}
	m.clock++
	l.busy++
	return l.collection, true
}

// release ends the write, which has done apply.
func (m *model) release(id string, apply func(*label)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clock++
	l := m.entries[id]
	l.busy--
	l.ended = m.clock
	apply(l)
}

// settledLabel is whether the entry is there and nobody is changing that.
func (m *model) settledLabel(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.entries[id].live && m.entries[id].busy == 0
}

func (m *model) add(e *label) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clock++
	e.ended = m.clock
	m.entries[e.id] = e
}

// some gives the ids of the sessions that keep holds for, in a fixed order.
func (m *model) some(keep func(*state) bool) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ids []string
	for id, k := range m.sessions {
		if keep(k.state) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func (m *model) state(id string) *state {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sessions[id].state
}

// targetOf is the session that a source is linked into.
func (m *model) targetOf(source string) string { return m.state(source).target }

// alive gives the ids of the entries among the collection that are there.
func (m *model) alive(collection string) []string {
	return m.entriesWhere(func(e *label) bool { return e.collection == collection && e.live })
}

func (m *model) entriesWhere(keep func(*label) bool) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return keysWhere(m.entries, keep)
}

// watermark is what is known before a search begins: no answer may show less.
type watermark struct {
	clock  int64
	states map[string]*state
}

func (m *model) watermark() watermark {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := watermark{m.clock, make(map[string]*state, len(m.sessions))}
	for id, k := range m.sessions {
		w.states[id] = k.state
	}
	return w
}

// reload compares the model with all sessions of the table, when nobody writes,
// and takes over what an unanswered request may have made.
func (m *model) reload(all map[string]*state) (problems []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, k := range m.sessions {
		switch found := all[id]; {
		case found == nil:
			problems = append(problems, fmt.Sprintf("session %s was acknowledged and is not there", id))
		case found.version != k.state.version:
			problems = append(problems, fmt.Sprintf("session %s has version %d, acknowledged was %d", id, found.version, k.state.version))
		case !k.doubt && found.version != k.writes:
			problems = append(problems, fmt.Sprintf("session %s has version %d after %d acknowledged writes", id, found.version, k.writes))
		}
	}
	for id, found := range all {
		known := m.sessions[id] != nil
		if !known && m.creating == 0 {
			problems = append(problems, fmt.Sprintf("session %s is there and was not acknowledged", id))
		}
		m.learn(found)
		m.sessions[id].doubt = m.sessions[id].doubt || !known
	}
	m.creating = 0
	return problems
}
