// Package live reads the live agenda of an event: the sessions that take place, with the rooms,
// people and rules for a check of conflicts (docs/decisions/0048). live.go reads the agenda, memory.go
// keeps bookings of sessions.
package live

import (
	"context"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"lectern/shared/agenda"
	"lectern/shared/agenda/conflict"
	"lectern/shared/auth"
	"lectern/shared/catalogue"
	"lectern/shared/field"
	"lectern/shared/metadata"
	"lectern/shared/party"
	"lectern/shared/resource"
	"lectern/shared/session"
	"lectern/shared/session/store"
	"lectern/shared/settings"
	"lectern/shared/table"
)

// AudienceField is the internal name of the number field with the expected audience of a session.
const AudienceField = "expected_audience"

// bodiesAtOnce is how many whole sessions a request keeps at a time: 30 MB of the largest.
const bodiesAtOnce = 200

// Reader reads live agendas.
type Reader struct {
	Records  resource.Store
	Sessions *store.Store
	Memory   *Memory
}

// Agenda is a live agenda. Its sessions are copies, which the caller may change.
type Agenda struct {
	conflict.Agenda
	// rows are the rows of all sessions of the event.
	rows *catalogue.View[session.Row]
}

// Read reads the agenda of the caller's event, with every write that was answered before.
func (r Reader) Read(ctx context.Context, c *auth.Caller) (Agenda, error) {
	set, err := r.Sessions.Settings.Load(ctx, c)
	if err != nil {
		return Agenda{}, err
	}
	l := live{Reader: r, caller: c, set: set, bookings: bookings{}}
	if def, ok := set.Fields.Named(field.Session, AudienceField); ok && def.Type == field.Number {
		l.audienceField = def.ID
	}
	g, ctx := errgroup.WithContext(catalogue.ShareVersions(ctx, r.Sessions.Source(c), l.contactRows()))
	g.Go(table.Safely(func() error { return l.readOthers(ctx) }))
	g.Go(table.Safely(func() error { return l.readSessions(ctx) }))
	if err := g.Wait(); err != nil {
		return Agenda{}, err
	}
	read := conflict.Agenda{Sessions: l.onAgenda(), Rooms: l.rooms(), Rules: l.rules, Zone: c.Event.Location()}
	return Agenda{read, l.rows}, nil
}

// Bodies returns sessions of the event by id, also deleted sessions and sessions that are not on the agenda a, as
// current as a; nil for a session that is purged.
func (r Reader) Bodies(ctx context.Context, c *auth.Caller, a Agenda, ids []string) ([]*session.Body, error) {
	wanted := make([]catalogue.Want, len(ids))
	for i, id := range ids {
		wanted[i].ID = id
		if row, known := a.rows.Get(id); known {
			wanted[i].Version = row.Version
		}
	}
	read, err := r.Sessions.Catalogue.Bodies(ctx, r.Sessions.Source(c), wanted)
	bodies := make([]*session.Body, len(read))
	for i, b := range read {
		bodies[i] = b.Value
	}
	return bodies, err
}

// HasStatus reports whether a session of the agenda has one of some statuses.
func (a Agenda) HasStatus(id string, statuses []string) bool {
	row, known := a.rows.Get(id)
	return known && slices.Contains(statuses, row.Status)
}

// live holds what one Read has read. Sessions are read in parallel with rules and contacts.
type live struct {
	Reader
	caller *auth.Caller
	set    *settings.Snapshot
	rules  []conflict.Rule
	// contacts are the rows of the contacts on the event.
	contacts *catalogue.View[party.AssociationRow]
	// rows are the rows of the event's sessions, bookings the bookings of the sessions on the agenda.
	rows     *catalogue.View[session.Row]
	bookings bookings
	// audienceField is the id of the field of AudienceField; empty without such a field.
	audienceField string
}

// readOthers reads the enabled rules and the contacts.
func (l *live) readOthers(ctx context.Context) error {
	rules, err := agenda.Rules.Of(l.Records, resource.Owner{Org: l.caller.Org.ID, Event: l.caller.Event.ID}).List(ctx)
	if err != nil {
		return err
	}
	for _, r := range rules {
		if r.Enabled {
			l.rules = append(l.rules, conflict.Parse(r.ID, r.Type, r.Config))
		}
	}
	l.contacts, err = l.Sessions.Parties.Contacts.Memory.Associations.View(ctx, l.contactRows())
	return err
}

// contactRows returns the place of the rows of the contacts on the event.
func (l *live) contactRows() catalogue.Source {
	return l.Sessions.Parties.Contacts.Kind.Rows(l.caller.Org.ID, l.caller.Event.ID)
}

