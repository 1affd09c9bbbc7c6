package contact

import (
	"context"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/party"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Ref is a contact as a client names it in a list: by id or by address, not both.
type Ref struct {
	// Entry is the list's entry as the client wrote it, such as participants[2].
	Entry string
	ID    wire.Opt[string]
	Email wire.Opt[string]
}

// Field is the property that names the contact.
func (r Ref) Field() string {
	if r.Email.Sent {
		return r.Entry + ".email"
	}
	return r.Entry + ".contact_id"
}

// Validate checks that the contact is named in one way.
func (r Ref) Validate() error {
	switch {
	case r.ID.Sent && r.Email.Sent:
		return apierr.Invalid(r.Field(), "Give contact_id or email, not both.")
	case !r.ID.Sent && !r.Email.Sent:
		return apierr.Invalid(r.Field(), "Give contact_id or email.")
	}
	return nil
}

// Invited finds the contacts that refs name, in their order. One that is not on the
// caller's event is a 400 that names its entry (gaps.md section 2.5).
func (st *Store) Invited(ctx context.Context, c *auth.Caller, refs []Ref) ([]party.Party, error) {
	ids, err := st.Addressed(ctx, c, refs)
	if err != nil {
		return nil, err
	}
	present, err := st.Read(ctx, c, ids)
	if err != nil {
		return nil, err
	}
	invited := make([]party.Party, len(refs))
	for i, ref := range refs {
		if invited[i] = present[ids[i]]; !invited[i].Holds(Role) {
			return nil, party.NotOnEvent(ref.Field())
		}
	}
	return invited, nil
}

// Addressed are the ids of the contacts that refs name; empty for an address that
// nobody has.
func (st *Store) Addressed(ctx context.Context, c *auth.Caller, refs []Ref) ([]string, error) {
	var keys []table.Key
	for _, ref := range refs {
		if ref.Email.Sent {
			keys = append(keys, ByEmail(c.Org.ID, ref.Email.Value))
		}
	}
	holders, err := st.Table.GetMany(ctx, keys)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(refs))
	for i, ref := range refs {
		ids[i] = ref.ID.Value
		if !ref.Email.Sent {
			continue
		}
		if item, ok := holders[ByEmail(c.Org.ID, ref.Email.Value)]; ok {
			if ids[i], err = holderID(item); err != nil {
				return nil, err
			}
		}
	}
	return ids, nil
}
