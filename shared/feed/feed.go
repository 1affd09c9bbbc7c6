// Package feed places and reads the logs of an organization whose items are spread over partitions: a
// partition or eight of each hour or month. It merges the partitions of a period in the order of
// the sort keys, which begin with a UUID that is ordered by time. The content of an item belongs
// to other packages.
//
// Read feed.go, then key.go.
package feed

import (
	"context"
	"iter"
	"strconv"

	"golang.org/x/sync/errgroup"

	"lectern/shared/table"
)

// Log is the place of the items.
type Log struct {
	Table *table.Table
	// Root begins the partition of each period: <root>#<yyyymm>, or for an hourly log
	// <root>#<yyyymmddhh>#<0..7>.
	Root string
	// Hourly logs have Buckets partitions an hour. The partition Root lists the hours with items.
	// Other logs have one partition a month and no list.
	Hourly bool
	// First is the number of items that the first call reads from a partition. Each later call
	// reads twice as many, at most maxItems.
	First int
}

const (
	// maxItems limits the items of a call.
	maxItems = 256
	// maxPeriods limits the periods of a Reader, so that a request ends in time.
	maxPeriods = 240
)

// Reader reads the items of a log in order.
type Reader struct {
	Log
	// from and to bound the sort keys: from is included, to is not.
	from, to string
	// periods are the known periods that are not read, and next is the first unknown period.
	periods []string
	next    string
	// begun counts the periods, at most maxPeriods.
	begun int
	lanes []*lane
}

// lane is a partition of the present period.
type lane struct {
	pk, from string
	// items are the next items, and limit is the number of items to read after them.
	items []table.Item
	limit int
	// more reports whether the partition has items after items.
	more bool
}

// Read returns a Reader of the items with a sort key between from, included, and to. Both are
// sort keys or results of Bound.
func (l Log) Read(from, to string) *Reader {
	r := &Reader{Log: l, from: from, to: to}
	if from < to {
		r.next = l.period(from)
	}
	return r
}

// Take returns the next n items. It returns fewer at the end.
func (r *Reader) Take(ctx context.Context, n int) (items []table.Item, err error) {
	for len(items) < n {
		first, err := r.first(ctx)
		if err != nil {
			return nil, err
		}
		if first != nil {
			items = append(items, first.items[0])
			first.items = first.items[1:]
			continue
		}
		if more, err := r.begin(ctx); err != nil || !more {
			return items, err
		}
	}
	return items, nil
}

// End returns the key before which all items were returned, once Take has returned fewer items
// than asked for: the end of the range, or an earlier key after maxPeriods.
func (r *Reader) End() string {
	if len(r.periods) == 0 {
		return r.to
	}
	return max(r.from, Bound(r.start(r.periods[0])))
}

// Chunks yields the items of Read, n at a time, for any number of periods. A chunk with fewer items ends
// maxPeriods periods, or the range.
func (l Log) Chunks(ctx context.Context, from, to string, n int) iter.Seq2[[]table.Item, error] {
	return func(yield func([]table.Item, error) bool) {
		for from < to {
			reader := l.Read(from, to)
			for more := true; more; {
				items, err := reader.Take(ctx, n)
				if !yield(items, err) || err != nil {
					return
				}
				more = len(items) == n
			}
			from = reader.End()
		}
	}
}

// first returns the lane with the next item; nil without one. It first reads the lanes that
// have no items left, in parallel.
func (r *Reader) first(ctx context.Context) (first *lane, err error) {
	g, ctx := errgroup.WithContext(ctx)
	for _, l := range r.lanes {
		if len(l.items) == 0 && l.more {
			g.Go(table.Safely(func() error { return r.fill(ctx, l) }))
		}
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for _, l := range r.lanes {
		if len(l.items) > 0 && (first == nil || l.items[0].SK < first.items[0].SK) {
			first = l
		}
	}
	return first, nil
}

// fill reads the next items of a lane.
func (r *Reader) fill(ctx context.Context, l *lane) error {
	for l.more && len(l.items) == 0 {
		items, more, last, err := r.Table.Some(ctx, l.pk, l.from, r.to, l.limit)
		if err != nil {
			return err
		}
		l.items, l.more, l.from, l.limit = items, more, After(last), min(2*l.limit, maxItems)
	}
	return nil
}

// begin begins the next period. It reports whether there is one.
func (r *Reader) begin(ctx context.Context) (bool, error) {
	if len(r.periods) == 0 {
		if err := r.list(ctx); err != nil {
			return false, err
		}
	}
	r.lanes = nil
	if len(r.periods) == 0 || r.begun == maxPeriods {
		return false, nil
	}
	pk := r.Root + "#" + r.periods[0]
	r.periods, r.begun = r.periods[1:], r.begun+1
	if !r.Hourly {
		r.lanes = []*lane{r.lane(pk)}
		return true, nil
	}
	for bucket := range Buckets {
		r.lanes = append(r.lanes, r.lane(pk+"#"+strconv.Itoa(bucket)))
	}
	return true, nil
}

func (r *Reader) lane(pk string) *lane {
	return &lane{pk: pk, from: r.from, limit: r.First, more: true}
}

// list finds the next periods.
func (r *Reader) list(ctx context.Context) error {
	last := r.period(r.to)
	switch {
	case r.next == "" || r.next > last:
		return nil
	case !r.Hourly:
		r.periods = []string{r.next}
		r.next = r.start(r.next).AddDate(0, 1, 0).Format(r.form())
		return nil
	}
	items, more, read, err := r.Table.Some(ctx, r.Root, r.next, last, maxItems)
	for _, item := range items {
		r.periods = append(r.periods, item.SK)
	}
	r.next = ""
	if more {
		r.next = After(read)
	}
	return err
}
