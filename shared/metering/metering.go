// Package metering adds up the cost of the calls to the table under one context, for the
// log and for tests.
package metering

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Meter adds up the cost of the calls under one context.
type Meter struct {
	mu    sync.Mutex
	spans []span
	cost  Cost
}

// span is the time of a call.
type span struct{ start, end time.Time }

// compare compares spans by their ends.
func (s span) compare(other span) int { return s.end.Compare(other.end) }

// Cost is the consumption of a call, in read and write units.
type Cost struct{ Reads, Writes float64 }

type meterKey struct{}

// Measured returns a context and a meter. Every call under the context is added to the
// meter.
func Measured(ctx context.Context) (context.Context, *Meter) {
	m := &Meter{}
	return context.WithValue(ctx, meterKey{}, m), m
}

// Totals returns the number of calls so far, the number of round trips, and the read and
// write units that DynamoDB reported. roundTrips is the length of the longest chain of
// calls that do not overlap: at least so many calls had to wait for each other. A repeated
// call counts each time. A refused call has no units, since DynamoDB does not report any.
func (m *Meter) Totals() (calls, roundTrips int, rcu, wcu float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	slices.SortFunc(m.spans, span.compare)
	var last time.Time
	for _, s := range m.spans {
		if !s.start.Before(last) {
			roundTrips++
			last = s.end
		}
	}
	return len(m.spans), roundTrips, m.cost.Reads, m.cost.Writes
}

// Add adds a call that began at start and ends now to the meter of ctx, if ctx has a meter.
func Add(ctx context.Context, start time.Time, c Cost) {
	m, measured := ctx.Value(meterKey{}).(*Meter)
	if !measured {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spans = append(m.spans, span{start, time.Now()})
	m.cost.Reads += c.Reads
	m.cost.Writes += c.Writes
}
