package batteries_test

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

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
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
		body["updated_at"] = it.DecodeObject(seen.Body)["updated_at"]
		return nil
	},
	"If-Match": func(seen stacktest.Answer, _ map[string]any) []string {
		return []string{"If-Match", seen.Header.Get("ETag")}
	},
	"both": func(seen stacktest.Answer, body map[string]any) []string {
		body["updated_at"] = it.DecodeObject(seen.Body)["updated_at"]
		return []string{"If-Match", seen.Header.Get("ETag")}
	},
}

// TestGuardedWriters: 16 writers count a number in a record's text up, each from
// the version it has just read. No count is lost, every version has exactly one
// writer, and everybody else is told the version to go on with.
func TestGuardedWriters(t *testing.T) { guardedWriters(t, stacktest.Start(t)) }

func guardedWriters(t *testing.T, s *stacktest.Stack) {
	t.Helper()
	places := []*stacktest.Stack{s, s.Instance(t)}
	for _, k := range it.Kinds {
		for name, guard := range guards {
			t.Run(k.Collection+"/"+name, func(t *testing.T) { countUp(t, places, k, guard) })
		}
	}
}

// tallied counts what became of guarded writes.
type tallied struct {
	sync.Mutex
	won  map[int64]int // by the version that was written
	lost int
}

func countUp(t *testing.T, places []*stacktest.Stack, k it.Kind, guard func(stacktest.Answer, map[string]any) []string) {
	t.Helper()
	path := places[0].EventPath(k.Path(it.MustCreate(t, places[0], k.CreatePath(), k.Draft("0"))))
	rounds := it.Size(2, 30)
	all := &tallied{won: map[int64]int{}}
	it.Concurrently(writers, func(client int) {
		for done := 0; done < rounds && !t.Failed(); {
			at := places[client%2]
			seen := at.TrySend(t, "GET", path, nil)
			count, err := strconv.Atoi(entity(it.DecodeObject(seen.Body)).Text(k.TextField))
			if err != nil {
				t.Errorf("%d: %s", seen.Status, seen.Body)
				return
			}
			body := k.WithText(strconv.Itoa(count + 1))
			if all.written(t, seen, at.TrySend(t, "PUT", path, stacktest.WithHeaders(body, guard(seen, body)...))) {
				done++
			}
		}
	})
	last := places[0].Call(t, 200, "GET", path, nil)
	require.Equal(t, strconv.Itoa(writers*rounds), last.JSON(t)[k.TextField], "an update was lost")
	require.EqualValues(t, writers*rounds+1, versionOf(last))
	require.Len(t, all.won, writers*rounds, "a version has two writers")
	require.Positive(t, all.lost, "no two writers met")
	t.Logf("%d writes, %d refused as stale", writers*rounds, all.lost)
}

// written notes the answer to a guarded write, and is whether it was done.
func (all *tallied) written(t *testing.T, seen, a stacktest.Answer) bool {
	t.Helper()
	all.Lock()
	defer all.Unlock()
	switch a.Status {
	case http.StatusOK:
		all.won[versionOf(a)]++
		if versionOf(a) != versionOf(seen)+1 {
			t.Errorf("version %d follows %d", versionOf(a), versionOf(seen))
		}
	case http.StatusConflict:
		all.lost++
		checkStale(t, a, versionOf(seen))
	default:
		t.Errorf("%d: %s", a.Status, a.Body)
	}
	return a.Status == http.StatusOK
}

// checkStale holds a 409 to what a client needs of it: the current updated_at,
// and the current version as ETag, which is later than the one it had.
func checkStale(t *testing.T, a stacktest.Answer, seen int64) {
	t.Helper()
	body := it.DecodeObject(a.Body)
	details, _ := body["details"].(map[string]any)
	if body["code"] != "STALE_UPDATE" || body["name"] != "ConflictError" || details["updated_at"] == nil || versionOf(a) <= seen {
		t.Errorf("a stale update is answered with %s, ETag %s", a.Body, a.Header.Get("ETag"))
	}
}

// TestOneWinnerAVersion: 16 writers who have all seen the same version write at
// once; one is served.
func TestOneWinnerAVersion(t *testing.T) { oneWinnerAVersion(t, stacktest.Start(t)) }

