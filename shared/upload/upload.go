// Package upload stores the records of bytes that clients send to the bucket: media, recordings and
// files of sessions. A record is stored before its client may send a byte, and outlives the bytes, so
// every object of the bucket has an owner. A record that Ends is removed with its bytes after that time
// (shared/purge); so is every record of a session that is gone.
//
// Read upload.go, kind.go, collection.go, operation.go, complete.go, scan.go.
package upload

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"lectern/shared/keys"
	"lectern/shared/session"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Keys are the patterns of the items. The name of a file of a contact is the contact's text.
var Keys = []keys.Pattern{{Name: "upload", PK: "e#UP", SK: "<session>#<kind>#<id>", Personal: keys.Person}}

// Grace is the time after the end of an upload for which the bytes stay: a request that began before
// the end is done by then.
const Grace = time.Hour

// lastKey follows all ids in a sort key.
const lastKey = "~"

// Upload is the part that all records with bytes have.
type Upload struct {
	ID        string `json:"id"`
	SessionID string `json:"session_id"`
	// Object is the key of the bytes in the bucket. Multipart is the id of an upload in parts; empty
	// for an upload in one request.
	Object    string `json:"object"`
	Multipart string `json:"multipart,omitempty"`
	// Name, Type and Size are what the client declared: the file's name, the type of the content, the
	// number of bytes.
	Name string `json:"name"`
	Type string `json:"type"`
	Size int64  `json:"size"`
	// Ends is the time after which record and bytes are removed; nil for a record that stays.
	Ends *wire.Time `json:"ends,omitempty"`
	// Aborted reports whether the client gave up the upload.
	Aborted bool `json:"aborted,omitempty"`
	// Published counts the published changes.
	Published int64     `json:"published,omitempty"`
	CreatedAt wire.Time `json:"created_at"`
	UpdatedAt wire.Time `json:"updated_at"`

	version int64
}

// RecordID returns the record's id.
func (u *Upload) RecordID() string { return u.ID }

// Revision returns the version that an ETag names.
func (u *Upload) Revision() int64 { return u.version }

// Stored reports whether the upload is complete: the bytes stay.
func (u *Upload) Stored() bool { return u.Ends == nil }

// Open reports whether the client may still send bytes and complete the upload.
func (u *Upload) Open(now time.Time) bool {
	return u.Ends != nil && !u.Aborted && now.Before(u.Ends.Time)
}

func (u *Upload) upload() *Upload { return u }

// Record is a pointer to a record of type R with an embedded Upload.
type Record[R any] interface {
	*R
	RecordID() string
	Revision() int64
	upload() *Upload
}

// Place holds the keys of an event's records.
type Place struct{ session.Place }

// At returns the Place of an event.
func At(org, event int64) Place { return Place{session.Of(org, event)} }

// Partition returns the partition of the event's records.
func (p Place) Partition() string { return table.Event(p.Org, p.Event) + "#UP" }

// Key returns the key of a record.
func (p Place) Key(session, kind, id string) table.Key {
	return table.Key{PK: p.Partition(), SK: session + "#" + kind + "#" + id}
}

// KindOf returns the name of the kind of the record under a key.
func KindOf(key table.Key) string {
	_, rest, _ := strings.Cut(key.SK, "#")
	kind, _, _ := strings.Cut(rest, "#")
	return kind
}

// Object returns the key of the bytes of a record. The folder is that of the kind.
func (p Place) Object(folder, session, id string) string {
	return fmt.Sprintf("%s/%d/%d/%s/%s", folder, p.Org, p.Event, session, id)
}

// Parse returns the place, the session and the id of the record that an object of a folder belongs to. It
// reports false for any other text.
func Parse(folder, object string) (p Place, session, id string, ok bool) {
	parts := strings.Split(object, "/")
	const length = 5 // As in Object.
	if len(parts) != length || parts[0] != folder {
		return p, "", "", false
	}
	org, orgErr := strconv.ParseInt(parts[1], 10, 64)
	event, eventErr := strconv.ParseInt(parts[2], 10, 64)
	return At(org, event), parts[3], parts[4], orgErr == nil && eventErr == nil
}

// IDOf returns the id of the record that an object of the session belongs to. It reports false for an
// object of another folder or session, and for a text that is no key of an object.
func (p Place) IDOf(folder, session, object string) (id string, ok bool) {
	id, ok = strings.CutPrefix(object, p.Object(folder, session, ""))
	return id, ok && wire.IsID(id)
}
