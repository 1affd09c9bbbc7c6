package logs_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/events/ingester"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/requestlog"
)

// writers has the running writes of a test. All events before the oldest of them are settled.
type writers struct {
	mu     sync.Mutex
	begins map[int]time.Time
	count  atomic.Int64
	// stop ends the writers, and done says that they have ended.
	stop, done atomic.Bool
}

// begin notes that a writer begins a write.
func (w *writers) begin(writer int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begins[writer] = time.Now()
}

func (w *writers) end(writer int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.begins, writer)
}

// edge returns the clock of a service that may read all events before the oldest running write.
func (w *writers) edge() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	oldest := time.Now()
	for _, begin := range w.begins {
		if begin.Before(oldest) {
			oldest = begin
		}
	}
	return oldest.Add(time.Minute)
}

// run does the n-th write again and again until the writers stop.
func (w *writers) run(writer int, write func(n int) bool) {
	for n := 0; !w.stop.Load(); n++ {
		w.begin(writer)
		done := write(n)
		w.end(writer)
		if !done {
			return
		}
		w.count.Add(1)
	}
}

// follow reads pages until the writers have ended and the log ends, and returns the events.
func follow(t *testing.T, e *exporter, w *writers, log string, limit int) (events []entity) {
	at := fmt.Sprint("limit=", limit)
	query := "?" + at
	for {
		done := w.done.Load()
		e.calls++
		answer := e.As(e.tokens[e.calls%len(e.tokens)]).TrySend(t, http.MethodGet, "/v1/logs/"+log+query, nil)
		if answer.Status != 200 {
			t.Errorf("a reader got %d %s", answer.Status, answer.Body)
			return events
		}
		var p page
		answer.Into(t, &p)
		events = append(events, p.Results...)
		if done && !p.HasMore {
			return events
		}
		query = "?" + at + "&cursor=" + p.NextCursor
		if !p.HasMore {
			time.Sleep(20 * time.Millisecond)
		}
	}
}

// atOnce is the number of writers.
const atOnce = 4

// beside reads a log with three readers, which begin at other times and have other sizes of pages, while
// writers write as fast as they can. The clock of the service is 60 seconds after the begin of the oldest
// running write: a reader that read any later would miss writes.
func beside(d *it.Client, log string, write func(writer, n int) bool) (got [][]entity) {
	t, w := d.T, &writers{begins: map[int]time.Time{}}
	readers := make([]*exporter, 3)
	for i := range readers {
		readers[i] = newExporter(d)
		for range 10 {
			readers[i].tokens = append(readers[i].tokens, d.TokenWith(t, object{"kind": "log_export"}))
		}
		readers[i].clock.follow(w.edge)
	}
	var writing sync.WaitGroup
	for i := range atOnce {
		writing.Go(func() { w.run(i, func(n int) bool { return write(i, n) }) })
	}
	got = make([][]entity, len(readers))
	var reading sync.WaitGroup
	for i, limit := range []int{23, 40, 1000} {
		reading.Go(func() { got[i] = follow(t, readers[i], w, log, limit) })
		time.Sleep(time.Second)
	}
	require.Eventually(t, func() bool { return w.count.Load() > 50 }, time.Minute, 10*time.Millisecond)
	w.stop.Store(true)
	writing.Wait()
	w.done.Store(true)
	reading.Wait()
	t.Logf("%s: %d writes, %d events, %d, %d and %d calls", log, w.count.Load(), len(got[0]), readers[0].calls, readers[1].calls, readers[2].calls)
	return got
}

