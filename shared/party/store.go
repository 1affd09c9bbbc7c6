package party

import (
	"context"
	"iter"
	"maps"
	"strings"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/caps"
	"lectern/shared/settings"
	"lectern/shared/table"
	"lectern/shared/wire"
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

// Found returns the party of an id from the items that were read; zero for a missing record.
// It returns table.ErrStale if record and association come from different writes.
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
		p.Association, err = DecodeAssociation(item)
	}
	return p, err
}

// Find reads a party, associated with the caller's event or not. The party has no Body if
// the organization has no party with this id.
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
		case p.torn(c) || st.mayBeTorn(p):
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

// Read reads parties from the table; it is a Reader.
func (st *Store) Read(ctx context.Context, c *auth.Caller, wanted []string) (map[string]Party, error) {
	found, err := st.read(ctx, c, wanted)
	maps.DeleteFunc(found, func(_ string, p Party) bool { return p.Association == nil })
	return found, err
}

// Title returns the name of a role in errors.
func Title(role string) string { return strings.ToUpper(role[:1]) + role[1:] }

// NotOnEvent returns the 400 of a property that names a party without the role on the event.
func NotOnEvent(field, role string) error {
	return apierr.Invalid(field, "There is no such %s on this event.", role)
}

// Associations yields the associations with events of the party in a partition.
func Associations(ctx context.Context, t *table.Table, pk string) iter.Seq2[*Association, error] {
	return func(yield func(*Association, error) bool) {
		for item, err := range t.Between(ctx, pk, "E#", "E#~") {
			var a *Association
			if err == nil {
				a, err = DecodeAssociation(item)
			}
			if !yield(a, err) || err != nil {
				return
			}
		}
	}
}

// Events returns the events on which a party holds a role and that the caller may see.
func (st *Store) Events(ctx context.Context, c *auth.Caller, id, role string) (events []int64, err error) {
	for a, err := range Associations(ctx, st.Table, st.Kind.PK(c.Org.ID, id)) {
		if err != nil {
			return nil, err
		}
		if (Party{Association: a}).Holds(role) && c.SeesEvent(a.Event) {
			events = append(events, a.Event)
		}
	}
	return events, nil
}

// Sees reports whether the caller may know a party on the organization's level. A caller
// limited to some events sees the parties that hold the role there.
func (st *Store) Sees(ctx context.Context, c *auth.Caller, id, role string) (bool, error) {
	if _, limited := c.Events(); !limited {
		return true, nil
	}
	events, err := st.Events(ctx, c, id, role)
	return len(events) > 0, err
}

// OfOrganization reads a party on the organization's level; 404 for a missing party, and for
// a party that the caller may not know.
func (st *Store) OfOrganization(ctx context.Context, c *auth.Caller, id, role string) (Party, error) {
	p, err := st.Find(ctx, c, id)
	if err != nil {
		return p, err
	}
	seen := p.Body != nil
	if seen {
		seen, err = st.Sees(ctx, c, id, role)
	}
	if err == nil && !seen {
		err = NotFound(role)
	}
	return p, err
}

// Erased is the verb of an erasure.
const Erased = "erased"

// Holds frees what else a record holds, such as a unique value.
type Holds interface {
	// Held returns the keys of what the record holds.
	Held(b *Body) []table.Key
	// Free returns the writes that free what the record holds.
	Free(b *Body, got write.Items) ([]table.Write, error)
}

// Erasure describes an Erase.
type Erasure struct {
	ID, Role string
	Holds    Holds
	// Tell publishes the erasure for each role that the party holds on the event, also if no value is
	// left: an erasure on another event may have removed the values of the record.
	Tell bool
}

// Erase removes the values of a party: standard fields, custom fields and translations, of the
// record and of its association with the caller's event (gaps.md section 7). Id, number, roles and
// times stay. The change record names the fields without values, and is published as an update for
// each role that the party holds on the event. If there is no value left, Erase writes a change record
// without fields where Tell asks for it, and otherwise nothing.
func (st *Store) Erase(ctx context.Context, c *auth.Caller, e Erasure) error {
	set, err := st.Settings.Load(ctx, c)
	if err != nil {
		return err
	}
	op := &erasure{Request: Request{Caller: c, Role: e.Role, store: st}, Erasure: e, set: set}
	_, err = write.Run[*Body](ctx, st.Table, op)
	return err
}

// erasure is an Erase (write.Op).
type erasure struct {
	Request
	Erasure
	set *settings.Snapshot
}

// Reads returns the keys of the party.
func (e *erasure) Reads() []table.Key { return e.store.Keys(e.Caller, e.ID) }

// More returns the keys of what the record holds.
func (e *erasure) More(got write.Items) []table.Key {
	p, err := e.store.Found(e.Caller, got, e.ID)
	if err != nil || p.Body == nil {
		return nil
	}
	return e.Holds.Held(p.Body)
}

// Touches returns the id of the party.
func (e *erasure) Touches(write.Items) []string { return []string{e.ID} }

// Plan empties the party.
func (e *erasure) Plan(ctx context.Context, got write.Items) (*write.Plan, error) {
	before, err := e.store.Found(e.Caller, got, e.ID)
	if err != nil {
		return nil, err
	}
	if before.Body == nil || before.Association == nil {
		return &write.Plan{Answer: before.Body}, nil
	}
	after := before.emptied()
	told := !e.Tell || len(before.Association.held()) == 0
	if told && equal(before.own(), after.own()) && equal(before.Association, after.Association) {
		return &write.Plan{Answer: before.Body}, nil
	}
	s := &step{Request: e.Request, set: e.set, before: before, after: after, verb: Erased, edits: true}
	s.now = wire.After(before.WrittenAt, e.store.Now())
	writes, err := s.writes(ctx)
	if err != nil {
		return nil, err
	}
	free, err := e.Holds.Free(before.Body, got)
	return &write.Plan{Writes: append(writes, free...), Answer: s.after.Body}, err
}

// emptied returns the party without values.
func (p Party) emptied() Party {
	after := p.clone()
	after.Values, after.CustomFields, after.Translations = map[string]string{}, nil, nil
	after.Association.CustomFields, after.Association.Translations = nil, nil
	return after
}
