// Package agenda_test measures agenda planning and awards: the conflicts of a large agenda, a large draft, and small
// records. `make bench` runs the whole size and prints the figures of docs/performance.md.
package agenda_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/tools/bench/scale"
)

// description is the text of a session, as long as many are.
var description = strings.Repeat("What we have learned, and what we would do in another way today. ", 15)

// bench is a client of an event with an agenda.
type bench struct {
	*it.Client
	log *stacktest.Log
}

func startBench(t *testing.T) bench {
	t.Helper()
	log := &stacktest.Log{}
	return bench{&it.Client{Stack: stacktest.Start(t, stacktest.WithLog(log)), T: t}, log}
}

// measure sends a request n times, with the body of each. It returns the last answer, and a line with the median time and
// the units of the last request.
func (b bench) measure(method, path string, n int, body func(i int) any) (stacktest.Answer, string) {
	b.T.Helper()
	var times []time.Duration
	var last stacktest.Answer
	for i := range n {
		began := time.Now()
		last = b.Call(b.T, http.StatusOK, method, path, stacktest.WithHeaders(body(i), "Accept-Encoding", "gzip"))
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	fields := b.log.Fields(b.T, last.Header.Get("X-Request-Id"))
	return last, fmt.Sprintf("%.1f ms, %v round trips, %v calls, %v read and %v write units, %d bytes", times[n/2].Seconds()*1000,
		fields["round_trips"], fields["calls"], fields["rcu"], fields["wcu"], len(last.Body))
}

// nothing is the body of a request without one.
func nothing(int) any { return nil }

// do sends a request below the event n times, and prints the median time and the units of the last.
func (b bench) do(name, method, path string, n int) stacktest.Answer {
	b.T.Helper()
	last, line := b.measure(method, b.EventPath(path), n, nothing)
	b.T.Logf("%s: %s", name, line)
	return last
}

// list lists the conflicts n times, and prints the median time and the units of the last.
func (b bench) list(name string, n int) (sessions int) {
	b.T.Helper()
	b.do(name, http.MethodGet, "/agenda-conflicts", n)
	return len(b.ListSettings("/agenda-conflicts"))
}

// drafts returns n drafts.
func drafts(n int, draft func(i int) any) []any {
	all := make([]any, n)
	for i := range all {
		all[i] = draft(i)
	}
	return all
}

// TestALargeAgenda lists the conflicts of 10,000 sessions in 125 rooms with three people each, of which one in fifty is in the
// wrong room.
func TestALargeAgenda(t *testing.T) {
	const rooms, people = 125, 3
	n := scale.Size(250, 10_000)
	b := startBench(t)
	var halls []string
	for i := range rooms {
		halls = append(halls, b.NewEntry("rooms", fmt.Sprint("Hall ", i), it.Object{"capacity": 100}).ID())
	}
	contacts := b.CreateAll("contacts", drafts(people*n/4, func(i int) any {
		return it.Object{"email": fmt.Sprintf("p%d@example.org", i), "first_name": fmt.Sprint("P", i)}
	}))
	opens := time.Date(2027, 5, 10, 8, 0, 0, 0, time.UTC)
	ids := b.CreateAll("sessions", drafts(n, func(i int) any {
		slot, hall := i/rooms, i%rooms
		if i%50 == 0 {
			hall = (hall + 1) % rooms
		}
		starts := opens.Add(time.Duration(slot/16*24)*time.Hour + time.Duration(slot%16)*30*time.Minute)
		on := []it.Object{}
		for k := range people {
			on = append(on, it.Object{"contact_id": contacts[(i*people+k)%len(contacts)], "core_role": "speaker"})
		}
		return it.Object{"title": fmt.Sprint("Talk ", i), "description": description, "room_id": halls[hall], "starts_at": starts,
			"ends_at": starts.Add(30 * time.Minute), "participants": on}
	}))
	for kind, config := range map[string]it.Object{
		"min_gap_minutes": {"minutes": 5}, "time_window": {"starts": "08:00", "ends": "16:00"}, "room_capacity": {"level": "warning"},
	} {
		b.Do(http.StatusOK, http.MethodPost, "/rules/create", it.Object{"name": kind, "type": kind, "config": config})
	}
	fresh := bench{&it.Client{Stack: b.Instance(t), T: t}, b.log}
	fresh.list("by a new instance", 1)
	require.NotZero(t, fresh.list("warm", 5))
	fresh.Put(http.StatusOK, ids[0], it.Object{"capacity": 50})
	fresh.list("after a change", 1)
}
