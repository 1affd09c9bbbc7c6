package bus_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	workers "lectern/events"
	"lectern/localstack/local/bus"
	"lectern/localstack/test/tabletest"
	"lectern/shared/change"
	"lectern/shared/feed"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

// changes writes change records of organizations.
type changes struct {
	*table.Table
	n atomic.Int64
}

// startChanges returns a table with three organizations in the region's list.
func startChanges(t *testing.T, door func(table.Client) table.Client) *changes {
	t.Helper()
	c := &changes{Table: tabletest.Behind(t, door)}
	for org := range int64(3) {
		require.NoError(t, c.Transact(t.Context(), table.Insert(tenancy.ListLine(org+1))))
	}
	return c
}

func same(c table.Client) table.Client { return c }

// write writes a change record of a time and returns the id. Every third is long, so that it is
// stored deflated.
func (c *changes) write(t *testing.T, at time.Time) string {
	t.Helper()
	n := c.n.Add(1)
	r := change.Record{
		At: wire.At(at), Org: n%3 + 1, Type: "session", RecordID: fmt.Sprint(n), Version: n, Action: "session.updated",
		Kinds: []change.Kind{{Name: "session.updated", Sequence: n}},
	}
	if n%3 == 0 {
		r.Values = []change.Value{{Field: "description", New: strings.Repeat("long ", 1000)}}
	}
	r = change.New(t.Context(), r)
	require.NoError(t, change.Commit(t.Context(), c.Table, r.Write()))
	return r.ID
}

// collector is a publisher that remembers the change records.
type collector struct {
	mu   sync.Mutex
	seen map[string]int
	// fails reports whether an invocation fails.
	fails func() bool
	// poison is the id of a record that fails.
	poison string
}

// handle decodes the records as the publisher does.
func (c *collector) handle(_ context.Context, payload json.RawMessage) (json.RawMessage, error) {
	var event events.DynamoDBEvent
	if err := json.Unmarshal(payload, &event); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fails != nil && c.fails() {
		return nil, errors.New("the publisher fails")
	}
	var answer events.DynamoDBEventResponse
	for _, r := range event.Records {
		item, err := table.FromStream(r.Change.NewImage)
		if err != nil {
			return nil, err
		}
		var record change.Record
		if err := json.Unmarshal(item.Data, &record); err != nil {
			return nil, err
		}
		if c.seen[record.ID]++; record.ID == c.poison {
			answer.BatchItemFailures = append(answer.BatchItemFailures, events.DynamoDBBatchItemFailure{ItemIdentifier: r.Change.SequenceNumber})
		}
	}
	return json.Marshal(answer)
}

// times returns how often each record was published.
func (c *collector) times() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[string]int{}
	for id, n := range c.seen {
		all[id] = n
	}
	return all
}

// missing returns the ids that are not published.
func (c *collector) missing(ids []string) (missing []string) {
	times := c.times()
	for _, id := range ids {
		if times[id] == 0 {
			missing = append(missing, id)
		}
	}
	return missing
}

// sources returns the sources of the collector on a table.
func (c *collector) sources(t *table.Table, poll time.Duration) bus.Sources {
	return bus.Sources{Handlers: map[string]bus.Handler{workers.Publisher: c.handle}, Table: t, Poll: poll}
}

func newCollector() *collector { return &collector{seen: map[string]int{}} }

// TestNothingIsLostOrFromBeforeTheFirstStart: writers write while the bus is stopped at random points,
// often within an invocation. A follower writes nothing when it stops, so a stop is like a kill.
func TestNothingIsLostOrFromBeforeTheFirstStart(t *testing.T) {
	c, got, dir := startChanges(t, same), newCollector(), t.TempDir()
	var early, ids []string
	for range 30 {
		early = append(early, c.write(t, time.Now().Add(-time.Duration(rand.IntN(100))*time.Second)))
	}
	r := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	got.fails = func() bool { return r.IntN(3) == 0 }
	moved := &clock{}
	moved.advance(time.Second) // The ids have milliseconds.
	config := bus.Config{Region: "us", Dir: dir, Workers: workers.Workers, Log: slog.New(slog.DiscardHandler), Now: moved.now}
	for range 12 {
		b := openWith(t, config, moved)
		require.NoError(t, b.Run(got.sources(c.Table, time.Millisecond)))
		for range r.IntN(40) {
			ids = append(ids, c.write(t, moved.now()))
		}
		require.NoError(t, b.Stop())
		for range r.IntN(20) {
			ids = append(ids, c.write(t, moved.now()))
		}
		moved.advance(time.Duration(r.IntN(90)) * time.Second)
	}
	last := openWith(t, config, moved)
	require.NoError(t, last.Run(got.sources(c.Table, time.Millisecond)))
	require.Eventually(t, func() bool { return len(got.missing(ids)) == 0 }, 3*soon, 20*time.Millisecond)
	require.Equal(t, early, got.missing(early))
}

