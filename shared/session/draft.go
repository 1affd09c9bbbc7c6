package session

import (
	"net/url"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"lectern/shared/apierr"
	"lectern/shared/field"
	"lectern/shared/wire"
)

// Draft is what a client may write of a session, on create, update and bulk
// (gaps.md section 2.3). An absent property leaves what is stored; null clears.
type Draft struct {
	Title           wire.Opt[string]                 `json:"title,omitzero" minLength:"1" maxLength:"255" nullable:"false" doc:"The title."`
	Description     wire.Opt[string]                 `json:"description,omitzero" doc:"HTML, up to 64 KB."`
	StartsAt        wire.Opt[wire.Time]              `json:"starts_at,omitzero" doc:"When it starts."`
	EndsAt          wire.Opt[wire.Time]              `json:"ends_at,omitzero" doc:"When it ends, not before it starts."`
	Capacity        wire.Opt[int]                    `json:"capacity,omitzero" minimum:"0" maximum:"100000" doc:"How many people it takes."`
	Location        wire.Opt[string]                 `json:"location,omitzero" enum:"room,virtual,other" doc:"Where it is held; room when room_id is set and this is not."`
	RoomID          wire.Opt[string]                 `json:"room_id,omitzero" format:"uuid" doc:"A room of the event."`
	TrackID         wire.Opt[string]                 `json:"track_id,omitzero" format:"uuid" doc:"A track of the event."`
	LevelID         wire.Opt[string]                 `json:"level_id,omitzero" format:"uuid" doc:"A level of the event."`
	FormatID        wire.Opt[string]                 `json:"format_id,omitzero" format:"uuid" doc:"A format of the event."`
	LanguageID      wire.Opt[string]                 `json:"language_id,omitzero" format:"uuid" doc:"A language of the event."`
	TagIDs          wire.Opt[[]string]               `json:"tag_ids,omitzero" maxItems:"100" format:"uuid" doc:"Tags of the event; replaces the list."`
	Status          wire.Opt[string]                 `json:"status,omitzero" enum:"accepted,accept_queue,pending,decline_queue,declined" doc:"Any status may follow any; null for a subsession only."`
	CustomStatusID  wire.Opt[string]                 `json:"custom_status_id,omitzero" format:"uuid" doc:"A custom status; sets status to its category."`
	IsPublic        wire.Opt[bool]                   `json:"is_public,omitzero" nullable:"false" doc:"Whether the public may see it."`
	ExternalURL     wire.Opt[string]                 `json:"external_url,omitzero" maxLength:"2048" doc:"An http or https address."`
	ClientSessionID wire.Opt[string]                 `json:"client_session_id,omitzero" maxLength:"255" doc:"The client's own id for it."`
	CEUCredits      wire.Opt[float64]                `json:"ceu_credits,omitzero" minimum:"0" maximum:"10000" doc:"Continuing education credits."`
	CustomFields    wire.Opt[map[string]any]         `json:"custom_fields,omitzero" nullable:"false" doc:"Values by the field's internal name; null clears one."`
	Participants    wire.Opt[[]ParticipantDraft]     `json:"participants,omitzero" maxItems:"100" nullable:"false" doc:"People with their roles; replaces the list."`
	SponsorIDs      wire.Opt[[]string]               `json:"sponsor_ids,omitzero" maxItems:"100" format:"uuid" doc:"Sponsors of the event; replaces the list."`
	ExhibitorIDs    wire.Opt[[]string]               `json:"exhibitor_ids,omitzero" maxItems:"100" format:"uuid" doc:"Exhibitors of the event; replaces the list."`
	Translations    wire.Opt[field.TranslationDraft] `json:"translations,omitzero" nullable:"false" doc:"Texts by language and field; needs the translated_fields feature."`
	// ParentSessionID and IsAbstract are set on create and never change.
	ParentSessionID wire.Opt[string] `json:"parent_session_id,omitzero" format:"uuid" doc:"Makes a subsession; cannot change afterwards."`
	IsAbstract      wire.Opt[bool]   `json:"is_abstract,omitzero" nullable:"false" doc:"An abstract submission; cannot change afterwards."`
	// Source is read only; a client that sends back what it read is not refused.
	Source wire.Opt[string] `json:"source,omitzero" nullable:"false" doc:"Read only: may be sent as it is."`
	_      struct{}         `json:"-" additionalProperties:"true"`
}

// ParticipantDraft is one entry of participants as written (gaps.md section
// 2.5): a person by contact_id or email, a role by role_id, role_slug or
// core_role.
type ParticipantDraft struct {
	ContactID        wire.Opt[string]    `json:"contact_id,omitzero" format:"uuid" nullable:"false"`
	Email            wire.Opt[string]    `json:"email,omitzero" maxLength:"255" nullable:"false"`
	RoleID           wire.Opt[string]    `json:"role_id,omitzero" format:"uuid" nullable:"false"`
	RoleSlug         wire.Opt[string]    `json:"role_slug,omitzero" maxLength:"255" nullable:"false"`
	CoreRole         wire.Opt[string]    `json:"core_role,omitzero" enum:"speaker,chairperson,moderator" nullable:"false"`
	Order            wire.Opt[int]       `json:"order,omitzero" minimum:"0" maximum:"100000" nullable:"false"`
	AcceptanceStatus wire.Opt[string]    `json:"acceptance_status,omitzero" enum:"pending,accepted,declined" nullable:"false"`
	InviteSentAt     wire.Opt[wire.Time] `json:"acceptance_invite_sent_at,omitzero"`
	_                struct{}            `json:"-" additionalProperties:"true"`
}

// Create is the body of a create: a draft that must have a title.
type Create struct{ Draft }

// TransformSchema marks the title as required.
func (Create) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Required = append(s.Required, "title")
	return s
}

// Update is the body of an update: a draft and the updated_at last seen.
type Update struct {
	UpdatedAt wire.Opt[wire.Time] `json:"updated_at,omitzero" nullable:"false" doc:"The record's updated_at as last fetched; a stale one is a 409."`
	Draft
}

// checkTexts holds the rules of plain values that a schema cannot say.
func (d *Draft) checkTexts() error {
	if d.Title.Sent && strings.TrimSpace(d.Title.Value) == "" {
		return apierr.Invalid("title", "title must not be blank.")
	}
	if len(d.Description.Value) > maxDescription {
		return apierr.Invalid("description", "description must not be longer than %d bytes.", maxDescription)
	}
	if u, err := url.Parse(d.ExternalURL.Value); d.ExternalURL.Has() && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
		return apierr.Invalid("external_url", "external_url must be an http or https address.")
	}
	return nil
}
