package party

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

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
	found, doubted := make(map[string]Party, len(wanted)), doubts{}
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
			if err != nil {
				return nil, err
			}
			switch p, whole := st.whole(c, p, doubted); {
			case !whole:
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

// numbers are the next running numbers of the organization's parties.
func (st *Store) numbers(c *auth.Caller) *write.Numbers {
	return write.NewNumbers(st.Table, st.Kind.numbers(c.Org.ID))
}

// title is a role as an error names it.
func title(role string) string { return strings.ToUpper(role[:1]) + role[1:] }

// NotOnEvent is the 400 of a property that names a party which is not on the event.
func NotOnEvent(field string) error { return apierr.Invalid(field, "%s is not on this event.", field) }
