package sessionfile

import (
	"context"
	"crypto/hmac"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"lectern/shared/apierr"
	"lectern/shared/blob"
	"lectern/shared/keys"
	"lectern/shared/record"
	"lectern/shared/session"
	"lectern/shared/table"
	"lectern/shared/tenancy"
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

// hadFile reports whether there was a file for the bytes: the file that they replace, or the file that they were.
// The record of the bytes of a new file changes first when the bytes become the file, or are erased.
func (b *Bytes) hadFile() bool { return b.Sent != nil || b.Revision() > 1 }

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

const (
	// purpose is the purpose of the signatures of links.
	purpose = "file link"
	// idBytes is the length of an id in a link, and sumBytes that of the signature.
	idBytes, sumBytes = 16, 16
	// downloadTime is the life of the address that a link leads to.
	downloadTime = 5 * time.Minute
)

// where names the bytes of a file.
type where struct {
	session.Place
	session, bytes string
}

// link returns the last segment of the address of the bytes. The segment has the place and a
// signature, so a link that the service has not made costs no read.
func (st *Store) link(ctx context.Context, at where) (string, error) {
	text := binary.AppendUvarint(binary.AppendUvarint(nil, uint64(at.Org)), uint64(at.Event)) //nolint:gosec // ids are above 0
	for _, id := range []string{at.session, at.bytes} {
		parsed, err := uuid.Parse(id)
		if err != nil {
			return "", fmt.Errorf("sessionfile: link to %s: %w", id, err)
		}
		text = append(text, parsed[:]...)
	}
	sum, err := st.Keys.Sum(ctx, purpose, text)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(append(text, sum[:sumBytes]...)), nil
}

// open returns what a link names; 404 for a link that the service has not made.
func (st *Store) open(ctx context.Context, link string) (at where, err error) {
	text, err := base64.RawURLEncoding.DecodeString(link)
	if err != nil || len(text) < 2*idBytes+sumBytes {
		return at, Kind.NotFound()
	}
	text, sum := text[:len(text)-sumBytes], text[len(text)-sumBytes:]
	want, err := st.Keys.Sum(ctx, purpose, text)
	if err != nil {
		return at, err
	}
	if !hmac.Equal(sum, want[:sumBytes]) {
		return at, Kind.NotFound()
	}
	org, n := binary.Uvarint(text)
	event, m := binary.Uvarint(text[n:])
	ids := text[n+m:]
	at.Place = session.Of(int64(org), int64(event)) //nolint:gosec // link has signed both
	at.session, at.bytes = uuid.UUID(ids[:idBytes]).String(), uuid.UUID(ids[idBytes:]).String()
	return at, nil
}

// served returns a 404 for an organization that is disabled or does not exist.
func served(organization table.Item) error {
	if organization.PK == "" {
		return Kind.NotFound()
	}
	org, err := tenancy.Organizations.Decode(organization)
	if err == nil && org.Disabled {
		return Kind.NotFound()
	}
	return err
}

// Download returns the address of the bytes that a link names, for five minutes; 404 for bytes that no
// file of a session has, and for those of an organization that is disabled.
func (st *Store) Download(ctx context.Context, link string) (string, error) {
	at, err := st.open(ctx, link)
	if err != nil {
		return "", err
	}
	owner := table.Key{PK: table.Org(at.Org), SK: "-"}
	got, err := st.Table.GetMany(ctx, []table.Key{at.Body(at.session), owner})
	if err != nil {
		return "", err
	}
	if err := served(got[owner]); err != nil {
		return "", err
	}
	body, err := at.Live(got, at.session)
	if apierr.IsNotFound(err) {
		return "", Kind.NotFound()
	}
	if err != nil {
		return "", err
	}
	f := body.FileOf(at.bytes)
	if f == nil {
		return "", Kind.NotFound()
	}
	download := blob.Download{Key: object(at.Place, at.session, at.bytes), Name: f.Filename, Type: f.MIMEType}
	request, err := st.Blobs.Get(ctx, download, downloadTime)
	return request.URL, err
}
