// Package sponsors is the Sponsors tag group: reading the sponsors of an event.
package sponsors

import (
	"context"

	"lectern/shared/account"
	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/page"
	"lectern/shared/party"
	"lectern/shared/ratelimit"
	"lectern/shared/stores"
)

const event = "/v1/event/{eventId}/sponsors"

// Group declares every route of the tag group.
var Group = api.NewGroup("Sponsors", start, []api.Route[service]{
	api.Post("searchSponsors", event, (*service).search, readers, ratelimit.None),
	api.Get("getSponsor", event+"/{sponsorId}", (*service).get, readers, ratelimit.EntityReads),
})

var readers = auth.Scopes{auth.ReadContacts, auth.ReadEvents}

type service struct{ accounts *account.Store }

func start(env api.Env) *service { return &service{stores.Accounts(env)} }

type searchInput struct {
	api.InEvent
	page.Query
	Body party.SearchBody[party.Filter] `required:"false"`
}

// search gives one page of the sponsors of the event.
func (s *service) search(ctx context.Context, in *searchInput) (*page.Of[*account.Account], error) {
	q := party.Query{Role: account.Sponsor, Filter: in.Body.Filters, Sort: in.Body.Sort.Keys, Page: in.Query}
	return s.accounts.Search(ctx, auth.From(ctx), q, in.Body.Translated())
}

type getInput struct {
	api.InEvent
	SponsorID string `path:"sponsorId" format:"uuid" doc:"The account's id."`
	party.Expanding
}

// get gives one account, which must be sponsor of the event.
func (s *service) get(ctx context.Context, in *getInput) (*account.Account, error) {
	return s.accounts.Get(ctx, auth.From(ctx), account.Sponsor, in.SponsorID, in.Translated())
}
