// Package sweeper sends due attempts and the parts of replays from the table to the deliverer
// (decision 33). A schedule invokes the sweeper each minute, on one machine each second.
package sweeper

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"time"

	"lectern/shared/bus"
	"lectern/shared/delivery"
	"lectern/shared/table"
)

// most is the time of an invocation after which no further minute, chunk of tasks or part of a replay
// begins. The next invocation goes on.
const most = 30 * time.Second

// atOnce is the number of tasks that are sent before their due items are removed.
const atOnce = table.MaxWrites

// Sweeper sends due items. Several sweepers may run at once and send an item twice; the deliverer
// drops the second message.
type Sweeper struct {
	deliveries bus.Queue
	store      delivery.Store
	log        *slog.Logger
}

// New returns a Sweeper that sends to the queue of the deliverer.
func New(t *table.Table, now func() time.Time, log *slog.Logger, deliveries bus.Queue) *Sweeper {
	return &Sweeper{deliveries: deliveries, store: delivery.Store{Table: t, Now: now}, log: log}
}

// sweep is one invocation.
type sweep struct {
	*Sweeper
	until                  time.Time
	minutes, tasks, replay int
	// open is the first minute that has unsent items.
	open int64
	// failed joins the errors. damaged counts the items that were left out; damage is the first error.
	failed, damage error
	damaged        int
}

// begin returns an invocation that ends at a time.
func (s *Sweeper) begin(until time.Time) *sweep {
	return &sweep{Sweeper: s, until: until, open: math.MaxInt64}
}

// Invoke sends the due items from the first minute without a finished sweep to now.
func (s *Sweeper) Invoke(ctx context.Context) error {
	sw := s.begin(time.Now().Add(most))
	sw.run(ctx)
	sw.note(ctx)
	return sw.failed
}

// note writes the line of the log about the invocation, unless nothing was due.
func (s *sweep) note(ctx context.Context) {
	err := errors.Join(s.failed, s.damage)
	if err == nil && s.tasks+s.replay == 0 {
		return
	}
	level, counts := slog.LevelInfo, []slog.Attr{
		slog.Int("minutes", s.minutes), slog.Int("sent", s.tasks), slog.Int("replayed", s.replay), slog.Int("damaged", s.damaged),
	}
	if err != nil {
		level, counts = slog.LevelError, append(counts, slog.String("metric", "sweep_failed"), slog.Any("error", err))
	}
	s.log.LogAttrs(ctx, level, "swept", counts...)
}

// run sends the tasks of minute after minute, and then the replays of all minutes: a long replay
// delays no task. The next invocation begins with the first minute that was not finished.
func (s *sweep) run(ctx context.Context) {
	progress, ever, err := s.store.Begin(ctx)
	if err != nil || !ever {
		s.failed = err
		return
	}
	var replays []delivery.DueItem
	minute := progress.Minute
	for ; minute <= s.store.Last() && s.hasTime(); minute++ {
		replays = append(replays, s.minute(ctx, minute)...)
		s.minutes++
	}
	s.replays(ctx, replays)
	s.failed = errors.Join(s.failed, s.store.Advance(ctx, progress, min(minute, s.open)))
}

// hasTime reports whether something further may begin.
func (s *sweep) hasTime() bool { return time.Now().Before(s.until) }

// keep keeps a minute for the next invocation.
func (s *sweep) keep(minute int64) { s.open = min(s.open, minute) }

// fail keeps the minute of items that were not sent, and joins the error. Later items are still sent.
func (s *sweep) fail(minute int64, err error) {
	s.keep(minute)
	s.failed = errors.Join(s.failed, err)
}

// count counts the damaged items of an error, and returns any other error. Damaged items do not keep
// their minute: no invocation can send them.
func (s *sweep) count(err error) error {
	var damage *delivery.DamagedError
	if !errors.As(err, &damage) {
		return err
	}
	if s.damage == nil {
		s.damage = damage
	}
	s.damaged += damage.Items
	return nil
}

// minute sends the due tasks of a minute in chunks, and returns its replays.
func (s *sweep) minute(ctx context.Context, minute int64) (replays []delivery.DueItem) {
	items, err := s.store.DueIn(ctx, minute)
	if err := s.count(err); err != nil {
		s.fail(minute, err)
		return nil
	}
	var tasks []delivery.DueItem
	for _, d := range items {
		if d.Replay != nil {
			replays = append(replays, d)
		} else {
			tasks = append(tasks, d)
		}
	}
	for some := range slices.Chunk(tasks, atOnce) {
		if !s.hasTime() {
			s.keep(minute)
			break
		}
		if err := s.chunk(ctx, some); err != nil {
			s.fail(minute, err)
		}
	}
	return replays
}

// chunk sends the tasks of items, and then removes the items.
func (s *sweep) chunk(ctx context.Context, items []delivery.DueItem) error {
	tasks := make([]delivery.Task, len(items))
	for i, d := range items {
		tasks[i] = d.Task
	}
	if err := delivery.Send(ctx, s.deliveries, tasks); err != nil {
		return err
	}
	s.tasks += len(tasks)
	return s.store.Done(ctx, items)
}

// replays sends one part of each replay in rotation, until all replays or the time have ended. A
// replay that fails does not delay the others.
func (s *sweep) replays(ctx context.Context, waiting []delivery.DueItem) {
	for ; len(waiting) > 0 && s.hasTime(); waiting = waiting[1:] {
		next, err := s.part(ctx, waiting[0])
		switch {
		case err != nil:
			s.fail(waiting[0].Minute(), err)
		case next != nil:
			waiting = append(waiting, *next)
		}
	}
	for _, d := range waiting {
		s.keep(d.Minute())
	}
}

// part sends the next part of a replay, and then puts the item of the following part, which is due
// at once. It returns that item; nil after the last part.
func (s *sweep) part(ctx context.Context, d delivery.DueItem) (*delivery.DueItem, error) {
	tasks, next, err := s.store.Part(ctx, d)
	if err := s.count(err); err != nil {
		return nil, err
	}
	if err := delivery.Send(ctx, s.deliveries, tasks); err != nil {
		return nil, err
	}
	s.replay += len(tasks)
	return next, s.store.Move(ctx, d, next)
}
