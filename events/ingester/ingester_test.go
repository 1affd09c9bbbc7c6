package ingester_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/events/ingester"
	"lectern/localstack/local/faulty"
	"lectern/localstack/test/stacktest"
	"lectern/localstack/test/tabletest"
	"lectern/shared/api"
	"lectern/shared/requestlog"
	"lectern/shared/table"
	"lectern/shared/wire"
)

var noon = time.Date(2027, 5, 1, 12, 0, 0, 0, time.UTC)

// line returns the line of a request as the service writes it, with some fields replaced or, by
// nil, left out.
func line(t *testing.T, id string, other map[string]any) string {
	t.Helper()
	fields := map[string]any{
		"timestamp": noon.Format(time.RFC3339Nano), "level": "INFO", "msg": "request", "request_id": id, "method": "GET", "status": 200,
		"ms": 12, "route": "/v1/event/{eventId}/sessions/{sessionId}", "eventId": "42", "sessionId": "s-1", "org": 7, "token": 9,
	}
	for name, value := range other {
		if fields[name] = value; value == nil {
			delete(fields, name)
		}
	}
	text, err := json.Marshal(fields)
	require.NoError(t, err)
	return string(text)
}

// lines returns n lines of requests with ids that begin with a name.
func lines(t *testing.T, name string, n int, other map[string]any) (all []string) {
	t.Helper()
	for i := range n {
		all = append(all, line(t, fmt.Sprint(name, "-", i), other))
	}
	return all
}

// bench is an ingester on a table, with its log.
type bench struct {
	*ingester.Ingester
	table *table.Table
	log   *stacktest.Log
}

// on returns a new ingester on a table, at noon.
func on(log *table.Table) bench {
	b := bench{table: log, log: &stacktest.Log{}}
	b.Ingester = ingester.New(log, func() time.Time { return noon }, api.NewLog(b.log))
	return b
}

// start returns an ingester on a new table, at noon.
func start(t *testing.T) bench {
	t.Helper()
	log := tabletest.Start(t)
	log.Now = func() time.Time { return noon }
	return on(log)
}

// counts returns the last line of the ingester's log.
func (b bench) counts(t *testing.T) (fields map[string]any) {
	t.Helper()
	all := strings.Split(strings.TrimSpace(b.log.String()), "\n")
	require.NoError(t, json.Unmarshal([]byte(all[len(all)-1]), &fields))
	return fields
}

// ids returns the ids of an organization's stored requests, in the order of ingestion.
func (b bench) ids(t *testing.T, org int64) (ids []string) {
	t.Helper()
	for _, p := range stacktest.Packs(t, b.table, org) {
		for _, e := range p.Entries {
			ids = append(ids, e.RequestID)
		}
	}
	return ids
}

func TestALineBecomesAnEntryOfItsOrganization(t *testing.T) {
	b := start(t)
	require.NoError(t, b.Ingest(t.Context(), []string{
		line(t, "read", map[string]any{"ip": "203.0.113.9", "user_agent": "curl/8", "timestamp": "2027-05-01T11:59:59.123456789+00:00", "bucket": "entity_reads"}),
		line(t, "refused", map[string]any{"status": 401, "eventId": nil, "sessionId": nil, "reason": "revoked"}),
		line(t, "lost", map[string]any{"route": nil, "eventId": nil, "status": 404, "method": "POST", "org": 8, "token": 1}),
		line(t, "odd", map[string]any{"route": "/v1/{org}/{ms}/{a}", "a": "b/c?", "token": nil}),
	}))
	require.Equal(t, []requestlog.Entry{
		{
			RequestID: "read", At: wire.At(noon.Add(-877 * time.Millisecond)), Method: "GET", Path: "/v1/event/42/sessions/s-1", Status: 200,
			Milliseconds: 12, Event: 42, Token: 9, IP: "203.0.113.9", UserAgent: "curl/8",
		},
		{
			RequestID: "refused", At: wire.At(noon), Method: "GET", Path: "/v1/event/{eventId}/sessions/{sessionId}", Status: 401,
			Milliseconds: 12, Token: 9, Reason: "revoked",
		},
		{RequestID: "odd", At: wire.At(noon), Method: "GET", Path: "/v1/{org}/{ms}/b%2Fc%3F", Status: 200, Milliseconds: 12, Event: 42},
	}, stacktest.Packs(t, b.table, 7)[0].Entries)
	require.Equal(t, []string{"lost"}, b.ids(t, 8))
	require.InDelta(t, 2, b.counts(t)["packs"], 0)
	require.InDelta(t, 4, b.counts(t)["requests"], 0)
}

