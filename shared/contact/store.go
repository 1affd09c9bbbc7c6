package contact

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/page"
	"lectern/shared/party"
	"lectern/shared/table"
	"lectern/shared/write"
)

// Store reads and writes contacts.
type Store struct{ party.Store }

// Get returns a contact of the caller's event.
func (st *Store) Get(ctx context.Context, c *auth.Caller, id string, x party.Expand) (*Contact, error) {
	return st.shown(ctx, c, x, func() (party.Party, error) { return st.Store.Get(ctx, c, id, Role) })
}

// GetOfOrganization returns a contact of the organization, on any event.
func (st *Store) GetOfOrganization(ctx context.Context, c *auth.Caller, id string, x party.Expand) (*Contact, error) {
	return st.shown(ctx, c, x, func() (party.Party, error) { return st.OfOrganization(ctx, c, id, Role) })
}

func (st *Store) shown(ctx context.Context, c *auth.Caller, x party.Expand, find func() (party.Party, error)) (*Contact, error) {
	set, err := st.Settings.Load(ctx, c)
	if err != nil {
		return nil, err
	}
	p, err := find()
	if err != nil {
		return nil, err
	}
	return st.Show(c, set, bool(x), p), nil
}

// Search returns a page of the contacts of the caller's event, or of the organization if the
// caller addresses no event.
func (st *Store) Search(ctx context.Context, c *auth.Caller, q party.Query, x party.Expand) (*page.Of[*Contact], error) {
	set, err := st.Settings.Load(ctx, c)
	if err != nil {
		return nil, err
	}
	search := st.Store.Search
	if c.Event == nil {
		search = st.SearchOrganization
	}
	q.Role = Role
	found, total, err := search(ctx, c, q)
	if err != nil {
		return nil, err
	}
	shown := make([]*Contact, len(found))
	for i, p := range found {
		shown[i] = st.Show(c, set, bool(x), p)
	}
	return page.New(q.Page, total, shown), nil
}

// lookups are the tries to find the holder of an address that is changing.
var lookups = table.Retry{Tries: 12, First: 50 * time.Millisecond, Max: 50 * time.Millisecond}

// ByAddress finds the contact with an address, in any case; a party without a Body for a
// free address.
func (st *Store) ByAddress(ctx context.Context, c *auth.Caller, address string) (party.Party, error) {
	key := ByEmail(c.Org.ID, address)
	for _, err := range lookups.Each(ctx) {
		if err != nil {
			return party.Party{}, err
		}
		p, err := st.at(ctx, c, key)
		if !errors.Is(err, table.ErrStale) {
			return p, err
		}
	}
	return party.Party{}, fmt.Errorf("contact: the holder of an address keeps changing: %w", apierr.Unavailable())
}

// at returns the contact with the address of a key; table.ErrStale while the address changes
// its contact.
func (st *Store) at(ctx context.Context, c *auth.Caller, key table.Key) (party.Party, error) {
	got, err := st.Table.GetMany(ctx, []table.Key{key})
	if err != nil || len(got) == 0 {
		return party.Party{}, err
	}
	id, err := holderID(got[key])
	if err != nil {
		return party.Party{}, err
	}
	whole, err := st.Table.GetMany(ctx, st.Keys(c, id))
	if err != nil {
		return party.Party{}, err
	}
	maps.Copy(whole, got)
	return st.holder(c, whole, key)
}

// holder returns the contact with the address of a key from the items; a party without a
// Body for a free address.
func (st *Store) holder(c *auth.Caller, got write.Items, key table.Key) (party.Party, error) {
	item, ok := got[key]
	if !ok {
		return party.Party{}, nil
	}
	id, err := holderID(item)
	if err != nil {
		return party.Party{}, err
	}
	p, err := st.Found(c, got, id)
	if err == nil && (p.Body == nil || ByEmail(c.Org.ID, p.Value(email)) != key) {
		err = table.ErrStale
	}
	return p, err
}

func holderID(item table.Item) (string, error) {
	held := struct{ ID string }{}
	if err := json.Unmarshal(item.Data, &held); err != nil {
		return "", fmt.Errorf("contact: decode the holder of an address: %w", err) // The key has the address.
	}
	return held.ID, nil
}

// hold returns the write that keeps an address for a contact. Each write has its own id, so
// that two requests for the same contact stay apart.
func (st *Store) hold(key table.Key, id string) table.Write {
	return table.Insert(table.Item{Key: key, Version: 1, Data: fmt.Appendf(nil, `{"id":%q,"write":%q}`, id, st.NewID())})
}
