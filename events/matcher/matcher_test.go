package matcher_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/stretchr/testify/require"

	"lectern/events/matcher"
	"lectern/localstack/test/tabletest"
	"lectern/shared/bus"
	"lectern/shared/delivery"
	"lectern/shared/resource"
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
}

func (w *world) Of(context.Context, bus.Message) ([]*webhook.Endpoint, error) {
	if !w.takes {
		return nil, nil
	}
	return []*webhook.Endpoint{{Header: resource.Header{ID: endpoint}, Payload: webhook.PayloadThin}}, nil
}

func (*world) IDs(context.Context, int64) ([]string, error) { return []string{endpoint}, nil }

func (*world) Render(context.Context, bus.Message, string) ([]byte, error) {
	return []byte(`{"metadata":{` + delivery.Place), nil
}

func (w *world) Send(_ context.Context, posts ...bus.Post) error {
	for _, p := range posts {
		var t delivery.Task
		if err := json.Unmarshal(p.Body, &t); err != nil {
			return err
		}
		w.sent = append(w.sent, t)
	}
	return w.fault
}

// TestADeliveryOfAnEndedInvocationIsSent: the matcher ends between the delivery and its message, and
// then the endpoint takes the change no longer. The delivery is sent all the same, so that the deliverer
// cancels or postpones it: otherwise it would be pending for ever.
func TestADeliveryOfAnEndedInvocationIsSent(t *testing.T) {
	w, now := &world{takes: true, fault: errQueue}, noon
	m := matcher.New(matcher.Config{
		Table: tabletest.Start(t), Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
		Receivers: w, Renderer: w, Deliveries: w,
	})
	text, err := json.Marshal(map[string]any{"detail": bus.Message{
		Change: "018f9f6e-7c1a-7b51-9c39-6a5b8d1f2e31", At: wire.At(noon), Org: 7, Kind: "contact.updated", Sequence: 1,
		Type: "contact", RecordID: "018f9f6e-7c1a-7b51-9c39-6a5b8d1f2e32",
	}})
	require.NoError(t, err)
	invoke := func(receives string) int {
		w.sent = nil
		answer, err := m.Invoke(t.Context(), events.SQSEvent{Records: []events.SQSMessage{{
			MessageId: "1", Body: string(text), Attributes: map[string]string{"ApproximateReceiveCount": receives},
		}}})
		require.NoError(t, err)
		return len(answer.BatchItemFailures)
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
