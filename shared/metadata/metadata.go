// Package metadata owns the rooms, tracks, tags, formats, levels and languages of an event,
// which share a record and a behaviour, and the statuses of sessions. Sessions name the entries
// by id; this package never changes a session.
package metadata

import (
	"cmp"
	"slices"

	"lectern/shared/field"
	"lectern/shared/keys"
	"lectern/shared/record"
	"lectern/shared/settings/item"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Kind is a kind of metadata, named as in paths.
type Kind string

// The six kinds, and the statuses, which are stored in the same way.
const (
	Rooms     Kind = "rooms"
	Tracks    Kind = "tracks"
	Tags      Kind = "tags"
	Formats   Kind = "formats"
	Levels    Kind = "levels"
	Languages Kind = "languages"

	// StatusKind is outside Kinds, since a Status shows the entries.
	StatusKind Kind = "statuses"
)

// Kinds are the six kinds.
var Kinds = []Kind{Rooms, Tracks, Tags, Formats, Levels, Languages}

// Keys are the patterns of the entries.
var Keys = entryKeys()

func entryKeys() (all []keys.Pattern) {
	for _, kind := range append(slices.Clone(Kinds), StatusKind) {
		p := keys.Pattern{Name: "setting: " + string(kind), PK: "e#M", SK: string(kind) + "#<id>", Personal: keys.Outside}
		all = append(all, p)
	}
	return all
}

// titles name an entry of a kind in messages.
var titles = map[Kind]string{
	Rooms: "Room", Tracks: "Track", Tags: "Tag", Formats: "Format", Levels: "Level", Languages: "Language",
	StatusKind: "Status",
}

// Title names an entry of the kind, for example Track.
func (k Kind) Title() string { return titles[k] }

// Entry is a stored entry of any kind.
type Entry struct {
	ID      string `json:"id"`
	EventID int64  `json:"event_id"`
	Name    string `json:"name"`
	// Order sorts the entries of the kind.
	Order int `json:"order"`
	// Color belongs to a track or status, as #rrggbb.
	Color *string `json:"color,omitempty"`
	// Capacity belongs to a room.
	Capacity *int `json:"capacity,omitempty"`
	// Status is the category of a custom status, CreatedByID and CreatedByName the member that
	// created the status.
	Status        string             `json:"status,omitempty"`
	CreatedByID   int64              `json:"created_by_user_id,omitempty"`
	CreatedByName string             `json:"created_by_user_name,omitempty"`
	Translations  field.Translations `json:"translations,omitempty"`
	CreatedAt     wire.Time          `json:"created_at"`
	UpdatedAt     wire.Time          `json:"updated_at"`
	DeletedAt     *wire.Time         `json:"deleted_at,omitempty"`
	Version       int64              `json:"-"`
}

// Key returns the key of an entry of an event.
func Key(org, event int64, kind Kind, id string) table.Key {
	return item.Place{Org: org, Event: event}.Key(string(kind), id)
}

// Live reports whether the item of an entry, empty for none, is an entry that is not deleted.
func Live(stored table.Item) (bool, error) {
	if stored.Version == 0 {
		return false, nil
	}
	e, err := record.Decode[Entry](stored)
	return err == nil && e.DeletedAt == nil, err
}

// RecordID returns the entry's id.
func (e *Entry) RecordID() string { return e.ID }

// Revision returns the version that an ETag names.
func (e *Entry) Revision() int64 { return e.Version }

// Head points to the fields that every setting has.
func (e *Entry) Head() record.Head {
	return record.Head{
		ID: &e.ID, Version: &e.Version, CreatedAt: &e.CreatedAt, UpdatedAt: &e.UpdatedAt, DeletedAt: &e.DeletedAt,
	}
}

// Remains returns the content that a deleted entry keeps: all of a status, for the restore, and
// nothing of other entries.
func (e *Entry) Remains() any {
	if e.Status != "" {
		return e
	}
	return item.Tombstone{ID: e.ID, DeletedAt: e.DeletedAt}
}

// Set has an event's entries of a kind without the deleted entries, which sessions show as
// unassigned. A Set is read only; a nil Set is empty.
type Set struct {
	byID map[string]*Entry
	list []*Entry
}

// NewSet returns the Set of stored entries.
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

// byOrder compares entries in the order of lists (gaps.md section 1).
func byOrder(a, b *Entry) int {
	return cmp.Or(cmp.Compare(a.Order, b.Order), a.CreatedAt.Compare(b.CreatedAt.Time), cmp.Compare(a.ID, b.ID))
}

// Get returns an entry by id.
func (s *Set) Get(id string) (*Entry, bool) {
	if s == nil {
		return nil, false
	}
	e, ok := s.byID[id]
	return e, ok
}

// List returns the entries in their order.
func (s *Set) List() []*Entry {
	if s == nil {
		return nil
	}
	return s.list
}

// next returns the order of a new entry that has no order, after all other entries. Entries with
// the largest order stand in the order of their creation.
func (s *Set) next() int {
	if list := s.List(); len(list) > 0 {
		return min(list[len(list)-1].Order+1, maxOrder)
	}
	return firstOrder
}

const (
	// firstOrder is the order of the first entry of a kind.
	firstOrder = 1
	// maxOrder is the largest order, as the schema of Draft says.
	maxOrder = 1_000_000
)
