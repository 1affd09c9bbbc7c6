// Package recording stores the recordings of sessions: sound that a client sends to the bucket in one
// request, and that is kept as uncompressed speech. A worker converts other sound (decision 46). Read
// recording.go, store.go, convert.go.
package recording

import (
	"time"

	"lectern/shared/sound"
	"lectern/shared/upload"
	"lectern/shared/wire"
)

// Folder begins the keys of the objects.
const Folder = "recordings"

// encoding is the encoding of the sound of recordings: uncompressed, 16 bits a sample.
const encoding = "linear16"

// The states of a recording.
const (
	pending   = "recording"
	completed = "completed"
)

// Recording is a record as stored.
type Recording struct {
	upload.Upload
	Duration    *float64   `json:"duration_seconds,omitempty"`
	CompletedAt *wire.Time `json:"completed_at,omitempty"`
	// Conversion is the state of a conversion that was ordered, and Source the sound to convert.
	Conversion Conversion    `json:"conversion,omitempty"`
	Source     *sound.Format `json:"source,omitempty"`
}

// KindReceived is the published kind of a recording whose conversion is ordered. The bus sends it to the worker
// converter.
const KindReceived = "recording.received"

// Kind is the kind of the recordings.
var Kind = &upload.Kind[Recording, *Recording]{
	Name: "recording", Title: "Recording", Folder: Folder, Publishes: KindReceived, Life: life,
}

// life is the time for which a recording is open, and for which a failed one is kept.
const life = 24 * time.Hour

// Item is a recording as the API shows it.
type Item struct {
	ID          string     `json:"id" format:"uuid" doc:"The id of the recording."`
	Type        string     `json:"type" enum:"recording" doc:"Always recording."`
	SessionID   string     `json:"session_id" format:"uuid" doc:"The session's id."`
	Bucket      string     `json:"s3_bucket" doc:"The name of the store. It is no address."`
	Key         string     `json:"s3_key" doc:"The name of the bytes in the store. It is no address."`
	Encoding    string     `json:"encoding" enum:"linear16" doc:"The encoding of the sound."`
	SampleRate  int        `json:"sample_rate" doc:"Samples a second, always 16000."`
	Channels    int        `json:"channels" doc:"The number of channels, always 1."`
	Status      string     `json:"status" enum:"recording,completed" doc:"recording until the bytes are complete and converted."`
	Duration    *float64   `json:"duration_seconds" doc:"The length of the sound; null before it is complete."`
	Size        int64      `json:"file_size_bytes" doc:"The size of the file in bytes: as declared, and as stored once it is completed: that of the converted file after a conversion."`
	StartedAt   wire.Time  `json:"started_at" doc:"When the upload began."`
	CompletedAt *wire.Time `json:"completed_at" doc:"When the recording was completed; null before."`
	CreatedAt   wire.Time  `json:"created_at" doc:"When the recording was created."`
	UpdatedAt   wire.Time  `json:"updated_at" doc:"When the recording was changed last."`

	version int64
}

// RecordID returns the recording's id.
func (i *Item) RecordID() string { return i.ID }

// Revision returns the version that an ETag names.
func (i *Item) Revision() int64 { return i.version }

// bucket is the name of the store in answers. The bucket's own name has the account of AWS.
const bucket = "lectern"

// show returns the recording as an item.
func (r *Recording) show() *Item {
	i := &Item{
		ID: r.ID, Type: Kind.Name, SessionID: r.SessionID, Bucket: bucket, Key: r.Object,
		Encoding: encoding, SampleRate: sound.Rate, Channels: sound.Channels, Status: pending, Duration: r.Duration, Size: r.Size,
		StartedAt: r.CreatedAt, CompletedAt: r.CompletedAt, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, version: r.Revision(),
	}
	if r.Stored() && !r.Converting() {
		i.Status = completed
	}
	return i
}
