package account

import (
	"context"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/page"
	"lectern/shared/party"
	"lectern/shared/write"
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
	shown, err := st.show(ctx, c, set, role, bool(x), p)
	if err != nil {
		return nil, err
	}
	return shown[0], nil
}

// Search gives one page of the accounts that hold a role on the caller's event.
func (st *Store) Search(ctx context.Context, c *auth.Caller, q party.Query, x party.Expand) (*page.Of[*Account], error) {
	set, err := st.Settings.Load(ctx, c)
	if err != nil {
		return nil, err
	}
	found, total, err := st.Store.Search(ctx, c, q)
	if err != nil {
		return nil, err
	}
	shown, err := st.show(ctx, c, set, q.Role, bool(x), found...)
	if err != nil {
		return nil, err
	}
	return page.New(q.Page, total, shown), nil
}

// writing is a write of an account in the making.
type writing struct {
	*party.Writing
	store *Store
	draft *Draft
}

// Writer does the writes of accounts in either role.
func (st *Store) Writer() *party.Writer[Account, Draft] {
	return &party.Writer[Account, Draft]{
		Store: &st.Store, Begin: st.begin, Stored: st.stored, Required: (*Draft).required,
		Guard: func(d *Draft) write.Guard { return write.Guard{UpdatedAt: d.UpdatedAt} },
	}
}

// begin begins a write on the caller's event, whose draft is nil for none.
func (st *Store) begin(ctx context.Context, c *auth.Caller, role string, d *Draft, guard write.Guard, x party.Expand) (party.Operations, error) {
	var sent *party.Draft
	if d != nil {
		if err := d.check(); err != nil {
			return nil, err
		}
		sent = &d.Draft
	}
	begun, err := st.Writing(ctx, c, role, sent, guard)
	if err != nil {
		return nil, err
	}
	if d != nil {
		if begun.Edit.Relations, err = st.relations(ctx, c, d); err != nil {
			return nil, err
		}
	}
	begun.Answer = func(ctx context.Context, p party.Party) (any, error) {
		shown, err := st.show(ctx, c, begun.Set, role, bool(x), p)
		if err != nil {
			return nil, err
		}
		return shown[0], nil
	}
	begun.Again = func(ctx context.Context, id string) (any, error) { return st.stored(ctx, c, role, id, x) }
	return &writing{Writing: begun, store: st, draft: d}, nil
}

// Enroll gives the role to a new account, or to the one that account_id names, with
// what else was sent as an update. It is a 409 for an account that holds the role on
// the event, or held it and it was deleted.
func (w *writing) Enroll(id string, number *int64) write.Op {
	named := w.draft.AccountID
	if named.Sent {
		id = named.Value
	}
	return w.Create(id, number, func(ctx context.Context, _ write.Items) (party.Party, error) {
		if !named.Sent {
			return party.Party{}, nil
		}
		p, err := w.store.Find(ctx, w.Caller, named.Value)
		if err != nil {
			return p, err
		}
		known := p.Body != nil
		if known && p.Here == nil {
			known, err = w.store.known(ctx, w.Caller, p.ID)
		}
		if err == nil && !known {
			err = apierr.Invalid("account_id", "There is no such account.")
		}
		return p, err
	}, w.taken)
}

// Update changes what the draft sends. account_id is what the path says, if it is sent.
func (w *writing) Update(id string) write.Op {
	op := w.Writing.Update(id)
	if named := w.draft.AccountID; named.Sent && named.Value != id {
		op.Plan = func(context.Context, write.Items) (*write.Plan, error) {
			return nil, apierr.Invalid("account_id", "account_id cannot change.")
		}
	}
	return op
}

// known is whether the caller may know of an account: it holds a role on an event
// that the caller sees.
func (st *Store) known(ctx context.Context, c *auth.Caller, id string) (bool, error) {
	for _, role := range []string{Sponsor, Exhibitor} {
		if seen, err := st.Sees(ctx, c, id, role); seen || err != nil {
			return seen, err
		}
	}
	return false, nil
}

// taken is the 409 for an account that holds the role already, or held it.
func (w *writing) taken(p party.Party, deleted bool) error {
	if deleted {
		return apierr.Conflict("DUPLICATE_ROLE", "The account was deleted as "+w.Role+" of the event. Restore it.").
			Field("account_id").With("id", p.ID).With("deleted", true)
	}
	return apierr.Conflict("DUPLICATE_ROLE", "The account is "+w.Role+" of the event already.").Field("account_id").With("id", p.ID)
}
