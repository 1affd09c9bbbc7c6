package delivery

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/shared/wire"
)

var noon = time.Date(2027, 5, 1, 12, 0, 0, 0, time.UTC)

func repeated(r Result, n int) (all []Result) {
	for range n {
		all = append(all, r)
	}
	return all
}

var (
	failed    = Result{Failed: true}
	succeeded = Result{}
	badProbe  = Result{Failed: true, Probe: true}
	goodProbe = Result{Probe: true}
)

func TestASuccessfulEndpointHasNoState(t *testing.T) {
	require.True(t, State{}.After(repeated(succeeded, 100), noon).Healthy())
	require.True(t, State{}.After([]Result{failed}, noon).After([]Result{succeeded}, noon.Add(window)).Healthy())
	require.False(t, State{}.After([]Result{failed}, noon).Healthy())
}

// TestTheBreakerOpens after 10 attempts in 5 minutes of which 7 in 10 fail, and not before.
func TestTheBreakerOpens(t *testing.T) {
	nine := State{}.After(repeated(failed, 9), noon)
	require.False(t, nine.Open(noon))
	require.True(t, nine.After([]Result{failed}, noon).Open(noon))
	require.True(t, nine.After([]Result{succeeded, succeeded, failed}, noon).Open(noon), "10 of 12")
	mixed := State{}
	for range 100 {
		mixed = mixed.After([]Result{failed, succeeded, succeeded}, noon)
		require.False(t, mixed.Open(noon), "a third fails")
	}
	require.False(t, nine.After([]Result{failed}, noon.Add(window)).Open(noon.Add(window)), "the window is over")
}

// TestTheBreakerProbes: open for a minute, then one attempt; a failure doubles the time up to 15
// minutes, a success closes.
func TestTheBreakerProbes(t *testing.T) {
	s, now := State{}.After(repeated(failed, 10), noon), noon
	for _, minutes := range []int{1, 2, 4, 8, 15, 15, 15} {
		open := time.Duration(minutes) * time.Minute
		require.True(t, s.Open(now.Add(open-time.Millisecond)))
		require.False(t, s.Probes(now.Add(open-time.Millisecond)))
		now = now.Add(open)
		require.False(t, s.Open(now))
		require.True(t, s.Probes(now))
		claimed := s.claimed(now)
		require.True(t, claimed.Open(now), "for all others")
		require.True(t, claimed.Probes(now.Add(probeTime)), "a probe without a result frees the place")
		s = claimed.After([]Result{badProbe}, now)
	}
	s = s.claimed(now.Add(time.Hour)).After([]Result{goodProbe}, now.Add(time.Hour))
	require.True(t, s.Healthy())
}

// TestAnOpenBreakerStaysOpen whatever the attempts answer that began before.
func TestAnOpenBreakerStaysOpen(t *testing.T) {
	s := State{}.After(repeated(failed, 10), noon)
	for _, r := range []Result{failed, succeeded} {
		later := s.After(repeated(r, 50), noon.Add(time.Second))
		require.Equal(t, s.OpenUntil, later.OpenUntil)
		require.Equal(t, 1, later.Opened)
	}
}

// TestAStreakOfFailures counts failures of scheduled attempts alone, ends with a success of any
// attempt, and is over after three days without an attempt.
func TestAStreakOfFailures(t *testing.T) {
	s := State{}.After([]Result{failed}, noon)
	require.False(t, s.Exhausted(noon.Add(MostFailing-time.Millisecond)))
	for day := range 5 {
		s = s.After([]Result{failed}, noon.Add(time.Duration(day)*24*time.Hour))
	}
	require.True(t, s.Exhausted(noon.Add(MostFailing)))
	require.False(t, s.After([]Result{succeeded}, noon.Add(MostFailing)).Exhausted(noon.Add(MostFailing)))
	for _, mode := range []Mode{Scheduled, Redelivery, Replayed} {
		after := s.After([]Result{{Mode: mode}}, noon.Add(MostFailing))
		require.False(t, after.Exhausted(noon.Add(MostFailing)), mode)
		require.Zero(t, after.LastFailure, mode)
	}
	open := State{}.After(repeated(failed, 10), noon)
	require.Equal(t, open.OpenUntil, open.After([]Result{{Mode: Redelivery}}, noon).OpenUntil, "a redelivery does not close the breaker")
	require.Zero(t, State{}.After([]Result{{Mode: Replayed, Failed: true}}, noon).FailingSince)
	quietly := s.After([]Result{failed}, noon.Add(30*24*time.Hour))
	require.Equal(t, wire.At(noon.Add(30*24*time.Hour)), quietly.FailingSince)
}

// TestTheBreakerBoundsConnections to an endpoint that always fails: at random times of attempts,
// at most 10 before the breaker opens and then one in each time that it is open.
func TestTheBreakerBoundsConnections(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	s, now, sent := State{}, noon, 0
	for range 20_000 {
		now = now.Add(time.Duration(random.Int64N(int64(10 * time.Second))))
		switch {
		case s.Probes(now):
			s = s.claimed(now).After([]Result{badProbe}, now)
			sent++
		case !s.Open(now):
			s = s.After([]Result{failed}, now)
			sent++
		}
	}
	most := 10 + 4 + int(now.Sub(noon)/longestOpen) + 1
	require.LessOrEqual(t, sent, most)
	require.Greater(t, sent, most/2)
}
