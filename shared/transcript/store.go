package transcript

import (
	"context"
	"errors"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/session"
	"lectern/shared/session/store"
	"lectern/shared/table"
	"lectern/shared/write"
)

// Store reads and writes the transcriptions of the caller's event.
type Store struct {
	Table    *table.Table
	Now      func() time.Time
	NewID    func() string
	Sessions *store.Store
	// Most lowers the number of transcriptions that a session may have, for tests; 0 leaves
	// the number.
	Most int64
}

// Target names a transcription of a session, and the version that the client has seen.
type Target struct {
	Session, ID string
	Guard       write.Guard
}

// place returns the Place of the caller's event.
func place(c *auth.Caller) Place { return At(c.Org.ID, c.Event.ID) }

// most returns the number of transcriptions that a session may have.
func (st *Store) most() int {
	if st.Most > 0 {
		return min(maxTotal, int(st.Most))
	}
	return maxTotal
}

// Create stores a new transcription of a session. It returns a 400 for a draft that breaks a
// rule or a limit, and a 404 without the session.
func (st *Store) Create(ctx context.Context, c *auth.Caller, session string, d *Draft) (*Transcription, error) {
	if id := write.Ref(ctx); id != "" {
		return st.find(ctx, c, session, id, Place.Stored)
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	op := &operation{store: st, place: place(c), session: session, id: st.NewID(), draft: d, isNew: true}
	return write.Run[*Transcription](ctx, st.Table, op)
}

// Update changes the properties of a transcription that the draft sends. It returns a 404
// without the session or the transcription, a 400 for a rule or a limit, and a 409 for a guard
// that fails.
func (st *Store) Update(ctx context.Context, c *auth.Caller, to Target, d *Draft) (*Transcription, error) {
	if err := errors.Join(to.Guard.Validate(), d.check()); err != nil {
		return nil, err
	}
	return st.change(ctx, c, to, d)
}

// Delete removes a transcription for good. It returns a 404 as Update does, and a 409 for a
// guard that fails and for the source of translations.
func (st *Store) Delete(ctx context.Context, c *auth.Caller, to Target) error {
	_, err := st.change(ctx, c, to, nil)
	return err
}

func (st *Store) change(ctx context.Context, c *auth.Caller, to Target, d *Draft) (*Transcription, error) {
	op := &operation{store: st, place: place(c), session: to.Session, id: to.ID, draft: d, guard: to.Guard}
	return write.Run[*Transcription](ctx, st.Table, op)
}

// Get returns a transcription of a session; 404 without the session or the transcription.
func (st *Store) Get(ctx context.Context, c *auth.Caller, session, id string) (*Transcription, error) {
	return st.find(ctx, c, session, id, Place.Live)
}

// OfEvent returns a transcription of any session of the event; 404 without it.
func (st *Store) OfEvent(ctx context.Context, c *auth.Caller, id string) (*Transcription, error) {
	pointer, err := st.Table.Get(ctx, place(c).Pointer(id))
	if errors.Is(err, table.ErrNotFound) {
		return nil, NotFound()
	}
	if err != nil {
		return nil, err
	}
	at, _, err := decodePointer(pointer)
	if err != nil {
		return nil, err
	}
	t, err := st.Get(ctx, c, at.Session, id)
	if apierr.IsNotFound(err) {
		err = NotFound()
	}
	return t, err
}

// bodyOf is session.Place.Live or session.Place.Stored: it returns a session, or the 404.
type bodyOf func(Place, write.Items, string) (*session.Body, error)

// find returns a transcription of a session; 404 without it, or without the session.
func (st *Store) find(ctx context.Context, c *auth.Caller, in, id string, body bodyOf) (*Transcription, error) {
	p, r := place(c), st.Reader(c)
	return Whole(ctx, func() (*Transcription, error) {
		got, err := st.Table.GetMany(ctx, []table.Key{p.Body(in), p.Pointer(id), p.Index(in)})
		if err != nil {
			return nil, err
		}
		if _, err := body(p, got, in); err != nil {
			return nil, err
		}
		at, ok, err := decodePointer(got[p.Pointer(id)])
		if err != nil {
			return nil, err
		}
		if !ok || at.Session != in {
			return nil, NotFound()
		}
		index, err := DecodeIndex(in, got[p.Index(in)])
		if err != nil {
			return nil, err
		}
		return r.at(ctx, index, position{at.Start, id})
	})
}
