// Package sponsorwrites is the Sponsor Writes tag group: making, changing, deleting and
// restoring sponsors of an event, one or many at a time.
package sponsorwrites

import (
	"context"

	"lectern/shared/account"
	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/bulk"
	"lectern/shared/party"
	"lectern/shared/ratelimit"
	"lectern/shared/stores"
)

const (
	sponsors = "/v1/event/{eventId}/sponsors"
	one      = sponsors + "/{sponsorId}"
	role     = account.Sponsor
)

// Group declares every route of the tag group.
var Group = api.NewGroup("Sponsor Writes", start, []api.Route[service]{
	api.Post("createSponsor", sponsors+"/create", (*service).create, writers, ratelimit.AccountWrites, api.CountsDaily, api.Fails(409)),
	api.Put("updateSponsor", one, (*service).update, writers, ratelimit.AccountWrites),
	api.Delete("deleteSponsor", one, (*service).delete, writers, ratelimit.AccountWrites),
	api.Post("restoreSponsor", one+"/restore", (*service).restore, writers, ratelimit.AccountWrites),
	api.Post("bulkSponsors", sponsors+"/bulk", (*service).bulk, writers, ratelimit.AccountWrites, api.CountsDaily, api.MaxBody(api.BulkBodyLimit)),
})

var writers = auth.Scopes{auth.WriteSponsors}

type service struct {
	accounts *account.Store
}

func start(env api.Env) *service { return &service{stores.Accounts(env)} }

type createInput struct {
	api.InEvent
	party.Expanding
	Body account.Draft
}

// create makes an account that is sponsor of the event, or gives the role to the
// account that account_id names.
func (s *service) create(ctx context.Context, in *createInput) (*account.Account, error) {
	return s.accounts.Writer(auth.From(ctx), role, in.Translated()).Create(ctx, &in.Body)
}

// OneSponsor names the account of the path and the version the client has seen.
type OneSponsor struct {
	api.InEvent
	SponsorID string `path:"sponsorId" format:"uuid" doc:"The account's id."`
	api.Revision
	party.Expanding
}

type updateInput struct {
	OneSponsor
	Body account.Draft
}

// update changes what is sent and leaves the rest.
func (s *service) update(ctx context.Context, in *updateInput) (*account.Account, error) {
	return s.accounts.Writer(auth.From(ctx), role, in.Translated()).Update(ctx, in.SponsorID, &in.Body, in.IfMatch)
}

// delete takes the role from the account until it is restored; another one stays.
func (s *service) delete(ctx context.Context, in *OneSponsor) (*account.Account, error) {
	return s.accounts.Writer(auth.From(ctx), role, in.Translated()).Delete(ctx, in.SponsorID, in.IfMatch)
}

// restore gives the role back.
func (s *service) restore(ctx context.Context, in *OneSponsor) (*account.Account, error) {
	return s.accounts.Writer(auth.From(ctx), role, in.Translated()).Restore(ctx, in.SponsorID, in.IfMatch)
}

type bulkInput struct {
	api.InEvent
	party.Expanding
	Body bulk.Request
}

// bulk does up to 100 operations, each of which succeeds or fails on its own.
func (s *service) bulk(ctx context.Context, in *bulkInput) (*bulk.Response[account.Account, bulk.Failure], error) {
	return party.Bulk(ctx, s.accounts.Writer(auth.From(ctx), role, in.Translated()), in.Body, bulk.Fail)
}
