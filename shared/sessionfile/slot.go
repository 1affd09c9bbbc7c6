package sessionfile

import (
	"cmp"
	"context"
	"slices"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/resource"
	"lectern/shared/session"
	"lectern/shared/wire"
)

// Slot asks the speakers of sessions for files, as the API shows the slot.
type Slot struct {
	resource.Header
	Name             string     `json:"name" doc:"The name of the slot."`
	ContentType      string     `json:"content_type" example:"presentation" doc:"The type of each file in the slot."`
	DueDate          *wire.Time `json:"due_date" doc:"When the files are due. The API takes later files too."`
	DueDateExtended  *wire.Time `json:"due_date_extended" doc:"The later date that replaces due_date; null without an extension."`
	AllowedFileTypes []string   `json:"allowed_file_types" doc:"The MIME types that the slot takes, such as application/pdf or image/*; empty for all types."`
	MinFiles         int        `json:"min_files" doc:"How many files a session should have in the slot."`
	MaxFiles         int        `json:"max_files" doc:"How many files a session may have in the slot."`
	Required         bool       `json:"required" doc:"Whether speakers must fill the slot."`
	Order            int        `json:"order" doc:"The position of the slot for speakers; slots with the same order go by id."`
	IsActive         bool       `json:"is_active" doc:"Whether the slot takes files; false for an archived slot."`
}

// StoredSlot is a slot with the sessions that the slot applies to, which only an operator sees.
type StoredSlot struct {
	Slot
	FormatIDs []string `json:"format_ids"`
	TrackIDs  []string `json:"track_ids"`
}

// SlotDraft has the properties of a slot that an operator may write.
type SlotDraft struct {
	Name             wire.Opt[string]    `json:"name,omitzero" nullable:"false" maxLength:"255" pattern:"\\S"`
	ContentType      wire.Opt[string]    `json:"content_type,omitzero" nullable:"false" maxLength:"64" pattern:"^[a-z][a-z0-9_]*$"`
	DueDate          wire.Opt[wire.Time] `json:"due_date,omitzero"`
	DueDateExtended  wire.Opt[wire.Time] `json:"due_date_extended,omitzero"`
	AllowedFileTypes wire.Opt[[]string]  `json:"allowed_file_types,omitzero" nullable:"false" maxItems:"50" uniqueItems:"true" maxLength:"127" pattern:"^[a-z]+/([a-z0-9][a-z0-9.+_-]*|\\*)$"`
	MinFiles         wire.Opt[int]       `json:"min_files,omitzero" nullable:"false" minimum:"0" maximum:"100"`
	MaxFiles         wire.Opt[int]       `json:"max_files,omitzero" nullable:"false" minimum:"1" maximum:"100"`
	Required         wire.Opt[bool]      `json:"required,omitzero" nullable:"false"`
	Order            wire.Opt[int]       `json:"order,omitzero" nullable:"false" minimum:"0" maximum:"1000000"`
	IsActive         wire.Opt[bool]      `json:"is_active,omitzero" nullable:"false"`
	FormatIDs        wire.Opt[[]string]  `json:"format_ids,omitzero" nullable:"false" maxItems:"100" uniqueItems:"true" format:"uuid"`
	TrackIDs         wire.Opt[[]string]  `json:"track_ids,omitzero" nullable:"false" maxItems:"100" uniqueItems:"true" format:"uuid"`
}

// SlotKind is the name of the kind of the slots.
const SlotKind = "content_slot"

// Slots is the kind of the slots. A slot is archived and never deleted, since files name the slot.
var Slots = &resource.Kind[StoredSlot, *StoredSlot, SlotDraft]{
	Name: SlotKind, Title: "Content slot", Many: "content slots", Max: 200, Advice: "Change a slot that is archived.",
}

// defaultMaxFiles is the number of files that a new slot takes of a session.
const defaultMaxFiles = 1

