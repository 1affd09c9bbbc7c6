package events_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/shared/apierr"
	"lectern/shared/bus"
	"lectern/shared/change"
	changes "lectern/shared/feed"
	"lectern/shared/record"
	"lectern/shared/resource"
	"lectern/shared/table"
	"lectern/shared/webhook"
)

// thing is a record of the simulation. Package resource stores it, and counts its published changes, as it
// does for the records of the service.
type thing struct {
	resource.Header
	Title string `json:"title"`
}

type thingDraft struct{ title string }

// Apply writes the title.
func (d thingDraft) Apply(e resource.Edit[*thing]) error {
	e.Record.Title = d.title
	return nil
}

// things is a kind of record that publishes under the names of a kind of the service.
func things(name string) *resource.Kind[thing, *thing, thingDraft] {
	return &resource.Kind[thing, *thing, thingDraft]{
		Name: name, Title: name, Many: name + "s", Max: 1000,
		Publishes: map[record.Verb]string{
			record.Created: name + ".created", record.Updated: name + ".updated",
			record.Deleted: name + ".deleted", record.Restored: name + ".updated",
		},
	}
}

var kinds = []*resource.Kind[thing, *thing, thingDraft]{things("session"), things("contact"), things("sponsor"), things("exhibitor")}

// place is an owner of records of a kind.
type place struct {
	kind int
	resource.Owner
}

// mostKnown is the number of records of a place: some are written often.
const mostKnown = 12

// write writes a record. A write may fail, be refused, and lose its answer; the stream has what was
// committed.
func (s *simulation) write(org int64) {
	at := place{s.random.IntN(len(kinds)), resource.Owner{Org: org, Event: s.events(org)[s.random.IntN(3)]}}
	if at.Event == 0 {
		at.kind = 1
	}
	newID := func() string {
		id := uuid.NewSHA1(uuid.NameSpaceURL, fmt.Append(nil, at, s.random.Int64())).String()
		s.known[at] = append(s.known[at], id)
		return id
	}
	of := kinds[at.kind].Of(resource.Store{Table: s.table, Now: s.Now, NewID: newID}, at.Owner)
	known, draft, act := s.known[at], thingDraft{strconv.FormatInt(s.random.Int64(), 36)}, s.random.IntN(10)
	ctx := change.WithActor(s.arm(s.Context(), s.crash()), change.Actor{Type: change.ActorToken, ID: 7}, change.SourceAPI)
	var err error
	if len(known) == 0 || len(known) < mostKnown && act < 3 {
		_, err = of.Create(ctx, draft)
	} else {
		err = s.change(ctx, of, known[s.random.IntN(len(known))], draft)
	}
	s.disarm()
	if refused := (*apierr.Error)(nil); err != nil && !errors.As(err, &refused) {
		s.uncertain++
	}
	s.commit()
}

// change updates a record, deletes it, or restores it if it is deleted. After a call without an answer,
// the test may not know whether it is.
func (s *simulation) change(ctx context.Context, of resource.Collection[thing, *thing, thingDraft], id string, draft thingDraft) error {
	c := resource.Change[thingDraft]{Verb: record.Updated, Draft: &draft}
	switch {
	case s.deleted[id]:
		c = resource.Change[thingDraft]{Verb: record.Restored}
	case s.random.IntN(8) == 0:
		c = resource.Change[thingDraft]{Verb: record.Deleted}
	}
	_, err := of.Change(ctx, id, c)
	if refused := (*apierr.Error)(nil); errors.As(err, &refused) || err == nil && c.Verb != record.Updated {
		s.deleted[id] = !s.deleted[id]
	}
	return err
}

// stream is the stream of the table: the change records in the order of their commits.
type stream struct {
	// noted are the keys of change records that transactions were to store.
	noted   []table.Key
	records []events.DynamoDBEventRecord
	// read is the number of the records that the publisher has published.
	read int
}

