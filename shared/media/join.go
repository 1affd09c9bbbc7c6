package media

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/blob"
	"lectern/shared/scan"
	"lectern/shared/table"
	"lectern/shared/upload"
	"lectern/shared/wire"
)

// Completion is the body that completes an upload.
type Completion struct {
	Target
	File
	Parts    []Part   `json:"parts" minItems:"1" maxItems:"10000" nullable:"false" doc:"All parts, in the order of their numbers."`
	Duration *float64 `json:"duration_seconds,omitempty" minimum:"0" maximum:"10000000" doc:"The length in seconds."`
}

// Part names a part that the client has sent.
type Part struct {
	Number int32  `json:"part_number" minimum:"1" maximum:"10000" doc:"The number of the part."`
	ETag   string `json:"etag" minLength:"1" maxLength:"100" doc:"The ETag of the answer to the part, with or without quotes."`
}

// Complete joins the parts of an upload into a media item, after a scan of the bytes. A completed
// upload stays as it is. It returns a 404 for an upload that is not open, a 400 for malware, for another
// format of file, and for parts that are not those of the upload or have another size together, and a
// 503 without a verdict and after upload.CompletionTime.
func (s Store) Complete(ctx context.Context, c *auth.Caller, session string, in Completion) (*Item, error) {
	return upload.Complete(ctx, func(ctx context.Context) (*Item, error) { return s.complete(ctx, c, session, in) })
}

// complete does Complete without its limit.
func (s Store) complete(ctx context.Context, c *auth.Caller, session string, in Completion) (*Item, error) {
	if _, err := formatOf(in.Name); err != nil {
		return nil, err
	}
	m, err := s.find(ctx, c, session, in.Target)
	if err != nil {
		return nil, err
	}
	if m.Stored() {
		return m.show(c), nil
	}
	if !m.Open(s.Now()) {
		return nil, Kind.NotFound()
	}
	if in.Size != m.Size {
		return nil, apierr.Invalid("size_bytes", "size_bytes must be %d, as for initiate.", m.Size)
	}
	if err := m.keepsFormat(in.Name); err != nil {
		return nil, err
	}
	if err = s.join(ctx, m, in.Parts); errors.Is(err, errApart) {
		return s.outcome(ctx, c, m)
	}
	if err != nil {
		return nil, err
	}
	return s.keep(ctx, c, m, in)
}

// keep scans the joined bytes of an upload and completes the upload. Malware ends the upload with a 400 and
// removes the bytes. Without a verdict, the upload stays as it is.
func (s Store) keep(ctx context.Context, c *auth.Caller, m *Medium, in Completion) (*Item, error) {
	verdict, refusal := s.Scan(ctx, c, &m.Upload)
	if verdict == scan.Unread { // A film is no archive, and has no program.
		verdict, refusal = scan.NotScanned, nil
	}
	if refusal != nil && verdict != scan.Infected {
		return nil, refusal
	}
	m, err := Kind.Of(s.Store, c, m.SessionID).Change(ctx, m.ID, completion{in, verdict, s.Transcribes, wire.At(s.Now())})
	if err != nil {
		return nil, err
	}
	if !m.Stored() {
		_ = s.Blobs.Delete(ctx, m.Object) // After a failure, maintenance removes the bytes.
	}
	if refusal != nil { // A process without a scanner may have completed the upload.
		return nil, refusal
	}
	return m.show(c), nil
}

// completion keeps the bytes of an upload, and may order the transcription; or ends the upload for malware.
type completion struct {
	in      Completion
	verdict scan.Verdict
	order   bool
	now     wire.Time
}

// Apply ends the upload (upload.Edit).
func (e completion) Apply(m *Medium) (string, error) {
	switch {
	case m.Stored():
		return "", nil
	case m.Aborted:
		return "", Kind.NotFound()
	}
	if e.verdict == scan.Infected {
		m.Aborted, m.Ends = true, &e.now // Maintenance soon removes bytes that cannot be removed now.
		return "refused", nil
	}
	m.Ends, m.Name, m.Duration, m.Scan = nil, e.in.Name, e.in.Duration, e.verdict
	if e.order {
		m.Transcript, m.Published = Queued, m.Published+1
	}
	return "completed", nil
}

