package sessionfile

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/blob"
	"lectern/shared/session"
	"lectern/shared/upload"
	"lectern/shared/wire"
	"lectern/shared/write"
)

const (
	// slideTitle is the title of every holding slide: the name of a session may be text about a person.
	slideTitle = "Holding slide"
	slideMIME  = "image/png"
	// slideTime is the time from the record of the bytes of a slide until the session has the slide.
	slideTime = 15 * time.Minute
)

// ErrChanged is the error of a holding slide that does not fit its session any more: the session has changed
// since it was read, or an erasure has ended the drawing.
var ErrChanged = errors.New("sessionfile: the session of the holding slide has changed")

// errDrawn returns the 409 of a client's change of a holding slide.
func errDrawn() error {
	return apierr.Conflict("HOLDING_SLIDE", "The service draws the holding slide. Change the session's title, time, room or speakers instead.")
}

// Slide is a drawn holding slide.
type Slide struct {
	// Of is the session for which the slide was drawn.
	Of  *session.Body
	PNG []byte
	// Digest is the digest of what the slide shows.
	Digest string
}

// PutSlide gives a session a holding slide, and removes the bytes of the former one. It returns ErrChanged, or
// a 404 without the session; then the bytes of the slide are removed. After any other error, the purge
// removes what is left.
func (st *Store) PutSlide(ctx context.Context, c *auth.Caller, s Slide) error {
	records := Kind.Of(st.Store, c, s.Of.ID)
	b, ends := records.New("", slideMIME, int64(len(s.PNG))), wire.At(st.Now().Add(slideTime))
	b.Ends, b.File = &ends, session.File{ID: session.SlideID(s.Of.ID), Bytes: b.ID}
	if _, err := records.Create(ctx, b); err != nil {
		return err
	}
	if err := st.Blobs.Write(ctx, blob.Upload{Key: b.Object, Type: b.Type, Size: b.Size}, s.PNG); err != nil {
		return err
	}
	link, err := st.link(ctx, where{session.At(c), s.Of.ID, b.ID})
	if err != nil {
		return err
	}
	edit := &slideEdit{Slide: s, bytes: b.ID, link: link}
	err = st.editSlide(ctx, c, edit)
	refused := (*apierr.Error)(nil)
	if errors.Is(err, ErrChanged) || errors.As(err, &refused) && refused.Status < http.StatusInternalServerError {
		return errors.Join(err, st.Blobs.Delete(ctx, b.Object))
	}
	return err
}

// RemoveSlide takes the holding slide from a session, deleted or not, with its bytes. It returns ErrChanged,
// and a 404 without the session.
func (st *Store) RemoveSlide(ctx context.Context, c *auth.Caller, of *session.Body) error {
	return st.editSlide(ctx, c, &slideEdit{Slide: Slide{Of: of}})
}

// editSlide does an edit of a holding slide, and then removes the bytes of the former slide.
func (st *Store) editSlide(ctx context.Context, c *auth.Caller, e *slideEdit) error {
	id := session.SlideID(e.Of.ID)
	op := &operation{store: st, caller: c, session: e.Of.ID, file: id, edit: e, slide: e}
	if _, err := write.Run[*session.File](ctx, st.Table, op); err != nil || e.former == "" {
		return err
	}
	return st.Blobs.Delete(ctx, object(session.At(c), e.Of.ID, e.former))
}

// slideEdit gives a session a holding slide, or takes it away if there are no bytes.
type slideEdit struct {
	Slide
	bytes, link string
	// former is the id of the bytes of the former slide; empty without one.
	former string
}

func (e *slideEdit) do(ctx context.Context, s *sheet) (*session.File, error) {
	if s.before.Version != e.Of.Version {
		return nil, ErrChanged
	}
	id := session.SlideID(s.before.ID)
	f := session.File{ID: id, CreatedAt: s.now}
	if stored := s.before.File(id); stored != nil {
		f, e.former = *stored, stored.Bytes
		if err := s.discard(ctx, stored, "replaced", 0); err != nil {
			return nil, err
		}
	}
	if e.bytes == "" {
		s.change().RemoveFile(id)
		return &f, nil
	}
	b, err := s.records().Find(s.got, e.bytes)
	if err != nil || !b.Open(s.now.Time) {
		return nil, errors.Join(ErrChanged, err)
	}
	f.Version++
	f.Bytes, f.Link, f.Size, f.Digest = b.ID, e.link, b.Size, e.Digest
	f.Title, f.Type, f.MIMEType, f.UpdatedAt = slideTitle, session.HoldingSlide, slideMIME, s.now
	f.Filename = fmt.Sprintf("%s-holding-slide-%.8s.png", s.before.FriendlyID(), b.ID) // No two drawings have one name.
	s.change().PutFile(f)
	return &f, s.keep(ctx, e.bytes)
}

// HasSlide reports whether the bucket has the bytes of a session's holding slide, if the session has a slide.
func (st *Store) HasSlide(ctx context.Context, c *auth.Caller, of *session.Body) (bool, error) {
	f := of.File(session.SlideID(of.ID))
	if f == nil {
		return true, nil
	}
	return st.Blobs.Has(ctx, object(session.At(c), of.ID, f.Bytes))
}

// CleanSlide removes the bytes of former holding slides of a session, which a failed call has left. all also
// ends the drawing of slides that the session does not have yet.
func (st *Store) CleanSlide(ctx context.Context, c *auth.Caller, in *session.Body, all bool) error {
	records := Kind.Of(st.Store, c, in.ID).Stored()
	pk, from, to := records.Range()
	for item, err := range st.Table.Between(ctx, pk, from, to) {
		if err != nil {
			return err
		}
		b, err := upload.Decode[Bytes](item)
		if err != nil {
			return err
		}
		ended := b.Ends != nil && !b.Ends.After(st.Now())
		if b.File.ID != session.SlideID(in.ID) || b.Stored() || !ended && !all {
			continue
		}
		if !ended {
			if _, err := records.Change(ctx, b.ID, endDrawing{wire.At(st.Now())}); err != nil {
				return err
			}
		}
		if err := st.Blobs.Delete(ctx, b.Object); err != nil {
			return err
		}
	}
	return nil
}

// endDrawing ends the upload of a slide that no session has (upload.Edit).
type endDrawing struct{ now wire.Time }

// Apply ends the upload, unless the session has the slide by now.
func (e endDrawing) Apply(b *Bytes) (verb string, err error) {
	if b.Stored() {
		return "", ErrChanged
	}
	b.Ends = &e.now
	return "ended", nil
}
