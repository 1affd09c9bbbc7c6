package tenancy

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strconv"

	"lectern/shared/table"
)

// listed is the partition of the region's list of organizations.
const listed = "R#org"

// ListLine returns an organization's line in the region's list:
//
//	PK      SK
//	R#org   <id of 19 digits>
func ListLine(id int64) table.Item {
	key := table.Key{PK: listed, SK: fmt.Sprintf("%019d", id)}
	return table.Item{Key: key, Version: 1, Data: strconv.AppendInt(nil, id, 10)}
}

// AllOrganizations yields the ids of the region's organizations above after, smallest
// first. Adopt adds older organizations to the list.
func (s Store) AllOrganizations(ctx context.Context, after int64) iter.Seq2[int64, error] {
	return func(yield func(int64, error) bool) {
		for item, err := range s.Table.Between(ctx, listed, ListLine(after+1).SK, ListLine(math.MaxInt64).SK) {
			id := int64(0)
			if err == nil {
				id, err = strconv.ParseInt(string(item.Data), 10, 64)
			}
			if !yield(id, err) || err != nil {
				return
			}
		}
	}
}

// adoptIDs is how many ids Adopt looks at in one call.
const adoptIDs = 10_000

// Adopt adds missing organizations with an id above after to the region's list. A call looks
// at adoptIDs ids; next is the after of the next call, 0 at the end. added counts the
// organizations that were missing.
func (s Store) Adopt(ctx context.Context, after int64) (next int64, added int, err error) {
	base, err := s.base()
	if err != nil {
		return 0, 0, err
	}
	given, err := s.Table.Count(ctx, counter)
	if err != nil {
		return 0, 0, fmt.Errorf("tenancy: last id: %w", err)
	}
	after = max(after, base)
	last := min(after+adoptIDs, base+given)
	missing, err := s.unlisted(ctx, after, last)
	if err != nil {
		return 0, 0, err
	}
	for _, id := range missing {
		err := s.Table.Transact(ctx, table.Insert(ListLine(id)).Or(errTaken))
		switch {
		case err == nil:
			added++
		case !errors.Is(err, errTaken):
			return 0, added, err
		}
	}
	if last < base+given {
		next = last
	}
	return next, added, nil
}

// unlisted returns the ids above after, up to last, of organizations that are not on the list.
func (s Store) unlisted(ctx context.Context, after, last int64) (ids []int64, err error) {
	if last <= after {
		return nil, nil
	}
	var keys []table.Key
	for id := after + 1; id <= last; id++ {
		keys = append(keys, table.Key{PK: table.Org(id), SK: "-"})
	}
	found, err := s.Table.GetMany(ctx, keys)
	if err != nil {
		return nil, err
	}
	for item, err := range s.Table.Between(ctx, listed, ListLine(after+1).SK, ListLine(last).SK) {
		if err != nil {
			return nil, err
		}
		delete(found, table.Key{PK: "O#" + string(item.Data), SK: "-"})
	}
	for i, key := range keys {
		if _, missing := found[key]; missing {
			ids = append(ids, after+1+int64(i))
		}
	}
	return ids, nil
}
