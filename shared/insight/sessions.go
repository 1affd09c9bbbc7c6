package insight

import (
	"context"
	"slices"

	"lectern/shared/apierr"
	"lectern/shared/catalogue"
	"lectern/shared/contact"
	"lectern/shared/metadata"
	"lectern/shared/session"
	"lectern/shared/wire"
)

// bodiesAtOnce is how many whole sessions a request keeps at a time: 30 MB of the largest.
const bodiesAtOnce = 200

// sessionRows returns the rows of all sessions of the event.
func (v *visit) sessionRows(ctx context.Context) (*catalogue.View[session.Row], error) {
	if v.view != nil {
		return v.view, nil
	}
	view, err := v.store.Sessions.View(ctx, v.at.caller)
	v.view = view
	return view, err
}

// standingRows returns the rows of all sessions that are not deleted, for a table of what sessions have.
func (v *visit) standingRows(ctx context.Context, w *wanted) (rows []*session.Row, err error) {
	view, err := v.sessionRows(ctx)
	if err != nil {
		return nil, err
	}
	for _, r := range view.All() {
		if entityOf(r) != "" {
			rows = append(rows, r)
		}
	}
	if w.sessions += len(rows); w.sessions > v.store.most {
		return nil, apierr.Invalid("query", "The query reads the %s of more than %d sessions. Name fewer events.", w.Name, v.store.most)
	}
	return rows, nil
}

// entityOf returns the entity of a session; empty for a deleted session.
func entityOf(r *session.Row) string {
	switch {
	case r.Deleted != 0:
		return ""
	case r.Parent != "":
		return subsessions
	case r.Abstract:
		return abstracts
	}
	return sessions
}

// readSessions reads the sessions of one of the three entities.
func (v *visit) readSessions(ctx context.Context, w *wanted) error {
	view, err := v.sessionRows(ctx)
	if err != nil {
		return err
	}
	var rows []*session.Row
	for _, r := range view.All() {
		if entityOf(r) == w.Name && v.mayKeep(w, r) {
			rows = append(rows, r)
		}
	}
	if w.rows+int64(len(rows)) > int64(v.store.most) {
		return v.tooMany(w)
	}
	if w.leads[sponsors] || w.leads[exhibitors] {
		w.depth = max(w.depth, ofBody)
	}
	if err := v.loadAssociations(ctx, w); err != nil {
		return err
	}
	if w.depth == ofRow {
		for _, r := range rows {
			if err := v.putSession(w, r, nil); err != nil {
				return err
			}
		}
		return nil
	}
	return v.eachBody(ctx, rows, w.depth == ofWhole, func(r *session.Row, b *session.Body) error { return v.putSession(w, r, b) })
}

// mayKeep reports whether the filters that need the row alone allow a session.
func (v *visit) mayKeep(w *wanted, r *session.Row) bool {
	made := row{}
	for _, f := range w.filters {
		c := w.family.columns[f.Column.Name]
		if c.depth != ofRow {
			continue
		}
		if made.shape == nil {
			made.shape = v.sessionShape(r, nil)
		}
		if !f.Allows(v.valueOf(w, c, &made)) {
			return false
		}
	}
	return true
}

