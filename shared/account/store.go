package account

import (
	"context"

	"golang.org/x/sync/errgroup"

	"lectern/shared/auth"
	"lectern/shared/page"
	"lectern/shared/party"
	"lectern/shared/table"
)

// Get gives an account that holds a role on the caller's event.
func (st *Store) Get(ctx context.Context, c *auth.Caller, role, id string, x party.Expand) (*Account, error) {
	return st.one(ctx, c, role, id, x, func(p party.Party) bool { return p.Holds(role) })
}

// stored is Get for an account that may have lost the role meanwhile.
func (st *Store) stored(ctx context.Context, c *auth.Caller, role, id string, x party.Expand) (*Account, error) {
	return st.one(ctx, c, role, id, x, func(p party.Party) bool { return p.Here != nil })
}

func (st *Store) one(ctx context.Context, c *auth.Caller, role, id string, x party.Expand, is func(party.Party) bool) (*Account, error) {
	set, err := st.Settings.Load(ctx, c)
	if err != nil {
		return nil, err
	}
	p, err := st.Find(ctx, c, id)
	if err != nil {
		return nil, err
	}
	if p.Body == nil || !is(p) {
		return nil, party.NotFound(role)
	}
	v := st.viewer(c, set, role, bool(x))
	if v.people, err = v.read(ctx, st.Contacts.Read, related(p)); err != nil {
		return nil, err
	}
	return v.show(p), nil
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
	g, within := errgroup.WithContext(ctx)
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
