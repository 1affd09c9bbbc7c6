// Package speakers has the routes of the Speakers tag group: the contacts that speak on the
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
	"lectern/shared/stores"
)

const event = "/v1/event/{eventId}/speakers"

// Group declares every route of the tag group.
var Group = api.NewGroup("Speakers", start, []api.Route[service]{
	api.Post("searchSpeakers", event, (*service).search, readers),
	api.Get("getSpeaker", event+"/{contactId}", (*service).get, readers),
})

var readers = auth.Scopes{auth.ReadContacts}

type service struct{ participation *participation.Store }

func start(env api.Env) *service { return &service{stores.Participation(env)} }

type searchInput struct {
	api.InEvent
	page.Query
	Body party.SearchBody[participation.Filter] `required:"false"`
}

// search returns a page of the speakers that match the filters.
func (s *service) search(ctx context.Context, in *searchInput) (*page.Of[*contact.Contact], error) {
	return s.participation.Speakers(ctx, auth.From(ctx), participation.Query[participation.Filter]{
		Filter: in.Body.Filters, Sort: in.Body.Sort.Keys, Page: in.Query, Expand: in.Body.Translated(),
	})
}

type getInput struct {
	api.InEvent
	ContactID string `path:"contactId" format:"uuid" doc:"The contact's id."`
	party.Expanding
}

// get returns a speaker.
func (s *service) get(ctx context.Context, in *getInput) (*contact.Contact, error) {
	return s.participation.Speaker(ctx, auth.From(ctx), in.ContactID, in.Translated())
}