// TestDamagedAndForeignLinesAreCounted, and hold up no other.
func TestDamagedAndForeignLinesAreCounted(t *testing.T) {
	b := start(t)
	damaged := []string{
		"", "{", "START RequestId: 1 Version: $LATEST", "[]", "7", `"request"`,
		line(t, "x", map[string]any{"timestamp": nil}), line(t, "x", map[string]any{"timestamp": "noon"}), line(t, "x", map[string]any{"org": "7"}),
		line(t, "", nil), line(t, "x", map[string]any{"method": nil}), line(t, "x", map[string]any{"status": 99}), line(t, "x", map[string]any{"status": 600}),
		line(t, "x", map[string]any{"ms": -1}), line(t, "x", map[string]any{"org": -7}), line(t, "x", map[string]any{"token": -1}),
		line(t, "x", map[string]any{"ms": 1.5}), line(t, strings.Repeat("x", 4096), nil), line(t, "x", nil)[1:],
	}
	foreign := []string{
		`{}`, `{"msg":null}`, `{"msg":{"msg":"request"}}`, line(t, "x", map[string]any{"msg": "a part of a bulk failed"}), `{"type":"platform.report"}`,
	}
	unowned := []string{line(t, "x", map[string]any{"org": nil, "token": nil, "status": 401, "reason": "missing"}), line(t, "x", map[string]any{"org": 0})}
	all := append(append(append([]string{line(t, "first", nil)}, damaged...), append(foreign, unowned...)...), line(t, "last", nil))
	require.NoError(t, b.Ingest(t.Context(), all))
	require.Equal(t, []string{"first", "last"}, b.ids(t, 7))
	got := b.counts(t)
	require.Equal(t, "INFO", got["level"])
	for name, want := range map[string]int{"damaged": len(damaged), "other_lines": len(foreign), "without_organization": len(unowned), "requests": 2, "lines": len(all)} {
		require.InDelta(t, want, got[name], 0, name)
	}
}

// TestPacksAreBounded: 200 requests, or 200 KB.
func TestPacksAreBounded(t *testing.T) {
	b := start(t)
	require.NoError(t, b.Ingest(t.Context(), append(lines(t, "r", 450, nil), lines(t, "other", 1, map[string]any{"org": 8})...)))
	var sizes []int
	for _, p := range stacktest.Packs(t, b.table, 7) {
		sizes = append(sizes, len(p.Entries))
	}
	require.Equal(t, []int{200, 200, 50}, sizes)
	ids := b.ids(t, 7)
	require.Equal(t, "r-0", ids[0])
	require.Equal(t, "r-449", ids[449])

	require.NoError(t, b.Ingest(t.Context(), lines(t, "long", 200, map[string]any{"org": 9, "reason": strings.Repeat("x", 3<<10)})))
	packs := stacktest.Packs(t, b.table, 9)
	require.Len(t, packs, 4)
	for _, p := range packs {
		encoded, err := json.Marshal(p)
		require.NoError(t, err)
		require.Less(t, len(encoded), 210<<10)
	}
	require.Len(t, b.ids(t, 9), 200)
}

// cutting does a transaction and then ends the invocation before the answer, while it is armed.
type cutting struct {
	table.Client
	armed atomic.Pointer[context.CancelFunc]
}

func (c *cutting) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	out, err := c.Client.TransactWriteItems(ctx, in, o...)
	if end := c.armed.Swap(nil); end != nil {
		(*end)()
		return nil, ctx.Err()
	}
	return out, err
}

// TestAPayloadIsStoredOnce, also if the first try ended after its transaction.
func TestAPayloadIsStoredOnce(t *testing.T) {
	c := &cutting{}
	log := tabletest.Behind(t, func(inner table.Client) table.Client { c.Client = inner; return c })
	payload := append(lines(t, "a", 201, nil), lines(t, "b", 3, map[string]any{"org": 8})...)
	ctx, end := context.WithCancel(t.Context())
	c.armed.Store(&end)
	first := on(log)
	require.ErrorIs(t, first.Ingest(ctx, payload), context.Canceled)
	require.Equal(t, "ERROR", first.counts(t)["level"])
	require.Len(t, first.ids(t, 7), 200, "the first pack is stored, and its answer lost")
	for n, stored := range []int{4, 0, 0} {
		again := on(log)
		require.NoError(t, again.Ingest(t.Context(), payload))
		require.Len(t, again.ids(t, 7), 201)
		require.Len(t, again.ids(t, 8), 3)
		require.InDelta(t, stored, again.counts(t)["requests"], 0, n)
		require.InDelta(t, 204-stored, again.counts(t)["repeated"], 0, n)
	}
}

// TestNoRequestIsLostOrTwiceWithFaults: payloads are repeated until they succeed, as Lambda does,
// on a table that conflicts, throttles and loses answers.
func TestNoRequestIsLostOrTwiceWithFaults(t *testing.T) {
	log := tabletest.Behind(t, func(inner table.Client) table.Client {
		return faulty.New(inner, faulty.Config{Seed: 1, Conflict: 0.3, Throttle: 0.3, DropBefore: 0.1, DropAfter: 0.1})
	})
	var want []string
	for n := range 20 {
		payload := lines(t, fmt.Sprint("payload-", n), 20, nil)
		for tries := 0; on(log).Ingest(t.Context(), payload) != nil; tries++ {
			require.Less(t, tries, 20)
		}
		for i := range payload {
			want = append(want, fmt.Sprint("payload-", n, "-", i))
		}
	}
	require.ElementsMatch(t, want, on(log).ids(t, 7))
}

