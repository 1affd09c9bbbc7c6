package change

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"lectern/shared/feed"
	"lectern/shared/table"
)

// Hour returns the key of the item of an hour in which an organization has change
// records. A reader of the feed leaves out hours without an item.
func Hour(org int64, at time.Time) table.Key { return feed.Hour(Root(org), at) }

// Commit does all writes or none, as table.Transact does. It first puts the items of the
// hours of the change records, so that every hour with a change record has its
// item. The item of a transaction that then fails only costs a reader a read.
func Commit(ctx context.Context, t *table.Table, writes ...table.Write) error {
	for _, w := range writes {
		if w.Kind() != table.KindChange {
			continue
		}
		if err := t.Mark(ctx, feed.HourOf(w.Key())); err != nil {
			return err
		}
	}
	return t.Transact(ctx, writes...)
}

// hoursAtOnce is how many hours FillHours looks at in parallel.
const hoursAtOnce = 8

// FillHours writes the missing items of the 24 hours from after on, and returns the number of
// missing items. Earlier releases wrote change records without these items.
func FillHours(ctx context.Context, t *table.Table, org int64, after time.Time) (filled int, err error) {
	const hours = 24
	first, last := Hour(org, after), Hour(org, after.Add((hours-1)*time.Hour))
	found := map[string]bool{}
	for item, err := range t.Between(ctx, first.PK, first.SK, last.SK) {
		if err != nil {
			return 0, err
		}
		found[item.SK] = true
	}
	var count atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(hoursAtOnce)
	for i := range hours {
		at := after.Add(time.Duration(i) * time.Hour)
		if found[Hour(org, at).SK] {
			continue
		}
		g.Go(table.Safely(func() error {
			some, err := anyIn(ctx, t, org, at)
			if err != nil || !some {
				return err
			}
			count.Add(1)
			return t.Mark(ctx, Hour(org, at))
		}))
	}
	err = g.Wait()
	return int(count.Load()), err
}

// anyIn reports whether an organization has change records in an hour.
func anyIn(ctx context.Context, t *table.Table, org int64, at time.Time) (bool, error) {
	for bucket := range Buckets {
		items, _, _, err := t.Page(ctx, Partition(org, at, bucket), "0", "~")
		if err != nil || len(items) > 0 {
			return len(items) > 0, err
		}
	}
	return false, nil
}
