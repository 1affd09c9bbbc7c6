package delivery

import (
	"time"

	"lectern/shared/wire"
)

// The limits of the breaker: a window of attempts, the part of failures that opens the breaker, and
// the times for which it is open.
const (
	window       = 5 * time.Minute
	leastInOpen  = 10
	failingTenth = 7
	firstOpen    = time.Minute
	longestOpen  = 15 * time.Minute
	// probeTime is longer than an attempt. A probe without a result frees the place after it.
	probeTime = time.Minute
)

// The limits of a failing endpoint.
const (
	// MostFailing is the time of failures alone after which an endpoint is disabled.
	MostFailing = 5 * 24 * time.Hour
	// quiet is longer than a delivery waits for an attempt. After such a time without a
	// failure, the next failure begins a new streak.
	quiet = 3 * 24 * time.Hour
)

// State is what all deliverers know of an endpoint. An endpoint that succeeds has the zero State.
type State struct {
	// WindowAt is the time of the failure that began the present window.
	WindowAt wire.Time `json:"window_at,omitzero"`
	Attempts int       `json:"attempts,omitempty"`
	Failures int       `json:"failures,omitempty"`
	// OpenUntil is the time until which the breaker is open. Opened counts how often the breaker
	// opened since the last success.
	OpenUntil wire.Time `json:"open_until,omitzero"`
	// Probing is set while one attempt tests the endpoint: the breaker may close before OpenUntil.
	Probing bool `json:"probing,omitempty"`
	Opened  int  `json:"opened,omitempty"`
	// FailingSince is the time of the first failure of a scheduled attempt after the last success of
	// any attempt, LastFailure the time of the last failure of a scheduled attempt.
	FailingSince wire.Time `json:"failing_since,omitzero"`
	LastFailure  wire.Time `json:"last_failure,omitzero"`

	version int64
}

// Result is the result of an attempt for the State of its endpoint.
type Result struct {
	Failed bool
	// Probe is set for the attempt that tested a failing endpoint.
	Probe bool
	// Mode is the mode of the attempt. Only failures of scheduled attempts begin or continue the streak
	// of failures, and a success of any attempt ends the streak.
	Mode Mode
}

// Streak reports whether the result begins or continues the streak of failures.
func (r Result) Streak() bool { return r.Failed && r.Mode == Scheduled }

// Healthy reports whether nothing is known against the endpoint.
func (s State) Healthy() bool {
	s.version = 0
	return s == State{}
}

// Open reports whether the breaker lets no attempt through.
func (s State) Open(now time.Time) bool { return now.Before(s.OpenUntil.Time) }

// Probes reports whether the breaker lets one attempt through.
func (s State) Probes(now time.Time) bool { return s.Opened > 0 && !s.Open(now) }

// Wait returns the time until the breaker may let an attempt through, in whole seconds. While another
// deliverer tests the endpoint, that is the time of the test.
func (s State) Wait(now time.Time) time.Duration {
	if !s.Open(now) {
		return probeTime
	}
	return (s.OpenUntil.Sub(now) + time.Second - 1).Truncate(time.Second)
}

// Exhausted reports whether the endpoint has failed for so long that it is to be disabled.
func (s State) Exhausted(now time.Time) bool {
	return !s.FailingSince.IsZero() && now.Sub(s.FailingSince.Time) >= MostFailing
}

// claimed returns the state while one attempt tests the endpoint: open for all others.
func (s State) claimed(now time.Time) State {
	s.OpenUntil, s.Probing = wire.At(now.Add(probeTime)), true
	return s
}

// After returns the state after results of attempts.
func (s State) After(results []Result, now time.Time) State {
	for _, r := range results {
		if r.Failed {
			s = s.failed(r, now)
		} else {
			s = s.succeeded(r, now)
		}
	}
	return s
}

// failed returns the state after a failure.
func (s State) failed(r Result, now time.Time) State {
	if r.Streak() {
		if s.FailingSince.IsZero() || now.Sub(s.LastFailure.Time) > quiet {
			s.FailingSince = wire.At(now)
		}
		s.LastFailure = wire.At(now)
	}
	if r.Probe {
		return s.opened(now)
	}
	if now.Sub(s.WindowAt.Time) >= window {
		s.WindowAt, s.Attempts, s.Failures = wire.At(now), 0, 0
	}
	s.Attempts++
	s.Failures++
	if s.Attempts >= leastInOpen && 10*s.Failures >= failingTenth*s.Attempts && s.Opened == 0 {
		s = s.opened(now)
	}
	return s
}

// opened returns the state with an open breaker: each time twice as long as the time before.
func (s State) opened(now time.Time) State {
	longest := min(firstOpen<<min(s.Opened, leastInOpen), longestOpen)
	s.OpenUntil, s.Opened, s.Probing = wire.At(now.Add(longest)), s.Opened+1, false
	s.WindowAt, s.Attempts, s.Failures = wire.Time{}, 0, 0
	return s
}

// succeeded returns the state after a success. Successes count while a window has failures, so
// that an endpoint without failures costs no writes. An attempt that began before the breaker
// opened does not close the breaker, and neither does a redelivery, which never asks the breaker.
func (s State) succeeded(r Result, now time.Time) State {
	s.FailingSince, s.LastFailure = wire.Time{}, wire.Time{}
	switch {
	case r.Mode == Redelivery:
	case r.Probe:
		s.OpenUntil, s.Opened, s.Probing = wire.Time{}, 0, false
		s.WindowAt, s.Attempts, s.Failures = wire.Time{}, 0, 0
	case s.WindowAt.IsZero():
	case now.Sub(s.WindowAt.Time) >= window:
		s.WindowAt, s.Attempts, s.Failures = wire.Time{}, 0, 0
	default:
		s.Attempts++
	}
	return s
}
