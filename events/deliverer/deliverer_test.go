package deliverer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/events/deliverer"
	"lectern/localstack/test/stacktest"
	"lectern/localstack/test/tabletest"
	"lectern/shared/api"
	"lectern/shared/bus"
	"lectern/shared/delivery"
	"lectern/shared/resource"
	"lectern/shared/table"
	"lectern/shared/webhook"
	"lectern/shared/wire"
)

const (
	org      = 7
	endpoint = "018f9f6e-7c1a-7b51-9c39-6a5b8d1f2e30"
	person   = "018f9f6e-7c1a-7b51-9c39-6a5b8d1f2e31"
)

var noon = time.Date(2027, 5, 1, 12, 0, 0, 0, time.UTC)

// bench is a deliverer with one endpoint, whose answer is set, and a clock.
type bench struct {
	*testing.T
	*deliverer.Deliverer
	delivery.Store
	now time.Time
	log *stacktest.Log

	mu       sync.Mutex
	found    *webhook.Endpoint
	reason   string
	answer   webhook.Answer
	fault    error
	requests []webhook.Request
	posts    []bus.Post
	next     int
	// moved has an attempt replace the endpoint by to.
	moved bool
	to    *webhook.Endpoint
}

func start(t *testing.T) *bench {
	t.Helper()
	b := &bench{T: t, now: noon, log: &stacktest.Log{}, answer: webhook.Answer{Status: 200, Body: "ok"}}
	b.found = &webhook.Endpoint{Header: resource.Header{ID: endpoint}, Enabled: true}
	clock := func() time.Time { return b.now }
	b.Store = delivery.Store{Table: tabletest.Start(t), Now: clock}
	b.Table.Now = clock
	b.Deliverer = deliverer.New(deliverer.Config{
		Table: b.Table, Now: clock, Log: api.NewLog(b.log), Receivers: b, Sender: sender{b}, Deliveries: b,
	})
	return b
}

func (b *bench) Find(_ context.Context, _ int64, id string) (*webhook.Endpoint, error) {
	if id != endpoint {
		return nil, nil
	}
	return b.found, nil
}

func (b *bench) May(e *webhook.Endpoint, _ string, _ int64) bool { return e.PausedReason == nil }

func (b *bench) Disable(_ context.Context, _ *webhook.Endpoint, _ int64, reason string) error {
	b.found, b.reason = nil, reason
	return nil
}

func (b *bench) Send(_ context.Context, posts ...bus.Post) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.posts = append(b.posts, posts...)
	return nil
}

// sender is the network of a bench.
type sender struct{ *bench }

func (s sender) Send(_ context.Context, r webhook.Request) (webhook.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if s.moved {
		s.found = s.to
	}
	return s.answer, s.fault
}

// Render renders a body without content.
func (b *bench) Render(context.Context, bus.Message, string) ([]byte, error) {
	return []byte(`{"metadata":{` + delivery.Place), nil
}

// add adds n deliveries and returns their first tasks.
func (b *bench) add(n int) (tasks []delivery.Task) {
	b.Helper()
	for range n {
		b.next++
		m := bus.Message{
			Change: uuid.NewString(), At: wire.At(b.now), Org: org, Kind: "contact.updated", Sequence: int64(b.next), Type: "contact", RecordID: person,
		}
		added, err := b.Add(b.Context(), m, []delivery.Target{{Endpoint: endpoint, Form: "thin"}}, b)
		require.NoError(b, err)
		tasks = append(tasks, added.Tasks...)
	}
	return tasks
}

// invoke invokes the deliverer with tasks, and returns the number of messages that failed.
func (b *bench) invoke(tasks ...delivery.Task) int {
	b.Helper()
	var event events.SQSEvent
	for i, t := range tasks {
		post, err := t.Post(0)
		require.NoError(b, err)
		event.Records = append(event.Records, events.SQSMessage{MessageId: fmt.Sprint(i), Body: string(post.Body)})
	}
	answer, err := b.Invoke(b.Context(), event)
	require.NoError(b, err)
	return len(answer.BatchItemFailures)
}

// show returns the delivery of a task.
func (b *bench) show(t delivery.Task) *delivery.Work {
	b.Helper()
	w, err := b.Open(b.Context(), t)
	require.NoError(b, err)
	require.NotNil(b, w)
	return w
}

