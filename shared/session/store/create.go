package store

import (
	"context"

	"lectern/shared/auth"
	"lectern/shared/caps"
	"lectern/shared/session"
	"lectern/shared/session/view"
	"lectern/shared/table"
	"lectern/shared/write"
)

// Create creates a session, an abstract or a subsession (gaps.md section 2.3).
func (st *Store) Create(ctx context.Context, c *auth.Caller, d *session.Create, x view.Expand) (*view.Session, error) {
	if id := write.Ref(ctx); id != "" {
		return st.Stored(ctx, c, id, x)
	}
	r, err := st.request(ctx, c, x)
	if err != nil {
		return nil, err
	}
	op, err := st.counters(c).create(r, st.NewID(), &d.Draft)
	if err != nil {
		return nil, err
	}
	return write.Run[*view.Session](ctx, st.Table, op)
}

// counters limit and number the sessions that one request creates.
type counters struct {
	cap     *caps.Request
	numbers *write.Numbers
}

func (st *Store) counters(c *auth.Caller) counters {
	limit := st.Caps.Request(session.At(c).Rows(), caps.Sessions)
	return counters{limit, write.NewNumbers(st.Table, session.At(c).Numbers(), limit.Admit)}
}

// createSession creates a session, an abstract or a subsession. The parent of a subsession
// changes, too.
type createSession struct {
	req  *request
	id   string
	edit *session.Edit
	cap  *caps.Request
	// next is the session's number on the event, for a session that the cap admits; nil for
	// a subsession.
	next *write.Number
}

func (n counters) create(r *request, id string, d *session.Draft) (write.Op, error) {
	edit, err := session.Check(r.caller, r.set, d, r.store.NewID)
	if err != nil {
		return nil, err
	}
	o := &createSession{req: r, id: id, edit: edit, cap: n.cap}
	if edit.Parent() == "" {
		o.next = n.numbers.Next(id)
	}
	return o, nil
}

func (o *createSession) Reads() []table.Key {
	keys := o.edit.Reads()
	if id := o.edit.Parent(); id != "" {
		keys = append(keys, o.req.place.Body(id))
	}
	return keys
}

func (o *createSession) More(got write.Items) []table.Key {
	keys := o.edit.More(o.req.store.Parties, got)
	if parent, err := o.req.place.Stored(got, o.edit.Parent()); err == nil {
		keys = append(keys, o.req.place.Bodies(parent.Linked())...)
	}
	return keys
}

func (o *createSession) Touches(write.Items) []string {
	if id := o.edit.Parent(); id != "" {
		return []string{o.id, id}
	}
	return []string{o.id}
}

func (o *createSession) Plan(ctx context.Context, got write.Items) (*write.Plan, error) {
	resolved, err := o.edit.Resolve(o.req.people(), got)
	if err != nil {
		return nil, err
	}
	now := o.req.now(nil)
	created, err := resolved.Create(o.id, now)
	if err != nil {
		return nil, err
	}
	changes, err := o.number(ctx, got, created)
	if err != nil {
		return nil, err
	}
	return o.req.plan(ctx, got, resolved.People, now, changes...)
}

// number gives the session a number of the event or, for a subsession, of the parent. Only
// afterwards can the session be written.
func (o *createSession) number(ctx context.Context, got write.Items, created *session.Unnumbered) ([]session.Change, error) {
	if o.next != nil {
		change, err := created.Number(ctx, o.next)
		return []session.Change{change}, err
	}
	parent, err := o.req.place.Stored(got, o.edit.Parent())
	if err != nil {
		parent = nil
	}
	changes, err := created.Adopt(parent)
	if err == nil {
		err = o.cap.Admit(ctx, o.id)
	}
	return changes, err
}
