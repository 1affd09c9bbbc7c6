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
	// Now is the clock.
	Now func() time.Time
	Log *slog.Logger
	// Whole makes Invoke return an error where it would report a failed record. It is for an
	// emulator that takes such a report for a success.
	Whole bool
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
	// undecoded and refused count records and messages.
	undecoded, refused int
	reasons            []error
}

// Invoke publishes the change records of an event of the stream, and reports the first record that
// failed. A stream is ordered, so Lambda repeats the event from this record on; the records after it
// are published twice, as receivers expect (at least once). A record that cannot be decoded fails
// each time. The records beside it are published at once all the same. Lambda halves the event
// until the record is alone, gives it up after ten tries, and sends its place in the stream to the
// queue changes-dead. The change record itself stays in the table. The operator's command republish
// reads it from there.
func (p *Publisher) Invoke(ctx context.Context, event events.DynamoDBEvent) (answer events.DynamoDBEventResponse, err error) {
	b := read(event)
	refused, err := p.Bus.Publish(ctx, b.messages)
	if err != nil {
		b.reasons = append(b.reasons, err)
	}
	for _, i := range refused {
		b.failed = min(b.failed, b.record[i])
	}
	b.refused = len(refused)
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
			b.failed, b.undecoded = min(b.failed, i), b.undecoded+1
			b.reasons = append(b.reasons, fmt.Errorf("publisher: record %s: %w", r.Change.SequenceNumber, err))
			continue
		}
		for _, m := range bus.Messages(*record) {
			b.messages, b.record = append(b.messages, m), append(b.record, i)
		}
	}
	return b
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
		slog.Int("undecoded", b.undecoded), slog.Int64("age_ms", age.Milliseconds()),
	}
	if err := errors.Join(b.reasons...); err != nil {
		level, counts = slog.LevelError, append(counts, slog.Any("error", err))
	}
	p.Log.LogAttrs(ctx, level, published, counts...)
}
