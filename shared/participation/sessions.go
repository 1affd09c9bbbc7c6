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
	Status   *string         `json:"status" enum:"accepted,accept_queue,pending,decline_queue,declined" doc:"The first of these that one of the sessions has, of those on the page."`
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

// Page chooses a part of a contact's sessions. Without it an answer has the first
// thousand, which are all that most contacts have.
type Page struct {
	Page     int `query:"page" minimum:"1" maximum:"999" default:"1" doc:"The page, from 1."`
	PageSize int `query:"pageSize" minimum:"1" maximum:"1000" default:"1000" doc:"How many sessions a page has. A page with fewer is the last one."`
}

// OfContact returns the sessions of the caller's event on which a contact has a role;
// 404 where the contact is not on the event.
func (st *Store) OfContact(ctx context.Context, c *auth.Caller, id string, p Page) (*Sessions, error) {
	var found []session.Brief
	g, ctx := errgroup.WithContext(ctx)
	g.Go(table.Safely(func() error {
		_, err := st.Contacts.Store.Get(ctx, c, id, contact.Role)
		return err
	}))
	g.Go(table.Safely(func() (err error) {
		w := walk{st: st, caller: c, contact: id, items: st.onEvent(c, id)}
		found, err = st.briefs(ctx, w, p, []*auth.Caller{c})
		return err
	}))
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return sessionsOf(found), nil
}

// OfContactAnywhere returns the sessions on which a contact has a role on all events that
// it is on, as far as the caller sees them; 404 where the organization has no such
// contact, or none that the caller may know of.
func (st *Store) OfContactAnywhere(ctx context.Context, c *auth.Caller, id string, p Page) (*Sessions, error) {
	events, err := st.events(ctx, c, id)
	if err != nil {
		return nil, err
	}
	callers := make([]*auth.Caller, len(events))
	for i, event := range events {
		there := *c
		there.Event = event
		callers[i] = &there
	}
	found, err := st.briefs(ctx, walk{st: st, caller: c, contact: id, items: st.onEvents(callers, id)}, p, callers)
	if err != nil {
		return nil, err
	}
	return sessionsOf(found), nil
}

// briefs shows a page of the sessions of a walk, which are on the events of callers. On
// the organization's level they name their event.
func (st *Store) briefs(ctx context.Context, w walk, p Page, callers []*auth.Caller) ([]session.Brief, error) {
	w.skip, w.most = (p.Page-1)*p.PageSize, p.PageSize
	return follow(ctx, w, func(visits []visit) ([]session.Brief, error) {
		parts := byEvent(visits)
		shown := make([][]session.Brief, len(parts))
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(maxEvents)
		for i, part := range parts {
			g.Go(table.Safely(func() (err error) {
				shown[i], err = st.briefsOn(ctx, callerOf(callers, part[0].event), part)
				for j := range shown[i] {
					if w.caller.Event == nil {
						shown[i][j].EventID = part[0].event
					}
				}
				return err
			}))
		}
		err := g.Wait()
		return slices.Concat(shown...), err
	})
}

// byEvent parts visits where the event changes.
func byEvent(visits []visit) (parts [][]visit) {
	for i, v := range visits {
		if i == 0 || v.event != visits[i-1].event {
			parts = append(parts, nil)
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], v)
	}
	return parts
}

// briefsOn shows sessions of one event.
func (st *Store) briefsOn(ctx context.Context, c *auth.Caller, visits []visit) ([]session.Brief, error) {
	set, err := st.Settings.Load(ctx, c)
	if err != nil {
		return nil, err
	}
	bodies := make([]*session.Body, len(visits))
	for i, v := range visits {
		bodies[i] = v.Body
	}
	return st.Sessions.Briefs(ctx, c, set, bodies)
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
