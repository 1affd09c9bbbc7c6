package sessionfile

import (
	"context"

	"lectern/shared/apierr"
	"lectern/shared/session"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// maxUploads is the number of uploads of a session at one time.
const maxUploads = 100

// withoutSlot is the type of a file outside any slot.
const withoutSlot = "other"

// beginUpload begins the upload of a new file, or of other bytes of a file.
type beginUpload struct {
	draft *Draft
	isNew bool
	guard write.Guard
	// id is the file's, bytes that of the bytes.
	id, bytes, link string
}

func (e *beginUpload) do(ctx context.Context, s *sheet) (*session.File, error) {
	if former := s.uploads.Find(e.id); former != nil {
		s.end(former)
	}
	u, err := e.upload(ctx, s)
	if err != nil {
		return nil, err
	}
	switch {
	case e.isNew && s.count(e.id, nil) >= session.MaxFiles:
		return nil, apierr.TooMany("files", session.MaxFiles, session.MaxFiles, apierr.DeleteSome)
	case len(s.uploads.All) >= maxUploads:
		return nil, apierr.TooMany("uploads", maxUploads, maxUploads, "Complete some first, or delete their files.")
	}
	s.uploads.All, s.began = append(s.uploads.All, u), true
	s.lookAt(&u.File, uploadTime+leeway)
	return &u.File, nil
}

// upload returns the upload of the draft.
func (e *beginUpload) upload(ctx context.Context, s *sheet) (*Upload, error) {
	u := &Upload{Since: s.Now(), File: session.File{
		ID: e.id, Title: e.draft.Filename.Value, Type: withoutSlot, CreatedAt: s.now, Version: 1,
	}}
	if !e.isNew {
		stored := s.before.File(e.id)
		if stored == nil {
			return nil, NotFound()
		}
		if err := e.guard.Check(stored.Version, stored.UpdatedAt); err != nil {
			return nil, err
		}
		u.File, u.Replaces = *stored, true
		if stored.Title == stored.Filename {
			u.Title = e.draft.Filename.Value
		}
	}
	u.Filename, u.Size, u.MIMEType = e.draft.Filename.Value, e.draft.Size.Value, e.draft.kind()
	u.Bytes, u.Link, u.UpdatedAt = e.bytes, e.link, s.now
	if err := e.draft.describe(&u.File, s.before); err != nil {
		return nil, err
	}
	return u, e.putInSlot(ctx, s, u)
}

// putInSlot checks the slot of an upload and takes the type from it.
func (e *beginUpload) putInSlot(ctx context.Context, s *sheet, u *Upload) error {
	switch {
	case e.draft.SlotID.Has():
		slot, err := s.slot(ctx, e.draft.SlotID.Value, u.MIMEType)
		if err != nil {
			return err
		}
		u.SlotID, u.Type = &slot.ID, slot.ContentType
		return s.hasRoom(slot, u.ID)
	case e.draft.SlotID.Null:
		u.SlotID, u.Type = nil, withoutSlot
	case u.SlotID != nil:
		slot, err := s.anySlot(ctx, *u.SlotID)
		if err != nil || slot == nil {
			return err
		}
		return slot.checkType(u.MIMEType)
	}
	return nil
}

// hasRoom returns the 400 of a slot that is full without the file of an id.
func (s *sheet) hasRoom(slot *StoredSlot, id string) error {
	if s.count(id, &slot.ID) >= slot.MaxFiles {
		return apierr.Invalid(slotField, "The upload slot %q takes at most %d files of a session.", slot.Name, slot.MaxFiles)
	}
	return nil
}

// count returns the number of files and of uploads of new files, in a slot or, for nil, all of them. It
// leaves out the file except.
func (s *sheet) count(except string, slot *string) (n int) {
	in := map[string]bool{}
	is := func(f session.File) bool { return slot == nil || f.SlotID != nil && *f.SlotID == *slot }
	for _, f := range s.before.Content {
		if is(f) {
			in[f.ID] = true
		}
	}
	for _, u := range s.uploads.All {
		if is(u.File) {
			in[u.ID] = true
		}
	}
	delete(in, except)
	return len(in)
}

// completeUpload makes the file of an upload visible.
type completeUpload struct{ id, bytes string }

func (e completeUpload) do(_ context.Context, s *sheet) (*session.File, error) {
	if f := s.before.FileOf(e.bytes); f != nil {
		return f, nil // Another request has completed the upload.
	}
	u, err := s.upload(e.id, e.bytes)
	if err != nil {
		return nil, err
	}
	s.end(u)
	f := u.File
	f.UpdatedAt = s.now
	if u.Replaces {
		stored := s.before.File(e.id)
		if stored == nil {
			return nil, NotFound()
		}
		f.Version = stored.Version + 1
		s.lookAt(stored, Keep)
	}
	s.change().PutFile(f)
	return &f, nil
}

// upload returns the upload of bytes; 404 for a file without it, 409 if a later upload of the file has
// begun.
func (s *sheet) upload(id, bytes string) (*Upload, error) {
	u := s.uploads.Find(id)
	switch {
	case u == nil:
		return nil, NotFound()
	case u.Bytes != bytes:
		return nil, apierr.Conflict("UPLOAD_REPLACED", "A later upload of the file has begun. Complete that one.")
	}
	return u, nil
}

// dropUpload ends an upload.
type dropUpload struct{ id, bytes string }

func (e dropUpload) do(_ context.Context, s *sheet) (*session.File, error) {
	u, err := s.upload(e.id, e.bytes)
	if err != nil {
		return nil, err
	}
	s.end(u)
	return &u.File, nil
}

// updateFile changes the description of a file.
type updateFile struct {
	Target
	change *Description
}

func (e updateFile) do(_ context.Context, s *sheet) (*session.File, error) {
	f := s.change().File(e.ID)
	if f == nil {
		return nil, NotFound()
	}
	if err := e.change.describe(f, s.before); err != nil {
		return nil, err
	}
	if err := e.Guard.Check(f.Version, f.UpdatedAt); err != nil {
		return nil, err
	}
	f.Version++
	f.UpdatedAt = wire.After(f.UpdatedAt, s.now.Time)
	return f, nil
}

// deleteFile removes a file with its upload.
type deleteFile Target

func (e deleteFile) do(_ context.Context, s *sheet) (*session.File, error) {
	u, f := s.uploads.Find(e.ID), s.before.File(e.ID)
	if u == nil && f == nil {
		return nil, NotFound()
	}
	if u != nil {
		s.end(u)
	}
	if f == nil {
		return &u.File, nil
	}
	if err := e.Guard.Check(f.Version, f.UpdatedAt); err != nil {
		return nil, err
	}
	s.change().RemoveFile(e.ID)
	s.lookAt(f, Keep)
	return f, nil
}
