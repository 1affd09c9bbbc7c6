package session

import (
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"lectern/shared/account"
	"lectern/shared/auth"
	"lectern/shared/contact"
	"lectern/shared/field"
	"lectern/shared/metadata"
	"lectern/shared/settings"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Draft is a session as a client sends it to create, update and bulk (gaps.md section 2.3).
// An absent property leaves the stored value; null clears it.
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
	// ParentSessionID and IsAbstract are for create and never change.
	ParentSessionID wire.Opt[string] `json:"parent_session_id,omitzero" format:"uuid" doc:"Makes a subsession; cannot change afterwards."`
	IsAbstract      wire.Opt[bool]   `json:"is_abstract,omitzero" nullable:"false" doc:"An abstract submission; cannot change afterwards."`
	// Source is read only; sending the current value back is allowed.
	Source wire.Opt[string] `json:"source,omitzero" nullable:"false" doc:"Read only: may be sent as it is."`
	_      struct{}         `json:"-" additionalProperties:"true"`
}

// ParticipantDraft is an entry of participants as sent (gaps.md section 2.5): a contact by
// contact_id or email, a role by role_id, role_slug or core_role.
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

// Create is the body of a create: a draft with a title.
type Create struct{ Draft }

// TransformSchema marks the title as required.
func (Create) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Required = append(s.Required, "title")
	return s
}

// Update is the body of an update: a draft and the updated_at last seen by the client.
type Update struct {
	UpdatedAt wire.Opt[wire.Time] `json:"updated_at,omitzero" nullable:"false" doc:"The record's updated_at as last fetched; a stale one is a 409."`
	Draft
}

// reference is a property that names an entry of metadata.
type reference struct {
	name, thing string
	kind        metadata.Kind
	sent        wire.Opt[string]
	stored      **string
}

// references returns the properties of d that name metadata, with their fields of b.
func (d *Draft) references(b *Body) []reference {
	return []reference{
		{"room_id", "room", metadata.Rooms, d.RoomID, &b.RoomID},
		{"track_id", "track", metadata.Tracks, d.TrackID, &b.TrackID},
		{"level_id", "level", metadata.Levels, d.LevelID, &b.LevelID},
		{"format_id", "format", metadata.Formats, d.FormatID, &b.FormatID},
		{"language_id", "language", metadata.Languages, d.LanguageID, &b.LanguageID},
	}
}

// accountList is a property that names accounts in a role.
type accountList struct {
	name, role string
	sent       wire.Opt[[]string]
	stored     *[]string
}

// accounts returns the properties of d that name accounts, with their fields of b.
func (d *Draft) accounts(b *Body) []accountList {
	return []accountList{
		{"sponsor_ids", account.Sponsor, d.SponsorIDs, &b.SponsorIDs},
		{"exhibitor_ids", account.Exhibitor, d.ExhibitorIDs, &b.ExhibitorIDs},
	}
}

// entry returns the name of entry i of the list in errors.
func (l accountList) entry(i int) string { return fmt.Sprintf("%s[%d]", l.name, i) }

// refs returns the contacts that the entries of participants name.
func (d *Draft) refs() contact.Refs {
	refs := make(contact.Refs, len(d.Participants.Value))
	for i, entry := range d.Participants.Value {
		refs[i] = contact.Ref{Entry: fmt.Sprintf("participants[%d]", i), ID: entry.ContactID, Email: entry.Email}
	}
	return refs
}

// Edit is a draft that keeps draftRules. Only Check returns an Edit.
type Edit struct {
	caller *auth.Caller
	set    *settings.Snapshot
	draft  *Draft
	newID  func() string
	// members are the keys of the organization's members in custom fields.
	members map[string]table.Key
	// refs are the contacts that participants name, in order.
	refs         contact.Refs
	participants []entry
}

// Resolved is an Edit that keeps foundRules. Only Resolve returns a Resolved.
type Resolved struct {
	edit         *Edit
	participants []entry
	// People has the contacts and accounts of the draft.
	People *People
}

// values writes custom fields and translations.
func (e *Edit) values(b *Body, now wire.Time) (changed []string, err error) {
	if e.draft.CustomFields.Sent {
		b.CustomFields, changed, err = e.set.Fields.Apply(
			field.Session, b.CustomFields, e.draft.CustomFields.Value, e.caller.Event.Location(), now)
		if err != nil {
			return nil, err
		}
	}
	if e.draft.Translations.Sent {
		b.Translations, err = e.set.Fields.Translate(field.Session, b.Translations, e.draft.Translations.Value)
	}
	return changed, err
}
