package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"lectern/shared/feed"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// markKey is the key of the item with the minute up to which everything due was sent.
var markKey = table.Key{PK: "D#mark", SK: "-"}

// markLag is the time by which the mark stays behind, so that a due item whose write takes long, or
// whose writer has a slow clock, is not behind the mark.
const markLag = 2 * time.Minute

// keepDue is how long a due item outlives its time.
const keepDue = Keep

// DueItem is what is to be sent at a time: a task, or the next part of a replay.
type DueItem struct {
	Task
	At     wire.Time `json:"at"`
	Replay *Replay   `json:"replay,omitempty"`

	key table.Key
}

// Minute returns the minute of the item, as Progress counts minutes.
func (d DueItem) Minute() int64 { return minuteOf(d.At.Time) }

// due returns the write of the due item of a task. A due item is written only after the mark
// exists, so that the sweeper begins before it.
func (s Store) due(ctx context.Context, at time.Time, t Task) (table.Write, error) {
	if err := s.begin(ctx); err != nil {
		return table.Write{}, err
	}
	return dueWrite(DueItem{Task: t, At: wire.At(at), key: dueKey(at, t.ID, t.name())})
}

// dueWrite returns the write of a due item.
func dueWrite(d DueItem) (table.Write, error) {
	data, err := wire.Encode(d)
	if err != nil {
		return table.Write{}, fmt.Errorf("delivery: encode a due item: %w", err)
	}
	return table.Put(table.Item{Key: d.key, Version: 1, Data: data, Expires: d.At.Add(keepDue).Unix()}), nil
}

// mark is the stored progress of the sweeper.
type mark struct {
	// Minute is the first minute that may have due items that were not sent.
	Minute int64 `json:"minute"`
}

// begin writes the mark, if there is none.
func (s Store) begin(ctx context.Context) error {
	_, err := s.readMark(ctx)
	if !errors.Is(err, table.ErrNotFound) {
		return err
	}
	item, err := mark{minuteOf(s.Now().Add(-markLag))}.item(1)
	if err != nil {
		return err
	}
	if err = s.Table.Transact(ctx, table.Insert(item)); errors.Is(err, table.ErrStale) {
		return nil
	}
	return err
}

func (m mark) item(version int64) (table.Item, error) {
	data, err := wire.Encode(m)
	return table.Item{Key: markKey, Version: version, Data: data}, err
}

// Progress is the progress of the sweeper: the first minute to look at.
type Progress struct {
	Minute  int64
	version int64
}

// readMark reads the progress of the sweeper; table.ErrNotFound if nothing was ever due.
func (s Store) readMark(ctx context.Context) (Progress, error) {
	item, err := s.Table.Get(ctx, markKey)
	if err != nil {
		return Progress{}, err
	}
	var m mark
	if err := json.Unmarshal(item.Data, &m); err != nil {
		return Progress{}, fmt.Errorf("delivery: decode the progress of the sweeper: %w", err)
	}
	return Progress{m.Minute, item.Version}, nil
}

// Begin returns the progress of the sweeper, and reports false if nothing was ever due.
func (s Store) Begin(ctx context.Context) (p Progress, ok bool, err error) {
	p, err = s.readMark(ctx)
	if errors.Is(err, table.ErrNotFound) {
		return Progress{}, false, nil
	}
	return p, err == nil, err
}

// Last returns the last minute that may have something due.
func (s Store) Last() int64 { return minuteOf(s.Now()) }

// Advance stores that everything before a minute was sent, but for the minutes in which due items
// may still be written. Another sweeper may have stored more.
func (s Store) Advance(ctx context.Context, p Progress, minute int64) error {
	minute = min(minute, minuteOf(s.Now().Add(-markLag)))
	if minute <= p.Minute {
		return nil
	}
	item, err := mark{minute}.item(p.version + 1)
	if err != nil {
		return err
	}
	if err = s.Table.Transact(ctx, table.Replace(item, p.version)); errors.Is(err, table.ErrStale) {
		return nil
	}
	return err
}

// DamagedError counts items that cannot be decoded. DueIn and Part return it beside all other items.
type DamagedError struct {
	Items int
	// First is the error of the first item.
	First error
}

// Error returns the number of the items and the error of the first item.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("delivery: %d items cannot be decoded; the first: %v", e.Items, e.First)
}

// Unwrap returns the error of the first item.
func (e *DamagedError) Unwrap() error { return e.First }

