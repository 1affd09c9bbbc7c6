package session

import (
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"lectern/shared/account"
	"lectern/shared/field"
	"lectern/shared/metadata"
	"lectern/shared/wire"
)

// Session is a session or abstract as every operation answers it (spec.md
// section 2.4).
type Session struct {
	Core
	Details
	Subsessions []Subsession `json:"subsessions" doc:"Minimal by default; in full with expand=subsession_details."`
	Omitted     []string     `json:"omitted,omitzero" doc:"Paths of properties that are left out because the answer would be too long; absent otherwise."`

	// shrink shows the session with less.
	shrink func(*Session) bool
}

// Core is what even a minimal subsession shows.
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

// Revision is the version the answer shows, for its ETag.
func (c *Core) Revision() int64 { return c.version }

// Details is what a full session shows beside its core.
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

// Subsession is a session within another. Its details are there only with
// expand=subsession_details.
type Subsession struct {
	Core
	*Details
}

// TransformSchema requires of a subsession only what its core requires.
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

// Content is a file of the session; empty until files exist.
type Content map[string]any

// Roles in a composition (spec.md section 2.5).
const (
	Standalone = "standalone"
	Target     = "target"
	Source     = "source"
)

// CompositionStatus says how a session is linked with others.
type CompositionStatus struct {
	Role        string   `json:"role" enum:"standalone,target,source"`
	IsLinked    bool     `json:"is_linked"`
	IsReadOnly  bool     `json:"is_read_only" doc:"Always false; kept for compatibility."`
	SourceCount int      `json:"source_count"`
	Target      *Partner `json:"target" doc:"Where a source is linked into."`
}

// Partner is a session as another one names it.
type Partner struct {
	ID         string `json:"id" format:"uuid"`
	FriendlyID string `json:"friendly_id"`
	Title      string `json:"title"`
	IsAbstract bool   `json:"is_abstract"`
}

// Composition is the graph around a session.
type Composition struct {
	Target  *Linked  `json:"target"`
	Sources []Linked `json:"sources"`
}

// Linked is a partner with how and when it was linked.
type Linked struct {
	CompositionID    string    `json:"composition_id" format:"uuid"`
	RelationshipType string    `json:"relationship_type" enum:"merged_session,merged_abstract,composed_into_session"`
	CreatedAt        wire.Time `json:"created_at"`
	Partner
}

// Nested is metadata within a session. Unassigned, it is null, or {} where Bare
// is set: on session search (spec.md section 2.6).
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
