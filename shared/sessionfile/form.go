package sessionfile

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/blob"
	"lectern/shared/form"
	"lectern/shared/idempotency"
	"lectern/shared/scan"
	"lectern/shared/session"
	"lectern/shared/session/view"
	"lectern/shared/table"
	"lectern/shared/upload"
	"lectern/shared/wire"
	"lectern/shared/write"
)

const (
	// maxFile is the size of the largest file of a form.
	maxFile = 50 << 20
	// MaxForm is the size of the largest form.
	MaxForm = maxFile + form.Beside
	// patient says what a client can do whose form ends before the scan of its file.
	patient = "The form has stored nothing. A direct upload waits for its scan: POST /v1/event/{eventId}/sessions/{sessionId}/files."
	// Larger says what a client with a larger file can do.
	Larger = "Larger files can be uploaded directly: POST /v1/event/{eventId}/sessions/{sessionId}/files."
)

// Form has the properties of a form with a file.
type Form struct {
	File string `json:"file" format:"binary" doc:"The file with its name: at most 52,428,800 bytes."`
	Texts
	_ struct{} `additionalProperties:"true"`
}

// Texts has the properties of a form beside the file.
type Texts struct {
	Title      wire.Opt[string] `json:"title,omitzero" nullable:"false" maxLength:"255" pattern:"\\S" doc:"The title; the name of the file by default."`
	AssignedTo wire.Opt[string] `json:"assigned_participant_id,omitzero" nullable:"false" format:"uuid" doc:"The contact whose file it is: one of the session's participants."`
	SlotID     wire.Opt[string] `json:"content_slot_id,omitzero" nullable:"false" format:"uuid" doc:"The upload slot of the file."`
}

// forms describes the forms to form.Reader.
var forms = form.Config{
	Texts: []string{"title", "assigned_participant_id", slotField}, MaxFile: maxFile, Larger: Larger, PartTime: time.Minute,
}

// Upload stores the file of a form. It returns a 400 that names the property for a form, a file or a
// property that breaks a rule, a 404 without the session, a 409 for a file too many, and a 413 for a file
// that is too large, and a 503 without a verdict of the scanner. After an error, the bytes are removed at
// once, or by the purge.
func (st *Store) Upload(ctx context.Context, c *auth.Caller, in string, sent api.Form) (*view.Content, error) {
	if id := write.Ref(ctx); id != "" {
		return st.uploaded(ctx, c, in, id)
	}
	if _, _, err := st.load(ctx, c, in); err != nil {
		return nil, err
	}
	a := &arrival{Store: st, caller: c, session: in}
	config := forms
	config.Digests = sent.Keyed
	reader, err := form.Open(sent.Body, config, a)
	if err != nil {
		return nil, err
	}
	a.Reader = reader
	shown, err := a.store(ctx, sent)
	a.discard(ctx)
	return shown, err
}

// uploaded shows the file that an earlier request under the same Idempotency-Key has stored, with the bytes
// that the file has now.
func (st *Store) uploaded(ctx context.Context, c *auth.Caller, in, bytes string) (*view.Content, error) {
	body, _, err := st.load(ctx, c, in)
	if err != nil {
		return nil, err
	}
	stored, err := Kind.Of(st.Store, c, in).Get(ctx, bytes)
	if err != nil {
		return nil, err
	}
	f := body.File(stored.File.ID)
	if f == nil {
		return nil, Kind.NotFound()
	}
	return st.show(ctx, c, body, f)
}

// arrival is the file of a form while its bytes come (form.Sink).
type arrival struct {
	*Store
	*form.Reader
	caller  *auth.Caller
	session string
	// name and kind are the name and the type of the file.
	name, kind string
	// bytes is the record of the bytes; nil before the first part. parts are the parts in the bucket.
	bytes *Bytes
	mu    sync.Mutex
	parts []blob.Part
	// cutOff reports whether a part has no answer of the bucket.
	cutOff bool
	// verdict is that of the scanner on the bytes.
	verdict scan.Verdict
	// joined reports whether the parts are an object, and kept whether a file may have the bytes.
	joined, kept bool
}

