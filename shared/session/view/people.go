package view

import (
	"cmp"
	"slices"

	"lectern/shared/account"
	"lectern/shared/contact"
	"lectern/shared/participant"
	"lectern/shared/session"
	"lectern/shared/size"
	"lectern/shared/wire"
)

// participants returns the participants of b on the event, in the order of spec.md section
// 2.4: by role, then by order, then as stored.
func (l *Loaded) participants(b *session.Body) []session.Standing {
	all, order := b.Standing(l.Settings.Roles, l.People.OnEvent), l.Settings.Roles.All()
	slices.SortStableFunc(all, func(a, b session.Standing) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Role), slices.Index(order, b.Role)), cmp.Compare(a.Order, b.Order))
	})
	return all
}

// showPeople renders the people and accounts of b into the core and, if shown, the details; no
// people at size.Bare.
func (l *Loaded) showPeople(b *session.Body, core *Core, details *Details) {
	all := l.participants(b)
	if l.detail >= size.Bare {
		all = nil
	}
	core.Content = l.content(b, b.Content)
	core.Participants, core.Speakers = make([]Person, len(all)), l.legacy(all, participant.Speaker)
	for i, p := range all {
		core.Participants[i] = l.participant(p)
	}
	if details != nil {
		details.Chairpersons, details.Moderators = l.legacy(all, participant.Chairperson), l.legacy(all, participant.Moderator)
		details.Sponsors, details.Exhibitors = l.accounts(account.Sponsor, b.SponsorIDs), l.accounts(account.Exhibitor, b.ExhibitorIDs)
	}
}

// participant renders an entry of participants.
func (l *Loaded) participant(p session.Standing) Person {
	shown := Person{contact: l.profile(p.ContactID)}
	shown.add("participant_role", sessionRole(p.Role))
	shown.add("session_participant_id", p.ID)
	if l.Caller.Event.Features.SpeakerAcceptance {
		shown.add("acceptance_status", p.AcceptanceStatus)
		shown.add("acceptance_invite_sent_at", p.InviteSentAt)
	}
	return shown
}

// legacy renders speakers, chairpersons or moderators: the participants whose role has the
// core role, each contact once.
func (l *Loaded) legacy(all []session.Standing, core string) []Person {
	people, features := []Person{}, l.Caller.Event.Features
	seen := map[string]bool{}
	for _, p := range all {
		if p.Role.CoreRole != core || seen[p.ContactID] {
			continue
		}
		seen[p.ContactID] = true
		shown := Person{contact: l.profile(p.ContactID), name: l.name(p.ContactID)}
		if features.ParticipantRoles {
			shown.add("participant_role", sessionRole(p.Role))
		}
		if features.SpeakerAcceptance {
			shown.add("acceptance_status", p.AcceptanceStatus)
		}
		people = append(people, shown)
	}
	return people
}

// profile renders a contact, once for the whole answer with the same parts.
func (l *Loaded) profile(id string) wire.Object {
	key := profile{id, contact.Parts{Translated: l.Expand.TranslatedFields, Brief: l.detail >= size.Brief}}
	shown, ok := l.profiles[key]
	if !ok {
		p, _ := l.People.Contacts.Holder(id, contact.Role)
		shown = l.Parties.Contacts.Profile(l.Caller, l.Settings, key.Parts, p).Object
		l.profiles[key] = shown
	}
	return shown
}

// name returns the name of a contact; empty without one.
func (l *Loaded) name(id string) string {
	p, _ := l.People.Contacts.Holder(id, contact.Role)
	return session.Value(contact.FullName(p.Body))
}

// accounts renders the accounts of ids that hold the role on the event; none at size.Alone.
func (l *Loaded) accounts(role string, ids []string) []account.Summary {
	all := []account.Summary{}
	if l.detail >= size.Alone {
		return all
	}
	for _, id := range ids {
		p, ok := l.People.Accounts.Holder(id, role)
		if !ok {
			continue
		}
		key := summary{id, role, l.Expand.TranslatedFields}
		shown, ok := l.summaries[key]
		if !ok {
			shown = l.Parties.Accounts.Summary(l.Caller, l.Settings, role, l.Expand.TranslatedFields, p)
			l.summaries[key] = shown
		}
		all = append(all, shown)
	}
	return all
}
