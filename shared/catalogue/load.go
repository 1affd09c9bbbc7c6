package catalogue

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"
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

// settle makes the shards of s current and returns those that it could not. Rows are
// trusted only where they add up to exactly their shard's version, read since the
// caller came: more, less or another record's share is a write that is not yet wholly
// visible. A shard that needs no reading twice costs none.
func (c *Catalogue[R, B]) settle(ctx context.Context, src Source, s *source[R], now versions, e effort, warm bool) (open []int, err error) {
	open, bad := s.sift(s.open(now), now, e)
	if e.time == 0 && len(bad) > 0 {
		return bad, nil
	}
	within, cancel := e.limit(ctx)
	defer cancel()
	if open, err = c.catchUp(within, src, s, open, now); e.excuse(ctx, err) != nil {
		return nil, err
	}
	if e.time > 0 && warm {
		e.whole = s.page
	}
	some := min(len(open), e.whole)
	open, left := open[:some], open[some:]
	for try := 0; len(open) > 0 && try < e.tries; try++ {
		if err = pauses.Wait(within, try); err == nil {
			// The versions were read just now when the first try begins.
			err = c.readShards(within, src, s, open, now, try > 0)
		}
		if err != nil {
			return s.open(now), e.excuse(ctx, err)
		}
		open = slices.DeleteFunc(open, func(i int) bool { return s.current(i, now) })
	}
	c.blame(ctx, src, s, open, now, e.tries)
	return slices.Concat(bad, left, open), nil
}

// current reports whether what is in memory of shard i adds up to its version, or was
// found to since the caller came.
func (s *source[R]) current(i int, now versions) bool {
	if s.shards[i].sum != now.shards[i].Version {
		return s.proved[i].After(now.came)
	}
	if now.asked.After(s.proved[i]) {
		s.proved[i] = now.asked
	}
	delete(s.defects, i)
	return true
}

// open returns the shards that are not current.
func (s *source[R]) open(now versions) (open []int) {
	for i := range s.shards {
		if !s.current(i, now) {
			open = append(open, i)
		}
	}
	return open
}

// sift divides shards into those worth reading, and those that did not add up a moment
// ago for a caller who tried as hard.
func (s *source[R]) sift(all []int, now versions, e effort) (worth, bad []int) {
	for _, i := range all {
		d, ok := s.defects[i]
		if ok && d.stays(now.shards[i].Version, s.shards[i].sum) && d.tries >= e.tries && now.came.Before(d.until) {
			bad = append(bad, i)
		} else {
			worth = append(worth, i)
		}
	}
	return worth, bad
}

// catchUp reads with one batch the rows of shards that lack writes of one record alone,
// the last that their versions name, and returns the shards that are not current then.
func (c *Catalogue[R, B]) catchUp(ctx context.Context, src Source, s *source[R], open []int, now versions) (still []int, err error) {
	keys := make(map[int]table.Key, len(open))
	var all []table.Key
	for _, i := range open {
		version := now.shards[i]
		behind := version.Version - s.shards[i].sum
		if version.Last != "" && behind > 0 && behind%table.Weight(version.Last) == 0 {
			keys[i] = RowKey(src, version.Last)
			all = append(all, keys[i])
		}
	}
	if len(all) == 0 {
		return open, nil
	}
	items, err := c.table.GetMany(ctx, all)
	for _, i := range open {
		if item, ok := items[keys[i]]; ok {
			patched, decodeErr := c.patched(s.shards[i], item)
			if decodeErr != nil {
				return open, decodeErr
			}
			if patched.sum == now.shards[i].Version {
				s.shards[i], s.proved[i] = patched, now.asked
				continue
			}
		}
		still = append(still, i)
	}
	return still, err
}

