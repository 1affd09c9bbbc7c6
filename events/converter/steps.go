package converter

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/blob"
	"lectern/shared/bus"
	"lectern/shared/recording"
	"lectern/shared/sound"
	"lectern/shared/table"
)

// rounds are the tries of a job whose upload of parts is ended by another worker or by a removal.
var rounds = table.Retry{Tries: 8, First: 20 * time.Millisecond, Max: time.Second}

var (
	// errOvertaken reports that the upload of the parts has ended: another worker has joined the parts, or the
	// upload was aborted.
	errOvertaken = errors.New("converter: the upload of the converted parts has ended")
	// errLater reports that the conversion goes on with another message.
	errLater = errors.New("converter: the conversion goes on later")
)

// job is the conversion of a recording by one message. The object of a recording is replaced by nothing but
// an upload of parts that the record names. Before the replacement, a worker looks whether the object is
// still the original: then all parts were made of the original. A worker that is slow may make wrong parts of
// a replaced object, and no worker joins such parts, since the object stays replaced.
type job struct {
	*Worker
	caller      *auth.Caller
	session, id string
	message     []byte
	// until is the time after which no further part begins.
	until time.Time
	// of is the recording as read last.
	of *recording.Recording
}

// run converts the recording, unless it is gone or the conversion has ended.
func (j *job) run(ctx context.Context) error {
	for _, err := range rounds.Each(ctx) {
		if err != nil {
			return err
		}
		if j.of, err = j.Recordings.Recording(ctx, j.caller, j.session, j.id); apierr.IsNotFound(err) {
			return nil
		}
		if err != nil || !j.of.Converting() {
			return err
		}
		if err = j.convert(ctx); errors.Is(err, sound.ErrDamaged) {
			err = j.fail(ctx, err)
		}
		if errors.Is(err, errLater) {
			return j.Work.Send(ctx, bus.Post{Body: j.message})
		}
		if !errors.Is(err, errOvertaken) && !apierr.IsNotFound(err) {
			return err
		}
	}
	return errOvertaken
}

// convert does the conversion from where earlier workers have left it.
func (j *job) convert(ctx context.Context) error {
	done, err := j.isConverted(ctx)
	if err != nil {
		return err
	}
	if !done {
		if err := j.make(ctx); err != nil {
			return err
		}
	}
	return j.complete(ctx)
}

// complete completes the recording of a converted object. A completed recording has no upload of parts, and one
// version of its bytes.
func (j *job) complete(ctx context.Context) error {
	if err := j.abort(ctx); err != nil {
		return err
	}
	if err := j.Recordings.Blobs.DeleteEarlier(ctx, j.of.Object); err != nil {
		return err
	}
	stored, err := j.Recordings.Converted(ctx, j.caller, j.of)
	if err != nil {
		return err
	}
	if stored.Converting() {
		return errOvertaken
	}
	j.Log.InfoContext(ctx, "conversion", "org", j.caller.Org.ID, "recording", j.id, "bytes", j.of.Size, "converted_bytes", j.of.Source.Size())
	return nil
}

// isConverted reports whether the object is the converted file. Missing bytes are sound.ErrDamaged.
func (j *job) isConverted(ctx context.Context) (bool, error) {
	header := j.of.Source.Header()
	first, err := j.bytes(ctx, 0, int64(len(header)))
	if errors.Is(err, blob.ErrAbsent) { // To S3, a missing object and a missing permission are the same.
		if has, failed := j.Recordings.Blobs.Has(ctx, j.of.Object); has || failed != nil {
			return false, errors.Join(err, failed)
		}
		return false, fmt.Errorf("%w: %w", sound.ErrDamaged, err)
	}
	return bytes.Equal(first, header), err
}

// make makes the converted file and replaces the object.
func (j *job) make(ctx context.Context) error {
	sent, err := j.parts(ctx)
	if err != nil {
		return err
	}
	if err := j.send(ctx, sent); err != nil {
		return err
	}
	if done, err := j.isConverted(ctx); done || err != nil {
		return err
	}
	if sent, err = j.Recordings.Blobs.Parts(ctx, j.upload()); err != nil {
		return overtaken(err)
	}
	if !j.isWhole(sent) { // Begin again with the parts that are missing.
		return errOvertaken
	}
	return overtaken(j.Recordings.Blobs.Replace(ctx, j.upload(), sent))
}

// isWhole reports whether parts are those of the converted file, in order and of their sizes.
func (j *job) isWhole(sent []blob.Part) bool {
	left := j.of.Source.Size()
	for i, p := range sent {
		if p.Number != int32(i+1) || p.Size != min(PartSize, left) {
			return false
		}
		left -= p.Size
	}
	return left == 0
}

