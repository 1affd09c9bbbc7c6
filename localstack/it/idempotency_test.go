package it_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/stacktest"
	"lectern/shared/idempotency"
)

const replayHeader = "Idempotent-Replayed"

// keyed are writes by POST of different groups.
var keyed = []request{
	{"POST", "/sessions/create", map[string]any{"title": "Keynote"}},
	{"POST", "/rooms/create", map[string]any{"name": "Hall"}},
	{"POST", "/statuses/create", map[string]any{"name": "Waiting"}},
	{"POST", "/fields/create", map[string]any{"name": "Seats", "type": "number", "module_id": "session"}},
	{"POST", "/contacts/create", map[string]any{"email": "ada@example.org"}},
	{"POST", "/sponsors/create", map[string]any{"name": "Acme"}},
	{"POST", "/exhibitors/create", map[string]any{"name": "Acme"}},
	{"POST", "/rules/create", map[string]any{"name": "Breaks", "type": "min_gap_minutes", "config": map[string]any{"minutes": 15}}},
	{"POST", "/personas/create", map[string]any{"name": "Nadia"}},
}

// TestWritesAreReplayedOnEveryInstance: the same record again; one key serves each path
// for itself.
func TestWritesAreReplayedOnEveryInstance(t *testing.T) {
	s := stacktest.Start(t)
	second := s.Instance(t)
	for _, r := range keyed {
		first := s.Call(t, 200, r.method, s.EventPath(r.path), r.body, idempotency.Header, "k")
		require.Empty(t, first.Header.Get(replayHeader), r.path)
		for _, caller := range []*stacktest.Stack{s, second} {
			again := caller.Call(t, 200, r.method, s.EventPath(r.path), r.body, idempotency.Header, "k")
			require.Equal(t, "true", again.Header.Get(replayHeader), r.path)
			require.Equal(t, string(first.Body), string(again.Body))
			require.Equal(t, first.Header.Get("ETag"), again.Header.Get("ETag"))
		}
		refused := s.Call(t, 422, r.method, s.EventPath(r.path), with(r.body.(map[string]any), map[string]any{"title": "Other", "name": "Other"}), idempotency.Header, "k").JSON(t)
		require.Equal(t, idempotency.CodeReused, refused["code"])
	}
}

// TestARepetitionShowsTheRecordAsItIsNow: changed, and then deleted, whatever the rules say
// of such a create by now.
func TestARepetitionShowsTheRecordAsItIsNow(t *testing.T) {
	s := stacktest.Start(t)
	for _, r := range keyed {
		send := func() stacktest.Answer {
			return s.Call(t, 200, r.method, s.EventPath(r.path), r.body, idempotency.Header, "k")
		}
		made := entity(send().JSON(t))
		one := s.EventPath(strings.TrimSuffix(r.path, "create") + made.id())
		change := map[bool]object{true: {"title": "Changed"}, false: {"name": "Changed"}}[strings.HasPrefix(r.path, "/sessions") || strings.HasPrefix(r.path, "/contacts")]
		changed := s.Call(t, 200, "PUT", one, change)
		now := send()
		require.Equal(t, "true", now.Header.Get(replayHeader), r.path)
		require.Equal(t, string(changed.Body), string(now.Body), r.path)
		require.Equal(t, changed.Header.Get("ETag"), now.Header.Get("ETag"))
		s.Call(t, 200, "DELETE", one, nil)
		if strings.HasPrefix(r.path, "/rooms") || strings.HasPrefix(r.path, "/fields") {
			// Nothing of a deleted setting is kept that could be shown.
			refused := s.Call(t, 404, r.method, s.EventPath(r.path), r.body, idempotency.Header, "k").JSON(t)
			require.Equal(t, "NOT_FOUND", refused["code"])
			continue
		}
		gone := again(t, send())
		require.Equal(t, made.id(), gone.id(), r.path)
	}
}

// TestARestoreIsReplayedUnderItsKey, instead of the 404 of a record that is not
// deleted, however a client writes the id in the path.
func TestARestoreIsReplayedUnderItsKey(t *testing.T) {
	inEveryKind(t, func(t *testing.T, w *workshop) {
		id := w.one("A")
		restore := func(status int, id string, header ...string) stacktest.Answer {
			t.Helper()
			return w.Call(t, status, "POST", w.EventPath(w.at(id)+"/restore"), nil, header...)
		}
		restore(404, id, keyHeader, "k")
		w.remove(200, id)
		first := restore(200, id, keyHeader, "k")
		replayed(t, first, restore(200, id, keyHeader, "k"))
		replayed(t, first, restore(200, strings.ToUpper(id), keyHeader, "k"))
		restore(404, id)
		restore(404, id, keyHeader, "k2")
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
				answers[i], errs[i] = callers[i%len(callers)].Send(t, r.method, s.EventPath(r.path), r.body, idempotency.Header, "k")
			})
		}
		group.Wait()
		done := 0
		for i, answer := range answers {
			require.NoError(t, errs[i])
			require.Equal(t, 200, answer.Status, "%s: %s", r.path, answer.Body)
			require.Equal(t, string(answers[0].Body), string(answer.Body))
			if answer.Header.Get(replayHeader) == "" {
				done++
			}
		}
		require.Equal(t, 1, done, r.path)
	}
}

// TestAKeyCostsLittle: two write units for one record, and for a bulk two more a
// transaction.
func TestAKeyCostsLittle(t *testing.T) {
	log, sent := &stacktest.Log{}, 0
	for _, k := range recordKinds {
		w := &workshop{&desk{stacktest.Start(t, stacktest.WithLog(log)), t}, k}
		units := func(path string, body any, key string) float64 {
			sent++
			id := fmt.Sprint("sent-", sent)
			w.Call(t, 200, "POST", w.EventPath(path), body, keyHeader, key, "X-Request-Id", id)
			return log.Fields(t, id)["wcu"].(float64)
		}
		units(k.create(), w.new("x"), "")
		require.InDelta(t, units(k.create(), w.new("x"), "")+2, units(k.create(), w.new("x"), "one"), 0)
		made := w.bulk(w.news(100, "x")...)
		change := func(text string) object {
			operations := make([]object, 100)
			for i := range operations {
				operations[i] = updating(made.data(t, i).id(), w.with(text))
			}
			return object{"operations": operations}
		}
		without := units(k.bulk(), change("a"), "")
		require.LessOrEqual(t, units(k.bulk(), change("b"), "many")-without, 32.0, k.collection)
	}
}
