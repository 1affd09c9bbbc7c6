package events_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/events/deliverer"
	"lectern/events/matcher"
	"lectern/events/sweeper"
	"lectern/localstack/local/faulty"
	"lectern/localstack/test/tabletest"
	"lectern/shared/bus"
	"lectern/shared/change"
	"lectern/shared/delivery"
	"lectern/shared/table"
	"lectern/shared/webhook"
	"lectern/shared/wire"
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
	sweeper    *sweeper.Sweeper
	// records are the last versions and sequences by record, committed the messages of all
	// committed changes.
	records   map[string]progress
	committed []bus.Message
	uncertain int
}

// body renders a body that names its message.
type body struct{ *crashes }

func (b body) Render(_ context.Context, m bus.Message, form string) ([]byte, error) {
	return fmt.Appendf(nil, `{"data":{"form":%q},"metadata":{"change":%q,"kind":%q,"sequence":%d,"random":%d,%s`,
		form, m.Change, m.Kind, m.Sequence, rand.Int64(), delivery.Place), b.step()
}

// TestSimulation runs the workers for days: with faults of the table, crashes at any step, messages
// that come twice, late and in any order, and receivers that fail in every way.
// LECTERN_SEED repeats the plan of a run: the messages of an invocation are handled side by side, so the
// order of their steps is another each time.
func TestSimulation(t *testing.T) {
	of, seed := inCI, uint64(time.Now().UnixNano())%1_000_000
	if os.Getenv("LECTERN_LONG") == "1" {
		of = long
	}
	if text := os.Getenv("LECTERN_SEED"); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("LECTERN_SEED=%d repeats this run", seed)
	s := newSimulation(t, of, seed)
	end := s.Now().Add(of.whole)
	s.plan()
	s.run(end)
	s.checkCommitted(end)
	s.checkDeliveries(end)
	s.checkReceivers()
	require.Positive(t, s.seen, "crashes")
	t.Logf("%d messages of %d changes, %d crashes, %d writes without an answer", len(s.committed), of.changes, s.seen, s.uncertain)
}

