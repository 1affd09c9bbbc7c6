package recording

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/blob"
	"lectern/shared/page"
	"lectern/shared/sound"
	"lectern/shared/upload"
	"lectern/shared/wire"
)

// codeTranscode is the code of the 422 of sound that is not taken.
const codeTranscode = "TRANSCODE_ERROR"

// Store keeps the recordings of a region.
type Store struct{ upload.Store }

// Draft is the body that creates a recording.
type Draft struct {
	Name string `json:"filename" minLength:"1" maxLength:"255" pattern:"^[^\\x00-\\x1f\\x7f/\\\\]+$" patternDescription:"a name without slashes and control characters" doc:"The name of the file."`
	Size int64  `json:"size_bytes" minimum:"1" maximum:"5368709120" doc:"The size of the file in bytes, at most 5 GB."`
	Type string `json:"content_type,omitempty" maxLength:"100" pattern:"^[A-Za-z0-9.+-]+/[A-Za-z0-9.+-]+$" patternDescription:"a media type such as audio/wav" doc:"The type of the content, of audio; audio/wav without it."`
}

// Created is a recording with the request that sends its bytes.
type Created struct {
	Item
	Upload *Request `json:"upload,omitempty" doc:"The request that sends the bytes, for 15 minutes; absent once the recording is complete."`
}

// Request is the request that sends the bytes.
type Request struct {
	URL     string            `json:"url" doc:"The address. It needs no token."`
	Method  string            `json:"method" enum:"PUT" doc:"The method, always PUT."`
	Headers map[string]string `json:"headers" doc:"The headers to send with the bytes, beside Content-Length."`
}

// Create begins a recording; 400 for a type of no sound, 404 without the session.
func (s Store) Create(ctx context.Context, c *auth.Caller, session string, d Draft) (*Created, error) {
	all := Kind.Of(s.Store, c, session)
	r, err := all.Replayed(ctx)
	if r == nil && err == nil {
		if d.Type == "" {
			d.Type = "audio/wav"
		}
		if !strings.HasPrefix(strings.ToLower(d.Type), "audio/") {
			return nil, apierr.Invalid("content_type", "content_type must be a type of audio.")
		}
		r, err = all.Create(ctx, all.New(d.Name, d.Type, d.Size))
	}
	if err != nil {
		return nil, err
	}
	created := &Created{Item: *r.show()}
	if !r.Open(s.Now()) || r.Conversion == Failed {
		return created, nil
	}
	put, err := s.Blobs.Put(ctx, blob.Upload{Key: r.Object, Type: r.Type, Size: r.Size}, blob.MaxExpiry)
	if err != nil {
		return nil, err
	}
	created.Upload = &Request{put.URL, put.Method, put.Headers}
	return created, nil
}

// Completion is the body that completes a recording.
type Completion struct {
	Duration *float64 `json:"duration_seconds,omitempty" minimum:"0" maximum:"10000000" doc:"The length that the client has measured. The answer has the length of the sound itself."`
	Size     *int64   `json:"file_size_bytes,omitempty" minimum:"1" maximum:"5368709120" doc:"The size that the client has sent; another size than that of the bytes is a 400."`
}

// Complete keeps the bytes of a recording, and orders a conversion of other sound than that of recordings. A
// completed recording, and one that is converted at the moment, stays as it is; a conversion without any step
// for a day is ordered again. It returns a 404 without the session or the recording, a 400 without the bytes
// or for another size, and a 422 for sound that is not converted and after a failed conversion.
func (s Store) Complete(ctx context.Context, c *auth.Caller, session, id string, in Completion) (*Item, error) {
	all := Kind.Of(s.Store, c, session)
	r, err := s.find(ctx, all, id)
	if err != nil {
		return nil, err
	}
	if r.Converting() && s.Now().Sub(r.UpdatedAt.Time) > lost {
		if r, err = all.Change(ctx, id, again{}); err != nil {
			return nil, err
		}
	}
	if r.Stored() {
		return r.show(), nil
	}
	if r.Conversion == Failed {
		return nil, apierr.Unprocessable(codeTranscode, "The file is damaged and was not converted. Create another recording.")
	}
	if in.Size != nil && *in.Size != r.Size {
		return nil, apierr.Invalid("file_size_bytes", "file_size_bytes must be %d, as declared.", r.Size)
	}
	found, err := s.inspect(ctx, r)
	if err != nil {
		return nil, err
	}
	if r, err = all.Change(ctx, id, completion{found, wire.At(s.Now())}); err != nil {
		return nil, err
	}
	return r.show(), nil
}

