package party

import (
	"context"
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

// Found is the party of an id among what was read; zero where there is none.
func (st *Store) Found(c *auth.Caller, got write.Items, id string) (p Party, err error) {
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

// Find reads a party, associated with the caller's event or not; it has no Body
// where the organization has none of that id.
func (st *Store) Find(ctx context.Context, c *auth.Caller, id string) (Party, error) {
	got, err := st.Table.GetMany(ctx, st.Keys(c, id))
	if err != nil {
		return Party{}, err
	}
	return st.Found(c, got, id)
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

// Present gives those of ids that were ever associated with the caller's event, by
// id: from memory where all rows are loaded (Refresh), otherwise in one batch.
func (st *Store) Present(ctx context.Context, c *auth.Caller, wanted []string) (map[string]Party, error) {
	if st.loaded(c) {
		return st.remembered(ctx, c, wanted)
	}
	return st.Read(ctx, c, wanted)
}

// Read is Present from the table, as it stands now, whatever is in memory.
func (st *Store) Read(ctx context.Context, c *auth.Caller, wanted []string) (map[string]Party, error) {
	var keys []table.Key
	for _, id := range wanted {
		keys = append(keys, st.Keys(c, id)...)
	}
	got, err := st.Table.GetMany(ctx, keys)
	if err != nil {
		return nil, err
	}
	present := make(map[string]Party, len(wanted))
	for _, id := range wanted {
		p, err := st.Found(c, got, id)
		if err != nil {
			return nil, err
		}
		if p.Body != nil && p.Here != nil {
			present[id] = p
		}
	}
	return present, nil
}

// Refresh makes Present current as of now, beside other reads: where the rows are
// in memory it validates them, and otherwise does nothing.
func (st *Store) Refresh(ctx context.Context, c *auth.Caller) error {
	if !st.loaded(c) {
		return nil
	}
	return st.Load(ctx, c)
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
	return v, g.Wait()
}

// remembered is Present from memory.
func (st *Store) remembered(ctx context.Context, c *auth.Caller, wanted []string) (map[string]Party, error) {
	var bodies []*Body
	var here []*Association
	g, ctx := errgroup.WithContext(ctx)
	g.Go(table.Safely(func() (err error) {
		bodies, err = st.Memory.Records.Related(ctx, st.Kind.records(c.Org.ID), wanted)
		return err
	}))
	g.Go(table.Safely(func() (err error) {
		here, err = st.Memory.Associations.Related(ctx, st.Kind.associations(c.Org.ID, c.Event.ID), wanted)
		return err
	}))
	if err := g.Wait(); err != nil {
		return nil, err
	}
	present := make(map[string]Party, len(here))
	for _, a := range here {
		present[a.ID] = Party{Here: a}
	}
	for _, b := range bodies {
		if p, ok := present[b.ID]; ok {
			present[b.ID] = Party{Body: b, Here: p.Here}
		}
	}
	for id, p := range present {
		if p.Body == nil {
			delete(present, id)
		}
	}
	return present, nil
}

// Numbers claims the next n numbers of the organization's parties and gives the
// first. They are never given again, so a write that is then refused leaves a gap.
func (st *Store) Numbers(ctx context.Context, c *auth.Caller, n int64) (int64, error) {
	last, err := st.Table.Add(ctx, st.Kind.numbers(c.Org.ID), n)
	return last - n + 1, err
}

// title is a role as an error names it.
func title(role string) string { return strings.ToUpper(role[:1]) + role[1:] }

// NotOnEvent is the 400 of a property that names a party which is not on the event.
func NotOnEvent(field string) error { return apierr.Invalid(field, "%s is not on this event.", field) }
