package publisher_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	lambda "github.com/aws/aws-lambda-go/events"
	"github.com/stretchr/testify/require"

	"lectern/events"
	"lectern/events/publisher"
	local "lectern/localstack/local/bus"
	"lectern/localstack/test/tabletest"
	"lectern/shared/bus"
	"lectern/shared/change"
	"lectern/shared/table"
	"lectern/shared/wire"
)

var noon = time.Date(2027, 5, 1, 12, 0, 0, 0, time.UTC)

// bench is a publisher with a bus and a table.
type bench struct {
	*publisher.Publisher
	places *bus.Places
	table  *table.Table
	log    *bytes.Buffer
}

func start(t *testing.T) bench {
	t.Helper()
	c := local.Config{Region: "us", AWSRegion: "us-east-1", Rules: events.Rules, Workers: events.Workers, Log: slog.New(slog.DiscardHandler), Now: time.Now}
	b, err := local.Open(c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Stop()) })
	places := bus.Local(local.At(b.URL, c))
	log := &bytes.Buffer{}
	p, err := publisher.Start(places, slog.New(slog.NewJSONHandler(log, nil)))
	require.NoError(t, err)
	p.Now = func() time.Time { return noon.Add(time.Second) }
	return bench{p, places, tabletest.Start(t), log}
}

// record writes a change record with kinds to the table and returns it as the stream of the table
// shows it, after the way through JSON.
func (b bench) record(t *testing.T, version int64, description string, kinds ...string) lambda.DynamoDBEventRecord {
	t.Helper()
	r := change.Record{
		At: wire.At(noon), Org: 7, Event: 9, Type: "session", RecordID: "s", Version: version, Action: "session.updated",
		Values: []change.Value{{Field: "description", Old: "", New: description}},
	}
	for i, k := range kinds {
		r.Kinds = append(r.Kinds, change.Kind{Name: k, Sequence: version*10 + int64(i), Fields: []string{"description"}})
	}
	r = change.New(change.WithActor(t.Context(), change.Actor{Type: change.ActorToken, ID: 3, Token: 4}, change.SourceAPI), r)
	require.NoError(t, b.table.Transact(t.Context(), r.Write()))
	item, err := b.table.Get(t.Context(), r.Key())
	require.NoError(t, err)
	return streamed(item, version)
}

func streamed(item table.Item, number int64) lambda.DynamoDBEventRecord {
	return lambda.DynamoDBEventRecord{
		EventName: "INSERT", Change: lambda.DynamoDBStreamRecord{SequenceNumber: strconv.FormatInt(number, 10), NewImage: item.Stream()},
	}
}

// invoke invokes the publisher with an event that was JSON.
func (b bench) invoke(t *testing.T, records ...lambda.DynamoDBEventRecord) (lambda.DynamoDBEventResponse, error) {
	t.Helper()
	for i := range records {
		records[i].Change.ApproximateCreationDateTime.Time = noon
	}
	text, err := json.Marshal(lambda.DynamoDBEvent{Records: records})
	require.NoError(t, err)
	var event lambda.DynamoDBEvent
	require.NoError(t, json.Unmarshal(text, &event))
	return b.Invoke(t.Context(), event)
}

// published returns the messages that came to the queue of webhooks.
func (b bench) published(t *testing.T) (all []bus.Message) {
	t.Helper()
	for _, body := range b.bodies(t, events.Webhooks) {
		got, err := bus.Published([]byte(body))
		require.NoError(t, err)
		all = append(all, got)
	}
	return all
}

// bodies returns the bodies of the messages of a queue.
func (b bench) bodies(t *testing.T, queue string) (all []string) {
	t.Helper()
	q, err := b.places.Queue(queue)
	require.NoError(t, err)
	for {
		messages, err := q.Receive(t.Context(), 10)
		require.NoError(t, err)
		if len(messages) == 0 {
			return all
		}
		for _, m := range messages {
			all = append(all, string(m.Body))
		}
	}
}

// line returns the last line of the log.
func (b bench) line(t *testing.T) (fields map[string]any) {
	t.Helper()
	all := strings.Split(strings.TrimSpace(b.log.String()), "\n")
	require.NoError(t, json.Unmarshal([]byte(all[len(all)-1]), &fields))
	return fields
}

// TestEveryKindIsAMessage without a value of the record, also of a record that is stored deflated.
func TestEveryKindIsAMessage(t *testing.T) {
	b := start(t)
	long := b.record(t, 2, strings.Repeat("A secret place. ", 200), "session.updated", "session.speaker.attached")
	require.Contains(t, long.Change.NewImage, "z")
	answer, err := b.invoke(t, b.record(t, 1, "short", "session.created"), long, b.record(t, 3, "short"), b.record(t, 4, "short", "rule.updated"))
	require.NoError(t, err)
	require.Empty(t, answer.BatchItemFailures)
	got := b.published(t)
	slices.SortFunc(got, func(x, y bus.Message) int { return int(x.Sequence - y.Sequence) })
	require.Len(t, got, 3, "no rule is for rule.updated")
	id := got[0].Change
	require.Equal(t, bus.Message{
		Change: id, At: wire.At(noon), Org: 7, Event: 9, Kind: "session.created", Sequence: 10, Fields: []string{"description"},
		Type: "session", RecordID: "s", Version: 1, Source: "public_api", Actor: change.Actor{Type: "api_token", ID: 3, Token: 4},
	}, got[0])
	require.Equal(t, []string{"session.created", "session.updated", "session.speaker.attached"}, []string{got[0].Kind, got[1].Kind, got[2].Kind})
	fields := b.line(t)
	require.Equal(t, "INFO", fields["level"])
	for name, want := range map[string]int{"records": 4, "messages": 4, "refused": 0, "undecoded": 0, "age_ms": 1000} {
		require.InDelta(t, want, fields[name], 0, name)
	}
}

