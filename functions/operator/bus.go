package operator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/bus"
	"lectern/shared/change"
	"lectern/shared/feed"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

// Republish is the command that goes on where its answer's cursor says.
const Republish = "republish"

const (
	// busTime and busMost are about the limits of a call of republish and redrive, in time and in
	// change records or messages.
	busTime = 15 * time.Second
	busMost = 5000
	// mostNamed is the number of damaged change records that an answer names.
	mostNamed = 20
	// recordsAtOnce is the number of change records that are published together.
	recordsAtOnce = 100
	// emptyReceives is the number of empty answers after which a queue counts as empty, since SQS
	// may answer without its messages.
	emptyReceives = 3
)

// RepublishInput selects the change records to publish again: those of an organization, or all, from
// Since on and before Until, which is the present if it is not sent.
type RepublishInput struct {
	OrgID  int64               `json:"org_id,omitempty"`
	Since  wire.Time           `json:"since"`
	Until  wire.Opt[wire.Time] `json:"until,omitzero" nullable:"false"`
	Cursor *RepublishCursor    `json:"cursor,omitempty"`
}

// RepublishCursor is the point from which a call continues: after a change record of an organization.
type RepublishCursor struct {
	OrgID int64  `json:"org_id"`
	After string `json:"after"`
}

// Republished is the result of a call. Its keys of RepublishInput are the input of the next call.
type Republished struct {
	RepublishInput
	// Records counts the change records, Messages the events on the bus.
	Records  int `json:"records"`
	Messages int `json:"messages"`
	// Damaged counts the change records that cannot be decoded and so are not published. Keys has
	// the keys of the first of them.
	Damaged int      `json:"damaged"`
	Keys    []string `json:"damaged_keys"`
	// Cursor is null when everything is published.
	Cursor *RepublishCursor `json:"cursor"`
}

// republication is a call of republish.
type republication struct {
	*Service
	Republished
	bus   bus.Bus
	until time.Time
}

// republish puts the messages of change records on the bus again.
func (s *Service) republish(ctx context.Context, in *RepublishInput) (*Republished, error) {
	to, err := s.env.Places.Bus()
	if err != nil {
		return nil, err
	}
	r := republication{Service: s, bus: to, until: s.env.Now().Add(busTime), Republished: Republished{RepublishInput: *in, Keys: []string{}}}
	if !r.Until.Has() {
		r.Until = wire.Opt[wire.Time]{Value: wire.At(s.env.Now()), Sent: true}
	}
	from := RepublishCursor{OrgID: in.OrgID, After: feed.Bound(in.Since.Time)}
	if in.Cursor != nil {
		from = *in.Cursor
	}
	if _, valid := feed.Time(from.After); !valid {
		return nil, apierr.Invalid("cursor.after", "cursor.after must be that of an answer of republish.")
	}
	if in.OrgID != 0 {
		if _, err := tenancy.Organizations.Get(ctx, s.tenancy, table.Org(in.OrgID)); err != nil {
			return nil, err
		}
		_, err := r.organization(ctx, in.OrgID, from.After)
		return &r.Republished, err
	}
	return &r.Republished, r.organizations(ctx, from)
}

// organizations publishes the change records of all organizations from a point on. It looks at the
// limits of a call after each organization too: thousands of them may have few records or none.
func (r *republication) organizations(ctx context.Context, from RepublishCursor) error {
	for org, err := range r.tenancy.AllOrganizations(ctx, from.OrgID-1) {
		if err != nil {
			return fmt.Errorf("operator: list organizations: %w", err)
		}
		after := feed.Bound(r.Since.Time)
		if org == from.OrgID {
			after = from.After
		}
		if more, err := r.organization(ctx, org, after); err != nil || more {
			return err
		}
		if r.full() {
			r.Cursor = &RepublishCursor{org, feed.Bound(r.Until.Value.Time)}
			return nil
		}
	}
	return nil
}

// full reports whether the call has come to a limit.
func (r *republication) full() bool {
	return r.Records+r.Damaged >= busMost || r.env.Now().After(r.until)
}

