package view

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"lectern/shared/account"
	"lectern/shared/contact"
	"lectern/shared/field"
	"lectern/shared/metadata"
	"lectern/shared/participant"
	"lectern/shared/session"
	"lectern/shared/size"
	"lectern/shared/wire"
)

// Session is a session or abstract in full (spec.md section 2.4).
type Session struct {
	Core
	Details
	Subsessions []Subsession `json:"subsessions" doc:"Minimal by default; in full with expand=subsession_details."`
	Omitted     []string     `json:"omitted,omitzero" doc:"Paths of properties that are left out because the answer would be too long; absent otherwise."`

	// from renders the session of body again, at a higher Detail than detail.
	from   *Loaded
	body   *session.Body
	detail size.Detail
}

// Stored returns the session as it is stored.
func (s *Session) Stored() *session.Body { return s.body }

// Core is the part of a session that a minimal subsession shows, too.
type Core struct {
	ID                  string                        `json:"id" format:"uuid"`
	FriendlyID          string                        `json:"friendly_id" doc:"SESS-12, or SESS-12-3 for a subsession."`
	FriendlyIDRaw       int64                         `json:"friendly_id_raw" doc:"The last number of friendly_id."`
	Title               string                        `json:"title"`
	Description         *string                       `json:"description"`
	StartsAt            *wire.Time                    `json:"starts_at"`
	EndsAt              *wire.Time                    `json:"ends_at"`
	IsAbstract          bool                          `json:"is_abstract"`
	CompositionStatus   CompositionStatus             `json:"composition_status"`
	Composition         *Composition                  `json:"composition,omitempty" doc:"Only with expand=composition."`
	Speakers            []Person                      `json:"speakers"`
	Participants        []Person                      `json:"participants" doc:"Everyone with a role on the session, in role order."`
	Format              Nested[metadata.NestedFormat] `json:"format"`
	Content             []Content                     `json:"content" doc:"Completed files."`
	CreatedAt           wire.Time                     `json:"created_at"`
	UpdatedAt           wire.Time                     `json:"updated_at"`
	DeletedAt           *wire.Time                    `json:"deleted_at,omitempty" doc:"Only on a deleted session."`
	ParentSessionID     string                        `json:"parent_session_id,omitempty" format:"uuid" doc:"Only on a subsession, as are the parent's friendly ids."`
	ParentFriendlyID    string                        `json:"parent_session_friendly_id,omitempty"`
	ParentFriendlyIDRaw int64                         `json:"parent_session_friendly_id_raw,omitempty"`
	version             int64
}

// RecordID returns the session's id.
func (c *Core) RecordID() string { return c.ID }

// Revision returns the version of the session, for the ETag.
func (c *Core) Revision() int64 { return c.version }

// Details is the part of a session beside its core.
type Details struct {
	Status           *string                         `json:"status" enum:"accepted,accept_queue,pending,decline_queue,declined"`
	CustomStatusID   *string                         `json:"custom_status_id" format:"uuid"`
	CustomStatus     *CustomStatus                   `json:"custom_status"`
	CustomFields     []field.Shown                   `json:"custom_fields" doc:"The fields that have a value."`
	Chairpersons     []Person                        `json:"chairpersons"`
	Moderators       []Person                        `json:"moderators"`
	Sponsors         []account.Summary               `json:"sponsors"`
	Exhibitors       []account.Summary               `json:"exhibitors"`
	Tags             []metadata.NestedTag            `json:"tags"`
	Language         Nested[metadata.NestedLanguage] `json:"language"`
	Track            Nested[metadata.NestedTrack]    `json:"track"`
	Level            Nested[metadata.NestedLevel]    `json:"level"`
	Location         *string                         `json:"location" enum:"room,virtual,other"`
	Room             Nested[metadata.NestedRoom]     `json:"room" doc:"Only while location is room."`
	IsPublic         bool                            `json:"is_public"`
	ExternalURL      *string                         `json:"external_url"`
	ClientSessionID  *string                         `json:"client_session_id"`
	CEUCredits       *float64                        `json:"ceu_credits"`
	Capacity         *int                            `json:"capacity"`
	Source           string                          `json:"source" enum:"public_api,admin,import"`
	AdminURL         *string                         `json:"admin_url" doc:"The record in the admin application, where one is configured."`
	TranslatedFields []field.Translated              `json:"translated_fields,omitzero" doc:"Only with expand=translated_fields."`
}

// Subsession is a session within its parent. Details is nil without
// expand=subsession_details.
type Subsession struct {
	Core
	*Details
}

// TransformSchema requires only the properties of the core.
func (Subsession) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Required = s.Required[:0]
	core := reflect.TypeFor[Core]()
	for i := range core.NumField() {
		if name, option, _ := strings.Cut(core.Field(i).Tag.Get("json"), ","); name != "" && option == "" {
			s.Required = append(s.Required, name)
		}
	}
	return s
}

