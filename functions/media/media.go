// Package media is the Media tag group: sound and film of sessions, sent to the store in parts
// (gaps.md section 6.4).
package media

import (
	"context"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/media"
	"lectern/shared/page"
	"lectern/shared/ratelimit"
)

const (
	items   = "/v1/event/{eventId}/sessions/{sessionId}/media"
	uploads = items + "/upload"
)

// Group declares every route of the tag group.
var Group = api.NewGroup("Media", start, []api.Route[service]{
	api.Post("initiateMediaUpload", uploads+"/initiate", (*service).initiate, writers, limit, api.Status(201), api.Describe(aboutInitiate)),
	api.Post("signMediaUploadParts", uploads+"/sign-part", (*service).sign, writers, limit, api.Repeatable, api.Describe(aboutSign)),
	api.Post("completeMediaUpload", uploads+"/complete", (*service).complete, writers, limit, api.Status(201), api.Repeatable,
		api.Describe(aboutComplete)),
	api.Post("abortMediaUpload", uploads+"/abort", (*service).abort, writers, limit, api.Repeatable, api.Describe(aboutAbort)),
	api.Get("getMediaItem", items+"/{mediaItemId}", (*service).get, auth.Scopes{auth.ReadMedia}, api.Describe(aboutGet)),
})

var (
	writers = auth.Scopes{auth.WriteMedia}
	limit   = api.Limit(ratelimit.MediaWrites)
)

const (
	aboutInitiate = "Begins the upload of a file of at most 50 GB: MP4, MOV, MKV, WEBM, M4V, AVI, MP3, M4A, WAV, AAC, FLAC or OGG. " +
		"Then sign the parts, send each with PUT, keep the `ETag` of each answer, and complete the upload within 7 days. " +
		"For example:\n\n```json\n" + `{"filename": "keynote.mp4", "size_bytes": 734003200, "content_type": "video/mp4"}` + "\n```"

	aboutSign = "Signs the requests that send parts, at most 1,000 at once. A part has at least 5 MiB, but for the last; it may be sent " +
		"again, and the last bytes count. The addresses hold for 15 minutes, so sign the parts of a large file little by little. " +
		"For example:\n\n```json\n" + `{"key": "media/7/9/...", "upload_id": "...", "part_numbers": [1, 2, 3]}` + "\n```"

	aboutComplete = "Joins the parts into a media item. The parts must be in the order of their numbers, with the `etag` of each, and have " +
		"`size_bytes` together. A second call answers the item as it is. Where the service has a scanner of malware, the file is scanned " +
		"first: a file with malware is refused with 400 and removed; while a scan goes on, the answer is a 503 with `Retry-After`, and " +
		"the same request works later; if it still does not after some hours, the scan has failed: begin " +
		"another upload. A file that the scanner does not read to its end has the `scan_status` `not_scanned`. Where the service " +
		"has a transcriber, the transcription is ordered: `transcript_status` is `queued`, and the fragments are in the session's " +
		"transcriptions once it is `ready`. Without one, it is null. On a developer's machine, the transcriber is a stand-in, and its " +
		"text says so. " +
		"For example:\n\n```json\n" + `{"key": "media/7/9/...", "upload_id": "...", "filename": "keynote.mp4", "size_bytes": 734003200, ` +
		`"parts": [{"part_number": 1, "etag": "\"9b2cf5\""}]}` + "\n```"

	aboutAbort = "Gives up an upload. What was sent is removed at once, or with the next maintenance after `expires_at`. " +
		"A second call does nothing. A completed upload is a 409 `UPLOAD_COMPLETED`."

	aboutGet = "Returns a media item. An upload is a 404 before it is complete."
)

type service struct{ store media.Store }

func start(env api.Env) *service { return &service{media.NewStore(env)} }

// Answer is an answer that shows no record.
type Answer[T any] struct {
	Data T `json:"data"`
}

type initiateInput struct {
	api.InSession
	Body media.Initiation
}

func (s *service) initiate(ctx context.Context, in *initiateInput) (*Answer[*media.Opened], error) {
	opened, err := s.store.Initiate(ctx, auth.From(ctx), in.SessionID, in.Body)
	return &Answer[*media.Opened]{opened}, err
}

type signInput struct {
	api.InSession
	Body media.Numbers
}

// Parts lists signed requests.
type Parts struct {
	Parts []media.Signed `json:"parts"`
}

func (s *service) sign(ctx context.Context, in *signInput) (*Answer[Parts], error) {
	signed, err := s.store.Sign(ctx, auth.From(ctx), in.SessionID, in.Body)
	return &Answer[Parts]{Parts{signed}}, err
}

type completeInput struct {
	api.InSession
	Body media.Completion
}

func (s *service) complete(ctx context.Context, in *completeInput) (*page.One[*media.Item], error) {
	return page.Show(s.store.Complete(ctx, auth.From(ctx), in.SessionID, in.Body))
}

type abortInput struct {
	api.InSession
	Body media.Target
}

// Aborted says that an upload was given up.
type Aborted struct {
	Aborted bool `json:"aborted" doc:"Always true."`
}

func (s *service) abort(ctx context.Context, in *abortInput) (*Answer[Aborted], error) {
	return &Answer[Aborted]{Aborted{true}}, s.store.Abort(ctx, auth.From(ctx), in.SessionID, in.Body)
}

type getInput struct {
	api.InSession
	ID string `path:"mediaItemId" format:"uuid" doc:"The id of the media item."`
}

func (s *service) get(ctx context.Context, in *getInput) (*page.One[*media.Item], error) {
	return page.Show(s.store.Get(ctx, auth.From(ctx), in.SessionID, in.ID))
}
