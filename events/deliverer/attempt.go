package deliverer

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"lectern/shared/bus"
	"lectern/shared/delivery"
	"lectern/shared/webhook"
)

// pause is the least time after which a delivery to a paused endpoint looks at the endpoint again.
const pause = time.Hour

// pauseOf returns the pause of a delivery: from one to two hours, by a hash of its id. So the
// deliveries of a paused endpoint are not due again together.
func pauseOf(id string) time.Duration {
	hash := sha256.Sum256([]byte(id))
	return pause + time.Duration(binary.BigEndian.Uint32(hash[:4]))*time.Millisecond%pause
}

// The errors of attempts that were not sent, beside delivery.NotSent.
const (
	disabled = "Not sent: the endpoint is disabled."
	paused   = "Not sent: the token that wrote the endpoint last may not read the change."
	erased   = "Not sent: the body is no longer kept."
)

// handle makes the attempt of a message, unless it was made before.
func (b *batch) handle(ctx context.Context, a bus.Arrival) error {
	t, err := decode(a.Body)
	if err != nil {
		return err
	}
	w, err := b.store.Open(ctx, t)
	if err != nil {
		return err
	}
	if w == nil {
		b.add(&b.dropped)
		return nil
	}
	if !w.Due(t) {
		b.add(&b.dropped)
		return b.sendNext(ctx, w, t)
	}
	e, err := b.endpoint(ctx, t)
	switch {
	case err != nil:
		return err
	case e.found == nil:
		return b.cancel(ctx, w, t, disabled)
	case !b.Receivers.May(e.found, w.Kind, w.EventOf()):
		return b.postpone(ctx, w, t)
	}
	return b.attempt(ctx, e, w, t)
}

// cancel ends the delivery of a scheduled attempt that cannot be made, and withholds another attempt
// for a reason.
func (b *batch) cancel(ctx context.Context, w *delivery.Work, t delivery.Task, reason string) error {
	if t.Mode != delivery.Scheduled {
		return b.withhold(ctx, w, t, reason)
	}
	b.add(&b.cancelled)
	return b.store.End(ctx, w, t)
}

// postpone makes a scheduled attempt due later, and withholds another attempt.
func (b *batch) postpone(ctx context.Context, w *delivery.Work, t delivery.Task) error {
	if t.Mode != delivery.Scheduled {
		return b.withhold(ctx, w, t, paused)
	}
	b.add(&b.postponed)
	return b.store.Postpone(ctx, w, t, pauseOf(w.ID))
}

// withhold records an attempt that is not sent, so that the schedule bounds how often it is tried.
func (b *batch) withhold(ctx context.Context, w *delivery.Work, t delivery.Task, reason string) error {
	b.add(&b.withheld)
	return b.record(ctx, w, t, delivery.Outcome{At: b.Now(), Error: reason, Withheld: true})
}

// mostHeld bounds how often the attempt of a replay waits for the breaker: half an hour to an hour and a
// quarter in sum.
const mostHeld = 10

// hold sends the attempt of a replay to the queue again, for the time when the breaker may be closed: a
// replay has no schedule that would try again. It withholds a scheduled attempt, and an attempt that
// has waited too often.
func (b *batch) hold(ctx context.Context, e *endpoint, w *delivery.Work, t delivery.Task) error {
	if t.Mode != delivery.Replayed || t.Held >= mostHeld {
		return b.withhold(ctx, w, t, delivery.NotSent)
	}
	t.Held++
	b.add(&b.held)
	return b.send(ctx, t, min(e.state.Wait(b.Now()), bus.MaxDelay))
}

// attempt makes an attempt, or holds it back while the breaker is open, and records the outcome.
func (b *batch) attempt(ctx context.Context, e *endpoint, w *delivery.Work, t delivery.Task) error {
	send, probe, err := b.ask(ctx, e, t)
	if err != nil {
		return err
	}
	if !send {
		return b.hold(ctx, e, w, t)
	}
	body, err := b.store.ReadBody(ctx, w)
	if err != nil {
		return err
	}
	if body == nil { // It was erased.
		return b.cancel(ctx, w, t, erased)
	}
	if t.Mode == delivery.Scheduled && t.Attempt == 1 && !w.Hidden.Postponed {
		b.first(w)
	}
	at := b.Now()
	answer, err := b.Sender.Send(ctx, webhook.Request{
		Org: t.Org, Endpoint: e.found, ID: w.ID, Kind: w.Kind, Attempt: w.Hidden.Made + w.Hidden.Extra + 1, Body: body,
	})
	if err != nil {
		return fmt.Errorf("deliverer: send %s: %w", w.ID, err)
	}
	o := delivery.Outcome{
		At: at, Status: answer.Status, Latency: answer.Latency, Response: answer.Body, Error: answer.Error, RetryAfter: answer.RetryAfter,
	}
	if !o.Succeeded() {
		b.add(&b.refused)
	}
	b.result(e, delivery.Result{Failed: !o.Succeeded(), Probe: probe, Mode: t.Mode})
	if o.Gone() {
		if err := b.disable(ctx, e, ReasonGone); err != nil {
			return err
		}
	}
	return b.record(ctx, w, t, o)
}

// first counts a first attempt, and the time since the change. A delivery that has waited for a paused
// endpoint is late by intent.
func (b *batch) first(w *delivery.Work) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.firsts++
	b.latest = max(b.latest, b.Now().Sub(w.CreatedAt.Time))
}

// record stores the outcome of an attempt, and sends the next attempt to the queue if the queue can
// wait for it.
func (b *batch) record(ctx context.Context, w *delivery.Work, t delivery.Task, o delivery.Outcome) error {
	after, err := b.store.Record(ctx, w, t, o)
	if err != nil {
		return err
	}
	if after == nil {
		b.add(&b.dropped)
		return nil
	}
	if o.Succeeded() {
		b.add(&b.delivered)
	}
	if after.Status == delivery.Failed && t.Mode == delivery.Scheduled {
		b.add(&b.exhausted)
	}
	return b.sendNext(ctx, after, t)
}

// sendNext sends the attempt after that of t to the queue, if it waits there.
func (b *batch) sendNext(ctx context.Context, w *delivery.Work, t delivery.Task) error {
	next, delay, ok := w.Next(t, b.Now())
	if !ok {
		return nil
	}
	return b.send(ctx, next, delay)
}

// send sends an attempt to the queue with a delay.
func (b *batch) send(ctx context.Context, t delivery.Task, delay time.Duration) error {
	post, err := t.Post(delay)
	if err != nil {
		return err
	}
	if err := b.Deliveries.Send(ctx, post); err != nil {
		return fmt.Errorf("deliverer: send the next attempt: %w", err)
	}
	return nil
}
