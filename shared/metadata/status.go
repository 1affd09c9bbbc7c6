package metadata

import (
	"cmp"
	"slices"

	"lectern/shared/field"
	"lectern/shared/record"
	"lectern/shared/settings/item"
	"lectern/shared/wire"
)

// The values of a session's status, also the categories of custom statuses
// (gaps.md section 2.4).
const (
	Accepted     = "accepted"
	AcceptQueue  = "accept_queue"
	Pending      = "pending"
	DeclineQueue = "decline_queue"
	Declined     = "declined"
)

// builtIns are the statuses that every event has, in their order.
var builtIns = []struct{ value, name, color string }{
	{Accepted, "Accepted", "#2e7d32"},
	{AcceptQueue, "Accept queue", "#9ccc65"},
	{Pending, "Pending", "#fbc02d"},
	{DeclineQueue, "Decline queue", "#ef9a9a"},
	{Declined, "Declined", "#c62828"},
}

// Status is the view of a status (spec.md section 2.7), built-in, or custom with a category.
type Status struct {
	ID         string `json:"id" format:"uuid" doc:"The status's id."`
	Name       string `json:"name" doc:"The status's name."`
	Status     string `json:"status" enum:"accepted,accept_queue,pending,decline_queue,declined" doc:"The built-in value, of a custom status its category."`
	StatusName string `json:"status_name" doc:"The name of the built-in value."`
	Color      string `json:"color" doc:"As #rrggbb."`
	Order      int    `json:"order" doc:"The place among the statuses."`
	// IsCustom is false for a status that every event has.
	IsCustom      bool             `json:"is_custom" doc:"Whether the event added it."`
	CreatedAt     wire.Time        `json:"created_at"`
	CreatedByID   wire.Opt[int64]  `json:"created_by_user_id" doc:"The member who added it; null for a built-in one."`
	CreatedByName wire.Opt[string] `json:"created_by_user_name" doc:"The name the member had then."`
	// UpdatedAt stands in the answers of writes only.
	UpdatedAt        wire.Opt[wire.Time] `json:"updated_at,omitzero" nullable:"false" doc:"In answers to writes."`
	TranslatedFields []field.Translated  `json:"translated_fields,omitzero" nullable:"false" doc:"Only with expand=translated_fields."`

	entry *Entry
}

// RecordID returns the status's id.
func (s *Status) RecordID() string { return s.ID }

// Revision returns the version that an ETag names.
func (s *Status) Revision() int64 { return s.entry.Version }

// Head points to the fields that every setting has.
func (s *Status) Head() record.Head { return s.entry.Head() }

// Show returns the status, with translations if texts is not nil.
func (s *Status) Show(texts *field.Set) *Status {
	if texts == nil {
		return s
	}
	shown := *s
	shown.TranslatedFields = texts.Translated(s.ID, s.entry.Translations)
	return &shown
}

// WrittenStatus shows a custom status as the answer of a write, with the time that the next
// update may send, and with translations if texts is not nil.
func (e *Entry) WrittenStatus(_ Kind, texts *field.Set) *Status {
	shown := *newStatus(e).Show(texts)
	shown.UpdatedAt = wire.Some(e.UpdatedAt)
	return &shown
}

// newStatus shows a stored entry as a status.
func newStatus(e *Entry) *Status {
	s := &Status{
		ID: e.ID, Name: e.Name, Status: e.Status, Order: e.Order, IsCustom: true, CreatedAt: e.CreatedAt,
		CreatedByID: wire.Some(e.CreatedByID), CreatedByName: wire.Some(e.CreatedByName), entry: e,
	}
	for _, category := range builtIns {
		if category.value == e.Status {
			s.StatusName, s.Color = category.name, category.color
		}
	}
	if e.Color != nil {
		s.Color = *e.Color
	}
	return s
}

// Statuses has the statuses of an event that are not deleted, read only.
type Statuses struct {
	byID map[string]*Status
	all  []*Status
}

// NewStatuses returns the statuses of an event from the stored custom statuses. since is the
// creation of the event.
func NewStatuses(event int64, since wire.Time, stored []*Entry) *Statuses {
	s := &Statuses{byID: map[string]*Status{}}
	for i, b := range builtIns {
		shown := newStatus(&Entry{
			ID: item.DerivedID("status", event, b.value), EventID: event, Name: b.name, Status: b.value,
			Order: firstOrder + i, CreatedAt: since, UpdatedAt: since,
		})
		shown.IsCustom, shown.CreatedByID, shown.CreatedByName = false, wire.Null[int64](), wire.Null[string]()
		s.all = append(s.all, shown)
	}
	for _, e := range NewSet(stored).List() {
		s.all = append(s.all, newStatus(e))
	}
	slices.SortStableFunc(s.all, func(a, b *Status) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), a.CreatedAt.Compare(b.CreatedAt.Time))
	})
	for _, status := range s.all {
		s.byID[status.ID] = status
	}
	return s
}

// Get returns a status by id, built-in or custom.
func (s *Statuses) Get(id string) (*Status, bool) {
	status, ok := s.byID[id]
	return status, ok
}

// All returns the statuses in their order.
func (s *Statuses) All() []*Status { return s.all }

// Custom returns the statuses that the event added, in their order.
func (s *Statuses) Custom() []*Status {
	custom := make([]*Status, 0, len(s.all))
	for _, status := range s.all {
		if status.IsCustom {
			custom = append(custom, status)
		}
	}
	return custom
}
