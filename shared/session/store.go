package session

import (
	"context"
	"fmt"
	"time"

	"lectern/shared/account"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/caps"
	"lectern/shared/catalogue"
	"lectern/shared/contact"
	"lectern/shared/settings"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Store reads and writes the sessions of the event a caller addresses.
type Store struct {
	Table     *table.Table
	Settings  *settings.Cache
	Caps      *caps.Counter
	Catalogue *Catalogue
	Contacts  *contact.Store
	Accounts  *account.Store
	Now       func() time.Time
	NewID     func() string
	// AdminURL begins the deep links into the admin application; empty where
	// none is configured.
	AdminURL string
}

func at(c *auth.Caller) place { return place{org: c.Org.ID, event: c.Event.ID} }

// notFound is the answer for a session that is not there, deleted, or
// somebody else's.
func notFound() error { return apierr.NotFound("Session") }

// Get gives one session, or a subsession in the full shape. It is a 404 when
// there is none or it is deleted.
func (st *Store) Get(ctx context.Context, c *auth.Caller, id string, x Expand) (*Session, error) {
	return st.show(ctx, c, id, x, live)
}

// show is Get for a session that pick finds: live or stored.
func (st *Store) show(ctx context.Context, c *auth.Caller, id string, x Expand, pick func(write.Items, table.Key) (*Body, error)) (*Session, error) {
	set, err := st.Settings.Load(ctx, c)
	if err != nil {
		return nil, err
	}
	b, err := st.one(ctx, at(c).body(id), pick)
	if err != nil {
		return nil, err
	}
	f := st.formatter(c, set, x)
	if err := f.gather(ctx, st.fetch(at(c)), b); err != nil {
		return nil, err
	}
	if err := f.meet(ctx, b); err != nil {
		return nil, err
	}
	return f.single(b), nil
}

func (st *Store) formatter(c *auth.Caller, set *settings.Snapshot, x Expand) *formatter {
	return &formatter{
		caller: c, set: set, expand: x, adminURL: st.AdminURL, others: map[string]*Body{},
		contacts: st.Contacts, companies: st.Accounts, roster: st.roster(c, x),
		portraits: map[string]wire.Object{}, summaries: map[string]account.Summary{},
	}
}

// View is the rows of the event's sessions as they stand: of deleted ones and
// subsessions too.
func (st *Store) View(ctx context.Context, c *auth.Caller) (*catalogue.View[Row], error) {
	return st.Catalogue.View(ctx, st.Source(c))
}

// Source is the rows of the event's sessions, for catalogue.Together.
func (st *Store) Source(c *auth.Caller) catalogue.Source { return at(c).source() }

// fetch reads bodies from the table in one batch.
func (st *Store) fetch(p place) fetcher {
	return func(ctx context.Context, ids []string) (map[string]*Body, error) {
		keys := make([]table.Key, len(ids))
		for i, id := range ids {
			keys[i] = p.body(id)
		}
		items, err := st.Table.GetMany(ctx, keys)
		if err != nil {
			return nil, err
		}
		bodies := make(map[string]*Body, len(items))
		for _, item := range items {
			b, err := decode(item)
			if err != nil {
				return nil, err
			}
			bodies[b.ID] = b
		}
		return bodies, nil
	}
}

// stored finds a session among what was read, deleted or not; it is a 404 when
// it is not there.
func stored(got write.Items, key table.Key) (*Body, error) {
	item, ok := got[key]
	if !ok {
		return nil, notFound()
	}
	return decode(item)
}

// live is stored for a session that must not be deleted.
func live(got write.Items, key table.Key) (*Body, error) {
	b, err := stored(got, key)
	if err == nil && b.DeletedAt != nil {
		return nil, notFound()
	}
	return b, err
}

// one reads a single session as live or stored does.
func (st *Store) one(ctx context.Context, key table.Key, pick func(write.Items, table.Key) (*Body, error)) (*Body, error) {
	got, err := st.Table.GetMany(ctx, []table.Key{key})
	if err != nil {
		return nil, err
	}
	return pick(got, key)
}

// run makes one write and gives what the caller is told.
func (st *Store) run(ctx context.Context, op write.Op) (*Session, error) {
	answer, err := write.Run(ctx, st.Table, op)
	if err != nil {
		return nil, err
	}
	shown, ok := answer.(*Session)
	if !ok {
		return nil, fmt.Errorf("session: a write answered %T", answer)
	}
	return shown, nil
}

// now is the time of a write on a record last changed at before: later than
// that, whatever the clocks of two machines say.
func (st *Store) now(before *Body) wire.Time { return later(wire.At(st.Now()), before) }

func later(now wire.Time, before *Body) wire.Time {
	if before == nil {
		return now
	}
	return wire.After(before.UpdatedAt, now.Time)
}
