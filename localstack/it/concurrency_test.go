package it_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/stacktest"
)

const writers = 16

// versionOf is the version that an answer's ETag names.
func versionOf(a stacktest.Answer) int64 {
	text, _, _ := strings.Cut(strings.Trim(a.Header.Get("ETag"), `"`), ".")
	version, _ := strconv.ParseInt(text, 10, 64)
	return version
}

// guards are the two ways to say which version was seen: as the property
// updated_at, or with its ETag.
var guards = map[string]func(seen stacktest.Answer, body map[string]any) (header []string){
	"updated_at": func(seen stacktest.Answer, body map[string]any) []string {
		body["updated_at"] = quick(seen.Body)["updated_at"]
		return nil
	},
	"If-Match": func(seen stacktest.Answer, _ map[string]any) []string {
		return []string{"If-Match", seen.Header.Get("ETag")}
	},
	"both": func(seen stacktest.Answer, body map[string]any) []string {
		body["updated_at"] = quick(seen.Body)["updated_at"]
		return []string{"If-Match", seen.Header.Get("ETag")}
	},
}

// TestGuardedWriters: 16 writers count a session's capacity up, each from the
// version it has just read. No count is lost, every version has exactly one
// writer, and everybody else is told the version to go on with.
func TestGuardedWriters(t *testing.T) {
	s := stacktest.Start(t)
	places := []*stacktest.Stack{s, s.Instance(t)}
	rounds := sized(4, 60)
	for name, guard := range guards {
		t.Run(name, func(t *testing.T) {
			path := s.EventPath("/sessions/" + made(t, s, "/sessions/create", map[string]any{"title": "Counter", "capacity": 0}))
			var mu sync.Mutex
			won, lost := map[int64]int{}, 0
			together(writers, func(client int) {
				for done := 0; done < rounds && !t.Failed(); {
					at := places[client%2]
					seen := attempt(t, at, "GET", path, nil)
					body := map[string]any{"capacity": quick(seen.Body)["capacity"].(float64) + 1}
					a := attempt(t, at, "PUT", path, body, guard(seen, body)...)
					mu.Lock()
					switch a.Status {
					case http.StatusOK:
						won[versionOf(a)]++
						done++
						if versionOf(a) != versionOf(seen)+1 {
							t.Errorf("version %d follows %d", versionOf(a), versionOf(seen))
						}
					case http.StatusConflict:
						lost++
						checkStale(t, a, versionOf(seen))
					default:
						t.Errorf("%d: %s", a.Status, a.Body)
					}
					mu.Unlock()
				}
			})
			last := s.Call(t, 200, "GET", path, nil)
			require.EqualValues(t, writers*rounds, last.JSON(t)["capacity"], "an update was lost")
			require.EqualValues(t, writers*rounds+1, versionOf(last))
			require.Len(t, won, writers*rounds, "a version has two writers")
			require.Positive(t, lost, "no two writers met")
			t.Logf("%d writes, %d refused as stale", writers*rounds, lost)
		})
	}
}

// checkStale holds a 409 to what a client needs of it: the current updated_at,
// and the current version as ETag, which is later than the one it had.
func checkStale(t *testing.T, a stacktest.Answer, seen int64) {
	t.Helper()
	body := quick(a.Body)
	details, _ := body["details"].(map[string]any)
	if body["code"] != "STALE_UPDATE" || body["name"] != "ConflictError" || details["updated_at"] == nil || versionOf(a) <= seen {
		t.Errorf("a stale update is answered with %s, ETag %s", a.Body, a.Header.Get("ETag"))
	}
}

