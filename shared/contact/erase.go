package contact

import (
	"context"

	"lectern/shared/auth"
	"lectern/shared/party"
	"lectern/shared/table"
	"lectern/shared/write"
)

// Erase removes all values of a contact, also those of the caller's event, and frees the address
// (party.Store.Erase). With tell it is published on the event also if no value is left.
func (st *Store) Erase(ctx context.Context, c *auth.Caller, id string, tell bool) error {
	return st.Store.Erase(ctx, c, party.Erasure{ID: id, Role: Role, Holds: address{c.Org.ID}, Tell: tell})
}

// address frees the address of a contact of an organization (party.Holds).
type address struct{ org int64 }

// Held returns the key of the address.
func (a address) Held(b *party.Body) []table.Key {
	if b.Value(email) == "" {
		return nil
	}
	return []table.Key{ByEmail(a.org, b.Value(email))}
}

// Free returns the write that frees the address, if the contact has it.
func (a address) Free(b *party.Body, got write.Items) ([]table.Write, error) {
	for _, key := range a.Held(b) {
		item, ok := got[key]
		if !ok {
			continue
		}
		id, err := holderID(item)
		if err != nil || id != b.ID {
			return nil, err
		}
		return []table.Write{table.Remove(key, item.Version)}, nil
	}
	return nil, nil
}
