package session

import (
	"maps"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"lectern/shared/contact"
	"lectern/shared/participant"
	"lectern/shared/wire"
)

// Person is a contact with a role on a session: an entry of participants or of a
// legacy array.
type Person struct {
	contact    wire.Object
	properties []property
}

// property is one that an entry adds to the contact.
type property struct {
	name  string
	value any
}

func (p *Person) add(name string, value any) {
	p.properties = append(p.properties, property{name, value})
}

// MarshalJSON writes the contact and the properties of the entry.
func (p Person) MarshalJSON() ([]byte, error) {
	o := p.contact
	for _, added := range p.properties {
		o = o.With(added.name, added.value)
	}
	return o.MarshalJSON()
}

// TransformSchema describes the contact and the properties of the entry.
func (Person) TransformSchema(r huma.Registry, s *huma.Schema) *huma.Schema {
	s = contact.Profile{}.TransformSchema(r, s)
	maps.Copy(s.Properties, huma.SchemaFromType(r, reflect.TypeFor[entryProperties]()).Properties)
	s.Required = slices.DeleteFunc(s.Required, func(name string) bool { return slices.Contains(contact.Longest, name) })
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