// organization publishes the change records of an organization after a key. At the limit of a call
// it sets the cursor and reports that there may be more.
func (r *republication) organization(ctx context.Context, org int64, after string) (more bool, err error) {
	log := feed.Log{Table: r.env.Table.Lenient(), Root: change.Root(org), Hourly: true, First: recordsAtOnce}
	for items, err := range log.Chunks(ctx, after, feed.Bound(r.Until.Value.Time), recordsAtOnce) {
		if err != nil {
			return false, fmt.Errorf("operator: read the change records: %w", err)
		}
		if err := r.publish(ctx, items); err != nil {
			return false, err
		}
		if len(items) > 0 && r.full() {
			r.Cursor = &RepublishCursor{org, feed.After(items[len(items)-1].SK)}
			return true, nil
		}
	}
	return false, nil
}

// publish publishes the messages of change records, and names the records that cannot be decoded: a
// later call would fail at the same record again.
func (r *republication) publish(ctx context.Context, items []table.Item) error {
	var messages []bus.Message
	for _, item := range items {
		record, err := change.Decode(item)
		if err != nil {
			r.damaged(ctx, item.Key, err)
			continue
		}
		r.Records++
		messages = append(messages, bus.Messages(*record)...)
	}
	if _, err := r.bus.Publish(ctx, messages); err != nil {
		return fmt.Errorf("operator: publish: %w", err)
	}
	r.Messages += len(messages)
	return nil
}

// damaged counts and names a change record that cannot be decoded.
func (r *republication) damaged(ctx context.Context, at table.Key, err error) {
	r.Damaged++
	if len(r.Keys) < mostNamed {
		r.Keys = append(r.Keys, at.PK+" "+at.SK)
	}
	r.env.Log.ErrorContext(ctx, "a change record was not published", "pk", at.PK, "sk", at.SK, "error", err)
}

type redriveInput struct {
	Queue string `json:"queue"`
	Most  int    `json:"most,omitempty" minimum:"1" maximum:"5000"`
}

// redriven is the result of redrive. Left is about the number of messages that the dead-letter
// queue still has.
type redriven struct {
	Queue string `json:"queue"`
	Moved int    `json:"moved"`
	Left  int    `json:"left"`
}

// redrive moves messages of a queue's dead-letter queue back. After a failure, a message may be in
// both queues.
func (s *Service) redrive(ctx context.Context, in *redriveInput) (*redriven, error) {
	if known := s.env.Places.Redrivable(); !slices.Contains(known, in.Queue) {
		return nil, apierr.Invalid("queue", "queue must be one of: %s.", strings.Join(known, ", "))
	}
	to, err := s.env.Places.Queue(in.Queue)
	if err != nil {
		return nil, err
	}
	from, err := s.env.Places.Queue(bus.Dead(in.Queue))
	if err != nil {
		return nil, err
	}
	most, until := busMost, s.env.Now().Add(busTime)
	if in.Most > 0 {
		most = in.Most
	}
	answer := &redriven{Queue: in.Queue}
	for empty := 0; answer.Moved < most && empty < emptyReceives && s.env.Now().Before(until); empty++ {
		moved, err := move(ctx, from, to, most-answer.Moved)
		if err != nil {
			return nil, fmt.Errorf("operator: redrive: %w", err)
		}
		if answer.Moved += moved; moved > 0 {
			empty = -1
		}
	}
	answer.Left, err = from.Waiting(ctx)
	return answer, err
}

// move moves up to most messages with a call, and returns their number.
func move(ctx context.Context, from, to *bus.SQS, most int) (int, error) {
	messages, err := from.Receive(ctx, most)
	if err != nil || len(messages) == 0 {
		return 0, err
	}
	posts := make([]bus.Post, len(messages))
	for i, m := range messages {
		posts[i] = m.Post
	}
	if err := to.Send(ctx, posts...); err != nil {
		return 0, err
	}
	return len(messages), from.Delete(ctx, messages)
}
