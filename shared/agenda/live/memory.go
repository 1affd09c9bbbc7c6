package live

import (
	"lectern/shared/agenda/conflict"
	"lectern/shared/api"
	"lectern/shared/catalogue"
	"lectern/shared/lru"
	"lectern/shared/participant"
	"lectern/shared/session"
)

// maxMemory is the limit of a Memory in bytes: the bookings of about 60,000 sessions with three
// people. The bookings of the last event stay, whatever their size.
const maxMemory = 32 << 20

// Memory keeps the bookings of events. They take a tenth of the memory of whole sessions. A booking
// serves a row of the same version alone.
type Memory struct {
	events *lru.Cache[catalogue.Source, bookings]
}

// NewMemory returns an empty Memory.
func NewMemory(api.Env) *Memory { return &Memory{lru.New[catalogue.Source, bookings](maxMemory)} }

// bookings are the bookings of an event's sessions, by id. Requests share them, so they never change.
type bookings map[string]*booking

// booking is the part of a session that an agenda needs: times, room and people. Only audienceField
// depends on the settings of the event.
type booking struct {
	version int64
	// audienceField is the field whose value is the audience; empty for none.
	audienceField string
	// session has the track as stored, and the people who have not declined in all roles; declined has the others.
	session  conflict.Session
	declined []string
	// mixed are the participants with a contact who has declined in one role and not in another.
	mixed []session.Participant
}

// coming returns the people without those who have declined in each role that the session shows. A deleted role is shown as another one, in
// which a contact may have another answer (session.Body.Standing).
func (b *booking) coming(roles *participant.Roles) (people []string) {
	stays := map[string]bool{}
	for _, shown := range (&session.Body{Participants: b.mixed}).Standing(roles, always) {
		stays[shown.ContactID] = stays[shown.ContactID] || shown.AcceptanceStatus != session.AcceptanceDeclined
	}
	for _, contact := range b.session.People {
		if stay, mixed := stays[contact]; stay || !mixed {
			people = append(people, contact)
		}
	}
	return people
}

// always takes every contact.
func always(string) bool { return true }

// isOf reports whether the booking is of the version of a row.
func (b *booking) isOf(row *session.Row, audienceField string) bool {
	return b.version == row.Version && b.audienceField == audienceField
}

// bytes estimates the memory of a booking.
func (b *booking) bytes() int64 {
	const alone, person = 350, 64
	return alone + int64(len(b.session.Title)) + person*int64(len(b.session.People)+len(b.declined)+3*len(b.mixed))
}

// known returns the bookings of an event; nil without any.
func (m *Memory) known(src catalogue.Source) bookings {
	known, _ := m.events.Get(src)
	return known
}

// keep replaces the bookings of an event.
func (m *Memory) keep(src catalogue.Source, all bookings) {
	bytes := int64(0)
	for _, b := range all {
		bytes += b.bytes()
	}
	m.events.Put(src, all, bytes)
}
