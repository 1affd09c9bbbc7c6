package account

import (
	"context"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"

	"lectern/shared/auth"
	"lectern/shared/catalogue"
	"lectern/shared/page"
	"lectern/shared/party"
	"lectern/shared/table"
)

// Get gives an account that holds a role on the caller's event.
func (st *Store) Get(ctx context.Context, c *auth.Caller, role, id string, x party.Expand) (*Account, error) {
	set, err := st.Settings.Load(ctx, c)
	if err != nil {
		return nil, err
	}
	p, err := st.Store.Get(ctx, c, id, role)
	if err != nil {
		return nil, err
	}
	v := st.viewer(c, set, role, bool(x))
	if err := v.meet(ctx, st.Contacts.Read, []party.Party{p}); err != nil {
		return nil, err
	}
	return v.show(p), nil
}

// stored gives those accounts of ids that ever had a role on the caller's event, by id.
func (st *Store) stored(ctx context.Context, r party.Request, ids []string) (map[string]any, error) {
	set, err := st.Settings.Load(ctx, r.Caller)
	if err != nil {
		return nil, err
	}
	found, err := st.Read(ctx, r.Caller, ids)
	if err != nil {
		return nil, err
	}
	v, shown := st.viewer(r.Caller, set, r.Role, bool(r.Expand)), make(map[string]any, len(found))
	for some := range slices.Chunk(slices.Collect(maps.Values(found)), atOnce/maxStored) {
		var people map[string]party.Party
		if v.readsContacts {
			if people, err = st.Contacts.Read(ctx, r.Caller, related(some...)); err != nil {
				return nil, err
			}
		}
		for _, p := range some {
			shown[p.ID] = v.written(p, people)
		}
	}
	return shown, nil
}

// Search gives one page of the accounts that hold a role on the caller's event.
func (st *Store) Search(ctx context.Context, c *auth.Caller, q party.Query, x party.Expand) (*page.Of[*Account], error) {
	set, err := st.Settings.Load(ctx, c)
	if err != nil {
		return nil, err
	}
	var found []party.Party
	var total int
	var contacts party.Reader
	g, within := errgroup.WithContext(catalogue.Together(ctx, slices.Concat(st.Sources(c), st.Contacts.Sources(c))...))
	g.Go(table.Safely(func() (err error) {
		found, total, err = st.Store.Search(within, c, q)
		return err
	}))
	g.Go(table.Safely(func() (err error) {
		contacts, err = st.Contacts.Refresh(within, c)
		return err
	}))
	if err := g.Wait(); err != nil {
		return nil, err
	}
	v := st.viewer(c, set, q.Role, bool(x))
	if err := v.meet(ctx, contacts, found); err != nil {
		return nil, err
	}
	shown := make([]*Account, len(found))
	for i, p := range found {
		shown[i] = v.show(p)
	}
	return page.New(q.Page, total, shown), nil
}
