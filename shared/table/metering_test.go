package table_test

import (
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/metering"
	"lectern/shared/table"
)

func callsOf(m *metering.Meter) int {
	calls, _, _, _ := m.Totals() //nolint:dogsled // the others are looked at below
	return calls
}

// TestMeterSumsUpWhatCallsConsumed holds each call to what AWS bills for it, as far as
// its documentation tells; of a condition it does not say that it costs less than a write.
func TestMeterSumsUpWhatCallsConsumed(t *testing.T) {
	tbl := newTable(t)
	ctx, meter := metering.Measured(t.Context())
	fiveKB := table.Item{Key: key("5KB"), Version: 1, Data: random(6200)}
	write := func(writes ...table.Write) func() error { return func() error { return tbl.Transact(ctx, writes...) } }
	steps := []struct {
		name     string
		do       func() error
		rcu, wcu float64
	}{
		{"a small write in a transaction costs 2", write(table.Bump(key("b"), 1)), 0, 2},
		{"a write of 5 KB in a transaction costs 10", write(table.Insert(fiveKB)), 0, 10},
		{"a condition on 5 KB costs 10", write(table.Exists(key("5KB"))), 0, 10},
		{"writes of a transaction add up", write(table.Insert(item("a")), table.Bump(key("b"), 1)), 0, 4},
		{"a read of 5 KB costs 2", func() error { _, err := tbl.Get(ctx, key("5KB")); return err }, 2, 0},
		{"a batch costs 1 for each key, there or not, and more for long ones",
			func() error { _, err := tbl.GetMany(ctx, []table.Key{key("5KB"), key("a"), key("none")}); return err }, 4, 0},
		{"a counter costs 1", func() error { _, err := tbl.Add(ctx, key("n"), 1); return err }, 0, 1},
		{"a small page costs 1", func() error { _, err := tbl.Versions(ctx, "O#1", "a", "b"); return err }, 1, 0},
	}
	for i, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			_, _, rcu, wcu := meter.Totals()
			require.NoError(t, step.do())
			calls, roundTrips, gotRCU, gotWCU := meter.Totals()
			require.Equal(t, i+1, calls)
			require.Equal(t, i+1, roundTrips)
			same := math.Abs(gotRCU-rcu-step.rcu) < 0.001 && math.Abs(gotWCU-wcu-step.wcu) < 0.001
			conforms(t, step.name, same, "read ", gotRCU-rcu, ", write ", gotWCU-wcu)
		})
	}
}

// TestMeterCountsParallelCallsAsOneRoundTrip reads 8 batches, which GetMany sends
// side by side.
func TestMeterCountsParallelCallsAsOneRoundTrip(t *testing.T) {
	tbl := newTable(t)
	keys := fill(t, tbl, 800, 1000)
	ctx, meter := metering.Measured(t.Context())
	_, err := tbl.GetMany(ctx, keys)
	require.NoError(t, err)
	calls, roundTrips, _, _ := meter.Totals()
	require.Equal(t, 8, calls)
	require.Less(t, roundTrips, 8)
}

func TestMeterTakesCallsFromManyGoroutines(t *testing.T) {
	tbl := newTable(t)
	ctx, meter := metering.Measured(t.Context())
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
