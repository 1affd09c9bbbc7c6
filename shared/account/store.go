package account

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"lectern/shared/auth"
	"lectern/shared/catalogue"
	"lectern/shared/page"
	"lectern/shared/party"
	"lectern/shared/size"
	"lectern/shared/table"
)

// Get returns an account that holds a role on the caller's event.
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
	v.contacts = st.contacts(v.Viewer, st.Contacts.Read, size.Uncompressed, size.Of(ctx))
	if err := v.load(ctx, p); err != nil {
		return nil, err
	}
	return v.show(p), nil
}

// Search returns a page of the accounts that hold a role on the caller's event.
func (st *Store) Search(ctx context.Context, c *auth.Caller, q party.Query, x party.Expand) (*page.Of[*Account], error) {
	set, err := st.Settings.Load(ctx, c)
	if err != nil {
		return nil, err
	}
	var found []party.Party
	var total int
	var contacts party.Reader
	g, within := errgroup.WithContext(catalogue.ShareVersions(ctx, slices.Concat(st.Sources(c), st.Contacts.Sources(c))...))
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
	v.contacts = st.contacts(v.Viewer, contacts, size.Uncompressed, size.Of(ctx))
	if err := v.load(ctx, found...); err != nil {
		return nil, err
	}
	shown := make([]*Account, len(found))
	for i, p := range found {
		shown[i] = v.show(p)
	}
	return page.New(q.Page, total, shown), nil
}