// readSessions reads the sessions of the agenda. Rows have neither rooms nor ends, so the sessions
// without a booking in memory are read as a whole.
func (l *live) readSessions(ctx context.Context) (err error) {
	src := l.Sessions.Source(l.caller)
	if l.rows, err = l.Sessions.View(ctx, l.caller); err != nil {
		return err
	}
	var wanted []catalogue.Want
	known := l.Memory.known(src)
	for _, row := range l.rows.All() {
		if !takesPlace(l.rows, row) {
			continue
		}
		if b, ok := known[row.ID]; ok && b.isOf(row, l.audienceField) {
			l.bookings[row.ID] = b
		} else {
			wanted = append(wanted, catalogue.Want{ID: row.ID, Version: row.Version})
		}
	}
	defer l.Memory.keep(src, l.bookings) // Also what was read before an error: the next request reads the rest.
	var newer []*session.Row
	for some := range slices.Chunk(wanted, bodiesAtOnce) {
		bodies, err := l.Sessions.Catalogue.Bodies(ctx, src, some)
		if err != nil {
			return err
		}
		for i, b := range bodies {
			l.bookings[some[i].ID] = l.bookingOf(b.Value)
			if row, _ := l.rows.Get(some[i].ID); b.Version > row.Version {
				newer = append(newer, b.Value.Row(row.Index))
			}
		}
	}
	l.rows = l.rows.With(newer)
	return nil
}

// takesPlace reports whether a session and its parent are on the agenda.
func takesPlace(rows *catalogue.View[session.Row], r *session.Row) bool {
	if r.Deleted != 0 || r.Abstract || r.Source || r.Status == metadata.Declined {
		return false
	}
	parent, known := rows.Get(r.Parent)
	return r.Parent == "" || known && takesPlace(rows, parent)
}

// bookingOf returns the booking of a session.
func (l *live) bookingOf(b *session.Body) *booking {
	made := &booking{version: b.Version, audienceField: l.audienceField, session: conflict.Session{
		ID: b.ID, Name: b.FriendlyID(), Title: b.Title, Parent: b.Parent, Track: session.Value(b.TrackID), Room: session.Value(b.Room()),
		Audience: l.audience(b), Elsewhere: b.Location != nil && *b.Location != session.LocationRoom,
	}}
	if b.StartsAt != nil && b.EndsAt != nil {
		made.session.Starts, made.session.Ends = b.StartsAt.Time, b.EndsAt.Time
		made.session.Length = max(0, b.EndsAt.Sub(b.StartsAt.Time))
	}
	for _, person := range b.Participants {
		if person.AcceptanceStatus == session.AcceptanceDeclined {
			made.declined = append(made.declined, person.ContactID)
		} else {
			made.session.People = append(made.session.People, person.ContactID)
		}
	}
	for _, person := range b.Participants {
		if slices.Contains(made.declined, person.ContactID) && slices.Contains(made.session.People, person.ContactID) {
			made.mixed = append(made.mixed, person)
		}
	}
	return made
}

// audience returns how many people a session expects: the value of the event's field, or else the
// capacity of the session.
func (l *live) audience(b *session.Body) *int {
	if value, ok := b.CustomFields[l.audienceField].V.(float64); ok {
		people := int(math.Ceil(min(max(value, 0), math.MaxInt32)))
		return &people
	}
	return b.Capacity
}

// rooms returns the rooms of the event.
func (l *live) rooms() map[string]conflict.Room {
	rooms := map[string]conflict.Room{}
	for _, room := range l.set.Metadata[metadata.Rooms].List() {
		rooms[room.ID] = conflict.Room{Name: shortened(room.Name), Capacity: room.Capacity}
	}
	return rooms
}

// shortened returns a name for messages: an answer may have the name of a room 50,000 times.
func shortened(name string) string {
	const most = 60
	if letters := []rune(name); len(letters) > most {
		return string(letters[:most-1]) + "…"
	}
	return name
}

// onAgenda returns the sessions that take place, without deleted tracks and deleted contacts. Where the
// event has the feature speaker_acceptance, onAgenda leaves out declined participants too.
func (l *live) onAgenda() (sessions []*conflict.Session) {
	for id, b := range l.bookings {
		if row, _ := l.rows.Get(id); !takesPlace(l.rows, row) {
			continue
		}
		s := b.session
		if _, known := l.set.Metadata[metadata.Tracks].Get(s.Track); !known {
			s.Track = ""
		}
		if l.caller.Event.Features.SpeakerAcceptance {
			s.People = b.coming(l.set.Roles)
		} else {
			s.People = slices.Concat(s.People, b.declined)
		}
		s.People = slices.DeleteFunc(s.People, l.isGone)
		sessions = append(sessions, &s)
	}
	return sessions
}

// isGone reports whether a contact was deleted from the event. Sessions keep such a contact's place
// and do not show it.
func (l *live) isGone(contactID string) bool {
	row, known := l.contacts.Get(contactID)
	return !known || row.Roles == ""
}
