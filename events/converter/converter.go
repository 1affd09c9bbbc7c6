// Package converter converts the sound of recordings to the encoding that all recordings have (decision 46). A
// message names a recording whose bytes were received. The worker converts the bytes in parts, replaces the
// original by the converted file, and completes the recording. Each step may be done again, so messages may
// come twice, late, or again after any end of the process.
//
// Read converter.go, then steps.go.
package converter

import (
	"context"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"lectern/shared/auth"
	"lectern/shared/bus"
	"lectern/shared/change"
	"lectern/shared/recording"
	"lectern/shared/table"
)

const (
	// Turn is the time after which a conversion goes behind the messages that wait, and then goes on.
	Turn = 5 * time.Minute
	// PartSize is the size of the parts of a converted file, four and a half minutes of sound.
	PartSize = 8 << 20
)

// Config has what a Worker works with.
type Config struct {
	Table      *table.Table
	Log        *slog.Logger
	Now        func() time.Time
	Recordings recording.Store
	// Work is the queue that the worker shares with dataworker. A conversion of more than Turn goes on with a
	// message of its own.
	Work bus.Queue
	Turn time.Duration
}

// Worker converts recordings. It is safe for concurrent use.
type Worker struct{ Config }

// Invoke does the conversions of messages, and returns the messages that failed.
func (w *Worker) Invoke(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	return bus.Handle(ctx, event, w.handle, w.failed), nil
}

func (w *Worker) failed(id string, err error) {
	w.Log.Error("a recording was not converted", "metric", "conversion_step_failed", "message_id", id, "error", err)
}

// handle converts the recording of a message.
func (w *Worker) handle(ctx context.Context, a bus.Arrival) error {
	m, err := bus.Published(a.Body)
	if err != nil {
		return err
	}
	record, err := change.Find(ctx, w.Table, m.Org, m.Change)
	if err != nil {
		return err
	}
	ctx = change.AsService(ctx)
	caller, err := auth.Service(ctx, w.Table, m.Org, m.Event, nil)
	if err != nil {
		return err
	}
	if record == nil || caller == nil {
		w.Log.WarnContext(ctx, "the change or the event of a conversion is gone", "org", m.Org, "event", m.Event, "recording", m.RecordID)
		return nil
	}
	return (&job{
		Worker: w, caller: caller, session: record.ParentID(), id: m.RecordID, message: a.Body, until: w.Now().Add(w.Turn),
	}).run(ctx)
}
