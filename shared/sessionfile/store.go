// Package sessionfile owns the files of sessions and the upload slots of an event (spec.md section
// 4.6, gaps.md section 6.1). A slot is a small record of the event that only an operator writes. A
// completed file is a part of its session. Package upload has a record of the bytes, of files and of
// uploads that are not complete.
//
// Read slot.go for slots; store.go, draft.go, keys.go, sheet.go, edits.go, inspect.go,
// form.go and erase.go for files; slide.go for holding slides.
package sessionfile

import (
	"context"
	"slices"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/blob"
	"lectern/shared/resource"
	"lectern/shared/secret"
	"lectern/shared/session"
	"lectern/shared/session/store"
	"lectern/shared/session/view"
	"lectern/shared/table"
	"lectern/shared/upload"
	"lectern/shared/write"
)

// Store reads and writes the files of the caller's event, and reads the slots.
type Store struct {
	upload.Store
	Records  resource.Store
	Sessions *store.Store
	Keys     *secret.Keys
}

// Target names a file of a session, and the version that the client has seen.
type Target struct {
	Session, ID string
	Guard       write.Guard
}

// Begun is a file whose bytes the client is to send, with the request that sends them. Send is nil if
// the bytes came before, for a repeated request.
type Begun struct {
	view.Content
	Send *blob.Request
}

// List returns the files of a session, of some types or of all; 404 without the session.
func (st *Store) List(ctx context.Context, c *auth.Caller, id string, types []string) ([]view.Content, error) {
	body, _, err := st.load(ctx, c, id)
	if err != nil {
		return nil, err
	}
	wanted := slices.DeleteFunc(slices.Clone(body.Content), func(f session.File) bool {
		return len(types) > 0 && !slices.Contains(types, f.Type)
	})
	return st.Sessions.Files(ctx, c, body, wanted)
}

// Create begins the upload of a new file of a session. It returns a 400 for a draft that breaks a rule,
// a 404 without the session, and a 409 for a file too many.
func (st *Store) Create(ctx context.Context, c *auth.Caller, id string, d *Draft) (*Begun, error) {
	return st.begin(ctx, c, Target{Session: id, ID: st.NewID()}, &beginUpload{draft: d, isNew: true})
}

// Replace begins the upload of other bytes of a file. It returns the errors of Create, a 404 without the
// file, and a 409 for a guard that fails.
func (st *Store) Replace(ctx context.Context, c *auth.Caller, to Target, d *Draft) (*Begun, error) {
	return st.begin(ctx, c, to, &beginUpload{draft: d, guard: to.Guard})
}

// begin signs the request of the client before the upload is stored, so that a failure writes nothing.
func (st *Store) begin(ctx context.Context, c *auth.Caller, to Target, edit *beginUpload) (*Begun, error) {
	if id := write.Ref(ctx); id != "" {
		return st.again(ctx, c, to.Session, id)
	}
	if err := edit.draft.check(); err != nil {
		return nil, err
	}
	b := Kind.Of(st.Store, c, to.Session).New(edit.draft.Filename.Value, edit.draft.kind(), edit.draft.Size.Value)
	link, err := st.link(ctx, where{session.At(c), to.Session, b.ID})
	if err != nil {
		return nil, err
	}
	send, err := st.sign(ctx, b)
	if err != nil {
		return nil, err
	}
	edit.id, edit.bytes, edit.link = to.ID, b, link
	f, body, err := st.run(ctx, c, to.Session, to.ID, edit)
	if err != nil {
		return nil, err
	}
	return st.begun(ctx, c, body, *f, send)
}

// sign returns the request that sends bytes.
func (st *Store) sign(ctx context.Context, b *Bytes) (*blob.Request, error) {
	request, err := st.Blobs.Put(ctx, blob.Upload{Key: b.Object, Type: b.Type, Size: b.Size}, blob.MaxExpiry)
	return &request, err
}

func (st *Store) begun(ctx context.Context, c *auth.Caller, b *session.Body, f session.File, send *blob.Request) (*Begun, error) {
	shown, err := st.show(ctx, c, b, &f)
	if err != nil {
		return nil, err
	}
	return &Begun{*shown, send}, nil
}

// again shows the upload that an earlier request under the same Idempotency-Key has begun, or the file
// that has come of it. An upload that has ended otherwise is a 409; a file that is deleted is a 404.
func (st *Store) again(ctx context.Context, c *auth.Caller, in, bytes string) (*Begun, error) {
	body, open, err := st.load(ctx, c, in)
	if err != nil {
		return nil, err
	}
	if f := body.FileOf(bytes); f != nil {
		return st.begun(ctx, c, body, *f, nil)
	}
	b, err := Kind.Of(st.Store, c, in).Get(ctx, bytes)
	if err != nil {
		return nil, err
	}
	f := b.File
	switch u := open.Find(f.ID); {
	case u == nil && body.File(f.ID) == nil && b.hadFile():
		return nil, Kind.NotFound()
	case u == nil || u.Bytes != bytes:
		return nil, apierr.Conflict("UPLOAD_ENDED", "The upload of the earlier request has ended. Begin another under another Idempotency-Key.")
	}
	if f.Link, err = st.link(ctx, where{session.At(c), in, b.ID}); err != nil {
		return nil, err
	}
	send, err := st.sign(ctx, b)
	if err != nil {
		return nil, err
	}
	return st.begun(ctx, c, body, f, send)
}

