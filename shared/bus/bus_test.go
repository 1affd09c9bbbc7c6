package bus_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/stretchr/testify/require"

	workers "lectern/events"
	local "lectern/localstack/local/bus"
	"lectern/shared/bus"
)

// start starts a local bus and returns its address and configuration.
func start(t *testing.T) (string, local.Config) {
	t.Helper()
	c := local.Config{
		Region: "us", AWSRegion: "us-east-1", Rules: workers.Rules, Workers: workers.Workers, Log: slog.New(slog.DiscardHandler), Now: time.Now,
	}
	b, err := local.Open(c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Stop()) })
	return b.URL, c
}

// TestTheEnvironmentNamesThePlaces: what the local bus gives a binary leads to its bus and queues.
func TestTheEnvironmentNamesThePlaces(t *testing.T) {
	url, c := start(t)
	variables := append(local.At(url, c).Variables(), "AWS_ENDPOINT_URL_SQS="+url, "AWS_ENDPOINT_URL_EVENTBRIDGE="+url,
		"AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local")
	require.Contains(t, variables, "LECTERN_BUS=lectern-us")
	require.Contains(t, variables, "LECTERN_QUEUE_WEBHOOKS_DEAD="+url+"/000000000000/lectern-us-webhooks-dead")
	for _, v := range variables {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
	places, err := bus.FromEnvironment(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"deliveries", "webhooks", "work"}, places.Redrivable())
	to, err := places.Bus()
	require.NoError(t, err)
	_, err = to.Publish(t.Context(), []bus.Message{{Kind: "session.created"}})
	require.NoError(t, err)
	q, err := places.Queue(workers.Webhooks)
	require.NoError(t, err)
	waiting, err := q.Waiting(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, waiting)

	t.Setenv("LECTERN_BUS", "")
	t.Setenv("LECTERN_QUEUE_WEBHOOKS", "")
	places, err = bus.FromEnvironment(t.Context())
	require.NoError(t, err)
	_, err = places.Bus()
	require.ErrorIs(t, err, bus.ErrUnnamed)
	_, err = places.Queue(workers.Webhooks)
	require.ErrorIs(t, err, bus.ErrUnnamed)
	_, err = (*bus.Places)(nil).Bus()
	require.ErrorIs(t, err, bus.ErrUnnamed)
}

// taking passes calls to a queue, and refuses the last entry of the first batches.
type taking struct {
	url     string
	refuses atomic.Int64
	calls   atomic.Int64
}

func (d *taking) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var call struct {
		QueueURL string           `json:"QueueUrl"`
		Entries  []map[string]any `json:"Entries"`
	}
	_ = json.Unmarshal(body, &call)
	d.calls.Add(1)
	var failed []any
	if d.refuses.Add(-1) >= 0 {
		last := len(call.Entries) - 1
		failed = append(failed, map[string]any{"Id": call.Entries[last]["Id"], "Code": "InternalError", "Message": "busy"})
		call.Entries = call.Entries[:last]
	}
	answer := map[string]any{}
	if len(call.Entries) > 0 {
		body, _ = json.Marshal(call)
		out, _ := http.NewRequestWithContext(r.Context(), http.MethodPost, d.url, bytes.NewReader(body))
		out.Header.Set("X-Amz-Target", r.Header.Get("X-Amz-Target"))
		in, err := http.DefaultClient.Do(out)
		if err != nil {
			panic(err)
		}
		defer in.Body.Close()
		_ = json.NewDecoder(in.Body).Decode(&answer)
	}
	answer["Failed"] = failed
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	_ = json.NewEncoder(w).Encode(answer)
}

// TestWhatAQueueDoesNotTakeIsSentAgain, and is an error in the end.
func TestWhatAQueueDoesNotTakeIsSentAgain(t *testing.T) {
	url, c := start(t)
	door := &taking{url: url}
	server := httptest.NewServer(door)
	defer server.Close()
	q, err := bus.Local(local.At(server.URL, c)).Queue(workers.Deliveries)
	require.NoError(t, err)
	direct, err := bus.Local(local.At(url, c)).Queue(workers.Deliveries)
	require.NoError(t, err)
	var posts []bus.Post
	for n := range 12 {
		posts = append(posts, bus.Post{Body: fmt.Append(nil, n)})
	}
	door.refuses.Store(3)
	require.NoError(t, q.Send(t.Context(), posts...))
	require.EqualValues(t, 5, door.calls.Load())
	seen := map[string]int{}
	for len(seen) < len(posts) {
		got, err := direct.Receive(t.Context(), 10)
		require.NoError(t, err)
		require.NotEmpty(t, got)
		for _, m := range got {
			seen[string(m.Body)]++
		}
		require.NoError(t, direct.Delete(t.Context(), got))
	}
	waiting, err := direct.Waiting(t.Context())
	require.NoError(t, err)
	require.Zero(t, waiting, "nothing was sent twice")

	door.refuses.Store(100)
	require.ErrorContains(t, q.Send(t.Context(), posts[:2]...), "a message is refused: InternalError: busy")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, q.Send(ctx, posts...), context.Canceled)
}

// TestHandleReportsWhatFailed, a panic too, and nothing else.
func TestHandleReportsWhatFailed(t *testing.T) {
	var event events.SQSEvent
	for _, body := range []string{"good", "bad", "panics", "good"} {
		event.Records = append(event.Records, events.SQSMessage{MessageId: fmt.Sprint(len(event.Records), body), Body: body})
	}
	event.Records[3].Attributes = map[string]string{"ApproximateReceiveCount": "3"}
	receives := make(chan int, 2)
	failed := map[string]error{}
	answer := bus.Handle(t.Context(), event, func(_ context.Context, a bus.Arrival) error {
		switch string(a.Body) {
		case "bad":
			return bus.ErrPermanent
		case "panics":
			panic("a bug")
		}
		receives <- a.Receives
		return nil
	}, func(id string, err error) { failed[id] = err })
	var ids []string
	for _, f := range answer.BatchItemFailures {
		ids = append(ids, f.ItemIdentifier)
	}
	require.ElementsMatch(t, []string{"1bad", "2panics"}, ids)
	require.ElementsMatch(t, []int{1, 3}, []int{<-receives, <-receives})
	require.ErrorIs(t, failed["1bad"], bus.ErrPermanent)
	require.ErrorContains(t, failed["2panics"], "a bug")
	_, err := bus.Published([]byte("no event"))
	require.True(t, errors.Is(err, bus.ErrPermanent))
}
