package catalogue

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sync/errgroup"

	"lectern/shared/table"
)

const (
	// lastKey is greater than every sort key of a row, and what follows a shard's
	// prefix: an id is made of hexadecimal digits and dashes.
	lastKey = "~"
	// shardsAtOnce is how many shards are read in parallel (design.md section 4).
	shardsAtOnce = 8
)

// current makes view, nil when there is none yet, into the view that holds every
// write answered before current was called. Rows are trusted only where they add
// up to exactly their shard's version, read since then: more, less or another
// record's share is a write that is not yet wholly visible.
func (c *Catalogue[R, B]) current(ctx context.Context, src Source, view *View[R]) (*View[R], error) {
	versions, view, err := c.begin(ctx, src, view)
	if err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		open := view.open(versions)
		if len(open) == 0 {
			return view, nil
		}
		if try == maxTries {
			return nil, unsettled("rows", src)
		}
		if err := pause(ctx, try); err != nil {
			return nil, err
		}
		// The versions were read just now when the first try begins.
		if view, err = c.refresh(ctx, src, view, open, versions, try > 0); err != nil {
			return nil, err
		}
	}
}

// begin reads the versions of the shards and, when there is no view yet, beside
// them the rows: in which order does not matter, since a view is measured by the
// rows it holds.
func (c *Catalogue[R, B]) begin(ctx context.Context, src Source, view *View[R]) (versions []int64, _ *View[R], err error) {
	var first []shard[R]
	g, beside := errgroup.WithContext(ctx)
	if view == nil {
		g.Go(table.Safely(func() (err error) {
			first, err = c.firstPage(beside, src)
			return err
		}))
	}
	g.Go(table.Safely(func() (err error) {
		versions, err = c.versions(beside, src)
		return err
	}))
	if err := g.Wait(); err != nil || view != nil {
		return versions, view, err
	}
	view, err = c.load(ctx, src, first, versions)
	return versions, view, err
}

// versions reads the version of every shard; 0 for one without rows.
func (c *Catalogue[R, B]) versions(ctx context.Context, src Source) ([]int64, error) {
	found, err := c.table.Versions(ctx, src.Versions, src.Family+"#", src.Family+"#"+lastKey)
	if err != nil {
		return nil, err
	}
	versions := make([]int64, src.Shards)
	for i := range versions {
		versions[i] = found[VersionKey(src, i).SK]
	}
	return versions, nil
}

// open are the shards whose rows do not add up to their versions.
func (v *View[R]) open(versions []int64) (open []int) {
	for i, s := range v.shards {
		if s.sum != versions[i] {
			open = append(open, i)
		}
	}
	return open
}

// firstPage reads rows with one Query and gives the shards that it holds whole,
// from the first on: all of them if one page is enough.
func (c *Catalogue[R, B]) firstPage(ctx context.Context, src Source) ([]shard[R], error) {
	items, more, last, err := c.table.Page(ctx, src.Rows, shardPrefix(0), lastKey)
	if err != nil {
		return nil, err
	}
	whole := src.Shards
	if more {
		digits, _, _ := strings.Cut(last, "#")
		shard, err := strconv.ParseUint(digits, 16, 8)
		if err != nil {
			return nil, fmt.Errorf("catalogue: %s %s is in no shard: %w", src.Rows, last, err)
		}
		whole = int(shard)
	}
	shards := make([]shard[R], whole)
	return shards, c.divide(shards, items)
}

// load makes the first view: of the first shards, and of the others, which it
// reads in parallel.
func (c *Catalogue[R, B]) load(ctx context.Context, src Source, first []shard[R], versions []int64) (*View[R], error) {
	shards := make([]shard[R], src.Shards)
	rest := numbers(copy(shards, first), src.Shards)
	if err := c.readShards(ctx, src, shards, rest, versions, true); err != nil {
		return nil, err
	}
	empty := &View[R]{traits: traits[R]{c.opts.ID, c.opts.Order}, shards: make([]shard[R], src.Shards)}
	return empty.replaced(shards).compact(), nil
}

// divide fills shards, the first of a source, from items in the order of keys.
func (c *Catalogue[R, B]) divide(shards []shard[R], items []table.Item) (err error) {
	for i := range shards {
		n, _ := slices.BinarySearchFunc(items, shardPrefix(i)+lastKey, func(item table.Item, sk string) int {
			return strings.Compare(item.SK, sk)
		})
		if shards[i], err = c.decode(shards[i], all(items[:n])); err != nil {
			return err
		}
		items = items[n:]
	}
	return nil
}

// numbers are those from first to before end.
func numbers(first, end int) (all []int) {
	for i := first; i < end; i++ {
		all = append(all, i)
	}
	return all
}

