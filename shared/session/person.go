package session

import (
	"maps"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"lectern/shared/account"
	"lectern/shared/contact"
	"lectern/shared/participant"
	"lectern/shared/party"
	"lectern/shared/wire"
)

// detail is how much an answer shows of a person or an account. The less is shown of
// it, the more of them fit.
type detail int

const (
	// whole is with what was added on request, plain without.
	whole detail = iota
	plain
	// short is with names and pictures only, bare with ids only.
	short
	bare
)

// portrait is a person or an account as one answer shows it, in every detail that it
// may need: most is the longest. What was added on request is in full only.
type portrait struct {
	party       party.Party
	most        detail
	full, plain wire.Object
	brief       func(party.Party) wire.Object
}

// likeness is a portrait in a detail: one of the places where an answer has it.
type likeness struct {
	*portrait
	detail detail
}

// likeness shows a party, in the role where that makes a difference. Where the answer
// is known to be too long otherwise, it is the short form, and nothing longer is
// written.
func (f *formatter) likeness(role string, p party.Party, brief func(party.Party) wire.Object, full func(translated bool) wire.Object) likeness {
	key := role + p.ID
	known, ok := f.portraits[key]
	if !ok {
		known = &portrait{party: p, brief: brief}
		f.portraits[key] = known
		if known.most = f.most(p); known.most < short {
			known.plain = full(false)
		}
		if known.most == whole {
			known.full = full(true)
		}
	}
	return likeness{known, known.most}
}

// most is the most that is shown of a party.
func (f *formatter) most(p party.Party) detail {
	switch {
	case f.short, p.Trimmed():
		return short
	case f.expand.TranslatedFields:
		return whole
	}
	return plain
}

// lessen shows no more than the detail. It is false where no more is shown already.
func (l *likeness) lessen(to detail) bool {
	if l.detail >= to {
		return false
	}
	l.detail = to
	return true
}

// object is what is shown.
func (l likeness) object() (o wire.Object) {
	switch l.detail {
	case whole:
		return l.full
	case plain:
		return l.plain
	case short:
		return l.brief(l.party)
	}
	o.Add("id", l.party.ID)
	return o
}

// lessened has all of a list shown in no more than the detail.
func lessened[T any, P interface {
	*T
	lessen(detail) bool
}](all []T, to detail) (less bool) {
	for i := range all {
		if P(&all[i]).lessen(to) {
			less = true
		}
	}
	return less
}

// AccountSummary is an account with a role on the session.
type AccountSummary struct{ likeness }

// MarshalJSON writes the account.
func (a AccountSummary) MarshalJSON() ([]byte, error) { return a.object().MarshalJSON() }

// TransformSchema describes the account, of which a long answer leaves something out.
func (AccountSummary) TransformSchema(r huma.Registry, s *huma.Schema) *huma.Schema {
	s = account.Summary{}.TransformSchema(r, s)
	return abridged(s, "Where the answer would be larger than 5 MB, only id, friendly ids, name and logo are shown, or the id alone.")
}

// abridged requires only what the shortest form has.
func abridged(s *huma.Schema, doc string) *huma.Schema {
	s.Required, s.Description = []string{"id"}, doc
	return s
}

// Person is a contact with a role on a session: an entry of participants or of a
// legacy array.
type Person struct {
	likeness
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

// MarshalJSON writes the contact and what the entry adds.
func (p Person) MarshalJSON() ([]byte, error) {
	o := p.object()
	for _, added := range p.properties {
		if role, ok := added.value.(SessionRole); ok && p.detail == bare {
			added.value = SessionRole{ID: role.ID, CoreRole: role.CoreRole}
		}
		o = o.With(added.name, added.value)
	}
	return o.MarshalJSON()
}

// TransformSchema describes the contact and what an entry adds, of which a long answer
// leaves something out.
func (Person) TransformSchema(r huma.Registry, s *huma.Schema) *huma.Schema {
	s = contact.Profile{}.TransformSchema(r, s)
	maps.Copy(s.Properties, huma.SchemaFromType(r, reflect.TypeFor[entryProperties]()).Properties)
	return abridged(s, "Where the answer would be larger than 5 MB, only ids, names, email, photo_url, company_name, title and what belongs to the role are shown, or ids alone.")
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
	Slug       string `json:"slug,omitempty" doc:"Left out, as are the names, where the answer shows ids alone."`
	Name       string `json:"name,omitempty"`
	NamePlural string `json:"name_plural,omitempty"`
	CoreRole   string `json:"core_role" enum:"speaker,chairperson,moderator"`
}

func sessionRole(r *participant.Role) SessionRole {
	return SessionRole{ID: r.ID, Slug: r.Slug, Name: r.Name, NamePlural: r.NamePlural, CoreRole: r.CoreRole}
}
