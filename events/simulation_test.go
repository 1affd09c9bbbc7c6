package events_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/events/deliverer"
	"lectern/events/matcher"
	"lectern/events/publisher"
	"lectern/events/sweeper"
	"lectern/localstack/test/tabletest"
	"lectern/shared/bus"
	"lectern/shared/delivery"
	"lectern/shared/table"
)

// size is the size of a simulation.
type size struct {
	changes, endpoints, organizations int
	// writing is the time in which the changes are made, whole the simulated time.
	writing, whole time.Duration
}

var (
	inCI = size{changes: 2000, endpoints: 50, organizations: 5, writing: 6 * time.Hour, whole: 30 * time.Hour}
	long = size{changes: 20_000, endpoints: 50, organizations: 5, writing: 3 * 24 * time.Hour, whole: 7 * 24 * time.Hour}
)

// sweepEvery is the longest time between two invocations of the sweeper, and visible the time after
// which a message of a crashed invocation comes again.
const (
	sweepEvery = 20 * time.Minute
	visible    = 6 * time.Minute
	// late is the time that an attempt may be late: the sweeper, and several crashes in a row.
	late = sweepEvery + 8*visible
)

// simulation is a run of the workers with everything that can happen to them.
type simulation struct {
	*testing.T
	*agenda
	*crashes
	size
	random     *rand.Rand
	table      *table.Table
	receivers  *receivers
	webhooks   *queue
	deliveries *queue
	consumers  []*consumer
	publisher  *publisher.Publisher
	sweeper    *sweeper.Sweeper
	stream     *stream
	// known are the ids of the records of a kind, an event and an organization; some were not created.
	known map[place][]string
	// deleted are the records that are deleted, as far as the test knows.
	deleted map[string]bool
	// committed are the messages of all committed changes, as the table has them at the end.
	committed []bus.Message
	uncertain int
	// waits has, by the first delays of the schedule, how long after the latest time of the delay an attempt came.
	waits [3][]time.Duration
	// exhausted is the number of receivers that were disabled since they always failed.
	exhausted int
}

// body renders a body that names its message.
type body struct{ *crashes }

func (b body) Render(_ context.Context, m bus.Message, form string) ([]byte, error) {
	return fmt.Appendf(nil, `{"data":{"form":%q},"metadata":{"change":%q,"kind":%q,"sequence":%d,"random":%d,%s`,
		form, m.Change, m.Kind, m.Sequence, rand.Int64(), delivery.Place), b.step()
}

// alone reports whether the workers of a seed get one message at a time. Then each step comes at the same
// time in each run.
func alone(seed uint64) bool { return seed%2 == 0 }

// TestSimulation runs the workers for days: with faults of the table, crashes at any step, messages
// that come twice, late and in any order, receivers that fail in every way, endpoints that are paused,
// and clients that cancel, redeliver and replay.
//
// LECTERN_SEED repeats a run. Without it the seed is odd, so that workers handle messages together. With an
// even seed each invocation of matcher and deliverer has one message, and the requests to the receivers are
// the same in each run, as TestASeedRepeatsTheRun holds. With an odd seed the messages of an invocation are
// handled side by side, as on AWS: the seed repeats the plan of writes and crashes, and the order of
// the steps is another each time.
func TestSimulation(t *testing.T) {
	of, seed := inCI, uint64(time.Now().UnixNano())%1_000_000|1
	if os.Getenv("LECTERN_LONG") == "1" {
		of = long
	}
	if text := os.Getenv("LECTERN_SEED"); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("LECTERN_SEED=%d repeats this run", seed)
	s, end := simulate(t, of, seed)
	s.readCommitted(end)
	s.checkCommitted(end)
	s.checkDeliveries(end)
	s.checkReceivers()
	s.checkAsked(end)
	require.Positive(t, s.seen, "crashes")
	t.Logf("%d messages of %d changes, %d crashes, %d writes without an answer", len(s.committed), of.changes, s.seen, s.uncertain)
}

// TestASeedRepeatsTheRun: the requests of two runs of an even seed are the same, at the same times.
func TestASeedRepeatsTheRun(t *testing.T) {
	of := size{changes: 150, endpoints: 10, organizations: 2, writing: 2 * time.Hour, whole: 12 * time.Hour}
	seed := 2 * (uint64(time.Now().UnixNano()) % 500_000)
	t.Logf("seed %d", seed)
	first, _ := simulate(t, of, seed)
	second, _ := simulate(t, of, seed)
	require.NotEmpty(t, first.requests())
	require.Equal(t, first.requests(), second.requests())
	require.Equal(t, first.seen, second.seen)
	other, _ := simulate(t, of, seed+2)
	require.NotEqual(t, first.requests(), other.requests())
}

// simulate runs a simulation up to its end.
func simulate(t *testing.T, of size, seed uint64) (s *simulation, end time.Time) {
	t.Helper()
	s = newSimulation(t, of, seed)
	end = s.Now().Add(of.whole)
	s.plan()
	s.run(end)
	return s, end
}

