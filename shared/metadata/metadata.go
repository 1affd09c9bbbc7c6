// Package metadata owns what the sessions of an event are described by: rooms,
// tracks, tags, formats, levels and languages, which are one record with one
// behaviour, and beside them the statuses a session can have. Which session uses
// which of them is the session's own; nothing here changes a session.
package metadata

import (
	"cmp"
	"slices"

	"lectern/shared/field"
	"lectern/shared/settings/item"
	"lectern/shared/wire"
)

// Kind is a kind of metadata, named as in paths.
type Kind string

// The six kinds, and the statuses, which are stored like them.
const (
	Rooms     Kind = "rooms"
	Tracks    Kind = "tracks"
	Tags      Kind = "tags"
	Formats   Kind = "formats"
	Levels    Kind = "levels"
	Languages Kind = "languages"

	// StatusKind is not one of Kinds: NewStatuses and Status are their shape.
	StatusKind Kind = "statuses"
)

// Kinds are the six kinds.
var Kinds = []Kind{Rooms, Tracks, Tags, Formats, Levels, Languages}

// titles name one entry of a kind in messages.
var titles = map[Kind]string{
	Rooms: "Room", Tracks: "Track", Tags: "Tag", Formats: "Format", Levels: "Level", Languages: "Language",
	StatusKind: "Status",
}

// Title names one entry of the kind, such as Track.
func (k Kind) Title() string { return titles[k] }

// Entry is one stored entry of any kind.
type Entry struct {
	ID      string `json:"id"`
	EventID int64  `json:"event_id"`
	Name    string `json:"name"`
	// Order is where the entry stands among those of its kind.
	Order int `json:"order"`
	// Color is a track's or a status's, as #rrggbb.
	Color *string `json:"color,omitempty"`
	// Capacity is a room's.
	Capacity *int `json:"capacity,omitempty"`
	// Status is the category of a custom status; CreatedByID and CreatedByName
	// are the member who made it.
	Status        string             `json:"status,omitempty"`
	CreatedByID   int64              `json:"created_by_user_id,omitempty"`
	CreatedByName string             `json:"created_by_user_name,omitempty"`
	Translations  field.Translations `json:"translations,omitempty"`
	CreatedAt     wire.Time          `json:"created_at"`
	UpdatedAt     wire.Time          `json:"updated_at"`
	DeletedAt     *wire.Time         `json:"deleted_at,omitempty"`
	Version       int64              `json:"-"`
}

// Head is the hold that package item needs.
func (e *Entry) Head() item.Head {
	return item.Head{
		ID: &e.ID, Version: &e.Version, CreatedAt: &e.CreatedAt, UpdatedAt: &e.UpdatedAt, DeletedAt: &e.DeletedAt,
	}
}

// Remains returns what is stored of a deleted entry: all of a status, which can be
// restored, and nothing of any other.
func (e *Entry) Remains() any {
	if e.Status != "" {
		return e
	}
	return item.Tombstone{ID: e.ID, DeletedAt: e.DeletedAt}
}

// Set is an event's entries of one kind that are not deleted: a deleted one is
// as if it were unassigned everywhere. It is read only; a nil Set is empty.
type Set struct {
	byID map[string]*Entry
	list []*Entry
}

// NewSet makes a Set of stored entries.
func NewSet(stored []*Entry) *Set {
	s := &Set{byID: make(map[string]*Entry, len(stored)), list: make([]*Entry, 0, len(stored))}
	for _, e := range stored {
		if e.DeletedAt == nil {
			s.byID[e.ID] = e
			s.list = append(s.list, e)
		}
	}
	slices.SortFunc(s.list, byOrder)
	return s
}

// byOrder is how metadata is listed (gaps.md section 1).
func byOrder(a, b *Entry) int {
	return cmp.Or(cmp.Compare(a.Order, b.Order), a.CreatedAt.Compare(b.CreatedAt.Time), cmp.Compare(a.ID, b.ID))
}

// Get gives an entry by id.
func (s *Set) Get(id string) (*Entry, bool) {
	if s == nil {
		return nil, false
	}
	e, ok := s.byID[id]
	return e, ok
}

// List gives the entries in their order.
func (s *Set) List() []*Entry {
	if s == nil {
		return nil
	}
	return s.list
}

// next is the order of an entry that is created without one: behind the others.
func (s *Set) next() int {
	if list := s.List(); len(list) > 0 {
		return list[len(list)-1].Order + 1
	}
	return firstOrder
}

// firstOrder is the order of the first entry of a kind.
const firstOrder = 1