func newSimulation(t *testing.T, of size, seed uint64) *simulation {
	t.Helper()
	began := time.Date(2027, 5, 1, 7, 59, 30, 0, time.UTC)
	s := &simulation{
		T: t, agenda: &agenda{clock: &clock{now: began}}, crashes: &crashes{}, size: of,
		random: rand.New(rand.NewPCG(seed, 1)), records: map[string]progress{},
	}
	s.table = tabletest.Behind(t, func(inner table.Client) table.Client {
		faults := faulty.New(inner, faulty.Config{Seed: seed, Conflict: 0.004, Throttle: 0.004, DropBefore: 0.002, DropAfter: 0.002})
		return crashing{faults, s.crashes}
	})
	s.table.Now = s.Now
	s.receivers = &receivers{crashes: s.crashes, now: s.Now, began: began, seed: strconv.FormatUint(seed, 10), all: map[string]*receiver{}}
	for i := range of.endpoints {
		id := uuid.NewSHA1(uuid.NameSpaceURL, fmt.Append(nil, seed, i)).String()
		org := int64(1 + i%of.organizations)
		s.receivers.all[id] = newReceiver(id, i/of.organizations, org, s.events(org))
	}
	s.webhooks, s.deliveries = s.queue(seed+1), s.queue(seed+2)
	log := slog.New(slog.DiscardHandler)
	m := matcher.New(matcher.Config{Table: s.table, Now: s.Now, Log: log, Receivers: s.receivers, Renderer: body{s.crashes}, Deliveries: s.deliveries})
	d := deliverer.New(deliverer.Config{Table: s.table, Now: s.Now, Log: log, Receivers: s.receivers, Sender: s.receivers, Deliveries: s.deliveries})
	s.sweeper = sweeper.New(s.table, s.Now, log, s.deliveries)
	s.consumers = []*consumer{
		{queue: s.webhooks, invoke: m.Invoke, batch: 10, visible: visible / 2, steps: s.crash},
		{queue: s.deliveries, invoke: d.Invoke, batch: 10, visible: visible, steps: s.crash},
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

// plan plans the writes, in bursts as an import makes them, and the sweeper.
func (s *simulation) plan() {
	for left := s.changes; left > 0; {
		burst := min(left, 1+s.random.IntN(1+s.changes/20))
		left -= burst
		at, org := time.Duration(s.random.Int64N(int64(s.writing))), int64(1+s.random.IntN(s.organizations))
		for i := range burst {
			s.after(at+time.Duration(i)*200*time.Millisecond, func() { s.write(org) })
		}
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

// progress is how far a record is.
type progress struct{ version, sequence int64 }

// record is a record that is written.
type record struct {
	kind, id string
	event    int64
}

// record returns a record at random: some are written often.
func (s *simulation) record(org int64) record {
	kinds := []string{"session", "contact", "sponsor", "exhibitor"}
	r := record{kinds[s.random.IntN(len(kinds))], "", s.events(org)[s.random.IntN(3)]}
	if r.event == 0 {
		r.kind = "contact"
	}
	r.id = uuid.NewSHA1(uuid.NameSpaceURL, fmt.Append(nil, org, r.event, r.kind, s.random.IntN(40))).String()
	return r
}

// write writes a record with one or two published kinds. A write may fail and a write may lose its
// answer; the stream has what was committed.
func (s *simulation) write(org int64) {
	r := s.record(org)
	key := table.Key{PK: table.Event(org, max(r.event, 1)) + "#S#" + r.id, SK: "B"}
	before := s.records[r.id]
	after := progress{before.version + 1, before.sequence}
	c := change.Record{
		At: wire.At(s.Now()), Org: org, Event: r.event, Action: r.kind + ".updated", Type: r.kind, RecordID: r.id, Version: after.version,
	}
	for range 1 + s.random.IntN(8)/7 {
		all := slices.DeleteFunc(slices.Clone(webhook.Kinds), func(k string) bool { return !strings.HasPrefix(k, r.kind) })
		after.sequence++
		c.Kinds = append(c.Kinds, change.Kind{Name: all[s.random.IntN(len(all))], Sequence: after.sequence, Fields: []string{"title"}})
	}
	ctx := change.WithActor(s.arm(s.Context(), s.crash()), change.Actor{Type: change.ActorToken, ID: 7}, change.SourceAPI)
	c = change.New(ctx, c)
	item := table.Item{Key: key, Version: after.version, Data: []byte(`{}`)}
	write := table.Insert(item)
	if before.version > 0 {
		write = table.Replace(item, before.version)
	}
	err := change.Commit(ctx, s.table, write, c.Write())
	s.disarm()
	if err != nil {
		s.uncertain++
	}
	_, err = s.table.Get(s.Context(), c.Key())
	for ; err != nil && !errors.Is(err, table.ErrNotFound); _, err = s.table.Get(s.Context(), c.Key()) {
	}
	if err == nil {
		s.records[r.id] = after
		s.publish(bus.Messages(c))
	}
}

// publish puts messages on the bus, some later again: the publisher repeats a batch that failed. The
// rule of the bus sends the kinds of webhooks alone to the matcher.
func (s *simulation) publish(all []bus.Message) {
	all = slices.DeleteFunc(all, func(m bus.Message) bool { return !slices.Contains(webhook.Kinds, m.Kind) })
	s.committed = append(s.committed, all...)
	for _, m := range all {
		text, err := json.Marshal(map[string]any{"source": bus.Source, "detail-type": m.Kind, "detail": m})
		require.NoError(s, err)
		s.webhooks.put(text, 0)
		if s.random.IntN(30) == 0 {
			s.after(time.Duration(s.random.Int64N(int64(24*time.Hour))), func() { s.webhooks.put(text, 0) })
		}
	}
	s.after(3*time.Second, s.consumers[0].now(s.Context()))
}

// now returns a function that lets the worker take what is visible.
func (c *consumer) now(ctx context.Context) func() { return func() { c.drain(ctx) } }
