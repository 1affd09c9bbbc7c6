package insights_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/functions/insights"
	"lectern/localstack/test/it"
	"lectern/localstack/test/querytest"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/api/encode"
)

// reading returns the asker of a service whose queries read few records.
func (a *asker) reading(records int64) *asker {
	served := a.ServeGroup(insights.Group, func(env *api.Env) { env.MostRecords = records })
	return &asker{&it.Programme{People: &it.People{Client: served, IDs: a.IDs}}}
}

// TestTooManyRecords are a 400 that names the entity. Conditions that leave out records help, where the entity has them.
func TestTooManyRecords(t *testing.T) {
	a := newAsker(t)
	a.Do(200, http.MethodPost, "/sponsors/create", object{"name": "Bolt"})
	a.AddContact("Dan")
	one, two := a.reading(1), a.reading(2)
	refuses := func(by *asker, what, query string) {
		t.Helper()
		refused := by.answer(400, query)
		it.RequireInvalid(t, refused, "query")
		require.Contains(t, refused.Text("message"), what, query)
	}
	refuses(one, "more than 1 sessions", "FIND Session")
	refuses(one, "more than 1 sessions", "SELECT session.title FROM sessions WHERE session.capacity = 80")
	refuses(one, "more than 1 speakers", "SELECT speaker.id FROM speakers")
	refuses(one, "more than 1 sponsors", "SELECT sponsor.id FROM sponsors")
	refuses(one, "more than 1 tracks", "SELECT track.id FROM tracks")
	refuses(two, "the participants of more than 2 sessions", "SELECT participant.id FROM participants WHERE participant.core_role = 'speaker'")
	refuses(two, "the files of more than 2 sessions", "SELECT file.id FROM files")
	refuses(two, "more than 2 contacts", "SELECT contact.id FROM contacts WHERE contact.first_name = 'Ann'")
	require.Len(t, one.column("SELECT session.title FROM sessions WHERE session.status = 'accepted'"), 1)
	require.Len(t, one.column("SELECT track.name FROM tracks WHERE track.name = 'Web'"), 1)
	require.Len(t, one.column("SELECT sponsor.id FROM sponsors WHERE sponsor.id = '"+a.column("SELECT sponsor.id FROM sponsors")[0].(string)+"'"), 1)
	require.Len(t, two.column("SELECT contact.first_name FROM contacts WHERE contact.id = '"+a.IDs["Ann"]+"'"), 1)
	require.Len(t, two.ask("FIND Session"), 2)

	other := &asker{it.ProgrammeOf(a.InNewEvent())}
	other.Create(200, object{"title": "Elsewhere"})
	refused := it.Entity(two.across(400, "SELECT session.title FROM sessions").JSON(t))
	require.Contains(t, refused.Text("message"), "more than 2 sessions")
	two.across(200, "SELECT session.title FROM sessions", object{"eventId": a.Event})
}

// TestRefusedReadsLeaveNoMemory: tables that were not filled to the end are given back. Each has two MB or more.
func TestRefusedReadsLeaveNoMemory(t *testing.T) {
	a := newAsker(t)
	a.Inside(t, "reads the memory of the process")
	for i := range 38 {
		a.NewEntry("tags", fmt.Sprint("Tag ", i))
		a.Create(200, object{"title": "Long", "description": strings.Repeat("x", 64<<10-1)})
	}
	some := a.reading(40)
	a.NewEntry("tags", "One more")
	run := func(n int) {
		for range n {
			refused := some.answer(400, "SELECT session.description, tag.name FROM sessions JOIN tags")
			require.Contains(t, refused.Text("message"), "more than 40 tags")
		}
	}
	run(10)
	before := querytest.Resident()
	run(300)
	require.Eventually(t, func() bool { return querytest.Resident() < before+300 }, time.Minute, time.Second)
}

