package sessionfile

import (
	"context"

	"lectern/shared/apierr"
	"lectern/shared/scan"
	"lectern/shared/session"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// maxUploads is the number of open uploads of a session.
const maxUploads = 100

// withoutSlot is the type of a file outside any slot.
const withoutSlot = "other"

// beginUpload begins the upload of a new file, or of other bytes of a file.
type beginUpload struct {
	draft *Draft
	isNew bool
	guard write.Guard
	id    string
	// bytes is the new record of the bytes, without File. link is the link to the bytes.
	bytes *Bytes
	link  string
}

func (e *beginUpload) do(ctx context.Context, s *sheet) (*session.File, error) {
	s.close(e.id) // A later replacement takes the place of an earlier one.
	b := *e.bytes
	if err := e.describe(ctx, s, &b); err != nil {
		return nil, err
	}
	if e.isNew {
		if err := s.hasPlace(e.id); err != nil {
			return nil, err
		}
	}
	if len(s.open.All) >= maxUploads {
		return nil, apierr.TooMany("uploads", maxUploads, maxUploads, "Complete some first, or delete their files.")
	}
	s.open.All = append(s.open.All, OpenUpload{e.id, b.ID, b.File.SlotID, *b.Ends})
	writes, err := s.records().Writes(ctx, "created", nil, &b)
	if err != nil {
		return nil, err
	}
	s.also = append(s.also, writes...)
	f := b.File
	f.Link = e.link
	return &f, nil
}

// hasPlace returns the 409 of a session with as many files as it may have, without the file of an id.
func (s *sheet) hasPlace(id string) error {
	if s.count(id, nil) >= session.MaxFiles {
		return apierr.TooMany("files", session.MaxFiles, session.MaxFiles, apierr.DeleteSome)
	}
	return nil
}

// describe writes the file of the draft into the record of the bytes.
func (e *beginUpload) describe(ctx context.Context, s *sheet, b *Bytes) error {
	f := session.File{ID: e.id, Title: e.draft.Filename.Value, Type: withoutSlot, CreatedAt: s.now, Version: 1}
	stored := s.before.File(e.id)
	if !e.isNew {
		if stored == nil {
			return Kind.NotFound()
		}
		f, b.Sent = *stored, &Sent{e.draft.Title.Sent, e.draft.AssignedTo.Sent}
		f.Link, f.Scan, f.Title = "", "", titleFor(stored, b.Name)
	}
	f.Bytes, f.Filename, f.Size, f.MIMEType, f.UpdatedAt = b.ID, b.Name, b.Size, b.Type, s.now
	if err := e.draft.describe(&f, s.before); err != nil {
		return err
	}
	if err := e.putInSlot(ctx, s, &f); err != nil {
		return err
	}
	b.File = f
	if e.isNew {
		return nil
	}
	return e.guard.Check(stored.Version, stored.UpdatedAt)
}

// putInSlot checks the slot of a file and takes the type from it.
func (e *beginUpload) putInSlot(ctx context.Context, s *sheet, f *session.File) error {
	switch {
	case e.draft.SlotID.Has():
		slot, err := s.slot(ctx, e.draft.SlotID.Value, f.MIMEType)
		if err != nil {
			return err
		}
		f.SlotID, f.Type = &slot.ID, slot.ContentType
		return s.hasRoom(slot, f.ID)
	case e.draft.SlotID.Null:
		f.SlotID, f.Type = nil, withoutSlot
	case f.SlotID != nil:
		slot, err := s.anySlot(ctx, *f.SlotID)
		if err != nil || slot == nil {
			return err
		}
		return slot.checkType(f.MIMEType)
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

// count returns the number of files, with those of open uploads, in a slot or, for nil, of all. It leaves
// out the holding slide and the file except.
func (s *sheet) count(except string, slot *string) int {
	in := map[string]bool{}
	add := func(file string, of *string) {
		if slot == nil || of != nil && *of == *slot {
			in[file] = true
		}
	}
	for _, f := range s.before.Content {
		add(f.ID, f.SlotID)
	}
	delete(in, session.SlideID(s.before.ID))
	for _, u := range s.open.All {
		add(u.File, u.SlotID)
	}
	delete(in, except)
	return len(in)
}

// completeUpload makes the file of an upload visible.
type completeUpload struct {
	id, bytes, link string
	verdict         scan.Verdict
}

func (e completeUpload) do(ctx context.Context, s *sheet) (*session.File, error) {
	if f := s.before.FileOf(e.bytes); f != nil {
		return f, nil // Another request has completed the upload.
	}
	if err := s.isOpen(e.id, e.bytes); err != nil {
		return nil, err
	}
	b, err := s.records().Find(s.got, e.bytes)
	if err != nil {
		return nil, err
	}
	f := b.File
	if b.Sent != nil {
		stored := s.before.File(e.id)
		if stored == nil {
			return nil, Kind.NotFound()
		}
		f = b.replaced(stored)
		if err := s.discard(ctx, stored, "replaced", Keep); err != nil {
			return nil, err
		}
	}
	f.Link, f.Scan, f.UpdatedAt = e.link, string(e.verdict), s.now
	s.close(e.id)
	s.change().PutFile(f)
	return &f, s.keep(ctx, e.bytes)
}

// replaced returns a stored file with the bytes and what the client sent with them. An update may have
// changed the rest since then.
func (b *Bytes) replaced(stored *session.File) session.File {
	f := b.File
	f.Version = stored.Version + 1
	if !b.Sent.Title {
		f.Title = titleFor(stored, f.Filename)
	}
	if !b.Sent.AssignedTo {
		f.AssignedTo = stored.AssignedTo
	}
	return f
}

// titleFor returns the title of a stored file under another name: a title that is the name goes with the
// name.
func titleFor(stored *session.File, name string) string {
	if stored.Title == stored.Filename {
		return name
	}
	return stored.Title
}

// isOpen returns a 404 for a file without an open upload, and a 409 if a later upload of the file has
// begun.
func (s *sheet) isOpen(file, bytes string) error {
	u := s.open.Find(file)
	switch {
	case u == nil:
		return Kind.NotFound()
	case u.Bytes != bytes:
		return apierr.Conflict("UPLOAD_REPLACED", "A later upload of the file has begun. Complete that one.")
	}
	return nil
}

// dropUpload ends an upload.
type dropUpload struct{ id, bytes string }

func (e dropUpload) do(_ context.Context, s *sheet) (*session.File, error) {
	if err := s.isOpen(e.id, e.bytes); err != nil {
		return nil, err
	}
	s.close(e.id)
	return &session.File{ID: e.id}, nil
}

// updateFile changes the description of a file.
type updateFile struct {
	Target
	change *Description
}

func (e updateFile) do(_ context.Context, s *sheet) (*session.File, error) {
	f := s.change().File(e.ID)
	if f == nil {
		return nil, Kind.NotFound()
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

func (e deleteFile) do(ctx context.Context, s *sheet) (*session.File, error) {
	u, f := s.open.Find(e.ID), s.before.File(e.ID)
	if u == nil && f == nil {
		return nil, Kind.NotFound()
	}
	if u != nil {
		s.close(e.ID)
	}
	if f == nil {
		return &session.File{ID: e.ID}, nil
	}
	if err := e.Guard.Check(f.Version, f.UpdatedAt); err != nil {
		return nil, err
	}
	s.change().RemoveFile(e.ID)
	return f, s.discard(ctx, f, "deleted", Keep)
}
