// Package committer finishes the commits of agenda drafts that no request has finished, since its process has ended
// (decision 49). A message names a draft whose commit has begun. The worker sends the message again to
// itself until Patience is over, and then does what is left. Messages may come twice or late.
package committer

import (
	"context"
	"errors"
	"log/slog"
	"time"

	sqs "github.com/aws/aws-lambda-go/events"

	"lectern/events"
	"lectern/shared/agenda/draft"
	"lectern/shared/api"
	"lectern/shared/bus"
	"lectern/shared/change"
	"lectern/shared/resource"
	"lectern/shared/table"
)

// Patience is more time than a request has.
const Patience = time.Minute

// mostAge is the age of a commit from which a table that refuses calls is an error. Until then the worker tries again
// after Patience, since the queue repeats a message that failed much later.
const mostAge = time.Hour

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

// Invoke finishes the commits of messages, and returns the messages that failed.
func (w *Worker) Invoke(ctx context.Context, event sqs.SQSEvent) (sqs.SQSEventResponse, error) {
	return bus.Handle(ctx, event, w.handle, w.failed), nil
}

func (w *Worker) failed(id string, err error) {
	w.Log.Error("a commit was not finished", "metric", "commit_failed", "message_id", id, "error", err)
}

// handle finishes the commit of a message, or sends the message again while the request may still do so, and while the
// table refuses calls.
func (w *Worker) handle(ctx context.Context, a bus.Arrival) error {
	m, err := bus.Published(a.Body)
	if err != nil {
		return err
	}
	age := w.Records.Now().Sub(m.At.Time)
	if age >= w.Patience {
		err = draft.Resume(change.AsService(ctx), w.Records, resource.Owner{Org: m.Org, Event: m.Event}, m.RecordID)
		passes := errors.Is(err, table.ErrBusy) || errors.Is(err, table.ErrInDoubt)
		if !passes || age > mostAge {
			return err
		}
	}
	return w.Work.Send(ctx, bus.Post{Body: a.Body, Delay: w.Patience})
}