// TestOneWinnerAVersion: 16 writers who have all seen the same version write at
// once; one is served.
func TestOneWinnerAVersion(t *testing.T) {
	s := stacktest.Start(t)
	places := []*stacktest.Stack{s, s.Instance(t)}
	path := s.EventPath("/sessions/" + made(t, s, "/sessions/create", map[string]any{"title": "Contended"}))
	for round := range sized(10, 100) {
		seen := s.Call(t, 200, "GET", path, nil)
		var mu sync.Mutex
		statuses := map[int]int{}
		winner := ""
		together(writers, func(client int) {
			title := fmt.Sprintf("Round %d of client %d", round, client)
			body := map[string]any{"title": title}
			names := slices.Sorted(maps.Keys(guards))
			header := guards[names[client%len(names)]](seen, body)
			a := attempt(t, places[client%2], "PUT", path, body, header...)
			mu.Lock()
			defer mu.Unlock()
			statuses[a.Status]++
			if a.Status == http.StatusOK {
				winner = title
			}
		})
		require.Equal(t, map[int]int{200: 1, 409: writers - 1}, statuses)
		require.Equal(t, winner, s.Call(t, 200, "GET", path, nil).JSON(t)["title"])
	}
}

// TestUnguardedWriters: 16 writers who send no version change a field each. All
// are served, and none undoes what another has written.
func TestUnguardedWriters(t *testing.T) {
	s := stacktest.Start(t)
	places := []*stacktest.Stack{s, s.Instance(t)}
	names := make([]string, writers)
	for i := range names {
		field := s.Call(t, 200, "POST", s.EventPath("/fields/create"), map[string]any{"name": fmt.Sprint("Writer ", i), "type": "number", "module_id": "session"})
		names[i] = field.JSON(t)["internal_name"].(string)
	}
	path := s.EventPath("/sessions/" + made(t, s, "/sessions/create", map[string]any{"title": "Shared"}))
	rounds := sized(20, 100)
	var mu sync.Mutex
	versions := map[int64]int{}
	together(writers, func(client int) {
		for round := 1; round <= rounds; round++ {
			values := map[string]any{names[client]: round}
			way, body := path, map[string]any{"custom_fields": values}
			if round%2 == 0 {
				way, body = path+"/fields", map[string]any{"values": values}
			}
			a := attempt(t, places[client%2], "PUT", way, body)
			if a.Status != http.StatusOK {
				t.Errorf("writer %d, round %d: %d %s", client, round, a.Status, a.Body)
			}
			mu.Lock()
			versions[versionOf(a)]++
			mu.Unlock()
		}
	})
	last := s.Call(t, 200, "GET", path, nil)
	require.EqualValues(t, writers*rounds+1, versionOf(last))
	require.Len(t, versions, writers*rounds, "two writes had the same version")
	shown := map[string]any{}
	for _, value := range last.JSON(t)["custom_fields"].([]any) {
		shown[value.(map[string]any)["internal_name"].(string)] = value.(map[string]any)["value"]
	}
	for _, name := range names {
		require.EqualValues(t, rounds, shown[name], name)
	}
}

// TestOneCreateAKey: 16 requests under one Idempotency-Key make one record, and
// all get its answer; so do the operations of a bulk.
func TestOneCreateAKey(t *testing.T) {
	s := stacktest.Start(t)
	places := []*stacktest.Stack{s, s.Instance(t)}
	requests := map[string]any{
		"/sessions/create": map[string]any{"title": "Once"},
		"/sessions/bulk": operationsOf(map[string]any{"action": "create", "data": map[string]any{"title": "Once too"}},
			map[string]any{"action": "create", "data": map[string]any{"title": "Once more"}}),
	}
	for path, body := range requests {
		for round := range sized(5, 50) {
			var mu sync.Mutex
			bodies := map[string]int{}
			together(writers, func(client int) {
				for {
					a := attempt(t, places[client%2], "POST", s.EventPath(path), body, "Idempotency-Key", fmt.Sprint(path, round))
					if a.Status == http.StatusConflict && quick(a.Body)["code"] == "IDEMPOTENCY_KEY_IN_USE" {
						continue
					}
					mu.Lock()
					bodies[fmt.Sprint(a.Status, " ", string(a.Body))]++
					mu.Unlock()
					return
				}
			})
			require.Len(t, bodies, 1, "%s was answered in several ways", path)
		}
	}
	total := s.Call(t, 200, "POST", s.EventPath("/sessions"), map[string]any{}).JSON(t)["pagination"].(map[string]any)["totalResults"]
	require.EqualValues(t, 3*sized(5, 50), total)
}