// store reads the form, stores the bytes and makes the file visible. It gives the form's memory back, for others.
func (a *arrival) store(ctx context.Context, sent api.Form) (*view.Content, error) {
	defer a.Close()
	if err := a.Read(ctx, sent.Boundary); err != nil {
		return nil, err
	}
	draft, err := a.draft()
	if err != nil {
		return nil, err
	}
	if ctx, err = sent.Claim(ctx, a.Digest()); err != nil {
		return nil, err
	}
	if id := write.Ref(ctx); id != "" {
		return a.uploaded(ctx, a.caller, a.session, id)
	}
	return upload.Complete(ctx, func(ctx context.Context) (*view.Content, error) {
		if err := a.finish(ctx); err != nil {
			return nil, err
		}
		return a.add(ctx, draft)
	})
}

// draft returns the properties of the file, after the form has ended.
func (a *arrival) draft() (*Draft, error) {
	text, err := wire.Encode(a.Texts())
	if err != nil {
		return nil, err
	}
	sent, refused := api.Decode[Texts](text)
	if refused != nil {
		return nil, refused
	}
	return &Draft{
		Filename: wire.Some(a.name), Size: wire.Some(a.Size()), SlotID: sent.SlotID,
		Description: Description{Title: sent.Title, AssignedTo: sent.AssignedTo},
	}, nil
}

// Begin refuses a wrong name and wrong bytes, and finds the type by the end of the name. The type of a name
// that says none is that of the bytes.
func (a *arrival) Begin(name string, first []byte) error {
	if err := checkName(name); err != nil {
		return ofFile(err)
	}
	kind, known := types[extension(name)]
	if !known {
		kind = plainType(detect(first).String())
	}
	switch {
	case len(first) == 0:
		return apierr.Invalid("file", "The file is empty.")
	case kind == svgType && len(first) > maxSVG:
		return errLargeSVG("file")
	}
	a.name, a.kind = name, kind
	return ofFile(checkBytes(kind, first[:min(len(first), int(firstBytes(kind)))]))
}

// ofFile lets a 400 name the file.
func ofFile(err error) error {
	if refused := (*apierr.Error)(nil); errors.As(err, &refused) && refused.Status == http.StatusBadRequest {
		return refused.Field("file")
	}
	return err
}

// Send stores a part. The record of the bytes comes before the first part, without the Idempotency-Key,
// which is that of the file.
func (a *arrival) Send(ctx context.Context, number int32, part []byte) error {
	if a.bytes == nil {
		records := Kind.Of(a.Store.Store, a.caller, a.session)
		b := records.New("", a.kind, int64(len(part))) // The name comes with the file, where an erasure finds it.
		begun, err := a.Blobs.Begin(ctx, b.Object, b.Type)
		if err != nil {
			return err
		}
		b.Multipart, b.File = begun.ID, session.File{ID: a.NewID()}
		a.bytes = b
		if _, err := records.Create(idempotency.With(ctx, nil), b); err != nil {
			return err
		}
	}
	sent, err := a.Blobs.Send(ctx, a.multipart(), number, part)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.parts = append(a.parts, sent)
	a.cutOff = a.cutOff || err != nil && (ctx.Err() != nil || errors.Is(err, blob.ErrBusy))
	return err
}

func (a *arrival) multipart() blob.Multipart {
	return blob.Multipart{Key: a.bytes.Object, ID: a.bytes.Multipart}
}

