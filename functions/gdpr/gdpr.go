// Package gdpr is the GDPR tag group: the requests of persons for their data, access and erasure
// (gaps.md section 7, decision 34). The worker events/dataworker does the requests.
package gdpr

import (
	"context"

	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/datarequest"
	"lectern/shared/page"
	"lectern/shared/wire"
)

const path = "/v1/gdpr/requests"

// Group declares every route of the tag group.
var Group = api.NewGroup("GDPR", start, []api.Route[service]{
	api.Get("listDataRequests", path, (*service).list, reads, api.Describe(aboutList)),
	api.Post("createDataRequest", path, (*service).create, writes, api.Status(201), api.Describe(aboutCreate)),
	api.Get("getDataRequestArchive", path+"/{requestId}/archive", (*service).archive, reads, api.Describe(aboutArchive)),
})

var (
	reads  = auth.Scopes{auth.ReadContacts}
	writes = auth.Scopes{auth.WriteContacts}
)

const (
	aboutList = "Lists the data requests of the organization, in the order of their creation. A request is deleted 35 days after its end, " +
		"but for an erasure that has failed. " + aboutToken

	aboutCreate = "Asks for the data of a person (`access`), or for the erasure of the data (`erasure`). " + aboutToken +
		"\n\nA person is named by an e-mail address, whatever its case. The request is done soon afterwards: `status` is `pending`, then " +
		"`processing`, then `completed`. A second request of the same type for the same address gets the first as its answer, as long as that " +
		"is not done.\n\n" +
		"**Access** collects what is stored of the person in one JSON document, which `archive.url` names for 30 days.\n\n" +
		"**Erasure** removes all values of the contact with the address: standard fields, custom fields and translations, on all events, " +
		"the values in the audit trail, the bodies of webhooks, the answers of receivers, and archives; and the files of sessions that " +
		"are assigned to the contact, with their bytes, also deleted and replaced ones. Submissions and reviews of awards of the " +
		"address or the contact lose the name, the address and the texts, and keep scores and outcomes. The contact stays without a name, " +
		"and so do its roles on sessions. Webhooks tell of the erasure as `contact.updated`, and as `session.updated` for a session " +
		"that loses files. It cannot be undone. " +
		"If an earlier erasure for the address has failed before it removed the values, its contact is erased too, whatever address the " +
		"contact has now. " +
		"An erasure ends a few minutes later, so that it also finds what was being sent, and then shows the address masked.\n\n" +
		"What others wrote about a person as free text, such as a session's description, stays, and so do transcriptions with the names " +
		"of their speakers, media and recordings, and files of sessions that are not assigned to the person. They are not in an archive " +
		"either. Delete them by their own operations. Members of the organization stay too, " +
		"whom `response.users` names. Backups keep the data for up to 35 days, and an Idempotency-Key keeps the name of an unknown " +
		"field that was refused for 24 hours.\n\n" +
		"For example:\n\n```json\n{\"requestType\": \"access\", \"identityType\": \"email\", \"identityValue\": \"ada@example.org\"}\n```"

	aboutArchive = "Reads what an access request has collected; a 404 before the request is completed, after 30 days, and after an " +
		"erasure of the person. " +
		"This operation is an extension: the contract does not have it. " + aboutToken

	aboutToken = "A token that is limited to events gets a 403."
)

type service struct{ requests *datarequest.Store }

func start(env api.Env) *service { return &service{datarequest.NewStore(env)} }

// organization returns the id of the caller's organization; the 403 for a caller who is limited to
// events.
func organization(ctx context.Context) (int64, error) {
	caller := auth.From(ctx)
	if _, limited := caller.Events(); limited {
		return 0, apierr.Forbidden("", "This needs a token that is not limited to events.")
	}
	return caller.Org.ID, nil
}

func (s *service) list(ctx context.Context, in *page.ListQuery) (*page.Of[*datarequest.Request], error) {
	org, err := organization(ctx)
	if err != nil {
		return nil, err
	}
	all, err := s.requests.List(ctx, org)
	if err != nil {
		return nil, err
	}
	return page.Slice(in.Query(), all), nil
}

type createInput struct {
	Body wire.Create[datarequest.Draft]
}

func (s *service) create(ctx context.Context, in *createInput) (*datarequest.Request, error) {
	if _, err := organization(ctx); err != nil {
		return nil, err
	}
	return s.requests.Create(ctx, in.Body.Draft)
}

type archiveInput struct {
	ID string `path:"requestId" format:"uuid" doc:"The request's id."`
}

func (s *service) archive(ctx context.Context, in *archiveInput) (*datarequest.Collected, error) {
	org, err := organization(ctx)
	if err != nil {
		return nil, err
	}
	r, err := s.requests.Get(ctx, org, in.ID)
	if err != nil {
		return nil, err
	}
	return s.requests.ReadArchive(ctx, r)
}
