package transcriber

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/blob"
	"lectern/shared/media"
	"lectern/shared/speech"
	"lectern/shared/transcript"
	"lectern/shared/wire"
)

// formats has the formats of Amazon Transcribe by the extensions of files. It reads no other files.
var formats = map[string]string{
	"mp4": "mp4", "m4v": "mp4", "webm": "webm", "mp3": "mp3", "m4a": "m4a", "wav": "wav", "flac": "flac", "ogg": "ogg",
}

// maxMedia is the size of the largest file that Amazon Transcribe takes.
const maxMedia = 2 << 30

// maxOutput is the size of the largest output that is read. Four hours of speech, the longest job, have
// some 15 MB.
const maxOutput = 64 << 20

// step does the next step of a media item: starts its job, or looks for the end of the job. An item that
// is gone, or has its fragments, keeps no output.
func (w *Worker) step(ctx context.Context, c *auth.Caller, at place) error {
	m, err := w.Media.Medium(ctx, c, at.Session, at.ID)
	if err != nil && !apierr.IsNotFound(err) {
		return err
	}
	if m == nil || m.Transcript == media.Ready {
		return w.forget(ctx, at)
	}
	if !m.Transcript.Open() {
		return nil
	}
	if m.Transcript == media.Queued {
		return w.start(ctx, c, at, m)
	}
	found, err := w.Jobs.Find(ctx, w.Prefix+at.ID)
	switch {
	case errors.Is(err, speech.ErrAbsent): // A transcriber forgets jobs after some months.
		return w.start(ctx, c, at, m)
	case err != nil:
		return err
	case found.State == speech.Done:
		return w.finish(ctx, c, at, m)
	case found.State == speech.Failed:
		return w.fail(ctx, c, m, errors.New(found.Reason))
	}
	return w.checkLater(ctx, at)
}

// start starts the job of a media item. A file of a format or a size that the transcriber does not take is
// failed; a busy transcriber is asked again later. After any other refusal, which a missing permission is too,
// the message is tried again and ends among the dead ones.
func (w *Worker) start(ctx context.Context, c *auth.Caller, at place, m *media.Medium) error {
	format := formats[m.Extension()]
	switch {
	case format == "":
		return w.fail(ctx, c, m, fmt.Errorf("files of the format %q are not taken", m.Extension()))
	case m.Size > maxMedia:
		return w.fail(ctx, c, m, fmt.Errorf("the file is longer than %d bytes", maxMedia))
	}
	address, bucket, err := w.Media.Blobs.Address(ctx, at.media())
	if err != nil {
		return err
	}
	err = w.Jobs.Start(ctx, speech.Job{Name: w.Prefix + at.ID, Media: address, Format: format, Bucket: bucket, Output: at.output()})
	switch {
	case errors.Is(err, speech.ErrBusy):
		w.Log.WarnContext(ctx, "a transcription waits", "media_item", m.ID, "error", err)
		return w.checkLater(ctx, at)
	case err != nil:
		return err
	}
	// The check comes first: an end between the two leaves a check, and not a job without one.
	if err := w.checkLater(ctx, at); err != nil {
		return err
	}
	_, err = w.Media.SetTranscript(ctx, c, m, media.Processing)
	return err
}

// finish stores the fragments of a job that is done, and then removes the output.
func (w *Worker) finish(ctx context.Context, c *auth.Caller, at place, m *media.Medium) error {
	fragments, err := w.read(ctx, at)
	if err == nil {
		err = w.Texts.Import(ctx, c, transcript.Import{Session: at.Session, Source: m.ID, Texts: w.drafts(fragments)})
	}
	switch {
	case errors.Is(err, errUnreadable): // The output ends by the life cycle of the bucket: a corrected release may read it.
		return w.fail(ctx, c, m, err)
	case refused(err):
		err = w.fail(ctx, c, m, err)
	case err == nil:
		err = w.ready(ctx, c, m, len(fragments))
	}
	if err != nil {
		return err
	}
	return w.forget(ctx, at)
}

// ready ends a transcription whose fragments are stored.
func (w *Worker) ready(ctx context.Context, c *auth.Caller, m *media.Medium, fragments int) error {
	if _, err := w.Media.SetTranscript(ctx, c, m, media.Ready); err != nil {
		return err
	}
	w.Log.InfoContext(ctx, "transcription", "org", c.Org.ID, "media_item", m.ID, "fragments", fragments)
	return nil
}

// errUnreadable reports an output without fragments that can be read.
var errUnreadable = errors.New("transcriber: the output cannot be read")

// read returns the fragments of the output of a job. A missing, too long or broken output is
// errUnreadable. An output that is there and cannot be read at the moment is another error.
func (w *Worker) read(ctx context.Context, at place) ([]speech.Fragment, error) {
	text, err := w.Media.Blobs.First(ctx, at.output(), maxOutput+1)
	switch {
	case errors.Is(err, blob.ErrAbsent): // To S3, a missing object and a missing permission are the same.
		if has, failed := w.Media.Blobs.Has(ctx, at.output()); has || failed != nil {
			return nil, errors.Join(err, failed)
		}
		return nil, fmt.Errorf("%w: %w", errUnreadable, err)
	case err != nil:
		return nil, err
	case len(text) > maxOutput:
		return nil, fmt.Errorf("%w: it is longer than %d bytes", errUnreadable, maxOutput)
	}
	fragments, err := speech.Cut(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	return fragments, nil
}

// drafts returns the fragments as transcriptions.
func (w *Worker) drafts(fragments []speech.Fragment) []*transcript.Draft {
	all := make([]*transcript.Draft, len(fragments))
	for i, f := range fragments {
		d := &transcript.Draft{
			Type: wire.Some(transcript.Fragment), Transcription: wire.Some(f.Text), Provider: wire.Some(w.Provider),
			StartTime: wire.Some(f.Start), EndTime: wire.Some(f.End),
		}
		if f.Speaker != "" {
			d.Speaker = wire.Some(f.Speaker)
		}
		if f.Language != "" {
			d.LanguageCode = wire.Some(f.Language)
		}
		all[i] = d
	}
	return all
}

// refused reports whether an error is for good: the session is purged, or a text or a limit is refused.
func refused(err error) bool {
	refusal := (*apierr.Error)(nil)
	return errors.As(err, &refusal) && slices.Contains([]int{http.StatusBadRequest, http.StatusNotFound}, refusal.Status)
}

// fail ends a transcription. It gives back the room of fragments that are not stored. Nothing has failed if
// another worker has meanwhile stored the fragments and removed the output.
func (w *Worker) fail(ctx context.Context, c *auth.Caller, m *media.Medium, reason error) error {
	err := w.Texts.Import(ctx, c, transcript.Import{Session: m.SessionID, Source: m.ID})
	if err != nil && !apierr.IsNotFound(err) {
		return err
	}
	ended, err := w.Media.SetTranscript(ctx, c, m, media.Failed)
	if err != nil && !apierr.IsNotFound(err) {
		return err
	}
	if ended == nil || ended.Transcript == media.Failed {
		w.Log.ErrorContext(ctx, "a transcription failed", "metric", "transcription_failed", "org", c.Org.ID, "event", c.Event.ID,
			"media_item", m.ID, "error", reason)
	}
	return nil
}

// forget removes the output of a job, if there is one.
func (w *Worker) forget(ctx context.Context, at place) error {
	return w.Media.Blobs.Delete(ctx, at.output())
}
