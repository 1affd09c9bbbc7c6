// Package matcher makes the deliveries of published changes: Invoke finds the endpoints of a
// message, stores a delivery for each, and sends the first attempts to the deliverer (decision 33).
//
// Read matcher.go first, then organization.go.
package matcher

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"lectern/shared/bus"
	"lectern/shared/delivery"
	"lectern/shared/table"
	"lectern/shared/webhook"
)

// Receivers finds the endpoints that take messages of an organization: *webhook.Receivers.
type Receivers interface {
	// Of returns the endpoints that take at least one of the messages.
	Of(ctx context.Context, org int64, messages ...bus.Message) ([]*webhook.Endpoint, error)
	// Takes reports whether an endpoint takes a message.
	Takes(e *webhook.Endpoint, m bus.Message) bool
	// IDs returns the ids of all endpoints of an organization, disabled and paused ones too.
	IDs(ctx context.Context, org int64) ([]string, error)
}

// Matcher makes deliveries. It is safe for concurrent use.
type Matcher struct {
	receivers  Receivers
	renderer   delivery.Renderer
	deliveries bus.Queue
	store      delivery.Store
	log        *slog.Logger
}

// Config has what a Matcher works with.
type Config struct {
	Table *table.Table
	Now   func() time.Time
	Log   *slog.Logger
	// Receivers and Renderer read the endpoints and render the bodies.
	Receivers Receivers
	Renderer  delivery.Renderer
	// Deliveries is the queue of the deliverer.
	Deliveries bus.Queue
}

// New returns a Matcher.
func New(c Config) *Matcher {
	return &Matcher{
		receivers: c.Receivers, renderer: c.Renderer, deliveries: c.Deliveries, log: c.Log,
		store: delivery.Store{Table: c.Table, Now: c.Now},
	}
}

// counts are the numbers of an invocation.
type counts struct{ matched, withheld, added, sent atomic.Int64 }

// Invoke handles messages of the queue of webhooks, and returns those that failed.
func (m *Matcher) Invoke(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	h := &handler{Matcher: m}
	h.organizations = organizationsOf(h, event)
	answer := bus.Handle(ctx, event, h.handle, h.failed)
	m.log.LogAttrs(ctx, slog.LevelInfo, "matched", slog.Int("messages", len(event.Records)),
		slog.Int64("receivers", h.matched.Load()), slog.Int64("not_sent", h.withheld.Load()), slog.Int64("deliveries", h.added.Load()),
		slog.Int64("sent", h.sent.Load()), slog.Int("errors", len(answer.BatchItemFailures)))
	return answer, nil
}

// handler handles the messages of an invocation.
type handler struct {
	*Matcher
	organizations map[int64]*organization
	counts
}

func (h *handler) failed(id string, err error) {
	h.log.Error("a published change was not matched", "metric", "match_failed", "message_id", id, "error", err)
}

// Late is the visibility of the queue. The message of an older change may have failed before, although
// the queue counts one receipt: redrive and republish begin the count anew.
const Late = 3 * time.Minute

// handle makes the deliveries of a message. For a repeated message, handle sends again the deliveries
// without an attempt, and the deliveries whose next attempt was lost.
func (h *handler) handle(ctx context.Context, a bus.Arrival) error {
	message, err := bus.Published(a.Body)
	if err != nil {
		return err
	}
	o := h.organizations[message.Org]
	if err := o.begin(ctx); err != nil {
		return fmt.Errorf("matcher: find the endpoints of organization %d: %w", message.Org, err)
	}
	if o.done[a.ID] {
		return nil
	}
	targets := o.targets(message)
	added, err := h.store.Add(ctx, message, targets, h.renderer)
	if err != nil {
		return err
	}
	tasks := added.Tasks
	if !h.first(message, a.Receives) {
		if tasks, err = h.withUnsent(ctx, message, tasks); err != nil {
			return err
		}
	}
	if err := delivery.Send(ctx, h.deliveries, tasks); err != nil {
		return err
	}
	h.count(len(targets), len(tasks), added)
	return nil
}

// first reports whether a message comes the first time.
func (h *handler) first(m bus.Message, receives int) bool {
	return receives <= 1 && h.store.Now().Sub(m.At.Time) <= Late
}

// count counts what was done.
func (h *handler) count(matched, sent int, added delivery.Added) {
	h.matched.Add(int64(matched))
	h.withheld.Add(int64(added.Withheld))
	h.added.Add(int64(added.New))
	h.sent.Add(int64(sent))
}

// withUnsent adds the tasks of the other deliveries of a message without a message in the queue. An
// earlier invocation may have ended before the sending, and the endpoint may take the message no
// longer: then the deliverer cancels or postpones the delivery.
func (h *handler) withUnsent(ctx context.Context, m bus.Message, tasks []delivery.Task) ([]delivery.Task, error) {
	ids, err := h.receivers.IDs(ctx, m.Org)
	if err != nil {
		return nil, fmt.Errorf("matcher: list the endpoints of organization %d: %w", m.Org, err)
	}
	unsent, err := h.store.Unsent(ctx, m, ids)
	for _, t := range unsent {
		if !slices.ContainsFunc(tasks, t.Same) {
			tasks = append(tasks, t)
		}
	}
	return tasks, err
}
