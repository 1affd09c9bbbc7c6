package catalogue

import (
	"context"
	"sync"
	"time"

	"lectern/shared/table"
)

// flightTime bounds the reading for one flight: as long as a caller can wait for
// its answer at all.
const flightTime = 30 * time.Second

// source is what is remembered of one Source.
type source[R any] struct {
	mu sync.Mutex
	// view is nil until the rows were loaded once.
	view *View[R]
	// running is being read; whoever comes meanwhile waits for next, since what
	// is being read may miss a write that was answered before they came.
	running, next *flight[R]
}

// flight is one validation of a source, shared by all who asked before it began.
type flight[R any] struct {
	ctx    context.Context
	cancel context.CancelFunc
	// waiting counts those aboard, guarded by the source's mu.
	waiting int
	done    chan struct{}
	view    *View[R]
	err     error
}

// newFlight goes on when the caller that started it goes away, while others wait
// for it.
func newFlight[R any](ctx context.Context) *flight[R] {
	f := &flight[R]{done: make(chan struct{})}
	f.ctx, f.cancel = context.WithCancel(context.WithoutCancel(ctx)) //nolint:gosec // read calls it, or leave
	return f
}

// View gives the rows of src as they stand, with every write in them that was
// answered before the call. Warm and unchanged it costs one Query of the versions,
// shared by simultaneous callers. It fails with a 503 when the rows stay behind
// their versions.
func (c *Catalogue[R, B]) View(ctx context.Context, src Source) (*View[R], error) {
	s := c.sources.getOrPut(src, func() *source[R] { return &source[R]{} })
	f := s.board(ctx, func(ctx context.Context, view *View[R]) (*View[R], error) {
		now, err := c.current(ctx, src, view)
		if err == nil && now != view {
			// One that was forgotten, and begun anew meanwhile, must not come back older.
			c.sources.putUnless(src, s, now.bytes(), func(other *source[R]) bool { return other != s })
		}
		return now, err
	})
	select {
	case <-f.done:
		return f.view, f.err
	case <-ctx.Done():
		s.leave(f)
		return nil, ctx.Err()
	}
}

// Loaded is whether the rows of src are in memory, so that a View of them costs
// no more than its validation.
func (c *Catalogue[R, B]) Loaded(src Source) bool { return c.remembered(src) != nil }

type validation[R any] func(context.Context, *View[R]) (*View[R], error)

// board gives the first flight that starts from now on.
func (s *source[R]) board(ctx context.Context, validate validation[R]) *flight[R] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		s.running = newFlight[R](ctx)
		s.running.waiting++
		go s.fly(s.running, s.view, validate)
		return s.running
	}
	if s.next == nil {
		s.next = newFlight[R](ctx)
	}
	s.next.waiting++
	return s.next
}

// leave ends a flight that nobody waits for any more: it may hang, and would hold
// up the next one.
func (s *source[R]) leave(f *flight[R]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.waiting--; f.waiting > 0 {
		return
	}
	f.cancel()
	if s.next == f {
		s.next = nil
	}
}

// fly makes flights until nobody waits for another.
func (s *source[R]) fly(f *flight[R], view *View[R], validate validation[R]) {
	for f != nil {
		f.read(view, validate)
		f, view = s.land(f)
	}
}

// read makes one flight.
func (f *flight[R]) read(view *View[R], validate validation[R]) {
	ctx, cancel := context.WithTimeout(f.ctx, flightTime)
	defer cancel()
	defer f.cancel()
	f.err = table.Safely(func() (err error) {
		f.view, err = validate(ctx, view)
		return err
	})()
}

// land tells the waiting that f is done, and gives the next flight and the view
// it starts from.
func (s *source[R]) land(f *flight[R]) (*flight[R], *View[R]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.err == nil {
		s.view = f.view
	}
	close(f.done)
	s.running, s.next = s.next, nil
	return s.running, s.view
}
