package delivery

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"lectern/shared/bus"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Limits of a stored delivery: an item stays below 40 KB.
const (
	maxAttempts = 16
	maxResponse = 2 << 10
	maxError    = 300
)

// Outcome is the result of an attempt.
type Outcome struct {
	At time.Time
	// Status is the status of the answer; 0 without an answer.
	Status  int
	Latency time.Duration
	// Response is the beginning of the answer, Error says why there is no answer.
	Response, Error string
	// Withheld reports whether the attempt was not sent.
	Withheld bool
	// RetryAfter is the wait that the receiver asks for; 0 without.
	RetryAfter time.Duration
}

// NotSent is the error of an attempt that the breaker withholds.
const NotSent = "Not sent: the endpoint is failing."

// Succeeded reports whether the receiver took the delivery.
func (o Outcome) Succeeded() bool { return o.Status/100 == http.StatusOK/100 }

// Gone reports whether the receiver wants nothing more.
func (o Outcome) Gone() bool { return o.Status == http.StatusGone }

// attempt returns the outcome as stored.
func (o Outcome) attempt() Attempt {
	a := Attempt{At: wire.At(o.At), LatencyMS: o.Latency.Milliseconds()}
	if o.Status != 0 {
		response := cut(o.Response, maxResponse)
		a.Status, a.Response = &o.Status, &response
	}
	if o.Error != "" {
		text := cut(o.Error, maxError)
		a.Error = &text
	}
	return a
}

