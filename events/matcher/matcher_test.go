package matcher_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/stretchr/testify/require"

	"lectern/events/matcher"
	"lectern/localstack/test/tabletest"
	"lectern/shared/bus"
	"lectern/shared/delivery"
	"lectern/shared/resource"
	"lectern/shared/table"
	"lectern/shared/webhook"
	"lectern/shared/wire"
)

const endpoint = "018f9f6e-7c1a-7b51-9c39-6a5b8d1f2e30"

var (
	noon     = time.Date(2027, 5, 1, 12, 0, 0, 0, time.UTC)
	errQueue = errors.New("the queue fails")
)

// world is what surrounds a matcher: one endpoint, and a queue that may fail.
type world struct {
	takes bool
	fault error
	sent  []delivery.Task
	// delay is that of the message sent last.
	delay time.Duration
	// reads counts the reads of the endpoints.
	reads int
	mu    sync.Mutex
}

func (w *world) Of(context.Context, int64, ...bus.Message) ([]*webhook.Endpoint, error) {
	w.reads++
	if !w.takes {
		return nil, nil
	}
	return []*webhook.Endpoint{{Header: resource.Header{ID: endpoint}, Payload: webhook.PayloadThin}}, nil
}

func (*world) Takes(*webhook.Endpoint, bus.Message) bool { return true }

func (*world) IDs(context.Context, int64) ([]string, error) { return []string{endpoint}, nil }

func (*world) Render(context.Context, bus.Message, string) ([]byte, error) {
	return []byte(`{"metadata":{` + delivery.Place), nil
}

func (w *world) Send(_ context.Context, posts ...bus.Post) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range posts {
		var t delivery.Task
		if err := json.Unmarshal(p.Body, &t); err != nil {
			return err
		}
		w.sent, w.delay = append(w.sent, t), p.Delay
	}
	return w.fault
}

// matcher returns a matcher in the world.
func (w *world) matcher(table *table.Table, now func() time.Time) *matcher.Matcher {
	return matcher.New(matcher.Config{
		Table: table, Now: now, Log: slog.New(slog.DiscardHandler), Receivers: w, Renderer: w, Deliveries: w,
	})
}

// published returns the message of a change at noon, as received.
func published(t *testing.T, sequence int64, receives string) events.SQSMessage {
	t.Helper()
	text, err := json.Marshal(map[string]any{"detail": bus.Message{
		Change: "018f9f6e-7c1a-7b51-9c39-6a5b8d1f2e31", At: wire.At(noon), Org: 7, Kind: "contact.updated", Sequence: sequence,
		Type: "contact", RecordID: "018f9f6e-7c1a-7b51-9c39-6a5b8d1f2e32",
	}})
	require.NoError(t, err)
	return events.SQSMessage{
		MessageId: fmt.Sprint(sequence), Body: string(text), Attributes: map[string]string{"ApproximateReceiveCount": receives},
	}
}

// failures invokes a matcher and returns the number of messages that failed.
func failures(t *testing.T, m *matcher.Matcher, messages ...events.SQSMessage) int {
	t.Helper()
	answer, err := m.Invoke(t.Context(), events.SQSEvent{Records: messages})
	require.NoError(t, err)
	return len(answer.BatchItemFailures)
}

// TestADeliveryOfAnEndedInvocationIsSent: the matcher ends between the delivery and its message, and
// then the endpoint takes the change no longer. The delivery is sent all the same, so that the deliverer
// cancels or postpones it: otherwise it would be pending for ever.
func TestADeliveryOfAnEndedInvocationIsSent(t *testing.T) {
	w, now := &world{takes: true, fault: errQueue}, noon
	m := w.matcher(tabletest.Start(t), func() time.Time { return now })
	invoke := func(receives string) int {
		w.sent = nil
		return failures(t, m, published(t, 1, receives))
	}
	require.Equal(t, 1, invoke("1"))
	require.Len(t, w.sent, 1)
	first := w.sent[0]
	w.takes, w.fault = false, nil
	require.Zero(t, invoke("2"))
	require.Equal(t, []delivery.Task{first}, w.sent)
	w.takes = true
	require.Zero(t, invoke("3"))
	require.Equal(t, []delivery.Task{first}, w.sent, "once")
	w.takes = false
	require.Zero(t, invoke("1"))
	require.Empty(t, w.sent, "a message that comes the first time asks for no other delivery")
	now = noon.Add(matcher.Late + time.Second)
	require.Zero(t, invoke("1"))
	require.Equal(t, []delivery.Task{first}, w.sent, "a message that an operator has sent again counts from one")
}

// TestTheFirstAttemptsToAFailingEndpointAreNotSent: the breaker is open for a minute, so the matcher sends
// the third attempt with a delay. The messages of an invocation share the reads of the endpoints.
func TestTheFirstAttemptsToAFailingEndpointAreNotSent(t *testing.T) {
	w, items := &world{takes: true}, tabletest.Start(t)
	now := func() time.Time { return noon }
	m := w.matcher(items, now)
	_, err := delivery.Store{Table: items, Now: now}.Learn(t.Context(), 7, endpoint, slices.Repeat([]delivery.Result{{Failed: true}}, 10))
	require.NoError(t, err)
	require.Zero(t, failures(t, m, published(t, 1, "1"), published(t, 2, "1")))
	require.Len(t, w.sent, 2)
	require.Equal(t, []int{3, 3}, []int{w.sent[0].Attempt, w.sent[1].Attempt})
	require.InDelta(t, 305, w.delay.Seconds(), 62)
	require.Equal(t, 1, w.reads)

	require.NoError(t, delivery.Store{Table: items, Now: now}.ForgetStreak(t.Context(), 7, endpoint))
	w.sent = nil
	require.Zero(t, failures(t, m, published(t, 3, "1")))
	require.Len(t, w.sent, 1)
	require.Equal(t, 1, w.sent[0].Attempt)
	require.Zero(t, w.delay)
}

// TestMessagesThatComeTogether are matched in one transaction for as many as fit. Those of which something
// is stored, and a message that comes twice in an invocation, are matched one by one.
func TestMessagesThatComeTogether(t *testing.T) {
	w, items := &world{takes: true}, tabletest.Start(t)
	m := w.matcher(items, func() time.Time { return noon })
	ids := map[string]int{}
	sent := func() {
		for _, task := range w.sent {
			require.Equal(t, 1, task.Attempt)
			ids[task.ID]++
		}
		w.sent = nil
	}
	require.Zero(t, failures(t, m, published(t, 1, "1")))
	sent()
	var all []events.SQSMessage
	for sequence := range int64(60) {
		all = append(all, published(t, sequence+1, "1"))
	}
	require.Zero(t, failures(t, m, append(all[:10:10], all[3])...))
	sent()
	require.Len(t, ids, 10)
	require.Zero(t, failures(t, m, all[10:]...))
	sent()
	require.Len(t, ids, 60)

	w.fault = errQueue
	require.Equal(t, 2, failures(t, m, published(t, 61, "1"), published(t, 62, "1")))
	w.sent, w.fault = nil, nil
	require.Zero(t, failures(t, m, published(t, 61, "2"), published(t, 62, "2")))
	require.Len(t, w.sent, 2, "the deliveries are there, without a message")
	sent()
	require.Len(t, ids, 62)
}