// finish stores the rest of the bytes, inspects what is stored, and asks the scanner.
func (a *arrival) finish(ctx context.Context) error {
	if rest := a.Rest(); len(rest) > 0 {
		if err := a.Send(ctx, int32(len(a.parts)+1), rest); err != nil { //nolint:gosec // there are few parts
			return err
		}
	}
	slices.SortFunc(a.parts, func(x, y blob.Part) int { return cmp.Compare(x.Number, y.Number) })
	if err := a.Blobs.Complete(ctx, a.multipart(), a.parts); err != nil {
		return err
	}
	a.joined = true
	complete := *a.bytes
	complete.Name, complete.Size = a.name, a.Size()
	var err error
	a.verdict, _, err = a.accept(ctx, a.caller, &complete)
	if errors.Is(err, scan.ErrNoVerdict) { // The bytes go with the request, and so does their scan.
		return errors.Join(apierr.Unscanned().Advise(patient), err)
	}
	return ofFile(err)
}

// add makes the file visible.
func (a *arrival) add(ctx context.Context, draft *Draft) (*view.Content, error) {
	link, err := a.link(ctx, where{session.At(a.caller), a.session, a.bytes.ID})
	if err != nil {
		return nil, err
	}
	edit := &addFile{beginUpload{draft: draft, isNew: true, id: a.bytes.File.ID, bytes: a.bytes, link: link}, a.verdict}
	f, body, err := a.run(ctx, a.caller, a.session, edit.id, edit)
	a.kept = a.mayBeKept(ctx, err)
	if err != nil {
		return nil, err
	}
	return a.show(ctx, a.caller, body, f)
}

// mayBeKept reports whether a file may have the bytes, after a transaction with an outcome. After most errors, the
// transaction may have come to pass.
func (a *arrival) mayBeKept(ctx context.Context, err error) bool {
	if errors.Is(err, idempotency.ErrRaced) { // The file of the request that came first has other bytes.
		body, _, failed := a.load(ctx, a.caller, a.session)
		return failed != nil || body.FileOf(a.bytes.ID) != nil
	}
	refused := (*apierr.Error)(nil)
	return !errors.As(err, &refused) || refused.Status >= http.StatusInternalServerError
}

// discard removes the bytes that no file has, also after the caller has gone. The record stays for the
// purge, which removes what a failed call has left.
func (a *arrival) discard(ctx context.Context) {
	if a.bytes == nil || a.kept {
		return
	}
	ctx = context.WithoutCancel(ctx)
	if !a.joined {
		a.abort(ctx)
	}
	_ = a.Blobs.Delete(ctx, a.bytes.Object)
}

// aborts are the times at which an upload with a part that was cut off is ended, and abortTime limits them all.
var aborts = table.Retry{Tries: 4, First: 200 * time.Millisecond, Max: time.Second}

const abortTime = 5 * time.Second

// abort ends the upload. A part that was cut off may still arrive after that and bring the upload back, so abort
// then ends it again.
func (a *arrival) abort(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, abortTime)
	defer cancel()
	for _, err := range aborts.Each(ctx) {
		if err == nil {
			err = a.Blobs.Abort(ctx, a.multipart())
		}
		if err != nil || !a.cutOff {
			return
		}
	}
}

// addFile makes the file of a form visible.
type addFile struct {
	beginUpload
	verdict scan.Verdict
}

func (e *addFile) do(ctx context.Context, s *sheet) (*session.File, error) {
	if !e.bytes.Open(s.now.Time) {
		return nil, apierr.Unavailable() // The purge may remove the bytes.
	}
	b := *e.bytes
	b.Name, b.Size = e.draft.Filename.Value, e.draft.Size.Value
	if err := e.describe(ctx, s, &b); err != nil {
		return nil, err
	}
	if err := s.hasPlace(e.id); err != nil {
		return nil, err
	}
	b.Ends = nil
	f := b.File
	f.Link, f.Scan = e.link, string(e.verdict)
	s.change().PutFile(f)
	writes, err := s.records().Writes(ctx, "completed", e.bytes, &b)
	s.also = append(append(s.also, writes...), s.open.unchanged(openKey(session.At(s.caller), s.before.ID)))
	return &f, err
}
