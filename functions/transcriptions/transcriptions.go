// Package transcriptions is the Transcriptions tag group: the texts about the sessions of an
// event, and the packs of content made of them (gaps.md sections 6.2 and 6.5).
package transcriptions

import (
	"context"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/content"
	"lectern/shared/page"
	"lectern/shared/ratelimit"
	"lectern/shared/stores"
	"lectern/shared/transcript"
	"lectern/shared/wire"
	"lectern/shared/write"
)

const (
	event   = "/v1/event/{eventId}/transcriptions"
	session = "/v1/event/{eventId}/sessions/{sessionId}/transcriptions"
)

// Group declares every route of the tag group.
var Group = api.NewGroup("Transcriptions", start, []api.Route[service]{
	api.Get("listTranscriptions", event, (*service).list, readers, api.Describe(aboutList)),
	api.Get("getTranscription", event+"/{id}", (*service).get, readers, api.Describe(aboutGet)),
	api.Get("listSessionTranscriptions", session, (*service).listOfSession, readers, api.Describe(aboutSessionList)),
	api.Post("createTranscription", session, (*service).create, writers, limit, api.Status(201), api.Describe(aboutCreate)),
	api.Get("getSessionTranscription", session+"/{id}", (*service).getOfSession, readers, api.Describe(aboutGet)),
	api.Put("updateTranscription", session+"/{id}", (*service).update, writers, limit, api.Describe(aboutUpdate)),
	api.Delete("deleteTranscription", session+"/{id}", (*service).remove, writers, limit, api.Describe(aboutDelete)),
	api.Get("getSessionContent", sessionContent, (*service).sessionContent, readers, api.Describe(aboutSessionContent)),
	api.Get("listContent", eventContent, (*service).listContent, readers, api.Describe(aboutContent)),
	api.Get("getEventContent", eventContent+"/event", (*service).eventContent, readers, api.Describe(aboutEventContent)),
	api.Get("getContentItem", eventContent+"/items/{id}", (*service).item, readers, api.Describe(aboutItem)),
	api.Get("getEventDocument", eventContent+"/documents/{documentType}", (*service).eventDocument, readers,
		api.Media("application/pdf"), api.Describe(aboutEventDocument)),
	api.Get("getSessionDocument", sessionContent+"/documents/{documentType}", (*service).sessionDocument, readers,
		api.Media("application/pdf", "image/png"), api.Describe(aboutSessionDocument)),
})

var (
	readers = auth.Scopes{auth.ReadTranscriptions}
	writers = auth.Scopes{auth.WriteTranscriptions}
	limit   = api.Limit(ratelimit.TranscriptionWrites)
)

const (
	aboutList = "Lists the transcriptions of the event's sessions: in the order of the sessions' creation, then of `start_time`, " +
		"then of `id`. Transcriptions without a `start_time` come last in their session. Partial texts are left out without `include_partial`."

	aboutSessionList = "Lists the transcriptions of a session by `start_time`, then by `id`; those without a `start_time` come last. " +
		"Partial texts are left out without `include_partial`."

	aboutGet = "Returns a transcription, a partial text too."

	aboutCreate = "Stores a text about a session: a `fragment` of the speech, a `summary`, an `insight`, or a `translation` " +
		"of one of these. A session may have 20,000 transcriptions, 16 MB together, in 100 languages; one more is a 400. " +
		"For example:\n\n```json\n" +
		`{"type": "fragment", "transcription": "Good morning.", "speaker": "Ada", "start_time": 0, "end_time": 1.5}` + "\n```"

	aboutUpdate = "Changes the properties that are sent; the others stay. What a read shows can be sent back. " +
		"A stale `updated_at` or `If-Match` is a 409."

	aboutDelete = "Removes the transcription for good. A transcription with translations is a 409 `HAS_TRANSLATIONS`."
)

type service struct {
	store   *transcript.Store
	content content.Store
}

func start(env api.Env) *service {
	texts := stores.Transcripts(env)
	return &service{texts, content.Store{Texts: texts}}
}

// Of is the part of an input that names a transcription.
type Of struct {
	ID string `path:"id" format:"uuid" doc:"The transcription's id."`
}

// Filter selects transcriptions of a list.
type Filter struct {
	Type     transcript.Type `query:"type" enum:"fragment,summary,insight,translation" doc:"Transcriptions of this type."`
	Language string          `query:"language_code" maxLength:"35" doc:"Transcriptions in this language, whatever the case of the code."`
	Partial  bool            `query:"include_partial" doc:"Whether to list partial texts too."`
}

// query returns the query of a page.
func (f Filter) query(session string, q page.Query) transcript.Query {
	filter := transcript.Filter{Language: f.Language, Partial: f.Partial}
	return transcript.Query{Session: session, Query: q, Filter: filter.Of(f.Type)}
}

// answer is an answer with one transcription.
type answer = page.One[*transcript.Transcription]

// one puts a transcription into its envelope.
func one(t *transcript.Transcription, err error) (*answer, error) {
	if err != nil {
		return nil, err
	}
	return &answer{Data: t}, nil
}

type listInput struct {
	api.InEvent
	page.Query
	Filter
	SessionID string `query:"session_id" format:"uuid" doc:"Transcriptions of this session."`
}

func (s *service) list(ctx context.Context, in *listInput) (*page.List[*transcript.Transcription], error) {
	return s.store.List(ctx, auth.From(ctx), in.query(in.SessionID, in.Query))
}

type sessionListInput struct {
	api.InSession
	page.Query
	Filter
}

func (s *service) listOfSession(ctx context.Context, in *sessionListInput) (*page.List[*transcript.Transcription], error) {
	return s.store.OfSession(ctx, auth.From(ctx), in.query(in.SessionID, in.Query))
}

type getInput struct {
	api.InEvent
	Of
}

func (s *service) get(ctx context.Context, in *getInput) (*answer, error) {
	return one(s.store.OfEvent(ctx, auth.From(ctx), in.ID))
}

type sessionGetInput struct {
	api.InSession
	Of
}

func (s *service) getOfSession(ctx context.Context, in *sessionGetInput) (*answer, error) {
	return one(s.store.Get(ctx, auth.From(ctx), in.SessionID, in.ID))
}

type createInput struct {
	api.InSession
	Body wire.Create[transcript.Draft]
}

func (s *service) create(ctx context.Context, in *createInput) (*answer, error) {
	return one(s.store.Create(ctx, auth.From(ctx), in.SessionID, &in.Body.Draft))
}

type updateInput struct {
	api.InSession
	Of
	api.Revision
	Body wire.Update[transcript.Draft]
}

func (s *service) update(ctx context.Context, in *updateInput) (*answer, error) {
	guard := write.Guard{UpdatedAt: in.Body.UpdatedAt, IfMatch: in.IfMatch}
	to := transcript.Target{Session: in.SessionID, ID: in.ID, Guard: guard}
	return one(s.store.Update(ctx, auth.From(ctx), to, &in.Body.Draft))
}

type removeInput struct {
	api.InSession
	Of
	api.Revision
}

func (s *service) remove(ctx context.Context, in *removeInput) (*api.None, error) {
	to := transcript.Target{Session: in.SessionID, ID: in.ID, Guard: write.Guard{IfMatch: in.IfMatch}}
	return nil, s.store.Delete(ctx, auth.From(ctx), to)
}
