package party

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/settings"
	"lectern/shared/table"
	"lectern/shared/write"
)

// Store reads and writes parties of one kind, on the event that a caller addresses
// or on the level of the organization.
type Store struct {
	Kind     *Kind
	Table    *table.Table
	Settings *settings.Cache
	Now      func() time.Time
	NewID    func() string
	// AdminURL begins the deep links into the admin application; empty where none
	// is configured.
	AdminURL string
	// Memory is what searches need; nil for what only writes, or reads one by one.
	Memory *Memory
}

// Keys are where a party and, on an event, its association stand.
func (st *Store) Keys(c *auth.Caller, id string) []table.Key {
	keys := []table.Key{st.Kind.Body(c.Org.ID, id)}
	if c.Event != nil {
		keys = append(keys, st.Kind.OnEvent(c.Org.ID, c.Event.ID, id))
	}
	return keys
}

// Found is the party of an id among what was read, whole; zero where there is none. It
// is table.ErrStale where record and association are of two moments.
func (st *Store) Found(c *auth.Caller, got write.Items, id string) (Party, error) {
	p, err := st.found(c, got, id)
	if err == nil && p.torn(c) {
		err = table.ErrStale
	}
	return p, err
}

// found is Found, whole or not.
func (st *Store) found(c *auth.Caller, got write.Items, id string) (p Party, err error) {
	item, ok := got[st.Kind.Body(c.Org.ID, id)]
	if !ok {
		return Party{}, nil
	}
	if p.Body, err = decodeBody(item); err != nil || c.Event == nil {
		return p, err
	}
	if item, ok = got[st.Kind.OnEvent(c.Org.ID, c.Event.ID, id)]; ok {
		p.Here, err = decodeAssociation(item)
	}
	return p, err
}

const (
	// maxTries is how often records are read again whose writes are becoming visible,
	// and pages chosen again whose records are changing.
	maxTries = 12
	// maxPause is the longest pause between two tries: a transaction becomes visible
	// within milliseconds.
	maxPause = 20 * time.Millisecond
)

// Find reads a party, associated with the caller's event or not; it has no Body
// where the organization has none of that id.
func (st *Store) Find(ctx context.Context, c *auth.Caller, id string) (Party, error) {
	found, err := st.read(ctx, c, []string{id})
	return found[id], err
}

// read gives the parties of ids that there are, each whole: the record and the
// association of one moment.
func (st *Store) read(ctx context.Context, c *auth.Caller, wanted []string) (map[string]Party, error) {
	found := make(map[string]Party, len(wanted))
	for range maxTries {
		var keys []table.Key
		for _, id := range wanted {
			keys = append(keys, st.Keys(c, id)...)
		}
		got, err := st.Table.GetMany(ctx, keys)
		if err != nil {
			return nil, err
		}
		var torn []string
		for _, id := range wanted {
			p, err := st.found(c, got, id)
			switch {
			case err != nil:
				return nil, err
			case p.torn(c):
				torn = append(torn, id)
			case p.Body != nil:
				found[id] = p
			}
		}
		if wanted = torn; len(wanted) == 0 {
			return found, nil
		}
		if err := table.Pause(ctx, maxPause); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("party: %v do not agree with their associations after %d tries: %w", wanted, maxTries, apierr.Unavailable())
}

// Get reads a party that holds a role on the caller's event; 404 where none of that
// id does.
func (st *Store) Get(ctx context.Context, c *auth.Caller, id, role string) (Party, error) {
	p, err := st.Find(ctx, c, id)
	if err == nil && !p.Holds(role) {
		err = NotFound(role)
	}
	return p, err
}

// Reader gives those of ids that were ever associated with the caller's event, by id.
type Reader func(ctx context.Context, c *auth.Caller, wanted []string) (map[string]Party, error)

// Read is the Reader of the table.
func (st *Store) Read(ctx context.Context, c *auth.Caller, wanted []string) (map[string]Party, error) {
	found, err := st.read(ctx, c, wanted)
	maps.DeleteFunc(found, func(_ string, p Party) bool { return p.Here == nil })
	return found, err
}

// Refresh gives the Reader of a request, beside its other reads: of memory, which is
// validated for it, where all rows are loaded, and otherwise of the table. What is
// loaded later is not validated for this request.
func (st *Store) Refresh(ctx context.Context, c *auth.Caller) (Reader, error) {
	if !st.loaded(c) {
		return st.Read, nil
	}
	return st.remembered, st.Load(ctx, c)
}

// Load reads all rows into memory that a search on the caller's event needs, or
// validates them.
func (st *Store) Load(ctx context.Context, c *auth.Caller) error {
	_, err := st.views(ctx, c)
	return err
}

func (st *Store) loaded(c *auth.Caller) bool {
	return st.Memory != nil && st.Memory.Records.Loaded(st.Kind.records(c.Org.ID)) &&
		st.Memory.Associations.Loaded(st.Kind.associations(c.Org.ID, c.Event.ID))
}

// views are the rows of the organization's records and of their associations with
// the caller's event, as they stand.
func (st *Store) views(ctx context.Context, c *auth.Caller) (v views, err error) {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(table.Safely(func() (err error) {
		v.records, err = st.Memory.Records.View(ctx, st.Kind.records(c.Org.ID))
		return err
	}))
	g.Go(table.Safely(func() (err error) {
		v.places, err = st.Memory.Associations.View(ctx, st.Kind.associations(c.Org.ID, c.Event.ID))
		return err
	}))
	err = g.Wait()
	return v, err
}

// remembered is the Reader of memory, as current as the views that were validated
// last. Whom it finds in the middle of a write it reads from the table.
func (st *Store) remembered(ctx context.Context, c *auth.Caller, wanted []string) (map[string]Party, error) {
	var bodies []*Body
	var here []*Association
	g, within := errgroup.WithContext(ctx)
	g.Go(table.Safely(func() (err error) {
		bodies, err = st.Memory.Records.Related(within, st.Kind.records(c.Org.ID), wanted)
		return err
	}))
	g.Go(table.Safely(func() (err error) {
		here, err = st.Memory.Associations.Related(within, st.Kind.associations(c.Org.ID, c.Event.ID), wanted)
		return err
	}))
	if err := g.Wait(); err != nil {
		return nil, err
	}
	present := make(map[string]Party, len(here))
	for _, a := range here {
		present[a.ID] = Party{Here: a}
	}
	var torn []string
	for _, b := range bodies {
		if here := present[b.ID].Here; here == nil {
			continue
		} else if p := (Party{b, here}); p.torn(c) {
			torn = append(torn, b.ID)
		} else {
			present[b.ID] = p
		}
	}
	again, err := st.Read(ctx, c, torn)
	maps.Copy(present, again)
	maps.DeleteFunc(present, func(_ string, p Party) bool { return p.Body == nil })
	return present, err
}

// numbers are the next running numbers of the organization's parties.
func (st *Store) numbers(c *auth.Caller) *write.Numbers {
	return write.NewNumbers(st.Table, st.Kind.numbers(c.Org.ID))
}

// title is a role as an error names it.
func title(role string) string { return strings.ToUpper(role[:1]) + role[1:] }

// NotOnEvent is the 400 of a property that names a party which is not on the event.
func NotOnEvent(field string) error { return apierr.Invalid(field, "%s is not on this event.", field) }
