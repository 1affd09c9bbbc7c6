// Package slides keeps the holding slides of sessions up to date (decision 45). Whatever a message says has
// changed, the worker looks at the present state of each session that the change may touch, and draws the slide
// if it does not show that state. So messages may come twice, late, in another order, or again after any end
// of the process, and the worker's own changes lead to no drawing.
//
// Read slides.go for messages, visit.go for a session, scan.go for the sessions of an event.
package slides

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"

	"github.com/aws/aws-lambda-go/events"

	"lectern/shared/bus"
	"lectern/shared/change"
	"lectern/shared/person"
	"lectern/shared/sessionfile"
	"lectern/shared/slide"
	"lectern/shared/slide/drawing"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Config has what a Worker works with.
type Config struct {
	Table  *table.Table
	Log    *slog.Logger
	Slides *slide.Store
	Files  *sessionfile.Store
	// Queue is the worker's own queue: for the sessions of a change of many, and for the next part of a scan.
	Queue bus.Queue
	// Part is about the number of sessions of a message of a scan.
	Part int
}

// Worker draws holding slides. It is safe for concurrent use.
type Worker struct {
	Config
	// drawing lets one slide be drawn at a time: a drawing takes tens of megabytes, and a new background up to a hundred.
	drawing sync.Mutex
	// shown are the pictures of the last event, by their sums.
	shown    *drawing.Pictures
	shownFor [2]string
}

// New returns a Worker.
func New(c Config) *Worker { return &Worker{Config: c} }

// place names a session.
type place struct {
	Org     int64  `json:"org"`
	Event   int64  `json:"event"`
	Session string `json:"session"`
	// Bytes also looks whether the bucket has lost the bytes of the slide, for example since a restore of the table.
	Bytes bool `json:"bytes,omitempty"`
}

// task is a message of the queue: an event of the bus, a session to look at, or a part of a scan.
type task struct {
	Visit *place `json:"visit,omitempty"`
	Scan  *scan  `json:"scan,omitempty"`
}

// Invoke does the messages of the queue, and returns the messages that failed.
func (w *Worker) Invoke(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	return bus.Handle(ctx, event, w.handle, w.failed), nil
}

func (w *Worker) failed(id string, err error) {
	w.Log.Error("a holding slide was not drawn", "metric", "slide_failed", "message_id", id, "error", err)
}

// handle does a message. A message that comes again may follow a call that has left former bytes.
func (w *Worker) handle(ctx context.Context, a bus.Arrival) error {
	ctx = change.AsService(ctx)
	var t task
	if err := json.Unmarshal(a.Body, &t); err != nil {
		return fmt.Errorf("%w: slides: decode a task: %w", bus.ErrPermanent, err)
	}
	switch {
	case t.Visit != nil:
		return w.visit(ctx, *t.Visit, a.Receives > 1)
	case t.Scan != nil:
		return w.scan(ctx, *t.Scan)
	}
	m, err := bus.Published(a.Body)
	if err != nil {
		return err
	}
	switch m.Type {
	case "session":
		return w.visit(ctx, place{Org: m.Org, Event: m.Event, Session: m.RecordID}, a.Receives > 1)
	case "contact":
		return w.visitOf(ctx, m)
	}
	return w.scan(ctx, scan{Org: m.Org, Event: m.Event, Room: roomOf(m), Bytes: m.Type == slide.Type})
}

// visitOf sends the sessions of a contact on all events to the worker's own queue: a name is that of all events.
func (w *Worker) visitOf(ctx context.Context, m bus.Message) error {
	items, err := person.Anywhere(ctx, w.Table, m.Org, m.RecordID)
	if err != nil {
		return err
	}
	var all []place
	known := map[int64]bool{}
	for _, item := range items {
		on, asked := known[item.Event]
		if !asked {
			config, err := w.Slides.Config(ctx, m.Org, item.Event)
			if err != nil {
				return err
			}
			on = config.Known()
			known[item.Event] = on
		}
		if on {
			all = append(all, place{Org: m.Org, Event: item.Event, Session: item.Session})
		}
	}
	return w.send(ctx, all)
}

// send sends sessions to the worker's own queue.
func (w *Worker) send(ctx context.Context, all []place) error {
	posts := make([]bus.Post, len(all))
	for i := range all {
		body, err := wire.Encode(task{Visit: &all[i]})
		if err != nil {
			return fmt.Errorf("slides: encode a task: %w", err)
		}
		posts[i] = bus.Post{Body: body, Group: fmt.Sprint(all[i].Org)}
	}
	if len(posts) == 0 {
		return nil
	}
	return w.Queue.Send(ctx, posts...)
}