// TestTheTimeOfAQuery ends after five seconds.
func TestTheTimeOfAQuery(t *testing.T) {
	a := newAsker(t)
	for range 24 {
		a.Create(200, object{"title": "Long", "description": strings.Repeat("x", 64<<10-1)})
	}
	slow := "session.description LIKE '%" + strings.Repeat("x", 4_800) + "y'"
	began := time.Now()
	refused := a.answer(400, "SELECT session.title FROM sessions WHERE "+slow+" OR "+strings.Replace(slow, "y'", "z'", 1))
	require.Contains(t, refused.Text("message"), "at most 5 seconds")
	require.Greater(t, time.Since(began), 5*time.Second)
}

// TestTheTimeOfADashboard: if the reading of records takes too long, each widget says so. None shows an answer without rows.
func TestTheTimeOfADashboard(t *testing.T) {
	d, door := it.StartBehindGate(t)
	for range 16 {
		d.InNewEvent().NewSessions("Alpha")
	}
	widget := object{"type": "table", "query": "SELECT session.capacity FROM sessions"}
	all := object{"name": "All", "widgets": []any{widget, widget, widget}}
	board := it.Entity(d.Call(t, 200, http.MethodPost, "/v1/dashboards/create", all).JSON(t)).ID()
	fresh := d.Instance(t)
	sleepy := func(keys string) {
		if strings.Contains(keys, "#S#") {
			time.Sleep(1500 * time.Millisecond)
		}
	}
	door.Batched.Store(&sleepy)
	widgets := it.Entity(fresh.Call(t, 200, http.MethodGet, "/v1/dashboards/"+board, nil).JSON(t)).List("widgets")
	require.Len(t, widgets, 3)
	for _, shown := range widgets {
		require.Equal(t, []any{}, shown.At("data.results"))
		require.Contains(t, shown.At("data.error"), "20 seconds with the reading of the records")
	}
}

// TestLongDashboards leave out the longest results, half of the bytes at a time.
func TestLongDashboards(t *testing.T) {
	a := newAsker(t)
	for range 8 {
		a.Create(200, object{"title": "Long", "description": strings.Repeat("x", 64<<10-1)})
	}
	var widgets []any
	for range 12 {
		widgets = append(widgets, object{"type": "table", "query": "SELECT session.description FROM sessions"})
	}
	widgets = append(widgets, object{"type": "number", "query": "SELECT COUNT(session.id) AS n FROM sessions"})
	board := "/dashboards/" + a.Do(200, http.MethodPost, "/dashboards/create", object{"name": "All", "widgets": widgets}).ID()
	without := func(shown []it.Entity) (n int) {
		require.Len(t, shown, 13)
		require.Equal(t, []any{map[string]any{"n": 10.0}}, shown[12].At("data.results"))
		for _, widget := range shown {
			if message := widget.At("data.error"); message != nil {
				require.Contains(t, message, "too long")
				require.Equal(t, []any{}, widget.At("data.results"))
				n++
			}
		}
		return n
	}
	require.Equal(t, 7, without(a.Do(200, http.MethodGet, board, nil).List("widgets")))
	packed := a.Call(t, 200, http.MethodGet, a.EventPath(board), stacktest.WithHeaders(nil, "Accept", "*/*", "Accept-Encoding", "gzip"))
	whole, err := encode.Gunzip(packed.Body)
	require.NoError(t, err)
	require.Equal(t, 0, without(it.Entity(stacktest.Answer{Body: whole}.JSON(t)).List("widgets")), "a client with gzip gets 30 MB")
}

// TestADashboardIsNeverTooLong: with results that double twice in an answer, all widgets have an error, and the dashboard is answered.
func TestADashboardIsNeverTooLong(t *testing.T) {
	a := newAsker(t)
	for range 12 {
		a.Create(200, object{"title": "Long", "description": strings.Repeat(`"`, 64<<10-1)})
	}
	widgets := slices.Repeat([]any{object{"type": "table", "query": "SELECT session.description FROM sessions WHERE session.title = 'Long'"}}, 40)
	board := a.Do(200, http.MethodPost, "/dashboards/create", object{"name": "All", "widgets": widgets}).ID()
	for _, widget := range a.Do(200, http.MethodGet, "/dashboards/"+board, nil).List("widgets") {
		require.Contains(t, widget.At("data.error"), "too long")
	}
}