// lost is the time after which the message of a conversion counts as lost, if nothing has happened.
const lost = 24 * time.Hour

// again orders a conversion again.
type again struct{}

// Apply publishes the order once more (upload.Edit).
func (again) Apply(r *Recording) (string, error) {
	if !r.Converting() {
		return "", nil
	}
	r.Published++
	return "received", nil
}

// maxSize is the size of the largest recording, before and after a conversion.
const maxSize = 5 << 30

// inspect returns the format of the sound; a 422 for sound that is not converted. The bucket has refused every
// other size than the declared one.
func (s Store) inspect(ctx context.Context, r *Recording) (sound.Format, error) {
	head, err := s.Blobs.First(ctx, r.Object, sound.HeaderBytes)
	if errors.Is(err, blob.ErrAbsent) {
		return sound.Format{}, apierr.Invalid("", "The bytes of the recording are missing. Send these first.")
	}
	if err != nil {
		return sound.Format{}, err
	}
	f, ok := sound.Parse(head, r.Size)
	switch {
	case ok && f.Taken():
	case !ok || !f.Convertible():
		return f, apierr.Unprocessable(codeTranscode, "The recording must be a whole WAV file: 8, 16, 24 or 32 bits, "+
			"floating-point numbers of 32 or 64 bits, A-law or µ-law, up to 16 channels, and a usual rate from 8 to 192 kHz.")
	case f.Size() > maxSize:
		return f, apierr.Unprocessable(codeTranscode, fmt.Sprintf(
			"The sound is too long: it has %d bytes after the conversion, and at most %d are kept.", f.Size(), maxSize))
	}
	return f, nil
}

// completion keeps the bytes of a recording, or orders the conversion.
type completion struct {
	found sound.Format
	at    wire.Time
}

// Apply ends the upload (upload.Edit).
func (e completion) Apply(r *Recording) (string, error) {
	if r.Stored() {
		return "", nil
	}
	r.Ends = nil
	if !e.found.Taken() {
		r.Conversion, r.Source, r.Published = Ordered, &e.found, r.Published+1
		return "received", nil
	}
	seconds := e.found.Seconds()
	r.Duration, r.CompletedAt = &seconds, &e.at
	return completed, nil
}

// find returns a recording that is complete or open; 404 without the session or the recording.
func (s Store) find(ctx context.Context, all upload.Collection[Recording, *Recording], id string) (*Recording, error) {
	r, err := all.Get(ctx, id)
	if err == nil && !s.visible(r) {
		err = Kind.NotFound()
	}
	return r, err
}

// visible reports whether a recording is complete, or may still be completed.
func (s Store) visible(r *Recording) bool { return r.Stored() || r.Open(s.Now()) }

// Get returns a recording; 404 without the session or the recording.
func (s Store) Get(ctx context.Context, c *auth.Caller, session, id string) (*Item, error) {
	r, err := s.find(ctx, Kind.Of(s.Store, c, session), id)
	if err != nil {
		return nil, err
	}
	return r.show(), nil
}

// List returns a page of the recordings in the order of their creation; 404 without the session.
func (s Store) List(ctx context.Context, c *auth.Caller, session string, q page.Query) (*page.List[*Item], error) {
	all, err := Kind.Of(s.Store, c, session).List(ctx)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(r *Recording) bool { return !s.visible(r) })
	var shown []*Item
	for _, r := range page.Cut(q, all) {
		shown = append(shown, r.show())
	}
	return page.NewList(q, len(all), shown), nil
}
