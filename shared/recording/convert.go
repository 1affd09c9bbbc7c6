package recording

import (
	"context"
	"time"

	"lectern/shared/auth"
	"lectern/shared/upload"
	"lectern/shared/wire"
)

// Conversion is the state of the conversion of a recording.
type Conversion string

// The states of a conversion that was ordered.
const (
	Ordered Conversion = "ordered"
	Done    Conversion = "done"
	Failed  Conversion = "failed"
)

// Converting reports whether the sound is to be converted.
func (r *Recording) Converting() bool { return r.Conversion == Ordered }

// Recording returns a recording as stored, also of a deleted session; 404 without it.
func (s Store) Recording(ctx context.Context, c *auth.Caller, session, id string) (*Recording, error) {
	return s.stored(c, session).Get(ctx, id)
}

// SetParts stores the upload of the converted parts, unless another upload than that of r was stored
// meanwhile, or the conversion has ended. It returns the stored recording.
func (s Store) SetParts(ctx context.Context, c *auth.Caller, r *Recording, upload string) (*Recording, error) {
	return s.stored(c, r.SessionID).Change(ctx, r.ID, beginning{r.Multipart, upload})
}

// Converted completes a recording whose bytes are converted, unless another upload than that of r was stored
// meanwhile. It returns the stored recording.
func (s Store) Converted(ctx context.Context, c *auth.Caller, r *Recording) (*Recording, error) {
	return s.stored(c, r.SessionID).Change(ctx, r.ID, converted{r.Multipart, wire.At(s.Now())})
}

// Fail ends a conversion for good. The recording is removed after the time that an upload has.
func (s Store) Fail(ctx context.Context, c *auth.Caller, r *Recording) error {
	_, err := s.stored(c, r.SessionID).Change(ctx, r.ID, failure{s.Now().Add(life)})
	return err
}

// stored returns the recordings of a session that may be deleted.
func (s Store) stored(c *auth.Caller, session string) upload.Collection[Recording, *Recording] {
	return Kind.Of(s.Store, c, session).Stored()
}

// beginning replaces the upload of the converted parts.
type beginning struct{ before, after string }

// Apply sets the upload (upload.Edit).
func (e beginning) Apply(r *Recording) (string, error) {
	if !r.Converting() || r.Multipart != e.before {
		return "", nil
	}
	r.Multipart = e.after
	return "converting", nil
}

// converted completes a recording.
type converted struct {
	upload string
	at     wire.Time
}

// Apply ends the conversion (upload.Edit).
func (e converted) Apply(r *Recording) (string, error) {
	if !r.Converting() || r.Multipart != e.upload {
		return "", nil
	}
	seconds := r.Source.ConvertedSeconds()
	r.Conversion, r.Multipart, r.Size = Done, "", r.Source.Size()
	r.Duration, r.CompletedAt = &seconds, &e.at
	return completed, nil
}

// failure ends a conversion for good.
type failure struct{ ends time.Time }

// Apply ends the conversion and the recording (upload.Edit). The upload of the parts stays named until the
// bytes are removed.
func (e failure) Apply(r *Recording) (string, error) {
	if !r.Converting() {
		return "", nil
	}
	ends := wire.At(e.ends)
	r.Conversion, r.Ends = Failed, &ends
	return "refused", nil
}
