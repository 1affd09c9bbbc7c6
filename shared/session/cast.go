package session

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"lectern/shared/account"
	"lectern/shared/contact"
	"lectern/shared/page"
	"lectern/shared/participant"
	"lectern/shared/size"
	"lectern/shared/wire"
)

// maxPeople is how many contacts and accounts a page is read for: more than an answer of
// 30 MB can show, of two kilobytes each.
const maxPeople = 15_000

// meet reads the people and accounts that the bodies and their subsessions show.
// The subsessions must have been gathered.
func (f *formatter) meet(ctx context.Context, bodies ...*Body) error {
	contacts, accounts := map[string]bool{}, map[string]bool{}
	heads := make([]int, len(bodies))
	for i, b := range bodies {
		heads[i] = f.named(b, true, contacts, accounts)
		for _, sub := range f.subsessions(b) {
			heads[i] += f.named(sub, f.expand.SubsessionDetails, contacts, accounts)
		}
	}
	if f.paged(bodies) && len(contacts)+len(accounts) > maxPeople {
		return page.TooLong(f.page, page.Fit(heads, maxPeople), size.Limit(ctx))
	}
	if err := f.roster.meet(ctx, slices.Sorted(maps.Keys(contacts)), slices.Sorted(maps.Keys(accounts))); err != nil {
		return err
	}
	return f.weigh(ctx, bodies)
}

// named notes whom a body names, and gives how many entries that are; full is whether
// it shows its details.
func (f *formatter) named(b *Body, full bool, contacts, accounts map[string]bool) (heads int) {
	for _, p := range b.Participants {
		contacts[p.ContactID] = true
	}
	if !full {
		return len(b.Participants)
	}
	for _, id := range slices.Concat(b.SponsorIDs, b.ExhibitorIDs) {
		accounts[id] = true
	}
	return len(b.Participants) + len(b.SponsorIDs) + len(b.ExhibitorIDs)
}

// appearance is a person in a role, as a session shows it.
type appearance struct {
	Participant
	role *participant.Role
}

// appearances are the people of a session who are on the event, in the order of
// spec.md section 2.4: by role, then by their own order, then by place. Each is
// there once a role; who has a role itself stands before who is shown in it because
// another was deleted.
func (f *formatter) appearances(b *Body) (all []appearance) {
	for _, p := range b.Participants {
		role, known := f.set.Roles.Standing(p.RoleID)
		if !known || !f.roster.attends(p.ContactID) {
			continue
		}
		at := slices.IndexFunc(all, func(a appearance) bool { return a.ContactID == p.ContactID && a.role == role })
		switch {
		case at < 0:
			all = append(all, appearance{p, role})
		case p.RoleID == role.ID:
			all = append(slices.Delete(all, at, at+1), appearance{p, role})
		}
	}
	order := f.set.Roles.All()
	slices.SortStableFunc(all, func(a, b appearance) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.role), slices.Index(order, b.role)), cmp.Compare(a.Order, b.Order))
	})
	return all
}

// people shows the people and accounts of a session; details is nil where only its
// core is shown.
func (f *formatter) people(b *Body, core *Core, details *Details) {
	all := f.appearances(b)
	core.Participants, core.Speakers = make([]Person, len(all)), f.legacy(all, participant.Speaker)
	for i, a := range all {
		core.Participants[i] = f.participant(a)
	}
	if details != nil {
		details.Chairpersons, details.Moderators = f.legacy(all, participant.Chairperson), f.legacy(all, participant.Moderator)
		details.Sponsors, details.Exhibitors = f.accounts(account.Sponsor, b.SponsorIDs), f.accounts(account.Exhibitor, b.ExhibitorIDs)
	}
}

// participant shows an entry of participants.
func (f *formatter) participant(a appearance) Person {
	p := Person{contact: f.portrait(a.ContactID)}
	p.add("participant_role", sessionRole(a.role))
	p.add("session_participant_id", a.ID)
	if f.caller.Event.Features.SpeakerAcceptance {
		p.add("acceptance_status", a.AcceptanceStatus)
		p.add("acceptance_invite_sent_at", a.InviteSentAt)
	}
	return p
}

// legacy shows those whose role stands for a core role as the arrays from before
// there were roles do: each person once.
func (f *formatter) legacy(all []appearance, core string) []Person {
	people, features := []Person{}, f.caller.Event.Features
	shown := map[string]bool{}
	for _, a := range all {
		if a.role.CoreRole != core || shown[a.ContactID] {
			continue
		}
		shown[a.ContactID] = true
		p := Person{contact: f.portrait(a.ContactID)}
		if features.ParticipantRoles {
			p.add("participant_role", sessionRole(a.role))
		}
		if features.SpeakerAcceptance {
			p.add("acceptance_status", a.AcceptanceStatus)
		}
		people = append(people, p)
	}
	return people
}

// portrait shows a contact, once for all places in which the answer has it.
func (f *formatter) portrait(id string) wire.Object {
	known, ok := f.portraits[id]
	if !ok {
		p, _ := f.roster.contacts.holder(id, contact.Role)
		detail := contact.Detail{Translated: f.expand.TranslatedFields, Brief: f.step >= showBrief}
		known = f.contacts.Profile(f.caller, f.set, detail, p).Object
		f.portraits[id] = known
	}
	return known
}

// accounts shows those of ids that hold the role on the event.
func (f *formatter) accounts(role string, ids []string) []account.Summary {
	shown := []account.Summary{}
	for _, id := range ids {
		p, ok := f.roster.accounts.holder(id, role)
		if !ok {
			continue
		}
		known, ok := f.summaries[role+id]
		if !ok {
			known = f.companies.Summary(f.caller, f.set, role, f.expand.TranslatedFields, p)
			f.summaries[role+id] = known
		}
		shown = append(shown, known)
	}
	return shown
}
