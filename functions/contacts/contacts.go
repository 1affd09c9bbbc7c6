// Package contacts is the Contacts tag group: reading contacts of an event and of
// the organization, and the sessions of a contact.
package contacts

import (
	"context"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/contact"
	"lectern/shared/page"
	"lectern/shared/participation"
	"lectern/shared/party"
	"lectern/shared/ratelimit"
	"lectern/shared/stores"
)

const (
	event        = "/v1/event/{eventId}/contacts"
	organization = "/v1/organization/{orgId}/contacts"
	one          = "/{contactId}"
)

// Group declares every route of the tag group.
var Group = api.NewGroup("Contacts", start, []api.Route[service]{
	api.Post("searchContacts", event, (*service).search, readers),
	api.Get("getContact", event+one, (*service).get, readers, api.Limit(ratelimit.EntityReads)),
	api.Get("listContactSessions", event+one+"/sessions", (*service).sessions, sessionReaders),
	api.Post("searchOrganizationContacts", organization, (*service).searchOrganization, readers),
	api.Get("getOrganizationContact", organization+one, (*service).getOrganization, readers),
	api.Get("listOrganizationContactSessions", organization+one+"/sessions", (*service).organizationSessions, sessionReaders),
})

var (
	readers        = auth.Scopes{auth.ReadContacts}
	sessionReaders = auth.Scopes{auth.ReadContacts, auth.ReadSessions}
)

type service struct {
	contacts      *contact.Store
	participation *participation.Store
}

func start(env api.Env) *service {
	return &service{contacts: stores.Contacts(env), participation: stores.Participation(env)}
}

// Search is the query and the body of a search.
type Search struct {
	page.Query
	Body party.SearchBody[party.Filter] `required:"false"`
}

func (s *service) found(ctx context.Context, in *Search) (*page.Of[*contact.Contact], error) {
	q := party.Query{Filter: in.Body.Filters, Sort: in.Body.Sort.Keys, Page: in.Query}
	return s.contacts.Search(ctx, auth.From(ctx), q, in.Body.Translated())
}

type searchInput struct {
	api.InEvent
	Search
}

// search returns a page of the contacts of the event.
func (s *service) search(ctx context.Context, in *searchInput) (*page.Of[*contact.Contact], error) {
	return s.found(ctx, &in.Search)
}

type searchOrganizationInput struct {
	api.InOrganization
	Search
}

// searchOrganization returns a page of the contacts of the organization, on any event.
func (s *service) searchOrganization(ctx context.Context, in *searchOrganizationInput) (*page.Of[*contact.Contact], error) {
	return s.found(ctx, &in.Search)
}

// OneContact names the contact of the path.
type OneContact struct {
	ContactID string `path:"contactId" format:"uuid" doc:"The contact's id."`
	party.Expanding
}

type getInput struct {
	api.InEvent
	OneContact
}

// get returns a contact of the event.
func (s *service) get(ctx context.Context, in *getInput) (*contact.Contact, error) {
	return s.contacts.Get(ctx, auth.From(ctx), in.ContactID, in.Translated())
}

type getOrganizationInput struct {
	api.InOrganization
	OneContact
}

// getOrganization returns a contact of the organization, on any event.
func (s *service) getOrganization(ctx context.Context, in *getOrganizationInput) (*contact.Contact, error) {
	return s.contacts.GetOfOrganization(ctx, auth.From(ctx), in.ContactID, in.Translated())
}

type sessionsInput struct {
	api.InEvent
	ContactID string `path:"contactId" format:"uuid" doc:"The contact's id."`
	participation.Page
}

// sessions lists the sessions of the event with a role for the contact.
func (s *service) sessions(ctx context.Context, in *sessionsInput) (*participation.Sessions, error) {
	return s.participation.OfContact(ctx, auth.From(ctx), in.ContactID, in.Page)
}

type organizationSessionsInput struct {
	api.InOrganization
	ContactID string `path:"contactId" format:"uuid" doc:"The contact's id."`
	participation.Page
}

// organizationSessions lists the sessions of all events with a role for the contact.
func (s *service) organizationSessions(ctx context.Context, in *organizationSessionsInput) (*participation.Sessions, error) {
	return s.participation.OfContactAnywhere(ctx, auth.From(ctx), in.ContactID, in.Page)
}
