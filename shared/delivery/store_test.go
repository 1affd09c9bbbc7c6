package delivery_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/tabletest"
	"lectern/shared/apierr"
	"lectern/shared/bus"
	"lectern/shared/delivery"
	"lectern/shared/metering"
	"lectern/shared/table"
	"lectern/shared/wire"
)

const (
	org      = 7
	endpoint = "018f9f6e-7c1a-7b51-9c39-6a5b8d1f2e30"
	person   = "018f9f6e-7c1a-7b51-9c39-6a5b8d1f2e31"
)

var noon = time.Date(2027, 5, 1, 12, 0, 0, 0, time.UTC)

// bench is a store on a new table, with a clock.
type bench struct {
	*testing.T
	delivery.Store
	now      time.Time
	rendered atomic.Int64
}

func start(t *testing.T) *bench {
	t.Helper()
	b := &bench{T: t, now: noon}
	b.Store = delivery.Store{Table: tabletest.Start(t), Now: func() time.Time { return b.now }}
	b.Table.Now = b.Now
	return b
}

// Render renders another body each time.
func (b *bench) Render(_ context.Context, m bus.Message, form string) ([]byte, error) {
	return fmt.Appendf(nil, `{"data":{"form":%q,"number":%d,"text":"00000000-0000-0000-0000-000000000000"},"metadata":{"sequence":%d,%s`,
		form, b.rendered.Add(1), m.Sequence, delivery.Place), nil
}

// message is a change of the person, the sequence-th, minutes after noon.
func message(sequence int) bus.Message {
	return bus.Message{
		Change: uuid.NewSHA1(uuid.Nil, fmt.Append(nil, sequence)).String(), At: wire.At(noon.Add(time.Duration(sequence) * time.Minute)),
		Org: org, Event: 42, Kind: "contact.updated", Sequence: int64(sequence), Type: "contact", RecordID: person,
	}
}

// add adds the delivery of a message to the endpoint, and returns its first task.
func (b *bench) add(sequence int) delivery.Task {
	b.Helper()
	added, err := b.Add(b.Context(), message(sequence), []delivery.Target{{Endpoint: endpoint, Form: "full"}}, b)
	require.NoError(b, err)
	require.Len(b, added.Tasks, 1)
	return added.Tasks[0]
}

// work returns the delivery of a task.
func (b *bench) work(t delivery.Task) *delivery.Work {
	b.Helper()
	w, err := b.Open(b.Context(), t)
	require.NoError(b, err)
	require.NotNil(b, w)
	return w
}

// record records an attempt of a task with a status.
func (b *bench) record(t delivery.Task, status int) *delivery.Work {
	b.Helper()
	w, err := b.Record(b.Context(), b.work(t), t, delivery.Outcome{At: b.now, Status: status, Latency: time.Second, Response: "answer"})
	require.NoError(b, err)
	return w
}

// due returns the tasks that have become due in the last minutes, and removes them.
func (b *bench) due() (tasks []delivery.Task) {
	b.Helper()
	p, ok, err := b.Begin(b.Context())
	require.NoError(b, err)
	for minute := max(p.Minute, b.Last()-2); ok && minute <= b.Last(); minute++ {
		items, err := b.DueIn(b.Context(), minute)
		require.NoError(b, err)
		for _, d := range items {
			require.Nil(b, d.Replay)
			tasks = append(tasks, d.Task)
		}
		require.NoError(b, b.Done(b.Context(), items))
	}
	return tasks
}

// status returns the status of an error of the API.
func status(t *testing.T, err error) (int, string) {
	t.Helper()
	var refused *apierr.Error
	require.ErrorAs(t, err, &refused)
	return refused.Status, refused.Code
}

