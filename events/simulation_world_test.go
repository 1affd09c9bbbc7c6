package events_test

import (
	"container/heap"
	"context"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"lectern/shared/bus"
)

// clock is the time of a simulation.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

// Now returns the time.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

// happening is something that happens at a time; number orders those of one time.
type happening struct {
	at     time.Time
	number int
	do     func()
}

// agenda is what is still to happen.
type agenda struct {
	*clock
	all  happenings
	next int
}

type happenings []happening

func (h happenings) Len() int      { return len(h) }
func (h happenings) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h happenings) Less(i, j int) bool {
	return h[i].at.Before(h[j].at) || h[i].at.Equal(h[j].at) && h[i].number < h[j].number
}
func (h *happenings) Push(x any) { *h = append(*h, x.(happening)) }
func (h *happenings) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// after has do happen after a time.
func (a *agenda) after(wait time.Duration, do func()) {
	a.next++
	heap.Push(&a.all, happening{a.Now().Add(max(wait, 0)), a.next, do})
}

// run lets everything happen up to a time.
func (a *agenda) run(until time.Time) {
	for a.all.Len() > 0 && !a.all[0].at.After(until) {
		h := heap.Pop(&a.all).(happening)
		if h.at.After(a.Now()) {
			a.set(h.at)
		}
		h.do()
	}
	a.set(until)
}

// queue is a queue of SQS without order: messages come late, twice and in any order.
type queue struct {
	*agenda
	*crashes
	mu       sync.Mutex
	random   *rand.Rand
	next     int
	waiting  []waiting
	received int
}

// waiting is a message that is visible from a time on.
type waiting struct {
	id      string
	from    time.Time
	body    []byte
	invoked int
}

// Send sends messages, some of them twice.
func (q *queue) Send(_ context.Context, posts ...bus.Post) error {
	for _, p := range posts {
		if err := q.step(); err != nil {
			return err
		}
		q.put(p.Body, p.Delay)
	}
	return q.step()
}

func (q *queue) put(body []byte, delay time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	copies := 1
	if q.random.IntN(50) == 0 {
		copies = 2
	}
	for range copies {
		q.next++
		late := time.Duration(q.random.Int64N(int64(2 * time.Second)))
		q.waiting = append(q.waiting, waiting{strconv.Itoa(q.next), q.Now().Add(delay + late), slices.Clone(body), 0})
	}
}

// take returns up to most visible messages, in any order.
func (q *queue) take(most int) (batch []waiting) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.Now()
	q.random.Shuffle(len(q.waiting), func(i, j int) { q.waiting[i], q.waiting[j] = q.waiting[j], q.waiting[i] })
	q.waiting = slices.DeleteFunc(q.waiting, func(w waiting) bool {
		if len(batch) == most || w.from.After(now) {
			return false
		}
		batch = append(batch, w)
		return true
	})
	q.received += len(batch)
	return batch
}

// back puts received messages back, for a time after which they are visible again.
func (q *queue) back(batch []waiting, ids []string, visible time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, w := range batch {
		if slices.Contains(ids, w.id) {
			w.from, w.invoked = q.Now().Add(visible), w.invoked+1
			q.waiting = append(q.waiting, w)
		}
	}
}

// earliest returns the time of the next message; false without one.
func (q *queue) earliest() (at time.Time, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, w := range q.waiting {
		if !ok || w.from.Before(at) {
			at, ok = w.from, true
		}
	}
	return at, ok
}

// consumer invokes a worker with the messages of a queue.
type consumer struct {
	*queue
	invoke  func(context.Context, events.SQSEvent) (events.SQSEventResponse, error)
	batch   int
	visible time.Duration
	// steps returns the number of steps after which the next invocation crashes; 0 for none.
	steps func() int
}

// drain invokes the worker until no message is visible. After a crash and for the messages that the
// worker reports, messages come again.
func (c *consumer) drain(ctx context.Context) {
	for {
		batch := c.take(1 + c.random.IntN(c.batch))
		if len(batch) == 0 {
			return
		}
		event, all := events.SQSEvent{}, make([]string, len(batch))
		for i, w := range batch {
			all[i] = w.id
			event.Records = append(event.Records, events.SQSMessage{
				MessageId: w.id, Body: string(w.body), Attributes: map[string]string{"ApproximateReceiveCount": strconv.Itoa(w.invoked + 1)},
			})
		}
		answer, err := c.invoke(c.arm(ctx, c.steps()), event)
		if c.disarm() || err != nil {
			c.back(batch, all, c.visible)
			continue
		}
		var failed []string
		for _, f := range answer.BatchItemFailures {
			failed = append(failed, f.ItemIdentifier)
		}
		c.back(batch, failed, c.visible)
	}
}

// hashed returns a number that looks random and depends on the parts alone.
func hashed(parts ...string) uint64 {
	h := fnv.New64a()
	for _, p := range parts {
		_, _ = h.Write([]byte(p))
		_, _ = h.Write([]byte{0})
	}
	return h.Sum64()
}

// chance returns a number from 0 to 1 that depends on the parts alone.
func chance(parts ...string) float64 {
	random := rand.New(rand.NewPCG(hashed(parts...), 1))
	return random.Float64()
}
