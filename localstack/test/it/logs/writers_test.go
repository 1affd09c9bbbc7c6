package logs_test

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
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

// write changes a session and a contact of its own until the writers stop.
func (w *writers) write(d *it.Client, writer int, session, person string) {
	for n := 0; !w.stop.Load(); n++ {
		w.begin(writer)
		path, body := "/sessions/"+session, object{"title": fmt.Sprint("T", n), "capacity": n + 1}
		if n%3 == 2 {
			path, body = "/contacts/"+person, object{"first_name": fmt.Sprint("F", n), "last_name": fmt.Sprint("L", n)}
		}
		answer := d.TrySend(d.T, http.MethodPut, d.EventPath(path), body)
		w.end(writer)
		if answer.Status != 200 {
			d.T.Errorf("%s answered %d %s", path, answer.Status, answer.Body)
			return
		}
		w.count.Add(1)
	}
}

// follow reads pages until the writers have ended and the log ends, and returns the events.
func follow(t *testing.T, e *exporter, w *writers, limit int) (events []entity) {
	at := fmt.Sprint("limit=", limit)
	query := "?" + at
	for {
		done := w.done.Load()
		e.calls++
		answer := e.As(e.tokens[e.calls%len(e.tokens)]).TrySend(t, http.MethodGet, "/v1/logs/"+audit+query, nil)
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

// TestReadersMissAndRepeatNothingBesideWriters: three readers begin at other times and with other
// sizes of pages, while writers change records as fast as they can. The clock of the service is
// 60 seconds after the begin of the oldest running write: a reader that read any later would miss
// writes.
func TestReadersMissAndRepeatNothingBesideWriters(t *testing.T) {
	d := it.NewClient(t)
	w := &writers{begins: map[int]time.Time{}}
	sessions, people := d.NewSessions("A", "B", "C", "D"), []string{}
	for i := range sessions {
		people = append(people, d.NewContact(fmt.Sprintf("p%d@example.org", i)).ID())
	}
	readers := make([]*exporter, 3)
	for i := range readers {
		readers[i] = newExporter(d)
		for range 10 {
			readers[i].tokens = append(readers[i].tokens, d.TokenWith(t, object{"kind": "log_export"}))
		}
		readers[i].clock.follow(w.edge)
	}
	var writing sync.WaitGroup
	for i := range sessions {
		writing.Go(func() { w.write(d, i, sessions[i], people[i]) })
	}
	got := make([][]entity, len(readers))
	var reading sync.WaitGroup
	for i, limit := range []int{23, 40, 1000} {
		reading.Go(func() { got[i] = follow(t, readers[i], w, limit) })
		time.Sleep(time.Second)
	}
	require.Eventually(t, func() bool { return w.count.Load() > 50 }, time.Minute, 10*time.Millisecond)
	w.stop.Store(true)
	writing.Wait()
	w.done.Store(true)
	reading.Wait()
	want := trail(t, d.Stack)
	for i := range got {
		require.Equal(t, len(want), len(got[i]), "reader %d", i)
		require.Equal(t, want, brief(got[i]), "reader %d", i)
	}
	t.Logf("%d writes, %d events, %d, %d and %d calls", w.count.Load(), len(want), readers[0].calls, readers[1].calls, readers[2].calls)
}
