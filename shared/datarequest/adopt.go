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

// Spares returns the id of the change after which a contact has the values of another person: the
// erasure, or a failed one before the erasure, has emptied the contact with the change, and somebody has given the
// contact another address since. Spares returns an empty id if the erasure removes all values. The addresses
// are compared, not their keyed hashes: a worker may not read the keys.
func (s *Store) Spares(ctx context.Context, r *Request, b *party.Body) (change string, err error) {
	if b.Value(contact.Address) == "" || contact.Holds(b, r.IdentityValue) {
		return "", nil
	}
	p, err := r.private()
	if err != nil {
		return "", err
	}
	return s.emptiedBy(ctx, contact.Kind.PK(r.OrgID, b.ID), p.since(r, b.ID))
}

// emptiedBy returns the id of the last change that emptied the contact in a partition since a time; empty if
// no change did, or if values of the person may be left on an event. An erasure empties a contact event by
// event, and may have ended between two events.
func (s *Store) emptiedBy(ctx context.Context, pk string, since wire.Time) (last string, err error) {
	var first wire.Time
	events := map[int64]bool{}
	from, to := change.PersonalKey(pk, feed.Bound(since.Time)), change.PersonalKey(pk, "~")
	for item, err := range s.members.Table.Between(ctx, pk, from.SK, to.SK) {
		if err != nil {
			return "", err
		}
		c, err := change.Decode(item)
		if err != nil {
			return "", err
		}
		if c.Action != actionErased {
			continue
		}
		if last = c.ID; first.IsZero() {
			first = c.At
		}
		events[c.Event] = true
	}
	if last == "" {
		return "", nil
	}
	left, err := s.hasOlder(ctx, pk, first, events)
	if left || err != nil {
		return "", err
	}
	return last, nil
}

// hasOlder reports whether the contact in a partition has values on an event that was not emptied. An event
// to which the contact came after a time has no value from before.
func (s *Store) hasOlder(ctx context.Context, pk string, at wire.Time, emptied map[int64]bool) (bool, error) {
	for a, err := range party.Associations(ctx, s.members.Table, pk) {
		if err != nil {
			return false, err
		}
		if len(a.CustomFields)+len(a.Translations) > 0 && !emptied[a.Event] && a.CreatedAt.Before(at.Time) {
			return true, nil
		}
	}
	return false, nil
}
