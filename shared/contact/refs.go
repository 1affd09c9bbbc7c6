package contact

import (
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/party"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Ref is a contact as a client names it in a list: by id or by address, not both.
type Ref struct {
	// Entry is the list's entry as the client wrote it, such as participants[2].
	Entry string
	ID    wire.Opt[string]
	Email wire.Opt[string]
}

// Refs are the contacts that a list names. An operation looks them up: it reads Keys, then
// More, and calls Among with the items.
type Refs []Ref

// Field returns the property that names the contact.
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

// Keys returns the keys of the addresses, to find their contacts.
func (refs Refs) Keys(c *auth.Caller) (keys []table.Key) {
	for _, ref := range refs {
		if ref.Email.Sent {
			keys = append(keys, ByEmail(c.Org.ID, ref.Email.Value))
		}
	}
	return keys
}

// More returns the keys of the contacts, after the addresses were read.
func (refs Refs) More(st *Store, c *auth.Caller, got write.Items) (keys []table.Key) {
	for _, ref := range refs {
		if id := ref.id(c, got); id != "" {
			keys = append(keys, st.Keys(c, id)...)
		}
	}
	return keys
}

// id returns the id of the contact; empty for an address without a contact.
func (r Ref) id(c *auth.Caller, got write.Items) string {
	if !r.Email.Sent {
		return r.ID.Value
	}
	item, ok := got[ByEmail(c.Org.ID, r.Email.Value)]
	if !ok {
		return ""
	}
	id, err := holderID(item)
	if err != nil {
		return ""
	}
	return id
}

// Among returns the contacts from the items, in the order of the refs. It returns a 400 that
// names the entry of a contact outside the caller's event (gaps.md section 2.5).
func (refs Refs) Among(st *Store, c *auth.Caller, got write.Items) ([]party.Party, error) {
	found := make([]party.Party, len(refs))
	for i, ref := range refs {
		p, err := st.Found(c, got, ref.id(c, got))
		if err != nil {
			return nil, err
		}
		if !p.Holds(Role) {
			return nil, party.NotOnEvent(ref.Field(), Role)
		}
		found[i] = p
	}
	return found, nil
}
