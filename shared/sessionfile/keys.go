package sessionfile

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"lectern/shared/keys"
	"lectern/shared/record"
	"lectern/shared/session"
	"lectern/shared/table"
	"lectern/shared/upload"
	"lectern/shared/wire"
)

// Keys are the patterns of the items of files, beside those of package upload.
var Keys = []keys.Pattern{{Name: "open uploads of a session", PK: "e#S#<session>", SK: "F", Expires: true, Personal: keys.Nothing}}

const (
	// uploadTime is the time from the create of a file to complete.
	uploadTime = 24 * time.Hour
	// Keep is the time for which the bytes of a deleted or replaced file stay.
	Keep = 30 * 24 * time.Hour
	// Folder begins the keys of the objects.
	Folder = "files"
)

// Kind is the kind of the bytes of files. The session's record says which bytes are a file.
var Kind = &upload.Kind[Bytes, *Bytes]{Name: "session_file", Title: "File", Folder: Folder, Life: uploadTime}

// Bytes is the record of the bytes of a file. A file whose bytes were replaced has several.
type Bytes struct {
	upload.Upload
	// File is the file as the client described it, without Link.
	File session.File `json:"file"`
	// Sent says what a replacement changes beside the bytes. It is nil for a new file.
	Sent *Sent `json:"sent,omitempty"`
}

// Sent reports which properties the client sent with a replacement.
type Sent struct {
	Title      bool `json:"title,omitempty"`
	AssignedTo bool `json:"assigned_participant_id,omitempty"`
}

// object returns the key of the bytes of an id.
func object(p session.Place, session, id string) string {
	return upload.Place{Place: p}.Object(Folder, session, id)
}

// openKey returns the key of the open uploads of a session.
func openKey(p session.Place, session string) table.Key {
	return table.Key{PK: p.Body(session).PK, SK: "F"}
}

// Open are the uploads of a session that clients may complete. The item expires after the last of them.
type Open struct {
	All     []OpenUpload `json:"uploads"`
	version int64
}

// OpenUpload names the bytes that a file is to have.
type OpenUpload struct {
	File  string `json:"file"`
	Bytes string `json:"bytes"`
	// SlotID is the slot that the file takes room in.
	SlotID *string   `json:"content_slot_id,omitempty"`
	Ends   wire.Time `json:"ends"`
}

// DecodeOpen reads the open uploads of a session; none from an empty item.
func DecodeOpen(item table.Item) (*Open, error) {
	o := &Open{version: item.Version}
	if item.Version == 0 {
		return o, nil
	}
	if err := json.Unmarshal(item.Data, o); err != nil {
		return nil, fmt.Errorf("sessionfile: decode the open uploads of %s: %w", item.PK, err)
	}
	return o, nil
}

// Find returns the upload of a file; nil without one.
func (o *Open) Find(file string) *OpenUpload {
	for i := range o.All {
		if o.All[i].File == file {
			return &o.All[i]
		}
	}
	return nil
}

// remove removes the upload of a file.
func (o *Open) remove(file string) {
	o.All = slices.DeleteFunc(o.All, func(u OpenUpload) bool { return u.File == file })
}

// unchanged returns the condition that no upload begins or ends.
func (o *Open) unchanged(key table.Key) table.Write {
	if o.version == 0 {
		return table.Absent(key)
	}
	return table.Version(key, o.version)
}

// write returns the write of the uploads. An empty list stays until its item expires: the version of a
// new item would be that of an earlier one, which another request may have read.
func (o *Open) write(key table.Key, now wire.Time) (table.Write, error) {
	item, err := record.Encode(key, o.version+1, o)
	if err != nil {
		return table.Write{}, err
	}
	item.Expires = now.Add(uploadTime + upload.Grace).Unix()
	if o.version == 0 {
		return table.Insert(item), nil
	}
	return table.Replace(item, o.version), nil
}