// join makes the object out of the parts. An earlier request may have joined the parts, or joins them
// at the moment.
func (s Store) join(ctx context.Context, m *Medium, parts []Part) error {
	chosen, err := s.chosen(ctx, m, parts)
	if refused := (*apierr.Error)(nil); errors.As(err, &refused) {
		chosen, err = s.chosen(ctx, m, parts) // The first list may lack parts that were just joined.
	}
	if errors.Is(err, blob.ErrAbsent) {
		return s.joined(ctx, m)
	}
	if err != nil {
		return err
	}
	err = s.Blobs.Complete(ctx, m.parts(), chosen)
	if errors.Is(err, blob.ErrAbsent) || errors.Is(err, blob.ErrRefused) {
		return s.joined(ctx, m)
	}
	return err
}

// chosen returns the stored parts that the client names; a 400 as choose.
func (s Store) chosen(ctx context.Context, m *Medium, parts []Part) ([]blob.Part, error) {
	stored, err := s.Blobs.Parts(ctx, m.parts())
	if err != nil {
		return nil, err
	}
	return choose(parts, stored, m.Size)
}

// errApart reports that neither the parts nor the object are there.
var errApart = fmt.Errorf("%w: an upload has neither parts nor an object", blob.ErrBusy)

// outcome returns what another request has made of an upload whose parts are gone: the item, or the 404 of
// an aborted upload. Otherwise it returns a 503.
func (s Store) outcome(ctx context.Context, c *auth.Caller, m *Medium) (*Item, error) {
	now, err := Kind.Of(s.Store, c, m.SessionID).Get(ctx, m.ID)
	switch {
	case err != nil:
		return nil, err
	case now.Stored():
		return now.show(c), nil
	case now.Aborted:
		return nil, Kind.NotFound()
	}
	return nil, errApart
}

// looks are the tries to find an object that another request may be joining.
var looks = table.Retry{Tries: 8, First: 20 * time.Millisecond, Max: 500 * time.Millisecond}

// joined returns nil once the object is there, and errApart if it does not come.
func (s Store) joined(ctx context.Context, m *Medium) error {
	for _, err := range looks.Each(ctx) {
		if err == nil {
			_, err = s.Blobs.Head(ctx, m.Object)
		}
		if !errors.Is(err, blob.ErrAbsent) {
			return err
		}
	}
	return errApart
}

// choose returns the stored parts that the client names. It returns a 400 for a list that is not in
// order, names a part that is not stored, or has a size that S3 does not join or the client did not
// declare.
func choose(parts []Part, stored []blob.Part, size int64) ([]blob.Part, error) {
	by := map[int32]blob.Part{}
	for _, p := range stored {
		by[p.Number] = p
	}
	var chosen []blob.Part
	sum := int64(0)
	for i, p := range parts {
		at, found := fmt.Sprintf("parts[%d]", i), by[p.Number]
		switch {
		case i > 0 && p.Number <= parts[i-1].Number:
			return nil, apierr.Invalid(at+".part_number", "The parts must be in the order of their numbers, each once.")
		case found.Number == 0:
			return nil, apierr.Invalid(at+".part_number", "There is no part %d.", p.Number)
		case strings.Trim(p.ETag, `"`) != strings.Trim(found.ETag, `"`):
			return nil, apierr.Invalid(at+".etag", "The part %d has another ETag.", p.Number)
		case found.Size < blob.MinPart && i < len(parts)-1:
			return nil, apierr.Invalid(at, "The part %d has less than 5 MiB and is not the last.", p.Number)
		}
		sum += found.Size
		chosen = append(chosen, found)
	}
	if sum != size {
		return nil, apierr.Invalid("parts", "The parts have %d bytes together, and the file %d.", sum, size)
	}
	return chosen, nil
}
