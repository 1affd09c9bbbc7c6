// Package sessions has the routes of the Sessions tag group: reading sessions and abstracts.
package sessions

import (
	"context"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/page"
	"lectern/shared/ratelimit"
	"lectern/shared/search"
	"lectern/shared/session/store"
	"lectern/shared/session/view"
	"lectern/shared/stores"
	"lectern/shared/wire"
)

const event = "/v1/event/{eventId}/sessions"

// Group declares every route of the tag group.
var Group = api.NewGroup("Sessions", start, []api.Route[service]{
	api.Post("searchSessions", event, (*service).search, readers),
	api.Get("listSessions", event, (*service).list, readers),
	api.Get("getSession", event+"/{sessionId}", (*service).get, readers, api.Limit(ratelimit.EntityReads), api.ClientCache),
	api.Post("searchSessionStatuses", event+"/status", (*service).statuses, readers),
})

var readers = auth.Scopes{auth.ReadSessions}

type service struct{ sessions *store.Store }

func start(env api.Env) *service { return &service{sessions: stores.Sessions(env)} }

// Expand names the properties that a read of sessions can add.
type Expand struct {
	Expand api.Strings `query:"expand" enum:"translated_fields,subsession_details,linked_sources,composition" doc:"What to add to the answer."`
}

type searchInput struct {
	api.InEvent
	page.Query
	Body searchBody `required:"false"`
}

type searchBody struct {
	Filters store.Filter               `json:"filters,omitzero" doc:"All of them must match."`
	Sort    search.Sort[store.ByTimes] `json:"sort,omitzero"`
	Expand  []string                   `json:"expand,omitempty" enum:"translated_fields,subsession_details,linked_sources,composition" doc:"What to add to the answer."`
	_       struct{}                   `json:"-" additionalProperties:"true"`
}

// search returns a page of the sessions that match the filters.
func (s *service) search(ctx context.Context, in *searchInput) (*page.Of[*view.Session], error) {
	return s.sessions.Search(ctx, auth.From(ctx), store.Query{
		Filter: in.Body.Filters, Sort: in.Body.Sort.Keys, Page: in.Query,
		Expand: view.Expansion(in.Body.Expand), Bare: true,
	})
}

type listInput struct {
	api.InEvent
	page.ListQuery
	Expand
	Status      string         `query:"status" enum:"accepted,accept_queue,pending,decline_queue,declined" doc:"Sessions with this status."`
	IsAbstract  wire.Opt[bool] `query:"is_abstract" doc:"Abstracts only, or programme sessions only."`
	Search      string         `query:"search" maxLength:"255" doc:"Text in title or friendly id, whatever the case."`
	TrackID     string         `query:"track_id" format:"uuid" doc:"On this track."`
	TrackIDs    api.Strings    `query:"track_ids" format:"uuid" doc:"On any of these tracks."`
	LevelID     string         `query:"level_id" format:"uuid" doc:"Of this level."`
	LevelIDs    api.Strings    `query:"level_ids" format:"uuid" doc:"Of any of these levels."`
	FormatID    string         `query:"format_id" format:"uuid" doc:"Of this format."`
	FormatIDs   api.Strings    `query:"format_ids" format:"uuid" doc:"Of any of these formats."`
	TagID       string         `query:"tag_id" format:"uuid" doc:"With this tag."`
	TagIDs      api.Strings    `query:"tag_ids" format:"uuid" doc:"With any of these tags."`
	LanguageID  string         `query:"language_id" format:"uuid" doc:"In this language."`
	LanguageIDs api.Strings    `query:"language_ids" format:"uuid" doc:"In any of these languages."`
}

// list returns a page, like search; the filters are query parameters.
func (s *service) list(ctx context.Context, in *listInput) (*page.Of[*view.Session], error) {
	filter := store.Filter{
		Status: in.Status,
		Categories: store.Categories{
			TrackIDs: both(in.TrackID, in.TrackIDs), LevelIDs: both(in.LevelID, in.LevelIDs),
			FormatIDs: both(in.FormatID, in.FormatIDs), TagIDs: both(in.TagID, in.TagIDs),
			LanguageIDs: both(in.LanguageID, in.LanguageIDs),
		},
	}
	if in.IsAbstract.Sent {
		filter.IsAbstract = &in.IsAbstract.Value
	}
	return s.sessions.Search(ctx, auth.From(ctx), store.Query{
		Filter: filter, Text: in.Search, Page: in.Query(), Expand: view.Expansion(in.Expand.Expand),
	})
}

// both joins the singular and the plural form of a filter.
func both(one string, more []string) []string {
	if one == "" {
		return more
	}
	return append([]string{one}, more...)
}

type getInput struct {
	api.InEvent
	SessionID string `path:"sessionId" format:"uuid" doc:"The session's or subsession's id."`
	Expand
}

// get returns a session or subsession in full.
func (s *service) get(ctx context.Context, in *getInput) (*view.Session, error) {
	return s.sessions.Get(ctx, auth.From(ctx), in.SessionID, view.Expansion(in.Expand.Expand))
}

type statusInput struct {
	api.InEvent
	page.Query
	Body statusBody `required:"false"`
}

type statusBody struct {
	Filters store.StatusFilter               `json:"filters,omitzero" doc:"All of them must match."`
	Sort    search.Sort[store.ByStatusTimes] `json:"sort,omitzero"`
	Expand  []string                         `json:"expand,omitempty" enum:"translated_fields,subsession_details,linked_sources,composition" doc:"linked_sources adds composition sources; the others, which other reads take, add nothing here."`
	_       struct{}                         `json:"-" additionalProperties:"true"`
}

// statuses returns a page of statuses, of subsessions and deleted sessions too.
func (s *service) statuses(ctx context.Context, in *statusInput) (*page.Of[view.StatusRow], error) {
	return s.sessions.Statuses(ctx, auth.From(ctx), store.StatusQuery{
		Filter: in.Body.Filters, Sort: in.Body.Sort.Keys, Page: in.Query,
		LinkedSources: view.Expansion(in.Body.Expand).LinkedSources,
	})
}
