package session

import (
	"cmp"
	"slices"

	"github.com/google/uuid"

	"lectern/shared/scan"
	"lectern/shared/wire"
)

// MaxFiles is the number of files that a session may have.
const MaxFiles = 100

// File is a completed file of a session. Its bytes are in the store of bytes.
type File struct {
	ID string `json:"id"`
	// Bytes is the id of the bytes: other bytes have another id.
	Bytes string `json:"bytes"`
	// Link is the last segment of the file's address. Whoever has the link can download the bytes.
	Link     string  `json:"link,omitempty"`
	Title    string  `json:"title,omitempty"`
	Filename string  `json:"filename,omitempty"`
	Size     int64   `json:"size"`
	MIMEType string  `json:"mimetype"`
	Type     string  `json:"type"`
	SlotID   *string `json:"content_slot_id,omitempty"`
	// AssignedTo is the id of a contact.
	AssignedTo *string `json:"assigned_participant_id,omitempty"`
	// Digest is the digest of what a holding slide shows; empty for other files.
	Digest string `json:"digest,omitempty"`
	// Scan is the verdict of a scanner on the bytes; empty for a file of an older release.
	Scan      string    `json:"scan_status,omitempty"`
	CreatedAt wire.Time `json:"created_at"`
	UpdatedAt wire.Time `json:"updated_at"`
	Version   int64     `json:"version"`
}

// HoldingSlide is the type of the file that the service draws of a session.
const HoldingSlide = "holding_slide"

// slideSpace is the namespace of the ids of holding slides.
var slideSpace = uuid.MustParse("2b6d0c1f-7a34-4c80-9d5e-51f6a8e3c7b4")

// SlideID returns the id of the holding slide of a session (a UUID of version 5): always the same for a
// session.
func SlideID(session string) string { return uuid.NewSHA1(slideSpace, []byte(session)).String() }

// IsSlide reports whether the file of an id is the session's holding slide. A client may give its own
// files the same type, by a slot.
func (b *Body) IsSlide(id string) bool { return id == SlideID(b.ID) && b.File(id) != nil }

// RecordID returns the id of the bytes. A repeated request under an Idempotency-Key finds the upload that
// the first request has begun, and no later upload of the file.
func (f *File) RecordID() string { return f.Bytes }

// Revision returns the version that an ETag names.
func (f *File) Revision() int64 { return f.Version }

// File returns the file of an id; nil if the session has none.
func (b *Body) File(id string) *File {
	for i := range b.Content {
		if b.Content[i].ID == id {
			return &b.Content[i]
		}
	}
	return nil
}

// FileOf returns the file with the bytes of an id; nil if the session has none.
func (b *Body) FileOf(bytes string) *File {
	for i := range b.Content {
		if b.Content[i].Bytes == bytes {
			return &b.Content[i]
		}
	}
	return nil
}

// ScanStatus returns the verdict of a scanner on the bytes, also for a file that no scanner has read.
func (f *File) ScanStatus() string { return cmp.Or(f.Scan, string(scan.NotScanned)) }

// PutFile adds a file, or replaces the file of its id.
func (b *Body) PutFile(f File) {
	if stored := b.File(f.ID); stored != nil {
		*stored = f
		return
	}
	b.Content = append(b.Content, f)
}

// RemoveFile removes the file of an id.
func (b *Body) RemoveFile(id string) {
	for i, f := range b.Content {
		if f.ID == id {
			b.Content = slices.Delete(b.Content, i, i+1)
			return
		}
	}
}

// withoutWords returns the body for a change record, without the links, titles, names and digests of files:
// an erasure finds these words with the files.
func (b *Body) withoutWords() *Body {
	shown := *b
	shown.Content = slices.Clone(b.Content)
	for i := range shown.Content {
		f := &shown.Content[i]
		f.Link, f.Title, f.Filename, f.Digest = "", "", "", ""
	}
	return &shown
}
