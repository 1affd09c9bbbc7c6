package metadata

import (
	"cmp"

	"lectern/shared/apierr"
	"lectern/shared/field"
	"lectern/shared/wire"
)

// Draft has the properties that a client may write of an entry of any kind. An absent property
// keeps the stored value; a create needs a name.
type Draft struct {
	Name         wire.Opt[string]                 `json:"name,omitzero" create:"required" minLength:"1" maxLength:"255" pattern:"\\S" nullable:"false" doc:"The name."`
	Order        wire.Opt[int]                    `json:"order,omitzero" minimum:"0" maximum:"1000000" nullable:"false" doc:"The place among the entries of the kind; a new entry stands last without it."`
	Translations wire.Opt[field.TranslationDraft] `json:"translations,omitzero" nullable:"false" doc:"Names by language, such as {\"fr\": {\"name\": \"Salle\"}}; needs the translated_fields feature."`
}

// RoomDraft has the properties that a client may write of a room.
type RoomDraft struct {
	Draft
	Capacity wire.Opt[int] `json:"capacity,omitzero" minimum:"0" maximum:"100000" doc:"How many people it takes."`
}

// TrackDraft has the properties that a client may write of a track.
type TrackDraft struct {
	Draft
	Color wire.Opt[string] `json:"color,omitzero" pattern:"^#[0-9a-fA-F]{6}$" doc:"As #rrggbb."`
}

// StatusDraft has the properties that a client may write of a custom status.
type StatusDraft struct {
	Draft
	Color  wire.Opt[string] `json:"color,omitzero" pattern:"^#[0-9a-fA-F]{6}$" doc:"As #rrggbb; without one it has its category's."`
	Status wire.Opt[string] `json:"status,omitzero" enum:"accepted,accept_queue,pending,decline_queue,declined" nullable:"false" doc:"The category, pending without one; cannot change afterwards."`
}

// Change is any of the drafts.
type Change interface {
	common() Draft
	apply(*Entry) error
}

func (d Draft) common() Draft { return d }

func (d Draft) apply(e *Entry) error {
	d.Name.Into(&e.Name)
	d.Order.Into(&e.Order)
	return nil
}

func (d RoomDraft) apply(e *Entry) error {
	d.Capacity.IntoPointer(&e.Capacity)
	return d.Draft.apply(e)
}

func (d TrackDraft) apply(e *Entry) error {
	d.Color.IntoPointer(&e.Color)
	return d.Draft.apply(e)
}

func (d StatusDraft) apply(e *Entry) error {
	d.Color.IntoPointer(&e.Color)
	e.Status = cmp.Or(e.Status, d.Status.Value, Pending)
	if d.Status.Sent && d.Status.Value != e.Status {
		return apierr.Invalid("status", "The category of a status cannot change; it is %q.", e.Status)
	}
	return d.Draft.apply(e)
}