// TestADeliveryIsAddedOnce: also by two matchers at once, with one body for each form.
func TestADeliveryIsAddedOnce(t *testing.T) {
	b := start(t)
	targets := []delivery.Target{
		{Endpoint: endpoint, Form: "full"}, {Endpoint: uuid.NewString(), Form: "full"}, {Endpoint: uuid.NewString(), Form: "thin"},
	}
	var all sync.WaitGroup
	var added atomic.Int64
	for range 8 {
		all.Go(func() {
			got, err := b.Add(t.Context(), message(1), targets, b)
			if err != nil || len(got.Tasks) != 3 {
				t.Error(err, got)
			}
			added.Add(int64(got.New))
		})
	}
	all.Wait()
	require.EqualValues(t, 3, added.Load())
	bodies := map[string]bool{}
	for _, target := range targets {
		w := b.work(delivery.Task{Org: org, Endpoint: target.Endpoint, ID: delivery.ID(message(1), target.Endpoint)})
		body, err := b.ReadBody(t.Context(), w)
		require.NoError(t, err)
		require.Contains(t, string(body), `"id":"`+w.ID+`"}}`)
		require.Equal(t, 1, strings.Count(string(body), w.ID), "only the place changes")
		bodies[strings.ReplaceAll(string(body), w.ID, "")] = true
	}
	require.Len(t, bodies, 2)
	none, err := b.Add(t.Context(), message(2), nil, b)
	require.NoError(t, err)
	require.Zero(t, none.New)
}

// TestAFreshMessageIsNotRead: Add reads only if the message has come before, or the change is older.
func TestAFreshMessageIsNotRead(t *testing.T) {
	b := start(t)
	for i, reads := range []bool{false, true} {
		ctx, meter := metering.Measured(t.Context())
		added, err := b.Add(ctx, message(0), []delivery.Target{{Endpoint: endpoint, Form: "full"}}, b)
		require.NoError(t, err)
		require.Len(t, added.Tasks, 1, "a delivery without an attempt is asked for each time")
		require.Equal(t, 1-i, added.New)
		_, _, units, _ := meter.Totals()
		require.Equal(t, reads, units > 0)
	}
	b.now = noon.Add(time.Hour)
	rendered := b.rendered.Load()
	added, err := b.Add(t.Context(), message(0), []delivery.Target{{Endpoint: endpoint, Form: "full"}}, b)
	require.NoError(t, err)
	require.Len(t, added.Tasks, 1)
	require.Equal(t, rendered, b.rendered.Load(), "what may be stored is read before it is rendered")
}

// TestIDsDependOnTheChange alone and are ordered by its time.
func TestIDsDependOnTheChange(t *testing.T) {
	id := delivery.ID(message(1), endpoint)
	require.Equal(t, id, delivery.ID(message(1), endpoint))
	parsed, err := uuid.Parse(id)
	require.NoError(t, err)
	require.Equal(t, uuid.Version(7), parsed.Version())
	require.Less(t, id, delivery.ID(message(2), endpoint))
	other := []bus.Message{message(1), message(1), message(1), message(1)}
	other[0].Kind, other[1].Sequence, other[2].Change, other[3].Org = "contact.created", 2, person, 8
	for _, m := range other {
		require.NotEqual(t, id, delivery.ID(m, endpoint))
	}
	require.NotEqual(t, id, delivery.ID(message(1), person))
}

// TestAttemptsFollowTheSchedule: the queue waits for the first two, due items for the others.
func TestAttemptsFollowTheSchedule(t *testing.T) {
	b := start(t)
	task := b.add(1)
	for n := 1; n <= delivery.MostAttempts; n++ {
		require.Equal(t, n, task.Attempt)
		w := b.record(task, 500)
		require.Len(t, w.Attempts, n)
		require.False(t, w.Due(task))
		again, err := b.Record(t.Context(), w, task, delivery.Outcome{At: b.now, Status: 200})
		require.NoError(t, err)
		require.Nil(t, again, "an attempt is recorded once")
		if n == delivery.MostAttempts {
			require.Equal(t, delivery.Failed, w.Status)
			require.Nil(t, w.NextAttemptAt)
			break
		}
		next, delay, queued := w.Next(task, b.now)
		require.Equal(t, n <= 2, queued)
		wait := w.NextAttemptAt.Sub(b.now)
		if queued {
			require.InDelta(t, wait.Seconds(), delay.Seconds(), 1)
			require.Equal(t, n+1, next.Attempt)
		}
		require.Empty(t, b.due())
		b.now = w.NextAttemptAt.Add(time.Second)
		if !queued {
			due := b.due()
			require.Len(t, due, 1)
			next = due[0]
		}
		require.Empty(t, b.due(), "what was sent is removed")
		task = next
	}
}

