package batteries_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// TestImportGoogleIOIsPlannedAnew: the sessions are imported without their rooms and at one time. A draft gets a proposal for
// them; two rules come, and the next proposal keeps what keeps the rules. The commit leaves no conflict, and each session
// has a webhook of each kind.
func TestImportGoogleIOIsPlannedAnew(t *testing.T) {
	file := readProgramme(t)
	s := stacktest.Start(t, stacktest.Publishing(), stacktest.Features("participant_roles"))
	c := &it.Client{Stack: s, T: t}
	arrived := receive(c, "session.created", "session.updated")
	settings, people := importSettings(t, s, file), importSpeakers(t, s, file)
	file.Sessions = file.Sessions[:it.Size(120, len(file.Sessions))]
	for i := range file.Sessions {
		of := &file.Sessions[i]
		of.Room, of.StartTimestamp, of.EndTimestamp = "", 0, of.EndTimestamp-of.StartTimestamp
	}
	sent := importSessions(t, s, file, settings, people)
	ids := slices.Sorted(maps.Keys(sent))

	draft := "/agenda-drafts/" + c.Do(200, http.MethodPost, "/agenda-drafts/create", object{"name": "Anew"}).ID()
	wanted := object{"slot_minutes": 15, "seed": 1, "time_limit_ms": 1_000 * it.Size(1, 5)}
	var days []any
	for day := range it.Size(1, 3) {
		starts := time.Date(2027, 5, 10+day, 8, 0, 0, 0, time.UTC)
		days = append(days, object{"starts_at": starts, "ends_at": starts.Add(12 * time.Hour)})
	}
	wanted["days"] = days
	began := time.Now()
	first := c.Do(200, http.MethodPost, draft+"/propose", wanted)
	t.Logf("%v in %.1f s", first, time.Since(began).Seconds())
	require.EqualValues(t, len(ids), first["placed"])
	for _, rule := range []object{
		{"name": "Way", "type": "min_gap_minutes", "config": object{"minutes": 15}},
		{"name": "Late", "type": "time_window", "config": object{"starts": "08:00", "ends": "20:00"}},
	} {
		c.Do(200, http.MethodPost, "/rules/create", rule)
	}
	second := c.Do(200, http.MethodPost, draft+"/propose", it.Merged(wanted, object{"keep": "both"}))
	unplaced := len(second["unplaced"].([]any))
	t.Logf("%d of %d sessions have no place with the rules", unplaced, len(ids))
	require.EqualValues(t, len(ids)-unplaced, second["placed"])
	require.Less(t, 4*unplaced, 3*len(ids), "many sessions keep a place")
	preview := c.Do(200, http.MethodGet, draft+"/changes", nil)
	require.Equal(t, []any{0.0, 0.0, float64(len(ids))}, []any{preview.At("summary.conflicts"), preview.At("summary.blocked"), preview.At("summary.total")})
	committed := c.Do(200, http.MethodPost, draft+"/commit", nil)
	require.EqualValues(t, len(ids), committed["applied"])
	require.Empty(t, c.ListSettings("/agenda-conflicts"))
	placed := 0
	for _, id := range ids {
		if live := c.Do(200, http.MethodGet, "/sessions/"+id, nil); live["starts_at"] != nil && live["room"] != nil {
			placed++
		}
	}
	require.Equal(t, len(ids)-unplaced, placed, "sessions of the live agenda with a time and a room")

	want := map[string]int{}
	for _, id := range ids {
		want["session.created "+id], want["session.updated "+id] = 1, 1
	}
	require.Eventually(t, func() bool { return maps.Equal(want, arrived()) }, 2*time.Minute, 100*time.Millisecond)
}

// receive creates an endpoint for some kinds, and returns how often each kind and session have arrived.
func receive(c *it.Client, kinds ...any) func() map[string]int {
	c.T.Helper()
	var mu sync.Mutex
	seen := map[string]map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		var body struct{ Data struct{ ID string } }
		_ = json.Unmarshal(text, &body)
		mu.Lock()
		defer mu.Unlock()
		key := r.Header.Get("Lectern-Event") + " " + body.Data.ID
		if seen[key] == nil {
			seen[key] = map[string]bool{}
		}
		seen[key][r.Header.Get("Webhook-Id")] = true // A delivery may come twice.
	}))
	c.T.Cleanup(server.Close)
	c.Call(c.T, 200, http.MethodPost, "/v1/webhooks/create", object{"url": server.URL, "events": kinds})
	return func() map[string]int {
		mu.Lock()
		defer mu.Unlock()
		count := map[string]int{}
		for key, ids := range seen {
			count[key] = len(ids)
		}
		return count
	}
}
