// Package search has the common parts of all POST searches: date ranges, a strict sort, and the
// order of records by a sort. A type parameter names the keys of a sort.
package search

import (
	"cmp"

	"lectern/shared/wire"
)

// Range is a range of instants, without its bounds (gaps.md section 1). The zero Range contains
// every instant.
type Range struct {
	Before wire.Opt[wire.Time] `json:"before,omitzero" nullable:"false" doc:"Only records before this instant."`
	After  wire.Opt[wire.Time] `json:"after,omitzero" nullable:"false" doc:"Only records after this instant."`
}

// Contains reports whether the range contains an instant in Unix milliseconds.
func (r Range) Contains(ms int64) bool {
	return (!r.Before.Has() || ms < r.Before.Value.UnixMilli()) &&
		(!r.After.Has() || ms > r.After.Value.UnixMilli())
}

// Times has the filters of every search. The filters of a record embed Times.
type Times struct {
	CreatedAt Range `json:"createdAt,omitzero" doc:"When the record was created."`
	UpdatedAt Range `json:"updatedAt,omitzero" doc:"When the record was last changed."`
}

// Keeps reports whether a record with these times, in Unix milliseconds, passes the filters.
func (t Times) Keeps(created, updated int64) bool {
	return t.CreatedAt.Contains(created) && t.UpdatedAt.Contains(updated)
}

// Order returns a comparison by sort keys for slices.SortFunc, or nil without keys. field
// returns the function that reads the value of a key from a record, in Unix milliseconds.
// Records without a value, for which the function returns false, come last in both directions.
// tie compares records that are equal in all keys.
func Order[R any](keys []Key, field func(name string) func(R) (ms int64, ok bool), tie func(a, b R) int) func(a, b R) int {
	if len(keys) == 0 {
		return nil
	}
	o := order[R]{keys: keys, reads: make([]func(R) (int64, bool), len(keys)), tie: tie}
	for i, key := range keys {
		o.reads[i] = field(key.Name)
	}
	return o.compare
}

// order is the order of records by sort keys. reads has the function that reads each key.
type order[R any] struct {
	keys  []Key
	reads []func(R) (int64, bool)
	tie   func(a, b R) int
}

func (o order[R]) compare(a, b R) int {
	for i, read := range o.reads {
		if c := compare(read, o.keys[i].Desc, a, b); c != 0 {
			return c
		}
	}
	return o.tie(a, b)
}

// compare compares two records by one key.
func compare[R any](read func(R) (int64, bool), desc bool, a, b R) int {
	x, hasX := read(a)
	y, hasY := read(b)
	switch {
	case hasX && hasY && desc:
		return cmp.Compare(y, x)
	case hasX && hasY:
		return cmp.Compare(x, y)
	case hasX:
		return -1
	case hasY:
		return 1
	}
	return 0
}
