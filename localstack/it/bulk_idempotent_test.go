package it_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/stacktest"
)

func TestBulkIsReplayedUnderItsKey(t *testing.T) {
	inEveryKind(t, func(t *testing.T, w *workshop) {
		id := w.one("A")
		operations := append(w.news(1, "New"), updating(id, w.with("B")), creating(object{}), deleting(id), deleting(id))
		first := w.bulkUnder("k-1", operations...)
		for range 2 {
			require.Equal(t, first.asLeft(), w.bulkUnder("k-1", operations...))
			require.Equal(t, "true", w.bulkAnswer("k-1", operations).Header.Get(replayHeader))
		}
		require.Equal(t, 1, w.count(), "nothing was done twice")
		body := object{"operations": operations[:1]}
		isRefused(t, w.send(422, "POST", w.recordKind.bulk(), body, keyHeader, "k-1"), "IDEMPOTENCY_KEY_REUSED", "")
		w.bulkUnder("k-2", w.news(1, "New")...).data(t, 0)
		require.Equal(t, 2, w.count())
		there := w.elsewhere()
		there.bulkUnder("k-1", operations[0]).data(t, 0)
		require.Equal(t, 1, there.count(), "a key is of one path")
	})
}

// asLeft is the outcome of a bulk's repetition: every record is shown as the last
// operation has left it.
func (o outcome) asLeft() outcome {
	last := map[any]any{}
	for _, r := range o.Results {
		if r["status"] == "success" {
			last[r["id"]] = r["data"]
		}
	}
	o.Results = slices.Clone(o.Results)
	for i, r := range o.Results {
		if r["status"] == "success" {
			o.Results[i] = merged(r, object{"data": last[r["id"]]})
		}
	}
	return o
}

// TestARepeatedBulkReadsInBatches: what it shows takes few calls, and no writes.
func TestARepeatedBulkReadsInBatches(t *testing.T) {
	log := &stacktest.Log{}
	for _, k := range recordKinds {
		w := &workshop{&desk{stacktest.Start(t, stacktest.WithLog(log)), t}, k}
		operations := w.news(100, "x")
		first := w.bulkAnswer("k", operations)
		again := w.bulkAnswer("k", operations, "X-Request-Id", "again-"+k.collection)
		require.JSONEq(t, string(first.Body), string(again.Body))
		cost := log.Fields(t, "again-"+k.collection)
		require.LessOrEqual(t, cost["calls"], 8.0, k.collection)
		require.LessOrEqual(t, cost["wcu"], 1.0, "the rate limiter's")
	}
}

func TestALargeBulkIsReplayedUnderItsKey(t *testing.T) {
	inEveryKind(t, func(t *testing.T, w *workshop) {
		operations := w.news(20, "x", object{w.long: strings.Repeat("é", 30_000)})
		first := w.bulkUnder("big", operations...)
		again := w.bulkUnder("big", operations...)
		require.Equal(t, first, again, "over 300 KB, its records are shown again")
		require.Equal(t, 20, first.Stats.Succeeded)
		require.Equal(t, 20, w.count())
	})
}

func TestSimultaneousBulksUnderOneKeyAreDoneOnce(t *testing.T) {
	inEveryKind(t, func(t *testing.T, w *workshop) {
		operations := w.news(60, "x")
		statuses := make([]int, 8)
		together(len(statuses), func(i int) {
			body := object{"operations": operations}
			statuses[i] = attempt(t, w.Stack, "POST", w.EventPath(w.recordKind.bulk()), body, keyHeader, "k").Status
		})
		require.Contains(t, statuses, 200)
		for _, status := range statuses {
			require.Contains(t, []int{200, 409}, status)
		}
		require.Equal(t, 60, w.count())
		require.Equal(t, 60, w.bulkUnder("k", operations...).Stats.Succeeded)
		require.Equal(t, 60, w.count())
	})
}
