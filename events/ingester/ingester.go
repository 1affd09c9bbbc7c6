// Package ingester stores the log of requests: it reads the log lines of requests and writes them
// as items of the organizations (shared/requestlog, decision 28). A request itself writes nothing.
// Read ingester.go first, then line.go and batch.go.
package ingester

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"lectern/shared/auth"
	"lectern/shared/lru"
	"lectern/shared/requestlog"
	"lectern/shared/table"
)

// Ingester stores requests. It is safe for concurrent use.
type Ingester struct {
	table *table.Table
	now   func() time.Time
	log   *slog.Logger
	// full has the minutes of organizations without further reservations for wrong secrets.
	full *lru.Cache[minute, struct{}]
}

// minute is a minute of an organization.
type minute struct {
	org int64
	at  time.Time
}

// maxFull is the number of minutes that an Ingester remembers.
const maxFull = 1024

// New returns an Ingester for a table.
func New(t *table.Table, now func() time.Time, log *slog.Logger) *Ingester {
	return &Ingester{table: t, now: now, log: log, full: lru.New[minute, struct{}](maxFull)}
}

// messageOfControl is the type of the messages by which CloudWatch checks a subscription.
const messageOfControl = "CONTROL_MESSAGE"

// Invoke stores the lines of an event of a log subscription. After an error, a repetition of the
// same event stores the missing requests.
func (i *Ingester) Invoke(ctx context.Context, event events.CloudwatchLogsEvent) error {
	data, err := event.AWSLogs.Parse()
	if err != nil {
		return fmt.Errorf("ingester: decode the event: %w", err)
	}
	if data.MessageType == messageOfControl {
		return nil
	}
	lines := make([]string, len(data.LogEvents))
	for n, e := range data.LogEvents {
		lines[n] = e.Message
	}
	return i.Ingest(ctx, lines)
}

// result counts the lines by their outcome.
type result struct {
	packs, stored, repeated, overLimit, unowned, foreign, damaged int
}

// Ingest stores the requests of lines of the log. It leaves out every other line. If some
// requests could not be stored, it stores the others and returns the errors.
func (i *Ingester) Ingest(ctx context.Context, lines []string) error {
	var r result
	var failed []error
	for _, b := range batches(lines, &r) {
		if err := i.store(ctx, b, &r); err != nil {
			failed = append(failed, err)
		}
	}
	err := errors.Join(failed...)
	i.note(ctx, len(lines), r, err)
	if err != nil {
		return fmt.Errorf("ingester: some requests are not stored: %w", err)
	}
	return nil
}

// note writes the line of the log about an invocation.
func (i *Ingester) note(ctx context.Context, lines int, r result, err error) {
	level, counts := slog.LevelInfo, []slog.Attr{
		slog.Int("lines", lines), slog.Int("packs", r.packs), slog.Int("requests", r.stored), slog.Int("repeated", r.repeated),
		slog.Int("over_limit", r.overLimit), slog.Int("without_organization", r.unowned),
		slog.Int("other_lines", r.foreign), slog.Int("damaged", r.damaged),
	}
	if err != nil {
		level, counts = slog.LevelError, append(counts, slog.Any("error", err))
	}
	i.log.LogAttrs(ctx, level, "ingested", counts...)
}

// store stores a batch, unless it is stored already.
func (i *Ingester) store(ctx context.Context, b requestlog.Batch, r *result) error {
	all := len(b.Entries)
	entries, err := i.bounded(ctx, b)
	if err != nil {
		return err
	}
	if b.Entries = entries; len(entries) > 0 {
		// A reader takes a pack for complete a minute after the time in its id, so the time is
		// that of the write and not that of the invocation.
		stored, err := requestlog.Store(ctx, i.table, b, i.now())
		if err != nil {
			return err
		}
		if !stored {
			r.repeated += all
			return nil
		}
		r.packs++
	}
	r.stored += len(entries)
	r.overLimit += all - len(entries)
	return nil
}

// bounded returns the entries of a batch without the wrong secrets over the limit of their minute.
func (i *Ingester) bounded(ctx context.Context, b requestlog.Batch) ([]requestlog.Entry, error) {
	left := map[minute]int64{}
	for _, e := range b.Entries {
		if e.Reason == string(auth.ReasonWrongSecret) {
			left[minuteOf(b, e)]++
		}
	}
	for m, n := range left {
		var err error
		if left[m], err = i.reserve(ctx, m, n); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(slices.Clone(b.Entries), func(e requestlog.Entry) bool {
		if e.Reason != string(auth.ReasonWrongSecret) {
			return false
		}
		left[minuteOf(b, e)]--
		return left[minuteOf(b, e)] < 0
	}), nil
}

// minuteOf returns the minute of an entry of a batch.
func minuteOf(b requestlog.Batch, e requestlog.Entry) minute {
	return minute{b.Org, e.At.Truncate(time.Minute)}
}

// reserve returns how many of n wrong secrets of a minute may be stored.
func (i *Ingester) reserve(ctx context.Context, m minute, n int64) (int64, error) {
	if _, full := i.full.Get(m); full {
		return 0, nil
	}
	reserved, more, err := requestlog.ReserveWrongSecrets(ctx, i.table, m.org, m.at, n)
	if err == nil && !more {
		i.full.Put(m, struct{}{}, 1)
	}
	return reserved, err
}
