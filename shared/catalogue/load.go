package catalogue

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sync/errgroup"

	"lectern/shared/table"
)

const (
	// lastKey is greater than every sort key of a row, and than every id, which consists of
	// hexadecimal digits and dashes.
	lastKey = "~"
	// shardsAtOnce is the number of shards that are read in parallel.
	shardsAtOnce = 8
)

// settle makes the shards current and sets open to the other shards. A shard is current only
// if its rows add up to exactly its version, read since the caller came. Any other sum
// shows a write that is not yet wholly visible.
func (r *refresh[R]) settle(ctx context.Context) (err error) {
	stale, bad := r.sift(r.stale(r.all()))
	if r.open = bad; r.time == 0 && len(bad) > 0 {
		return nil
	}
	within, cancel := r.limit(ctx)
	defer cancel()
	if stale, err = r.catchUp(within, stale); r.excuse(ctx, err) != nil {
		return err
	}
	if r.time > 0 && r.warm {
		r.whole = r.page
	}
	some := min(len(stale), r.whole)
	stale, left := stale[:some], stale[some:]
	if stale, err = r.readUntilCurrent(within, stale); err != nil {
		r.open = r.stale(r.all())
		return r.excuse(ctx, err)
	}
	r.blame(ctx, stale)
	r.open = slices.Concat(bad, left, stale)
	return nil
}

// readUntilCurrent reads the stale shards until all are current, or the tries end. It returns
// the shards that are still not current.
func (r *refresh[R]) readUntilCurrent(ctx context.Context, stale []int) ([]int, error) {
	if len(stale) == 0 {
		return nil, nil
	}
	for try, err := range r.tries.Each(ctx) {
		if err == nil {
			// Before the first try the versions were read just now.
			err = r.readShards(ctx, stale, try > 0)
		}
		if err != nil {
			return nil, err
		}
		if stale = r.stale(stale); len(stale) == 0 {
			break
		}
	}
	return stale, nil
}

// current reports whether the rows of shard i add up to its version, or were found to add up
// since the caller came.
func (r *refresh[R]) current(i int) bool {
	if r.shards[i].sum != r.now.shards[i].Version {
		return r.proved[i].After(r.now.came)
	}
	if r.now.asked.After(r.proved[i]) {
		r.proved[i] = r.now.asked
	}
	delete(r.defects, i)
	return true
}

// all returns the numbers of all shards.
func (s *source[R]) all() []int {
	all := make([]int, len(s.shards))
	for i := range all {
		all[i] = i
	}
	return all
}

// stale returns the shards of some that are not current.
func (r *refresh[R]) stale(some []int) (stale []int) {
	for _, i := range some {
		if !r.current(i) {
			stale = append(stale, i)
		}
	}
	return stale
}

// sift separates the shards that a caller with as many tries found bad a moment ago.
func (r *refresh[R]) sift(stale []int) (others, bad []int) {
	for _, i := range stale {
		d, ok := r.defects[i]
		if ok && r.same(i, d) && d.tries >= r.tries.Tries && r.now.came.Before(d.until) {
			bad = append(bad, i)
		} else {
			others = append(others, i)
		}
	}
	return others, bad
}

// same reports whether shard i has the version and the sum of a defect.
func (r *refresh[R]) same(i int, d defect) bool {
	return d.version == r.now.shards[i].Version && d.sum == r.shards[i].sum
}

// blame remembers the shards that did not add up after all tries. It logs a shard that was
// read as often as a View does, or was found the same before.
func (r *refresh[R]) blame(ctx context.Context, stale []int) {
	for _, i := range stale {
		version, sum := r.now.shards[i].Version, r.shards[i].sum
		before, again := r.defects[i]
		again = again && r.same(i, before)
		r.defects[i] = defect{version, sum, r.tries.Tries, time.Now().Add(defectTime)}
		if (r.tries.Tries == settling.Tries || again) && r.table.Log != nil {
			r.table.Log.ErrorContext(ctx, "the rows of a shard do not add up to its version", "metric", "shard_mismatch",
				"partition", r.Rows, "versions", r.Versions, "family", r.Family, "shard", shardPrefix(i)[:2], "version", version, "sum", sum)
		}
	}
}

// catchUp reads with one batch the last row of each shard that lacks only writes of the record
// that its version names. It returns the shards that are still stale.
func (r *refresh[R]) catchUp(ctx context.Context, stale []int) (still []int, err error) {
	keys := make(map[int]table.Key, len(stale))
	var all []table.Key
	for _, i := range stale {
		version := r.now.shards[i]
		behind := version.Version - r.shards[i].sum
		if version.Last != "" && behind > 0 && behind%table.Weight(version.Last) == 0 {
			keys[i] = RowKey(r.Source, version.Last)
			all = append(all, keys[i])
		}
	}
	if len(all) == 0 {
		return stale, nil
	}
	items, err := r.table.GetMany(ctx, all)
	for _, i := range stale {
		if item, ok := items[keys[i]]; ok {
			patched, decodeErr := r.patched(r.shards[i], item)
			if decodeErr != nil {
				return stale, decodeErr
			}
			if patched.sum == r.now.shards[i].Version {
				r.shards[i], r.proved[i] = patched, r.now.asked
				continue
			}
		}
		still = append(still, i)
	}
	return still, err
}

