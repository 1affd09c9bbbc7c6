package metadata

import (
	"slices"

	"lectern/shared/field"
	"lectern/shared/wire"
)

// View is an entry outside a session. The kind decides which properties are shown (spec.md 2.6,
// 2.7; gaps.md section 7).
type View struct {
	ID   string `json:"id" format:"uuid" doc:"The entry's id."`
	Name string `json:"name" doc:"The entry's name."`
	// EventID is in the answers of writes; lists and searches omit the property.
	EventID          wire.Opt[int64]    `json:"event_id,omitzero" nullable:"false" doc:"In answers to writes of tracks, formats and languages."`
	Color            wire.Opt[string]   `json:"color,omitzero" doc:"A track's, as #rrggbb."`
	Order            wire.Opt[int]      `json:"order,omitzero" nullable:"false" doc:"The place among the entries of the kind; not shown of tags."`
	Capacity         wire.Opt[int]      `json:"capacity,omitzero" doc:"A room's."`
	CreatedAt        wire.Time          `json:"created_at"`
	UpdatedAt        wire.Time          `json:"updated_at"`
	TranslatedFields []field.Translated `json:"translated_fields,omitzero" nullable:"false" doc:"Only with expand=translated_fields."`

	version int64
}

// RecordID returns the entry's id.
func (v *View) RecordID() string { return v.ID }

// Revision returns the version that an ETag names.
func (v *View) Revision() int64 { return v.version }

// Show returns the view of the entry in lists and searches, with translations if texts is not
// nil.
func (e *Entry) Show(kind Kind, texts *field.Set) *View {
	v := &View{ID: e.ID, Name: e.Name, CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt, version: e.Version}
	if kind == Tracks {
		v.Color = optional(e.Color)
	}
	if kind == Rooms {
		v.Capacity = optional(e.Capacity)
	}
	if kind != Tags {
		v.Order = wire.Some(e.Order)
	}
	if texts != nil {
		v.TranslatedFields = texts.Translated(e.ID, e.Translations)
	}
	return v
}

// Written shows the entry as the answer of a write.
func (e *Entry) Written(kind Kind, texts *field.Set) *View {
	v := e.Show(kind, texts)
	if slices.Contains([]Kind{Tracks, Formats, Languages}, kind) {
		v.EventID = wire.Some(e.EventID)
	}
	return v
}

// optional returns a property that is always sent, null without a value.
func optional[T any](value *T) wire.Opt[T] {
	if value == nil {
		return wire.Null[T]()
	}
	return wire.Some(*value)
}
