package store

import (
	"context"

	"lectern/shared/auth"
	"lectern/shared/session"
	"lectern/shared/session/view"
	"lectern/shared/table"
	"lectern/shared/write"
)

// Target is the session that a request changes, and the version that the client has seen.
type Target struct {
	ID    string
	Guard write.Guard
}

// Update changes what the draft sends, of a composition source too (spec.md section 7).
func (st *Store) Update(ctx context.Context, c *auth.Caller, to Target, d *session.Draft, x view.Expand) (*view.Session, error) {
	r, err := st.guarded(ctx, c, to.Guard, x)
	if err != nil {
		return nil, err
	}
	op, err := update(r, to, d)
	if err != nil {
		return nil, err
	}
	return write.Run[*view.Session](ctx, st.Table, op)
}

// guarded returns the request of a change; 400 for a null updated_at. The route has
// refused a malformed If-Match (api.Revision).
func (st *Store) guarded(ctx context.Context, c *auth.Caller, guard write.Guard, x view.Expand) (*request, error) {
	if err := guard.Validate(); err != nil {
		return nil, err
	}
	return st.request(ctx, c, x)
}

// updateSession updates a session.
type updateSession struct {
	req  *request
	to   Target
	edit *session.Edit
}

func update(r *request, to Target, d *session.Draft) (write.Op, error) {
	edit, err := session.Check(r.caller, r.set, d, r.store.NewID)
	if err != nil {
		return nil, err
	}
	return &updateSession{r, to, edit}, nil
}

func (o *updateSession) Reads() []table.Key {
	return append(o.edit.Reads(), o.req.place.Body(o.to.ID))
}

func (o *updateSession) More(got write.Items) []table.Key {
	return append(o.edit.More(o.req.store.Parties, got), o.req.relatedKeys(got, o.to.ID)...)
}

func (o *updateSession) Touches(write.Items) []string { return []string{o.to.ID} }

// Plan refuses a broken rule before an outdated version.
func (o *updateSession) Plan(ctx context.Context, got write.Items) (*write.Plan, error) {
	resolved, err := o.edit.Resolve(o.req.people(), got)
	if err != nil {
		return nil, err
	}
	if err := resolved.CheckFeatures(); err != nil {
		return nil, err
	}
	before, err := o.req.place.Live(got, o.to.ID)
	if err != nil {
		return nil, err
	}
	now := o.req.now(before)
	change, err := resolved.Update(got, before, now)
	if err != nil {
		return nil, err
	}
	if err := o.to.Guard.Check(before.Version, before.UpdatedAt); err != nil {
		return nil, err
	}
	return o.req.plan(ctx, got, resolved.People, now, change)
}
