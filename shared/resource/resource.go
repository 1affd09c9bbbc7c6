// Package resource stores small records, for example the rules and personas of an event. A
// Kind declares a record and the rules of the record. The package creates, lists, changes,
// deletes and restores the records of every kind in the same way, and Of makes the routes.
//
// Each write is a single transaction: the record, the hold of a unique value, the change record,
// and the number of records, unless the write is an update of a kind that is not Watched. Small records are no settings: every
// request of an event relies on the partition of the settings, so small records stay outside.
//
// Read resource.go, kind.go, collection.go, storage.go, stored.go, sums.go, tree.go; then body.go and routes.go
// for the API.
package resource

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"

	"lectern/shared/api"
	"lectern/shared/keys"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Keys are the patterns of the items of small records: of an event or organization, and of
// another small record. An erasure masks the address in data requests, and empties records of awards.
var Keys = slices.Concat(
	[]keys.Pattern{
		{Name: "data request", PK: "o#F", SK: "R#data_request#<id>", Personal: keys.Person},
		{Name: "deleted data request", PK: "o#F", SK: "D#data_request#<id>", Personal: keys.Person},
		{Name: "award submission", PK: "o#F#<parent>", SK: "R#award_submission#<id>", Personal: keys.Person},
		{Name: "deleted award submission", PK: "o#F", SK: "D#award_submission#<id>", Personal: keys.Person},
		{Name: "award review", PK: "o#F#<parent>", SK: "R#award_review#<id>", Personal: keys.Person},
		{Name: "deleted award review", PK: "o#F", SK: "D#award_review#<id>", Personal: keys.Person},
	},
	keys.Both("record", "#F", "R#<kind>#<id>", keys.Outside),
	keys.Both("record", "#F#<parent>", "R#<kind>#<id>", keys.Outside),
	keys.Both("number of records", "#F", "N#<kind>", keys.Nothing),
	keys.Both("number of records", "#F#<parent>", "N#<kind>", keys.Nothing),
	keys.Both("deleted record", "#F", "D#<kind>#<id>", keys.Outside),
	keys.Both("numbers of a record", "#F", "S#<record>#<kind>", keys.Nothing),
	keys.Both("numbers of a record", "#F#<parent>", "S#<record>#<kind>", keys.Nothing),
	keys.Both("running number", "#F", "C#<kind>#<yyyy>", keys.Nothing),
	keys.Both("unique value", "#Q#F#<kind>#<parent?>#<value>", "-", keys.Outside),
)

// Keep is how long a deleted record can be restored.
const Keep = 30 * 24 * time.Hour

// Owner owns records. An owner is an event, an organization if Event is 0, or, if Parent is an
// id, a record of the event or organization.
type Owner struct {
	Org, Event int64
	Parent     string
	// Within is the record of a tree that the records are directly below; empty for all. It is no part of
	// a key.
	Within string
}

func (o Owner) prefix() string {
	if o.Event == 0 {
		return table.Org(o.Org)
	}
	return table.Event(o.Org, o.Event)
}

// top returns the event or organization of the owner.
func (o Owner) top() Owner { return Owner{Org: o.Org, Event: o.Event} }

// Partition returns the partition of the owner's records.
func (o Owner) Partition() string {
	pk := o.prefix() + "#F"
	if o.Parent != "" {
		pk += "#" + o.Parent
	}
	return pk
}

// The first letter of a sort key.
const (
	live    = "R#"
	counted = "N#"
	deleted = "D#"
	summed  = "S#"
	serial  = "C#"
)

// Key returns the key of a record that is not deleted.
func (o Owner) Key(kind, id string) table.Key {
	return table.Key{PK: o.Partition(), SK: live + kind + "#" + id}
}

// DeletedKey returns the key of a deleted record. All deleted records of an event stand
// together: no list reads deleted records, and a purge finds all.
func (o Owner) DeletedKey(kind, id string) table.Key {
	return table.Key{PK: o.top().Partition(), SK: deleted + kind + "#" + id}
}

// CountKey returns the key of the item that counts the owner's records of a kind.
func (o Owner) CountKey(kind string) table.Key {
	return table.Key{PK: o.Partition(), SK: counted + kind}
}

// HoldKey returns the key of the item that holds a unique value.
func (o Owner) HoldKey(kind, value string) table.Key {
	return table.Key{PK: o.prefix() + "#Q#F#" + kind + "#" + o.Parent + "#" + value, SK: "-"}
}

// builtInSpace is the namespace of the ids of built-in records.
var builtInSpace = uuid.MustParse("0d0a6d0e-8d0b-4f55-9a53-3f1c6a7e2b18")

// BuiltInID returns the id of the built-in record of a name: the same UUID (version 5) each time.
func (o Owner) BuiltInID(kind, name string) string {
	return uuid.NewSHA1(builtInSpace, []byte(o.prefix()+"#"+kind+"#"+name)).String()
}

// Header is the part that all records have. A record embeds the Header.
type Header struct {
	ID        string     `json:"id" format:"uuid" doc:"The record's id."`
	CreatedAt wire.Time  `json:"created_at" doc:"When the record was created."`
	UpdatedAt wire.Time  `json:"updated_at" doc:"When the record was changed last; an update may send it."`
	DeletedAt *wire.Time `json:"deleted_at,omitempty" doc:"When the record was deleted; otherwise absent."`

	version int64
	meta    Meta
}

// RecordID returns the record's id.
func (h *Header) RecordID() string { return h.ID }

// Revision returns the version that an ETag names.
func (h *Header) Revision() int64 { return h.version }

// Hide stores JSON with the record that no answer and no change record shows.
func (h *Header) Hide(hidden json.RawMessage) { h.meta.Hidden = hidden }

// Hidden returns the JSON of Hide; nil without any.
func (h *Header) Hidden() json.RawMessage { return h.meta.Hidden }

func (h *Header) header() *Header { return h }

// Record is a pointer to a record of type R with an embedded Header.
type Record[R any] interface {
	*R
	RecordID() string
	Revision() int64
	header() *Header
}

// Store keeps the records of all kinds.
type Store struct {
	Table *table.Table
	Now   func() time.Time
	NewID func() string
	// Most lowers the Max of every kind, for tests; 0 leaves Max.
	Most int64
	// Unlimited lets a creation pass Max.
	Unlimited bool
	// CheckDraft returns the 400 of a draft by more than the draft itself, to which draft points. It is called for a creation after
	// the rules of the kind, and not for a repeated one; for a change before them, so it can leave a refusal in the draft for Apply,
	// which knows what changes. Nil without such a rule.
	CheckDraft func(ctx context.Context, draft any, isNew bool) error
	// AdminURL begins the deep links into the admin application; empty without one.
	AdminURL string
}

// NewStore returns the store of a group.
func NewStore(env api.Env) Store {
	return Store{Table: env.Table, Now: env.Now, NewID: env.NewID, Most: env.MostRecords, AdminURL: env.AdminURL}
}
