package session

import (
	"fmt"
	"slices"

	"lectern/shared/account"
	"lectern/shared/apierr"
	"lectern/shared/contact"
	"lectern/shared/field"
	"lectern/shared/participant"
	"lectern/shared/party"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// acceptancePending is the answer of a person who has not answered.
const acceptancePending = "pending"

// invited is an entry of participants, found.
type invited struct {
	Participant
	// inviteSent is whether acceptance_invite_sent_at was sent, null too, and custom
	// whether the role is a custom one.
	inviteSent, custom bool
}

// found is the edit with the people and accounts that its draft names, by what was
// read. Who is not there is a 400 that names the entry: a member of the organization in
// a custom field, a person or account on the event in the others (gaps.md section 2.5).
// Of several mistakes the first of these is told.
func (r *request) found(e *edit, got write.Items) (*edit, error) {
	if err := field.CheckMembers(got, e.members); err != nil {
		return nil, err
	}
	found := *e
	found.roster = r.roster(r.caller, r.expand)
	people, err := e.draft.refs().Among(r.Contacts, r.caller, got)
	if err != nil {
		return nil, err
	}
	if err := found.identify(people); err != nil {
		return nil, err
	}
	return &found, found.companies(got)
}

// cast makes the edit's people of the draft's participants, with their roles. Who
// they are is not looked up yet.
func (e *edit) cast() error {
	for i, entry := range e.draft.Participants.Value {
		role, err := entry.role(entryName(i), e.set.Roles)
		if err != nil {
			return err
		}
		if err := entry.ref(i).Validate(); err != nil {
			return err
		}
		e.people = append(e.people, entry.participant(role))
		if err := e.checkOnce(i); err != nil {
			return err
		}
	}
	return nil
}

// checkOnce refuses entry i where an earlier one has the same person in the same
// role, as far as the person is known by id yet.
func (e *edit) checkOnce(i int) error {
	person := e.people[i]
	if person.ContactID != "" && slices.ContainsFunc(e.people[:i], person.same) {
		return apierr.Invalid(e.draft.Participants.Value[i].ref(i).Field(), "The same person is given the same role twice.")
	}
	return nil
}

// identify notes who the edit's people are, in their order.
func (e *edit) identify(people []party.Party) error {
	e.roster.contacts.add(people...)
	e.people = slices.Clone(e.people)
	for i, p := range people {
		e.people[i].ContactID = p.ID
		if err := e.checkOnce(i); err != nil {
			return err
		}
	}
	return nil
}

// same is whether both are the same person in the same role.
func (p invited) same(other invited) bool {
	return p.ContactID == other.ContactID && p.RoleID == other.RoleID
}

// accountList is a property that names accounts in a role.
type accountList struct {
	name, role string
	sent       wire.Opt[[]string]
	stored     func(*Body) *[]string
}

func (d *Draft) accounts() []accountList {
	return []accountList{
		{"sponsor_ids", account.Sponsor, d.SponsorIDs, func(b *Body) *[]string { return &b.SponsorIDs }},
		{"exhibitor_ids", account.Exhibitor, d.ExhibitorIDs, func(b *Body) *[]string { return &b.ExhibitorIDs }},
	}
}

// field is how an error names an entry of the list.
func (l accountList) field(i int) string { return fmt.Sprintf("%s[%d]", l.name, i) }

// checkAccounts refuses an account that stands in a list twice.
func (e *edit) checkAccounts() error {
	for _, list := range e.draft.accounts() {
		for i, id := range list.sent.Value {
			if slices.Contains(list.sent.Value[:i], id) {
				return apierr.Invalid(list.field(i), "An account can be given once only.")
			}
		}
	}
	return nil
}

// companies finds the accounts that the draft names among what was read. Each must
// hold the role on the event.
func (e *edit) companies(got write.Items) error {
	for _, list := range e.draft.accounts() {
		if err := e.roster.accounts.learn(got, list.sent.Value); err != nil {
			return err
		}
		for i, id := range list.sent.Value {
			if _, ok := e.roster.accounts.holder(id, list.role); !ok {
				return party.NotOnEvent(list.field(i))
			}
		}
	}
	return nil
}

// lists replaces the lists of people and accounts that were sent. Entries of those
// who are deleted from the event stay where they are, since the client cannot see
// them; the stored body must have been learned.
func (e *edit) lists(b *Body) {
	if e.draft.Participants.Sent {
		b.Participants = withHidden(e.kept(b.Participants), b.Participants, func(p Participant) bool { return !e.roster.attends(p.ContactID) })
	}
	for _, list := range e.draft.accounts() {
		if stored := list.stored(b); list.sent.Sent {
			*stored = withHidden(slices.Clone(list.sent.Value), *stored, func(id string) bool {
				_, ok := e.roster.accounts.holder(id, list.role)
				return !ok
			})
		}
	}
}

// maxStored is how many entries a list of people or accounts has at most as stored:
// twice as many as can be sent, so that those have room that the client cannot see.
const maxStored = 200

// withHidden puts the hidden entries of before back into the list, as far as it goes
// in the place they had. Those for whom the list has no room are lost.
func withHidden[T any](list, before []T, hidden func(T) bool) []T {
	for i, entry := range before {
		if len(list) < maxStored && hidden(entry) {
			list = slices.Insert(list, min(i, len(list)), entry)
		}
	}
	return list
}

// kept gives each of the edit's people the entry they have: the one of the same
// contact and role keeps its id, and what of its acceptance was not sent.
func (e *edit) kept(before []Participant) []Participant {
	kept := make([]Participant, len(e.people))
	for i, person := range e.people {
		old, ok := e.entry(before, person)
		if person.ID = old.ID; !ok {
			person.ID = e.newID()
		}
		if person.AcceptanceStatus == "" {
			person.AcceptanceStatus = old.AcceptanceStatus
		}
		if !person.inviteSent {
			person.InviteSentAt = old.InviteSentAt
		}
		if person.AcceptanceStatus == "" {
			person.AcceptanceStatus = acceptancePending
		}
		kept[i] = person.Participant
	}
	return kept
}

// entry is the entry that a person has: that of the role itself, or else of a
// deleted role in whose place it is shown.
func (e *edit) entry(before []Participant, person invited) (old Participant, ok bool) {
	for _, p := range before {
		if p.ContactID != person.ContactID {
			continue
		}
		if p.RoleID == person.RoleID {
			return p, true
		}
		if role, known := e.set.Roles.Standing(p.RoleID); !ok && known && role.ID == person.RoleID {
			old, ok = p, true
		}
	}
	return old, ok
}

func entryName(i int) string { return fmt.Sprintf("participants[%d]", i) }

// refs are the contacts that the entries of participants name.
func (d *Draft) refs() contact.Refs {
	refs := make(contact.Refs, len(d.Participants.Value))
	for i, entry := range d.Participants.Value {
		refs[i] = entry.ref(i)
	}
	return refs
}

// ref is the contact that entry i names.
func (d ParticipantDraft) ref(i int) contact.Ref {
	return contact.Ref{Entry: entryName(i), ID: d.ContactID, Email: d.Email}
}

// role finds the role of an entry, which must be given in one way.
func (d ParticipantDraft) role(name string, roles *participant.Roles) (*participant.Role, error) {
	var role *participant.Role
	var found bool
	given, field := 0, name+".role_id"
	if d.RoleID.Sent {
		role, found = roles.ByID(d.RoleID.Value)
		given++
	}
	if d.RoleSlug.Sent {
		role, found = roles.BySlug(d.RoleSlug.Value)
		field = name + ".role_slug"
		given++
	}
	if d.CoreRole.Sent {
		role, found = roles.ByCore(d.CoreRole.Value)
		field = name + ".core_role"
		given++
	}
	if given != 1 {
		return nil, apierr.Invalid(field, "Give one of role_id, role_slug and core_role.")
	}
	if !found {
		return nil, apierr.Invalid(field, "There is no such role on this event.")
	}
	return role, nil
}

// participant is the entry as it is stored, but for its id.
func (d ParticipantDraft) participant(role *participant.Role) invited {
	person := invited{inviteSent: d.InviteSentAt.Sent, custom: role.IsCustom, Participant: Participant{
		ContactID: d.ContactID.Value, RoleID: role.ID, Order: d.Order.Value, AcceptanceStatus: d.AcceptanceStatus.Value,
	}}
	d.InviteSentAt.IntoPointer(&person.InviteSentAt)
	return person
}
