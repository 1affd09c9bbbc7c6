package media

import (
	"context"
	"errors"

	"github.com/danielgtaylor/huma/v2"

	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/blob"
	"lectern/shared/table"
	"lectern/shared/upload"
	"lectern/shared/wire"
)

// codeCompleted is the code of the 409 of an upload that cannot be aborted.
const codeCompleted = "UPLOAD_COMPLETED"

// Store keeps the media of a region.
type Store struct {
	upload.Store
	// Transcribes reports whether the region has a transcriber. Completing a media item orders its
	// transcription then.
	Transcribes bool
}

// NewStore returns the store of a group or a worker.
func NewStore(env api.Env) Store { return Store{upload.NewStore(env), env.Transcriber != ""} }

// File describes a file to be sent.
type File struct {
	Name string `json:"filename" minLength:"1" maxLength:"255" pattern:"^[^\\x00-\\x1f\\x7f/\\\\]+$" patternDescription:"a name without slashes and control characters" doc:"The name of the file. Its extension says what the file is."`
	Size int64  `json:"size_bytes" minimum:"1" maximum:"53687091200" doc:"The size of the file in bytes, at most 50 GB."`
}

// Initiation is the body that begins an upload.
type Initiation struct {
	File
	Type string `json:"content_type,omitempty" maxLength:"100" pattern:"^[A-Za-z0-9.+-]+/[A-Za-z0-9.+-]+$" patternDescription:"a media type such as video/mp4" doc:"The type of the content, of audio or video. Without it, the extension of the name gives the type."`
}

// Target names an upload.
type Target struct {
	Key      string `json:"key" minLength:"1" maxLength:"1024" doc:"The key that initiate has given."`
	UploadID string `json:"upload_id" minLength:"1" maxLength:"1024" doc:"The upload_id that initiate has given."`
}

// Opened is an upload that a client may send.
type Opened struct {
	Target
	PartSize  int64     `json:"part_size" doc:"The advised size of a part. All parts but the last must have at least 5 MiB."`
	PartCount int64     `json:"part_count" doc:"The number of parts of that size."`
	ExpiresAt wire.Time `json:"expires_at" doc:"When the upload ends. What was not completed is removed within the day after."`
}

// PartNumber is the number of a part in a list.
type PartNumber int32

// Schema bounds the number as S3 does.
func (PartNumber) Schema(huma.Registry) *huma.Schema {
	least, most := 1.0, float64(blob.MaxParts)
	return &huma.Schema{Type: huma.TypeInteger, Minimum: &least, Maximum: &most}
}

// Numbers selects the parts to sign.
type Numbers struct {
	Target
	Numbers []PartNumber `json:"part_numbers" minItems:"1" maxItems:"1000" uniqueItems:"true" nullable:"false" doc:"The numbers of the parts, each from 1 to 10,000."`
}

// Signed is the request that sends a part.
type Signed struct {
	Number  int32             `json:"part_number" doc:"The number of the part."`
	URL     string            `json:"url" doc:"The address, for 15 minutes. It needs no token."`
	Method  string            `json:"method" enum:"PUT" doc:"The method, always PUT."`
	Headers map[string]string `json:"headers" doc:"The headers to send with the bytes. The answer has an ETag, which complete needs."`
}

// Initiate begins an upload; 400 for a file that is not accepted, 404 without the session.
func (s Store) Initiate(ctx context.Context, c *auth.Caller, session string, in Initiation) (*Opened, error) {
	all := Kind.Of(s.Store, c, session)
	if m, err := all.Replayed(ctx); m != nil || err != nil {
		return m.opened(), err
	}
	f, err := formatOf(in.Name)
	if err != nil {
		return nil, err
	}
	contentType, err := f.check(in.Type)
	if err != nil {
		return nil, err
	}
	if err := all.Session(ctx); err != nil {
		return nil, err
	}
	m := all.New(in.Name, contentType, in.Size)
	begun, err := s.Blobs.Begin(ctx, m.Object, contentType)
	if err != nil {
		return nil, err
	}
	m.Multipart = begun.ID
	if m, err = all.Create(ctx, m); err != nil {
		if !errors.Is(err, table.ErrInDoubt) { // The record may be stored, and a repeated request shows it.
			_ = s.Blobs.Abort(ctx, begun) // Otherwise the bucket ends the upload after seven days.
		}
		return nil, err
	}
	return m.opened(), nil
}

// opened returns the upload as the client needs it; nil for nil.
func (m *Medium) opened() *Opened {
	if m == nil {
		return nil
	}
	o := &Opened{Target: Target{m.Object, m.Multipart}, PartSize: PartSize, PartCount: (m.Size + PartSize - 1) / PartSize}
	if m.Ends != nil {
		o.ExpiresAt = *m.Ends
	} else {
		o.ExpiresAt = m.UpdatedAt // A completed upload has ended.
	}
	return o
}

// parts returns the upload as the bucket knows it.
func (m *Medium) parts() blob.Multipart { return blob.Multipart{Key: m.Object, ID: m.Multipart} }

// find returns the record of an upload; 404 without the session or the upload.
func (s Store) find(ctx context.Context, c *auth.Caller, session string, t Target) (*Medium, error) {
	m, err := Kind.Of(s.Store, c, session).ByObject(ctx, t.Key)
	if err == nil && m.Multipart != t.UploadID {
		return nil, Kind.NotFound()
	}
	return m, err
}

// Sign signs requests that send parts; 404 for an upload that is not open.
func (s Store) Sign(ctx context.Context, c *auth.Caller, session string, in Numbers) ([]Signed, error) {
	m, err := s.find(ctx, c, session, in.Target)
	if err != nil {
		return nil, err
	}
	if !m.Open(s.Now()) {
		return nil, Kind.NotFound()
	}
	all := make([]Signed, len(in.Numbers))
	for i, n := range in.Numbers {
		r, err := s.Blobs.PutPart(ctx, m.parts(), int32(n), blob.MaxExpiry)
		if err != nil {
			return nil, err
		}
		all[i] = Signed{int32(n), r.URL, r.Method, r.Headers}
	}
	return all, nil
}

// Abort gives up an upload and removes the parts, also a second time. It returns a 404 for an unknown
// upload, and a 409 for a completed one.
func (s Store) Abort(ctx context.Context, c *auth.Caller, session string, t Target) error {
	m, err := s.find(ctx, c, session, t)
	if err != nil {
		return err
	}
	if _, err := Kind.Of(s.Store, c, session).Change(ctx, m.ID, abortion{}); err != nil {
		return err
	}
	return s.Blobs.Abort(ctx, m.parts())
}

// abortion gives up an upload.
type abortion struct{}

// Apply marks the upload (upload.Edit).
func (abortion) Apply(m *Medium) (string, error) {
	switch {
	case m.Stored():
		return "", apierr.Conflict(codeCompleted, "The upload is complete and cannot be aborted.")
	case m.Aborted:
		return "", nil
	}
	m.Aborted = true
	return "aborted", nil
}

// Get returns a media item; 404 without the session or the item, and for an upload that is not complete.
func (s Store) Get(ctx context.Context, c *auth.Caller, session, id string) (*Item, error) {
	m, err := Kind.Of(s.Store, c, session).Get(ctx, id)
	if err != nil {
		return nil, err
	}
	if !m.Stored() {
		return nil, Kind.NotFound()
	}
	return m.show(c), nil
}
