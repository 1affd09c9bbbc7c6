// Package insights_test measures queries about a large event. `make bench` runs the whole size and prints the figures of
// docs/performance.md.
package insights_test

import (
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/tools/bench/scale"
)

// description is the text of a session, as long as many are.
var description = strings.Repeat("What we have learned, and what we would do in another way today. ", 15)

// The measured queries: fields of rows alone, fields of whole sessions without long texts, and joins.
const (
	byRow  = "SELECT session.title, session.starts_at FROM sessions WHERE session.status = 'accepted' ORDER BY session.starts_at DESC"
	byBody = "SELECT session.title, session.capacity FROM sessions WHERE session.capacity > 100 ORDER BY session.capacity, session.title"
	inText = "SELECT session.title FROM sessions WHERE session.description CONTAINS 'learned' ORDER BY session.title"
	people = "SELECT contact.full_name, contact.title FROM contacts WHERE contact.company_name = 'Company 7' ORDER BY contact.full_name"
	join   = "SELECT speaker.full_name, COUNT(session.id) AS sessions FROM speakers JOIN sessions " +
		"GROUP BY speaker.full_name ORDER BY sessions DESC"
	tracks = "SELECT track.name, COUNT(session.id) AS sessions FROM sessions JOIN tracks GROUP BY track.name ORDER BY sessions DESC"
	status = "SELECT session.status, COUNT(session.id) AS n FROM sessions GROUP BY session.status"
	firms  = "SELECT contact.company_name AS firm, COUNT(contact.id) AS n FROM contacts GROUP BY contact.company_name ORDER BY n DESC"
	sizes  = "SELECT session.capacity, MIN(session.starts_at) AS first FROM sessions GROUP BY session.capacity ORDER BY session.capacity"
)

// bench is a client of an event with many sessions and as many contacts.
type bench struct {
	*it.Client
	log *stacktest.Log
}

// startBench makes the event: each session has two speakers, half of the sessions are accepted.
func startBench(t *testing.T, n int) bench {
	t.Helper()
	log := &stacktest.Log{}
	b := bench{&it.Client{Stack: stacktest.Start(t, stacktest.WithLog(log)), T: t}, log}
	var on []string
	for i := range 10 {
		on = append(on, b.NewEntry("tracks", fmt.Sprint("Track ", i)).ID())
	}
	contacts := make([]any, n)
	for i := range contacts {
		contacts[i] = it.Object{
			"email": fmt.Sprintf("p%d@example.org", i), "first_name": fmt.Sprint("Given", i), "last_name": fmt.Sprint("Family", i%997),
			"company": fmt.Sprint("Company ", i%500),
		}
	}
	ids, sessions := b.CreateAll("contacts", contacts), make([]any, n)
	opens := time.Date(2027, 5, 10, 8, 0, 0, 0, time.UTC)
	for i := range sessions {
		starts := opens.Add(time.Duration(i%2000) * 5 * time.Minute)
		sessions[i] = it.Object{
			"title": fmt.Sprint("Talk ", i), "description": description, "starts_at": starts, "ends_at": starts.Add(45 * time.Minute),
			"status": []string{"accepted", "pending"}[i%2], "track_id": on[i%len(on)], "capacity": 50 + i%200,
			"participants": []it.Object{
				{"contact_id": ids[i], "core_role": "speaker"}, {"contact_id": ids[(i+1)%n], "core_role": "speaker"},
			},
		}
	}
	b.CreateAll("sessions", sessions)
	return b
}

// ask runs a query n times, and returns a line about it.
func (b bench) ask(query string, n int) string {
	b.T.Helper()
	return b.measure(n, func() stacktest.Answer {
		answer := b.Call(b.T, http.StatusOK, http.MethodPost, b.EventPath("/insights/execute"), it.Object{"query": query, "obfuscatePii": false})
		require.NotEmpty(b.T, answer.JSON(b.T)["results"])
		return answer
	})
}

