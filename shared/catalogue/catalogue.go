// Package catalogue keeps in memory the small rows of records that a search
// filters and sorts, and the bodies it shows, and proves before every use that
// they are what the table holds (design.md section 4). It owns the keys of rows
// and of the versions of their shards. What a row or a body is, which rows match
// and how they are written belongs to the record packages.
package catalogue

import (
	"fmt"
	"hash/fnv"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/lru"
	"lectern/shared/table"
)

// Source is one family of rows: where they and the versions of their shards
// stand.
//
//	PK        SK                   what
//	Rows      <shard>#<id>         a row; its version counts the record's writes
//	Versions  <family>#<shard>     the sum of version times weight of the shard's rows
//
// A shard is two hexadecimal digits.
type Source struct {
	// Rows and Versions are partition keys. Versions may be shared by families.
	Rows, Versions string
	// Family tells the families of one Versions partition apart.
	Family string
	// Shards is how many shards the rows are spread over, 1 to 256; it can never
	// change for rows that exist.
	Shards int
}

// Shard is the shard of a record, from 0 to shards-1.
func Shard(id string, shards int) int {
	h := fnv.New32a()
	h.Write([]byte(id))
	return int(uint64(h.Sum32()) % uint64(shards)) //nolint:gosec // both are positive and the result is below shards
}

// RowKey is the key of a record's row.
func RowKey(src Source, id string) table.Key {
	return table.Key{PK: src.Rows, SK: shardPrefix(Shard(id, src.Shards)) + id}
}

// VersionKey is the key of a shard's version.
func VersionKey(src Source, shard int) table.Key {
	return table.Key{PK: src.Versions, SK: fmt.Sprintf("%s#%02x", src.Family, shard)}
}

// Bump is what must stand in every transaction that adds a row (at version 1) or
// raises a row's version by one: the shard's version rises by the record's
// table.Weight. Without it searches of the shard fail. For a new row it is Adding 1, for
// a removed one, whose versions it takes away, Adding -1.
func Bump(src Source, id string) table.Write {
	return table.BumpFor(VersionKey(src, Shard(id, src.Shards)), table.Weight(id), id)
}

// Write is what stores a record with its row: body, whose version follows was, which
// is 0 for a new one, the row of the same version, and the Bump of its shard, which counts
// a new row.
func Write(src Source, id string, body table.Item, was int64, row []byte) []table.Write {
	stored, bump := table.Insert(body), Bump(src, id).Adding(1)
	if was > 0 {
		stored, bump = table.Replace(body, was), Bump(src, id)
	}
	return []table.Write{stored, table.Put(table.Item{Key: RowKey(src, id), Version: body.Version, Data: row}), bump}
}

// Remove is what removes a record with its row, both of a version: the version of their
// shard loses what the row added to it. No reader may take the sum for one it has had, so
// the id must never be given again. The shard then names no last id and is read whole.
func Remove(src Source, id string, body table.Key, version int64) []table.Write {
	return []table.Write{
		table.Remove(body, version), table.Remove(RowKey(src, id), version),
		table.Bump(VersionKey(src, Shard(id, src.Shards)), -version*table.Weight(id)).Adding(-1),
	}
}

func shardPrefix(shard int) string { return fmt.Sprintf("%02x#", shard) }

// Options is what a catalogue must know of its records.
type Options[R, B any] struct {
	// Row decodes a row's item, whose sort key is <shard>#<id>.
	Row func(table.Item) (R, error)
	// ID and Version are the record's id and its row item's version.
	ID      func(*R) string
	Version func(*R) int64
	// Order is the default order of a search. It must never find two records
	// equal: it ends with the id.
	Order func(a, b *R) int
	// Compact, if set, moves what rows refer to next to each other, as the rows are.
	Compact func(rows []R)
	// Body decodes a body's item; the item's version is that of its row.
	Body func(table.Item) (B, error)
	// BodyKey is where the body of a record stands.
	BodyKey func(src Source, id string) table.Key
	// RowOf makes the row that belongs to a body.
	RowOf func(B) R
	// MaxBytes caps the memory of rows and bodies together, each taking at most
	// half. The source used last stays, however big it is.
	MaxBytes int64
}

// Catalogue is the memory of one kind of record, for any number of sources. It
// is safe for concurrent use. What it hands out is shared: read only.
type Catalogue[R, B any] struct {
	table   *table.Table
	opts    Options[R, B]
	sources *lru.Cache[Source, *source[R]]
	bodies  *lru.Cache[table.Key, Body[B]]
}

// New makes an empty catalogue over t.
func New[R, B any](t *table.Table, opts Options[R, B]) *Catalogue[R, B] {
	return &Catalogue[R, B]{
		table:   t,
		opts:    opts,
		sources: lru.New[Source, *source[R]](opts.MaxBytes / 2),
		bodies:  lru.New[table.Key, Body[B]](opts.MaxBytes / 2),
	}
}

// maxTries is how often a shard or a body is read in which a write is becoming visible.
// A shard that is written without end, and found in the middle of a write every second
// time, still settles but for one read in 4,000.
const maxTries = 12

// pauses are the times between the tries. A transaction becomes visible within
// milliseconds; the pauses together are about 0.3 s.
var pauses = table.Backoff{First: 2 * time.Millisecond, Max: 100 * time.Millisecond}

// unsettled is the error for something that still does not agree with its version
// after maxTries: 503 to the caller, the rest for the log.
func unsettled(what string, src Source) error {
	return fmt.Errorf("catalogue: %s of %s disagree with their versions after %d tries: %w", what, src.Rows, maxTries, apierr.Unavailable())
}