// failing refuses the transactions of organization 8 while on is set.
type failing struct {
	table.Client
	on atomic.Bool
}

func (c *failing) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	if c.on.Load() && strings.HasPrefix(in.TransactItems[0].Put.Item["PK"].(*types.AttributeValueMemberS).Value, "O#8#") {
		return nil, errors.New("the table is busy")
	}
	return c.Client.TransactWriteItems(ctx, in, o...)
}

// TestAFailingWriteIsAnErrorThatHoldsUpNoOther, so that Lambda tries the payload again.
func TestAFailingWriteIsAnErrorThatHoldsUpNoOther(t *testing.T) {
	c := &failing{}
	b := on(tabletest.Behind(t, func(inner table.Client) table.Client { c.Client = inner; return c }))
	c.on.Store(true)
	payload := []string{line(t, "a", map[string]any{"org": 8}), line(t, "b", nil)}
	require.ErrorContains(t, b.Ingest(t.Context(), payload), "the table is busy")
	require.Empty(t, b.ids(t, 8))
	require.Equal(t, []string{"b"}, b.ids(t, 7))
	c.on.Store(false)
	require.NoError(t, b.Ingest(t.Context(), payload))
	require.Equal(t, []string{"a"}, b.ids(t, 8))
	require.Equal(t, []string{"b"}, b.ids(t, 7))
}

// TestWrongSecretsAreBounded to 60 of a minute and an organization, by all ingesters together.
func TestWrongSecretsAreBounded(t *testing.T) {
	b := start(t)
	forged := func(name string, n int, other map[string]any) []string {
		fields := map[string]any{"status": 401, "reason": "wrong_secret"}
		for key, value := range other {
			fields[key] = value
		}
		return lines(t, name, n, fields)
	}
	later := map[string]any{"timestamp": noon.Add(time.Minute).Format(time.RFC3339Nano)}
	require.NoError(t, b.Ingest(t.Context(), append(append(forged("a", 45, nil), forged("later", 10, later)...), lines(t, "read", 2, nil)...)))
	require.Len(t, b.ids(t, 7), 57)
	require.NoError(t, on(b.table).Ingest(t.Context(), append(forged("b", 150, nil), forged("other", 5, map[string]any{"org": 8})...)))
	ids := b.ids(t, 7)
	require.Len(t, ids, 57+15)
	require.Contains(t, ids, "b-14")
	require.NotContains(t, ids, "b-15", "the first are kept")
	require.Len(t, b.ids(t, 8), 5)
	for range 2 {
		require.NoError(t, b.Ingest(t.Context(), forged("c", 30, nil)))
		require.InDelta(t, 30, b.counts(t)["over_limit"], 0)
		require.InDelta(t, 0, b.counts(t)["packs"], 0)
	}
	require.Len(t, b.ids(t, 7), 57+15)
}

// event returns the event of a subscription.
func event(t *testing.T, kind string, lines ...string) (e events.CloudwatchLogsEvent) {
	t.Helper()
	data := events.CloudwatchLogsData{MessageType: kind}
	for _, text := range lines {
		data.LogEvents = append(data.LogEvents, events.CloudwatchLogsLogEvent{Message: text})
	}
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	require.NoError(t, json.NewEncoder(zip).Encode(data))
	require.NoError(t, zip.Close())
	e.AWSLogs.Data = base64.StdEncoding.EncodeToString(packed.Bytes())
	return e
}

func TestTheEventsOfASubscription(t *testing.T) {
	b := start(t)
	require.NoError(t, b.Invoke(t.Context(), event(t, "CONTROL_MESSAGE", line(t, "control", nil))))
	require.NoError(t, b.Invoke(t.Context(), event(t, "DATA_MESSAGE", line(t, "data", nil), "no line of ours")))
	require.NoError(t, b.Invoke(t.Context(), event(t, "DATA_MESSAGE")))
	require.Equal(t, []string{"data"}, b.ids(t, 7))
	for _, broken := range []string{"", "%", "aGVsbG8="} {
		require.Error(t, b.Invoke(t.Context(), events.CloudwatchLogsEvent{AWSLogs: events.CloudwatchLogsRawData{Data: broken}}))
	}
}

// TestTheServicesOwnLinesAreRead: the form of the line is that of the log of a Lambda.
func TestTheServicesOwnLinesAreRead(t *testing.T) {
	b, own := start(t), &stacktest.Log{}
	api.NewLog(own).LogAttrs(t.Context(), slog.LevelError, requestlog.Message, slog.String("request_id", "own"), slog.String("method", "PUT"),
		slog.Int("status", 500), slog.Int64("ms", 3), slog.Int64("org", 7), slog.Any("error", errors.New("long\nstack")))
	require.NoError(t, b.Ingest(t.Context(), []string{own.String()}))
	require.Equal(t, []string{"own"}, b.ids(t, 7))
}
