package participation

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"lectern/shared/auth"
	"lectern/shared/contact"
	"lectern/shared/programme"
	"lectern/shared/session"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

// Sessions are those on which a contact has a role (gaps.md section 2.2).
type Sessions struct {
	Sessions []session.Brief `json:"sessions" doc:"Oldest first; for an organization, by event first."`
	Status   *string         `json:"status" enum:"accepted,accept_queue,pending,decline_queue,declined" doc:"The first of these that one of the sessions has."`
}

// ranked are the statuses of sessions; the first one that a session has is that of
// the contact.
var ranked = []string{"accepted", "accept_queue", "pending", "decline_queue", "declined"}

func sessionsOf(all []session.Brief) *Sessions {
	if all == nil {
		all = []session.Brief{}
	}
	for i := range ranked {
		if slices.ContainsFunc(all, func(b session.Brief) bool { return b.Status != nil && *b.Status == ranked[i] }) {
			return &Sessions{all, &ranked[i]}
		}
	}
	return &Sessions{all, nil}
}

// OfContact gives the sessions of the caller's event on which a contact has a role;
// 404 where the contact is not on the event.
func (st *Store) OfContact(ctx context.Context, c *auth.Caller, id string) (*Sessions, error) {
	var found []session.Brief
	g, ctx := errgroup.WithContext(ctx)
	g.Go(table.Safely(func() error {
		_, err := st.Contacts.Store.Get(ctx, c, id, contact.Role)
		return err
	}))
	g.Go(table.Safely(func() (err error) {
		found, err = st.of(ctx, c, id)
		return err
	}))
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return sessionsOf(found), nil
}

func (st *Store) of(ctx context.Context, c *auth.Caller, id string) ([]session.Brief, error) {
	set, err := st.Settings.Load(ctx, c)
	if err != nil {
		return nil, err
	}
	return st.Sessions.OfContact(ctx, c, set, id)
}

// maxEvents is how many events are read at a time.
const maxEvents = 8

// OfContactAnywhere gives the sessions on which a contact has a role on all events
// that it is on, as far as the caller sees them; 404 where the organization has no
// such contact, or none that the caller may know of.
func (st *Store) OfContactAnywhere(ctx context.Context, c *auth.Caller, id string) (*Sessions, error) {
	events, err := st.events(ctx, c, id)
	if err != nil {
		return nil, err
	}
	found := make([][]session.Brief, len(events))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxEvents)
	for i, event := range events {
		there := *c
		there.Event = event
		g.Go(table.Safely(func() (err error) {
			found[i], err = st.of(ctx, &there, id)
			return err
		}))
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for i, event := range events {
		for j := range found[i] {
			found[i][j].EventID = event.ID
		}
	}
	return sessionsOf(slices.Concat(found...)), nil
}

// events are those that a contact is on, as far as the caller sees them, by id.
func (st *Store) events(ctx context.Context, c *auth.Caller, id string) ([]*programme.Event, error) {
	if _, err := st.Contacts.OfOrganization(ctx, c, id, contact.Role); err != nil {
		return nil, err
	}
	ids, err := st.Contacts.Events(ctx, c, id, contact.Role)
	if err != nil {
		return nil, err
	}
	slices.Sort(ids)
	return programme.Many(ctx, tenancy.Store{Table: st.Contacts.Table}, c.Org.ID, ids)
}