// damage returns a DamagedError of the errors of items; nil without an error.
func damage(all []error) error {
	if len(all) == 0 {
		return nil
	}
	return &DamagedError{Items: len(all), First: all[0]}
}

// DueIn returns the items of a minute that are due now. If some items are damaged, DueIn returns the
// others and a DamagedError.
func (s Store) DueIn(ctx context.Context, minute int64) (all []DueItem, err error) {
	var found [dueBuckets][]DueItem
	var damaged [dueBuckets][]error
	g, within := errgroup.WithContext(ctx)
	for bucket := range dueBuckets {
		g.Go(table.Safely(func() (err error) {
			found[bucket], damaged[bucket], err = s.dueOf(within, duePartition(minute, bucket))
			return err
		}))
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return slices.Concat(found[:]...), damage(slices.Concat(damaged[:]...))
}

// dueOf returns the items of a partition that are due now, and the errors of the damaged items.
func (s Store) dueOf(ctx context.Context, pk string) (all []DueItem, damaged []error, err error) {
	now := s.Now()
	for item, err := range s.Table.Between(ctx, pk, "0", "~") {
		if err != nil {
			return nil, nil, err
		}
		d := DueItem{key: item.Key}
		if err := json.Unmarshal(item.Data, &d); err != nil {
			damaged = append(damaged, fmt.Errorf("delivery: decode the due item %s of %s: %w", item.SK, item.PK, err))
			continue
		}
		if !d.At.After(now) {
			all = append(all, d)
		}
	}
	return all, damaged, nil
}

// Done removes due items that were sent.
func (s Store) Done(ctx context.Context, items []DueItem) error {
	for len(items) > 0 {
		some := items[:min(len(items), table.MaxWrites)]
		writes := make([]table.Write, len(some))
		for i, d := range some {
			writes[i] = table.Delete(d.key)
		}
		if err := s.Table.Transact(ctx, writes...); err != nil {
			return err
		}
		items = items[len(some):]
	}
	return nil
}

// replayAtOnce is the number of deliveries that a part of a replay reads.
const replayAtOnce = 100

// Replay is a range of deliveries to be made again. The sweeper does a replay part by part.
type Replay struct {
	Status string `json:"status,omitempty"`
	Kind   string `json:"kind,omitempty"`
	// Sight is that of the caller who asked for the replay.
	Sight *Sight `json:"sight,omitempty"`
	// From is the first id of the next part, or a bound of ids; To is the bound after the last.
	From string `json:"from"`
	To   string `json:"to"`
	// Part is the number of the next part.
	Part int `json:"part"`
}

// Replay has the sweeper make the deliveries of a range of time due that the caller may see and that
// have a status, or all without one. Replays are items of their own, so that a crash loses none.
func (s Store) Replay(ctx context.Context, org int64, endpoint string, f Filter) error {
	now, newID := s.Now(), s.NewID
	if newID == nil {
		newID = uuid.NewString
	}
	since, until := f.span(now)
	d := DueItem{
		Task: Task{Org: org, Endpoint: endpoint, ID: newID(), Mode: Replayed, Asked: now.UnixNano()}, At: wire.At(now),
		Replay: &Replay{Status: f.Status, Kind: f.Kind, Sight: s.Sight, From: feed.Bound(since), To: feed.Bound(until)},
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
	since, until = now.Add(-Keep), now.Add(time.Hour)
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
// the last part. If some deliveries are damaged, Part leaves them out and also returns a DamagedError.
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
	var damaged []error
	for _, item := range items {
		w, err := decodeWork(item)
		if err != nil {
			damaged = append(damaged, err)
			continue
		}
		if (Filter{Status: r.Status, Kind: r.Kind}).matches(&w.Delivery) && r.Sight.sees(&w.Delivery) {
			tasks = append(tasks, Task{Org: d.Org, Endpoint: d.Endpoint, ID: w.ID, Attempt: w.Hidden.Extra + 1, Mode: Replayed, Asked: d.Asked})
		}
	}
	if r.From = feed.After(last); !more {
		r.From = feed.Bound(day.Truncate(24 * time.Hour).Add(24 * time.Hour))
	}
	if r.Part++; r.From >= r.To {
		return tasks, nil, damage(damaged)
	}
	now := s.Now()
	next = &DueItem{Task: d.Task, At: wire.At(now), Replay: &r}
	next.key = next.replayKey(now)
	return tasks, next, damage(damaged)
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
