// Package recordings is the Session Recordings tag group: the archive of the sound of sessions
// (gaps.md section 6.3).
package recordings

import (
	"context"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/page"
	"lectern/shared/ratelimit"
	"lectern/shared/recording"
	"lectern/shared/upload"
)

const (
	all = "/v1/event/{eventId}/sessions/{sessionId}/recordings"
	one = all + "/{id}"
)

// Group declares every route of the tag group.
var Group = api.NewGroup("Session Recordings", start, []api.Route[service]{
	api.Get("listRecordings", all, (*service).list, readers, api.Describe(aboutList)),
	api.Post("createRecording", all, (*service).create, writers, limit, api.Status(201), api.Describe(aboutCreate)),
	api.Get("getRecording", one, (*service).get, readers, api.Describe(aboutGet)),
	api.Post("completeRecording", one+"/complete", (*service).complete, writers, limit, api.Repeatable, api.Describe(aboutComplete)),
}).Named("recordings")

var (
	readers = auth.Scopes{auth.ReadTranscriptions}
	writers = auth.Scopes{auth.WriteTranscriptions}
	limit   = api.Limit(ratelimit.TranscriptionWrites)
)

const (
	aboutList = "Lists the recordings of a session in the order of their creation, those too whose bytes are not complete yet."

	aboutCreate = "Creates a recording and signs the request that sends its bytes: a WAV file of at most 5 GB. All recordings are kept as " +
		"16-bit mono sound with 16,000 samples a second; other WAV sound is converted. Send the file with the given method " +
		"and headers within 15 minutes, and complete the recording within 24 hours; " +
		"otherwise it is removed. The address works once, for the declared size alone. For example:\n\n```json\n" +
		`{"filename": "hall-a.wav", "size_bytes": 115200044, "content_type": "audio/wav"}` + "\n```"

	aboutGet = "Returns a recording."

	aboutComplete = "Completes a recording after its bytes were sent. The first 64 KB of the file say what the sound is. " +
		"16-bit mono sound with 16,000 samples a second is completed at once. Other WAV sound is converted afterwards: " +
		"8, 16, 24 or 32 bits, floating-point numbers of 32 or 64 bits, A-law or µ-law, up to 16 channels, " +
		"which are mixed to their mean, and a usual rate " +
		"from 8 to 192 kHz. The recording reads `recording` until then, and `completed` with the size and the length of the converted " +
		"sound afterwards. Any other file is a 422 `TRANSCODE_ERROR`; so is sound that has more than 5 GB after the conversion, and " +
		"one that the conversion has found damaged. Such a recording cannot be completed; create another one. " +
		"A second call answers the recording as it is. For example:\n\n```json\n" +
		`{"duration_seconds": 3600, "file_size_bytes": 115200044}` + "\n```"
)

type service struct{ store recording.Store }

func start(env api.Env) *service { return &service{recording.Store{Store: upload.NewStore(env)}} }

// Of is the part of an input that names a recording.
type Of struct {
	ID string `path:"id" format:"uuid" doc:"The recording's id."`
}

type listInput struct {
	api.InSession
	page.Query
}

func (s *service) list(ctx context.Context, in *listInput) (*page.List[*recording.Item], error) {
	return s.store.List(ctx, auth.From(ctx), in.SessionID, in.Query)
}

type createInput struct {
	api.InSession
	Body recording.Draft
}

func (s *service) create(ctx context.Context, in *createInput) (*page.One[*recording.Created], error) {
	return page.Show(s.store.Create(ctx, auth.From(ctx), in.SessionID, in.Body))
}

type getInput struct {
	api.InSession
	Of
}

func (s *service) get(ctx context.Context, in *getInput) (*page.One[*recording.Item], error) {
	return page.Show(s.store.Get(ctx, auth.From(ctx), in.SessionID, in.ID))
}

type completeInput struct {
	api.InSession
	Of
	Body recording.Completion `required:"false"`
}

func (s *service) complete(ctx context.Context, in *completeInput) (*page.One[*recording.Item], error) {
	return page.Show(s.store.Complete(ctx, auth.From(ctx), in.SessionID, in.ID, in.Body))
}
