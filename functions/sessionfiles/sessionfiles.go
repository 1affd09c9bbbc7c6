// Package sessionfiles is the Session Files tag group: the files of sessions, and the upload slots of
// an event (spec.md section 4.6, gaps.md section 6.1). Read sessionfiles.go for files, slots.go.
package sessionfiles

import (
	"context"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/blob"
	"lectern/shared/ratelimit"
	"lectern/shared/session/view"
	"lectern/shared/sessionfile"
	"lectern/shared/stores"
	"lectern/shared/wire"
	"lectern/shared/write"
)

const (
	files = "/v1/event/{eventId}/sessions/{sessionId}/files"
	one   = files + "/{fileId}"
)

// Group declares every route of the tag group.
var Group = api.NewGroup("Session Files", start, []api.Route[service]{
	api.Get("listContentSlots", "/v1/event/{eventId}/content-slots", (*service).slots, readers, api.Describe(aboutSlots)),
	api.Get("listSessionFiles", files, (*service).list, readers, api.Describe(aboutList)),
	api.Post("createSessionFile", files, (*service).create, writers, limit, api.Status(201), api.Describe(aboutCreate)),
	api.Post("uploadSessionFile", files+"/upload", (*service).upload, writers, limit, form, api.Status(201), api.Describe(aboutUpload)),
	api.Post("completeSessionFile", one+"/complete", (*service).complete, writers, limit, api.Repeatable, api.Describe(aboutComplete)),
	api.Post("replaceSessionFile", one+"/replace", (*service).replace, writers, limit, api.Describe(aboutReplace)),
	api.Put("updateSessionFile", one, (*service).update, writers, limit, api.Describe(aboutUpdate)),
	api.Delete("deleteSessionFile", one, (*service).remove, writers, limit, api.Describe(aboutDelete)),
	api.Get("downloadFile", "/files/{version}", (*service).download, auth.Public, api.Status(302), api.Describe(aboutDownload)),
})

var (
	readers = auth.Scopes{auth.ReadSessions}
	writers = auth.Scopes{auth.WriteSessions}
	limit   = api.Limit(ratelimit.SessionWrites)
	form    = api.TakesForm[sessionfile.Form](sessionfile.MaxForm, sessionfile.Larger)
)

const (
	aboutList = "Lists the files of the session. A file whose upload is not complete is not listed. `type` selects types, such as " +
		"`presentation`, `handout`, `poster` or `holding_slide`.\n\n" +
		"On an event with holding slides, each accepted session has a file of the type `holding_slide`: a PNG of 1920 by 1080 pixels with " +
		"title, time, room and speakers. The service draws it again after each change of these: `id` stays, and `url`, `filename`, `size` " +
		"and `updated_at` change. A client cannot change it: `PUT`, `replace`, `complete` and `DELETE` are a 409 `HOLDING_SLIDE`."

	aboutCreate = "Begins the upload of a file of up to 500 MB. Send the bytes to `upload.url` " +
		"with `upload.method` and all `upload.headers`, " +
		"within 15 minutes and once, and then call `complete`. The file is hidden until then; an upload that is not complete after " +
		"24 hours ends. A session may have 100 files; one more is a 409 `LIMIT_REACHED`. An SVG may have 2 MB.\n\n" +
		"A slot of `content_slot_id` must be active, apply to the session, take the type and have room; otherwise the answer is a 400. " +
		"A request that is repeated under its Idempotency-Key gets the same file with a new address; `upload` is null once the file " +
		"is complete, and an upload that has ended otherwise is a 409 `UPLOAD_ENDED`. For example:\n\n```json\n" +
		`{"filename": "slides.pdf", "size_bytes": 1048576, "content_type": "application/pdf"}` + "\n```\n\n" +
		"```sh\n" + `curl -X PUT --upload-file slides.pdf -H "Content-Type: application/pdf" -H "If-None-Match: *" "$upload_url"` + "\n```"

	aboutUpload = "Stores a file of up to 50 MB in one request. The parts of the form may come in any order, and unknown parts are ignored. " +
		"The type is that of the end of the name, or else that of the bytes; the checks are those of `complete` and of a slot. " +
		"A form that is broken or ends early stores nothing, and neither does one whose file is not scanned within 12 seconds: its 503 " +
		"names the direct upload, which waits. An Idempotency-Key counts for the same properties with the same bytes.\n\n" +
		"A deployment on AWS without an upload service takes about 4.4 MB; a larger form is a 413 there: begin a direct upload then. " +
		"For example:\n\n```sh\n" + `curl -H "x-access-token: $TOKEN" -F title=Opening -F file=@slides.pdf ` +
		`"$API/v1/event/$EVENT/sessions/$SESSION/files/upload"` + "\n```"

	aboutComplete = "Checks the uploaded bytes and makes the file visible. The bytes must have the declared size and type. " +
		"Programs, scripts, pages, and SVGs that are more than a picture are a 400. An SVG has no labels in HTML and no links to other " +
		"sites: export it without them, or as PNG or PDF. After such a 400 the upload has ended, and a file that was to be " +
		"replaced stays. While the bytes are missing, the answer is a 400 too, and the upload goes on. " +
		"Where the service has a scanner of malware, the bytes are scanned first: malware is such a 400, " +
		"and so is what the scanner cannot read to its end, such as an archive with a password; the bytes are removed. While " +
		"a scan goes on, the answer is a 503 with `Retry-After`, and the same request works later; if it still does not after an " +
		"hour, the scan has failed: begin another upload. " +
		"A complete file is answered as it is: compare `url` after a replacement, if an answer was lost."

	aboutReplace = "Begins the upload of other bytes of the file, as the create does. The file stays as it is until `complete`. " +
		"`id` stays; `url` changes with the bytes. Properties that are not sent stay."

	aboutUpdate = "Changes title and participant of the file. What a read shows can be sent back. " +
		"A stale `updated_at` or `If-Match` is a 409."

	aboutDelete = "Removes the file, or ends the upload of a file that is not complete. The address of the file is a 404 afterwards."

	aboutDownload = "Leads to the bytes of a file, for five minutes. The address is the `url` of a file and needs no token. " +
		"A browser saves the file and does not show it."
)