// patched returns a shard with one row replaced or added.
func (t *traits[R]) patched(old shard[R], item table.Item) (shard[R], error) {
	row, err := t.decode(old, item)
	if err != nil {
		return old, err
	}
	id := t.id(row)
	now := shard[R]{rows: slices.Clone(old.rows), sum: old.sum + item.Version*table.Weight(id), bytes: old.bytes}
	at, ok := now.find(id, t.id)
	if ok {
		now.sum -= t.version(old.rows[at]) * table.Weight(id)
		now.rows[at] = row
	} else {
		now.bytes += rowBytes[R](item)
		now.rows = slices.Insert(now.rows, at, row)
	}
	return now, nil
}

// firstPage reads rows with one Query, unless rows are in memory, and keeps the shards that the
// page holds whole.
func (s *source[R]) firstPage(ctx context.Context) error {
	if err := s.take(ctx); err != nil {
		return err
	}
	defer func() { <-s.lock }()
	if s.loading.Load() {
		return nil
	}
	items, more, last, err := s.table.Page(ctx, s.Rows, shardPrefix(0), lastKey)
	if err != nil {
		return err
	}
	whole := s.Shards
	if more {
		digits, _, _ := strings.Cut(last, "#")
		shard, err := strconv.ParseUint(digits, 16, 8)
		if err != nil {
			return fmt.Errorf("catalogue: %s %s is in no shard: %w", s.Rows, last, err)
		}
		whole = min(int(shard), s.Shards) // Rows behind the last shard do not count.
	}
	for i := range whole {
		now, end := shard[R]{}, shardPrefix(i)+lastKey
		for len(items) > 0 && items[0].SK < end {
			if err := s.add(&now, s.shards[i], items[0]); err != nil {
				return err
			}
			items = items[1:]
		}
		s.shards[i] = now
	}
	s.page = max(1, whole)
	s.loading.Store(true)
	return nil
}

// readShards reads the rows of stale shards and, if again, their versions. After an error it
// begins no further shard, and keeps the shards that were read. A shard that is read anew is
// not proven until its rows add up.
func (r *refresh[R]) readShards(ctx context.Context, stale []int, again bool) error {
	g, failed := errgroup.WithContext(ctx)
	g.SetLimit(shardsAtOnce)
	for _, i := range stale {
		r.proved[i] = time.Time{}
		g.Go(table.Safely(func() error {
			if err := failed.Err(); err != nil {
				return err
			}
			return r.readShard(ctx, i, again)
		}))
	}
	return g.Wait()
}

// readShard reads the rows of shard i and, if again, the version in parallel. If the rows add
// up to the version that was read before, that version stays: a later write is not part of
// this search.
func (r *refresh[R]) readShard(ctx context.Context, i int, again bool) error {
	beside, now := r.now.shards[i], shard[R]{}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(table.Safely(func() error {
		prefix := shardPrefix(i)
		for item, err := range r.table.Between(ctx, r.Rows, prefix, prefix+lastKey) {
			if err == nil {
				err = r.add(&now, r.shards[i], item)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}))
	if again {
		g.Go(table.Safely(func() (err error) {
			beside, err = readVersion(ctx, r.table, r.Source, i)
			return err
		}))
	}
	if err := g.Wait(); err != nil {
		return err
	}
	r.shards[i] = now
	if now.sum != r.now.shards[i].Version {
		r.now.shards[i] = beside
	}
	return nil
}

// add appends the row of an item to a shard that replaces old.
func (t *traits[R]) add(now *shard[R], old shard[R], item table.Item) error {
	row, err := t.decode(old, item)
	if err != nil {
		return err
	}
	if now.rows == nil {
		now.rows = make([]*R, 0, len(old.rows)+1)
	}
	now.rows = append(now.rows, row)
	now.sum += item.Version * table.Weight(t.id(row))
	now.bytes += rowBytes[R](item)
	return nil
}

// decode returns the row of an item, or the same row of the old shard if its version has not
// changed.
func (t *traits[R]) decode(old shard[R], item table.Item) (*R, error) {
	_, id, _ := strings.Cut(item.SK, "#")
	if at, ok := old.find(id, t.id); ok && t.version(old.rows[at]) == item.Version {
		return old.rows[at], nil
	}
	row, err := t.row(item)
	return &row, err
}

// rowOverhead is about the memory of a row beside itself and its text: two pointers in the
// view, and the rounding of sizes by the allocator.
const rowOverhead = 64

// rowBytes returns about the memory of the row of an item, in bytes.
func rowBytes[R any](item table.Item) int64 {
	var row R
	return int64(len(item.Data) + int(unsafe.Sizeof(row)) + rowOverhead)
}
