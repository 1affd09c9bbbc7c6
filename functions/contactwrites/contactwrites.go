// Package contactwrites is the Contact Writes tag group: making, changing, deleting
// and restoring contacts of an event, one or many at a time.
package contactwrites

import (
	"context"

	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/bulk"
	"lectern/shared/contact"
	"lectern/shared/party"
	"lectern/shared/ratelimit"
	"lectern/shared/stores"
)

const (
	contacts = "/v1/event/{eventId}/contacts"
	one      = contacts + "/{contactId}"
)

// Group declares every route of the tag group.
var Group = api.NewGroup("Contact Writes", start, []api.Route[service]{
	api.Post("createContact", contacts+"/create", (*service).create, writers, limit, api.CountsDaily),
	api.Put("updateContact", one, (*service).update, writers, limit),
	api.Delete("deleteContact", one, (*service).delete, writers, limit),
	api.Post("restoreContact", one+"/restore", (*service).restore, writers, limit),
	api.Post("bulkContacts", contacts+"/bulk", (*service).bulk, writers, limit, api.CountsDaily, api.MaxBody(api.BulkBodyLimit)),
})

var (
	writers = auth.Scopes{auth.WriteContacts}
	limit   = api.Limit(ratelimit.AccountWrites)
)

type service struct {
	contacts *contact.Store
}

func start(env api.Env) *service { return &service{stores.Contacts(env)} }

type createInput struct {
	api.InEvent
	party.Expanding
	Body contact.Create
}

// create associates the person of an address with the event: a contact of the organization,
// or a new contact.
func (s *service) create(ctx context.Context, in *createInput) (*contact.Contact, error) {
	return s.contacts.Writer(auth.From(ctx), in.Translated()).Create(ctx, &in.Body.Draft)
}

// OneContact names the contact of the path and the version the client has seen.
type OneContact struct {
	api.InEvent
	ContactID string `path:"contactId" format:"uuid" doc:"The contact's id."`
	api.Revision
	party.Expanding
}

type updateInput struct {
	OneContact
	Body contact.Draft
}

// update changes the sent properties.
func (s *service) update(ctx context.Context, in *updateInput) (*contact.Contact, error) {
	return s.contacts.Writer(auth.From(ctx), in.Translated()).Update(ctx, in.ContactID, &in.Body, in.IfMatch)
}

// delete takes the contact from the event until it is restored.
func (s *service) delete(ctx context.Context, in *OneContact) (*contact.Contact, error) {
	return s.contacts.Writer(auth.From(ctx), in.Translated()).Delete(ctx, in.ContactID, in.IfMatch)
}

// restore brings a deleted contact back to the event.
func (s *service) restore(ctx context.Context, in *OneContact) (*contact.Contact, error) {
	return s.contacts.Writer(auth.From(ctx), in.Translated()).Restore(ctx, in.ContactID, in.IfMatch)
}

type bulkInput struct {
	api.InEvent
	party.Expanding
	Body bulk.Request
}

// bulk does up to 100 operations. Each succeeds or fails alone. An operation's error is a
// plain string.
func (s *service) bulk(ctx context.Context, in *bulkInput) (*bulk.Response[contact.Contact, string], error) {
	return party.Bulk(ctx, s.contacts.Writer(auth.From(ctx), in.Translated()), in.Body, (*apierr.Error).Error)
}
