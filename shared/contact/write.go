package contact

import (
	"context"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/party"
	"lectern/shared/table"
	"lectern/shared/write"
)

// codeDuplicate is the code of the 409 for an address that is taken.
const codeDuplicate = "DUPLICATE_EMAIL"

// writing is a write of a contact in the making.
type writing struct {
	*party.Writing
	store *Store
	// taking is the key of the address that the draft brings; zero for none.
	taking table.Key
}

// begin begins a write on the caller's event, whose draft is nil for none.
func (st *Store) begin(ctx context.Context, r party.Request, d *Draft, ifMatch string) (party.Operations, error) {
	w := &writing{store: st}
	var draft *party.Draft
	if d != nil {
		if err := d.check(); err != nil {
			return nil, err
		}
		draft = &d.Draft
	}
	var err error
	if w.Writing, err = st.Writing(ctx, r, draft, ifMatch); err != nil {
		return nil, err
	}
	w.Answer = func(_ write.Items, p party.Party) (any, error) {
		return st.Show(r.Caller, w.Set, bool(r.Expand), p), nil
	}
	if d != nil && d.Text(email).Has() {
		w.taking = ByEmail(r.Caller.Org.ID, d.Text(email).Value)
		w.Reads = append(w.Reads, w.taking)
		w.More = w.holders
		w.Touches = w.addresses
		w.Also = w.move
	}
	return w, nil
}

// holders are where the contact stands that has the address.
func (w *writing) holders(got write.Items, _ party.Party) []table.Key {
	if id := w.holderID(got); id != "" {
		return w.store.Keys(w.Caller, id)
	}
	return nil
}

// holderID is the id of who has the address by what was read; empty for nobody.
func (w *writing) holderID(got write.Items) string {
	id, err := holderID(got[w.taking])
	if err != nil {
		return ""
	}
	return id
}

// addresses are what a write may take or leave: the new address, who has it, and the
// one before.
func (w *writing) addresses(got write.Items, before party.Party) []string {
	touches := []string{w.taking.PK}
	if id := w.holderID(got); id != "" {
		touches = append(touches, id)
	}
	if before.Body != nil {
		touches = append(touches, ByEmail(w.Caller.Org.ID, before.Value(email)).PK)
	}
	return touches
}

// holder is the contact that has the address, by what was read. It is table.ErrStale
// where who is said to have it does not, or not yet.
func (w *writing) holder(got write.Items) (party.Party, error) {
	return w.store.holder(w.Caller, got, w.taking)
}

// move gives a contact its new address and frees the one before.
func (w *writing) move(ctx context.Context, got write.Items, before, after party.Party) ([]table.Write, error) {
	var free []table.Write
	if before.Body != nil {
		was := ByEmail(w.Caller.Org.ID, before.Value(email))
		if was == w.taking {
			return nil, nil
		}
		free = append(free, table.Remove(was, 1))
	}
	other, err := w.holder(got)
	switch {
	case err != nil:
		return nil, err
	case other.Body != nil && before.Body != nil && other.ID == before.ID:
		return nil, table.ErrStale // The contact has it by now, of another request.
	case other.Body != nil:
		return nil, w.duplicate(ctx, other)
	}
	return append(free, w.store.hold(w.taking, after.ID)), nil
}

// duplicate is the 409 for the address of another contact. It says which where the
// caller may know of it.
func (w *writing) duplicate(ctx context.Context, other party.Party) error {
	refused := apierr.Conflict(codeDuplicate, "There is a contact with this e-mail address already.").Field(email)
	seen, err := w.store.Sees(ctx, w.Caller, other.ID, Role)
	if err != nil {
		return err
	}
	if seen {
		refused = refused.With("id", other.ID)
	}
	return refused
}

// taken is the 409 for a contact that is on the event already, or was.
func taken(p party.Party, deleted bool) error {
	refused := apierr.Conflict(codeDuplicate, "There is a contact with this e-mail address on the event already.").Field(email).With("id", p.ID)
	if deleted {
		refused = apierr.Conflict(codeDuplicate, "The contact with this e-mail address was deleted from the event. Restore it.").
			Field(email).With("id", p.ID).With("deleted", true)
	}
	return refused
}

// Enroll associates the person of an address with the caller's event: the contact
// that has it, with what was sent as an update, or a new one. It is a 409 for a
// contact that is on the event, or was and is deleted.
func (w *writing) Enroll(id string) write.Op {
	return w.Create(id, w.Numbers.Reserve(id), func(ctx context.Context, got write.Items) (party.Party, error) {
		p, err := w.holder(got)
		if err != nil || p.Body == nil || p.Here != nil {
			return p, err
		}
		seen, err := w.store.Sees(ctx, w.Caller, p.ID, Role)
		if err == nil && !seen {
			err = w.duplicate(ctx, p)
		}
		return p, err
	}, taken)
}

// Writer does the writes of a request to contacts, whose only role is Role.
func (st *Store) Writer(c *auth.Caller, x party.Expand) *party.Writer[Contact, Draft] {
	r := st.NewRequest(c, Role, x)
	return &party.Writer[Contact, Draft]{
		Store: &st.Store, Role: Role,
		Begin: func(ctx context.Context, d *Draft, ifMatch string) (party.Operations, error) {
			return st.begin(ctx, r, d, ifMatch)
		},
		Stored: func(ctx context.Context, ids []string) (map[string]any, error) { return st.stored(ctx, c, ids, x) },
		Required: func(d *Draft) error {
			if !d.Text(email).Sent {
				return apierr.Invalid(email, "email is required.")
			}
			return nil
		},
	}
}
