package table_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/table"
)

func callsOf(m *table.Meter) int {
	calls, _, _, _ := m.Totals() //nolint:dogsled // the others are looked at below
	return calls
}

// TestMeterSumsUpWhatCallsConsumed counts transactions in what the engine takes
// for a transaction of one small write: 2 units on AWS, 4 by DynamoDB Local.
func TestMeterSumsUpWhatCallsConsumed(t *testing.T) {
	tbl := newTable(t)
	ctx, meter := table.Measured(t.Context())
	require.NoError(t, tbl.Transact(ctx, table.Bump(key("b"), 1)))
	_, _, rcu, write := meter.Totals()
	require.Zero(t, rcu)
	require.Contains(t, []float64{2, 4}, write)
	wcu := write

	fiveKB := table.Item{Key: key("5KB"), Version: 1, Data: []byte(strings.Repeat("x", 4700))}
	steps := []struct {
		name     string
		do       func() error
		rcu, wcu float64
	}{
		{"insert 5 KB", func() error { return tbl.Transact(ctx, table.Insert(fiveKB)) }, 0, 5 * write},
		{"three writes", func() error {
			return tbl.Transact(ctx, table.Insert(item("a")), table.Bump(key("b"), 1), table.Exists(key("5KB")))
		}, 0, 7 * write},
		{"get 5 KB", func() error { _, err := tbl.Get(ctx, key("5KB")); return err }, 2, 0},
		{"get many", func() error { _, err := tbl.GetMany(ctx, []table.Key{key("5KB"), key("a"), key("none")}); return err }, 4, 0},
		{"add", func() error { _, err := tbl.Add(ctx, key("n"), 1); return err }, 0, 1},
		{"versions", func() error { _, err := tbl.Versions(ctx, "O#1", "a", "b"); return err }, 1, 0},
	}
	for i, step := range steps {
		require.NoError(t, step.do())
		rcu, wcu = rcu+step.rcu, wcu+step.wcu
		calls, roundTrips, gotRCU, gotWCU := meter.Totals()
		require.Equal(t, i+2, calls, step.name)
		require.Equal(t, i+2, roundTrips, step.name)
		require.InDelta(t, rcu, gotRCU, 0.001, step.name)
		require.InDelta(t, wcu, gotWCU, 0.001, step.name)
	}
}

// TestMeterCountsParallelCallsAsOneRoundTrip reads 8 batches, which GetMany sends
// side by side.
func TestMeterCountsParallelCallsAsOneRoundTrip(t *testing.T) {
	tbl := newTable(t)
	keys := fill(t, tbl, 800, 1000)
	ctx, meter := table.Measured(t.Context())
	_, err := tbl.GetMany(ctx, keys)
	require.NoError(t, err)
	calls, roundTrips, _, _ := meter.Totals()
	require.Equal(t, 8, calls)
	require.Less(t, roundTrips, 8)
}

func TestMeterTakesCallsFromManyGoroutines(t *testing.T) {
	tbl := newTable(t)
	ctx, meter := table.Measured(t.Context())
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			_, err := tbl.Add(ctx, key("n"), 1)
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	calls, _, _, wcu := meter.Totals()
	require.Equal(t, 16, calls)
	require.InDelta(t, 16, wcu, 0.001)
}