// TestALostAttemptIsSentAgain: the message of the second or third attempt is gone with its queue. When the
// change is published again, an hour after the time of the attempt, Add sends the attempt; not earlier,
// and not a due item's attempt.
func TestALostAttemptIsSentAgain(t *testing.T) {
	b := start(t)
	again := func() []delivery.Task {
		added, err := b.Add(t.Context(), message(1), []delivery.Target{{Endpoint: endpoint, Form: "full"}}, b)
		require.NoError(t, err)
		require.Zero(t, added.New)
		unsent, err := b.Unsent(t.Context(), message(1), []string{endpoint, person})
		require.NoError(t, err)
		require.Equal(t, added.Tasks, unsent)
		return added.Tasks
	}
	task := b.add(1)
	require.Equal(t, []delivery.Task{task}, again())
	for attempt := 2; attempt <= 3; attempt++ {
		w := b.record(task, 500)
		task.Attempt = attempt
		b.now = w.NextAttemptAt.Add(time.Hour)
		require.Empty(t, again(), "the message may come yet")
		b.now = b.now.Add(time.Second)
		require.Equal(t, []delivery.Task{task}, again())
	}
	w := b.record(task, 500)
	b.now = w.NextAttemptAt.Add(2 * time.Hour)
	require.Empty(t, again(), "the sweeper sends what has a due item")
}

// TestAnAttemptToAFailingEndpointIsWithheldAtOnce: the first attempt is not sent, and the second waits in
// the queue, unless the breaker is open then too. A message that comes again sends the second again, until
// the deliverer has made it.
func TestAnAttemptToAFailingEndpointIsWithheldAtOnce(t *testing.T) {
	b := start(t)
	until := map[int]time.Time{1: b.now.Add(2 * time.Second), 2: b.now.Add(time.Minute), 3: b.now}
	addOf := func(sequence int) delivery.Added {
		to := delivery.Target{Endpoint: endpoint, Form: "full", OpenUntil: until[sequence]}
		added, err := b.Add(t.Context(), message(sequence), []delivery.Target{to}, b)
		require.NoError(t, err)
		return added
	}
	add := func() delivery.Added { return addOf(1) }
	added := addOf(3)
	require.Equal(t, []int{1, 0, 1}, []int{added.New, added.Withheld, added.Tasks[0].Attempt})
	added = addOf(2)
	require.Equal(t, []int{1, 1, 3}, []int{added.New, added.Withheld, added.Tasks[0].Attempt})
	require.InDelta(t, 305, added.Tasks[0].Wait.Seconds(), 62)
	both, err := b.Open(t.Context(), added.Tasks[0])
	require.NoError(t, err)
	require.Len(t, both.Attempts, 2)
	require.InDelta(t, 5, both.Attempts[1].At.Sub(both.Attempts[0].At.Time).Seconds(), 1)

	added = add()
	require.Equal(t, []int{1, 1, 1}, []int{added.New, added.Withheld, len(added.Tasks)})
	second := added.Tasks[0]
	require.Equal(t, 2, second.Attempt)
	require.WithinRange(t, b.now.Add(second.Wait), b.now.Add(4*time.Second), b.now.Add(7*time.Second))
	w, err := b.Open(t.Context(), second)
	require.NoError(t, err)
	require.Equal(t, delivery.Pending, w.Status)
	require.Len(t, w.Attempts, 1)
	require.Equal(t, delivery.NotSent, *w.Attempts[0].Error)
	require.Nil(t, w.Attempts[0].Status)

	b.now = b.now.Add(time.Second)
	again := add()
	require.Equal(t, []int{0, 0, 1}, []int{again.New, again.Withheld, len(again.Tasks)})
	require.True(t, second.Same(again.Tasks[0]))
	require.Equal(t, second.Wait-time.Second, again.Tasks[0].Wait)
	b.record(second, 500)
	require.Empty(t, add().Tasks, "the third waits in the queue")
}

