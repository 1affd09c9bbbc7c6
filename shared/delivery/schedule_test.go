package delivery

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTheScheduleOfAttempts is that of gaps.md section 10: ten attempts in about three days.
func TestTheScheduleOfAttempts(t *testing.T) {
	want := []time.Duration{
		5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
	}
	var sum time.Duration
	for i, base := range want {
		got, more := Delay(i+1, 0, 0.5)
		require.True(t, more)
		require.Equal(t, base, got)
		sum += got
	}
	require.InDelta(t, 3, sum.Hours()/24, 0.2)
	for _, made := range []int{-1, 0, 10, 11, 1000} {
		_, more := Delay(made, time.Hour, 0.5)
		require.False(t, more, made)
	}
	require.Equal(t, 10, MostAttempts)
}

// TestDelaysStayWithinTheirBounds, whatever the random number and the wait that a receiver asks for:
// within a fifth of the schedule, and with Retry-After between the schedule and twice it.
func TestDelaysStayWithinTheirBounds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		made := 1 + random.IntN(MostAttempts-1)
		base, spread := schedule[made], random.Float64()
		got, more := Delay(made, 0, spread)
		require.True(t, more)
		require.Zero(t, got%time.Second, "a queue waits for whole seconds")
		require.GreaterOrEqual(t, float64(got), 0.8*float64(base))
		require.LessOrEqual(t, float64(got), 1.2*float64(base))

		asked := time.Duration(random.Int64N(int64(3 * base)))
		got, _ = Delay(made, asked+1, spread)
		require.GreaterOrEqual(t, got, base)
		require.LessOrEqual(t, got, 2*base)
		require.GreaterOrEqual(t, got, min(asked, 2*base), "no attempt is earlier than the receiver asks")
	}
}

// TestDeliveriesAreSpread: deliveries that fail together are not tried again together, and one
// delivery always at the same time.
func TestDeliveriesAreSpread(t *testing.T) {
	const all, parts = 10_000, 10
	var found [parts]int
	for i := range all {
		at := spread(fmt.Sprint("delivery-", i), 3)
		require.Equal(t, at, spread(fmt.Sprint("delivery-", i), 3))
		require.GreaterOrEqual(t, at, 0.0)
		require.Less(t, at, 1.0)
		found[int(at*parts)]++
	}
	for _, n := range found {
		require.InDelta(t, all/parts, n, 150)
	}
	require.NotEqual(t, spread("delivery", 3), spread("delivery", 4))
}
