package store

import (
	"context"

	"lectern/shared/auth"
	"lectern/shared/session"
	"lectern/shared/session/view"
	"lectern/shared/table"
	"lectern/shared/write"
)

// Delete hides a session until it is restored; 409 for a session with subsessions or in a
// composition (gaps.md section 2.6).
func (st *Store) Delete(ctx context.Context, c *auth.Caller, to Target, x view.Expand) (*view.Session, error) {
	r, err := st.guarded(ctx, c, to.Guard, x)
	if err != nil {
		return nil, err
	}
	return write.Run[*view.Session](ctx, st.Table, &deleteSession{req: r, to: to})
}

// Restore shows a deleted session again; 404 for a session that is not deleted, 409 for a
// deleted parent, 400 for a parent without room.
func (st *Store) Restore(ctx context.Context, c *auth.Caller, to Target, x view.Expand) (*view.Session, error) {
	if id := write.Ref(ctx); id != "" {
		return st.Stored(ctx, c, id, x)
	}
	r, err := st.guarded(ctx, c, to.Guard, x)
	if err != nil {
		return nil, err
	}
	return write.Run[*view.Session](ctx, st.Table, &deleteSession{req: r, to: to, restore: true})
}

// deleteSession deletes or restores a session. The parent of a subsession changes, too.
type deleteSession struct {
	req     *request
	to      Target
	restore bool
}

func (o *deleteSession) Reads() []table.Key { return []table.Key{o.req.place.Body(o.to.ID)} }

func (o *deleteSession) More(got write.Items) []table.Key { return o.req.relatedKeys(got, o.to.ID) }

func (o *deleteSession) Touches(got write.Items) []string {
	if b, err := o.req.place.Stored(got, o.to.ID); err == nil && b.Parent != "" {
		return []string{o.to.ID, b.Parent}
	}
	return []string{o.to.ID}
}

func (o *deleteSession) Plan(ctx context.Context, got write.Items) (*write.Plan, error) {
	before, err := o.req.place.Stored(got, o.to.ID)
	if err == nil && o.restore != (before.DeletedAt != nil) {
		err = session.NotFound()
	}
	if err != nil {
		return nil, err
	}
	if err := o.to.Guard.Check(before.Version, before.UpdatedAt); err != nil {
		return nil, err
	}
	change, now := session.Updated(before), o.req.now(before)
	if o.restore {
		change.Action, change.After.DeletedAt = "session.restored", nil
	} else {
		if err := before.CheckDelete(); err != nil {
			return nil, err
		}
		change.Action, change.Kind, change.After.DeletedAt = session.KindDeleted, session.KindDeleted, &now
	}
	changes := []session.Change{change}
	if before.Parent != "" {
		parent, err := relisted(o.req.place, got, change.After)
		if err != nil {
			return nil, err
		}
		changes = append(changes, parent)
	}
	return o.req.plan(ctx, got, o.req.people(), now, changes...)
}

// relisted returns the change of the parent of a subsession that is deleted or restored.
func relisted(place session.Place, got write.Items, sub *session.Body) (session.Change, error) {
	before, err := place.Stored(got, sub.Parent)
	if err != nil {
		return session.Change{}, err
	}
	parent := session.Updated(before)
	return parent, parent.After.Relist(sub)
}