// TestAnOldChangeIsNotDeliveredAgain: a delivery that has expired is not made anew.
func TestAnOldChangeIsNotDeliveredAgain(t *testing.T) {
	b := start(t)
	b.record(b.add(0), 200)
	b.now = noon.Add(delivery.Keep)
	added, err := b.Add(t.Context(), message(0), []delivery.Target{{Endpoint: endpoint, Form: "full"}}, b)
	require.NoError(t, err)
	require.Empty(t, added)
	b.add(1)
}

// TestAnAnswerEndsADelivery: 2xx delivers, 410 fails at once.
func TestAnAnswerEndsADelivery(t *testing.T) {
	b := start(t)
	for i, c := range []struct {
		status int
		want   string
	}{{200, delivery.Delivered}, {204, delivery.Delivered}, {410, delivery.Failed}, {301, delivery.Pending}, {404, delivery.Pending}, {0, delivery.Pending}} {
		task := b.add(i)
		w := b.record(task, c.status)
		require.Equal(t, c.want, w.Status, c.status)
		require.Equal(t, c.want == delivery.Pending, w.NextAttemptAt != nil)
		require.Equal(t, c.status == 0, w.Attempts[0].Response == nil)
		later, err := b.Add(t.Context(), message(i), []delivery.Target{{Endpoint: endpoint, Form: "full"}}, b)
		require.NoError(t, err)
		require.Empty(t, later.Tasks, "an attempt was made")
	}
}

// TestARedeliveryIsOneAttempt, whatever the status, and changes nothing of the schedule.
func TestARedeliveryIsOneAttempt(t *testing.T) {
	b := start(t)
	for i, before := range []int{0, 200, 410, 500} {
		first := b.add(i)
		was := b.work(first)
		if before != 0 {
			was = b.record(first, before)
		}
		for number := 1; number <= 2; number++ {
			b.now = b.now.Add(time.Millisecond)
			asked := delivery.Task{Org: org, Endpoint: endpoint, ID: first.ID, Attempt: number, Mode: delivery.Redelivery, Asked: b.now.UnixNano()}
			for range 2 { // A client may ask twice.
				shown, err := b.Redeliver(t.Context(), org, endpoint, first.ID)
				require.NoError(t, err)
				require.Equal(t, was.Status, shown.Status)
			}
			b.now = b.now.Add(time.Millisecond)
			due := b.due()
			require.Equal(t, []delivery.Task{asked}, due)
			require.True(t, b.work(first).Due(due[0]))
			after := b.record(due[0], 503)
			require.False(t, after.Due(due[0]))
			require.Equal(t, was.Status, after.Status)
			require.Equal(t, was.NextAttemptAt, after.NextAttemptAt)
			require.Equal(t, was.Hidden.Made, after.Hidden.Made)
			require.Equal(t, was.Due(first), after.Due(first))
		}
		b.now = b.now.Add(time.Millisecond)
		_, err := b.Redeliver(t.Context(), org, endpoint, first.ID)
		require.NoError(t, err)
		require.Equal(t, delivery.Delivered, b.record(b.due()[0], 200).Status)
	}
	_, err := b.Redeliver(t.Context(), org, endpoint, uuid.NewString())
	code, _ := status(t, err)
	require.Equal(t, 404, code)
	_, err = b.Redeliver(t.Context(), org+1, endpoint, b.add(9).ID)
	code, _ = status(t, err)
	require.Equal(t, 404, code)
}

