// Package committer finishes the commits of agenda drafts that no request has finished, since its process has ended
// (decision 49). A message names a draft whose commit has begun. The worker gives the request Patience, by a message
// of its own, and then does what is left. Messages may come twice or late.
package committer

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	sqs "github.com/aws/aws-lambda-go/events"

	"lectern/events"
	"lectern/shared/agenda/draft"
	"lectern/shared/api"
	"lectern/shared/bus"
	"lectern/shared/change"
	"lectern/shared/resource"
	"lectern/shared/wire"
)

// Patience is more time than a request has.
const Patience = time.Minute

// Config has what a Worker works with.
type Config struct {
	Records resource.Store
	Log     *slog.Logger
	// Work is the queue that the worker shares with dataworker.
	Work     bus.Queue
	Patience time.Duration
}

// Worker finishes commits. It is safe for concurrent use.
type Worker struct{ Config }

// Start returns the Worker of a region.
func Start(env api.Env, places *bus.Places, patience time.Duration) (*Worker, error) {
	work, err := places.Queue(events.Work)
	if err != nil {
		return nil, err
	}
	return &Worker{Config{Records: resource.NewStore(env), Log: env.Log, Work: work, Patience: patience}}, nil
}

// task is a message: the event of a commit that has begun, or the same after Patience.
type task struct {
	Detail bus.Message `json:"detail"`
	Waited bool        `json:"waited,omitempty"`
}

// Invoke finishes the commits of messages, and returns the messages that failed.
func (w *Worker) Invoke(ctx context.Context, event sqs.SQSEvent) (sqs.SQSEventResponse, error) {
	return bus.Handle(ctx, event, w.handle, w.failed), nil
}

func (w *Worker) failed(id string, err error) {
	w.Log.Error("a commit was not finished", "metric", "commit_failed", "message_id", id, "error", err)
}

// handle finishes the commit of a message, or sends the message again for later.
func (w *Worker) handle(ctx context.Context, a bus.Arrival) error {
	m, err := bus.Published(a.Body)
	if err != nil {
		return err
	}
	var t task
	if err := json.Unmarshal(a.Body, &t); err != nil {
		return fmt.Errorf("%w: committer: decode a task: %w", bus.ErrPermanent, err)
	}
	of := resource.Owner{Org: m.Org, Event: m.Event}
	if t.Waited {
		return draft.Resume(change.AsService(ctx), w.Records, of, m.RecordID)
	}
	open, err := draft.Open(ctx, w.Records, of, m.RecordID)
	if err != nil || !open {
		return err
	}
	t.Waited = true
	body, err := wire.Encode(t)
	if err != nil {
		return fmt.Errorf("committer: encode a task: %w", err)
	}
	return w.Work.Send(ctx, bus.Post{Body: body, Delay: w.Patience})
}
