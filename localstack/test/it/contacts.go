package it

import (
	"fmt"
	"net/http"
	"testing"

	"lectern/localstack/test/stacktest"
)

// AccountRoles lists the roles of an account on an event.
var AccountRoles = []string{"sponsor", "exhibitor"}

// Contacts is a client with the operations on contacts in place of those on sessions.
type Contacts struct{ *Client }

// InNewEvent creates another event of the organization and returns its client.
func (p *Contacts) InNewEvent(features ...string) *Contacts {
	return &Contacts{p.Client.InNewEvent(features...)}
}

// WithToken returns the same client with another token.
func (p *Contacts) WithToken(token string) *Contacts { return &Contacts{p.Client.WithToken(token)} }

// LimitedToEvent returns the client with a token that is limited to the event.
func (p *Contacts) LimitedToEvent() *Contacts {
	p.T.Helper()
	return p.WithToken(p.TokenWith(p.T, Object{"scopes": stacktest.Scopes, "limit": 1_000_000, "event_ids": []int64{p.Event}}))
}

// InOtherOrganization returns a client of a new organization.
func (p *Contacts) InOtherOrganization() *Contacts {
	return &Contacts{&Client{p.NewOrganization(p.T), p.T}}
}

// CallContacts sends a request below the event's contacts and returns the whole answer.
func (p *Contacts) CallContacts(status int, method, path string, body any, header ...string) stacktest.Answer {
	p.T.Helper()
	return p.Call(p.T, status, method, p.EventPath("/contacts"+path), stacktest.WithHeaders(body, header...))
}

// Create sends POST /contacts/create.
func (p *Contacts) Create(status int, body any, parts ...string) Entity {
	p.T.Helper()
	return p.CallContacts(status, http.MethodPost, "/create"+Query(parts), body).JSON(p.T)
}

// Get sends GET /contacts/{id}.
func (p *Contacts) Get(status int, id string, parts ...string) Entity {
	p.T.Helper()
	return p.CallContacts(status, http.MethodGet, "/"+id+Query(parts), nil).JSON(p.T)
}

// Put sends PUT /contacts/{id}.
func (p *Contacts) Put(status int, id string, body any, parts ...string) Entity {
	p.T.Helper()
	return p.CallContacts(status, http.MethodPut, "/"+id+Query(parts), body).JSON(p.T)
}

// Delete sends DELETE /contacts/{id}.
func (p *Contacts) Delete(status int, id string, header ...string) Entity {
	p.T.Helper()
	return p.CallContacts(status, http.MethodDelete, "/"+id, nil, header...).JSON(p.T)
}

// Restore sends POST /contacts/{id}/restore.
func (p *Contacts) Restore(status int, id string, header ...string) Entity {
	p.T.Helper()
	return p.CallContacts(status, http.MethodPost, "/"+id+"/restore", nil, header...).JSON(p.T)
}

// Search sends POST /contacts.
func (p *Contacts) Search(body any, parts ...string) Page {
	p.T.Helper()
	return stacktest.Call[Page](p.Stack, 200, http.MethodPost, p.EventPath("/contacts"+Query(parts)), body)
}

// OrganizationPath returns a path below the organization's contacts.
func (p *Contacts) OrganizationPath(rest string) string {
	return fmt.Sprintf("/v1/organization/%d/contacts%s", p.Org, rest)
}

// GetFromOrganization reads a contact below the organization.
func (p *Contacts) GetFromOrganization(status int, id string, parts ...string) Entity {
	p.T.Helper()
	return p.Call(p.T, status, http.MethodGet, p.OrganizationPath("/"+id+Query(parts)), nil).JSON(p.T)
}

// SearchOrganization searches the organization's contacts.
func (p *Contacts) SearchOrganization(body any, parts ...string) Page {
	p.T.Helper()
	return stacktest.Call[Page](p.Stack, 200, http.MethodPost, p.OrganizationPath(Query(parts)), body)
}

// Bulk sends POST /contacts/bulk and checks the answer as BulkUnder does.
func (p *Contacts) Bulk(operations ...Object) BulkAnswer {
	p.T.Helper()
	return p.BulkUnder("/contacts/bulk", "", operations...)
}

// NewContact creates a contact with the address, or puts the contact that has the address
// on the event.
func (d *Client) NewContact(email string, more ...Object) Entity {
	d.T.Helper()
	return d.Do(200, http.MethodPost, "/contacts/create", Merged(Object{"email": email}, more...))
}

// WithAddresses creates contacts with these addresses and returns their ids.
func (p *Contacts) WithAddresses(addresses ...string) []string {
	p.T.Helper()
	ids := make([]string, len(addresses))
	for i, address := range addresses {
		ids[i] = p.NewContact(address).ID()
	}
	return ids
}

// NewField creates a custom field of contacts and returns its internal name.
func (p *Contacts) NewField(name, kind string, more ...Object) string {
	p.T.Helper()
	return p.Client.NewField(name, kind, append([]Object{{"module_id": "contact"}}, more...)...)
}

// speaker creates a contact that speaks on a session and returns its id and address.
func speaker(t *testing.T, s *stacktest.Stack) (id, address string) {
	t.Helper()
	person := SampleDraft("contacts")
	id = MustCreate(t, s, "/contacts/create", person)
	MustCreate(t, s, "/sessions/create", map[string]any{
		"title": "A talk", "participants": []any{map[string]any{"contact_id": id, "core_role": "speaker"}},
	})
	return id, person["email"].(string)
}
