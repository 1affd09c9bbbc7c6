package contact

import (
	"context"
	"strings"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/party"
	"lectern/shared/table"
	"lectern/shared/write"
)

// codeDuplicate is the code of the 409 for an address that is taken.
const codeDuplicate = "DUPLICATE_EMAIL"

// Writer returns the writes of a request to contacts, whose only role is Role.
func (st *Store) Writer(c *auth.Caller, x party.Expand) *party.Writer[Contact, Draft] {
	r := st.NewRequest(c, Role, x)
	return &party.Writer[Contact, Draft]{Request: r, Rules: rules{r, st}}
}

// rules are the rules of contacts: no two contacts share an e-mail address (party.Rules).
type rules struct {
	party.Request
	store *Store
}

type operation = party.Operation[Draft]

// Check trims the address. It refuses an empty address, and a create without an address.
func (r rules) Check(d *Draft, create bool) (*party.Draft, error) {
	sent := d.Text(email)
	address := strings.TrimSpace(sent.Value)
	switch {
	case create && !sent.Sent:
		return nil, apierr.Invalid(email, "email is required.")
	case sent.Sent && address == "":
		return nil, apierr.Invalid(email, "email must not be empty.")
	case sent.Sent:
		d.SetText(email, address)
	}
	return &d.Draft, nil
}

// address returns the key of the sent address, and whether an address was sent.
func (r rules) address(o *operation) (key table.Key, sent bool) {
	if o.Sent == nil || !o.Sent.Text(email).Has() {
		return key, false
	}
	return ByEmail(r.Caller.Org.ID, o.Sent.Text(email).Value), true
}

// Keys returns the key of the sent address.
func (r rules) Keys(o *operation) ([]table.Key, error) {
	if key, sent := r.address(o); sent {
		return []table.Key{key}, nil
	}
	return nil, nil
}

// More returns the keys of the contact that has the sent address.
func (r rules) More(o *operation, got write.Items) []table.Key {
	if id := r.holderID(o, got); id != "" {
		return r.store.Keys(r.Caller, id)
	}
	return nil
}

// holderID returns the id of the contact that has the sent address; empty if the address
// is free.
func (r rules) holderID(o *operation, got write.Items) string {
	key, _ := r.address(o)
	id, err := holderID(got[key])
	if err != nil {
		return ""
	}
	return id
}

// Touches returns the sent address, the contact that has the address, and the address of
// the contact before the write.
func (r rules) Touches(o *operation, got write.Items) []string {
	key, sent := r.address(o)
	if !sent {
		return nil
	}
	touches := []string{key.PK}
	if id := r.holderID(o, got); id != "" {
		touches = append(touches, id)
	}
	if before := o.Before(got); before.Body != nil && before.Value(email) != "" {
		touches = append(touches, ByEmail(r.Caller.Org.ID, before.Value(email)).PK)
	}
	return touches
}

// Verify refuses nothing: contacts have no contacts.
func (rules) Verify(context.Context, *operation, write.Items) (party.Contacts, error) {
	return nil, nil
}

// Taker returns the contact that has the sent address, for a new association with the
// event. It refuses a contact that is on the event, that was deleted from the event, or
// that the caller may not know.
func (r rules) Taker(ctx context.Context, o *operation, got write.Items) (party.Party, error) {
	key, _ := r.address(o)
	p, err := r.store.holder(r.Caller, got, key)
	if err != nil || p.Body == nil {
		return p, err
	}
	if p.Association != nil {
		return p, taken(p)
	}
	seen, err := r.store.Sees(ctx, r.Caller, p.ID, Role)
	if err == nil && !seen {
		err = r.duplicate(ctx, p)
	}
	return p, err
}

// taken returns the 409 for a contact that is on the event, or was deleted from the event.
func taken(p party.Party) error {
	role, had := p.Association.Roles[Role]
	switch {
	case !had:
		return nil
	case role.DeletedAt != nil:
		return apierr.Conflict(codeDuplicate, "The contact with this e-mail address was deleted from the event. Restore it.").
			Field(email).With("id", p.ID).With("deleted", true)
	}
	return apierr.Conflict(codeDuplicate, "There is a contact with this e-mail address on the event already.").Field(email).With("id", p.ID)
}

// Also returns the writes that give the contact a new address and free the old address.
func (r rules) Also(ctx context.Context, o *operation, got write.Items, before, after party.Party) ([]table.Write, error) {
	key, sent := r.address(o)
	if !sent {
		return nil, nil
	}
	var free []table.Write
	if before.Body != nil && before.Value(email) != "" { // The address of an erased contact is free.
		was := ByEmail(r.Caller.Org.ID, before.Value(email))
		if was == key {
			return nil, nil
		}
		free = append(free, table.Remove(was, 1))
	}
	other, err := r.store.holder(r.Caller, got, key)
	switch {
	case err != nil:
		return nil, err
	case other.Body != nil && before.Body != nil && other.ID == before.ID:
		return nil, table.ErrStale // Another request has just given the contact this address.
	case other.Body != nil:
		return nil, r.duplicate(ctx, other)
	}
	return append(free, r.store.hold(key, after.ID)), nil
}

// duplicate returns the 409 for the address of another contact, with the contact's id if
// the caller may know the contact.
func (r rules) duplicate(ctx context.Context, other party.Party) error {
	refused := apierr.Conflict(codeDuplicate, "There is a contact with this e-mail address already.").Field(email)
	seen, err := r.store.Sees(ctx, r.Caller, other.ID, Role)
	if err != nil {
		return err
	}
	if seen {
		refused = refused.With("id", other.ID)
	}
	return refused
}

// Show renders the contact.
func (r rules) Show(o *operation, _ write.Items, after party.Party) (any, error) {
	return r.store.Show(r.Caller, o.Set, bool(r.Expand), after), nil
}

// Stored renders the contacts of ids that were ever on the caller's event, by id.
func (r rules) Stored(ctx context.Context, ids []string) (map[string]any, error) {
	set, err := r.store.Settings.Load(ctx, r.Caller)
	if err != nil {
		return nil, err
	}
	found, err := r.store.Read(ctx, r.Caller, ids)
	shown := make(map[string]any, len(found))
	for id, p := range found {
		shown[id] = r.store.Show(r.Caller, set, bool(r.Expand), p)
	}
	return shown, err
}