// TestARedeliveryDuringAnAttemptIsMade: the attempt that is under way may fail, and answers only the calls
// before it.
func TestARedeliveryDuringAnAttemptIsMade(t *testing.T) {
	b := start(t)
	first := b.add(1)
	ask := func() delivery.Task {
		_, err := b.Redeliver(t.Context(), org, endpoint, first.ID)
		require.NoError(t, err)
		return b.due()[0]
	}
	early := ask()
	b.now = b.now.Add(time.Second)
	both := ask()
	require.NotEqual(t, early, both)
	underWay := delivery.Outcome{At: b.now.Add(time.Second), Status: 500}
	b.now = b.now.Add(2 * time.Second)
	later := ask()
	_, err := b.Record(t.Context(), b.work(first), early, underWay)
	require.NoError(t, err)
	w := b.work(first)
	require.Equal(t, []bool{false, false, true}, []bool{w.Due(early), w.Due(both), w.Due(later)})
	require.Equal(t, 1, w.Hidden.Extra)
}

// TestARedeliveryIsMadeWhateverTheClocksSay: the clock of the deliverer is ahead of that of the API, or behind.
func TestARedeliveryIsMadeWhateverTheClocksSay(t *testing.T) {
	for _, ahead := range []time.Duration{time.Minute, -time.Minute} {
		b := start(t)
		first := b.add(1)
		for n := 1; n <= 3; n++ {
			_, err := b.Redeliver(t.Context(), org, endpoint, first.ID)
			require.NoError(t, err)
			task := b.due()[0]
			require.True(t, b.work(first).Due(task), "redelivery %d", n)
			_, err = b.Record(t.Context(), b.work(first), task, delivery.Outcome{At: b.now.Add(ahead), Status: 500})
			require.NoError(t, err)
			require.False(t, b.work(first).Due(task), "the message of redelivery %d comes again", n)
			b.now = b.now.Add(time.Second)
		}
	}
}

// TestAWithheldAttemptAnswersNoLaterCall: a replay that waited for the breaker is given up while another, asked
// for since, waits.
func TestAWithheldAttemptAnswersNoLaterCall(t *testing.T) {
	b := start(t)
	early := b.add(1)
	early.Mode, early.Asked = delivery.Replayed, b.now.UnixNano()
	later := early
	later.Asked = b.now.Add(time.Hour).UnixNano()
	_, err := b.Record(t.Context(), b.work(early), early, delivery.Outcome{At: b.now.Add(2 * time.Hour), Error: delivery.NotSent, Withheld: true})
	require.NoError(t, err)
	w := b.work(early)
	require.Equal(t, []bool{false, true}, []bool{w.Due(early), w.Due(later)})
}

// TestATaskOfAnEarlierReleaseIsMade by its number.
func TestATaskOfAnEarlierReleaseIsMade(t *testing.T) {
	b := start(t)
	task := b.add(1)
	task.Mode = delivery.Redelivery
	require.True(t, b.work(task).Due(task))
	b.record(task, 500)
	require.False(t, b.work(task).Due(task))
}

// TestNothingIsKeptLonger than 30 days: deliveries and bodies expire together.
func TestNothingIsKeptLonger(t *testing.T) {
	b := start(t)
	task := b.add(1)
	b.record(task, 500)
	expires := message(1).At.Add(delivery.Keep)
	b.now = expires.Add(-time.Second)
	_, err := b.Redeliver(t.Context(), org, endpoint, task.ID)
	require.NoError(t, err)
	b.now = expires
	_, err = b.Redeliver(t.Context(), org, endpoint, task.ID)
	code, _ := status(t, err)
	require.Equal(t, 404, code)
}

