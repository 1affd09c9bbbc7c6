// Package record creates records and leads stored records from version to version. Times,
// versions, guards and repeated requests work the same for all records; a Storage says the
// rest: keys, conditions, and the writes beside the record. Packages resource, item and
// tenancy have a Storage each, for small records, settings and families.
//
// Read record.go, operation.go.
package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Verb names the act of a change.
type Verb string

// The verbs. Updated and Deleted are for a record that is not deleted, Restored is for a
// deleted record. A kind may have further verbs, which update a record.
const (
	Created  Verb = "created"
	Updated  Verb = "updated"
	Deleted  Verb = "deleted"
	Restored Verb = "restored"
)

// Head points to the fields of a record that each version sets.
type Head struct {
	// ID is nil for a record whose id is a number.
	ID                   *string
	Version              *int64
	CreatedAt, UpdatedAt *wire.Time
	// DeletedAt points to nil in a record that is not deleted. It is nil for a kind of record
	// that is never deleted.
	DeletedAt **wire.Time
}

// Deleted reports whether the record is deleted.
func (h Head) Deleted() bool { return h.DeletedAt != nil && *h.DeletedAt != nil }

// Step leads a record from a version to the next.
type Step[R any] struct {
	Verb Verb
	// Before is the last version and Was its item; nil and empty for a new record.
	Before, After *R
	Was           table.Item
}

// Storage stores the records of a kind that an owner has.
type Storage[R any] interface {
	Head(r *R) Head
	// Key returns the key of a record. Some kinds move a deleted record to another key.
	Key(id string, deleted bool) table.Key
	Decode(from table.Item) (*R, error)
	// NotFound returns the 404 of a record.
	NotFound() error
	// Beside returns the keys of the other items that a step reads.
	Beside(verb Verb, id string) []table.Key
	// Named returns the keys of further items that the next version of a record names.
	Named(r *R) []table.Key
	// Check refuses a step before the record is edited. Before is nil without a record.
	Check(s Step[R], got write.Items) error
	// Admit refuses the next version of a record, before the version is compared with the one that the
	// client has seen. It may complete the record.
	Admit(s Step[R], got write.Items) error
	// Writes returns the writes of a step, or refuses the new version.
	Writes(ctx context.Context, s Step[R], got write.Items) ([]table.Write, error)
}

// Records are the records of a Storage.
type Records[R any] struct {
	Table *table.Table
	Now   func() time.Time
	Storage[R]
}

// Create stores a new record and sets the times and the version.
func (rs Records[R]) Create(ctx context.Context, r *R) (*R, error) {
	return write.Run[*R](ctx, rs.Table, rs.Creation(r))
}

// Creation returns the operation that creates a record.
func (rs Records[R]) Creation(r *R) write.Op {
	h := rs.Head(r)
	*h.CreatedAt, *h.Version = wire.At(rs.Now()), 1
	*h.UpdatedAt = *h.CreatedAt
	return operation[R]{in: rs, change: Change[R]{Verb: Created}, made: r}
}

// Change changes a record that exists.
type Change[R any] struct {
	Verb Verb
	// Guard names the version that the client has seen.
	Guard write.Guard
	// Edit changes the record; nil changes nothing beside what Verb says. Edit may run several
	// times, each time on a fresh copy. Its error is returned unchanged.
	Edit func(*R) error
}

// Change changes the record of an id and returns the next version. It returns a 404 without
// the record, the error of Edit, and a 409 for a guard that fails.
func (rs Records[R]) Change(ctx context.Context, id string, c Change[R]) (*R, error) {
	return write.Run[*R](ctx, rs.Table, rs.Changing(id, c))
}

// Changing returns the operation that changes the record of an id.
func (rs Records[R]) Changing(id string, c Change[R]) write.Op {
	return operation[R]{in: rs, change: c, id: id}
}

// Replay returns the record that an earlier request under the same Idempotency-Key wrote, in
// the current version, deleted or not. It returns nil for a request that is no repetition, and
// a 404 when nothing of the record is left.
func (rs Records[R]) Replay(ctx context.Context) (*R, error) {
	id := write.Ref(ctx)
	if id == "" {
		return nil, nil
	}
	stored, err := rs.either(ctx, rs.Key(id, false), rs.Key(id, true))
	if errors.Is(err, table.ErrNotFound) {
		return nil, rs.NotFound()
	}
	if err != nil {
		return nil, err
	}
	r, err := rs.Decode(stored)
	if err == nil && rs.Head(r).CreatedAt.IsZero() {
		return nil, rs.NotFound()
	}
	return r, err
}

// either returns the item at one of two keys. Different keys are read together, since a
// deletion moves the record from one to the other.
func (rs Records[R]) either(ctx context.Context, live, deleted table.Key) (table.Item, error) {
	if live == deleted {
		return rs.Table.Get(ctx, live)
	}
	got, err := rs.Table.TransactGet(ctx, []table.Key{live, deleted})
	if err != nil {
		return table.Item{}, err
	}
	for _, stored := range got {
		return stored, nil
	}
	return table.Item{}, table.ErrNotFound
}

// Decode reads a record from the JSON of an item.
func Decode[R any](from table.Item) (*R, error) {
	r := new(R)
	if err := json.Unmarshal(from.Data, r); err != nil {
		return nil, fmt.Errorf("record: decode %s %s: %w", from.PK, from.SK, err)
	}
	return r, nil
}

// Encode returns the item of a record's content.
func Encode(key table.Key, version int64, content any) (table.Item, error) {
	data, err := wire.Encode(content)
	if err != nil {
		return table.Item{}, fmt.Errorf("record: encode %s %s: %w", key.PK, key.SK, err)
	}
	return table.Item{Key: key, Version: version, Data: data}, nil
}
