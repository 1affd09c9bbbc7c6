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
	"lectern/shared/table"
)

// Speaker gives a contact of the caller's event; 404 where none of that id is a
// speaker on a session.
func (st *Store) Speaker(ctx context.Context, c *auth.Caller, id string, x party.Expand) (*contact.Contact, error) {
	s, err := st.stage(ctx, c)
	if err != nil {
		return nil, err
	}
	var found party.Party
	g, within := errgroup.WithContext(ctx)
	g.Go(table.Safely(func() error { return st.read(within, s) }))
	g.Go(table.Safely(func() (err error) {
		found, err = st.Contacts.Find(within, c, id)
		return err
	}))
	if err := g.Wait(); err != nil {
		return nil, err
	}
	speaks := func(h Held) bool { return !h.IsCustom && h.Slug == participant.Speaker }
	if !found.Holds(contact.Role) || !slices.ContainsFunc(s.held(id)[id], speaks) {
		return nil, apierr.NotFound("Speaker")
	}
	return st.Contacts.Show(c, s.set, bool(x), found), nil
}

// ByEmail gives the contact that holds an address, in whatever case, with their
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
