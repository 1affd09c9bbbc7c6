package delivery_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/shared/delivery"
	"lectern/shared/table"
)

// damage overwrites an item by text that cannot be decoded.
func (b *bench) damage(key table.Key) {
	b.Helper()
	require.NoError(b, b.Table.Transact(b.Context(), table.Put(table.Item{Key: key, Version: 1, Data: []byte("{")})))
}

// TestDamagedDueItems are left out, in each bucket; the others are found.
func TestDamagedDueItems(t *testing.T) {
	b := start(t)
	task := b.add(1)
	_, err := b.Redeliver(t.Context(), org, endpoint, task.ID)
	require.NoError(t, err)
	for bucket := range 8 {
		b.damage(table.Key{PK: fmt.Sprintf("D#%d#%d", b.Last(), bucket), SK: "0#1"})
	}
	items, err := b.DueIn(t.Context(), b.Last())
	var damaged *delivery.DamagedError
	require.ErrorAs(t, err, &damaged)
	require.Equal(t, 8, damaged.Items)
	require.ErrorContains(t, err, "0#1")
	require.Len(t, items, 1)
	require.Equal(t, task.ID, items[0].ID)
}

// TestADamagedDelivery is left out of the part of a replay, and the replay goes on.
func TestADamagedDelivery(t *testing.T) {
	b := start(t)
	const all = 120
	var tasks []delivery.Task
	for i := range all {
		tasks = append(tasks, b.add(i))
	}
	b.now = noon.Add(3 * time.Hour)
	b.damage(table.Key{PK: table.Org(org) + "#W#" + endpoint + "#20270501", SK: tasks[3].ID})
	require.NoError(t, b.Replay(t.Context(), org, endpoint, delivery.Filter{Since: noon, Until: noon.Add(3 * time.Hour)}))
	items, err := b.DueIn(t.Context(), b.Last())
	require.NoError(t, err)
	first, next, err := b.Part(t.Context(), items[0])
	var damaged *delivery.DamagedError
	require.ErrorAs(t, err, &damaged)
	require.Equal(t, 1, damaged.Items)
	require.Len(t, first, 99)
	require.NotNil(t, next)
	rest, _, err := b.Part(t.Context(), *next)
	require.NoError(t, err)
	require.Len(t, rest, all-100)
}

// TestADamagedState of a breaker is left out, and the breakers of other endpoints are read.
func TestADamagedState(t *testing.T) {
	b := start(t)
	for _, of := range []string{endpoint, person} {
		_, err := b.Learn(t.Context(), org, of, slices.Repeat([]delivery.Result{{Failed: true}}, 10))
		require.NoError(t, err)
	}
	open, err := b.OpenUntil(t.Context(), org, []string{endpoint, person})
	require.NoError(t, err)
	require.Len(t, open, 2)
	b.damage(table.Key{PK: table.Org(org) + "#W#" + endpoint, SK: "S"})
	rest, err := b.OpenUntil(t.Context(), org, []string{endpoint, person})
	require.NoError(t, err)
	require.Equal(t, map[string]time.Time{person: open[person]}, rest)
}
