package deliverer

import (
	"context"
	"slices"
	"sync"
	"time"

	"lectern/shared/delivery"
	"lectern/shared/table"
	"lectern/shared/webhook"
)

// Reasons for which the service disables an endpoint.
const (
	ReasonGone    = "The endpoint answered 410 Gone."
	ReasonFailing = "All attempts failed for 5 days."
)

// endpointKey names an endpoint.
type endpointKey struct {
	org int64
	id  string
}

// endpoint is an endpoint of a batch, read once.
type endpoint struct {
	endpointKey
	once  sync.Once
	found *webhook.Endpoint
	state delivery.State
	err   error
	// results are the results for the state of the endpoint.
	results []delivery.Result
}

// batch is one invocation.
type batch struct {
	*Deliverer
	mu        sync.Mutex
	endpoints map[endpointKey]*endpoint

	// The numbers of messages by their outcome. latest is the longest time from a change to the
	// first attempt.
	delivered, refused, exhausted, withheld, held, postponed, cancelled, dropped, disabled, firsts int
	latest                                                                                         time.Duration
}

// add counts an outcome.
func (b *batch) add(number *int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*number++
}

// endpoint returns the endpoint of a task, with its state.
func (b *batch) endpoint(ctx context.Context, t delivery.Task) (*endpoint, error) {
	k := endpointKey{t.Org, t.Endpoint}
	b.mu.Lock()
	e := b.endpoints[k]
	if e == nil {
		e = &endpoint{endpointKey: k}
		b.endpoints[k] = e
	}
	b.mu.Unlock()
	e.once.Do(func() { e.err = table.Safely(func() error { return e.read(ctx, b.Deliverer) })() })
	return e, e.err
}

// read reads the endpoint and its state.
func (e *endpoint) read(ctx context.Context, d *Deliverer) (err error) {
	if e.found, err = d.Receivers.Find(ctx, e.org, e.id); err != nil || e.found == nil {
		return err
	}
	e.state, err = d.store.ReadState(ctx, e.org, e.id)
	return err
}

// ask asks the breaker of an endpoint whether an attempt may be made. probe is set for the one
// attempt that tests a failing endpoint. A redelivery that a client asks for is always made, so that
// a client can see at once whether the endpoint works again.
func (b *batch) ask(ctx context.Context, e *endpoint, t delivery.Task) (send, probe bool, err error) {
	now := b.Now()
	switch {
	case t.Mode == delivery.Redelivery:
		return true, false, nil
	case e.state.Open(now):
		return false, false, nil
	case !e.state.Probes(now):
		return true, false, nil
	}
	probe, err = b.store.ClaimProbe(ctx, e.org, e.id, e.state)
	return probe, probe, err
}

// result keeps the result of an attempt for the state of the endpoint. The failure of a redelivery
// tells nothing of how the endpoint serves its schedule.
func (b *batch) result(e *endpoint, r delivery.Result) {
	if r.Mode == delivery.Redelivery && r.Failed {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e.results = append(e.results, r)
}

// learn adds the results of the batch to the states of the endpoints, and disables an endpoint that
// has failed for too long. The results are advice for later attempts: after an error, the next
// results do.
func (b *batch) learn(ctx context.Context) {
	for _, e := range b.endpoints {
		if len(e.results) == 0 {
			continue
		}
		if err := b.learnOf(ctx, e); err != nil {
			b.Log.ErrorContext(ctx, "the state of an endpoint was not stored", "metric", "endpoint_state_failed",
				"org", e.org, "endpoint", e.id, "error", err)
		}
	}
}

// learnOf adds the results of an endpoint. Without failures, before and now, there is nothing to add.
// Only the failure of a scheduled attempt disables the endpoint: a delivery that ended days ago is no
// reason to disable an endpoint that fails at a replay.
func (b *batch) learnOf(ctx context.Context, e *endpoint) error {
	if e.state.Healthy() && e.state.After(e.results, b.Now()).Healthy() {
		return nil
	}
	state, err := b.store.Learn(ctx, e.org, e.id, e.results)
	if err != nil || !state.Exhausted(b.Now()) || !slices.ContainsFunc(e.results, delivery.Result.Streak) {
		return err
	}
	return b.disable(ctx, e, ReasonFailing)
}

// disable disables an endpoint, and ends its streak of failures.
func (b *batch) disable(ctx context.Context, e *endpoint, reason string) error {
	if err := b.Receivers.Disable(ctx, e.found, e.org, reason); err != nil {
		return err
	}
	b.add(&b.disabled)
	return b.store.ForgetStreak(ctx, e.org, e.id)
}
