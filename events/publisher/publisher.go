// Package publisher puts the messages of each new change record on the bus: a message for each published
// kind, and a message with the changed fields of a contact. The stream of the table invokes the publisher
// with the records that events.NewChanges selects (design.md section 6, decision 30).
package publisher

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"lectern/shared/bus"
	"lectern/shared/change"
	"lectern/shared/table"
)

// Publisher publishes change records. It is safe for concurrent use.
type Publisher struct {
	// Bus takes the messages.
	Bus bus.Bus
	// Dead takes the keys of the change records that cannot be decoded.
	Dead bus.Queue
	// Now is the clock.
	Now func() time.Time
	Log *slog.Logger
	// Whole makes Invoke return an error where it would report a failed record. It is for an
	// emulator that takes such a report for a success.
	Whole bool
}

// Start returns the Publisher of a region.
func Start(places *bus.Places, log *slog.Logger) (*Publisher, error) {
	to, err := places.Bus()
	if err != nil {
		return nil, err
	}
	dead, err := places.Queue(bus.Dead(bus.Changes))
	if err != nil {
		return nil, err
	}
	return &Publisher{Bus: to, Dead: dead, Now: time.Now, Log: log}, nil
}

// published is the message of the log line of an invocation.
const published = "published"

// ErrFailed is returned by a Publisher with Whole after a record that was not published.
var ErrFailed = errors.New("publisher: a change record is not published")

// batch is the messages of an invocation.
type batch struct {
	messages []bus.Message
	// record has the index of the record of each message.
	record []int
	// failed is the index of the first record that failed; the number of records if none did.
	failed int
	// undecoded has the indexes of the records that cannot be decoded. refused counts messages.
	undecoded []int
	refused   int
	reasons   []error
}

// Invoke publishes the change records of an event of the stream, and reports the first record that
// failed. A stream is ordered, so Lambda repeats the event from this record on; the records after it
// are published twice, as receivers expect (at least once). A record that cannot be decoded would fail
// each time and hold up its shard of the stream. So its key goes to the queue changes-dead, and the
// record counts as done; it fails only while the queue does not take the key. The change record itself
// stays in the table. The operator's command republish reads it from there.
func (p *Publisher) Invoke(ctx context.Context, event events.DynamoDBEvent) (answer events.DynamoDBEventResponse, err error) {
	b := read(event)
	refused, err := p.Bus.Publish(ctx, b.messages)
	for _, i := range refused {
		b.failed = min(b.failed, b.record[i])
	}
	if len(refused) > 0 {
		b.reasons = append(b.reasons, fmt.Errorf("publisher: from record %s on: %w", event.Records[b.failed].Change.SequenceNumber, err))
	}
	b.refused = len(refused)
	p.bury(ctx, event, &b)
	p.note(ctx, event, b)
	if b.failed == len(event.Records) {
		return answer, nil
	}
	if p.Whole {
		return answer, ErrFailed
	}
	first := event.Records[b.failed].Change.SequenceNumber
	answer.BatchItemFailures = []events.DynamoDBBatchItemFailure{{ItemIdentifier: first}}
	return answer, nil
}

// read returns the messages of the records. It leaves out the records that cannot be decoded.
func read(event events.DynamoDBEvent) batch {
	b := batch{failed: len(event.Records)}
	for i, r := range event.Records {
		record, err := decode(r)
		if err != nil {
			b.undecoded = append(b.undecoded, i)
			b.reasons = append(b.reasons, fmt.Errorf("publisher: record %s: %w", r.Change.SequenceNumber, err))
			continue
		}
		for _, m := range bus.Messages(*record) {
			b.messages, b.record = append(b.messages, m), append(b.record, i)
		}
	}
	return b
}

// bury sends the keys of the records that cannot be decoded to the queue changes-dead.
func (p *Publisher) bury(ctx context.Context, event events.DynamoDBEvent, b *batch) {
	if len(b.undecoded) == 0 {
		return
	}
	posts := make([]bus.Post, len(b.undecoded))
	for n, i := range b.undecoded {
		posts[n] = bus.Unpublished(table.KeyOfStream(event.Records[i].Change.NewImage))
	}
	if err := p.Dead.Send(ctx, posts...); err != nil {
		b.failed = min(b.failed, b.undecoded[0])
		b.reasons = append(b.reasons, fmt.Errorf("publisher: keep the keys of records that cannot be decoded: %w", err))
	}
}

// errNoChange is returned for a record of another item than a change record.
var errNoChange = errors.New("the item is no change record")

// decode returns the change record of a record of the stream.
func decode(r events.DynamoDBEventRecord) (*change.Record, error) {
	item, err := table.FromStream(r.Change.NewImage)
	if err != nil {
		return nil, err
	}
	if item.Kind != table.KindChange {
		return nil, errNoChange
	}
	return change.Decode(item)
}

// note writes the line of the log about an invocation. age_ms is the time from the oldest change to
// its publication.
func (p *Publisher) note(ctx context.Context, event events.DynamoDBEvent, b batch) {
	age := time.Duration(0)
	for _, m := range b.messages {
		age = max(age, p.Now().Sub(m.At.Time))
	}
	level, counts := slog.LevelInfo, []slog.Attr{
		slog.Int("records", len(event.Records)), slog.Int("messages", len(b.messages)), slog.Int("refused", b.refused),
		slog.Int("undecoded", len(b.undecoded)), slog.Int64("age_ms", age.Milliseconds()),
	}
	if err := errors.Join(b.reasons...); err != nil {
		level, counts = slog.LevelError, append(counts, slog.Any("error", err))
	}
	p.Log.LogAttrs(ctx, level, published, counts...)
}