// Apply writes the draft into the slot.
func (d SlotDraft) Apply(e resource.Edit[*StoredSlot]) error {
	s := e.Record
	if e.New {
		if !d.Name.Sent {
			return apierr.Invalid("name", "name must be sent.")
		}
		if !d.ContentType.Sent {
			return apierr.Invalid("content_type", "content_type must be sent.")
		}
		s.AllowedFileTypes, s.FormatIDs, s.TrackIDs = []string{}, []string{}, []string{}
		s.MaxFiles, s.IsActive = defaultMaxFiles, true
	}
	d.Name.Into(&s.Name)
	d.ContentType.Into(&s.ContentType)
	d.DueDate.IntoPointer(&s.DueDate)
	d.DueDateExtended.IntoPointer(&s.DueDateExtended)
	d.AllowedFileTypes.Into(&s.AllowedFileTypes)
	d.MinFiles.Into(&s.MinFiles)
	d.MaxFiles.Into(&s.MaxFiles)
	d.Required.Into(&s.Required)
	d.Order.Into(&s.Order)
	d.IsActive.Into(&s.IsActive)
	d.FormatIDs.Into(&s.FormatIDs)
	d.TrackIDs.Into(&s.TrackIDs)
	return s.check()
}

// check returns the 400 of values that do not fit each other.
func (s *StoredSlot) check() error {
	switch {
	case s.MinFiles > s.MaxFiles:
		return apierr.Invalid("min_files", "min_files must not be more than max_files, which is %d.", s.MaxFiles)
	case s.DueDateExtended != nil && s.DueDate == nil:
		return apierr.Invalid("due_date_extended", "due_date_extended needs a due_date.")
	case s.DueDateExtended != nil && s.DueDateExtended.Before(s.DueDate.Time):
		return apierr.Invalid("due_date_extended", "due_date_extended must not be before due_date.")
	}
	return nil
}

// AppliesTo reports whether the slot asks for files of a session: each session in one of the
// slot's formats and on one of its tracks. A slot without formats or tracks allows all of them.
func (s *StoredSlot) AppliesTo(b *session.Body) bool {
	return allows(s.FormatIDs, b.FormatID) && allows(s.TrackIDs, b.TrackID)
}

// allows reports whether a list names the id; an empty list allows all ids and none.
func allows(ids []string, id *string) bool {
	return len(ids) == 0 || id != nil && slices.Contains(ids, *id)
}

// BySpeakerOrder compares slots in the order in which speakers see them.
func BySpeakerOrder(a, b *StoredSlot) int {
	return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.ID, b.ID))
}

// Query selects slots.
type Query struct {
	// Archived adds slots that are not active.
	Archived bool
	// Session selects the active slots that apply to a session; empty for the slots of all sessions.
	Session string
}

// Slots returns the selected slots in the order in which speakers see them; 404 without the
// session. An event without the feature has none.
func (st *Store) Slots(ctx context.Context, c *auth.Caller, q Query) ([]*Slot, error) {
	var body *session.Body
	if q.Session != "" {
		var err error
		if body, _, err = st.load(ctx, c, q.Session); err != nil {
			return nil, err
		}
	}
	all := []*Slot{}
	if !c.Event.Features.ContentSlots {
		return all, nil
	}
	stored, err := Slots.Of(st.Records, owner(c)).List(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(stored, BySpeakerOrder)
	for _, s := range stored {
		if q.selects(s, body) {
			all = append(all, &s.Slot)
		}
	}
	return all, nil
}

// selects reports whether the query selects a slot. body is the session of the query; nil without one.
func (q Query) selects(s *StoredSlot, body *session.Body) bool {
	if body == nil {
		return s.IsActive || q.Archived
	}
	return s.IsActive && s.AppliesTo(body)
}

// owner returns the caller's event as the owner of slots.
func owner(c *auth.Caller) resource.Owner { return resource.Owner{Org: c.Org.ID, Event: c.Event.ID} }
