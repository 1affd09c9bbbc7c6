package limits_test

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/idempotency"
)

const replayHeader = "Idempotent-Replayed"

// keyed are writes by POST of different groups.
var keyed = []it.Request{
	{Method: "POST", Path: "/sessions/create", Body: map[string]any{"title": "Keynote"}},
	{Method: "POST", Path: "/rooms/create", Body: map[string]any{"name": "Hall"}},
	{Method: "POST", Path: "/statuses/create", Body: map[string]any{"name": "Waiting"}},
	{Method: "POST", Path: "/fields/create", Body: map[string]any{"name": "Seats", "type": "number", "module_id": "session"}},
	{Method: "POST", Path: "/contacts/create", Body: map[string]any{"email": "ada@example.org"}},
	{Method: "POST", Path: "/sponsors/create", Body: map[string]any{"name": "Acme"}},
	{Method: "POST", Path: "/exhibitors/create", Body: map[string]any{"name": "Acme"}},
	{Method: "POST", Path: "/rules/create", Body: map[string]any{"name": "Breaks", "type": "min_gap_minutes", "config": map[string]any{"minutes": 15}}},
	{Method: "POST", Path: "/personas/create", Body: map[string]any{"name": "Nadia"}},
}

// TestWritesAreReplayedOnEveryInstance: the same record again; one key serves each path
// for itself.
func TestWritesAreReplayedOnEveryInstance(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t)
	second := s.Instance(t)
	for _, r := range keyed {
		first := s.Call(t, 200, r.Method, s.EventPath(r.Path), stacktest.WithHeaders(r.Body, idempotency.Header, "k"))
		require.Empty(t, first.Header.Get(replayHeader), r.Path)
		for _, caller := range []*stacktest.Stack{s, second} {
			again := caller.Call(t, 200, r.Method, s.EventPath(r.Path), stacktest.WithHeaders(r.Body, idempotency.Header, "k"))
			require.Equal(t, "true", again.Header.Get(replayHeader), r.Path)
			require.Equal(t, string(first.Body), string(again.Body))
			require.Equal(t, first.Header.Get("ETag"), again.Header.Get("ETag"))
		}
		refused := s.Call(t, 422, r.Method, s.EventPath(r.Path), stacktest.WithHeaders(it.Merged(r.Body.(map[string]any), map[string]any{"title": "Other", "name": "Other"}), idempotency.Header, "k")).JSON(t)
		require.Equal(t, idempotency.CodeReused, refused["code"])
	}
}

// TestARepetitionShowsTheRecordAsItIsNow: changed, and then deleted, whatever the rules say
// of such a create by now.
func TestARepetitionShowsTheRecordAsItIsNow(t *testing.T) {
	s := stacktest.Start(t)
	for _, r := range keyed {
		send := func() stacktest.Answer {
			return s.Call(t, 200, r.Method, s.EventPath(r.Path), stacktest.WithHeaders(r.Body, idempotency.Header, "k"))
		}
		made := entity(send().JSON(t))
		one := s.EventPath(strings.TrimSuffix(r.Path, "create") + made.ID())
		change := map[bool]object{true: {"title": "Changed"}, false: {"name": "Changed"}}[strings.HasPrefix(r.Path, "/sessions") || strings.HasPrefix(r.Path, "/contacts")]
		changed := s.Call(t, 200, "PUT", one, change)
		now := send()
		require.Equal(t, "true", now.Header.Get(replayHeader), r.Path)
		require.Equal(t, string(changed.Body), string(now.Body), r.Path)
		require.Equal(t, changed.Header.Get("ETag"), now.Header.Get("ETag"))
		s.Call(t, 200, "DELETE", one, nil)
		if strings.HasPrefix(r.Path, "/rooms") || strings.HasPrefix(r.Path, "/fields") {
			// Nothing of a deleted setting is kept that could be shown.
			refused := s.Call(t, 404, r.Method, s.EventPath(r.Path), stacktest.WithHeaders(r.Body, idempotency.Header, "k")).JSON(t)
			require.Equal(t, "NOT_FOUND", refused["code"])
			continue
		}
		gone := it.ReplayedRecord(t, send())
		require.Equal(t, made.ID(), gone.ID(), r.Path)
	}
}