// counts returns the last line of the log about an invocation.
func (b *bench) counts() (fields map[string]any) {
	b.Helper()
	all := strings.Split(strings.TrimSpace(b.log.String()), "\n")
	require.NoError(b, json.Unmarshal([]byte(all[len(all)-1]), &fields))
	require.Equal(b, "delivered", fields["msg"])
	return fields
}

// TestAnAttemptIsMadeOnce: a message that comes again makes no request, and sends the next attempt
// again while the queue waits for it.
func TestAnAttemptIsMadeOnce(t *testing.T) {
	b := start(t)
	b.answer = webhook.Answer{Status: 500, Latency: time.Second}
	task := b.add(1)[0]
	b.now = noon.Add(250 * time.Millisecond)
	require.Zero(t, b.invoke(task))
	require.InDelta(t, 250, b.counts()["latency_ms"], 0)
	require.Len(t, b.requests, 1)
	require.Equal(t, string(b.requests[0].Body), `{"metadata":{"id":"`+task.ID+`"}}`)
	require.Len(t, b.posts, 1)
	require.InDelta(t, 6, b.posts[0].Delay.Seconds(), 1.01)
	require.Equal(t, endpoint, b.posts[0].Group)
	require.Zero(t, b.invoke(task))
	require.Len(t, b.requests, 1)
	require.Len(t, b.posts, 2)
	require.Equal(t, b.posts[0].Body, b.posts[1].Body)
	require.InDelta(t, 1, b.counts()["dropped"], 0)

	var next delivery.Task
	require.NoError(t, json.Unmarshal(b.posts[0].Body, &next))
	b.answer = webhook.Answer{Status: 200}
	require.Zero(t, b.invoke(next))
	require.Equal(t, delivery.Delivered, b.show(task).Status)
	require.Zero(t, b.invoke(task, next))
	require.Len(t, b.requests, 2)
	require.Len(t, b.posts, 2)
}

// TestOnlyFaultsOfTheServiceFail, and hold up no other message.
func TestOnlyFaultsOfTheServiceFail(t *testing.T) {
	b := start(t)
	for _, answer := range []webhook.Answer{{Status: 500}, {Status: 301}, {Error: "The endpoint did not answer in time."}} {
		b.answer = answer
		require.Zero(t, b.invoke(b.add(1)...))
	}
	task := b.add(1)[0]
	b.fault = errors.New("the keys cannot be read")
	require.Equal(t, 1, b.invoke(task))
	require.Empty(t, b.show(task).Attempts)
	require.Contains(t, b.log.String(), "the keys cannot be read")
	b.fault, b.answer = nil, webhook.Answer{Status: 200}
	unknown := task
	unknown.ID = uuid.NewString()
	require.Equal(t, 1, b.invoke(task, unknown, delivery.Task{Org: org}))
	require.Equal(t, delivery.Delivered, b.show(task).Status)
}

// TestAnEndpointThatIsGone is disabled, and what is pending is cancelled.
func TestAnEndpointThatIsGone(t *testing.T) {
	b := start(t)
	tasks := b.add(2)
	b.answer = webhook.Answer{Status: 410}
	require.Zero(t, b.invoke(tasks[0]))
	require.Equal(t, deliverer.ReasonGone, b.reason)
	require.Equal(t, delivery.Failed, b.show(tasks[0]).Status)
	require.Zero(t, b.invoke(tasks[1]))
	require.Equal(t, delivery.Cancelled, b.show(tasks[1]).Status)
	require.Len(t, b.requests, 1)
	again := tasks[0]
	again = b.asked(again, delivery.Redelivery)
	require.Zero(t, b.invoke(again))
	require.Len(t, b.requests, 1)
	require.Equal(t, "Not sent: the endpoint is disabled.", *b.show(again).Attempts[1].Error)
}

// TestAPausedEndpointGetsNothing, and its deliveries wait.
func TestAPausedEndpointGetsNothing(t *testing.T) {
	b := start(t)
	task, reason := b.add(1)[0], "The owner is inactive."
	b.found.PausedReason = &reason
	require.Zero(t, b.invoke(task))
	require.Empty(t, b.requests)
	w := b.show(task)
	require.Equal(t, delivery.Pending, w.Status)
	require.WithinRange(t, w.NextAttemptAt.Time, noon.Add(time.Hour), noon.Add(2*time.Hour))
	b.found.PausedReason, b.now = nil, w.NextAttemptAt.Time
	require.Zero(t, b.invoke(task))
	require.Equal(t, delivery.Delivered, b.show(task).Status)
	require.NotContains(t, b.counts(), "latency_ms", "the pause is no latency")
}