// TestALateDeliveryIsKeptNoLonger: an endpoint that is newer than the change gets a delivery later, with the
// body that was rendered first. Body and deliveries expire 30 days after the change, so an erasure looks at
// the changes of 30 days.
func TestALateDeliveryIsKeptNoLonger(t *testing.T) {
	b := start(t)
	first := b.add(1)
	b.now = noon.Add(20 * 24 * time.Hour)
	newer := []delivery.Target{{Endpoint: uuid.NewString(), Form: "full"}, {Endpoint: uuid.NewString(), Form: "full"}}
	added, err := b.Add(t.Context(), message(1), newer, b)
	require.NoError(t, err)
	require.Len(t, added.Tasks, 2)
	w := b.work(added.Tasks[0])
	body, err := b.ReadBody(t.Context(), w)
	require.NoError(t, err)
	require.Contains(t, string(body), `"number":1`, "the body stays as it was rendered first")
	b.now = message(1).At.Add(delivery.Keep)
	for _, task := range append(added.Tasks, first) {
		lost, err := b.Open(t.Context(), task)
		require.NoError(t, err)
		require.Nil(t, lost)
	}
	body, err = b.ReadBody(t.Context(), w)
	require.NoError(t, err)
	require.Nil(t, body)
}

// TestABodyThatIsGone cannot be sent again.
func TestABodyThatIsGone(t *testing.T) {
	b := start(t)
	task := b.add(1)
	for item, err := range b.Table.Between(t.Context(), table.Org(org)+"#B#contact#"+person, "0", "~") {
		require.NoError(t, err)
		require.NoError(t, b.Table.Transact(t.Context(), table.Delete(item.Key)))
	}
	body, err := b.ReadBody(t.Context(), b.work(task))
	require.NoError(t, err)
	require.Nil(t, body)
	_, err = b.Redeliver(t.Context(), org, endpoint, task.ID)
	code, name := status(t, err)
	require.Equal(t, []any{409, delivery.CodeBodyGone}, []any{code, name})
}

// TestCancelEndsAPendingDelivery: its attempts are no longer made, due or under way.
func TestCancelEndsAPendingDelivery(t *testing.T) {
	b := start(t)
	task := b.add(1)
	underWay := b.work(task)
	shown, err := b.Cancel(t.Context(), org, endpoint, task.ID)
	require.NoError(t, err)
	require.Equal(t, delivery.Cancelled, shown.Status)
	require.Nil(t, shown.NextAttemptAt)
	require.False(t, b.work(task).Due(task))
	late, err := b.Record(t.Context(), underWay, task, delivery.Outcome{At: b.now, Status: 200})
	require.NoError(t, err)
	require.Nil(t, late)
	_, err = b.Cancel(t.Context(), org, endpoint, task.ID)
	code, name := status(t, err)
	require.Equal(t, []any{409, delivery.CodeEnded}, []any{code, name})
	_, err = b.Cancel(t.Context(), org, endpoint, uuid.NewString())
	code, _ = status(t, err)
	require.Equal(t, 404, code)
}

// TestAPausedDeliveryWaits with a due item, and an ended delivery has none.
func TestAPausedDeliveryWaits(t *testing.T) {
	b := start(t)
	task := b.add(1)
	require.NoError(t, b.Postpone(t.Context(), b.work(task), task, time.Hour))
	require.Empty(t, b.due())
	b.now = noon.Add(time.Hour)
	require.Equal(t, []delivery.Task{task}, b.due())
	require.NoError(t, b.End(t.Context(), b.work(task), task))
	require.Equal(t, delivery.Cancelled, b.work(task).Status)
}

// TestAnItemIsBounded, however often and with whatever answers a delivery is attempted.
func TestAnItemIsBounded(t *testing.T) {
	b := start(t)
	task := b.add(1)
	for n := 1; n <= 40; n++ {
		more := delivery.Task{Org: org, Endpoint: endpoint, ID: task.ID, Attempt: n, Mode: delivery.Replayed, Asked: b.now.UnixNano()}
		b.now = b.now.Add(time.Second)
		_, err := b.Record(t.Context(), b.work(task), more, delivery.Outcome{
			At: b.now, Status: 500, Response: strings.Repeat("\u00e4", 4000) + "\xff", Error: strings.Repeat("x", 5000),
		})
		require.NoError(t, err)
	}
	w := b.work(task)
	require.Len(t, w.Attempts, 16)
	for _, a := range w.Attempts {
		require.Len(t, *a.Response, 2<<10)
		require.Len(t, *a.Error, 300)
	}
	item, err := b.Table.Get(t.Context(), table.Key{PK: table.Org(org) + "#W#" + endpoint + "#20270501", SK: task.ID})
	require.NoError(t, err)
	require.Less(t, len(item.Data), 40<<10)
}