// TestReadersMissAndRepeatNothingBesideWriters of sessions and contacts: the audit trail.
func TestReadersMissAndRepeatNothingBesideWriters(t *testing.T) {
	d := it.NewClient(t)
	sessions, people := d.NewSessions("A", "B", "C", "D"), []string{}
	for i := range sessions {
		people = append(people, d.NewContact(fmt.Sprintf("p%d@example.org", i)).ID())
	}
	got := beside(d, audit, func(writer, n int) bool {
		path, body := "/sessions/"+sessions[writer], object{"title": fmt.Sprint("T", n), "capacity": n + 1}
		if n%3 == 2 {
			path, body = "/contacts/"+people[writer], object{"first_name": fmt.Sprint("F", n), "last_name": fmt.Sprint("L", n)}
		}
		answer := d.TrySend(t, http.MethodPut, d.EventPath(path), body)
		if answer.Status != http.StatusOK {
			t.Errorf("%s answered %d %s", path, answer.Status, answer.Body)
		}
		return answer.Status == http.StatusOK
	})
	want := trail(t, d.Stack)
	for i := range got {
		require.Equal(t, want, brief(got[i]), "reader %d", i)
	}
}

// TestReadersMissAndRepeatNothingBesideIngesters: several ingesters store the requests of an organization
// at once. The readers get each request once, in the order of the stored packs.
func TestReadersMissAndRepeatNothingBesideIngesters(t *testing.T) {
	d := it.NewClient(t)
	late := func() time.Time { // A pack is stored later than its time says.
		defer time.Sleep(10 * time.Millisecond)
		return time.Now()
	}
	var ingesters [atOnce]*ingester.Ingester
	for i := range ingesters {
		ingesters[i] = ingester.New(d.Table(t), late, slog.New(slog.DiscardHandler))
	}
	got := beside(d, requests, func(writer, n int) bool {
		var lines []string
		for i := range 1 + n%7 {
			lines = append(lines, string(encode(t, object{
				"timestamp": time.Now().Format(time.RFC3339Nano), "level": "INFO", "msg": requestlog.Message, "method": "GET", "status": 200, "ms": 3,
				"request_id": fmt.Sprintf("%d-%d-%d", writer, n, i), "route": "/v1/events", "org": d.Org, "token": 9,
			})))
		}
		err := ingesters[writer].Ingest(t.Context(), lines)
		if err != nil {
			t.Error(err)
		}
		return err == nil
	})
	var want []string
	for _, p := range stacktest.Packs(t, d.Table(t), d.Org) {
		for _, e := range p.Entries {
			want = append(want, e.RequestID)
		}
	}
	require.Greater(t, len(want), 50)
	for i := range got {
		require.Equal(t, want, targets(got[i]), "reader %d", i)
	}
}

// targets returns the ids of the targets of events.
func targets(events []entity) []string {
	ids := make([]string, len(events))
	for i, e := range events {
		ids[i] = e.At("target.id").(string)
	}
	return ids
}

// TestReadersMissAndRepeatNothingBesideTokens that are changed: the security events. All readers get each
// change of a token once, in the order of time.
func TestReadersMissAndRepeatNothingBesideTokens(t *testing.T) {
	d := it.NewClient(t)
	var tokens [atOnce]any
	for i := range tokens {
		tokens[i] = d.Operator(t, "token-create", object{"org_id": d.Org, "user_id": d.Member, "name": "Import", "scopes": []string{"read:events"}})["id"]
	}
	var changes [atOnce]int
	got := beside(d, security, func(writer, n int) bool {
		d.Operator(t, "token-update", object{"org_id": d.Org, "token_id": tokens[writer], "name": fmt.Sprint("N", n)})
		changes[writer]++
		return true
	})
	for i := range got {
		require.Equal(t, targets(got[0]), targets(got[i]), "reader %d", i)
		ids := it.Texts(got[i], "id")
		require.Equal(t, it.Texts(got[0], "id"), ids, "reader %d", i)
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(ids))), len(ids), "each once")
		require.True(t, slices.IsSortedFunc(got[i], inOrder))
		for writer, n := range changes {
			seen := 0
			for _, e := range got[i] {
				if e["action"] == "token.updated" && e.At("target.id") == fmt.Sprint(tokens[writer]) {
					seen++
				}
			}
			require.Equal(t, n, seen, "reader %d, token of writer %d", i, writer)
		}
	}
}