// TestThePauseIsSpread over an hour, and depends on the delivery alone.
func TestThePauseIsSpread(t *testing.T) {
	b := start(t)
	tasks, reason := b.add(60), "The owner is inactive."
	b.found.PausedReason = &reason
	require.Zero(t, b.invoke(tasks...))
	quarters, waits := map[time.Duration]int{}, map[string]time.Duration{}
	for _, task := range tasks {
		waits[task.ID] = b.show(task).NextAttemptAt.Sub(noon)
		require.GreaterOrEqual(t, waits[task.ID], time.Hour)
		quarters[waits[task.ID].Truncate(15*time.Minute)]++
	}
	require.Len(t, quarters, 4)
	for quarter, n := range quarters {
		require.Less(t, n, 30, quarter)
	}
	b.now = noon.Add(3 * time.Hour)
	require.Zero(t, b.invoke(tasks...))
	for _, task := range tasks {
		require.Equal(t, waits[task.ID], b.show(task).NextAttemptAt.Sub(b.now))
	}
}

// TestAnErasedBodyIsNotSent.
func TestAnErasedBodyIsNotSent(t *testing.T) {
	b := start(t)
	task := b.add(1)[0]
	for item, err := range b.Table.Between(t.Context(), table.Org(org)+"#B#contact#"+person, "0", "~") {
		require.NoError(t, err)
		require.NoError(t, b.Table.Transact(t.Context(), table.Delete(item.Key)))
	}
	require.Zero(t, b.invoke(task))
	require.Empty(t, b.requests)
	require.Equal(t, delivery.Cancelled, b.show(task).Status)
}

// TestAFailingEndpointIsProbed: the breaker withholds attempts, which count, and lets one through
// after a minute. A redelivery that a client asks for passes.
func TestAFailingEndpointIsProbed(t *testing.T) {
	b := start(t)
	b.answer = webhook.Answer{Status: 500}
	require.Zero(t, b.invoke(b.add(10)...))
	require.Len(t, b.requests, 10)
	held := b.add(3)
	require.Zero(t, b.invoke(held...))
	require.Len(t, b.requests, 10)
	require.InDelta(t, 3, b.counts()["not_sent"], 0)
	w := b.show(held[0])
	require.Equal(t, "Not sent: the endpoint is failing.", *w.Attempts[0].Error)
	require.NotNil(t, w.NextAttemptAt)
	require.Zero(t, b.invoke(b.asked(held[0], delivery.Redelivery)))
	require.Len(t, b.requests, 11)

	b.now = noon.Add(time.Minute)
	require.Zero(t, b.invoke(b.add(10)...))
	require.Len(t, b.requests, 12, "one probe")
	b.now, b.answer = noon.Add(4*time.Minute), webhook.Answer{Status: 200}
	require.Zero(t, b.invoke(b.add(5)...))
	require.Len(t, b.requests, 13)
	require.Zero(t, b.invoke(b.add(5)...))
	require.Len(t, b.requests, 18, "the probe succeeded")
}

// TestAnEndpointThatFailsForFiveDays is disabled; a redelivery that fails does not count.
func TestAnEndpointThatFailsForFiveDays(t *testing.T) {
	b := start(t)
	b.answer = webhook.Answer{Status: 500}
	for day := range 6 {
		require.Empty(t, b.reason, day)
		b.now = noon.Add(time.Duration(day) * 24 * time.Hour)
		task := b.add(1)[0]
		require.Zero(t, b.invoke(task))
		require.Zero(t, b.invoke(b.asked(task, delivery.Redelivery)))
	}
	require.Equal(t, deliverer.ReasonFailing, b.reason)
	s, err := b.ReadState(t.Context(), org, endpoint)
	require.NoError(t, err)
	require.True(t, s.Healthy(), "an endpoint that is enabled again begins anew")
}

// asked returns the task of another attempt, for which a client asks now.
func (b *bench) asked(t delivery.Task, mode delivery.Mode) delivery.Task {
	t.Mode, t.Asked = mode, b.now.UnixNano()
	return t
}

// decodeTask returns the task of a message.
func decodeTask(t *testing.T, post bus.Post) (task delivery.Task) {
	t.Helper()
	require.NoError(t, json.Unmarshal(post.Body, &task))
	return task
}