// eachBody calls a function for the sessions of rows: whole, or without long texts. A session that was deleted or became another
// entity since is left out.
func (v *visit) eachBody(ctx context.Context, rows []*session.Row, whole bool, do func(*session.Row, *session.Body) error) error {
	src := v.store.Sessions.Source(v.at.caller)
	before, _ := v.store.memory.events.Get(src)
	known, read := before, &kept{all: shortened{}}
	// After an error too: the next request reads the rest.
	defer func() { v.store.memory.keep(src, v.view, before, read.all) }()
	if whole {
		known = nil
	}
	for some := range slices.Chunk(rows, bodiesAtOnce) {
		bodies, err := v.bodies(ctx, some, known, read)
		if err != nil {
			return err
		}
		for i, r := range some {
			b := bodies[i]
			if b != nil && b.Version > r.Version {
				r = b.Row(r.Index)
			}
			if b == nil || entityOf(r) != entityOf(some[i]) {
				continue
			}
			if err := do(r, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// bodies returns the sessions of rows: from known if the version is that of the row, and the others from the catalogue. It adds these
// to read. A session that is purged is nil.
func (v *visit) bodies(ctx context.Context, rows []*session.Row, known shortened, read *kept) ([]*session.Body, error) {
	bodies := make([]*session.Body, len(rows))
	var wants []catalogue.Want
	var places []int
	for i, r := range rows {
		if b := known[r.ID]; b != nil && b.Version == r.Version {
			bodies[i] = b
		} else {
			wants, places = append(wants, catalogue.Want{ID: r.ID, Version: r.Version}), append(places, i)
		}
	}
	got, err := v.store.Sessions.Catalogue.Bodies(ctx, v.store.Sessions.Source(v.at.caller), wants)
	for i, b := range got {
		if b.Value != nil {
			bodies[places[i]] = b.Value
			read.add(b.Value)
		}
	}
	return bodies, err
}

// putSession adds a session to its table. The body is nil if the row is enough.
func (v *visit) putSession(w *wanted, r *session.Row, b *session.Body) error {
	made := row{id: r.ID, shape: v.sessionShape(r, b), refers: w.last}
	if b != nil {
		made.custom = b.CustomFields
	}
	for to := range w.leads {
		switch to {
		case tags:
			made.refers[to] = r.Tags
		case speakers:
			made.refers[to] = v.peopleOf(r, v.speakerRoles())
		case contacts:
			made.refers[to] = v.peopleOf(r, nil)
		case sponsors:
			made.refers[to] = b.SponsorIDs
		case exhibitors:
			made.refers[to] = b.ExhibitorIDs
		}
	}
	return v.put(w, made)
}

// peopleOf returns the contacts on a session, with any of some roles by number; nil for all.
func (v *visit) peopleOf(r *session.Row, roles []bool) (ids []string) {
	known := r.Index.Contacts.IDs()
	for role, people := range r.People() {
		if roles != nil && (int(role) >= len(roles) || !roles[role]) {
			continue
		}
		for _, number := range people {
			ids = append(ids, known[number])
		}
	}
	return ids
}

// speakerRoles reports for each role, by number, whether it is the built-in role of speakers, or a deleted role that stands for it.
func (v *visit) speakerRoles() []bool {
	if rows := v.view.All(); v.speaks == nil && len(rows) > 0 {
		for _, id := range rows[0].Index.Roles.IDs() {
			role, known := v.at.set.Roles.Standing(id)
			v.speaks = append(v.speaks, known && role.IsSpeaker())
		}
	}
	if v.speaks == nil {
		return []bool{} // Not nil, which stands for all roles.
	}
	return v.speaks
}

// sessionShape returns the fields of a session: those of the row, and with a body all but the long texts, which only a whole body has.
func (v *visit) sessionShape(r *session.Row, b *session.Body) *sessionShape {
	s := &sessionShape{
		inEvent: v.inEvent(r.ID), FriendlyID: r.FriendlyID(), Title: r.Title, Status: optional(r.Status), IsAbstract: r.Abstract,
		TrackID: v.known(metadata.Tracks, r.Track), FormatID: v.known(metadata.Formats, r.Format),
		LevelID: v.known(metadata.Levels, r.Level), LanguageID: v.known(metadata.Languages, r.Lang),
		ParentSessionID: optional(r.Parent), times: times{fromMillis(r.Created), fromMillis(r.Updated)},
	}
	if r.Starts != nil {
		starts := fromMillis(*r.Starts)
		s.StartsAt, s.StartDate = &starts, v.dayOf(&starts)
	}
	if b != nil {
		v.complete(s, b)
	}
	return s
}

// complete adds the fields that need a body.
func (v *visit) complete(s *sessionShape, b *session.Body) {
	s.FriendlyIDRaw, s.Description, s.EndsAt, s.EndDate = float64(b.Number), b.Description, b.EndsAt, v.dayOf(b.EndsAt)
	if status, ok := v.at.set.Statuses.Get(session.Value(b.CustomStatusID)); ok {
		s.CustomStatusID, s.CustomStatus = b.CustomStatusID, &status.Name
	}
	if b.StartsAt != nil && b.EndsAt != nil {
		minutes := b.EndsAt.Sub(b.StartsAt.Time).Minutes()
		s.DurationMinutes = &minutes
	}
	s.Location, s.RoomID, s.CompositionRole = b.Location, v.known(metadata.Rooms, session.Value(b.Room())), b.CompositionRole()
	s.IsPublic, s.ExternalURL, s.ClientSessionID, s.CEUCredits, s.Capacity = b.IsPublic, b.ExternalURL, b.ClientID, b.CEUCredits, b.Capacity
	if v.associations != nil {
		s.ParticipantCount = float64(len(b.Standing(v.at.set.Roles, v.isOnEvent)))
	}
	s.FileCount, s.Source = float64(len(b.Content)), b.Source
}

// loadAssociations reads the rows of the contacts, once, if the table needs to know who is on the event.
func (v *visit) loadAssociations(ctx context.Context, w *wanted) (err error) {
	needed := w.needs("participant_count") || w.needs("assigned_participant_id") || w.Name == files && w.leads[contacts]
	if needed && v.associations == nil {
		contacts, c := v.store.Sessions.Parties.Contacts.Store, v.at.caller
		v.associations, err = contacts.Memory.Associations.View(ctx, contacts.Kind.Rows(c.Org.ID, c.Event.ID))
	}
	return err
}

// isOnEvent reports whether a contact is on the event. Without rows of contacts nobody is.
func (v *visit) isOnEvent(contactID string) bool {
	if v.associations == nil {
		return false
	}
	a, ok := v.associations.Get(contactID)
	return ok && a.Holds(contact.Role)
}

// known returns the id of an entry of metadata; nil for a deleted one.
func (v *visit) known(kind metadata.Kind, id string) *string {
	if _, ok := v.at.set.Metadata[kind].Get(id); !ok {
		return nil
	}
	return &id
}

// dayOf returns the day of a time in the event's time zone, or in UTC without one.
func (v *visit) dayOf(t *wire.Time) day {
	if t == nil {
		return ""
	}
	if zone := v.at.caller.Event.Location(); zone != nil {
		return day(t.In(zone).Format("2006-01-02"))
	}
	return day(t.UTC().Format("2006-01-02"))
}

func (v *visit) inEvent(id string) inEvent { return inEvent{id, float64(v.at.caller.Event.ID)} }
