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

// codeRole is the code of the 409 for a role that the account has, or had before a delete.
const codeRole = "DUPLICATE_ROLE"

// Writer returns the writes of a request to accounts in a role. biographies is how many bytes of
// texts about its contacts an account has in the answer.
func (st *Store) Writer(c *auth.Caller, role string, x party.Expand, biographies int) *party.Writer[Account, Draft] {
	r := st.NewRequest(c, role, x)
	return &party.Writer[Account, Draft]{Request: r, Rules: rules{r, st, biographies}}
}

// rules are the rules of accounts: a create may name an existing account, and an account has
// contacts on the event (party.Rules).
type rules struct {
	party.Request
	store       *Store
	biographies int
}

type operation = party.Operation[Draft]

// Check refuses a draft that contradicts itself, and a create without a name and an
// account_id.
func (rules) Check(d *Draft, create bool) (*party.Draft, error) {
	if create {
		if err := d.required(); err != nil {
			return nil, err
		}
		d.Existing = d.AccountID.Value
	}
	d.refs = d.references()
	return &d.Draft, d.check()
}

// Keys returns the keys of the addresses that the draft names. It refuses an update with
// the account_id of another account.
func (r rules) Keys(o *operation) ([]table.Key, error) {
	if o.Sent == nil {
		return nil, nil
	}
	for _, ref := range o.Sent.refs {
		if err := ref.Validate(); err != nil {
			return nil, err
		}
	}
	if named := o.Sent.AccountID; named.Sent && named.Value != o.ID {
		return nil, apierr.Invalid("account_id", "account_id cannot change.")
	}
	return o.Sent.refs.Keys(r.Caller), nil
}

// More returns the keys of the contacts that the draft names by address, and of the
// contacts that the account has.
func (r rules) More(o *operation, got write.Items) []table.Key {
	var keys []table.Key
	if o.Sent != nil {
		keys = o.Sent.refs.More(r.store.Contacts, r.Caller, got)
	}
	for _, id := range related(o.Before(got)) {
		keys = append(keys, r.store.Contacts.Keys(r.Caller, id)...)
	}
	return keys
}

// Touches returns nothing beside the account.
func (rules) Touches(*operation, write.Items) []string { return nil }

// Verify returns the list of contacts in the draft. It refuses contacts that are not on the
// event, and a create with the account_id of an account unknown to the caller.
func (r rules) Verify(ctx context.Context, o *operation, got write.Items) (party.Contacts, error) {
	list, err := r.list(o, got)
	if err != nil || !o.Creates() || !o.Sent.AccountID.Sent {
		return list, err
	}
	p, err := r.store.Found(r.Caller, got, o.ID)
	if err != nil {
		return nil, err
	}
	known := p.Body != nil
	if known && p.Association == nil {
		known, err = r.store.known(ctx, r.Caller, p.ID)
	}
	if err == nil && !known {
		err = apierr.Invalid("account_id", "There is no such account.")
	}
	return list, err
}

// list returns the list of contacts in the draft; nil for a draft without a list.
func (r rules) list(o *operation, got write.Items) (party.Contacts, error) {
	if o.Sent == nil || !o.Sent.Contacts.Sent {
		return nil, nil
	}
	found, err := o.Sent.refs.Among(r.store.Contacts, r.Caller, got)
	if err != nil {
		return nil, err
	}
	sent, err := o.Sent.relations(found)
	if err != nil {
		return nil, err
	}
	return sentContacts{r, got, sent}, nil
}

// sentContacts is the list of contacts in a draft (party.Contacts).
type sentContacts struct {
	rules
	got  write.Items
	sent []party.Relation
}

// After returns the sent contacts. Stored contacts that are deleted from the event keep their
// position: the client cannot see them.
func (l sentContacts) After(before party.Party) ([]party.Relation, error) {
	relations := l.sent
	if before.Association == nil {
		return relations, nil
	}
	for i, old := range before.Association.Relations {
		p, err := l.store.Contacts.Found(l.Caller, l.got, old.ContactID)
		if err != nil {
			return nil, err
		}
		if !p.Holds(contact.Role) && len(relations) < maxStored {
			old.IsPrimary = old.IsPrimary && !slices.ContainsFunc(relations, primary)
			relations = slices.Insert(relations, min(i, len(relations)), old)
		}
	}
	return relations, nil
}

// known reports whether the caller may know an account: the account has a role on an event
// that the caller sees.
func (st *Store) known(ctx context.Context, c *auth.Caller, id string) (bool, error) {
	for _, role := range []string{Sponsor, Exhibitor} {
		if seen, err := st.Sees(ctx, c, id, role); seen || err != nil {
			return seen, err
		}
	}
	return false, nil
}

// Taker returns the account that account_id names. It refuses an account that has the role,
// or had the role before a delete.
func (r rules) Taker(_ context.Context, o *operation, got write.Items) (party.Party, error) {
	if !o.Sent.AccountID.Sent {
		return party.Party{}, nil
	}
	p, err := r.store.Found(r.Caller, got, o.ID)
	if err != nil || p.Association == nil {
		return p, err
	}
	role, had := p.Association.Roles[r.Role]
	switch {
	case had && role.DeletedAt != nil:
		err = apierr.Conflict(codeRole, "The account was deleted as "+r.Role+" of the event. Restore it.").
			Field("account_id").With("id", p.ID).With("deleted", true)
	case had:
		err = apierr.Conflict(codeRole, "The account is "+r.Role+" of the event already.").Field("account_id").With("id", p.ID)
	}
	return p, err
}

// Also returns no writes.
func (rules) Also(context.Context, *operation, write.Items, party.Party, party.Party) ([]table.Write, error) {
	return nil, nil
}

// Show renders the account with its contacts, which were read.
func (r rules) Show(o *operation, got write.Items, after party.Party) (any, error) {
	people := map[string]party.Party{}
	for _, id := range related(after) {
		person, err := r.store.Contacts.Found(r.Caller, got, id)
		if err != nil {
			return nil, err
		}
		people[id] = person
	}
	return r.written(r.store.viewer(r.Caller, o.Set, r.Role, bool(r.Expand)), after, people), nil
}

// Stored renders the accounts of ids that ever had a role on the caller's event, by id.
func (r rules) Stored(ctx context.Context, ids []string) (map[string]any, error) {
	set, err := r.store.Settings.Load(ctx, r.Caller)
	if err != nil {
		return nil, err
	}
	found, err := r.store.Read(ctx, r.Caller, ids)
	if err != nil {
		return nil, err
	}
	v, shown := r.store.viewer(r.Caller, set, r.Role, bool(r.Expand)), make(map[string]any, len(found))
	for id, p := range found {
		var people map[string]party.Party
		if v.readsContacts {
			if people, err = r.store.Contacts.Read(ctx, r.Caller, related(p)); err != nil {
				return nil, err
			}
		}
		shown[id] = r.written(v, p, people)
	}
	return shown, nil
}
