package it_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBulkIsReplayedUnderItsKey(t *testing.T) {
	d := newDesk(t)
	id := d.create(200, object{"title": "A", "capacity": 0}).id()
	operations := []object{
		creating(object{"title": "New"}), updating(id, object{"capacity": 1}), creating(object{}), deleting(id), deleting(id),
	}
	body := object{"operations": operations}
	path := d.EventPath("/sessions/bulk")
	first := d.Call(t, 200, "POST", path, body, "Idempotency-Key", "k-1")
	require.Empty(t, first.Header.Get("Idempotent-Replayed"))
	for range 2 {
		again := d.Call(t, 200, "POST", path, body, "Idempotency-Key", "k-1")
		require.Equal(t, string(first.Body), string(again.Body), "failed entries too")
		require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
	}
	require.Equal(t, 1, d.search(object{}).Pagination.TotalResults, "nothing was done twice")
	other := entity(d.Call(t, 422, "POST", path, object{"operations": operations[:1]}, "Idempotency-Key", "k-1").JSON(t))
	isRefused(t, other, "IDEMPOTENCY_KEY_REUSED", "")
	another := d.bulkUnder("k-2", operations[0])
	require.NotEqual(t, entity(first.JSON(t)).list("results")[0]["id"], another.data(t, 0)["id"])
	there := d.elsewhere()
	there.bulkUnder("k-1", operations[0]).data(t, 0)
	require.Equal(t, 1, there.search(object{}).Pagination.TotalResults, "a key is of one path")
}

func TestALargeBulkIsReplayedUnderItsKey(t *testing.T) {
	d := newDesk(t)
	operations := make([]object, 20)
	for i := range operations {
		operations[i] = creating(object{"title": "x", "description": strings.Repeat("é", 30_000)})
	}
	first := d.bulkUnder("big", operations...)
	again := d.bulkUnder("big", operations...)
	require.Equal(t, first, again, "over 300 KB, its records are shown again")
	require.Equal(t, 20, d.search(object{}).Pagination.TotalResults)
}

func TestSimultaneousBulksUnderOneKeyAreDoneOnce(t *testing.T) {
	d := newDesk(t)
	operations := make([]object, 60)
	for i := range operations {
		operations[i] = creating(object{"title": "x"})
	}
	statuses := make([]int, 8)
	var all sync.WaitGroup
	for i := range statuses {
		all.Go(func() {
			answer, err := d.Send(t, "POST", d.EventPath("/sessions/bulk"), object{"operations": operations}, "Idempotency-Key", "k")
			if err == nil {
				statuses[i] = answer.Status
			}
		})
	}
	all.Wait()
	require.Contains(t, statuses, 200)
	for _, status := range statuses {
		require.Contains(t, []int{200, 409}, status)
	}
	require.Equal(t, 60, d.search(object{}).Pagination.TotalResults)
	require.Equal(t, 60, d.bulkUnder("k", operations...).Stats.Succeeded)
	require.Equal(t, 60, d.search(object{}).Pagination.TotalResults)
}