// TestLists are the latest first, of all days, with filters and pages.
func TestLists(t *testing.T) {
	b := start(t)
	const all = 250
	for i := range all {
		b.now = noon.Add(time.Duration(i) * 37 * time.Minute)
		m := message(i * 37)
		if m.Sequence = int64(i); i%5 == 0 {
			m.Kind = "contact.created"
		}
		added, err := b.Add(t.Context(), m, []delivery.Target{{Endpoint: endpoint, Form: "thin"}}, b)
		require.NoError(t, err)
		if i%2 == 0 {
			b.record(added.Tasks[0], 200)
		}
	}
	list := func(f delivery.Filter, skip, limit int) (sequences []int64, more bool) {
		some, more, err := b.List(t.Context(), org, endpoint, f, delivery.Page{Skip: skip, Limit: limit})
		require.NoError(t, err)
		for _, d := range some {
			sequences = append(sequences, d.Sequence)
		}
		return sequences, more
	}
	var pages []int64
	for skip := 0; ; skip += 60 {
		page, more := list(delivery.Filter{}, skip, 60)
		pages = append(pages, page...)
		if !more {
			break
		}
	}
	require.Len(t, pages, all)
	for i, sequence := range pages {
		require.EqualValues(t, all-1-i, sequence)
	}
	for _, c := range []struct {
		delivery.Filter
		want func(i int) bool
	}{
		{delivery.Filter{Status: delivery.Delivered}, func(i int) bool { return i%2 == 0 }},
		{delivery.Filter{Status: delivery.Failed}, func(int) bool { return false }},
		{delivery.Filter{Kind: "contact.created"}, func(i int) bool { return i%5 == 0 }},
		{delivery.Filter{Kind: "contact.created", Status: delivery.Pending}, func(i int) bool { return i%10 == 5 }},
		{delivery.Filter{Since: noon.Add(100 * 37 * time.Minute), Until: noon.Add(200 * 37 * time.Minute)}, func(i int) bool { return i >= 100 && i < 200 }},
	} {
		var want []int64
		for i := all - 1; i >= 0; i-- {
			if c.want(i) {
				want = append(want, int64(i))
			}
		}
		got, more := list(c.Filter, 0, all)
		require.False(t, more)
		require.Equal(t, want, got, c.Filter)
	}
	other, more := list(delivery.Filter{}, all, 10)
	require.Empty(t, other)
	require.False(t, more)

	require.NoError(t, b.Forget(t.Context(), org, endpoint))
	gone, _ := list(delivery.Filter{}, 0, 10)
	require.Empty(t, gone)
}

// TestAReplayIsDonePartByPart: each part gives the tasks of its deliveries, and moves on. A part
// that is done twice gives the same tasks.
func TestAReplayIsDonePartByPart(t *testing.T) {
	b := start(t)
	const all = 230
	for i := range all {
		task := b.add(i * 10)
		if i%2 == 0 {
			b.record(task, 410)
		}
	}
	b.now = noon.Add(3 * 24 * time.Hour)
	f := delivery.Filter{Status: delivery.Failed, Since: noon.Add(100 * time.Minute), Until: noon.Add(2200 * time.Minute)}
	require.NoError(t, b.Replay(t.Context(), org, endpoint, f))
	items, err := b.DueIn(t.Context(), b.Last())
	require.NoError(t, err)
	require.Len(t, items, 1)
	found, parts := map[string]int{}, 0
	for item := &items[0]; item != nil; parts++ {
		tasks, next, err := b.Part(t.Context(), *item)
		require.NoError(t, err)
		again, _, err := b.Part(t.Context(), *item)
		require.NoError(t, err)
		require.Equal(t, tasks, again)
		require.NoError(t, b.Move(t.Context(), *item, next))
		require.NoError(t, b.Move(t.Context(), *item, next), "another sweeper was faster")
		for _, task := range tasks {
			found[task.ID]++
			require.Equal(t, []any{delivery.Replayed, b.now.UnixNano()}, []any{task.Mode, task.Asked})
		}
		left, err := b.DueIn(t.Context(), b.Last())
		require.NoError(t, err)
		if item = nil; len(left) > 0 {
			require.Len(t, left, 1)
			item = &left[0]
		}
	}
	require.Greater(t, parts, 2)
	require.Len(t, found, 105)
	for i := 10; i < 220; i += 2 {
		require.Equal(t, 1, found[delivery.ID(message(i*10), endpoint)], i)
	}
}

