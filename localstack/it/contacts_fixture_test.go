package it_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/stacktest"
)

// people is a desk whose operations are those on contacts.
type people struct{ *desk }

func newPeople(t *testing.T, features ...string) *people {
	t.Helper()
	return &people{newDesk(t, features...)}
}

func (p *people) elsewhere(features ...string) *people { return &people{p.desk.elsewhere(features...)} }

func (p *people) as(token string) *people { return &people{p.desk.as(token)} }

// limited is the caller with a token that is limited to the event.
func (p *people) limited() *people {
	p.t.Helper()
	return p.as(p.TokenWith(p.t, object{"scopes": stacktest.Scopes, "limit": 1_000_000, "event_ids": []int64{p.Event}}))
}

// stranger is a caller of another organization.
func (p *people) stranger() *people { return &people{&desk{p.NewOrganization(p.t), p.t}} }

// write makes a request below the event's contacts and gives its whole answer.
func (p *people) write(status int, method, path string, body any, header ...string) stacktest.Answer {
	p.t.Helper()
	return p.Call(p.t, status, method, p.EventPath("/contacts"+path), body, header...)
}

func (p *people) create(status int, body any, parts ...string) entity {
	p.t.Helper()
	return p.write(status, http.MethodPost, "/create"+query(parts), body).JSON(p.t)
}

func (p *people) get(status int, id string, parts ...string) entity {
	p.t.Helper()
	return p.write(status, http.MethodGet, "/"+id+query(parts), nil).JSON(p.t)
}

func (p *people) put(status int, id string, body any, parts ...string) entity {
	p.t.Helper()
	return p.write(status, http.MethodPut, "/"+id+query(parts), body).JSON(p.t)
}

func (p *people) remove(status int, id string, header ...string) entity {
	p.t.Helper()
	return p.write(status, http.MethodDelete, "/"+id, nil, header...).JSON(p.t)
}

func (p *people) restore(status int, id string, header ...string) entity {
	p.t.Helper()
	return p.write(status, http.MethodPost, "/"+id+"/restore", nil, header...).JSON(p.t)
}

func (p *people) search(body any, parts ...string) found {
	p.t.Helper()
	return stacktest.Call[found](p.Stack, 200, http.MethodPost, p.EventPath("/contacts"+query(parts)), body)
}

// organization is a path below the organization's contacts.
func (p *people) organization(rest string) string {
	return fmt.Sprintf("/v1/organization/%d/contacts%s", p.Org, rest)
}

// whole reads a contact on the organization's level.
func (p *people) whole(status int, id string, parts ...string) entity {
	p.t.Helper()
	return p.Call(p.t, status, http.MethodGet, p.organization("/"+id+query(parts)), nil).JSON(p.t)
}

// searchAll is the search of the organization's contacts.
func (p *people) searchAll(body any, parts ...string) found {
	p.t.Helper()
	return stacktest.Call[found](p.Stack, 200, http.MethodPost, p.organization(query(parts)), body)
}

func (p *people) bulk(operations ...object) outcome {
	p.t.Helper()
	return p.bulkUnder("/contacts/bulk", "", operations...)
}

// plain is the error of the operation at index i: a string with nothing beside it.
func (o outcome) plain(t *testing.T, i int) string {
	t.Helper()
	r := o.Results[i]
	require.Equal(t, "error", r["status"], "%v", r)
	require.ElementsMatch(t, []string{"index", "action", "status", "id", "error"}, r.keys())
	message := r.text("error")
	require.NotEmpty(t, message, "%v", r)
	return message
}

// person makes a contact with the address, or puts the one who has it on the event.
func (d *desk) person(email string, more ...object) entity {
	d.t.Helper()
	return d.send(200, http.MethodPost, "/contacts/create", merged(object{"email": email}, more...))
}

// addressed makes contacts with these addresses and gives their ids.
func (p *people) addressed(addresses ...string) []string {
	p.t.Helper()
	ids := make([]string, len(addresses))
	for i, address := range addresses {
		ids[i] = p.person(address).id()
	}
	return ids
}

// field makes a custom field of contacts and gives its internal name.
func (p *people) field(name, kind string, more ...object) string {
	p.t.Helper()
	return p.desk.field(name, kind, append([]object{{"module_id": "contact"}}, more...)...)
}

// organizationWide makes a field global.
var organizationWide = object{"scope": "global"}

// isTakenBy checks the 409 for an address that a contact has.
func isTakenBy(t *testing.T, answer entity, details object) {
	t.Helper()
	isRefused(t, answer, "DUPLICATE_EMAIL", "email")
	require.Equal(t, "ConflictError", answer["name"])
	require.Equal(t, merged(object{"field": "email"}, details), answer["details"])
}
