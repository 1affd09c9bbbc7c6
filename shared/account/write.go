package account

import (
	"context"
	"slices"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/contact"
	"lectern/shared/party"
	"lectern/shared/table"
	"lectern/shared/write"
)

// codeRole is the code of the 409 for a role that is held already, or was.
const codeRole = "DUPLICATE_ROLE"

// writing is a write of an account in the making.
type writing struct {
	*party.Writing
	store *Store
	// draft is nil for none; refs are the contacts that it names.
	draft *Draft
	refs  contact.Refs
	view  *viewer
}

// Writer does the writes of a request to accounts in a role.
func (st *Store) Writer(c *auth.Caller, role string, x party.Expand) *party.Writer[Account, Draft] {
	r := st.NewRequest(c, role, x)
	return &party.Writer[Account, Draft]{
		Store: &st.Store, Role: role, Required: (*Draft).required,
		Begin: func(ctx context.Context, d *Draft, ifMatch string) (party.Operations, error) {
			return st.begin(ctx, r, d, ifMatch)
		},
		Stored: func(ctx context.Context, ids []string) (map[string]any, error) { return st.stored(ctx, r, ids) },
	}
}

// begin begins a write on the caller's event, whose draft is nil for none.
func (st *Store) begin(ctx context.Context, r party.Request, d *Draft, ifMatch string) (party.Operations, error) {
	w := &writing{store: st, draft: d}
	var sent *party.Draft
	if d != nil {
		if err := d.check(); err != nil {
			return nil, err
		}
		sent = &d.Draft
	}
	begun, err := st.Writing(ctx, r, sent, ifMatch)
	if err != nil {
		return nil, err
	}
	w.Writing, w.view = begun, st.viewer(r.Caller, begun.Set, r.Role, bool(r.Expand))
	if d != nil {
		if w.refs, err = d.refs(); err != nil {
			return nil, err
		}
		w.Verify, w.Prepare = w.verify, w.relate
		w.Reads = append(w.Reads, w.refs.Keys(r.Caller)...)
	}
	w.More = w.people
	w.Answer = w.answer
	return w, nil
}

// people are where the contacts stand that the draft names by address, and those that
// the account has.
func (w *writing) people(got write.Items, before party.Party) (keys []table.Key) {
	keys = w.refs.More(w.store.Contacts, w.Caller, got)
	for _, id := range related(before) {
		keys = append(keys, w.store.Contacts.Keys(w.Caller, id)...)
	}
	return keys
}

// verify refuses contacts that are not on the event.
func (w *writing) verify(_ context.Context, got write.Items) error {
	found, err := w.refs.Among(w.store.Contacts, w.Caller, got)
	if err != nil {
		return err
	}
	_, err = w.draft.relations(w.refs, found)
	return err
}

// verifyWhose is verify for who is to take the role: it refuses an account that the
// caller does not know of too.
func (w *writing) verifyWhose(ctx context.Context, got write.Items) error {
	if err := w.verify(ctx, got); err != nil || !w.draft.AccountID.Sent {
		return err
	}
	p, err := w.store.Found(w.Caller, got, w.draft.AccountID.Value)
	if err != nil {
		return err
	}
	known := p.Body != nil
	if known && p.Here == nil {
		known, err = w.store.known(ctx, w.Caller, p.ID)
	}
	if err == nil && !known {
		err = apierr.Invalid("account_id", "There is no such account.")
	}
	return err
}

// relate has the edit replace the account's contacts, where they were sent. Those who
// are deleted from the event stay where they are: the client cannot see them.
func (w *writing) relate(got write.Items, before party.Party) error {
	if !w.draft.Contacts.Sent {
		return nil
	}
	found, err := w.refs.Among(w.store.Contacts, w.Caller, got)
	if err != nil {
		return err
	}
	relations, err := w.draft.relations(w.refs, found)
	if err != nil || before.Here == nil {
		w.Edit.Relations = relations
		return err
	}
	for i, r := range before.Here.Relations {
		p, err := w.store.Contacts.Found(w.Caller, got, r.ContactID)
		if err != nil {
			return err
		}
		if !p.Holds(contact.Role) && len(relations) < maxStored {
			r.IsPrimary = r.IsPrimary && !slices.ContainsFunc(relations, func(r party.Relation) bool { return r.IsPrimary })
			relations = slices.Insert(relations, min(i, len(relations)), r)
		}
	}
	w.Edit.Relations = relations
	return nil
}

// answer shows the account with its contacts, which were read.
func (w *writing) answer(got write.Items, p party.Party) (any, error) {
	people := map[string]party.Party{}
	for _, id := range related(p) {
		person, err := w.store.Contacts.Found(w.Caller, got, id)
		if err != nil {
			return nil, err
		}
		people[id] = person
	}
	return w.view.written(p, people), nil
}

// Enroll gives the role to a new account, or to the one that account_id names, with
// what else was sent as an update. It is a 409 for an account that holds the role on
// the event, or held it and it was deleted.
func (w *writing) Enroll(id string) write.Op {
	named := w.draft.AccountID
	w.Verify = w.verifyWhose
	var number func(context.Context) (int64, error)
	if named.Sent {
		id = named.Value
	} else {
		number = w.Numbers.Reserve(id)
	}
	return w.Create(id, number, func(_ context.Context, got write.Items) (party.Party, error) {
		if !named.Sent {
			return party.Party{}, nil
		}
		return w.store.Found(w.Caller, got, id)
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
		return apierr.Conflict(codeRole, "The account was deleted as "+w.Role+" of the event. Restore it.").
			Field("account_id").With("id", p.ID).With("deleted", true)
	}
	return apierr.Conflict(codeRole, "The account is "+w.Role+" of the event already.").Field("account_id").With("id", p.ID)
}