// TestARestoreIsReplayedUnderItsKey, instead of the 404 of a record that is not
// deleted, however a client writes the id in the path.
func TestARestoreIsReplayedUnderItsKey(t *testing.T) {
	inEveryKind(t, func(t *testing.T, w *kindClient) {
		id := w.one("A")
		restore := func(status int, id string, header ...string) stacktest.Answer {
			t.Helper()
			return w.Call(t, status, "POST", w.EventPath(w.Path(id)+"/restore"), stacktest.WithHeaders(nil, header...))
		}
		restore(404, id, it.KeyHeader, "k")
		w.remove(200, id)
		first := restore(200, id, it.KeyHeader, "k")
		it.RequireReplay(t, first, restore(200, id, it.KeyHeader, "k"))
		it.RequireReplay(t, first, restore(200, strings.ToUpper(id), it.KeyHeader, "k"))
		restore(404, id)
		restore(404, id, it.KeyHeader, "k2")
	})
}

// TestSimultaneousWritesUnderOneKey: one is done and all get its answer, also
// where the second one would break a rule by what the first one made.
func TestSimultaneousWritesUnderOneKey(t *testing.T) {
	s := stacktest.Start(t)
	callers := []*stacktest.Stack{s, s.Instance(t)}
	for _, r := range keyed {
		const clients = 16
		answers := make([]stacktest.Answer, clients)
		errs := make([]error, clients)
		var group sync.WaitGroup
		for i := range clients {
			group.Go(func() {
				answers[i], errs[i] = callers[i%len(callers)].Send(t, r.Method, s.EventPath(r.Path), stacktest.WithHeaders(r.Body, idempotency.Header, "k"))
			})
		}
		group.Wait()
		done := 0
		for i, answer := range answers {
			require.NoError(t, errs[i])
			require.Equal(t, 200, answer.Status, "%s: %s", r.Path, answer.Body)
			require.Equal(t, string(answers[0].Body), string(answer.Body))
			if answer.Header.Get(replayHeader) == "" {
				done++
			}
		}
		require.Equal(t, 1, done, r.Path)
	}
}

// TestAKeyCostsLittle: two write units for one record, and for a bulk two more a
// transaction.
func TestAKeyCostsLittle(t *testing.T) {
	log, sent := &stacktest.Log{}, 0
	for _, k := range it.Kinds {
		w := &kindClient{&it.Client{Stack: stacktest.Start(t, stacktest.WithLog(log)), T: t}, k}
		units := func(path string, body any, key string) float64 {
			sent++
			id := fmt.Sprint("sent-", sent)
			w.Call(t, 200, "POST", w.EventPath(path), stacktest.WithHeaders(body, it.KeyHeader, key, "X-Request-Id", id))
			return log.Fields(t, id)["wcu"].(float64)
		}
		units(k.CreatePath(), w.Draft("x"), "")
		// A create that takes numbers ahead costs a unit more.
		plain, keyed := math.Inf(1), math.Inf(1)
		for _, key := range []string{"one", "two", "three"} {
			plain, keyed = min(plain, units(k.CreatePath(), w.Draft("x"), "")), min(keyed, units(k.CreatePath(), w.Draft("x"), key))
		}
		require.InDelta(t, plain+2, keyed, 0)
		made := w.bulk(w.news(100, "x")...)
		change := func(text string) object {
			operations := make([]object, 100)
			for i := range operations {
				operations[i] = it.Updating(made.Data(t, i).ID(), w.WithText(text))
			}
			return object{"operations": operations}
		}
		without := units(k.BulkPath(), change("a"), "")
		require.LessOrEqual(t, units(k.BulkPath(), change("b"), "many")-without, 32.0, k.Collection)
	}
}