// note notes the keys of the change records of a transaction.
func (s *stream) note(in *dynamodb.TransactWriteItemsInput) {
	for _, write := range in.TransactItems {
		if write.Put == nil {
			continue
		}
		if kind, ok := write.Put.Item["k"].(*types.AttributeValueMemberS); ok && kind.Value == table.KindChange {
			s.noted = append(s.noted, table.Key{
				PK: write.Put.Item["PK"].(*types.AttributeValueMemberS).Value, SK: write.Put.Item["SK"].(*types.AttributeValueMemberS).Value,
			})
		}
	}
}

// commit moves the change records that were stored to the stream, and plans the publisher.
func (s *simulation) commit() {
	slices.SortFunc(s.stream.noted, func(a, b table.Key) int { return cmp.Or(strings.Compare(a.PK, b.PK), strings.Compare(a.SK, b.SK)) })
	for _, key := range slices.Compact(s.stream.noted) {
		item, err := s.table.Get(s.Context(), key)
		for ; err != nil && !errors.Is(err, table.ErrNotFound); item, err = s.table.Get(s.Context(), key) {
		}
		if err == nil {
			number := strconv.Itoa(len(s.stream.records))
			s.stream.records = append(s.stream.records, events.DynamoDBEventRecord{
				EventName: "INSERT", Change: events.DynamoDBStreamRecord{SequenceNumber: number, NewImage: item.Stream()},
			})
		}
	}
	s.stream.noted = nil
	s.after(time.Second, s.publish)
}

// publish invokes the publisher with the next records of the stream. After a crash, or from the record
// that the publisher reports, the records come again.
func (s *simulation) publish() {
	for len(s.stream.records) > s.stream.read {
		next := s.stream.records[s.stream.read:]
		next = next[:min(len(next), 1+s.random.IntN(100))]
		answer, err := s.publisher.Invoke(s.arm(s.Context(), s.crash()), events.DynamoDBEvent{Records: next})
		if s.disarm() || err != nil {
			s.after(5*time.Second, s.publish)
			return
		}
		s.stream.read += len(next)
		for _, f := range answer.BatchItemFailures {
			s.stream.read, err = strconv.Atoi(f.ItemIdentifier)
			require.NoError(s, err)
		}
	}
	s.after(3*time.Second, s.consumers[0].now(s.Context()))
}

// region is the bus of a simulation. It refuses some messages and sends some twice. Its rule sends the
// kinds of webhooks alone to the matcher.
type region struct{ *simulation }

var errRefused = errors.New("the bus refuses a message")

// Publish puts messages on the bus.
func (b region) Publish(_ context.Context, all []bus.Message) (refused []int, err error) {
	for i, m := range all {
		switch {
		case b.step() != nil:
			refused, err = append(refused, i), errCrash
		case b.random.IntN(50) == 0:
			refused, err = append(refused, i), errRefused
		case slices.Contains(webhook.Kinds, m.Kind):
			b.match(m)
		}
	}
	return refused, err
}

// match sends a message to the matcher, at times again within a day.
func (b region) match(m bus.Message) {
	text, err := json.Marshal(map[string]any{"source": bus.Source, "detail-type": m.Kind, "detail": m})
	require.NoError(b, err)
	b.webhooks.put(text, 0)
	if b.random.IntN(30) == 0 {
		b.after(time.Duration(b.random.Int64N(int64(24*time.Hour))), func() { b.webhooks.put(text, 0) })
	}
}

// readCommitted reads the messages of all change records of the table.
func (s *simulation) readCommitted(end time.Time) {
	s.Helper()
	for org := range int64(s.organizations) {
		log := changes.Log{Table: s.table, Root: change.Root(org + 1), Hourly: true, First: 100}
		for items, err := range log.Chunks(s.Context(), changes.Bound(s.receivers.began), changes.Bound(end), 100) {
			require.NoError(s, err)
			for _, item := range items {
				r, err := change.Decode(item)
				require.NoError(s, err)
				s.committed = append(s.committed, slices.DeleteFunc(bus.Messages(*r), func(m bus.Message) bool { return m.Kind == bus.FieldsChanged })...)
			}
		}
	}
	require.Len(s, s.stream.records, len(s.committed), "each change has one published kind")
}