// CustomStatus is the event's own status of a session.
type CustomStatus struct {
	ID   string `json:"id" format:"uuid"`
	Name string `json:"name"`
}

// CompositionStatus is the place of a session in a composition.
type CompositionStatus struct {
	Role        string   `json:"role" enum:"standalone,target,source"`
	IsLinked    bool     `json:"is_linked"`
	IsReadOnly  bool     `json:"is_read_only" doc:"Always false; kept for compatibility."`
	SourceCount int      `json:"source_count"`
	Target      *Partner `json:"target" doc:"Where a source is linked into."`
}

// Partner is a linked session.
type Partner struct {
	ID         string `json:"id" format:"uuid"`
	FriendlyID string `json:"friendly_id"`
	Title      string `json:"title"`
	IsAbstract bool   `json:"is_abstract"`
}

// Composition has all sessions that a session is linked with.
type Composition struct {
	Target  *Linked  `json:"target"`
	Sources []Linked `json:"sources"`
}

// Linked is a linked session with the link.
type Linked struct {
	CompositionID    string    `json:"composition_id" format:"uuid"`
	RelationshipType string    `json:"relationship_type" enum:"merged_session,merged_abstract,composed_into_session"`
	CreatedAt        wire.Time `json:"created_at"`
	Partner
}

// Nested is metadata within a session. Without an entry it is written as null, or as {} if
// Bare is set: on session search (spec.md section 2.6).
type Nested[T any] struct {
	Value *T
	Bare  bool
}

// MarshalJSON writes the entry, {} or null.
func (n Nested[T]) MarshalJSON() ([]byte, error) {
	if n.Value == nil && n.Bare {
		return []byte("{}"), nil
	}
	return wire.Encode(n.Value)
}

// Schema allows the entry, {} and null.
func (Nested[T]) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{
		r.Schema(reflect.TypeFor[T](), true, ""), {Type: huma.TypeObject, AdditionalProperties: false}, {Type: "null"},
	}}
}

// StatusRow is a session or subsession on the status search (gaps.md section 2.2).
type StatusRow struct {
	StatusCore
	FriendlyIDRaw     int64             `json:"friendly_id_raw"`
	IsAbstract        bool              `json:"is_abstract"`
	CompositionStatus CompositionStatus `json:"composition_status"`
	CustomStatusID    *string           `json:"custom_status_id" format:"uuid"`
	DeletedAt         *wire.Time        `json:"deleted_at"`
	Subsessions       []StatusCore      `json:"subsessions" doc:"Of a top-level session; empty on a subsession."`
}

// StatusCore is a subsession within its parent's row.
type StatusCore struct {
	ID           string        `json:"id" format:"uuid"`
	FriendlyID   string        `json:"friendly_id"`
	Status       *string       `json:"status" enum:"accepted,accept_queue,pending,decline_queue,declined"`
	CustomStatus *CustomStatus `json:"custom_status"`
	CreatedAt    wire.Time     `json:"created_at"`
	UpdatedAt    wire.Time     `json:"updated_at"`
}

// Brief is a session on the list of a contact's sessions (gaps.md section 2.2).
type Brief struct {
	ID                string            `json:"id" format:"uuid"`
	Title             string            `json:"title"`
	Status            *string           `json:"status" enum:"accepted,accept_queue,pending,decline_queue,declined"`
	CustomStatus      *string           `json:"custom_status" doc:"The name of the event's own status."`
	IsAbstract        bool              `json:"is_abstract"`
	CompositionStatus CompositionStatus `json:"composition_status"`
	EventID           int64             `json:"event_id,omitempty" doc:"Only on the organization's level."`
}

// Person is a contact with a role on a session: an entry of participants, speakers,
// chairpersons or moderators.
type Person struct {
	contact wire.Object
	// name is that of an entry of a legacy array.
	name       string
	properties []property
}

// Name returns the name of a speaker, chairperson or moderator; empty without one.
func (p Person) Name() string { return p.name }

// property is a property that an entry adds to the contact.
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

// entryProperties has the properties that an entry can add to the contact.
type entryProperties struct {
	ParticipantRole      SessionRole `json:"participant_role,omitzero" doc:"In the legacy arrays only on events with the participant_roles feature."`
	SessionParticipantID string      `json:"session_participant_id,omitempty" format:"uuid" doc:"Only in participants."`
	AcceptanceStatus     string      `json:"acceptance_status,omitempty" enum:"pending,accepted,declined" doc:"Only on events with the speaker_acceptance feature."`
	InviteSentAt         *wire.Time  `json:"acceptance_invite_sent_at,omitempty" nullable:"true" doc:"When the last invitation was sent, null for never. Only in participants, on events with the speaker_acceptance feature."`
}

// SessionRole is the role of a person on a session.
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