// exhaust fails all scheduled attempts of a new delivery, and returns its first task.
func (b *bench) exhaust() delivery.Task {
	b.Helper()
	b.answer = webhook.Answer{Status: 500}
	first := b.add(1)[0]
	for w := b.show(first); w.Status == delivery.Pending; w = b.show(first) {
		b.now = w.NextAttemptAt.Time
		task := first
		task.Attempt = w.Hidden.Made + 1
		require.Zero(b, b.invoke(task))
	}
	require.Equal(b, delivery.Failed, b.show(first).Status)
	return first
}

// TestAReplayThatSucceedsDoesNotDisable an endpoint: the delivery has failed for three days, the
// receiver works again, and the replay comes on the sixth day. Neither does a replay that fails.
func TestAReplayThatSucceedsDoesNotDisable(t *testing.T) {
	for _, mode := range []delivery.Mode{delivery.Replayed, delivery.Redelivery} {
		for _, status := range []int{200, 500} {
			b := start(t)
			task := b.exhaust()
			b.answer, b.now = webhook.Answer{Status: status}, noon.Add(6*24*time.Hour)
			require.Zero(t, b.invoke(b.asked(task, mode)))
			require.Len(t, b.requests, delivery.MostAttempts+1)
			require.Empty(t, b.reason, "%s %d", mode, status)
			s, err := b.ReadState(t.Context(), org, endpoint)
			require.NoError(t, err)
			require.Equal(t, status == 200, s.FailingSince.IsZero(), "%s %d", mode, status)
			if status != 200 {
				continue
			}
			b.answer = webhook.Answer{Status: 500} // The next change begins a new streak.
			require.Zero(t, b.invoke(b.add(1)...))
			require.Empty(t, b.reason, mode)
		}
	}
}

// TestAReplayWaitsForTheBreaker: the receiver works again before the breaker closes, and the replay is
// sent again until the breaker lets the attempt through. A receiver that goes on failing ends the
// waiting.
func TestAReplayWaitsForTheBreaker(t *testing.T) {
	b := start(t)
	b.answer = webhook.Answer{Status: 500}
	tasks := b.add(10)
	require.Zero(t, b.invoke(tasks...))
	for i := range tasks[:3] {
		tasks[i] = b.asked(tasks[i], delivery.Replayed)
	}
	replays := tasks[:3]
	b.answer, b.posts = webhook.Answer{Status: 200}, nil
	require.Zero(t, b.invoke(replays...))
	require.Len(t, b.requests, 10)
	require.InDelta(t, 3, b.counts()["held"], 0)
	for rounds := 0; len(b.posts) > 0; rounds++ {
		require.Less(t, rounds, 3)
		var due []delivery.Task
		for _, post := range b.posts {
			require.WithinRange(t, b.now.Add(post.Delay), b.now.Add(time.Second), b.now.Add(time.Minute))
			due = append(due, decodeTask(t, post))
		}
		b.now, b.posts = b.now.Add(b.posts[0].Delay), nil
		require.Zero(t, b.invoke(due...))
	}
	for _, task := range replays {
		w := b.show(task)
		require.Equal(t, []any{delivery.Delivered, 2}, []any{w.Status, len(w.Attempts)})
	}
}

// TestAReplayDoesNotWaitForever for a receiver that fails.
func TestAReplayDoesNotWaitForever(t *testing.T) {
	b := start(t)
	b.answer = webhook.Answer{Status: 500}
	tasks := b.add(10)
	require.Zero(t, b.invoke(tasks...))
	task := b.asked(tasks[0], delivery.Replayed)
	for sends := 0; ; sends++ {
		require.Less(t, sends, 50)
		b.posts = nil
		require.Zero(t, b.invoke(task))
		if len(b.posts) == 0 {
			break
		}
		require.LessOrEqual(t, b.posts[0].Delay, bus.MaxDelay)
		task = decodeTask(t, b.posts[0])
		b.now = b.now.Add(b.posts[0].Delay)
		require.Zero(t, b.invoke(b.add(1)...), "another delivery tests the endpoint")
	}
	require.True(t, b.now.After(noon.Add(time.Hour)))
	w := b.show(task)
	require.Equal(t, "Not sent: the endpoint is failing.", *w.Attempts[1].Error)
	require.Equal(t, 1, w.Hidden.Extra)
}