// TestTheSweeperMissesNothing that is written late: the mark stays two minutes behind.
func TestTheSweeperMissesNothing(t *testing.T) {
	b := start(t)
	_, ok, err := b.Begin(t.Context())
	require.NoError(t, err)
	require.False(t, ok, "nothing was ever due")
	task := b.add(1)
	require.NoError(t, b.Postpone(t.Context(), b.work(task), task, time.Minute))
	for minutes := range 10 {
		b.now = noon.Add(time.Duration(minutes) * time.Minute)
		p, ok, err := b.Begin(t.Context())
		require.NoError(t, err)
		require.True(t, ok)
		require.LessOrEqual(t, p.Minute, noon.Add(time.Duration(minutes-2)*time.Minute).Unix()/60)
		require.NoError(t, b.Advance(t.Context(), p, b.Last()+1))
		require.NoError(t, b.Advance(t.Context(), p, b.Last()+1), "another sweeper was faster")
	}
}

// TestOneProbeAtATime, and results of many deliverers add up.
func TestOneProbeAtATime(t *testing.T) {
	b := start(t)
	var all sync.WaitGroup
	var claimed atomic.Int64
	for range 10 {
		all.Go(func() {
			if _, err := b.Learn(t.Context(), org, endpoint, []delivery.Result{{Failed: true}}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s, err := b.ReadState(t.Context(), org, endpoint)
	require.NoError(t, err)
	require.True(t, s.Open(b.now))
	b.now = noon.Add(time.Minute)
	require.True(t, s.Probes(b.now))
	for range 5 {
		all.Go(func() {
			ok, err := b.ClaimProbe(t.Context(), org, endpoint, s)
			if err != nil {
				t.Error(err)
			}
			if ok {
				claimed.Add(1)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 1, claimed.Load())
	require.NoError(t, b.ForgetStreak(t.Context(), org, endpoint))
	s, err = b.ReadState(t.Context(), org, endpoint)
	require.NoError(t, err)
	require.True(t, s.Healthy())
}

// TestABreakerThatIsTestedMayCloseSoon: while one attempt tests the endpoint, the second attempt of a new
// delivery waits five seconds and is not withheld.
func TestABreakerThatIsTestedMayCloseSoon(t *testing.T) {
	b := start(t)
	until := func() time.Time {
		all, err := b.OpenUntil(t.Context(), org, []string{endpoint, person})
		require.NoError(t, err)
		require.Zero(t, all[person])
		return all[endpoint]
	}
	require.Zero(t, until())
	_, err := b.Learn(t.Context(), org, endpoint, slices.Repeat([]delivery.Result{{Failed: true}}, 10))
	require.NoError(t, err)
	require.Equal(t, b.now.Add(time.Minute), until())
	b.now = until()
	state, err := b.ReadState(t.Context(), org, endpoint)
	require.NoError(t, err)
	claimed, err := b.ClaimProbe(t.Context(), org, endpoint, state)
	require.NoError(t, err)
	require.True(t, claimed)
	require.Equal(t, b.now.Add(time.Second), until())
	_, err = b.Learn(t.Context(), org, endpoint, []delivery.Result{{Failed: true, Probe: true}})
	require.NoError(t, err)
	require.Equal(t, b.now.Add(2*time.Minute), until())
}
