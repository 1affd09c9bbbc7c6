package insight

import (
	"context"
	"iter"
	"maps"

	"lectern/shared/account"
	"lectern/shared/contact"
	"lectern/shared/page"
	"lectern/shared/party"
	"lectern/shared/session"
)

// idSet is a set of contacts (party.IDs).
type idSet map[string]bool

// Len returns how many contacts are in the set.
func (s idSet) Len() int { return len(s) }

// Has reports whether the contact of a row is in the set.
func (s idSet) Has(p *party.AssociationRow) bool { return s[p.ID] }

// All yields the ids.
func (s idSet) All() iter.Seq[string] { return maps.Keys(s) }

// of returns the set, as party.Query asks for it.
func (s idSet) of(context.Context) (party.IDs, error) { return s, nil }

// loadPeople reads the contacts that the tables need: all of the event, or those on sessions, or the speakers alone. A caller without
// read:contacts sees those on sessions.
func (v *visit) loadPeople(ctx context.Context, w *wanted) error {
	if v.people != nil {
		return nil
	}
	q := party.Query{Role: contact.Role, Page: page.Query{Page: 1, PageSize: v.store.most + 1}}
	only, err := v.neededPeople(ctx, w)
	if err != nil {
		return err
	}
	if only != nil {
		q.OnlyIDs = only.of
	}
	found, total, err := v.store.Sessions.Parties.Contacts.Store.Search(ctx, v.at.caller, q)
	if err != nil {
		return err
	}
	if all := v.tables[contacts]; total > v.store.most && all != nil {
		return v.tooMany(all)
	} else if total > v.store.most {
		return v.tooMany(w)
	}
	v.people, v.order = make(map[string]party.Party, len(found)), found
	for _, p := range found {
		v.people[p.ID] = p
	}
	return nil
}

// neededPeople returns the contacts that the tables need; nil for all of the event.
func (v *visit) neededPeople(ctx context.Context, w *wanted) (idSet, error) {
	var only idSet
	if v.tables[speakers] == nil && v.tables[participants] == nil {
		only = w.onlyIDs()
	}
	if v.tables[contacts] != nil && v.readsContacts() {
		return only, nil
	}
	if v.tables[contacts] == nil && v.tables[participants] == nil {
		return v.speaking(ctx)
	}
	if _, err := v.sessionRows(ctx); err != nil {
		return nil, err
	}
	found := v.onSessions(nil)
	if only != nil {
		maps.DeleteFunc(found, func(id string, _ bool) bool { return !only[id] })
	}
	return found, nil
}

// speaking returns the contacts who speak on sessions that are not deleted. The caller must not change the set.
func (v *visit) speaking(ctx context.Context) (idSet, error) {
	if v.speakers == nil {
		if _, err := v.sessionRows(ctx); err != nil {
			return nil, err
		}
		v.speakers = v.onSessions(v.speakerRoles())
	}
	return v.speakers, nil
}

// onSessions returns the contacts with some roles on sessions that are not deleted; nil for all roles.
func (v *visit) onSessions(roles []bool) idSet {
	found := idSet{}
	for _, r := range v.view.All() {
		if entityOf(r) == "" {
			continue
		}
		for _, id := range v.peopleOf(r, roles) {
			found[id] = true
		}
	}
	return found
}

// readPeople reads the contacts of the event, or those who speak.
func (v *visit) readPeople(ctx context.Context, w *wanted) error {
	err := v.loadPeople(ctx, w)
	var only idSet
	if err == nil && w.Name == speakers {
		only, err = v.speaking(ctx)
	}
	if err != nil {
		return err
	}
	for _, p := range v.order {
		if only != nil && !only[p.ID] {
			continue
		}
		shape := &personShape{v.partyShape(p, contact.Kind.FriendlyID(p.Body)), contact.FullName(p.Body)}
		if err := v.put(w, row{id: p.ID, shape: shape, standard: p.Values, custom: p.Custom()}); err != nil {
			return err
		}
	}
	return nil
}

// partyShape returns the fields that contacts and accounts have.
func (v *visit) partyShape(p party.Party, friendlyID string) partyShape {
	return partyShape{v.inEvent(p.ID), friendlyID, float64(p.Number), times{p.CreatedAt, p.Changed()}}
}

// readAccounts reads the sponsors or the exhibitors. A caller without read:contacts does not see which contacts they have.
func (v *visit) readAccounts(ctx context.Context, w *wanted) error {
	q := party.Query{Role: w.Singular, Page: page.Query{Page: 1, PageSize: v.store.most + 1}}
	if only := w.onlyIDs(); only != nil {
		q.OnlyIDs = only.of
	}
	found, total, err := v.store.Sessions.Parties.Accounts.Store.Search(ctx, v.at.caller, q)
	if err != nil {
		return err
	}
	if total > v.store.most {
		return v.tooMany(w)
	}
	showContacts := v.readsContacts()
	for _, p := range found {
		shape := v.partyShape(p, account.Kind.FriendlyID(p.Body))
		var related []string
		if showContacts {
			for _, r := range p.Association.Relations {
				related = append(related, r.ContactID)
			}
		}
		made := row{id: p.ID, shape: &shape, standard: p.Values, custom: p.Custom(), refers: refers{contacts: related}}
		if err := v.put(w, made); err != nil {
			return err
		}
	}
	return nil
}

// readParticipants reads the roles of contacts on sessions: each role of a contact on a session once, as a session shows them.
func (v *visit) readParticipants(ctx context.Context, w *wanted) error {
	rows, err := v.standingRows(ctx, w)
	if err != nil {
		return err
	}
	if err := v.loadPeople(ctx, w); err != nil {
		return err
	}
	return v.eachBody(ctx, rows, false, func(_ *session.Row, b *session.Body) error {
		for _, p := range b.Standing(v.at.set.Roles, v.isLoaded) {
			if err := v.putParticipant(w, b, p); err != nil {
				return err
			}
		}
		return nil
	})
}

// isLoaded reports whether a contact is among those that loadPeople has read.
func (v *visit) isLoaded(contactID string) bool {
	_, ok := v.people[contactID]
	return ok
}

// putParticipant adds a role of a contact on a session.
func (v *visit) putParticipant(w *wanted, b *session.Body, p session.Standing) error {
	who := v.people[p.ContactID]
	s := &participantShape{
		inEvent: v.inEvent(p.ID), SessionID: b.ID, ContactID: p.ContactID, RoleID: p.Role.ID, RoleName: p.Role.Name, RoleSlug: p.Role.Slug,
		CoreRole: p.Role.CoreRole, IsCustom: p.Role.IsCustom, Order: float64(p.Order), FullName: contact.FullName(who.Body),
		ContactFriendlyID: contact.Kind.FriendlyID(who.Body), ContactCreatedAt: who.CreatedAt,
	}
	if v.at.caller.Event.Features.SpeakerAcceptance {
		s.AcceptanceStatus, s.InviteSentAt = optional(p.AcceptanceStatus), p.InviteSentAt
	}
	to := []string{p.ContactID}
	return v.put(w, row{id: p.ID, shape: s, standard: who.Values, refers: refers{contacts: to, speakers: to}})
}
