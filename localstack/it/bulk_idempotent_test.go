package it_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBulkIsReplayedUnderItsKey(t *testing.T) {
	inEveryKind(t, func(t *testing.T, w *workshop) {
		id := w.one("A")
		operations := append(w.news(1, "New"), updating(id, w.with("B")), creating(object{}), deleting(id), deleting(id))
		first := w.bulkAnswer("k-1", operations)
		for range 2 {
			replayed(t, first, w.bulkAnswer("k-1", operations))
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
