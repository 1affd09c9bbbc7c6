package sessionfile

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"lectern/shared/keys"
	"lectern/shared/session"
	"lectern/shared/table"
)

// Keys are the patterns of the items of files. Names of files are words that others wrote.
var Keys = []keys.Pattern{
	{Name: "uploads of a session", PK: "e#S#<session>", SK: "F", Personal: keys.Outside},
	{Name: "bytes to be looked at", PK: "e#FB", SK: "<due>#<session>#<record>", Personal: keys.Nothing},
}

const (
	// uploadTime is how long a client may take from the create of a file to complete.
	uploadTime = 24 * time.Hour
	// leeway is longer than a request takes that began before the end of uploadTime.
	leeway = time.Hour
	// Keep is how long the bytes of a deleted or replaced file stay.
	Keep = 30 * 24 * time.Hour
)

// Place holds the keys of the files of an event's sessions.
type Place struct{ session.Place }

// At returns the Place of an event.
func At(org, event int64) Place { return Place{session.Of(org, event)} }

// Uploads returns the key of the uploads of a session.
func (p Place) Uploads(session string) table.Key {
	return table.Key{PK: p.Body(session).PK, SK: "F"}
}

// Folder is the first part of the keys of files in the store of bytes.
const Folder = "files"

// Object returns the key in the store of bytes.
func (p Place) Object(session, bytes string) string {
	return fmt.Sprintf("%s/%d/%d/%s/%s", Folder, p.Org, p.Event, session, bytes)
}

// Due names bytes that a sweep looks at from a time on. The sweep removes bytes that no file has.
type Due struct {
	Session string `json:"-"`
	Bytes   string `json:"-"`
	// File is the file that had the bytes.
	File string `json:"file"`
}

// DuePartition returns the partition of the event's Dues.
func (p Place) DuePartition() string { return table.Event(p.Org, p.Event) + "#FB" }

// DueBound returns the sort key that follows all Dues before a time.
func DueBound(at time.Time) string { return at.UTC().Format("20060102150405") }

// Write returns the write of a Due at a time.
func (d Due) Write(p Place, at time.Time) table.Write {
	key := table.Key{PK: p.DuePartition(), SK: DueBound(at) + "#" + d.Session + "#" + d.Bytes}
	return table.Put(table.Item{Key: key, Version: 1, Data: fmt.Appendf(nil, `{"file":%q}`, d.File)})
}

// DecodeDue reads a Due from its item.
func DecodeDue(item table.Item) (d Due, err error) {
	if err := json.Unmarshal(item.Data, &d); err != nil {
		return d, fmt.Errorf("sessionfile: decode %s: %w", item.SK, err)
	}
	_, rest, _ := strings.Cut(item.SK, "#")
	d.Session, d.Bytes, _ = strings.Cut(rest, "#")
	return d, nil
}

// Upload is a file whose bytes were not checked yet.
type Upload struct {
	session.File
	// Replaces reports whether the session has a file of the id, with other bytes.
	Replaces bool `json:"replaces,omitempty"`
	// Since is the time of the request that began the upload.
	Since time.Time `json:"since"`
}

// Uploads are the uploads of a session that have not ended.
type Uploads struct {
	All     []*Upload `json:"uploads"`
	version int64
}

// DecodeUploads reads the uploads of a session; none from an empty item.
func DecodeUploads(item table.Item) (*Uploads, error) {
	u := &Uploads{version: item.Version}
	if item.Version == 0 {
		return u, nil
	}
	if err := json.Unmarshal(item.Data, u); err != nil {
		return nil, fmt.Errorf("sessionfile: decode the uploads of %s: %w", item.PK, err)
	}
	return u, nil
}

// Find returns the upload of a file; nil without one.
func (u *Uploads) Find(id string) *Upload {
	for _, upload := range u.All {
		if upload.ID == id {
			return upload
		}
	}
	return nil
}
