// Package metering sums up what the calls to the table cost that are made under one
// context, for the log and for tests.
package metering

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Meter sums up what the calls under one context cost.
type Meter struct {
	mu    sync.Mutex
	spans []span
	cost  Cost
}

type span struct{ start, end time.Time }

// Cost is what a call consumed, in read and write units.
type Cost struct{ Reads, Writes float64 }

type meterKey struct{}

// Measured gives a context under which every call is added to the meter.
func Measured(ctx context.Context) (context.Context, *Meter) {
	m := &Meter{}
	return context.WithValue(ctx, meterKey{}, m), m
}

// Totals gives the number of calls made so far, how many of them at least had
// to wait for each other (the longest chain of calls that do not overlap), and
// the read and write units DynamoDB reported. A repeated call counts each time;
// a refused one has no units, since DynamoDB does not tell them.
func (m *Meter) Totals() (calls, roundTrips int, rcu, wcu float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	slices.SortFunc(m.spans, func(a, b span) int { return a.end.Compare(b.end) })
	var last time.Time
	for _, s := range m.spans {
		if !s.start.Before(last) {
			roundTrips++
			last = s.end
		}
	}
	return len(m.spans), roundTrips, m.cost.Reads, m.cost.Writes
}

// Add adds a call that began at start and ends now to the meter of ctx, if there is one.
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
