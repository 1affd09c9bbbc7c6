package sessionfile

import (
	"cmp"
	"context"
	"fmt"
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

const (
	// sessionsAtOnce is the number of sessions that Owned reads at once.
	sessionsAtOnce = 50
	// erasedAtOnce is the number of records of bytes that a transaction erases, or one more.
	erasedAtOnce = 20
)

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
// is or as it last was. Former bytes, and other bytes for the file, also belong to the owner if a client
// assigned them to the owner.
func (o Owner) of(b *session.Body, all []*Bytes) (some []*Bytes) {
	files := lastFiles(b, all)
	for _, one := range all {
		file := files[one.File.ID]
		isFile := file != nil && file.Bytes == one.ID
		if isFile {
			one.File = *file
		}
		assigned := !isFile && (one.Sent == nil || one.Sent.AssignedTo)
		if file != nil && o.has(file) || assigned && o.has(&one.File) {
			some = append(some, one)
		}
	}
	return some
}

// lastFiles returns the files of a session by id, as they are, and as deleted ones last were. A replacement
// that never was a file (Sent) says nothing of the file.
func lastFiles(b *session.Body, all []*Bytes) map[string]*session.File {
	files := map[string]*session.File{}
	for _, one := range all {
		if last := files[one.File.ID]; one.Sent == nil && (last == nil || !one.File.UpdatedAt.Before(last.UpdatedAt.Time)) {
			files[one.File.ID] = &one.File
		}
	}
	for i := range b.Content {
		files[b.Content[i].ID] = &b.Content[i]
	}
	return files
}

// Erase removes the files of an owner on the caller's event with all their bytes, and returns the ids of their
// sessions. It may be done again: the records name the owner, and stay until nobody can send bytes. They lead
// to the bytes that a failed call has left.
func (st *Store) Erase(ctx context.Context, c *auth.Caller, o Owner) (sessions []string, err error) {
	owned, err := st.Owned(ctx, c, o)
	if err != nil {
		return nil, err
	}
	for _, b := range owned {
		sessions = append(sessions, b.SessionID)
	}
	sessions = slices.Compact(sessions)
	for _, in := range sessions {
		if err := st.eraseIn(ctx, &erasing{st, c, o, in}); err != nil {
			return nil, err
		}
	}
	return sessions, nil
}

// eraseIn removes the files of a session, transaction by transaction, and then their bytes.
func (st *Store) eraseIn(ctx context.Context, e *erasing) error {
	for {
		found, err := write.Run[*ownedBytes](ctx, st.Table, e)
		if err != nil {
			return err
		}
		if found.begun {
			continue
		}
		for _, b := range found.all {
			if err := st.removeBytes(ctx, b); err != nil {
				return err
			}
		}
		return nil
	}
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

// erasing removes some files and uploads of an owner from a session, and the words of the records of their
// bytes (write.Op). Its answer are the ownedBytes.
type erasing struct {
	store   *Store
	caller  *auth.Caller
	owner   Owner
	session string
}

// ownedBytes are the bytes of an owner in a session.
type ownedBytes struct {
	all []*Bytes
	// begun reports whether something was written: then more may be left.
	begun bool
}

// Reads returns the keys of the session and its open uploads.
func (e *erasing) Reads() []table.Key {
	place := session.At(e.caller)
	return []table.Key{place.Body(e.session), openKey(place, e.session)}
}

// More returns no keys: Plan reads all records of the session.
func (e *erasing) More(write.Items) []table.Key { return nil }

// Touches returns nil: no bulk has erasures.
func (e *erasing) Touches(write.Items) []string { return nil }

// Plan writes session, uploads and records. It writes nothing once no word is left.
func (e *erasing) Plan(ctx context.Context, got write.Items) (*write.Plan, error) {
	s, all, err := e.sheet(ctx, maps.Clone(got))
	if err != nil {
		return nil, err
	}
	found := &ownedBytes{all: e.owner.of(s.before, all)}
	some := s.unerased(found.all)
	if len(some) == 0 {
		return &write.Plan{Answer: found}, nil
	}
	for _, b := range some {
		if err := s.erase(ctx, b, e.owner.Contact); err != nil {
			return nil, err
		}
	}
	if s.after != nil && !s.opened { // No replacement begins for a file that is removed.
		s.also = append(s.also, s.open.unchanged(openKey(session.At(e.caller), e.session)))
	}
	writes, err := s.writes(ctx)
	if err == nil && len(writes) == 0 {
		err = fmt.Errorf("sessionfile: the bytes of %d files of %s have words and no records", len(some), e.session)
	}
	found.begun = true
	return &write.Plan{Writes: writes, Answer: found}, err
}

// sheet returns the session with all records of its bytes. A purged session has no open uploads.
func (e *erasing) sheet(ctx context.Context, got write.Items) (*sheet, []*Bytes, error) {
	place := session.At(e.caller)
	body, err := storedOrEmpty(place, got, e.session)
	if err != nil {
		return nil, nil, err
	}
	s := &sheet{
		Store: e.store, caller: e.caller, got: got, before: body, open: &Open{}, now: session.Later(wire.At(e.store.Now()), body),
	}
	if body.Version > 0 {
		if s.open, err = DecodeOpen(got[openKey(place, e.session)]); err != nil {
			return nil, nil, err
		}
	}
	var all []*Bytes
	pk, from, to := s.records().Range()
	for item, err := range e.store.Table.Between(ctx, pk, from, to) {
		if err != nil {
			return nil, nil, err
		}
		b, err := upload.Decode[Bytes](item)
		if err != nil {
			return nil, nil, err
		}
		all, got[item.Key] = append(all, b), item
	}
	return s, all, nil
}

// unerased returns some of the bytes with words. The bytes that a file has, and those of its upload, come
// together and after its former bytes: as long as the file is there, it says whose these are.
func (s *sheet) unerased(all []*Bytes) []*Bytes {
	var left []*Bytes
	for _, b := range all {
		if s.isLive(b) || b.Name != "" || b.File.Title != "" {
			left = append(left, b)
		}
	}
	slices.SortFunc(left, func(x, y *Bytes) int {
		switch a, b := s.isLive(x), s.isLive(y); {
		case a == b:
			return cmp.Or(cmp.Compare(x.File.ID, y.File.ID), cmp.Compare(x.ID, y.ID))
		case a:
			return 1
		}
		return -1
	})
	n := min(len(left), erasedAtOnce)
	if n < len(left) && n > 0 && s.isLive(left[n-1]) && left[n].File.ID == left[n-1].File.ID {
		n++
	}
	return left[:n]
}

// isLive reports whether a file has the bytes, or an open upload brings them.
func (s *sheet) isLive(b *Bytes) bool {
	u := s.open.Find(b.File.ID)
	return s.before.FileOf(b.ID) != nil || u != nil && u.Bytes == b.ID
}

// erase removes the file or the upload of bytes, and the words of the record. The record names the owner, and
// says no more of a file than before (Sent). It ends when every try of the erasure has ended, and no client can
// send the bytes any more.
func (s *sheet) erase(ctx context.Context, b *Bytes, owner string) error {
	if f := s.before.FileOf(b.ID); f != nil {
		s.change().RemoveFile(f.ID)
	}
	if u := s.open.Find(b.File.ID); u != nil && u.Bytes == b.ID {
		s.close(u.File)
	}
	wasFile, ends := s.before.FileOf(b.ID) != nil, wire.At(s.now.Add(uploadTime))
	return s.set(ctx, b.ID, "erased", func(b *Bytes) {
		b.Name, b.File.Title, b.File.Filename, b.File.AssignedTo = "", "", "", &owner
		if wasFile {
			b.Sent = nil
		} else if b.Sent != nil {
			b.Sent = &Sent{AssignedTo: true}
		}
		if b.Ends == nil || b.Ends.After(ends.Time) {
			b.Ends = &ends
		}
	})
}
