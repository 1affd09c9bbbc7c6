package participation

import (
	"context"
	"slices"

	"lectern/shared/auth"
	"lectern/shared/contact"
	"lectern/shared/programme"
	"lectern/shared/session"
	"lectern/shared/session/view"
	"lectern/shared/tenancy"
)

// Sessions are the sessions on which a contact has a role (gaps.md section 2.2).
type Sessions struct {
	Sessions []view.Brief `json:"sessions" doc:"Oldest first; for an organization, by event first."`
	Status   *string      `json:"status" enum:"accepted,accept_queue,pending,decline_queue,declined" doc:"The first of these that one of the sessions has, of those on the page."`
}

// ranked are the statuses of sessions; the contact gets the first status that a session has.
var ranked = []string{"accepted", "accept_queue", "pending", "decline_queue", "declined"}

func sessionsOf(all []view.Brief) *Sessions {
	if all == nil {
		all = []view.Brief{}
	}
	for i := range ranked {
		if slices.ContainsFunc(all, func(b view.Brief) bool { return b.Status != nil && *b.Status == ranked[i] }) {
			return &Sessions{all, &ranked[i]}
		}
	}
	return &Sessions{all, nil}
}

// Page chooses a part of a contact's sessions. By default an answer has the first thousand
// sessions; most contacts have fewer.
type Page struct {
	Page     int `query:"page" minimum:"1" maximum:"999" default:"1" doc:"The page, from 1."`
	PageSize int `query:"pageSize" minimum:"1" maximum:"1000" default:"1000" doc:"How many sessions a page has. A page with fewer is the last one."`
}

// OfContact returns the sessions of the caller's event on which a contact has a role; 404
// for a contact outside the event.
func (st *Store) OfContact(ctx context.Context, c *auth.Caller, id string, p Page) (*Sessions, error) {
	l := list{reader: st.onEvent(c, id), page: p}
	if err := parallel(ctx, l.checkContact, l.read); err != nil {
		return nil, err
	}
	return sessionsOf(l.found), nil
}

// OfContactAnywhere returns the sessions on which a contact has a role on all events that
// the contact is on and the caller sees; 404 for a missing contact, and for a contact that
// the caller may not know.
func (st *Store) OfContactAnywhere(ctx context.Context, c *auth.Caller, id string, p Page) (*Sessions, error) {
	events, err := st.events(ctx, c, id)
	if err != nil {
		return nil, err
	}
	callers := make([]*auth.Caller, len(events))
	for i, event := range events {
		caller := *c
		caller.Event = event
		callers[i] = &caller
	}
	l := list{reader: reader{store: st, caller: c, contact: id, callers: callers}, page: p}
	if err := l.read(ctx); err != nil {
		return nil, err
	}
	return sessionsOf(l.found), nil
}

// list reads a page of the sessions of a contact.
type list struct {
	reader
	page  Page
	found []view.Brief
}

// checkContact returns a 404 for a contact outside the caller's event.
func (l *list) checkContact(ctx context.Context) error {
	_, err := l.store.Contacts.Store.Get(ctx, l.caller, l.contact, contact.Role)
	return err
}

func (l *list) read(ctx context.Context) (err error) {
	w := walk[view.Brief]{
		reader: l.reader, renderer: briefRenderer{l.reader}, skip: (l.page.Page - 1) * l.page.PageSize, most: l.page.PageSize,
	}
	l.found, err = w.run(ctx)
	return err
}

// briefRenderer renders sessions for the list. On the organization's level the sessions name
// their event.
type briefRenderer struct{ reader }

func (r briefRenderer) render(ctx context.Context, visits []visit) (shown []view.Brief, err error) {
	parts := byEvent(visits)
	briefs := make([]eventBriefs, len(parts))
	tasks := make([]func(context.Context) error, len(parts))
	for i, part := range parts {
		briefs[i] = eventBriefs{reader: r.reader, part: part}
		tasks[i] = briefs[i].render
	}
	err = parallel(ctx, tasks...)
	for _, event := range briefs {
		shown = append(shown, event.shown...)
	}
	return shown, err
}

// byEvent splits visits at each change of the event.
func byEvent(visits []visit) (parts [][]visit) {
	for i, v := range visits {
		if i == 0 || v.event != visits[i-1].event {
			parts = append(parts, nil)
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], v)
	}
	return parts
}

// eventBriefs renders sessions of one event.
type eventBriefs struct {
	reader
	part  []visit
	shown []view.Brief
}

func (b *eventBriefs) render(ctx context.Context) error {
	event := b.part[0].event
	c := b.callerOn(event)
	set, err := b.store.Settings.Load(ctx, c)
	if err != nil {
		return err
	}
	bodies := make([]*session.Body, len(b.part))
	for i, v := range b.part {
		bodies[i] = v.Body
	}
	b.shown, err = b.store.Sessions.Briefs(ctx, c, set, bodies)
	for i := range b.shown {
		if b.caller.Event == nil {
			b.shown[i].EventID = event
		}
	}
	return err
}

// events returns the events of a contact that the caller sees, by id.
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