// upload returns the upload of the converted parts.
func (j *job) upload() blob.Multipart { return blob.Multipart{Key: j.of.Object, ID: j.of.Multipart} }

// abort ends the upload of the converted parts, if there is one.
func (j *job) abort(ctx context.Context) error {
	if j.of.Multipart == "" {
		return nil
	}
	return j.Recordings.Blobs.Abort(ctx, j.upload())
}

// overtaken returns errOvertaken for an upload that has ended, and every other error.
func overtaken(err error) error {
	if errors.Is(err, blob.ErrAbsent) {
		return fmt.Errorf("%w: %w", errOvertaken, err)
	}
	return err
}

// parts returns the stored parts of the upload. A missing upload is begun. One that has ended is replaced,
// unless it has made the converted file: the bucket ends an upload after seven days.
func (j *job) parts(ctx context.Context) ([]blob.Part, error) {
	if j.of.Multipart != "" {
		sent, err := j.Recordings.Blobs.Parts(ctx, j.upload())
		if !errors.Is(err, blob.ErrAbsent) {
			return sent, err
		}
		if err := j.clear(ctx); err != nil {
			return nil, err
		}
	}
	begun, err := j.Recordings.Blobs.Begin(ctx, j.of.Object, "audio/wav")
	if err != nil {
		return nil, err
	}
	stored, err := j.Recordings.SetParts(ctx, j.caller, j.of, begun.ID)
	if err == nil && stored.Multipart == begun.ID && stored.Converting() {
		j.of = stored
		return nil, nil
	}
	if err == nil {
		err = errOvertaken
	}
	if errors.Is(err, errOvertaken) || apierr.IsNotFound(err) {
		return nil, errors.Join(err, j.Recordings.Blobs.Abort(ctx, begun))
	}
	return nil, err // The upload may be stored. Otherwise the bucket ends it.
}

// clear ends an upload that is not found, since a refusal may look like an absence. An upload that has made the
// converted file is errOvertaken.
func (j *job) clear(ctx context.Context) error {
	if done, err := j.isConverted(ctx); done || err != nil {
		return errors.Join(errOvertaken, err)
	}
	return j.abort(ctx)
}

// send sends the parts that are missing. Every worker makes the same parts.
func (j *job) send(ctx context.Context, sent []blob.Part) error {
	has := map[int32]int64{}
	for _, p := range sent {
		has[p.Number] = p.Size
	}
	conversion, size, more := j.of.Source.Convert(j.read), j.of.Source.Size(), false
	for number, from := int32(1), int64(0); from < size; number, from = number+1, from+PartSize {
		if has[number] == min(PartSize, size-from) {
			continue
		}
		if more && j.Now().After(j.until) {
			return errLater
		}
		piece, err := conversion.Piece(ctx, from, PartSize)
		if err == nil {
			_, err = j.Recordings.Blobs.Send(ctx, j.upload(), number, piece)
			err = overtaken(err)
		}
		if err != nil {
			return err
		}
		more = true
	}
	return nil
}

// read reads the original bytes (sound.Source).
func (j *job) read(ctx context.Context, from, n int64) ([]byte, error) {
	raw, err := j.bytes(ctx, from, n)
	return raw, overtaken(err)
}

// bytes reads bytes of the object. It reads again after an answer that breaks off: a message that fails waits
// 90 minutes for its next try.
func (j *job) bytes(ctx context.Context, from, n int64) (raw []byte, err error) {
	err = blob.Again(ctx, func() error {
		raw, err = j.Recordings.Blobs.Read(ctx, j.of.Object, from, n)
		return err
	})
	return raw, err
}

// fail ends the conversion of a damaged file. It returns errOvertaken if the sound was read from the
// converted file. The record names the upload of the parts until maintenance removes both.
func (j *job) fail(ctx context.Context, reason error) error {
	switch done, err := j.isConverted(ctx); {
	case done:
		return errOvertaken
	case err != nil && !errors.Is(err, sound.ErrDamaged):
		return err
	}
	if err := j.Recordings.Fail(ctx, j.caller, j.of); err != nil && !apierr.IsNotFound(err) {
		return err
	}
	j.Log.ErrorContext(ctx, "a conversion failed", "metric", "conversion_refused", "org", j.caller.Org.ID, "event", j.caller.Event.ID,
		"recording", j.id, "error", reason)
	return j.abort(ctx)
}
