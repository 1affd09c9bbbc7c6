package catalogue

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"lectern/shared/table"
)

// source is the memory of one Source.
type source[R any] struct {
	// turn has one place, for the caller that compares and reads; a caller can leave
	// while it waits for it.
	turn chan struct{}
	// view is the last whole one that was proven, nil before the first.
	view atomic.Pointer[View[R]]
	// loading reports whether a first page was read.
	loading atomic.Bool

	// The rest belongs to the caller that has the turn.

	// shards are the rows as they were read last, proven or not: a load that fails
	// leaves what it has read to the next one.
	shards []shard[R]
	// proved is when the versions were asked for that a shard was found to add up to.
	proved  []time.Time
	defects map[int]defect
	// page is how many shards one Query of the rows has returned whole.
	page int
}

// defect is a shard that did not add up, and was read so many times.
type defect struct {
	version, sum int64
	tries        int
	until        time.Time
}

// defectTime is how long a shard that does not add up is not read again, unless its
// version changes: a search that is refused must not cost more than one that is not.
const defectTime = 3 * time.Second

func newSource[R any](shards int) *source[R] {
	return &source[R]{
		turn: make(chan struct{}, 1), shards: make([]shard[R], shards), proved: make([]time.Time, shards), defects: map[int]defect{}, page: 1,
	}
}

// take waits for the turn.
func (s *source[R]) take(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		if err := ctx.Err(); err != nil {
			<-s.turn // Nobody could take it any more.
			return err
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// View returns the rows of src as they stand, with every write in them that was
// answered before the call, or before the Together of its context. Warm and unchanged
// it costs one Query of the versions, and after one write one row. It fails with a 503
// when the rows of a shard stay behind their version.
func (c *Catalogue[R, B]) View(ctx context.Context, src Source) (view *View[R], err error) {
	err = c.settled(ctx, src, effort{tries: maxTries, whole: src.Shards}, func(s *source[R], open []int) error {
		if len(open) > 0 {
			return unsettled("rows", src)
		}
		view = c.whole(s)
		return nil
	})
	return view, err
}

// Known returns those rows of src that can be had for about the price of one Query, for
// View.Get alone: of shards in memory that are current, and of as many more as a page
// has. The rows of other shards are not found, nor those of a shard that does not add
// up. As Known is called again, all shards come to be known.
func (c *Catalogue[R, B]) Known(ctx context.Context, src Source) (view *View[R], err error) {
	err = c.settled(ctx, src, effort{tries: knownTries, time: knownTime}, func(s *source[R], open []int) error {
		view = &View[R]{traits: c.traits(), shards: slices.Clone(s.shards), partial: true}
		for _, i := range open {
			view.shards[i] = shard[R]{}
		}
		return nil
	})
	return view, err
}

const (
	// knownTries is how often Known reads a shard before it goes without.
	knownTries = 2
	// knownTime is how long Known reads rows: a search does without those of a
	// partition that is throttled.
	knownTime = time.Second
)

// effort is what a caller does for shards that are not current.
type effort struct {
	// tries is how often a shard is read, and whole how many shards are read whole.
	tries, whole int
	// time, unless it is 0, limits the reading of rows, whose errors then only leave
	// shards open.
	time time.Duration
}

// settled reads the versions of src, makes what is in memory current and calls done
// with it and with the shards that are not.
func (c *Catalogue[R, B]) settled(ctx context.Context, src Source, e effort, done func(*source[R], []int) error) error {
	s := c.sources.GetOrPut(src, int64(src.Shards)*shardBytes, func() *source[R] { return newSource[R](src.Shards) })
	warm := s.loading.Load()
	now, err := c.begin(ctx, src, s, e)
	if err != nil {
		return err
	}
	if err := s.take(ctx); err != nil {
		return err
	}
	defer func() { <-s.turn }()
	// A source that was forgotten, and begun anew meanwhile, must not come back older.
	defer func() {
		c.sources.PutUnless(src, s, s.bytes(), func(other *source[R]) bool { return other != s })
	}()
	open, err := c.settle(ctx, src, s, now, e, warm)
	if err != nil {
		return err
	}
	return done(s, open)
}

// begin reads the versions of the shards and, where no rows were read yet, beside them
// the first page: in which order does not matter, since rows are proven by their sum.
func (c *Catalogue[R, B]) begin(ctx context.Context, src Source, s *source[R], e effort) (now versions, err error) {
	if s.loading.Load() {
		return c.versions(ctx, src)
	}
	g, beside := errgroup.WithContext(ctx)
	g.Go(table.Safely(func() (err error) {
		now, err = c.versions(beside, src)
		return err
	}))
	g.Go(table.Safely(func() error {
		within, cancel := e.limit(beside)
		defer cancel()
		return e.excuse(beside, c.firstPage(within, src, s))
	}))
	return now, g.Wait()
}

// limit gives the context for reading rows.
func (e effort) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if e.time == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, e.time)
}

// excuse returns the error of reading rows where the caller needs them.
func (e effort) excuse(ctx context.Context, err error) error {
	if e.time == 0 || ctx.Err() != nil {
		return err
	}
	return nil
}

// whole returns the view of all shards, which are proven.
func (c *Catalogue[R, B]) whole(s *source[R]) *View[R] {
	view := s.view.Load()
	first := view == nil
	if first {
		view = &View[R]{traits: c.traits(), shards: make([]shard[R], len(s.shards))}
	}
	changed := view.changed(s.shards)
	if !first && !changed {
		return view
	}
	view = view.replaced(slices.Clone(s.shards))
	if first {
		view.compact()
		copy(s.shards, view.shards)
	}
	s.view.Store(view)
	return view
}

func (c *Catalogue[R, B]) traits() traits[R] {
	return traits[R]{c.opts.ID, c.opts.Order, c.opts.Compact}
}

// shardBytes is about what a shard takes in memory without its rows: its place in the
// source and in the last view, and its time in proved.
const shardBytes = 120

// bytes is about what a source takes in memory.
func (s *source[R]) bytes() int64 {
	sum := int64(len(s.shards)) * shardBytes
	for i := range s.shards {
		sum += s.shards[i].bytes
	}
	return sum
}

// stays reports whether the shard was found so before.
func (d defect) stays(version, sum int64) bool { return d.version == version && d.sum == sum }

// blame remembers the shards that did not add up after so many tries. It logs a shard
// that surely does not: after all tries, or found the same again later.
func (c *Catalogue[R, B]) blame(ctx context.Context, src Source, s *source[R], open []int, now versions, tries int) {
	for _, i := range open {
		version, sum := now.shards[i].Version, s.shards[i].sum
		before, again := s.defects[i]
		s.defects[i] = defect{version, sum, tries, time.Now().Add(defectTime)}
		if (tries == maxTries || again && before.stays(version, sum)) && c.table.Log != nil {
			c.table.Log.ErrorContext(ctx, "the rows of a shard do not add up to its version", "metric", "shard_mismatch",
				"partition", src.Rows, "versions", src.Versions, "family", src.Family, "shard", shardPrefix(i)[:2], "version", version, "sum", sum)
		}
	}
}