type service struct{ store *sessionfile.Store }

func start(env api.Env) *service { return &service{stores.SessionFiles(env)} }

// OnFile is the part of an input that names a file.
type OnFile struct {
	api.InSession
	FileID string `path:"fileId" format:"uuid" doc:"The file's id."`
}

// OnVersion is the part of an input that names a file and the version that the client has seen.
type OnVersion struct {
	OnFile
	api.Revision
}

func (in OnVersion) target(updatedAt wire.Opt[wire.Time]) sessionfile.Target {
	guard := write.Guard{UpdatedAt: updatedAt, IfMatch: in.IfMatch}
	return sessionfile.Target{Session: in.SessionID, ID: in.FileID, Guard: guard}
}

// SessionFile is the envelope of a file.
type SessionFile struct {
	Data *view.Content `json:"data"`
}

// Revision returns the version that an ETag names.
func (f *SessionFile) Revision() int64 { return f.Data.Revision() }

// UploadedFile is the envelope of a file whose bytes are to be sent.
type UploadedFile struct {
	Data FileUpload `json:"data"`
}

// FileUpload is a file with the request that sends its bytes.
type FileUpload struct {
	view.Content
	Upload *Upload `json:"upload" doc:"The request that sends the bytes; null if the file is complete."`
}

// Upload is a request that a client sends itself.
type Upload struct {
	URL     string            `json:"url" doc:"The address, for one request within 15 minutes."`
	Method  string            `json:"method" enum:"PUT"`
	Headers map[string]string `json:"headers" doc:"The headers that the request must have, with these values."`
}

// uploaded returns the answer of a begun upload.
func uploaded(begun *sessionfile.Begun, err error) (*UploadedFile, error) {
	if err != nil {
		return nil, err
	}
	return &UploadedFile{FileUpload{begun.Content, uploadOf(begun.Send)}}, nil
}

func uploadOf(send *blob.Request) *Upload {
	if send == nil {
		return nil
	}
	return &Upload{send.URL, send.Method, send.Headers}
}

// shown puts a file into its envelope.
func shown(f *view.Content, err error) (*SessionFile, error) {
	if err != nil {
		return nil, err
	}
	return &SessionFile{f}, nil
}

type listInput struct {
	api.InSession
	Types api.Strings `query:"type" pattern:"^[a-z][a-z0-9_]*$" maxLength:"64" doc:"Files of these types."`
}

// SessionFiles is the envelope of a list of files.
type SessionFiles struct {
	Data []view.Content `json:"data"`
}

func (s *service) list(ctx context.Context, in *listInput) (*SessionFiles, error) {
	all, err := s.store.List(ctx, auth.From(ctx), in.SessionID, in.Types)
	return &SessionFiles{all}, err
}

type createInput struct {
	api.InSession
	Body wire.Create[sessionfile.Draft]
}

func (s *service) create(ctx context.Context, in *createInput) (*UploadedFile, error) {
	return uploaded(s.store.Create(ctx, auth.From(ctx), in.SessionID, &in.Body.Draft))
}

type uploadInput struct{ api.InSession }

func (s *service) upload(ctx context.Context, in *uploadInput) (*SessionFile, error) {
	return shown(s.store.Upload(ctx, auth.From(ctx), in.SessionID, api.FormOf(ctx)))
}

type completeInput struct{ OnFile }

func (s *service) complete(ctx context.Context, in *completeInput) (*SessionFile, error) {
	return shown(s.store.Complete(ctx, auth.From(ctx), sessionfile.Target{Session: in.SessionID, ID: in.FileID}))
}

type replaceInput struct {
	OnVersion
	Body wire.Create[sessionfile.Draft]
}

func (s *service) replace(ctx context.Context, in *replaceInput) (*UploadedFile, error) {
	return uploaded(s.store.Replace(ctx, auth.From(ctx), in.target(wire.Opt[wire.Time]{}), &in.Body.Draft))
}

type updateInput struct {
	OnVersion
	Body wire.Update[sessionfile.Description]
}

func (s *service) update(ctx context.Context, in *updateInput) (*SessionFile, error) {
	return shown(s.store.Update(ctx, auth.From(ctx), in.target(in.Body.UpdatedAt), &in.Body.Draft))
}

type removeInput struct{ OnVersion }

func (s *service) remove(ctx context.Context, in *removeInput) (*api.None, error) {
	return nil, s.store.Delete(ctx, auth.From(ctx), in.target(wire.Opt[wire.Time]{}))
}

type downloadInput struct {
	Version string `path:"version" doc:"The last segment of the url of a file."`
}

func (s *service) download(ctx context.Context, in *downloadInput) (*api.Redirect, error) {
	to, err := s.store.Download(ctx, in.Version)
	return &api.Redirect{URL: to}, err
}
