package agenda_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/tools/bench/scale"
)

// do sends a request n times, and prints the median time and the units of the last.
func (b bench) do(name, method, path string, n int) stacktest.Answer {
	b.T.Helper()
	var times []time.Duration
	var last stacktest.Answer
	for range n {
		began := time.Now()
		last = b.Call(b.T, http.StatusOK, method, b.EventPath(path), stacktest.WithHeaders(nil, "Accept-Encoding", "gzip"))
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	fields := b.log.Fields(b.T, last.Header.Get("X-Request-Id"))
	b.T.Logf("%s: %.0f ms, %v round trips, %v calls, %v read and %v write units, %d bytes", name, times[n/2].Seconds()*1000,
		fields["round_trips"], fields["calls"], fields["rcu"], fields["wcu"], len(last.Body))
	return last
}

// TestALargeDraft shows the changes of a draft of 1,000 placements, and commits the draft.
func TestALargeDraft(t *testing.T) {
	n := scale.Size(120, 1_000)
	log := &stacktest.Log{}
	b := bench{&it.Client{Stack: stacktest.Start(t, stacktest.WithLog(log)), T: t}, log}
	room := b.NewEntry("rooms", "Hall").ID()
	opens := time.Date(2027, 5, 10, 8, 0, 0, 0, time.UTC)
	sessions := b.CreateAll("sessions", drafts(n, func(i int) any {
		return it.Object{"title": fmt.Sprint("Talk ", i), "description": description}
	}))
	draft := "agenda-drafts/" + b.Do(http.StatusOK, http.MethodPost, "/agenda-drafts/create", it.Object{"name": "Large"}).ID()
	b.CreateAll(draft+"/sessions", drafts(n, func(i int) any {
		starts := opens.Add(time.Duration(i) * time.Hour)
		return it.Object{"session_id": sessions[i], "starts_at": starts, "ends_at": starts.Add(time.Hour), "room_id": room}
	}))
	b.do("the first changes of a draft", http.MethodGet, "/"+draft+"/changes", 1)
	b.do("the changes of a draft, warm", http.MethodGet, "/"+draft+"/changes", 9)
	committed := b.do("the commit of a draft", http.MethodPost, "/"+draft+"/commit", 1)
	require.EqualValues(t, n, committed.JSON(t)["applied"])
	b.do("the changes of a committed draft", http.MethodGet, "/"+draft+"/changes", 9)
}
