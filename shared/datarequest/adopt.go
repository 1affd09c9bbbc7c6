package datarequest

import (
	"context"
	"slices"

	"lectern/shared/change"
	"lectern/shared/contact"
	"lectern/shared/feed"
	"lectern/shared/party"
	"lectern/shared/wire"
)

// adopt adds the contacts of the failed erasures for the same identity to a new erasure. A failed erasure
// may have taken the address from a contact, so that no match finds the contact, and have left the rest.
func (s *Store) adopt(ctx context.Context, org int64, o *opening) error {
	all, err := s.ofIdentity(ctx, org, o.identity)
	if err != nil {
		return err
	}
	for _, r := range all {
		if r.Type != Erasure || r.Status != Failed || r.ended() {
			continue
		}
		p, err := r.private()
		if err != nil {
			return err
		}
		for _, id := range r.Response.ContactRecord {
			if slices.Contains(o.found.ContactRecord, id) {
				continue
			}
			if o.adopted == nil {
				o.adopted = map[string]wire.Time{}
			}
			o.adopted[id] = p.since(r, id)
			o.found.ContactRecord = append(o.found.ContactRecord, id)
		}
	}
	return nil
}

// since returns the time from which an erasure may have emptied a contact: that of its creation, or of the
// creation of the failed erasure whose contact it has taken over.
func (p private) since(r *Request, id string) wire.Time {
	if at, adopted := p.Adopted[id]; adopted {
		return at
	}
	return r.CreatedAt
}

// actionErased is the action of the change that empties a contact.
var actionErased = contact.Kind.Name + "." + party.Erased

// Spares reports whether an erasure leaves the values that a contact has now: the erasure, or a failed one
// before it, has emptied the contact, and somebody has given the contact another address since. The addresses
// are compared, not their keyed hashes: a worker may not read the keys.
func (s *Store) Spares(ctx context.Context, r *Request, b *party.Body) (bool, error) {
	if b.Value(contact.Address) == "" || contact.Holds(b, r.IdentityValue) {
		return false, nil
	}
	p, err := r.private()
	if err != nil {
		return false, err
	}
	at, err := s.emptiedAt(ctx, contact.Kind.PK(r.OrgID, b.ID), p.since(r, b.ID))
	if err != nil || at.IsZero() {
		return false, err
	}
	left, err := s.hasEarlier(ctx, contact.Kind.PK(r.OrgID, b.ID), at)
	return !left, err
}

// emptiedAt returns the time of the first erasure of the contact in a partition since a time; zero without
// one.
func (s *Store) emptiedAt(ctx context.Context, pk string, since wire.Time) (wire.Time, error) {
	from, to := change.PersonalKey(pk, feed.Bound(since.Time)), change.PersonalKey(pk, "~")
	for item, err := range s.members.Table.Between(ctx, pk, from.SK, to.SK) {
		if err != nil {
			return wire.Time{}, err
		}
		c, err := change.Decode(item)
		if err != nil {
			return wire.Time{}, err
		}
		if c.Action == actionErased {
			return c.At, nil
		}
	}
	return wire.Time{}, nil
}

// hasEarlier reports whether the contact in a partition has values on an event from before a time.
func (s *Store) hasEarlier(ctx context.Context, pk string, at wire.Time) (bool, error) {
	for a, err := range party.Associations(ctx, s.members.Table, pk) {
		if err != nil {
			return false, err
		}
		if len(a.CustomFields)+len(a.Translations) > 0 && a.UpdatedAt.Before(at.Time) {
			return true, nil
		}
	}
	return false, nil
}