func oneWinnerAVersion(t *testing.T, s *stacktest.Stack) {
	t.Helper()
	places := []*stacktest.Stack{s, s.Instance(t)}
	names := slices.Sorted(maps.Keys(guards))
	for _, k := range it.Kinds {
		path := s.EventPath(k.Path(it.MustCreate(t, s, k.CreatePath(), k.Draft("Contended"))))
		for round := range it.Size(2, 50) {
			seen := s.Call(t, 200, "GET", path, nil)
			var mu sync.Mutex
			statuses := map[int]int{}
			winner := ""
			it.Concurrently(writers, func(client int) {
				text := fmt.Sprintf("Round %d of client %d", round, client)
				body := k.WithText(text)
				header := guards[names[client%len(names)]](seen, body)
				a := places[client%2].TrySend(t, "PUT", path, stacktest.WithHeaders(body, header...))
				mu.Lock()
				defer mu.Unlock()
				statuses[a.Status]++
				if a.Status == http.StatusOK {
					winner = text
				}
			})
			require.Equal(t, map[int]int{200: 1, 409: writers - 1}, statuses, k.Collection)
			require.Equal(t, winner, s.Call(t, 200, "GET", path, nil).JSON(t)[k.TextField])
		}
	}
}

// TestUnguardedWriters: 16 writers who send no version change a field each. All
// are served, and none undoes what another has written.
func TestUnguardedWriters(t *testing.T) { unguardedWriters(t, stacktest.Start(t)) }

func unguardedWriters(t *testing.T, s *stacktest.Stack) {
	t.Helper()
	places := []*stacktest.Stack{s, s.Instance(t)}
	for _, k := range it.Kinds {
		t.Run(k.Collection, func(t *testing.T) { writeApart(t, places, k) })
	}
}

func writeApart(t *testing.T, places []*stacktest.Stack, k it.Kind) {
	t.Helper()
	s := places[0]
	names := fieldsOfWriters(t, s, k)
	path := s.EventPath(k.Path(it.MustCreate(t, s, k.CreatePath(), k.Draft("Shared"))))
	rounds := it.Size(4, 50)
	var mu sync.Mutex
	versions := map[int64]int{}
	it.Concurrently(writers, func(client int) {
		for round := 1; round <= rounds; round++ {
			values := object{names[client]: round}
			way, body := path, object{"custom_fields": values}
			if k.Collection == "sessions" && round%2 == 0 {
				way, body = path+"/fields", object{"values": values}
			}
			a := places[client%2].TrySend(t, "PUT", way, body)
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
	for _, value := range entity(last.JSON(t)).List("custom_fields") {
		shown[value.Text("internal_name")] = value["value"]
	}
	for _, name := range names {
		require.EqualValues(t, rounds, shown[name], name)
	}
}

// fieldsOfWriters are a field for each writer: of people and companies half of the
// organization and half of the event, whose values are kept in different items.
func fieldsOfWriters(t *testing.T, s *stacktest.Stack, k it.Kind) []string {
	t.Helper()
	names := make([]string, writers)
	for i := range names {
		body := object{"name": fmt.Sprint(k.Collection, " writer ", i), "type": "number", "module_id": k.Module}
		if k.Collection != "sessions" && i%2 == 0 {
			body["scope"] = "global"
		}
		names[i] = entity(s.Call(t, 200, "POST", s.EventPath("/fields/create"), body).JSON(t)).Text("internal_name")
	}
	return names
}

// TestOneCreateAKey: 16 requests under one Idempotency-Key make one record, and
// all get its answer; so do the operations of a bulk.
func TestOneCreateAKey(t *testing.T) { oneCreateAKey(t, stacktest.Start(t)) }

func oneCreateAKey(t *testing.T, s *stacktest.Stack) {
	t.Helper()
	places := []*stacktest.Stack{s, s.Instance(t)}
	rounds := it.Size(1, 30)
	for _, k := range it.Kinds {
		for path, body := range map[string]func() any{
			k.CreatePath(): func() any { return k.Draft("Once") },
			k.BulkPath():   func() any { return it.BulkOf(it.Creating(k.Draft("Once too")), it.Creating(k.Draft("Once more"))) },
		} {
			for round := range rounds {
				answers := underOneKey(t, places, path, body(), fmt.Sprint(path, round))
				require.Len(t, answers, 1, "%s was answered in several ways", path)
			}
		}
		require.Equal(t, 3*rounds, k.Count(s), k.Collection)
	}
}

// underOneKey sends a request as often as there are writers, at once, each until the
// key is free, and gives the different answers.
func underOneKey(t *testing.T, places []*stacktest.Stack, path string, body any, key string) map[string]int {
	t.Helper()
	var mu sync.Mutex
	answers := map[string]int{}
	it.Concurrently(writers, func(client int) {
		for {
			a := places[client%2].TrySend(t, "POST", places[0].EventPath(path), stacktest.WithHeaders(body, "Idempotency-Key", key))
			if a.Status == http.StatusConflict && it.DecodeObject(a.Body)["code"] == "IDEMPOTENCY_KEY_IN_USE" {
				continue
			}
			mu.Lock()
			answers[fmt.Sprint(a.Status, " ", string(a.Body))]++
			mu.Unlock()
			return
		}
	})
	return answers
}
