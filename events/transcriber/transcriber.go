// Package transcriber turns the media of sessions into transcriptions (decision 44). A message of the
// queue of media names a media item: a completed upload, a job that has ended, or a check of a job whose
// end was perhaps not told. Each message does the next step of the item, whatever steps were done, so
// messages may come twice, late, in another order, or again after any end of the process.
//
// Read transcriber.go, then steps.go.
package transcriber

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"lectern/shared/auth"
	"lectern/shared/bus"
	"lectern/shared/change"
	"lectern/shared/media"
	"lectern/shared/speech"
	"lectern/shared/table"
	"lectern/shared/transcript"
	"lectern/shared/upload"
	"lectern/shared/wire"
)

// Later is the time until a check of a job. The end of a job is told by an event, which may be lost.
const Later = bus.MaxDelay

// Config has what a Worker works with.
type Config struct {
	Table *table.Table
	Log   *slog.Logger
	Media media.Store
	// Texts stores the fragments, Provider names their source.
	Texts    *transcript.Store
	Provider string
	// Jobs does the transcriptions, and Prefix begins the names of the region's jobs.
	Jobs   speech.Transcriber
	Prefix string
	// Queue is the worker's own queue, for checks after Later.
	Queue bus.Queue
	Later time.Duration
}

// Worker transcribes media. It is safe for concurrent use.
type Worker struct{ Config }

// place names a media item.
type place struct {
	Org     int64  `json:"org"`
	Event   int64  `json:"event"`
	Session string `json:"session"`
	ID      string `json:"id"`
}

// message is a message of the queue of media: an event of the service or of AWS, or a check.
type message struct {
	Source string          `json:"source"`
	Detail json.RawMessage `json:"detail"`
	Check  *place          `json:"check,omitempty"`
}

// Invoke does the steps of messages of the queue of media, and returns the messages that failed.
func (w *Worker) Invoke(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	return bus.Handle(ctx, event, w.handle, w.failed), nil
}

func (w *Worker) failed(id string, err error) {
	w.Log.Error("a step of a transcription was not done", "metric", "transcription_step_failed", "message_id", id, "error", err)
}

// handle does the next step of the media item of a message.
func (w *Worker) handle(ctx context.Context, a bus.Arrival) error {
	at, err := w.placeOf(ctx, a.Body)
	if at == nil || err != nil {
		return err
	}
	ctx = change.AsService(ctx)
	caller, err := auth.Service(ctx, w.Table, at.Org, at.Event, nil)
	if err != nil {
		return err
	}
	if caller == nil {
		return w.forget(ctx, *at)
	}
	return w.step(ctx, caller, *at)
}

// placeOf returns the media item of a message; nil for a message that concerns no item of the region.
func (w *Worker) placeOf(ctx context.Context, body []byte) (*place, error) {
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, fmt.Errorf("%w: transcriber: decode a message: %w", bus.ErrPermanent, err)
	}
	switch {
	case m.Check != nil:
		return m.Check, nil
	case m.Source == speech.Source:
		return w.ofJob(ctx, m.Detail)
	}
	published, err := bus.Published(body)
	if err != nil {
		return nil, err
	}
	record, err := change.Find(ctx, w.Table, published.Org, published.Change)
	if record == nil || err != nil {
		return nil, err
	}
	return &place{published.Org, published.Event, record.ParentID(), published.RecordID}, nil
}

// ofJob returns the media item of a job that has ended; nil for a job of another application. The
// address of the media names the item.
func (w *Worker) ofJob(ctx context.Context, detail []byte) (*place, error) {
	var job struct{ TranscriptionJobName string }
	if err := json.Unmarshal(detail, &job); err != nil {
		return nil, fmt.Errorf("%w: transcriber: decode a job: %w", bus.ErrPermanent, err)
	}
	id, ours := strings.CutPrefix(job.TranscriptionJobName, w.Prefix)
	if !ours {
		return nil, nil
	}
	found, err := w.Jobs.Find(ctx, job.TranscriptionJobName)
	if errors.Is(err, speech.ErrAbsent) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	at, err := w.ofAddress(ctx, found.Media)
	if at != nil && at.ID != id {
		at = nil
	}
	return at, err
}

// ofAddress returns the media item of an address in the bucket; nil for any other address.
func (w *Worker) ofAddress(ctx context.Context, address string) (*place, error) {
	root, _, err := w.Media.Blobs.Address(ctx, "")
	if err != nil {
		return nil, err
	}
	key, _ := strings.CutPrefix(address, root)
	p, session, id, ok := upload.Parse(media.Folder, key)
	if !ok {
		return nil, nil
	}
	return &place{p.Org, p.Event, session, id}, nil
}

// output returns the key of the output of a media item's job.
func (p place) output() string {
	return upload.At(p.Org, p.Event).Object(speech.Folder, p.Session, p.ID) + ".json"
}

// media returns the key of the bytes of a media item.
func (p place) media() string { return upload.At(p.Org, p.Event).Object(media.Folder, p.Session, p.ID) }

// checkLater sends a check of a media item to the worker's own queue.
func (w *Worker) checkLater(ctx context.Context, at place) error {
	body, err := wire.Encode(message{Check: &at})
	if err != nil {
		return fmt.Errorf("transcriber: encode a check: %w", err)
	}
	return w.Queue.Send(ctx, bus.Post{Body: body, Delay: w.Later})
}
