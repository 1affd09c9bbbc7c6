package limits_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

func TestBulkIsReplayedUnderItsKey(t *testing.T) {
	inEveryKind(t, func(t *testing.T, w *kindClient) {
		id := w.one("A")
		operations := append(w.news(1, "New"), it.Updating(id, w.WithText("B")), it.Creating(object{}), it.Deleting(id), it.Deleting(id))
		first := w.bulkUnder("k-1", operations...)
		for range 2 {
			require.Equal(t, first.Shortened(), w.bulkUnder("k-1", operations...))
			require.Equal(t, "true", w.bulkAnswer("k-1", operations).Header.Get(replayHeader))
		}
		require.Equal(t, 1, w.count(), "nothing was done twice")
		body := object{"operations": operations[:1]}
		it.RequireError(t, w.Do(422, "POST", w.BulkPath(), body, it.KeyHeader, "k-1"), "IDEMPOTENCY_KEY_REUSED", "")
		w.bulkUnder("k-2", w.news(1, "New")...).Data(t, 0)
		require.Equal(t, 2, w.count())
		there := w.elsewhere()
		there.bulkUnder("k-1", operations[0]).Data(t, 0)
		require.Equal(t, 1, there.count(), "a key is of one path")
	})
}

// TestARepeatedBulkReadsInBatches: what it shows takes few calls, and no writes.
func TestARepeatedBulkReadsInBatches(t *testing.T) {
	log := &stacktest.Log{}
	for _, k := range it.Kinds {
		w := &kindClient{&it.Client{Stack: stacktest.Start(t, stacktest.WithLog(log)), T: t}, k}
		operations := w.news(100, "x")
		first := w.bulkAnswer("k", operations)
		again := w.bulkAnswer("k", operations, "X-Request-Id", "again-"+k.Collection)
		require.JSONEq(t, string(first.Body), string(again.Body))
		cost := log.Fields(t, "again-"+k.Collection)
		require.LessOrEqual(t, cost["calls"], 8.0, k.Collection)
		require.LessOrEqual(t, cost["wcu"], 1.0, "the rate limiter's")
	}
}

func TestALargeBulkIsReplayedUnderItsKey(t *testing.T) {
	inEveryKind(t, func(t *testing.T, w *kindClient) {
		operations := w.news(20, "x", object{w.LongField: strings.Repeat("é", 30_000)})
		first := w.bulkUnder("big", operations...)
		again := w.bulkUnder("big", operations...)
		require.Equal(t, first, again, "over 300 KB, its records are shown again")
		require.Equal(t, 20, first.Stats.Succeeded)
		require.Equal(t, 20, w.count())
	})
}

func TestSimultaneousBulksUnderOneKeyAreDoneOnce(t *testing.T) {
	inEveryKind(t, func(t *testing.T, w *kindClient) {
		operations := w.news(60, "x")
		statuses := make([]int, 8)
		it.Concurrently(len(statuses), func(i int) {
			body := object{"operations": operations}
			statuses[i] = w.TrySend(t, "POST", w.EventPath(w.Kind.BulkPath()), stacktest.WithHeaders(body, it.KeyHeader, "k")).Status
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
