// Package catalogue keeps rows and bodies of records in memory, for searches, and proves before
// every use that the table still has the same (docs/decisions/0004 and 0020). It builds the
// keys of rows and of the versions of their shards. The content of rows and bodies, and the
// choice of rows, belong to the record packages.
//
// Read catalogue.go, rows.go, versions.go, source.go, load.go, view.go, bodies.go, search.go.
package catalogue

import (
	"fmt"
	"hash/fnv"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/lru"
	"lectern/shared/table"
)

// Source names the keys of one family of rows:
//
//	PK        SK                   content
//	Rows      <shard>#<id>         a row; its version counts the record's writes
//	Versions  <family>#<shard>     the sum of version times weight of the shard's rows
//
// A shard is two hexadecimal digits.
type Source struct {
	// Rows and Versions are partition keys. Versions may be shared by families.
	Rows, Versions string
	// Family distinguishes the families of one Versions partition.
	Family string
	// Shards is the number of shards, 1 to 256. It can never change while rows exist.
	Shards int
}

// Shard returns the shard of a record, from 0 to shards-1.
func Shard(id string, shards int) int {
	h := fnv.New32a()
	h.Write([]byte(id))
	return int(uint64(h.Sum32()) % uint64(shards)) //nolint:gosec // both are positive and the result is below shards
}

// RowKey returns the key of a record's row.
func RowKey(src Source, id string) table.Key {
	return table.Key{PK: src.Rows, SK: shardPrefix(Shard(id, src.Shards)) + id}
}

// VersionKey returns the key of a shard's version.
func VersionKey(src Source, shard int) table.Key {
	return table.Key{PK: src.Versions, SK: fmt.Sprintf("%s#%02x", src.Family, shard)}
}

// Bump returns the write that raises a shard's version by a record's table.Weight. Every
// transaction that adds a row at version 1, or raises a row's version by one, needs this write:
// without it searches of the shard fail. A transaction that adds a row uses Adding(1).
func Bump(src Source, id string) table.Write {
	return table.BumpFor(VersionKey(src, Shard(id, src.Shards)), table.Weight(id), id)
}

// Write returns the writes that store a record: the body, the row of the same version, and the
// Bump of the shard, which counts a new row. was is the version before the body's, 0 for a new
// record.
func Write(src Source, id string, body table.Item, was int64, row []byte) []table.Write {
	stored, bump := table.Insert(body), Bump(src, id).Adding(1)
	if was > 0 {
		stored, bump = table.Replace(body, was), Bump(src, id)
	}
	return []table.Write{stored, table.Put(table.Item{Key: RowKey(src, id), Version: body.Version, Data: row}), bump}
}

// Remove returns the writes that remove a record and its row, both of a version, and subtract
// the row from the version of the shard. The id must never be given again: a reader could take
// the new sum for an old one. Afterwards the shard has no last id and is read whole.
func Remove(src Source, id string, body table.Key, version int64) []table.Write {
	return []table.Write{
		table.Remove(body, version), table.Remove(RowKey(src, id), version),
		table.Bump(VersionKey(src, Shard(id, src.Shards)), -version*table.Weight(id)).Adding(-1),
	}
}

func shardPrefix(shard int) string { return fmt.Sprintf("%02x#", shard) }

// Options describe the records of a catalogue.
type Options[R, B any] struct {
	// Row decodes a row's item, whose sort key is <shard>#<id>.
	Row func(table.Item) (R, error)
	// ID returns the record's id, and Version the version of the row's item.
	ID      func(*R) string
	Version func(*R) int64
	// Order is the default order of a search. It ends with the id, so that no two records
	// are equal.
	Order func(a, b *R) int
	// Compact, if set, moves the memory that rows point to next to each other.
	Compact func(rows []R)
	// Body decodes a body's item, whose version is the version of the row.
	Body func(table.Item) (B, error)
	// BodyKey returns the key of a record's body.
	BodyKey func(src Source, id string) table.Key
	// RowOf returns the row of a body.
	RowOf func(B) R
	// MaxBytes limits the memory, one half for rows and one half for bodies. The source that
	// was used last stays, whatever its size.
	MaxBytes int64
}

// Catalogue is the memory of one kind of record, for any number of sources. It is safe for
// concurrent use. Its results are shared: callers must not change them.
type Catalogue[R, B any] struct {
	table   *table.Table
	opts    Options[R, B]
	traits  *traits[R]
	sources *lru.Cache[Source, *source[R]]
	bodies  *lru.Cache[table.Key, Body[B]]
}

// New returns an empty catalogue of t.
func New[R, B any](t *table.Table, opts Options[R, B]) *Catalogue[R, B] {
	return &Catalogue[R, B]{
		table:   t,
		opts:    opts,
		traits:  &traits[R]{opts.Row, opts.ID, opts.Version, opts.Order, opts.Compact},
		sources: lru.New[Source, *source[R]](opts.MaxBytes / 2),
		bodies:  lru.New[table.Key, Body[B]](opts.MaxBytes / 2),
	}
}

// settling are the reads of a shard or a body that a write is changing. A transaction becomes
// visible within milliseconds; the pauses together are about 0.3 s. A shard that is written
// without end, and found in the middle of a write every second time, still settles but for
// one read in 4,000.
var settling = table.Retry{Tries: 12, First: 2 * time.Millisecond, Max: 100 * time.Millisecond}

// unsettled returns the error for rows or bodies that do not agree with their version after all
// tries: a 503 for the client, and more for the log.
func unsettled(what string, src Source) error {
	return fmt.Errorf("catalogue: %s of %s disagree with their versions after %d tries: %w",
		what, src.Rows, settling.Tries, apierr.Unavailable())
}
