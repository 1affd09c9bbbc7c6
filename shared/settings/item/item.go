// Package item stores one setting of an event or an organization: a field, an
// entry of metadata, a status, a role. It owns their keys, their versions and
// the transaction of their writes, which keeps the settings version of the
// owner equal to what its settings count (Counted; design.md section 3). It
// knows no kind of setting; reading them all is package settings.
package item

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"lectern/shared/table"
	"lectern/shared/wire"
)

// Head is the hold that this package needs on a record: what all settings have.
type Head struct {
	ID                   *string
	Version              *int64
	CreatedAt, UpdatedAt *wire.Time
	// DeletedAt points to nil in a record that is not deleted.
	DeletedAt **wire.Time
}

// Record is a pointer to a setting of type R.
type Record[R any] interface {
	*R
	Head() Head
	// Remains returns what is stored of the record once it is deleted: what brings
	// it back, or what other records still need of it; otherwise Tombstone.
	Remains() any
}

// Tombstone is what is stored of a deleted setting that nothing needs any more.
// Its key and version count for the owner's settings version until it is purged.
type Tombstone struct {
	// ID is in the key as well, but the release before decision 14 reads it here.
	ID        string     `json:"id"`
	DeletedAt *wire.Time `json:"deleted_at"`
}

// Place is whose settings: an event's, or the organization's where Event is 0.
//
//	PK                     SK
//	O#<org>#E#<event>#M    <kind>#<id>     a setting of the event
//	O#<org>#M              <kind>#<id>     a setting of the organization
//
// The key and version of a deleted setting stay until it is purged, as its version
// is part of the owner's; of its content stays what Record.Remains returns.
type Place struct{ Org, Event int64 }

func (p Place) prefix() string {
	if p.Event == 0 {
		return table.Org(p.Org)
	}
	return table.Event(p.Org, p.Event)
}

// Owner is the key of the event or organization that carries the settings
// version.
func (p Place) Owner() table.Key { return table.Key{PK: p.prefix(), SK: "-"} }

// Partition is where all settings of the place stand.
func (p Place) Partition() string { return p.prefix() + "#M" }

// Key is where one setting stands.
func (p Place) Key(kind, id string) table.Key {
	return table.Key{PK: p.Partition(), SK: kind + "#" + id}
}

// Counted is what a stored setting counts towards its owner's settings version:
// each of its versions the weight of its id.
func Counted(stored table.Item) int64 {
	_, id, _ := strings.Cut(stored.SK, "#")
	return stored.Version * table.Weight(id)
}

// Unique is the key of the item that holds a value which may exist once only.
func (p Place) Unique(kind, value string) table.Key {
	return table.Key{PK: p.prefix() + "#Q#" + kind + "#" + value, SK: "-"}
}

// Hold is the write by which the setting of an id holds a unique value.
func (p Place) Hold(kind, value, id string) table.Write {
	return table.Insert(table.Item{Key: p.Unique(kind, value), Version: 1, Data: fmt.Appendf(nil, `{"id":%q}`, id)})
}

// Removed is what the deletion of a setting answers.
type Removed struct {
	ID string `json:"id" format:"uuid" doc:"The id of what was deleted."`
}

// Kind is the kind of setting that stands under a sort key.
func Kind(key table.Key) string {
	kind, _, _ := strings.Cut(key.SK, "#")
	return kind
}

// Decode reads a stored setting, whole or as a Tombstone. The key holds the id.
func Decode[R any, P Record[R]](from table.Item) (P, error) {
	r := P(new(R))
	if err := json.Unmarshal(from.Data, r); err != nil {
		return nil, fmt.Errorf("item: decode %s: %w", from.SK, err)
	}
	head := r.Head()
	*head.Version = from.Version
	_, *head.ID, _ = strings.Cut(from.SK, "#")
	return r, nil
}

// namespace makes the ids of this service different from everyone else's.
var namespace = uuid.MustParse("5f0f6a1e-3c1d-4e55-9d4c-7a1b6c2e8f90")

// DerivedID is the id of something that no one creates, such as a built-in
// status: always the same UUID (version 5) for the same parts.
func DerivedID(parts ...any) string {
	name := strings.TrimSuffix(fmt.Sprintln(parts...), "\n")
	return uuid.NewSHA1(namespace, []byte(name)).String()
}
