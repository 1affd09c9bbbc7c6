package datarequest

import (
	"context"
	"slices"
	"time"

	"lectern/shared/auth"
	"lectern/shared/contact"
	"lectern/shared/party"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Erased is an erasure: the keyed hash of the address, and the contacts. CompletedAt is zero before the end.
type Erased struct {
	Request     string    `json:"request"`
	Identity    string    `json:"identity"`
	Contacts    []string  `json:"contacts"`
	CreatedAt   wire.Time `json:"created_at,omitzero"`
	CompletedAt wire.Time `json:"completed_at,omitzero"`
}

// Erasures returns the erasures of an organization that were not completed before a time, in the order of
// creation: open and failed ones too, which may be newer than the time, but no failed one of which a later
// erasure has done the rest. After a restore of the table to the time, Repeat does the erasures again.
func (s *Store) Erasures(ctx context.Context, org int64, since time.Time) ([]Erased, error) {
	all, err := s.of(org).List(ctx)
	if err != nil {
		return nil, err
	}
	erased := []Erased{}
	for _, r := range all {
		if r.Type != Erasure {
			continue
		}
		p, err := r.private()
		if err != nil {
			return nil, err
		}
		done := r.Status == Completed && p.EndedAt.Before(since) || r.Status == Failed && p.Erased
		if !done {
			erased = append(erased, Erased{r.ID, p.Identity, r.Response.ContactRecord, r.CreatedAt, p.EndedAt})
		}
	}
	return erased, nil
}

// recordsAtOnce is the number of contacts that Repeat reads at once.
const recordsAtOnce = 500

// Repeat opens an erasure for each contact of an organization that was erased, by id or by the keyed
// hash of the address, and returns the requests. Max does not limit them.
func (s *Store) Repeat(ctx context.Context, org int64, erased []Erased) ([]*Request, error) {
	unlimited, opened := *s, []*Request{}
	unlimited.records.Unlimited = true
	s = &unlimited
	caller, err := auth.Service(ctx, s.members.Table, org, 0, nil)
	if err != nil || caller == nil {
		return opened, err
	}
	var keys []table.Key
	for item, err := range s.members.Table.Between(ctx, contact.Kind.Rows(org, 0).Rows, "0", "~") {
		if err != nil {
			return nil, err
		}
		keys = append(keys, contact.Kind.Body(org, party.RowID(item)))
	}
	for some := range slices.Chunk(keys, recordsAtOnce) {
		got, err := s.members.Table.GetMany(ctx, some)
		if err != nil {
			return nil, err
		}
		for _, item := range got {
			r, err := s.repeat(ctx, caller, item, erased)
			if err != nil {
				return nil, err
			}
			if r != nil {
				opened = append(opened, r)
			}
		}
	}
	return opened, nil
}

// repeat opens an erasure for a stored contact; nil if the contact was not erased, or has no address.
func (s *Store) repeat(ctx context.Context, caller *auth.Caller, item table.Item, erased []Erased) (*Request, error) {
	b, err := party.Decode(item)
	if err != nil || b.Value(contact.Address) == "" {
		return nil, err
	}
	identity, err := s.Identity(ctx, caller.Org.ID, b.Value(contact.Address))
	if err != nil {
		return nil, err
	}
	for _, e := range erased {
		again := e.Identity == identity
		if !again && slices.Contains(e.Contacts, b.ID) {
			if again, err = s.unrefilled(ctx, caller.Org.ID, b, e); err != nil {
				return nil, err
			}
		}
		if again {
			return s.Create(auth.With(ctx, caller), erasureOf(b.Value(contact.Address)))
		}
	}
	return nil, nil
}

// unrefilled reports whether a contact with another address than an erasure had is still the person of the
// erasure: the erasure has not emptied the contact for somebody else.
func (s *Store) unrefilled(ctx context.Context, org int64, b *party.Body, e Erased) (bool, error) {
	if e.CreatedAt.IsZero() {
		return true, nil
	}
	by, err := s.emptiedBy(ctx, contact.Kind.PK(org, b.ID), e.CreatedAt)
	return by == "", err
}

// erasureOf returns the draft of an erasure of the person with an address.
func erasureOf(address string) Draft {
	sent := func(value string) wire.Opt[string] { return wire.Opt[string]{Value: value, Sent: true} }
	return Draft{Type: sent(Erasure), IdentityType: sent(byEmail), Identity: sent(address)}
}
