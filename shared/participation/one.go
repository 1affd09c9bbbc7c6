package participation

import (
	"context"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/contact"
	"lectern/shared/party"
)

// Speaker returns a contact of the caller's event; 404 for a contact that is no speaker on a
// session.
func (st *Store) Speaker(ctx context.Context, c *auth.Caller, id string, x party.Expand) (*contact.Contact, error) {
	set, err := st.Settings.Load(ctx, c)
	if err != nil {
		return nil, err
	}
	l := lookup{reader: st.onEvent(c, id)}
	l.asSpeaker = set.Roles
	if err := parallel(ctx, l.checkRole, l.find); err != nil {
		return nil, err
	}
	if !l.found.Holds(contact.Role) || !l.speaks {
		return nil, apierr.NotFound("Speaker")
	}
	return st.Contacts.Show(c, set, bool(x), l.found), nil
}

// lookup reads a contact and whether the contact is a speaker.
type lookup struct {
	reader
	found  party.Party
	speaks bool
}

func (l *lookup) find(ctx context.Context) (err error) {
	l.found, err = l.store.Contacts.Find(ctx, l.caller, l.contact)
	return err
}

// checkRole reads whether the contact is a speaker on a session of the caller's event. It
// reads sessions only if the contact's items do not rule them out.
func (l *lookup) checkRole(ctx context.Context) error {
	found, err := l.rows(ctx, 1)
	l.speaks = len(found) > 0
	return err
}

// ByEmail returns the contact with an address, in any case, with the contact's roles; 404
// for a contact that is no participant of the caller's event.
func (st *Store) ByEmail(ctx context.Context, c *auth.Caller, address string, x party.Expand) (*Participant, error) {
	s, err := st.eventRows(ctx, c)
	if err != nil {
		return nil, err
	}
	holder, err := s.holder(ctx, address)
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

// noParticipant returns the 404 of an address, with the event as the place of the search.
func noParticipant() error {
	e := apierr.NotFound("Participant")
	e.Message += " on this event"
	return e
}