// cut returns the beginning of a text as valid UTF-8 of at most limit bytes.
func cut(text string, limit int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// Open reads the delivery of a task; nil if there is none.
func (s Store) Open(ctx context.Context, t Task) (*Work, error) {
	return s.open(ctx, t.Org, t.Endpoint, t.ID)
}

func (s Store) open(ctx context.Context, org int64, endpoint, id string) (*Work, error) {
	item, err := s.Table.Get(ctx, key(org, endpoint, id))
	if errors.Is(err, table.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return decodeWork(item)
}

// Due reports whether the attempt of a task is still to be made.
func (w *Work) Due(t Task) bool {
	if t.Mode != Scheduled {
		if t.Asked == 0 {
			return t.Attempt > w.Hidden.Extra
		}
		return t.Asked > w.Hidden.Began
	}
	return w.Status == Pending && t.Attempt > w.Hidden.Made
}

// Next returns the task of the next scheduled attempt, and the wait before it, if the attempt of t
// was the last one made and the next attempt waits in the queue. A task that comes again sends the
// next task again: the deliverer may have ended between the two.
func (w *Work) Next(t Task, now time.Time) (next Task, delay time.Duration, ok bool) {
	if t.Mode != Scheduled || w.Status != Pending || t.Attempt != w.Hidden.Made || !w.Hidden.Queued {
		return Task{}, 0, false
	}
	next = w.waiting(now)
	return next, next.Wait, true
}

// waiting returns the task of the next scheduled attempt, with the wait before it.
func (w *Work) waiting(now time.Time) Task {
	t := w.task()
	wait := w.next().Sub(now) + time.Second - 1
	t.Wait = min(max(wait.Truncate(time.Second), 0), bus.MaxDelay)
	return t
}

// ReadBody returns the body of a delivery with its id; nil if the body is gone.
func (s Store) ReadBody(ctx context.Context, w *Work) ([]byte, error) {
	item, err := s.Table.Get(ctx, w.bodyKey())
	if errors.Is(err, table.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return Addressed(item.Data, w.ID)
}

// Record stores the outcome of a task's attempt, and plans the next attempt: for a wait that the
// queue cannot make, with a due item in the same transaction. It returns the delivery as it is
// then; nil, and stores nothing, if the attempt is no longer to be made.
func (s Store) Record(ctx context.Context, w *Work, t Task, o Outcome) (*Work, error) {
	return s.change(ctx, w, t, made{t, o}.after)
}

// Postpone makes the attempt of a scheduled task due later, without an attempt.
func (s Store) Postpone(ctx context.Context, w *Work, t Task, by time.Duration) error {
	_, err := s.change(ctx, w, t, postponed{wire.At(s.Now().Add(by))}.after)
	return err
}

// End cancels the delivery of a scheduled task.
func (s Store) End(ctx context.Context, w *Work, t Task) error {
	_, err := s.change(ctx, w, t, ended)
	return err
}

// change stores what edit makes of a delivery while the attempt of a task is to be made. If another
// writer was faster, change reads the delivery again.
func (s Store) change(ctx context.Context, w *Work, t Task, edit func(Work) Work) (*Work, error) {
	for try, err := range tries.Each(ctx) {
		if err != nil {
			return nil, err
		}
		if try > 0 {
			w, err = s.Open(ctx, t)
		}
		if w == nil || err != nil || !w.Due(t) {
			return nil, err
		}
		after := edit(*w)
		if err = s.store(ctx, w, &after); !errors.Is(err, table.ErrStale) {
			return &after, err
		}
	}
	return nil, table.ErrBusy
}

// store replaces a delivery by its next version. A new time of the next attempt that the queue does
// not wait for gets a due item.
func (s Store) store(ctx context.Context, before, after *Work) error {
	item, err := after.item(before.version + 1)
	if err != nil {
		return err
	}
	writes := []table.Write{table.Replace(item, before.version)}
	if at := after.NextAttemptAt; at != nil && !after.Hidden.Queued && !at.Equal(before.next()) {
		due, err := s.due(ctx, at.Time, after.task())
		if err != nil {
			return err
		}
		writes = append(writes, due)
	}
	if err := s.Table.Transact(ctx, writes...); err != nil {
		return err
	}
	after.version = item.Version
	return nil
}

// next returns the time of the next attempt; zero without one.
func (w *Work) next() time.Time {
	if w.NextAttemptAt == nil {
		return time.Time{}
	}
	return w.NextAttemptAt.Time
}

// made is an attempt that was made.
type made struct {
	Task
	Outcome
}

// after returns the delivery after the attempt.
func (m made) after(w Work) Work {
	w.Attempts = append(w.Attempts[:len(w.Attempts):len(w.Attempts)], m.attempt())
	w.Attempts = w.Attempts[max(0, len(w.Attempts)-maxAttempts):]
	if m.Mode != Scheduled {
		w.Hidden.Extra, w.Hidden.Began = w.Hidden.Extra+1, max(w.Hidden.Began, m.Asked)
		if !m.Withheld {
			w.Hidden.Began = max(w.Hidden.Began, m.At.UnixNano()) // The clock of a deliverer may be behind.
		}
		if m.Succeeded() {
			w.Status, w.NextAttemptAt, w.Hidden.Queued = Delivered, nil, false
		}
		return w
	}
	w.Hidden.Made, w.NextAttemptAt, w.Hidden.Queued = m.Attempt, nil, false
	delay, more := Delay(m.Attempt, m.RetryAfter, spread(w.ID, m.Attempt))
	switch {
	case m.Succeeded():
		w.Status = Delivered
	case m.Gone() || !more:
		w.Status = Failed
	default:
		at := wire.At(m.At.Add(m.Latency).Add(delay))
		w.NextAttemptAt, w.Hidden.Queued = &at, delay <= bus.MaxDelay
	}
	return w
}

// postponed is a delivery that waits until a time.
type postponed struct{ until wire.Time }

func (p postponed) after(w Work) Work {
	w.NextAttemptAt, w.Hidden.Queued, w.Hidden.Postponed = &p.until, false, true
	return w
}

// ended returns the delivery, cancelled.
func ended(w Work) Work {
	w.Status, w.NextAttemptAt, w.Hidden.Queued = Cancelled, nil, false
	return w
}
