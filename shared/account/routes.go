package account

import (
	"context"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/bulk"
	"lectern/shared/page"
	"lectern/shared/party"
	"lectern/shared/ratelimit"
	"lectern/shared/size"
)

// Service answers the requests of a group about accounts in one role.
type Service struct {
	Accounts *Store
	Role     string
}

// names returns the role in operation ids, the path of the collection, and the path of one
// account.
func names(role string) (title, path, one string) {
	path = "/v1/event/{eventId}/" + role + "s"
	return party.Title(role), path, path + "/{" + role + "Id}"
}

var (
	readers = auth.Scopes{auth.ReadContacts, auth.ReadEvents}
	limit   = api.Limit(ratelimit.AccountWrites)
)

// Reads returns the routes that read the accounts of an event in a role.
func Reads(role string) []api.Route[Service] {
	title, path, one := names(role)
	return []api.Route[Service]{
		api.Post("search"+title+"s", path, (*Service).search, readers),
		api.Get("get"+title, one, (*Service).get, readers, named(role), api.Limit(ratelimit.EntityReads)),
	}
}

// Writes returns the routes that write the accounts of an event in a role.
func Writes(role string, scopes auth.Scopes) []api.Route[Service] {
	title, path, one := names(role)
	return []api.Route[Service]{
		api.Post("create"+title, path+"/create", (*Service).create, scopes, limit, api.CountsDaily),
		api.Put("update"+title, one, (*Service).update, scopes, named(role), limit),
		api.Delete("delete"+title, one, (*Service).delete, scopes, named(role), limit),
		api.Post("restore"+title, one+"/restore", (*Service).restore, scopes, named(role), limit),
		api.Post("bulk"+title+"s", path+"/bulk", (*Service).bulk, scopes, limit, api.CountsDaily, api.MaxBody(api.BulkBodyLimit)),
	}
}

// named calls the id of an account sponsorId or exhibitorId in paths.
func named(role string) api.Option { return api.InPath("accountId", role+"Id") }

type searchInput struct {
	api.InEvent
	page.Query
	Body party.SearchBody[party.Filter] `required:"false"`
}

// search returns one page of the accounts.
func (s *Service) search(ctx context.Context, in *searchInput) (*page.Of[*Account], error) {
	q := party.Query{Role: s.Role, Filter: in.Body.Filters, Sort: in.Body.Sort.Keys, Page: in.Query}
	return s.Accounts.Search(ctx, auth.From(ctx), q, in.Body.Translated())
}

type getInput struct {
	api.InEvent
	ID string `path:"accountId" format:"uuid" doc:"The account's id."`
	party.Expanding
}

// get returns one account.
func (s *Service) get(ctx context.Context, in *getInput) (*Account, error) {
	return s.Accounts.Get(ctx, auth.From(ctx), s.Role, in.ID, in.Translated())
}

// writer returns the writes of a request with one operation.
func (s *Service) writer(ctx context.Context, x party.Expanding) *party.Writer[Account, Draft] {
	return s.Accounts.Writer(auth.From(ctx), s.Role, x.Translated(), size.Uncompressed)
}

type createInput struct {
	api.InEvent
	party.Expanding
	Body Draft
}

// create makes an account with the role, or gives the role to the account that account_id
// names.
func (s *Service) create(ctx context.Context, in *createInput) (*Account, error) {
	return s.writer(ctx, in.Expanding).Create(ctx, &in.Body)
}

// OneAccount names the account of the path and the version the client has seen.
type OneAccount struct {
	api.InEvent
	ID string `path:"accountId" format:"uuid" doc:"The account's id."`
	api.Revision
	party.Expanding
}

type updateInput struct {
	OneAccount
	Body Draft
}

// update changes the sent properties.
func (s *Service) update(ctx context.Context, in *updateInput) (*Account, error) {
	return s.writer(ctx, in.Expanding).Update(ctx, in.ID, &in.Body, in.IfMatch)
}

// delete takes the role from the account until it is restored; another role stays.
func (s *Service) delete(ctx context.Context, in *OneAccount) (*Account, error) {
	return s.writer(ctx, in.Expanding).Delete(ctx, in.ID, in.IfMatch)
}

// restore gives the role back.
func (s *Service) restore(ctx context.Context, in *OneAccount) (*Account, error) {
	return s.writer(ctx, in.Expanding).Restore(ctx, in.ID, in.IfMatch)
}

type bulkInput struct {
	api.InEvent
	party.Expanding
	Body bulk.Request
}

// bulk does up to 100 operations. Each succeeds or fails alone.
func (s *Service) bulk(ctx context.Context, in *bulkInput) (*bulk.Response[Account, bulk.Failure], error) {
	w := s.Accounts.Writer(auth.From(ctx), s.Role, in.Translated(), size.Biographies)
	return party.Bulk(ctx, w, in.Body, bulk.Fail)
}
