package catalogue

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"lectern/shared/table"
)

// source is the memory of a Source.
type source[R any] struct {
	Source
	*traits[R]
	table *table.Table
	// lock has room for the caller that compares and reads. A waiting caller can leave.
	lock chan struct{}
	// view is the last whole view that was proven, nil before the first.
	view atomic.Pointer[View[R]]
	// loading reports whether a first page was read.
	loading atomic.Bool

	// The other fields belong to the caller with the lock.

	// shards are the rows as they were read last, proven or not: a load that fails leaves
	// its rows to the next load.
	shards []shard[R]
	// proved are the times of the versions that shards were found to add up to.
	proved  []time.Time
	defects map[int]defect
	// page is the number of whole shards in the first page.
	page int
}

// defect is a shard that did not add up after so many tries.
type defect struct {
	version, sum int64
	tries        int
	until        time.Time
}

// defectTime is the time for which a shard that does not add up is not read again, unless its
// version changes: a refused search must not cost more than another search.
const defectTime = 3 * time.Second

func newSource[R any](src Source, traits *traits[R], t *table.Table) *source[R] {
	return &source[R]{
		Source: src, traits: traits, table: t, lock: make(chan struct{}, 1),
		shards: make([]shard[R], src.Shards), proved: make([]time.Time, src.Shards), defects: map[int]defect{}, page: 1,
	}
}

// take waits for the lock.
func (s *source[R]) take(ctx context.Context) error {
	select {
	case s.lock <- struct{}{}:
		if err := ctx.Err(); err != nil {
			<-s.lock // The caller is gone and would not release the lock.
			return err
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// View returns all rows of src, with every write that was answered before the call, or before
// the ShareVersions of its context. If nothing has changed it costs one Query of the versions,
// and after one write also one row. It returns a 503 if the rows of a shard do not add up to
// its version.
func (c *Catalogue[R, B]) View(ctx context.Context, src Source) (*View[R], error) {
	r, err := c.refresh(ctx, src, effort{tries: settling, whole: src.Shards})
	if err != nil {
		return nil, err
	}
	defer c.release(r.source)
	if len(r.open) > 0 {
		return nil, unsettled("rows", src)
	}
	return r.wholeView(), nil
}

// PartialView returns some rows of src for about the price of one Query, for View.Get only: the
// current shards in memory, and as many more shards as a page has. Further calls return more
// shards. Rows of other shards, and of shards that do not add up, are not found.
func (c *Catalogue[R, B]) PartialView(ctx context.Context, src Source) (*View[R], error) {
	r, err := c.refresh(ctx, src, effort{tries: twice, time: partialTime})
	if err != nil {
		return nil, err
	}
	defer c.release(r.source)
	view := &View[R]{traits: c.traits, shards: slices.Clone(r.shards), partial: true}
	for _, i := range r.open {
		view.shards[i] = shard[R]{}
	}
	return view, nil
}

// twice are the reads of a shard before PartialView leaves the shard out.
var twice = table.Retry{Tries: 2, First: settling.First, Max: settling.Max}

// partialTime limits the reading of rows by PartialView: a search can do without the rows of a
// throttled partition.
const partialTime = time.Second

// effort limits the reading of shards that are not current.
type effort struct {
	// tries are the reads of a shard; whole is the number of shards that are read whole.
	tries table.Retry
	whole int
	// time, unless 0, limits the reading of rows. An error of reading rows then only leaves
	// shards open.
	time time.Duration
}

// limit returns the context for reading rows.
func (e effort) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if e.time == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, e.time)
}

// excuse returns the error of reading rows if the caller needs the rows, or is gone.
func (e effort) excuse(ctx context.Context, err error) error {
	if e.time == 0 || ctx.Err() != nil {
		return err
	}
	return nil
}

// refresh makes the rows of a source current for a caller.
type refresh[R any] struct {
	*source[R]
	effort
	now versions
	// warm reports whether rows were in memory before.
	warm bool
	// open are the shards that are not current at the end.
	open []int
}

// refresh returns the source of src with current rows, except for the open shards. The caller
// must release the source.
func (c *Catalogue[R, B]) refresh(ctx context.Context, src Source, e effort) (*refresh[R], error) {
	s := c.sources.GetOrPut(src, int64(src.Shards)*shardBytes, func() *source[R] { return newSource(src, c.traits, c.table) })
	r := &refresh[R]{source: s, effort: e, warm: s.loading.Load()}
	if err := r.begin(ctx); err != nil {
		return nil, err
	}
	if err := s.take(ctx); err != nil {
		return nil, err
	}
	settled := false
	defer func() {
		if !settled { // An error, or a panic over a damaged row: others must not wait for ever.
			c.release(s)
		}
	}()
	if err := r.settle(ctx); err != nil {
		return nil, err
	}
	settled = true
	return r, nil
}

// release ends the use of a source. A source that was evicted does not replace its newer
// successor.
func (c *Catalogue[R, B]) release(s *source[R]) {
	c.sources.PutBack(s.Source, s, s.bytes())
	<-s.lock
}

// begin reads the versions of the shards and, in parallel, the first page of rows if no rows
// are in memory. Their order does not matter, since sums prove the rows.
func (r *refresh[R]) begin(ctx context.Context) (err error) {
	if r.loading.Load() {
		r.now, err = readVersions(ctx, r.table, r.Source)
		return err
	}
	g, beside := errgroup.WithContext(ctx)
	g.Go(table.Safely(func() (err error) {
		r.now, err = readVersions(beside, r.table, r.Source)
		return err
	}))
	g.Go(table.Safely(func() error {
		within, cancel := r.limit(beside)
		defer cancel()
		return r.excuse(beside, r.firstPage(within))
	}))
	return g.Wait()
}

// wholeView returns the view of all shards, which are proven.
func (s *source[R]) wholeView() *View[R] {
	view := s.view.Load()
	first := view == nil
	if first {
		view = &View[R]{traits: s.traits, shards: make([]shard[R], len(s.shards))}
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

// shardBytes is about the memory of a shard without its rows, in bytes.
const shardBytes = 120

// bytes returns about the memory of a source, in bytes.
func (s *source[R]) bytes() int64 {
	sum := int64(len(s.shards)) * shardBytes
	for i := range s.shards {
		sum += s.shards[i].bytes
	}
	return sum
}
