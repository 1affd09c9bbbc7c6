// Package item stores the settings of an event or an organization: fields, entries of
// metadata, statuses, roles. It owns the keys and versions of settings, and the transaction of
// a write, which keeps the settings version of the owner equal to the sum of Counted
// (design.md section 3). Package settings reads the settings of an owner together.
//
// Read item.go, kind.go, bounds.go, slug.go.
package item

import (
	"fmt"
	"strings"

	"github.com/google/uuid"

	"lectern/shared/record"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Record is a pointer to a setting of type R.
type Record[R any] interface {
	*R
	Head() record.Head
	// Remains returns the content that a deleted setting keeps: for a restore, or because
	// other records need the content; otherwise a Tombstone.
	Remains() any
}

// Tombstone is the content of a deleted setting that nothing needs any more. Key and version
// count for the owner's settings version until the purge.
type Tombstone struct {
	// ID repeats the id of the key, for the release before decision 14.
	ID        string     `json:"id"`
	DeletedAt *wire.Time `json:"deleted_at"`
}

// Place is the owner of settings: an event, or the organization if Event is 0.
//
// The key and version of a deleted setting stay until the purge, since the owner's version
// counts them. Record.Remains says how much of the content stays.
type Place struct{ Org, Event int64 }

func (p Place) prefix() string {
	if p.Event == 0 {
		return table.Org(p.Org)
	}
	return table.Event(p.Org, p.Event)
}

// Owner returns the key of the event or organization, which carries the settings version.
func (p Place) Owner() table.Key { return table.Key{PK: p.prefix(), SK: "-"} }

// Partition returns the partition of all settings of the place.
func (p Place) Partition() string { return p.prefix() + "#M" }

// Key returns the key of a setting.
func (p Place) Key(kind, id string) table.Key {
	return table.Key{PK: p.Partition(), SK: kind + "#" + id}
}

// Counted returns the share of a stored setting in its owner's settings version: the version
// times the weight of the id.
func Counted(stored table.Item) int64 {
	_, id, _ := strings.Cut(stored.SK, "#")
	return stored.Version * table.Weight(id)
}

// Unique returns the key of the item that holds a unique value.
func (p Place) Unique(kind, value string) table.Key {
	return table.Key{PK: p.prefix() + "#Q#" + kind + "#" + value, SK: "-"}
}

// Removed is the answer of the deletion of a setting.
type Removed struct {
	ID string `json:"id" format:"uuid" doc:"The id of what was deleted."`
}

// KindOf returns the kind in the key of a setting.
func KindOf(key table.Key) string {
	kind, _, _ := strings.Cut(key.SK, "#")
	return kind
}

// Decode reads a stored setting, whole or as a Tombstone. The key has the id.
func Decode[R any, P Record[R]](from table.Item) (P, error) {
	r, err := record.Decode[R](from)
	if err != nil {
		return nil, err
	}
	head := P(r).Head()
	*head.Version = from.Version
	_, *head.ID, _ = strings.Cut(from.SK, "#")
	return r, nil
}

// namespace separates the ids of this service from all other derived ids.
var namespace = uuid.MustParse("5f0f6a1e-3c1d-4e55-9d4c-7a1b6c2e8f90")

// DerivedID returns the id of a record that no client creates, such as a built-in status: the
// same UUID (version 5) for the same parts.
func DerivedID(parts ...any) string {
	name := strings.TrimSuffix(fmt.Sprintln(parts...), "\n")
	return uuid.NewSHA1(namespace, []byte(name)).String()
}
