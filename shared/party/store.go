package party

import (
	"context"
	"maps"
	"strings"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/caps"
	"lectern/shared/settings"
	"lectern/shared/table"
	"lectern/shared/write"
)

// Store reads and writes parties of one kind, on the caller's event or on the level of
// the organization.
type Store struct {
	Kind     *Kind
	Table    *table.Table
	Settings *settings.Cache
	Caps     *caps.Counter
	Now      func() time.Time
	NewID    func() string
	// AdminURL begins the deep links into the admin application; empty without one.
	AdminURL string
	// Memory is for searches; nil for a store that only writes or reads single parties.
	Memory *Memory
}

// Keys returns the keys of a party and, on an event, of its association.
func (st *Store) Keys(c *auth.Caller, id string) []table.Key {
	keys := []table.Key{st.Kind.Body(c.Org.ID, id)}
	if c.Event != nil {
		keys = append(keys, st.Kind.OnEvent(c.Org.ID, c.Event.ID, id))
	}
	return keys
}

// Found returns the party of an id from the items that were read; zero where there is
// none. It returns table.ErrStale where record and association come from different writes.
func (st *Store) Found(c *auth.Caller, got write.Items, id string) (Party, error) {
	p, err := st.found(c, got, id)
	if err == nil && p.torn(c) {
		err = table.ErrStale
	}
	return p, err
}

// found returns the party of an id from the items that were read, torn or not.
func (st *Store) found(c *auth.Caller, got write.Items, id string) (p Party, err error) {
	item, ok := got[st.Kind.Body(c.Org.ID, id)]
	if !ok {
		return Party{}, nil
	}
	if p.Body, err = Decode(item); err != nil || c.Event == nil {
		return p, err
	}
	if item, ok = got[st.Kind.OnEvent(c.Org.ID, c.Event.ID, id)]; ok {
		p.Here, err = DecodeAssociation(item)
	}
	return p, err
}

// Find reads a party, associated with the caller's event or not. The party has no Body
// where the organization has no party of that id.
func (st *Store) Find(ctx context.Context, c *auth.Caller, id string) (Party, error) {
	found, err := st.read(ctx, c, []string{id})
	return found[id], err
}

// read returns the parties of ids that exist, each with the record and the association
// of the same write. Parties whose items are torn, or may be, are read again together.
func (st *Store) read(ctx context.Context, c *auth.Caller, wanted []string) (map[string]Party, error) {
	got, err := st.Table.GetMany(ctx, st.allKeys(c, wanted))
	if err != nil {
		return nil, err
	}
	found := make(map[string]Party, len(wanted))
	var again []string
	for _, id := range wanted {
		p, err := st.found(c, got, id)
		switch {
		case err != nil:
			return nil, err
		case p.torn(c) || st.MayBeTorn(p):
			again = append(again, id)
		case p.Body != nil:
			found[id] = p
		}
	}
	return found, st.together(ctx, c, again, found)
}

// allKeys returns the Keys of all ids.
func (st *Store) allKeys(c *auth.Caller, ids []string) (keys []table.Key) {
	for _, id := range ids {
		keys = append(keys, st.Keys(c, id)...)
	}
	return keys
}

// Get reads a party that holds a role on the caller's event; 404 without such a party.
func (st *Store) Get(ctx context.Context, c *auth.Caller, id, role string) (Party, error) {
	p, err := st.Find(ctx, c, id)
	if err == nil && !p.Holds(role) {
		err = NotFound(role)
	}
	return p, err
}

// Reader reads the parties of ids that were ever associated with the caller's event, by id.
type Reader func(ctx context.Context, c *auth.Caller, wanted []string) (map[string]Party, error)

// Read reads parties from the table; it is a Reader.
func (st *Store) Read(ctx context.Context, c *auth.Caller, wanted []string) (map[string]Party, error) {
	found, err := st.read(ctx, c, wanted)
	maps.DeleteFunc(found, func(_ string, p Party) bool { return p.Here == nil })
	return found, err
}

// title returns the name of a role in errors.
func title(role string) string { return strings.ToUpper(role[:1]) + role[1:] }

// NotOnEvent returns the 400 of a property that names a party outside the event.
func NotOnEvent(field string) error { return apierr.Invalid(field, "%s is not on this event.", field) }
