// Package store does what can be done with sessions: it reads, searches, creates, changes and
// deletes them. Read the files in this order:
//
//	store.go      reading a session, and the steps that all operations share
//	create.go, update.go, delete.go, link.go
//	              one operation a struct, whose methods run in the order of write.Op
//	bulk.go       many operations in one request
//	search.go     searches and lists, and the sessions of a contact
//	backfill.go   the items of contacts for older sessions
package store

import (
	"context"
	"time"

	"lectern/shared/auth"
	"lectern/shared/caps"
	"lectern/shared/catalogue"
	"lectern/shared/session"
	"lectern/shared/session/view"
	"lectern/shared/settings"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Store reads and writes the sessions of the caller's event.
type Store struct {
	Table     *table.Table
	Settings  *settings.Cache
	Caps      *caps.Counter
	Catalogue *session.Catalogue
	Parties   session.Parties
	Now       func() time.Time
	NewID     func() string
	// AdminURL begins the deep links into the admin application; empty without one.
	AdminURL string
}

// Get returns a session or subsession in full; 404 for a deleted one.
func (st *Store) Get(ctx context.Context, c *auth.Caller, id string, x view.Expand) (*view.Session, error) {
	return st.show(ctx, c, id, x, session.Place.Live)
}

// Stored returns a session or subsession in full, deleted or not; 404 for an unknown session. A
// request that was done before under its Idempotency-Key shows its session so.
func (st *Store) Stored(ctx context.Context, c *auth.Caller, id string, x view.Expand) (*view.Session, error) {
	return st.show(ctx, c, id, x, session.Place.Stored)
}

// find is session.Place.Live or session.Place.Stored.
type find func(session.Place, write.Items, string) (*session.Body, error)

func (st *Store) show(ctx context.Context, c *auth.Caller, id string, x view.Expand, find find) (*view.Session, error) {
	set, err := st.Settings.Load(ctx, c)
	if err != nil {
		return nil, err
	}
	b, err := st.read(ctx, c, id, find)
	if err != nil {
		return nil, err
	}
	loaded, err := view.Load(ctx, st.view(c, set, x), b)
	if err != nil {
		return nil, err
	}
	return loaded.Sessions()[0], nil
}

// read reads a session.
func (st *Store) read(ctx context.Context, c *auth.Caller, id string, find find) (*session.Body, error) {
	got, err := st.Table.GetMany(ctx, []table.Key{session.At(c).Body(id)})
	if err != nil {
		return nil, err
	}
	return find(session.At(c), got, id)
}

// view returns the request of a view that reads other sessions from the table.
func (st *Store) view(c *auth.Caller, set *settings.Snapshot, x view.Expand) view.Request {
	return view.Request{
		Caller: c, Settings: set, Expand: x, Parties: st.Parties, AdminURL: st.AdminURL, Fetch: reader{st, session.At(c)}.fromTable,
	}
}

// reader reads sessions of an event by id, without unknown ids.
type reader struct {
	store *Store
	place session.Place
}

// fromTable reads sessions from the table in one batch.
func (r reader) fromTable(ctx context.Context, ids []string) ([]*session.Body, error) {
	items, err := r.store.Table.GetMany(ctx, r.place.Bodies(ids))
	if err != nil {
		return nil, err
	}
	bodies := make([]*session.Body, 0, len(items))
	for _, item := range items {
		b, err := session.Decode(item)
		if err != nil {
			return nil, err
		}
		bodies = append(bodies, b)
	}
	return bodies, nil
}

// fromMemory reads sessions through the catalogue, which has most of them in memory.
func (r reader) fromMemory(ctx context.Context, ids []string) ([]*session.Body, error) {
	return r.store.Catalogue.Related(ctx, r.place.Rows(), ids)
}

// Source returns the place of the rows of the event's sessions, for catalogue.ShareVersions.
func (st *Store) Source(c *auth.Caller) catalogue.Source { return session.At(c).Rows() }

// View returns the rows of the event's sessions, of deleted sessions and subsessions too.
func (st *Store) View(ctx context.Context, c *auth.Caller) (*catalogue.View[session.Row], error) {
	return st.Catalogue.View(ctx, session.At(c).Rows())
}

// Files shows files of a session to a caller.
func (st *Store) Files(ctx context.Context, c *auth.Caller, b *session.Body, files []session.File) ([]view.Content, error) {
	set, err := st.Settings.Load(ctx, c)
	if err != nil {
		return nil, err
	}
	return view.Files(ctx, st.view(c, set, view.Expand{}), b, files)
}

// request is the request that an operation belongs to.
type request struct {
	store  *Store
	caller *auth.Caller
	place  session.Place
	set    *settings.Snapshot
	expand view.Expand
	// reservation is the part of a bulk's budget that the answer uses; nil for a single
	// operation.
	reservation *view.Reservation
}

// request loads the settings of the caller's event.
func (st *Store) request(ctx context.Context, c *auth.Caller, x view.Expand) (*request, error) {
	set, err := st.Settings.Load(ctx, c)
	if err != nil {
		return nil, err
	}
	return &request{store: st, caller: c, place: session.At(c), set: set, expand: x}, nil
}

// now returns the time of a write of a session: later than the last write of before, even if
// the clock of another machine is ahead.
func (r *request) now(before *session.Body) wire.Time {
	return session.Later(wire.At(r.store.Now()), before)
}

// people returns an empty People for one Plan.
func (r *request) people() *session.People {
	return r.store.Parties.People(r.caller, r.expand.TranslatedFields)
}

// relatedKeys returns the keys of every record that a session names, for the answer and to
// find parties that are deleted from the event. It returns nil if the session does not exist.
func (r *request) relatedKeys(got write.Items, id string) []table.Key {
	b, err := r.place.Stored(got, id)
	if err != nil {
		return nil
	}
	return append(r.place.Bodies(b.Related()), r.store.Parties.Keys(r.caller, got, b)...)
}

// plan returns the writes of changes at the time now, and the answer: the session of the
// first change. The answer uses the read items before it reads more.
func (r *request) plan(
	ctx context.Context, got write.Items, people *session.People, now wire.Time, changes ...session.Change,
) (*write.Plan, error) {
	shown := r.store.view(r.caller, r.set, r.expand)
	shown.People, shown.Others = people, map[string]*session.Body{}
	for _, c := range changes {
		if c.Before == nil {
			continue
		}
		if err := people.AddFrom(got, c.Before); err != nil {
			return nil, err
		}
		if err := addFrom(shown.Others, r.place, got, c.Before); err != nil {
			return nil, err
		}
	}
	plan := &write.Plan{}
	w := session.Writer{Table: r.store.Table, Place: r.place, Fields: r.set.Fields}
	for _, c := range changes {
		writes, err := w.Writes(ctx, now, c)
		if err != nil {
			return nil, err
		}
		plan.Writes = append(plan.Writes, writes...)
		shown.Others[c.After.ID] = c.After
	}
	loaded, err := view.Load(ctx, shown, changes[0].After)
	if err != nil {
		return nil, err
	}
	if r.reservation != nil {
		plan.Answer = loaded.Answer(0, r.reservation)
	} else {
		plan.Answer = loaded.Sessions()[0]
	}
	return plan, nil
}

// addFrom adds the sessions that b names to others, from the read items.
func addFrom(others map[string]*session.Body, place session.Place, got write.Items, b *session.Body) error {
	for _, id := range b.Related() {
		item, read := got[place.Body(id)]
		if !read {
			continue
		}
		other, err := session.Decode(item)
		if err != nil {
			return err
		}
		others[id] = other
	}
	return nil
}
