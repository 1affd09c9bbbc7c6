package transcriptions

import (
	"context"
	"slices"
	"strings"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/content"
	"lectern/shared/page"
	"lectern/shared/size"
)

const (
	eventContent   = "/v1/event/{eventId}/content"
	sessionContent = "/v1/event/{eventId}/sessions/{sessionId}/content"
)

const (
	aboutSessionContent = "Returns the texts of a session as items: the fragments joined into one transcription, the summaries, " +
		"insights and translations. Consecutive fragments of a speaker are one element; `interval_sec` also cuts " +
		"at each multiple of so many seconds. " +
		"Partial texts are left out. " + aboutLong

	aboutContent = "Lists the packs of the event's sessions with transcriptions, in the order of the sessions' creation. " +
		"`elements` are empty without `items` in `expand`."

	aboutEventContent = "Returns the items of the event as a whole: the `recap`, which joins the insights of all sessions, and " +
		"the document `event_report`. " + aboutLong

	aboutItem = "Returns an item: the joined transcription of a session by the session's id; a summary, an insight or a translation by its " +
		"own; or `recap`; or a document by its type: `event_report`, or `summary_pdf` and `summary_card`, which need `session_id`."

	aboutLong = "A long answer leaves out elements, and then texts; `omitted` of an item lists these."
)

// defaults are the kinds of items without expand.
var (
	sessionDefaults = []string{"transcription", "summary", "insight", "podcast", "document"}
	eventDefaults   = []string{"document", "recap"}
)

// Expand names the kinds of items.
type Expand struct {
	Expand api.Strings `query:"expand" enum:"transcription,summary,insight,podcast,document,recap,items" doc:"The kinds of items. There are no podcasts."`
}

// or returns the kinds, or the defaults without any: items alone says how the defaults are shown.
func (e Expand) or(defaults []string) []string {
	if !slices.ContainsFunc(e.Expand, func(kind string) bool { return kind != "items" }) {
		return slices.Concat(defaults, e.Expand)
	}
	return e.Expand
}

// Cut is the part of an input that says how texts are joined.
type Cut struct {
	Interval int    `query:"interval_sec" minimum:"1" maximum:"3600" doc:"Cut elements at each multiple of so many seconds."`
	Provider string `query:"provider" enum:"claude,openai" doc:"Summaries, insights and translations of this source."`
}

func (c Cut) query(ctx context.Context, session string, expand []string) content.Query {
	return content.Query{Session: session, Expand: expand, Interval: c.Interval, Provider: c.Provider, Base: api.BasePath(ctx)}
}

// SessionPack is the envelope of the pack of a session.
type SessionPack struct {
	Data *content.Session `json:"data"`
}

// Reduce reduces the pack (size.Reducer).
func (p *SessionPack) Reduce(to size.Detail) bool { return p.Data.Reduce(to) }

// EventPack is the envelope of the pack of an event.
type EventPack struct {
	Data *content.Event `json:"data"`
}

// Reduce reduces the pack (size.Reducer).
func (p *EventPack) Reduce(to size.Detail) bool { return p.Data.Reduce(to) }

// ItemAnswer is the envelope of an item.
type ItemAnswer struct {
	Data *content.Item `json:"data"`
}

// Reduce reduces the item (size.Reducer).
func (a *ItemAnswer) Reduce(to size.Detail) bool { return a.Data.Reduce(to) }

type sessionContentInput struct {
	api.InSession
	Expand
	Cut
}

func (s *service) sessionContent(ctx context.Context, in *sessionContentInput) (*SessionPack, error) {
	pack, err := s.content.Session(ctx, auth.From(ctx), in.SessionID, in.query(ctx, "", in.or(sessionDefaults)))
	return &SessionPack{pack}, err
}

type contentInput struct {
	api.InEvent
	page.Query
	Expand
	Cut
	SessionID string `query:"session_id" format:"uuid" doc:"The pack of this session."`
}

func (s *service) listContent(ctx context.Context, in *contentInput) (*page.List[*content.Session], error) {
	q := in.query(ctx, in.SessionID, in.or(sessionDefaults))
	q.Query = in.Query
	return s.content.List(ctx, auth.From(ctx), q)
}

type eventContentInput struct {
	api.InEvent
	Expand
}

func (s *service) eventContent(ctx context.Context, in *eventContentInput) (*EventPack, error) {
	pack, err := s.content.Event(ctx, auth.From(ctx), content.Query{Expand: in.or(eventDefaults), Base: api.BasePath(ctx)})
	return &EventPack{pack}, err
}

type itemInput struct {
	api.InEvent
	ID string `path:"id" maxLength:"64" doc:"The id of a session or a text, or recap, summary_pdf, summary_card or event_report."`
	Cut
	SessionID string `query:"session_id" format:"uuid" doc:"The session of the item."`
}

func (s *service) item(ctx context.Context, in *itemInput) (*ItemAnswer, error) {
	item, err := s.content.Item(ctx, auth.From(ctx), strings.ToLower(in.ID), in.query(ctx, in.SessionID, nil))
	return &ItemAnswer{item}, err
}
