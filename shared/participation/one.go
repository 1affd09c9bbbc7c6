package participation

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/contact"
	"lectern/shared/participant"
	"lectern/shared/party"
	"lectern/shared/person"
	"lectern/shared/table"
)

// Speaker returns a contact of the caller's event; 404 where none of that id is a
// speaker on a session.
func (st *Store) Speaker(ctx context.Context, c *auth.Caller, id string, x party.Expand) (*contact.Contact, error) {
	set, err := st.Settings.Load(ctx, c)
	if err != nil {
		return nil, err
	}
	var found party.Party
	var speaks bool
	g, within := errgroup.WithContext(ctx)
	g.Go(table.Safely(func() (err error) {
		speaks, err = st.speaks(within, c, set.Roles, id)
		return err
	}))
	g.Go(table.Safely(func() (err error) {
		found, err = st.Contacts.Find(within, c, id)
		return err
	}))
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if !found.Holds(contact.Role) || !speaks {
		return nil, apierr.NotFound("Speaker")
	}
	return st.Contacts.Show(c, set, bool(x), found), nil
}

// speaks reports whether a contact is a speaker on a session of the caller's event. It
// reads sessions only where the contact's items do not rule them out.
func (st *Store) speaks(ctx context.Context, c *auth.Caller, roles *participant.Roles, id string) (bool, error) {
	among := func(ids []string) bool {
		return slices.ContainsFunc(ids, func(id string) bool {
			role, known := roles.Standing(id)
			return known && isSpeaker(role)
		})
	}
	w := walk{st: st, caller: c, contact: id, most: 1, keeps: func(v visit) bool { return among(v.Roles()[id]) }}
	w.items = func(ctx context.Context) ([]person.Item, error) {
		items, err := st.onEvent(c, id)(ctx)
		return slices.DeleteFunc(items, func(i person.Item) bool { return len(i.Roles) > 0 && !among(i.Roles) }), err
	}
	found, err := follow(ctx, w, func(visits []visit) ([]visit, error) { return visits, nil })
	return len(found) > 0, err
}

// ByEmail returns the contact that holds an address, in whatever case, with the contact's
// roles; 404 where it is no participant of the caller's event.
func (st *Store) ByEmail(ctx context.Context, c *auth.Caller, address string, x party.Expand) (*Participant, error) {
	s, err := st.stage(ctx, c)
	if err != nil {
		return nil, err
	}
	holder, err := st.holder(ctx, s, address)
	if err != nil {
		return nil, err
	}
	if !holder.Holds(contact.Role) {
		return nil, noParticipant()
	}
	roles := s.held(holder.ID)[holder.ID]
	if len(roles) == 0 {
		return nil, noParticipant()
	}
	return participantOf(st.Contacts.Show(c, s.set, bool(x), holder), roles), nil
}

// noParticipant is the 404 of an address, whose text says where it was looked for.
func noParticipant() error {
	e := apierr.NotFound("Participant")
	e.Message += " on this event"
	return e
}