// TestADamagedRecordHoldsUpNoOther: the others are published, the keys of the damaged ones are kept, and
// the stream goes on.
func TestADamagedRecordHoldsUpNoOther(t *testing.T) {
	deflated := func(b bench) lambda.DynamoDBEventRecord {
		r := b.record(t, 2, "", "session.created")
		r.Change.NewImage["z"] = lambda.NewBinaryAttribute([]byte{9, 9})
		return r
	}
	item := func(key table.Key, kind, data string) func(bench) lambda.DynamoDBEventRecord {
		return func(bench) lambda.DynamoDBEventRecord {
			return streamed(table.Item{Key: key, Version: 1, Data: []byte(data), Kind: kind}, 2)
		}
	}
	for name, damaged := range map[string]func(bench) lambda.DynamoDBEventRecord{
		"no JSON":          item(table.Key{PK: "O#7#H#2027050112#0", SK: "x"}, table.KindChange, "{"),
		"no change record": item(table.Key{PK: "O#7", SK: "x"}, "", "{}"),
		"no deflated data": deflated,
	} {
		b := start(t)
		b.Whole = true
		one := damaged(b)
		answer, err := b.invoke(t, b.record(t, 1, "", "session.created"), one, b.record(t, 3, "", "session.updated"), one)
		require.NoError(t, err, name)
		require.Empty(t, answer.BatchItemFailures, name)
		require.Len(t, b.published(t), 2, name)
		key := table.KeyOfStream(one.Change.NewImage)
		kept := `{"pk":"` + key.PK + `","sk":"` + key.SK + `"}`
		require.Equal(t, []string{kept, kept}, b.bodies(t, bus.Dead(bus.Changes)), name)
		require.InDelta(t, 2, b.line(t)["undecoded"], 0, name)
		require.Equal(t, "ERROR", b.line(t)["level"], name)
	}
}

// full refuses each message.
type full struct{}

func (full) Send(context.Context, ...bus.Post) error { return errors.New("the queue is away") }

// TestADamagedRecordThatIsNotKeptFails: nothing may be given up without a trace. The stream goes on from the
// damaged record.
func TestADamagedRecordThatIsNotKeptFails(t *testing.T) {
	b := start(t)
	b.Dead = full{}
	damaged := streamed(table.Item{Key: table.Key{PK: "O#7#H#2027050112#0", SK: "x"}, Version: 1, Data: []byte("{"), Kind: table.KindChange}, 2)
	records := []lambda.DynamoDBEventRecord{b.record(t, 1, "", "session.created"), damaged, b.record(t, 3, "", "session.updated")}
	answer, err := b.invoke(t, records...)
	require.NoError(t, err)
	require.Equal(t, []lambda.DynamoDBBatchItemFailure{{ItemIdentifier: "2"}}, answer.BatchItemFailures)
	require.Len(t, b.published(t), 2)
	require.Contains(t, b.line(t)["error"], "the queue is away")
	b.Whole = true
	_, err = b.invoke(t, records...)
	require.ErrorIs(t, err, publisher.ErrFailed)
}

// refusing refuses the messages of a sequence, behind a bus.
type refusing struct {
	bus.Bus
	sequences []int64
}

func (r refusing) Publish(ctx context.Context, messages []bus.Message) (refused []int, err error) {
	for i, m := range messages {
		if slices.Contains(r.sequences, m.Sequence) {
			refused, err = append(refused, i), errors.New("throttled")
			continue
		}
		if _, err := r.Bus.Publish(ctx, []bus.Message{m}); err != nil {
			return refused, err
		}
	}
	return refused, err
}

// TestTheFirstRefusedRecordIsReported, since the stream goes on from there.
func TestTheFirstRefusedRecordIsReported(t *testing.T) {
	b := start(t)
	b.Bus = refusing{b.Bus, []int64{21, 30}}
	records := []lambda.DynamoDBEventRecord{
		b.record(t, 1, "", "session.created"), b.record(t, 2, "", "session.updated", "session.speaker.attached"), b.record(t, 3, "", "session.updated"),
	}
	answer, err := b.invoke(t, records...)
	require.NoError(t, err)
	require.Equal(t, []lambda.DynamoDBBatchItemFailure{{ItemIdentifier: "2"}}, answer.BatchItemFailures)
	require.Len(t, b.published(t), 2)
	require.InDelta(t, 2, b.line(t)["refused"], 0)
	require.Equal(t, "publisher: from record 2 on: throttled", b.line(t)["error"])
}

func TestABusThatIsAwayFailsEveryRecord(t *testing.T) {
	b := start(t)
	away, err := bus.Local(bus.Config{Endpoint: "http://127.0.0.1:9", Region: "us-east-1", Bus: "lectern-us"}).Bus()
	require.NoError(t, err)
	b.Bus = away
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	answer, err := b.Invoke(ctx, lambda.DynamoDBEvent{Records: []lambda.DynamoDBEventRecord{b.record(t, 1, "", "session.created")}})
	require.NoError(t, err)
	require.Equal(t, "1", answer.BatchItemFailures[0].ItemIdentifier)
}
