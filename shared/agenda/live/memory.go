package live

import (
	"lectern/shared/agenda/conflict"
	"lectern/shared/api"
	"lectern/shared/catalogue"
	"lectern/shared/lru"
	"lectern/shared/session"
)

// memory is the limit of a Memory in bytes: the places of about 60,000 sessions with three people. Those
// of the last event stay in any case.
const memory = 32 << 20

// Memory has the places of the sessions of events, a tenth of what the sessions take as a whole. A
// place is used for the version of the session that it was read from, which the rows prove.
type Memory struct {
	events *lru.Cache[catalogue.Source, places]
}

// NewMemory returns an empty Memory.
func NewMemory(api.Env) *Memory { return &Memory{lru.New[catalogue.Source, places](memory)} }

// places are the places of an event's sessions, by id. They are never changed, since requests share
// them.
type places map[string]*place

// place is the part of a session that an agenda needs, whatever the other settings of the event say.
type place struct {
	version int64
	// audienceField is the field whose value is the audience; empty for none.
	audienceField string
	// session has the track as stored, and the people without those who declined.
	session  conflict.Session
	declined []string
}

// isOf reports whether the place is that of a row.
func (p *place) isOf(row *session.Row, audienceField string) bool {
	return p.version == row.Version && p.audienceField == audienceField
}

// bytes is about the memory of a place.
func (p *place) bytes() int64 {
	const alone, person = 350, 64
	return alone + int64(len(p.session.Title)) + person*int64(len(p.session.People)+len(p.declined))
}

// known returns the places of an event; nil for none.
func (m *Memory) known(src catalogue.Source) places {
	known, _ := m.events.Get(src)
	return known
}

// keep keeps the places of an event in place of those that were known.
func (m *Memory) keep(src catalogue.Source, all places) {
	bytes := int64(0)
	for _, p := range all {
		bytes += p.bytes()
	}
	m.events.Put(src, all, bytes)
}
