// Package deliverer makes the attempts of deliveries: it signs and posts the body, records the
// outcome, and plans the next attempt (decision 33). What a receiver does is an outcome; only a
// fault of the service is an error.
//
// Read deliverer.go first, then attempt.go, then endpoint.go.
package deliverer

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"lectern/shared/bus"
	"lectern/shared/delivery"
	"lectern/shared/table"
	"lectern/shared/webhook"
)

// Receivers reads and disables endpoints: *webhook.Receivers.
type Receivers interface {
	// Find returns an endpoint that is enabled, paused or not; nil without one.
	Find(ctx context.Context, org int64, id string) (*webhook.Endpoint, error)
	// May reports whether the owner of an endpoint may read a kind of an event, 0 for a record of the
	// organization. A delivery is older than the endpoint's present owner, kinds and events.
	May(e *webhook.Endpoint, kind string, event int64) bool
	// Disable disables an endpoint for a reason, unless it has another address now.
	Disable(ctx context.Context, e *webhook.Endpoint, org int64, reason string) error
}

// Sender makes one attempt: *webhook.Sender.
type Sender interface {
	Send(ctx context.Context, r webhook.Request) (webhook.Answer, error)
}

// Config has what a Deliverer works with.
type Config struct {
	Table *table.Table
	Now   func() time.Time
	Log   *slog.Logger
	// Receivers and Sender reach the endpoints.
	Receivers Receivers
	Sender    Sender
	// Deliveries is the deliverer's own queue, for the next attempts.
	Deliveries bus.Queue
}

// Deliverer makes attempts. It is safe for concurrent use.
type Deliverer struct {
	Config
	store delivery.Store
}

// New returns a Deliverer.
func New(c Config) *Deliverer {
	return &Deliverer{Config: c, store: delivery.Store{Table: c.Table, Now: c.Now}}
}

// Invoke makes the attempts of messages of the queue of deliveries, side by side, and returns the
// messages that failed.
func (d *Deliverer) Invoke(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	b := &batch{Deliverer: d, endpoints: map[endpointKey]*endpoint{}}
	answer := bus.Handle(ctx, event, b.handle, b.failed)
	b.learn(ctx)
	b.note(ctx, len(event.Records), len(answer.BatchItemFailures))
	return answer, nil
}

// failed logs a message that is to be received again.
func (d *Deliverer) failed(id string, err error) {
	d.Log.Error("a delivery was not attempted", "metric", "delivery_failed", "message_id", id, "error", err)
}

// decode returns the task of a message.
func decode(body []byte) (delivery.Task, error) {
	var t delivery.Task
	if err := json.Unmarshal(body, &t); err != nil {
		return t, fmt.Errorf("%w: deliverer: decode a task: %w", bus.ErrPermanent, err)
	}
	if t.Org == 0 || t.Endpoint == "" || t.ID == "" || t.Attempt < 1 {
		return t, fmt.Errorf("%w: deliverer: the task is not complete", bus.ErrPermanent)
	}
	return t, nil
}

// note writes the line of the log about an invocation.
func (b *batch) note(ctx context.Context, messages, errors int) {
	counts := []slog.Attr{
		slog.Int("messages", messages), slog.Int("delivered", b.delivered), slog.Int("failed", b.refused),
		slog.Int("ended_failed", b.exhausted), slog.Int("not_sent", b.withheld), slog.Int("held", b.held), slog.Int("postponed", b.postponed),
		slog.Int("cancelled", b.cancelled), slog.Int("dropped", b.dropped), slog.Int("disabled", b.disabled), slog.Int("errors", errors),
	}
	if b.firsts > 0 {
		counts = append(counts, slog.Int("first_attempts", b.firsts), slog.Int64("latency_ms", b.latest.Milliseconds()))
	}
	b.Log.LogAttrs(ctx, slog.LevelInfo, "delivered", counts...)
}