// TestAChangeIsPublishedOnce while nothing fails, however many reads find it.
func TestAChangeIsPublishedOnce(t *testing.T) {
	c, got, b := startChanges(t, same), newCollector(), open(t, t.TempDir())
	require.NoError(t, b.Run(got.sources(c.Table, time.Millisecond)))
	var ids []string
	for range 100 {
		ids = append(ids, c.write(t, b.now()))
		b.advance(time.Second)
	}
	require.Eventually(t, func() bool { return len(got.missing(ids)) == 0 }, soon, 10*time.Millisecond)
	for id, n := range got.times() {
		require.Equal(t, 1, n, id)
	}
}

// TestALateCommitIsPublished: a write that takes 50 seconds from the time of its change to its commit.
func TestALateCommitIsPublished(t *testing.T) {
	c, got, b := startChanges(t, same), newCollector(), open(t, "")
	b.advance(-time.Hour)
	require.NoError(t, b.Run(got.sources(c.Table, time.Millisecond)))
	b.advance(time.Hour)
	first := []string{c.write(t, b.now())}
	require.Eventually(t, func() bool { return len(got.missing(first)) == 0 }, soon, time.Millisecond)
	late := []string{c.write(t, b.now().Add(-50*time.Second))}
	b.advance(10 * time.Second)
	require.Eventually(t, func() bool { return len(got.missing(late)) == 0 }, soon, time.Millisecond)
}

// TestTheFollowerIsToldAtOnce of what this process writes: no read of the feed comes in this time.
func TestTheFollowerIsToldAtOnce(t *testing.T) {
	got, b := newCollector(), open(t, "")
	c := startChanges(t, b.Tell)
	require.NoError(t, b.Run(got.sources(c.Table, time.Hour)))
	first := []string{c.write(t, b.now())}
	require.Eventually(t, func() bool { return len(got.missing(first)) == 0 }, soon, time.Millisecond)
	var longest time.Duration
	for range 20 {
		id := []string{c.write(t, b.now())}
		start := time.Now()
		require.Eventually(t, func() bool { return len(got.missing(id)) == 0 }, soon, time.Millisecond)
		longest = max(longest, time.Since(start))
	}
	t.Logf("the longest of 20 took %s", longest)
}

// TestARecordThatFailsHoldsUpNoOther, and goes to the dead letters.
func TestARecordThatFailsHoldsUpNoOther(t *testing.T) {
	c, got, b := startChanges(t, same), newCollector(), open(t, "")
	ids := []string{c.write(t, b.now().Add(time.Second))}
	got.poison = ids[0]
	for range 20 {
		ids = append(ids, c.write(t, b.now().Add(time.Second)))
	}
	require.NoError(t, b.Run(got.sources(c.Table, time.Millisecond)))
	require.Eventually(t, func() bool { return len(got.missing(ids)) == 0 }, soon, time.Millisecond)
	require.Eventually(t, func() bool { return b.counts(t, "changes-dead")[0] == "1" }, soon, 10*time.Millisecond)
	require.Contains(t, *b.receive(t, "changes-dead")[0].Body, got.poison)
	tries := got.times()[got.poison]
	require.GreaterOrEqual(t, tries, 10)
	next := []string{c.write(t, b.now())}
	require.Eventually(t, func() bool { return len(got.missing(next)) == 0 }, soon, time.Millisecond)
	require.Equal(t, tries, got.times()[got.poison], "it is given up")
}

// counting counts the queries.
type counting struct {
	table.Client
	queries atomic.Int64
}

func (c *counting) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	c.queries.Add(1)
	return c.Client.Query(ctx, in, o...)
}

// TestAReadOfAnIdleRegionIsCheap: a query for the list of organizations, and one for the hours of
// each; eight more where the hour has a change.
func TestAReadOfAnIdleRegionIsCheap(t *testing.T) {
	door := &counting{}
	c := startChanges(t, func(inner table.Client) table.Client { door.Client = inner; return door })
	got, b := newCollector(), open(t, "")
	require.NoError(t, b.Run(got.sources(c.Table, time.Hour)))
	require.Eventually(t, func() bool { return door.queries.Load() == 4 }, soon, time.Millisecond)
	require.NoError(t, b.Stop())
	id := c.write(t, time.Now().Add(-time.Second))
	door.queries.Store(0)
	b = open(t, "")
	require.NoError(t, b.Run(got.sources(c.Table, time.Hour)))
	require.Eventually(t, func() bool { return door.queries.Load() == 4+feed.Buckets }, soon, time.Millisecond)
	require.Equal(t, []string{id}, got.missing([]string{id}))
}

// TestTheFollowerReadsAfterAnotherProcessWrote, long before the next read of the feed.
func TestTheFollowerReadsAfterAnotherProcessWrote(t *testing.T) {
	c, got, b := startChanges(t, same), newCollector(), open(t, "")
	require.NoError(t, b.Run(got.sources(c.Table, time.Hour)))
	for range 3 {
		id := []string{c.write(t, b.now())}
		b.Wrote()
		require.Eventually(t, func() bool { return len(got.missing(id)) == 0 }, soon, time.Millisecond)
	}
}
