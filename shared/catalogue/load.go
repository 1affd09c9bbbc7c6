package catalogue

import (
	"context"
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
// write answered before current was called.
func (c *Catalogue[R, B]) current(ctx context.Context, src Source, view *View[R]) (*View[R], error) {
	versions, view, err := c.begin(ctx, src, view)
	if err != nil {
		return nil, err
	}
	for try := range maxTries {
		stale := view.stale(versions)
		if len(stale) == 0 {
			return view, nil
		}
		if err := pause(ctx, try); err != nil {
			return nil, err
		}
		if view, err = c.refresh(ctx, src, view, stale); err != nil {
			return nil, err
		}
	}
	if len(view.stale(versions)) > 0 {
		return nil, behind("rows", src)
	}
	return view, nil
}

// begin reads the versions of the shards and, when there is no view yet, beside
// them the rows: in which order does not matter, since a view is measured by the
// rows it holds.
func (c *Catalogue[R, B]) begin(ctx context.Context, src Source, view *View[R]) (versions []int64, _ *View[R], err error) {
	g, ctx := errgroup.WithContext(ctx)
	if view == nil {
		g.Go(func() (err error) {
			view, err = c.load(ctx, src)
			return err
		})
	}
	g.Go(func() (err error) {
		versions, err = c.versions(ctx, src)
		return err
	})
	return versions, view, g.Wait()
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

// stale are the shards whose rows do not yet add up to their versions.
func (v *View[R]) stale(versions []int64) (stale []int) {
	for i, s := range v.shards {
		if s.sum < versions[i] {
			stale = append(stale, i)
		}
	}
	return stale
}

// load reads all rows: with one Query if one page holds them, else the shards
// that the page does not hold whole in parallel.
func (c *Catalogue[R, B]) load(ctx context.Context, src Source) (*View[R], error) {
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
	shards := make([]shard[R], src.Shards)
	if err := c.divide(shards[:whole], items); err != nil {
		return nil, err
	}
	if err := c.readShards(ctx, src, shards, numbers(whole, src.Shards)); err != nil {
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

// refresh reads the stale shards again.
func (c *Catalogue[R, B]) refresh(ctx context.Context, src Source, view *View[R], stale []int) (*View[R], error) {
	shards := slices.Clone(view.shards)
	if err := c.readShards(ctx, src, shards, stale); err != nil {
		return nil, err
	}
	return view.replaced(shards), nil
}

// readShards replaces those of shards that which lists by what the table holds.
func (c *Catalogue[R, B]) readShards(ctx context.Context, src Source, shards []shard[R], which []int) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(shardsAtOnce)
	for _, i := range which {
		g.Go(func() (err error) {
			prefix := shardPrefix(i)
			shards[i], err = c.decode(shards[i], c.table.Between(ctx, src.Rows, prefix, prefix+lastKey))
			return err
		})
	}
	return g.Wait()
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
		now.sum += item.Version
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
