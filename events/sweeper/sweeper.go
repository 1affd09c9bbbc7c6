// Package sweeper sends due attempts and the parts of replays from the table to the deliverer
// (decision 33). A schedule invokes the sweeper each minute, on one machine each second.
package sweeper

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"lectern/shared/bus"
	"lectern/shared/delivery"
	"lectern/shared/table"
)

// most is the time of an invocation after which no further minute and no further part of a replay
// begins. The next invocation goes on.
const most = 30 * time.Second

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
}

// Invoke sends the due items from the first minute without a finished sweep to now.
func (s *Sweeper) Invoke(ctx context.Context) error {
	sw := &sweep{Sweeper: s, until: time.Now().Add(most)}
	err := sw.run(ctx)
	if err != nil || sw.tasks+sw.replay > 0 {
		level, counts := slog.LevelInfo, []slog.Attr{
			slog.Int("minutes", sw.minutes), slog.Int("sent", sw.tasks), slog.Int("replayed", sw.replay),
		}
		if err != nil {
			level, counts = slog.LevelError, append(counts, slog.String("metric", "sweep_failed"), slog.Any("error", err))
		}
		s.log.LogAttrs(ctx, level, "swept", counts...)
	}
	return err
}

// run sweeps minute after minute. A failed minute does not hold up later minutes. The next invocation
// begins with the failed minute.
func (s *sweep) run(ctx context.Context) error {
	progress, ever, err := s.store.Begin(ctx)
	if err != nil || !ever {
		return err
	}
	var failed error
	minute, swept := progress.Minute, progress.Minute
	for ; minute <= s.store.Last() && time.Now().Before(s.until); minute++ {
		if err := s.minute(ctx, minute); err != nil {
			failed = errors.Join(failed, err)
		}
		if failed == nil {
			swept = minute + 1
		}
		s.minutes++
	}
	return errors.Join(failed, s.store.Advance(ctx, progress, swept))
}

// minute sends the due items of a minute, and then removes them.
func (s *sweep) minute(ctx context.Context, minute int64) error {
	items, err := s.store.DueIn(ctx, minute)
	if err != nil {
		return err
	}
	var sent []delivery.DueItem
	var tasks []delivery.Task
	for _, d := range items {
		if d.Replay != nil {
			if err := s.part(ctx, d); err != nil {
				return err
			}
			continue
		}
		sent, tasks = append(sent, d), append(tasks, d.Task)
	}
	if err := s.send(ctx, tasks); err != nil {
		return err
	}
	s.tasks += len(tasks)
	return s.store.Done(ctx, sent)
}

// part sends the next part of a replay, and then puts the item of the following part, which is due
// at once.
func (s *sweep) part(ctx context.Context, d delivery.DueItem) error {
	tasks, next, err := s.store.Part(ctx, d)
	if err != nil {
		return err
	}
	if err := s.send(ctx, tasks); err != nil {
		return err
	}
	s.replay += len(tasks)
	if err := s.store.Move(ctx, d, next); err != nil || next == nil || !time.Now().Before(s.until) {
		return err
	}
	return s.part(ctx, *next)
}

// send sends tasks to the deliverer.
func (s *sweep) send(ctx context.Context, tasks []delivery.Task) error {
	if len(tasks) == 0 {
		return nil
	}
	posts := make([]bus.Post, len(tasks))
	for i, t := range tasks {
		var err error
		if posts[i], err = t.Post(0); err != nil {
			return err
		}
	}
	return s.deliveries.Send(ctx, posts...)
}
