// Package media stores the media of sessions: sound and film that a client sends to the bucket in
// parts. Read media.go, then store.go, join.go and transcript.go.
package media

import (
	"cmp"
	"path"
	"strings"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/scan"
	"lectern/shared/upload"
	"lectern/shared/wire"
)

// Folder begins the keys of the objects.
const Folder = "media"

const (
	// MaxSize is the size of the largest file, 50 GB.
	MaxSize = 50 << 30
	// PartSize is the advised size of a part.
	PartSize = 16 << 20
)

// Medium is a record as stored.
type Medium struct {
	upload.Upload
	Duration *float64 `json:"duration_seconds,omitempty"`
	// Scan is the verdict on the bytes; empty before complete, and for an item of an older release.
	Scan scan.Verdict `json:"scan_status,omitempty"`
	// Transcript is the state of the transcription; empty if none was ordered.
	Transcript Transcript `json:"transcript_status,omitempty"`
}

// KindCompleted is the published kind of a media item whose transcription is ordered. The bus sends it to
// the worker transcriber.
const KindCompleted = "media_item.completed"

// Kind is the kind of the media.
var Kind = &upload.Kind[Medium, *Medium]{
	Name: "media_item", Title: "Media item", Folder: Folder, Publishes: KindCompleted, Life: 7 * 24 * time.Hour,
}

// format is a kind of file.
type format struct {
	// family is video or audio, the kind of the media item.
	family, contentType string
}

// formats has the accepted files by their extension.
var formats = map[string]format{
	"mp4": {"video", "video/mp4"}, "mov": {"video", "video/quicktime"}, "mkv": {"video", "video/x-matroska"},
	"webm": {"video", "video/webm"}, "m4v": {"video", "video/x-m4v"}, "avi": {"video", "video/x-msvideo"},
	"mp3": {"audio", "audio/mpeg"}, "m4a": {"audio", "audio/mp4"}, "wav": {"audio", "audio/wav"},
	"aac": {"audio", "audio/aac"}, "flac": {"audio", "audio/flac"}, "ogg": {"audio", "audio/ogg"},
}

// formatOf returns the format of a file; a 400 for an extension that is not accepted.
func formatOf(filename string) (format, error) {
	f, ok := formats[extension(filename)]
	if !ok {
		return f, apierr.Invalid("filename", "filename must end with .mp4, .mov, .mkv, .webm, .m4v, .avi, .mp3, .m4a, .wav, .aac, .flac or .ogg.")
	}
	return f, nil
}

// keepsFormat returns a 400 for a name of another format than the file was declared with.
func (m *Medium) keepsFormat(filename string) error {
	declared, _ := formatOf(m.Name) // The name was checked when it was stored.
	if f, err := formatOf(filename); err != nil || f != declared {
		return apierr.Invalid("filename", "filename must have the extension of the name that initiate was given, %s.", path.Ext(m.Name))
	}
	return nil
}

// check returns the type to store: the declared one, or that of the extension. A declared type of
// neither sound nor film is a 400.
func (f format) check(declared string) (string, error) {
	family, _, _ := strings.Cut(strings.ToLower(declared), "/")
	switch {
	case declared == "":
		return f.contentType, nil
	case family != "audio" && family != "video":
		return "", apierr.Invalid("content_type", "content_type must be a type of audio or video.")
	}
	return declared, nil
}

// Item is a media item as the API shows it.
type Item struct {
	ID         string    `json:"id" format:"uuid" doc:"The id of the media item."`
	Type       string    `json:"type" enum:"media_item" doc:"Always media_item."`
	Title      string    `json:"title" doc:"The name of the file."`
	Platform   *string   `json:"platform" doc:"The platform that the media comes from; null for an upload."`
	Kind       string    `json:"kind" enum:"video,audio" doc:"What the file is, by its name."`
	EventID    int64     `json:"event_id" doc:"The event's id."`
	SessionID  string    `json:"session_id" format:"uuid" doc:"The session's id."`
	MediaS3Key string    `json:"media_s3_key" doc:"The name of the bytes in the store. It is no address."`
	Transcript *string   `json:"transcript_status" enum:"queued,processing,ready,failed" doc:"The state of the transcription: queued before the job starts, processing until all fragments are stored, then ready; failed if there is no text. Null if none was ordered, since the service had no transcriber."`
	ScanStatus string    `json:"scan_status" enum:"clean,not_scanned" doc:"Whether a scanner found no malware in the file, or did not scan it."`
	Duration   *float64  `json:"duration_seconds" doc:"The length that the client has told; null without it."`
	CreatedAt  wire.Time `json:"created_at" doc:"When the upload began."`
	UpdatedAt  wire.Time `json:"updated_at" doc:"When the item was changed last."`

	version int64
}

// RecordID returns the item's id.
func (i *Item) RecordID() string { return i.ID }

// Revision returns the version that an ETag names.
func (i *Item) Revision() int64 { return i.version }

// show returns the medium as an item of the caller's event.
func (m *Medium) show(c *auth.Caller) *Item {
	f, _ := formatOf(m.Name) // The name was checked when it was stored.
	return &Item{
		ID: m.ID, Type: Kind.Name, Title: m.Name, Kind: f.family, EventID: c.Event.ID, SessionID: m.SessionID, MediaS3Key: m.Object,
		ScanStatus: string(cmp.Or(m.Scan, scan.NotScanned)), Transcript: m.Transcript.shown(),
		Duration: m.Duration, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt, version: m.Revision(),
	}
}
