package session

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"lectern/shared/account"
	"lectern/shared/apierr"
	"lectern/shared/contact"
	"lectern/shared/participant"
	"lectern/shared/wire"
)

// maxPeople is how many contacts and accounts a page is read for: more than an
// answer of 5 MB can show, of about a kilobyte each.
const maxPeople = 6_000

// meet reads the people and accounts that the bodies and their subsessions show.
// The subsessions must have been gathered.
func (f *formatter) meet(ctx context.Context, bodies ...*Body) error {
	contacts, accounts := map[string]bool{}, map[string]bool{}
	for _, b := range bodies {
		f.named(b, true, contacts, accounts)
		for _, sub := range f.subsessions(b) {
			f.named(sub, f.expand.SubsessionDetails, contacts, accounts)
		}
	}
	if f.page != "" && len(contacts)+len(accounts) > maxPeople {
		return apierr.Invalid(f.page, "The sessions of this page have too many people. Ask for a smaller page.")
	}
	return f.roster.meet(ctx, slices.Sorted(maps.Keys(contacts)), slices.Sorted(maps.Keys(accounts)))
}

// named notes whom a body names; full is whether it shows its details.
func (f *formatter) named(b *Body, full bool, contacts, accounts map[string]bool) {
	for _, p := range b.Participants {
		contacts[p.ContactID] = true
	}
	if full {
		for _, id := range slices.Concat(b.SponsorIDs, b.ExhibitorIDs) {
			accounts[id] = true
		}
	}
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
	p := Person{portrait: f.portrait(a.ContactID)}
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
		p := Person{portrait: f.portrait(a.ContactID)}
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
func (f *formatter) portrait(id string) *portrait {
	if known, ok := f.portraits[id]; ok {
		return known
	}
	p, _ := f.roster.contacts.holder(id, contact.Role)
	made := &portrait{full: f.contacts.Profile(f.caller, f.set, f.expand.TranslatedFields, p)}
	if f.expand.TranslatedFields {
		plain := f.contacts.Profile(f.caller, f.set, false, p)
		made.plain = &plain
	}
	f.portraits[id] = made
	return made
}

// accounts shows those of ids that hold the role on the event.
func (f *formatter) accounts(role string, ids []string) []account.Summary {
	shown := []account.Summary{}
	for _, id := range ids {
		p, ok := f.roster.accounts.holder(id, role)
		if !ok {
			continue
		}
		key := role + id
		summary, known := f.summaries[key]
		if !known {
			summary = f.companies.Summary(f.caller, f.set, role, f.expand.TranslatedFields, p)
			f.summaries[key] = summary
		}
		shown = append(shown, summary)
	}
	return shown
}

// portrait is a contact as a session shows it, with what was added on request and
// without; nil where nothing was.
type portrait struct {
	full  contact.Profile
	plain *contact.Profile
}

// Person is a contact with a role on a session: an entry of participants or of a
// legacy array.
type Person struct {
	portrait   *portrait
	slim       bool
	properties []property
}

// property is what an entry adds to the contact.
type property struct {
	name  string
	value any
}

func (p *Person) add(name string, value any) {
	p.properties = append(p.properties, property{name, value})
}

// Slim leaves out what was added on request. It is false when there was nothing.
func (p *Person) Slim() bool {
	if p.slim || p.portrait.plain == nil {
		return false
	}
	p.slim = true
	return true
}

// MarshalJSON writes the contact and what the entry adds.
func (p Person) MarshalJSON() ([]byte, error) {
	o := p.portrait.full.Object
	if p.slim {
		o = p.portrait.plain.Object
	}
	for _, added := range p.properties {
		o = o.With(added.name, added.value)
	}
	return o.MarshalJSON()
}

// TransformSchema describes the contact and what an entry adds.
func (Person) TransformSchema(r huma.Registry, s *huma.Schema) *huma.Schema {
	s = contact.Profile{}.TransformSchema(r, s)
	maps.Copy(s.Properties, huma.SchemaFromType(r, reflect.TypeFor[entryProperties]()).Properties)
	return s
}

// entryProperties are what an entry can add to the contact.
type entryProperties struct {
	ParticipantRole      SessionRole `json:"participant_role,omitzero" doc:"In the legacy arrays only on events with the participant_roles feature."`
	SessionParticipantID string      `json:"session_participant_id,omitempty" format:"uuid" doc:"Only in participants."`
	AcceptanceStatus     string      `json:"acceptance_status,omitempty" enum:"pending,accepted,declined" doc:"Only on events with the speaker_acceptance feature."`
	InviteSentAt         *wire.Time  `json:"acceptance_invite_sent_at,omitempty" nullable:"true" doc:"When the last invitation was sent, null for never. Only in participants, on events with the speaker_acceptance feature."`
}

// SessionRole is the role that a person has on a session.
type SessionRole struct {
	ID         string `json:"id" format:"uuid"`
	Slug       string `json:"slug"`
	Name       string `json:"name"`
	NamePlural string `json:"name_plural"`
	CoreRole   string `json:"core_role" enum:"speaker,chairperson,moderator"`
}

func sessionRole(r *participant.Role) SessionRole {
	return SessionRole{ID: r.ID, Slug: r.Slug, Name: r.Name, NamePlural: r.NamePlural, CoreRole: r.CoreRole}
}
