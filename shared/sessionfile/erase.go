package sessionfile

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/blob"
	"lectern/shared/session"
	"lectern/shared/table"
	"lectern/shared/upload"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Owner is a contact to whom files are assigned. A file that changed after Until is that of the next person
// of the contact. The zero time is no limit.
type Owner struct {
	Contact string
	Until   time.Time
}

func (o Owner) has(f *session.File) bool {
	return f.AssignedTo != nil && *f.AssignedTo == o.Contact && (o.Until.IsZero() || !f.UpdatedAt.After(o.Until))
}

// sessionsAtOnce is the number of sessions that Owned reads at once.
const sessionsAtOnce = 500

// Owned returns the bytes of an owner's files on the caller's event: of complete, deleted and replaced files,
// and of uploads, also in deleted sessions. The bytes of a complete file have the file as it is.
func (st *Store) Owned(ctx context.Context, c *auth.Caller, o Owner) (owned []*Bytes, err error) {
	in, place := map[string][]*Bytes{}, session.At(c)
	for item, err := range st.Table.Between(ctx, upload.Place{Place: place}.Partition(), "0", "~") {
		if err != nil {
			return nil, err
		}
		if upload.KindOf(item.Key) != Kind.Name {
			continue
		}
		b, err := upload.Decode[Bytes](item)
		if err != nil {
			return nil, err
		}
		in[b.SessionID] = append(in[b.SessionID], b)
	}
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(in)), sessionsAtOnce) {
		got, err := st.Table.GetMany(ctx, place.Bodies(ids))
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			body, err := storedOrEmpty(place, got, id)
			if err != nil {
				return nil, err
			}
			owned = append(owned, o.of(body, in[id])...)
		}
	}
	return owned, nil
}

// storedOrEmpty returns a session, deleted or not; a session without files if the session is purged.
func storedOrEmpty(p session.Place, got write.Items, id string) (*session.Body, error) {
	body, err := p.Stored(got, id)
	if apierr.IsNotFound(err) {
		return &session.Body{ID: id}, nil
	}
	return body, err
}

// of returns the owner's bytes among all bytes of a session. Bytes belong to the owner if the file does, as it
// is or as it last was; former bytes, and other bytes that a client sends, also if they were assigned to
// the owner.
func (o Owner) of(b *session.Body, all []*Bytes) (some []*Bytes) {
	slices.SortFunc(all, func(x, y *Bytes) int { return cmp.Or(x.CreatedAt.Compare(y.CreatedAt.Time), cmp.Compare(x.ID, y.ID)) })
	files := map[string]*session.File{}
	for _, one := range all {
		files[one.File.ID] = &one.File
	}
	for i := range b.Content {
		files[b.Content[i].ID] = &b.Content[i]
	}
	for _, one := range all {
		file := files[one.File.ID]
		isFile := file.Bytes == one.ID
		if isFile {
			one.File = *file
		}
		assigned := !isFile && (one.Sent == nil || one.Sent.AssignedTo)
		if o.has(file) || assigned && o.has(&one.File) {
			some = append(some, one)
		}
	}
	return some
}

// Erase removes the files of an owner on the caller's event with all their bytes, and returns the ids of their
// sessions. It may be done again: the records stay until nobody can send bytes, and lead to bytes that
// a failed call has left.
func (st *Store) Erase(ctx context.Context, c *auth.Caller, o Owner) (sessions []string, err error) {
	owned, err := st.Owned(ctx, c, o)
	if err != nil {
		return nil, err
	}
	for _, b := range owned {
		sessions = append(sessions, b.SessionID)
		if _, err := write.Run[*Bytes](ctx, st.Table, &erasing{st, c, b}); err != nil {
			return nil, err
		}
		if err := st.removeBytes(ctx, b); err != nil {
			return nil, err
		}
	}
	return sessions, nil
}

// removeBytes removes the object of bytes, with the parts of a form.
func (st *Store) removeBytes(ctx context.Context, b *Bytes) error {
	if b.Multipart != "" {
		if err := st.Blobs.Abort(ctx, blob.Multipart{Key: b.Object, ID: b.Multipart}); err != nil {
			return err
		}
	}
	return st.Blobs.Delete(ctx, b.Object)
}

// erasing removes the file of bytes, or the upload, and the words of the record of the bytes (write.Op).
type erasing struct {
	store  *Store
	caller *auth.Caller
	bytes  *Bytes
}

func (e *erasing) records() upload.Collection[Bytes, *Bytes] {
	return Kind.Of(e.store.Store, e.caller, e.bytes.SessionID)
}

// Reads returns the keys of the session, its open uploads and the record.
func (e *erasing) Reads() []table.Key {
	place, in := session.At(e.caller), e.bytes.SessionID
	return []table.Key{place.Body(in), openKey(place, in), e.records().Key(e.bytes.ID)}
}

// More returns no keys.
func (e *erasing) More(write.Items) []table.Key { return nil }

// Touches returns nil: no bulk has erasures.
func (e *erasing) Touches(write.Items) []string { return nil }

// Plan writes session, uploads and record. Nothing is written for bytes whose record has no name any more.
func (e *erasing) Plan(ctx context.Context, got write.Items) (*write.Plan, error) {
	place, in := session.At(e.caller), e.bytes.SessionID
	body, err := storedOrEmpty(place, got, in)
	if err != nil {
		return nil, err
	}
	open, err := DecodeOpen(got[openKey(place, in)])
	if err != nil {
		return nil, err
	}
	s := &sheet{
		Store: e.store, caller: e.caller, got: got, before: body, open: open, now: session.Later(wire.At(e.store.Now()), body),
	}
	if f := body.FileOf(e.bytes.ID); f != nil {
		s.change().RemoveFile(f.ID)
	}
	if u := open.Find(e.bytes.File.ID); u != nil && u.Bytes == e.bytes.ID {
		s.close(u.File)
	}
	if err := s.erase(ctx, e.bytes.ID); err != nil {
		return nil, err
	}
	writes, err := s.writes(ctx)
	return &write.Plan{Writes: writes, Answer: e.bytes}, err
}

// erase removes the words of the record of bytes. The record ends when no client can send the bytes any more.
func (s *sheet) erase(ctx context.Context, id string) error {
	b, err := s.records().Find(s.got, id)
	if apierr.IsNotFound(err) || err == nil && b.Name == "" {
		return nil
	}
	ends := wire.At(s.now.Add(blob.MaxExpiry))
	return s.set(ctx, id, "erased", func(b *Bytes) {
		b.Name, b.File.Title, b.File.Filename = "", "", ""
		if b.Ends == nil || b.Ends.After(ends.Time) {
			b.Ends = &ends
		}
	})
}
