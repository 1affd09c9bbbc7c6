package delivery

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/google/uuid"

	"lectern/shared/feed"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// replayAtOnce is the number of deliveries that a part of a replay reads.
const replayAtOnce = 100

// Replay is a range of deliveries to be made again. The sweeper does a replay part by part.
type Replay struct {
	Status string `json:"status,omitempty"`
	Kind   string `json:"kind,omitempty"`
	// From is the first id of the next part, or a bound of ids; To is the bound after the last.
	From string `json:"from"`
	To   string `json:"to"`
	// Part is the number of the next part.
	Part int `json:"part"`
}

// Replay has the sweeper make the deliveries of a range of time due that have a status, or all
// without one. Replays are items of their own, so that a crash loses none.
func (s Store) Replay(ctx context.Context, org int64, endpoint string, f Filter) error {
	now := s.Now()
	since, until := f.span(now)
	d := DueItem{
		Task: Task{Org: org, Endpoint: endpoint, ID: uuid.NewString(), Mode: Replayed}, At: wire.At(now),
		Replay: &Replay{Status: f.Status, Kind: f.Kind, From: feed.Bound(since), To: feed.Bound(until)},
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	d.key = d.replayKey(now)
	write, err := dueWrite(d)
	if err != nil {
		return err
	}
	return s.Table.Transact(ctx, write)
}

// span returns the range of time in which deliveries of the filter may have been made.
func (f Filter) span(now time.Time) (since, until time.Time) {
	since, until = now.Add(-Keep-24*time.Hour), now.Add(time.Hour)
	if f.Since.After(since) {
		since = f.Since
	}
	if !f.Until.IsZero() && f.Until.Before(until) {
		until = f.Until
	}
	return since, until
}

// replayKey returns the key of the due item of the next part of a replay.
func (d DueItem) replayKey(at time.Time) table.Key {
	return dueKey(at, d.ID, string(Replayed)+strconv.Itoa(d.Replay.Part))
}

// Part returns the tasks of the next part of a replay, and the item of the part after it; nil after
// the last part.
func (s Store) Part(ctx context.Context, d DueItem) (tasks []Task, next *DueItem, err error) {
	r := *d.Replay
	day, ok := feed.Time(r.From)
	if !ok || r.From >= r.To {
		return nil, nil, nil
	}
	items, more, last, err := s.Table.Some(ctx, dayKey(d.Org, d.Endpoint, day), r.From, r.To, replayAtOnce)
	if err != nil {
		return nil, nil, err
	}
	for _, item := range items {
		w, err := decodeWork(item)
		if err != nil {
			return nil, nil, err
		}
		if (Filter{Status: r.Status, Kind: r.Kind}).matches(&w.Delivery) {
			tasks = append(tasks, Task{Org: d.Org, Endpoint: d.Endpoint, ID: w.ID, Attempt: w.Hidden.Extra + 1, Mode: Replayed})
		}
	}
	if r.From = last + " "; !more { // No id continues with a space.
		r.From = feed.Bound(day.Truncate(24 * time.Hour).Add(24 * time.Hour))
	}
	if r.Part++; r.From >= r.To {
		return tasks, nil, nil
	}
	after := DueItem{Task: d.Task, At: wire.At(s.Now()), Replay: &r}
	after.key = after.replayKey(s.Now())
	return tasks, &after, nil
}

// Move replaces the item of a part that was sent by the item of the next part. Another sweeper may
// have done that.
func (s Store) Move(ctx context.Context, d DueItem, next *DueItem) error {
	writes := []table.Write{table.Remove(d.key, 1)}
	if next != nil {
		write, err := dueWrite(*next)
		if err != nil {
			return err
		}
		writes = append(writes, write)
	}
	if err := s.Table.Transact(ctx, writes...); !errors.Is(err, table.ErrStale) {
		return err
	}
	return nil
}