// Complete checks the bytes of an upload and makes the file visible. A file that is complete stays as it
// is. Complete returns a 400 for missing or wrong bytes and for malware, a 404 without the session or the
// upload, and a 503 without a verdict of the scanner and after upload.CompletionTime. After wrong bytes and
// malware, the upload has ended.
func (st *Store) Complete(ctx context.Context, c *auth.Caller, to Target) (*view.Content, error) {
	return upload.Complete(ctx, func(ctx context.Context) (*view.Content, error) { return st.complete(ctx, c, to) })
}

// complete does Complete without its limit.
func (st *Store) complete(ctx context.Context, c *auth.Caller, to Target) (*view.Content, error) {
	body, open, err := st.load(ctx, c, to.Session)
	if err != nil {
		return nil, err
	}
	u := open.Find(to.ID)
	if u == nil {
		f := body.File(to.ID)
		if f == nil {
			return nil, Kind.NotFound()
		}
		if body.IsSlide(f.ID) {
			return nil, errDrawn()
		}
		return st.show(ctx, c, body, f)
	}
	b, err := Kind.Of(st.Store, c, to.Session).Get(ctx, u.Bytes)
	if err != nil {
		return nil, err
	}
	verdict, refused, err := st.accept(ctx, c, b)
	if err != nil {
		if refused {
			st.drop(ctx, c, to, b)
		}
		return nil, err
	}
	link, err := st.link(ctx, where{session.At(c), to.Session, b.ID})
	if err != nil {
		return nil, err
	}
	f, body, err := st.run(ctx, c, to.Session, to.ID, completeUpload{to.ID, b.ID, link, verdict})
	if err != nil {
		return nil, err
	}
	return st.show(ctx, c, body, f)
}

// drop ends an upload whose bytes are refused, and removes the bytes. After a failure, the purge removes
// the bytes.
func (st *Store) drop(ctx context.Context, c *auth.Caller, to Target, b *Bytes) {
	if _, _, err := st.run(ctx, c, to.Session, to.ID, dropUpload{to.ID, b.ID}); err == nil {
		_ = st.Blobs.Delete(ctx, b.Object)
	}
}

// Update changes title and participant of a file. It returns a 400 for a rule, a 404 without the session
// or the file, and a 409 for a guard that fails.
func (st *Store) Update(ctx context.Context, c *auth.Caller, to Target, d *Description) (*view.Content, error) {
	if err := to.Guard.Validate(); err != nil {
		return nil, err
	}
	f, body, err := st.run(ctx, c, to.Session, to.ID, updateFile{to, d})
	if err != nil {
		return nil, err
	}
	return st.show(ctx, c, body, f)
}

// Delete removes a file, or ends the upload of a new file. It returns a 404 as Update does, and a 409 for
// a guard that fails.
func (st *Store) Delete(ctx context.Context, c *auth.Caller, to Target) error {
	_, _, err := st.run(ctx, c, to.Session, to.ID, deleteFile(to))
	return err
}

func (st *Store) show(ctx context.Context, c *auth.Caller, b *session.Body, f *session.File) (*view.Content, error) {
	shown, err := st.Sessions.Files(ctx, c, b, []session.File{*f})
	if err != nil {
		return nil, err
	}
	return &shown[0], nil
}

// load reads a session with its open uploads; 404 without the session.
func (st *Store) load(ctx context.Context, c *auth.Caller, id string) (*session.Body, *Open, error) {
	p := session.At(c)
	got, err := st.Table.GetMany(ctx, []table.Key{p.Body(id), openKey(p, id)})
	if err != nil {
		return nil, nil, err
	}
	return st.decode(p, got, id)
}

// decode returns a session with its uploads that have time left; 404 without the session.
func (st *Store) decode(p session.Place, got write.Items, id string) (*session.Body, *Open, error) {
	body, err := p.Live(got, id)
	if err != nil {
		return nil, nil, err
	}
	open, err := DecodeOpen(got[openKey(p, id)])
	if err != nil {
		return nil, nil, err
	}
	open.All = slices.DeleteFunc(open.All, func(u OpenUpload) bool { return !st.Now().Before(u.Ends.Time) })
	return body, open, nil
}
