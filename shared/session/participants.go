package session

import (
	"cmp"
	"slices"

	"lectern/shared/apierr"
	"lectern/shared/contact"
	"lectern/shared/participant"
	"lectern/shared/party"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// acceptancePending is the acceptance status of a new participant.
const acceptancePending = "pending"

// AcceptanceDeclined is the acceptance status of a participant who will not come.
const AcceptanceDeclined = "declined"

// entry is an entry of participants with its role.
type entry struct {
	Participant
	// inviteSent reports whether acceptance_invite_sent_at was sent, null too. custom reports
	// whether the role is a custom role.
	inviteSent, custom bool
}

// participantsValid finds the role of each entry and collects the participants in e.
func participantsValid(e *Edit, _ *Body) error {
	for i, entry := range e.draft.Participants.Value {
		role, err := roleOf(entry, e.refs[i].Entry, e.set.Roles)
		if err != nil {
			return err
		}
		if err := e.refs[i].Validate(); err != nil {
			return err
		}
		e.participants = append(e.participants, entry.withRole(role))
		if err := onceARole(e.participants, e.refs[i]); err != nil {
			return err
		}
	}
	return nil
}

// roleOf returns the role of an entry, which must be given in one way.
func roleOf(d ParticipantDraft, entry string, roles *participant.Roles) (role *participant.Role, err error) {
	given, found, name := 0, false, "role_id"
	for _, way := range []struct {
		name string
		sent wire.Opt[string]
		find func(string) (*participant.Role, bool)
	}{{"role_id", d.RoleID, roles.ByID}, {"role_slug", d.RoleSlug, roles.BySlug}, {"core_role", d.CoreRole, roles.ByCore}} {
		if way.sent.Sent {
			role, found = way.find(way.sent.Value)
			given, name = given+1, way.name
		}
	}
	switch {
	case given != 1:
		return nil, apierr.Invalid(entry+"."+name, "Give one of role_id, role_slug and core_role.")
	case !found:
		return nil, apierr.Invalid(entry+"."+name, "There is no such role on this event.")
	}
	return role, nil
}

// onceARole refuses the last of some entries if an earlier entry gives the same contact the
// same role. An address has no contact until foundRules.
func onceARole(entries []entry, ref contact.Ref) error {
	last := entries[len(entries)-1]
	for _, earlier := range entries[:len(entries)-1] {
		if last.ContactID != "" && earlier.same(last.Participant) {
			return apierr.Invalid(ref.Field(), "The same person is given the same role twice.")
		}
	}
	return nil
}

func accountsOnce(e *Edit, b *Body) error {
	for _, list := range e.draft.accounts(b) {
		for i, id := range list.sent.Value {
			if slices.Contains(list.sent.Value[:i], id) {
				return apierr.Invalid(list.entry(i), "An account can be given once only.")
			}
		}
	}
	return nil
}

// contactsOnEvent completes the participants with the ids of their contacts (gaps.md
// section 2.5).
func contactsOnEvent(r *Resolved, got write.Items) error {
	found, err := r.edit.refs.Among(r.People.parties.Contacts, r.edit.caller, got)
	if err != nil {
		return err
	}
	r.People.Contacts.Add(found...)
	for i, p := range found {
		r.participants[i].ContactID = p.ID
		if err := onceARole(r.participants[:i+1], r.edit.refs[i]); err != nil {
			return err
		}
	}
	return nil
}

// accountsOnEvent refuses an account that does not hold the role of its list on the event.
func accountsOnEvent(r *Resolved, got write.Items) error {
	for _, list := range r.edit.draft.accounts(&Body{}) {
		if err := r.People.Accounts.AddFrom(got, list.sent.Value); err != nil {
			return err
		}
		for i, id := range list.sent.Value {
			if _, ok := r.People.Accounts.Holder(id, list.role); !ok {
				return party.NotOnEvent(list.entry(i), list.role)
			}
		}
	}
	return nil
}

// lists writes the lists of participants and accounts that were sent. Entries of parties that
// are deleted from the event keep their place, because the client cannot see them.
func (r *Resolved) lists(b *Body) {
	if r.edit.draft.Participants.Sent {
		hidden := func(p Participant) bool { return !r.People.OnEvent(p.ContactID) }
		b.Participants = withHidden(r.withIDs(b.Participants), b.Participants, hidden)
	}
	for _, list := range r.edit.draft.accounts(b) {
		if list.sent.Sent {
			*list.stored = withHidden(slices.Clone(list.sent.Value), *list.stored, func(id string) bool {
				_, ok := r.People.Accounts.Holder(id, list.role)
				return !ok
			})
		}
	}
}

// maxStored is the greatest length of a stored list of participants or accounts: twice the
// length of a sent list, as room for hidden entries.
const maxStored = 200

// withHidden inserts the hidden entries of before into the list, each at the same index if
// the list is long enough. Entries beyond maxStored are lost.
func withHidden[T any](list, before []T, hidden func(T) bool) []T {
	for i, entry := range before {
		if len(list) < maxStored && hidden(entry) {
			list = slices.Insert(list, min(i, len(list)), entry)
		}
	}
	return list
}

// withIDs returns the participants of the draft with ids. A participant who was on the
// session before keeps the id, and the acceptance that was not sent.
func (r *Resolved) withIDs(before []Participant) []Participant {
	all := make([]Participant, len(r.participants))
	for i, p := range r.participants {
		old, ok := r.earlier(before, p)
		if p.ID = old.ID; !ok {
			p.ID = r.edit.newID()
		}
		p.AcceptanceStatus = cmp.Or(p.AcceptanceStatus, old.AcceptanceStatus, acceptancePending)
		if !p.inviteSent {
			p.InviteSentAt = old.InviteSentAt
		}
		all[i] = p.Participant
	}
	return all
}

// earlier returns the participant of before with the same contact and role, or else with a
// deleted role that is shown as this role.
func (r *Resolved) earlier(before []Participant, p entry) (found Participant, ok bool) {
	for _, old := range before {
		switch {
		case old.ContactID != p.ContactID:
		case old.RoleID == p.RoleID:
			return old, true
		case !ok:
			role, known := r.edit.set.Roles.Standing(old.RoleID)
			if ok = known && role.ID == p.RoleID; ok {
				found = old
			}
		}
	}
	return found, ok
}

// withRole returns the entry as stored, without an id.
func (d ParticipantDraft) withRole(role *participant.Role) entry {
	e := entry{inviteSent: d.InviteSentAt.Sent, custom: role.IsCustom, Participant: Participant{
		ContactID: d.ContactID.Value, RoleID: role.ID, Order: d.Order.Value, AcceptanceStatus: d.AcceptanceStatus.Value,
	}}
	d.InviteSentAt.IntoPointer(&e.InviteSentAt)
	return e
}

// Standing is a participant with the role that the session shows.
type Standing struct {
	Participant
	Role *participant.Role
}

// Standing returns the participants of the session that are on the event, each contact once a role: a
// participant with the role replaces a participant with a deleted role that is shown as it.
func (b *Body) Standing(roles *participant.Roles, onEvent func(contactID string) bool) (all []Standing) {
	for _, p := range b.Participants {
		role, known := roles.Standing(p.RoleID)
		if !known || !onEvent(p.ContactID) {
			continue
		}
		at := slices.IndexFunc(all, func(other Standing) bool { return other.ContactID == p.ContactID && other.Role == role })
		switch {
		case at < 0:
			all = append(all, Standing{p, role})
		case p.RoleID == role.ID:
			all = append(slices.Delete(all, at, at+1), Standing{p, role})
		}
	}
	return all
}
