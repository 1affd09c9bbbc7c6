// Package speakers is the Speakers tag group: the contacts that speak on the
// sessions of an event.
package speakers

import (
	"context"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/contact"
	"lectern/shared/page"
	"lectern/shared/participation"
	"lectern/shared/party"
	"lectern/shared/ratelimit"
	"lectern/shared/search"
	"lectern/shared/stores"
)

const event = "/v1/event/{eventId}/speakers"

// Group declares every route of the tag group.
var Group = api.NewGroup("Speakers", start, []api.Route[service]{
	api.Post("searchSpeakers", event, (*service).search, readers, ratelimit.None),
	api.Get("getSpeaker", event+"/{contactId}", (*service).get, readers, ratelimit.None),
})

var readers = auth.Scopes{auth.ReadContacts}

type service struct{ participation *participation.Store }

func start(env api.Env) *service { return &service{stores.Participation(env)} }

type searchInput struct {
	api.InEvent
	page.Query
	Body searchBody `required:"false"`
}

type searchBody struct {
	Filters participation.Filter        `json:"filters,omitzero" doc:"All of them must match. Those by metadata find speakers on top-level sessions."`
	Sort    search.Sort[search.ByTimes] `json:"sort,omitzero"`
	Expand  api.Strings                 `json:"expand,omitempty" enum:"translated_fields" doc:"What to add to each speaker."`
	_       struct{}                    `json:"-" additionalProperties:"true"`
}

// search gives one page of the speakers that match the filters.
func (s *service) search(ctx context.Context, in *searchInput) (*page.Of[*contact.Contact], error) {
	return s.participation.Speakers(ctx, auth.From(ctx), participation.Query[participation.Filter]{
		Filter: in.Body.Filters, Sort: in.Body.Sort.Keys, Page: in.Query, Expand: translated(in.Body.Expand),
	})
}

type getInput struct {
	api.InEvent
	ContactID string      `path:"contactId" format:"uuid" doc:"The contact's id."`
	Expand    api.Strings `query:"expand" enum:"translated_fields" doc:"What to add to the answer."`
}

// get gives one speaker.
func (s *service) get(ctx context.Context, in *getInput) (*contact.Contact, error) {
	return s.participation.Speaker(ctx, auth.From(ctx), in.ContactID, translated(in.Expand))
}

// translated is whether the answer adds translated_fields.
func translated(expand api.Strings) party.Expand {
	return party.Expand(expand.Has("translated_fields"))
}
