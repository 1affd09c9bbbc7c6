package ratelimit_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/tabletest"
	"lectern/shared/metering"
	"lectern/shared/ratelimit"
	"lectern/shared/tenancy"
)

// TestAdvancesOfManyInstancesKeepTheLimit: 16 instances that count requests in advance admit
// exactly the limit together, and never report more requests than remain.
func TestAdvancesOfManyInstancesKeepTheLimit(t *testing.T) {
	tab, c := tabletest.Start(t), &clock{at: start}
	for _, limit := range []int64{1_000, 10_000} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			token := tenancy.Token{ID: limit, Limit: limit}
			var admitted atomic.Int64
			var group sync.WaitGroup
			for range 16 {
				group.Go(func() {
					l, last := limiter(tab, c), limit
					for {
						v := l.Take(t.Context(), token, ratelimit.EntityReads)
						if !v.Allowed {
							return
						}
						admitted.Add(1)
						if v.Remaining > last || v.Limit != limit {
							t.Errorf("%d remain after %d", v.Remaining, last)
						}
						last = v.Remaining
					}
				})
			}
			group.Wait()
			require.Equal(t, limit, admitted.Load())
		})
	}
}

// TestAnAdvanceCostsAHundredthOfARequest: with a limit of 100,000. With a limit ten times as
// high, an advance costs a tenth of that.
func TestAnAdvanceCostsAHundredthOfARequest(t *testing.T) {
	l := limiter(tabletest.Start(t), &clock{at: start})
	for limit, most := range map[int64]float64{100: 1, 1_000: 1, 100_000: 0.01, 1_000_000: 0.001} {
		ctx, meter := metering.Measured(t.Context())
		requests := int64(max(100, 1/most))
		for i := range requests {
			v := l.Take(ctx, tenancy.Token{ID: limit, Limit: limit}, ratelimit.EntityReads)
			require.True(t, v.Allowed)
			require.LessOrEqual(t, v.Remaining, limit-1-i, "no more than remain")
		}
		_, _, _, wcu := meter.Totals()
		require.LessOrEqual(t, wcu/float64(requests), most, limit)
	}
}

// TestADayLosesNothingToProcessesThatEnd: each of many processes counts a write and ends.
func TestADayLosesNothingToProcessesThatEnd(t *testing.T) {
	tab, c := tabletest.Start(t), &clock{at: start}
	const limit = 10_000
	token := tenancy.Token{ID: 1, Limit: limit}
	for n := range int64(20) {
		v := limiter(tab, c).TakeDay(t.Context(), token, limit)
		require.True(t, v.Allowed)
		require.Equal(t, limit-1-n, v.Remaining)
	}
}

// TestAnAdvanceEndsWithItsWindowAndItsLimit: an advance is not carried over.
func TestAnAdvanceEndsWithItsWindowAndItsLimit(t *testing.T) {
	tab, c := tabletest.Start(t), &clock{at: start}
	l, other := limiter(tab, c), limiter(tab, c)
	token := tenancy.Token{ID: 1, Limit: 100_000}
	first := l.Take(t.Context(), token, ratelimit.EntityReads)
	require.EqualValues(t, 99_900, first.Remaining)
	token.Limit = 100
	require.False(t, l.Take(t.Context(), token, ratelimit.EntityReads).Allowed, "the advance counts as used")
	token.Limit = 101
	require.EqualValues(t, 0, other.Take(t.Context(), token, ratelimit.EntityReads).Remaining)
	require.False(t, l.Take(t.Context(), token, ratelimit.EntityReads).Allowed)
	token.Limit = 100_000
	c.pass(time.Duration(first.Wait) * time.Second)
	next := l.Take(t.Context(), token, ratelimit.EntityReads)
	require.EqualValues(t, 99_900, next.Remaining)
	require.Equal(t, first.Reset+900, next.Reset)
}
