// Package search holds what the bodies of all POST searches have in common: a
// strict sort, date ranges, and the order of records that follows from a sort.
// It knows no record; which keys a search sorts by is given by a type.
package search

import (
	"cmp"

	"lectern/shared/wire"
)

// Range is a range of instants without its bounds (gaps.md section 1). The zero
// Range holds every instant.
type Range struct {
	Before wire.Opt[wire.Time] `json:"before,omitzero" nullable:"false" doc:"Only records before this instant."`
	After  wire.Opt[wire.Time] `json:"after,omitzero" nullable:"false" doc:"Only records after this instant."`
}

// Contains is whether the instant, in Unix milliseconds, lies in the range.
func (r Range) Contains(ms int64) bool {
	return (!r.Before.Has() || ms < r.Before.Value.UnixMilli()) &&
		(!r.After.Has() || ms > r.After.Value.UnixMilli())
}

// Times are the filters that every search accepts; filters of a record embed it.
type Times struct {
	CreatedAt Range `json:"createdAt,omitzero" doc:"When the record was created."`
	UpdatedAt Range `json:"updatedAt,omitzero" doc:"When the record was last changed."`
}

// Keeps is whether a record with these times, in Unix milliseconds, passes.
func (t Times) Keeps(created, updated int64) bool {
	return t.CreatedAt.Contains(created) && t.UpdatedAt.Contains(updated)
}

// Order turns sort keys into a comparison for slices.SortFunc. field gives, for
// a key's name, how to read it from a record in Unix milliseconds; false means
// the record has none and stands last in both directions. Records equal in
// every key are ordered by tie. Without keys it is nil, for the default order.
func Order[R any](keys []Key, field func(name string) func(R) (ms int64, ok bool), tie func(a, b R) int) func(a, b R) int {
	if len(keys) == 0 {
		return nil
	}
	reads := make([]func(R) (int64, bool), len(keys))
	for i, key := range keys {
		reads[i] = field(key.Name)
	}
	return func(a, b R) int {
		for i, read := range reads {
			if c := compare(read, keys[i].Desc, a, b); c != 0 {
				return c
			}
		}
		return tie(a, b)
	}
}

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