// requests returns a line for each request to a receiver.
func (s *simulation) requests() (lines []string) {
	for _, id := range s.receivers.ids() {
		for _, one := range s.receivers.all[id].sent {
			lines = append(lines, fmt.Sprint(id, " ", one.id, " ", one.at.Format(time.RFC3339Nano), " ", one.status))
		}
	}
	return lines
}

func newSimulation(t *testing.T, of size, seed uint64) *simulation {
	t.Helper()
	began := time.Date(2027, 5, 1, 7, 59, 30, 0, time.UTC)
	s := &simulation{
		T: t, agenda: &agenda{clock: &clock{now: began}}, crashes: &crashes{}, size: of,
		random: rand.New(rand.NewPCG(seed, 1)), stream: &stream{}, known: map[place][]string{}, deleted: map[string]bool{},
	}
	s.table = tabletest.Behind(t, func(inner table.Client) table.Client {
		return crashing{inner, s.crashes, strconv.FormatUint(seed, 10), s.stream}
	})
	s.table.Now = s.Now
	s.receivers = &receivers{crashes: s.crashes, now: s.Now, began: began, seed: strconv.FormatUint(seed, 10), all: map[string]*receiver{}}
	for i := range of.endpoints {
		id := uuid.NewSHA1(uuid.NameSpaceURL, fmt.Append(nil, seed, i)).String()
		org := int64(1 + i%of.organizations)
		s.receivers.all[id] = newReceiver(id, i/of.organizations, org, s.events(org))
		s.receivers.all[id].plan(i, s.random, began, of.whole)
	}
	s.webhooks, s.deliveries = s.queue(seed+1), s.queue(seed+2)
	log := slog.New(slog.DiscardHandler)
	m := matcher.New(matcher.Config{Table: s.table, Now: s.Now, Log: log, Receivers: s.receivers, Renderer: body{s.crashes}, Deliveries: s.deliveries})
	d := deliverer.New(deliverer.Config{Table: s.table, Now: s.Now, Log: log, Receivers: s.receivers, Sender: s.receivers, Deliveries: s.deliveries})
	s.sweeper = sweeper.New(s.table, s.Now, log, s.deliveries)
	s.publisher = &publisher.Publisher{Bus: region{s}, Now: s.Now, Log: log}
	batch := 10
	if alone(seed) {
		batch = 1
	}
	s.consumers = []*consumer{
		{queue: s.webhooks, invoke: m.Invoke, batch: batch, visible: visible / 2, steps: s.crash},
		{queue: s.deliveries, invoke: d.Invoke, batch: batch, visible: visible, steps: s.crash},
	}
	return s
}

func (s *simulation) queue(seed uint64) *queue {
	return &queue{agenda: s.agenda, crashes: s.crashes, random: rand.New(rand.NewPCG(seed, 2))}
}

// events are the events of an organization; 0 stands for the organization itself.
func (s *simulation) events(org int64) []int64 { return []int64{10 * org, 10*org + 1, 0} }

// crash returns the step at which the next invocation crashes: one in forty does.
func (s *simulation) crash() int {
	if s.random.IntN(40) > 0 {
		return 0
	}
	return 1 + s.random.IntN(30)
}

// plan plans the writes, in bursts as an import makes them, what clients ask for, and the sweeper.
func (s *simulation) plan() {
	for left := s.changes; left > 0; {
		burst := min(left, 1+s.random.IntN(1+s.changes/20))
		left -= burst
		at, org := time.Duration(s.random.Int64N(int64(s.writing))), int64(1+s.random.IntN(s.organizations))
		for i := range burst {
			s.after(at+time.Duration(i)*200*time.Millisecond, func() { s.write(org) })
		}
		for range 3 { // Soon after a burst, deliveries are pending and can be cancelled.
			s.after(at+time.Duration(s.random.Int64N(int64(2*time.Hour))), s.ask)
		}
	}
	for range 3 * s.endpoints {
		s.after(time.Hour+time.Duration(s.random.Int64N(int64(s.whole/2))), s.ask)
	}
	s.after(0, s.sweep)
	s.after(0, s.consume)
}

// sweep invokes the sweeper and plans the next time: usually a minute later, at times after a longer
// time without it.
func (s *simulation) sweep() {
	ctx := s.arm(s.Context(), s.crash())
	_ = s.sweeper.Invoke(ctx) // A failed sweep is made again.
	s.disarm()
	next := time.Minute + time.Duration(s.random.Int64N(int64(sweepEvery-time.Minute)))
	s.after(next, s.sweep)
}

// consume lets the workers take what is visible, and plans the next time.
func (s *simulation) consume() {
	next := s.Now().Add(30 * time.Second)
	for _, c := range s.consumers {
		c.drain(s.Context())
	}
	for _, c := range s.consumers {
		if at, ok := c.earliest(); ok && at.Before(next) {
			next = at
		}
	}
	s.after(max(next.Sub(s.Now()), 500*time.Millisecond), s.consume)
}

// now returns a function that lets the worker take what is visible.
func (c *consumer) now(ctx context.Context) func() { return func() { c.drain(ctx) } }