// patched returns a shard with another row of a record, or one more.
func (c *Catalogue[R, B]) patched(old shard[R], item table.Item) (shard[R], error) {
	row, err := c.row(old, item)
	if err != nil {
		return old, err
	}
	id := c.opts.ID(row)
	now := shard[R]{rows: slices.Clone(old.rows), sum: old.sum + item.Version*table.Weight(id), bytes: old.bytes}
	at, ok := now.find(id, c.opts.ID)
	if ok {
		now.sum -= c.opts.Version(old.rows[at]) * table.Weight(id)
		now.rows[at] = row
	} else {
		now.bytes += rowBytes[R](item)
		now.rows = slices.Insert(now.rows, at, row)
	}
	return now, nil
}

// firstPage reads rows with one Query, unless that was done, and keeps the shards that
// it holds whole, from the first on: all of them if one page is enough.
func (c *Catalogue[R, B]) firstPage(ctx context.Context, src Source, s *source[R]) error {
	if err := s.take(ctx); err != nil {
		return err
	}
	defer func() { <-s.turn }()
	if s.loading.Load() {
		return nil
	}
	items, more, last, err := c.table.Page(ctx, src.Rows, shardPrefix(0), lastKey)
	if err != nil {
		return err
	}
	whole := src.Shards
	if more {
		digits, _, _ := strings.Cut(last, "#")
		shard, err := strconv.ParseUint(digits, 16, 8)
		if err != nil {
			return fmt.Errorf("catalogue: %s %s is in no shard: %w", src.Rows, last, err)
		}
		whole = min(int(shard), src.Shards) // Rows behind the last shard count nowhere.
	}
	if err := c.divide(s.shards[:whole], items); err != nil {
		return err
	}
	s.page = max(1, whole)
	s.loading.Store(true)
	return nil
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

func all(items []table.Item) iter.Seq2[table.Item, error] {
	return func(yield func(table.Item, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
	}
}

// readShards replaces the shards that which lists by what the table holds and, if
// again, their versions. After an error no further shard is begun, and those that were
// begun are still kept. Until they are found to add up, nothing proves them: not what
// was proven of the rows that they replace.
func (c *Catalogue[R, B]) readShards(ctx context.Context, src Source, s *source[R], which []int, now versions, again bool) error {
	g, failed := errgroup.WithContext(ctx)
	g.SetLimit(shardsAtOnce)
	for _, i := range which {
		s.proved[i] = time.Time{}
		g.Go(table.Safely(func() error {
			if err := failed.Err(); err != nil {
				return err
			}
			return c.readShard(ctx, src, i, &s.shards[i], &now.shards[i], again)
		}))
	}
	return g.Wait()
}

// readShard reads the rows of shard i and, if again, its version beside them, so that
// no more than a moment lies between the two however many shards are read. A version
// read before that proves the rows is kept: a later write is none of this search's.
func (c *Catalogue[R, B]) readShard(ctx context.Context, src Source, i int, held *shard[R], version *table.Item, again bool) error {
	beside := *version
	now := *held
	g, ctx := errgroup.WithContext(ctx)
	g.Go(table.Safely(func() (err error) {
		prefix := shardPrefix(i)
		now, err = c.decode(*held, c.table.Between(ctx, src.Rows, prefix, prefix+lastKey))
		return err
	}))
	if again {
		g.Go(table.Safely(func() (err error) {
			beside, err = c.version(ctx, src, i)
			return err
		}))
	}
	if err := g.Wait(); err != nil {
		return err
	}
	*held = now
	if now.sum != version.Version {
		*version = beside
	}
	return nil
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
		now.bytes += rowBytes[R](item)
	}
	return now, nil
}

// rowOverhead is what a row takes beside itself and its text: its two places in
// the view and the rounding of its parts to the allocator's sizes.
const rowOverhead = 64

// rowBytes is about what the row of an item takes in memory.
func rowBytes[R any](item table.Item) int64 {
	var row R
	return int64(len(item.Data) + int(unsafe.Sizeof(row)) + rowOverhead)
}

func (c *Catalogue[R, B]) row(old shard[R], item table.Item) (*R, error) {
	_, id, _ := strings.Cut(item.SK, "#")
	if at, ok := old.find(id, c.opts.ID); ok && c.opts.Version(old.rows[at]) == item.Version {
		return old.rows[at], nil
	}
	row, err := c.opts.Row(item)
	return &row, err
}
