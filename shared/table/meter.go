package table

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Meter sums up what the calls under one context cost.
type Meter struct {
	mu    sync.Mutex
	spans []span
	cost  cost
}

type span struct{ start, end time.Time }

// cost is what a call consumed, in read and write units.
type cost struct{ rcu, wcu float64 }

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
	return len(m.spans), roundTrips, m.cost.rcu, m.cost.wcu
}

func (m *Meter) add(s span, c cost) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spans = append(m.spans, s)
	m.cost.rcu += c.rcu
	m.cost.wcu += c.wcu
}

// attempt makes one call and adds it to the meter of ctx, if there is one. It
// gives up after limit, with errSlow.
func attempt[O any](ctx context.Context, limit time.Duration, send func(context.Context) (*O, error), price func(*O) cost) (*O, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errSlow)
	defer cancel()
	start := time.Now()
	out, err := send(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errSlow) {
		err = fmt.Errorf("%w: %w", errSlow, err)
	}
	m, measured := ctx.Value(meterKey{}).(*Meter)
	if !measured {
		return out, err
	}
	var c cost
	if err == nil {
		c = price(out)
	}
	m.add(span{start, time.Now()}, c)
	return out, err
}

// units is the capacity of a call that only reads or only writes.
func units(c *types.ConsumedCapacity) float64 {
	if c == nil || c.CapacityUnits == nil {
		return 0
	}
	return *c.CapacityUnits
}

// reads sums up what a call consumed that only reads.
func reads(all ...types.ConsumedCapacity) (c cost) {
	for i := range all {
		c.rcu += units(&all[i])
	}
	return c
}
