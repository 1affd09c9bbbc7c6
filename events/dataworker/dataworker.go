// Package dataworker does the requests of persons for their data (gaps.md section 7, decision 34):
// collects the data of an access request, and erases a person everywhere. A request may be done
// again from the beginning at any time: each step finds the rest of the work.
//
// Read dataworker.go, access.go, erase.go, files.go, bodies.go, sessions.go.
package dataworker

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"lectern/shared/apierr"
	"lectern/shared/bus"
	"lectern/shared/change"
	"lectern/shared/contact"
	"lectern/shared/datarequest"
	"lectern/shared/delivery"
	"lectern/shared/sessionfile"
	"lectern/shared/slide"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/webhook"
	"lectern/shared/wire"
)

// Settling is the time between the two rounds of an erasure. A process that has read the person before
// the first round, such as the sender of a webhook, writes what it has read within that time.
const Settling = 3 * time.Minute

// Config has what a Worker works with.
type Config struct {
	Table *table.Table
	Now   func() time.Time
	Log   *slog.Logger
	// Requests keeps the requests, Contacts the persons, Files the files that are assigned to them.
	Requests *datarequest.Store
	Contacts *contact.Store
	Files    *sessionfile.Store
	// Slides says which holding slides still show a person.
	Slides *slide.Store
	// Receivers lists the webhook endpoints, Renderer renders bodies again.
	Receivers *webhook.Receivers
	Renderer  delivery.Renderer
	// Work is the worker's own queue, for the second round of an erasure, which comes after Settling, and
	// for the next part of a round.
	Work     bus.Queue
	Settling time.Duration
}

// Worker does data requests. It is safe for concurrent use.
type Worker struct {
	Config
	deliveries delivery.Store
	members    tenancy.Store
}

// New returns a Worker.
func New(c Config) *Worker {
	return &Worker{Config: c, deliveries: delivery.Store{Table: c.Table, Now: c.Now}, members: tenancy.Store{Table: c.Table, Now: c.Now}}
}

// lastTry is the number of times that a message is received before it goes to the dead-letter queue.
const lastTry = 5

// task is a message of the queue of work: the event of a new request, the second round of an erasure, or
// the next part of a round.
type task struct {
	Detail *bus.Message `json:"detail"`
	// Settled is set in the messages of the second round.
	Settled bool `json:"settled,omitempty"`
	// After is the key of the feed after which the search for former sessions goes on, Awards the key of the
	// record from which the erasure of awards goes on. Damaged is the key of the first damaged record of awards.
	After   string    `json:"after,omitempty"`
	Awards  table.Key `json:"awards,omitzero"`
	Damaged table.Key `json:"damaged,omitzero"`
}

// Invoke does the requests of messages of the queue of work, and returns the messages that failed.
func (w *Worker) Invoke(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	return bus.Handle(ctx, event, w.handle, w.failed), nil
}

func (w *Worker) failed(id string, err error) {
	w.Log.Error("a data request was not done", "metric", "data_request_failed", "message_id", id, "error", err)
}

// decode returns the task of a message.
func decode(body []byte) (task, error) {
	var t task
	if err := json.Unmarshal(body, &t); err != nil {
		return t, fmt.Errorf("%w: dataworker: decode a task: %w", bus.ErrPermanent, err)
	}
	if t.Detail == nil || t.Detail.Org == 0 || t.Detail.RecordID == "" || t.Detail.Kind != datarequest.KindCreated {
		return t, fmt.Errorf("%w: dataworker: the task names no request", bus.ErrPermanent)
	}
	return t, nil
}

// handle does the request of a message, unless the request has ended or is deleted. In the last try the
// request is failed until it is done, since the process may end; a message that an operator moves back
// goes on with it.
func (w *Worker) handle(ctx context.Context, a bus.Arrival) error {
	t, err := decode(a.Body)
	if err != nil {
		return err
	}
	ctx = change.AsService(ctx)
	r, err := w.Requests.Get(ctx, t.Detail.Org, t.Detail.RecordID)
	if apierr.IsNotFound(err) {
		w.Log.WarnContext(ctx, "a data request is deleted", "org", t.Detail.Org, "request", t.Detail.RecordID)
		return nil
	}
	if err != nil {
		return err
	}
	status := datarequest.Processing
	if a.Receives >= lastTry {
		status = datarequest.Failed
	}
	began := w.Now()
	if r, err = w.Requests.Begin(ctx, r, status); err != nil || r == nil {
		return err
	}
	if err = w.do(ctx, r, t); err != nil {
		return err
	}
	w.Log.InfoContext(ctx, "data request", "org", r.OrgID, "request", r.ID, "type", r.Type, "settled", t.Settled,
		"duration_ms", w.Now().Sub(began).Milliseconds())
	return nil
}

// do does a request: an erasure round by round, and a long round part by part.
func (w *Worker) do(ctx context.Context, r *datarequest.Request, t task) error {
	if r.Type == datarequest.Access {
		return w.access(ctx, r)
	}
	next, err := w.erase(ctx, r, t)
	switch {
	case err != nil:
		return err
	case next != nil:
		return w.send(ctx, *next, 0)
	case t.Settled:
		return w.Requests.End(ctx, r, datarequest.Completed)
	}
	return w.send(ctx, task{Detail: t.Detail, Settled: true}, w.Settling)
}

// send sends a task to the worker's own queue.
func (w *Worker) send(ctx context.Context, t task, delay time.Duration) error {
	body, err := wire.Encode(t)
	if err != nil {
		return fmt.Errorf("dataworker: encode a task: %w", err)
	}
	return w.Work.Send(ctx, bus.Post{Body: body, Delay: delay})
}