// look asks for a dashboard n times, and returns a line about it. Each widget must have data.
func (b bench) look(dashboard string, n int) string {
	b.T.Helper()
	return b.measure(n, func() stacktest.Answer {
		answer := b.Call(b.T, http.StatusOK, http.MethodGet, b.EventPath("/dashboards/"+dashboard), nil)
		var page struct {
			Widgets []struct{ Data struct{ Results []it.Object } }
		}
		answer.Into(b.T, &page)
		require.Len(b.T, page.Widgets, 8)
		for _, widget := range page.Widgets {
			require.NotEmpty(b.T, widget.Data.Results)
		}
		return answer
	})
}

// measure calls n times, and returns a line with the median time, the processor time of one call in this process with its client, and
// the units of the last answer.
func (b bench) measure(n int, call func() stacktest.Answer) string {
	b.T.Helper()
	times, worked := make([]time.Duration, n), processorTime(b.T)
	var last stacktest.Answer
	for i := range times {
		began := time.Now()
		last = call()
		times[i] = time.Since(began)
	}
	worked = (processorTime(b.T) - worked) / time.Duration(n)
	slices.Sort(times)
	fields := b.log.Fields(b.T, last.Header.Get("X-Request-Id"))
	return fmt.Sprintf("%.1f ms, %.1f at best, %.1f of processors, %v round trips, %v calls, %v read units", times[n/2].Seconds()*1000,
		times[0].Seconds()*1000, worked.Seconds()*1000, fields["round_trips"], fields["calls"], fields["rcu"])
}

// TestALargeEvent asks about 10,000 sessions and 10,000 contacts.
func TestALargeEvent(t *testing.T) {
	b := startBench(t, scale.Size(250, 10_000))
	queries := []struct{ name, text string }{
		{"a filter and an order, by rows", byRow}, {"a filter and an order, by bodies", byBody}, {"a filter of descriptions", inText},
		{"a filter of contacts", people}, {"sessions by track", tracks}, {"speakers and sessions, joined and counted", join},
	}
	for _, q := range queries {
		b.fresh(t, q.name, func(at bench, n int) string { return at.ask(q.text, n) })
	}
	var widgets []any
	for _, q := range []string{byRow, byBody, people, tracks, join, status, firms, sizes} {
		widgets = append(widgets, it.Object{"type": "table", "title": "A table", "query": q})
	}
	dashboard := b.Do(http.StatusOK, http.MethodPost, "/dashboards/create", it.Object{"name": "Overview", "widgets": widgets}).ID()
	b.fresh(t, "a dashboard of eight widgets", func(at bench, n int) string { return at.look(dashboard, n) })
}

// fresh measures a request to a new instance, the first time and warm. The instance ends with it: its memory would make the garbage
// collector slow for the others.
func (b bench) fresh(t *testing.T, name string, measure func(at bench, n int) string) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		at := bench{&it.Client{Stack: b.Instance(t), T: t}, b.log}
		t.Logf("by a new instance: %s\n\twarm: %s", measure(at, 1), measure(at, scale.Size(1, 21)))
	})
}

// TestMemoryAfterQueries compares the heap before and after 1,000 queries of a warm instance, beside the heap while they run.
func TestMemoryAfterQueries(t *testing.T) {
	b := startBench(t, scale.Size(250, 10_000))
	queries := []string{byRow, byBody, people, tracks, join}
	for _, q := range queries {
		b.ask(q, 1)
	}
	before, highest := heap(true), uint64(0)
	for i := range scale.Size(5, 1_000) {
		b.ask(queries[i%len(queries)], 1)
		highest = max(highest, heap(false))
	}
	t.Logf("the heap: %d MB before, %d MB afterwards, %d MB at most between two queries", before>>20, heap(true)>>20, highest>>20)
}

// processorTime returns the processor time of this process.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// heap returns the bytes of the heap in use, if wanted after a collection of garbage.
func heap(collected bool) uint64 {
	if collected {
		runtime.GC()
	}
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	return now.HeapAlloc
}