func all(items []table.Item) iter.Seq2[table.Item, error] {
	return func(yield func(table.Item, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
	}
}

// compact moves the rows of a view that nobody else has seen next to each other,
// in the default order: a scan of many rows then takes a third of the time.
func (v *View[R]) compact() *View[R] {
	together := make([]R, len(v.order))
	for i, row := range v.order {
		together[i] = *row
		s := v.shards[Shard(v.id(row), len(v.shards))]
		at, _ := s.find(v.id(row), v.id)
		s.rows[at], v.order[i] = &together[i], &together[i]
	}
	return v
}

// refresh reads the open shards again.
func (c *Catalogue[R, B]) refresh(ctx context.Context, src Source, view *View[R], open []int, versions []int64, again bool) (*View[R], error) {
	shards := slices.Clone(view.shards)
	if err := c.readShards(ctx, src, shards, open, versions, again); err != nil {
		return nil, err
	}
	return view.replaced(shards), nil
}

// readShards replaces those of shards that which lists by what the table holds,
// and, if again, their versions.
func (c *Catalogue[R, B]) readShards(ctx context.Context, src Source, shards []shard[R], which []int, versions []int64, again bool) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(shardsAtOnce)
	for _, i := range which {
		g.Go(table.Safely(func() (err error) {
			shards[i], err = c.readShard(ctx, src, i, shards[i], &versions[i], again)
			return err
		}))
	}
	return g.Wait()
}

// readShard reads the rows of shard i and, if again, its version beside them, so
// that no more than a moment lies between the two however many shards are read. A
// version read before that proves the rows is kept: a later write is none of this
// search's.
func (c *Catalogue[R, B]) readShard(ctx context.Context, src Source, i int, old shard[R], version *int64, again bool) (now shard[R], err error) {
	beside := *version
	g, ctx := errgroup.WithContext(ctx)
	g.Go(table.Safely(func() (err error) {
		prefix := shardPrefix(i)
		now, err = c.decode(old, c.table.Between(ctx, src.Rows, prefix, prefix+lastKey))
		return err
	}))
	if again {
		g.Go(table.Safely(func() (err error) {
			beside, err = c.version(ctx, src, i)
			return err
		}))
	}
	if err := g.Wait(); err != nil {
		return now, err
	}
	if now.sum != *version {
		*version = beside
	}
	return now, nil
}

// version reads the version of one shard; 0 for one without rows.
func (c *Catalogue[R, B]) version(ctx context.Context, src Source, shard int) (int64, error) {
	item, err := c.table.Get(ctx, VersionKey(src, shard))
	if errors.Is(err, table.ErrNotFound) {
		return 0, nil
	}
	return item.Version, err
}

// decode makes a shard of its items. Rows of old that are unchanged are kept, so
// that only what changed is decoded and moved.
func (c *Catalogue[R, B]) decode(old shard[R], items iter.Seq2[table.Item, error]) (shard[R], error) {
	now := shard[R]{rows: make([]*R, 0, len(old.rows)+1)}
	for item, err := range items {
		if err != nil {
			return now, err
		}
		row, err := c.row(old, item)
		if err != nil {
			return now, err
		}
		now.rows = append(now.rows, row)
		now.sum += item.Version * table.Weight(c.opts.ID(row))
		now.bytes += int64(len(item.Data) + int(unsafe.Sizeof(*row)) + rowOverhead)
	}
	return now, nil
}

// rowOverhead is what a row takes beside itself and its text: its two places in
// the view and the rounding of its parts to the allocator's sizes.
const rowOverhead = 64

func (c *Catalogue[R, B]) row(old shard[R], item table.Item) (*R, error) {
	_, id, _ := strings.Cut(item.SK, "#")
	if at, ok := old.find(id, c.opts.ID); ok && c.opts.Version(old.rows[at]) == item.Version {
		return old.rows[at], nil
	}
	row, err := c.opts.Row(item)
	return &row, err
}

// replaced is the view with other shards. A row that both have is the same
// pointer in both, so only the changed ones are looked up and moved.
func (v *View[R]) replaced(shards []shard[R]) *View[R] {
	var out, in []*R
	for i, now := range shards {
		was := v.shards[i]
		if now.sum == was.sum {
			continue // versions only grow, so no row has changed
		}
		for _, row := range now.rows {
			at, ok := was.find(v.id(row), v.id)
			if ok && was.rows[at] == row {
				continue
			}
			if ok {
				out = append(out, was.rows[at])
			}
			in = append(in, row)
		}
	}
	return &View[R]{traits: v.traits, shards: shards, order: splice(v.order, out, in, v.traits.order)}
}
