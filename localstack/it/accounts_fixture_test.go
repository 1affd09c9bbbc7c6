package it_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/stacktest"
)

// stand is a desk at work on the accounts of one role; its operations are those
// of a desk, on the role's routes.
type stand struct {
	*desk
	role string
}

// bothRoles are the two roles of an account on an event.
var bothRoles = []string{"sponsor", "exhibitor"}

// inBothRoles does a test once in each role, each time in an organization of its
// own whose event has the features.
func inBothRoles(t *testing.T, test func(t *testing.T, s *stand), features ...string) {
	t.Helper()
	region := stacktest.Start(t)
	for _, role := range bothRoles {
		t.Run(role, func(t *testing.T) { test(t, &stand{&desk{region.NewOrganization(t, features...), t}, role}) })
	}
}

// other is the same caller at the other role's routes.
func (s *stand) other() *stand {
	if s.role == bothRoles[0] {
		return &stand{s.desk, bothRoles[1]}
	}
	return &stand{s.desk, bothRoles[0]}
}

func (s *stand) elsewhere(features ...string) *stand {
	s.t.Helper()
	return &stand{s.desk.elsewhere(features...), s.role}
}

func (s *stand) as(token string) *stand { return &stand{s.desk.as(token), s.role} }

// with is the same stand for a token with these scopes.
func (s *stand) with(scopes ...string) *stand {
	s.t.Helper()
	return s.as(s.NewToken(s.t, scopes...))
}

// writer is the scope that writes in the role need.
func (s *stand) writer() string { return "write:" + s.role + "s" }

// noun is the role as messages name it.
func (s *stand) noun() string {
	return map[string]string{"sponsor": "Sponsor", "exhibitor": "Exhibitor"}[s.role]
}

func (s *stand) path(rest string) string { return "/" + s.role + "s" + rest }

// call is a request on the role's routes with its whole answer.
func (s *stand) call(status int, method, rest string, body any, header ...string) stacktest.Answer {
	s.t.Helper()
	return s.Call(s.t, status, method, s.EventPath(s.path(rest)), body, header...)
}

func (s *stand) create(status int, body any, parts ...string) entity {
	s.t.Helper()
	return s.send(status, http.MethodPost, s.path("/create"+query(parts)), body)
}

func (s *stand) get(status int, id string, parts ...string) entity {
	s.t.Helper()
	return s.send(status, http.MethodGet, s.path("/"+id+query(parts)), nil)
}

func (s *stand) put(status int, id string, body any, parts ...string) entity {
	s.t.Helper()
	return s.send(status, http.MethodPut, s.path("/"+id+query(parts)), body)
}

func (s *stand) remove(status int, id string, header ...string) entity {
	s.t.Helper()
	return s.send(status, http.MethodDelete, s.path("/"+id), nil, header...)
}

func (s *stand) restore(status int, id string, header ...string) entity {
	s.t.Helper()
	return s.send(status, http.MethodPost, s.path("/"+id+"/restore"), nil, header...)
}

func (s *stand) search(body any, parts ...string) found {
	s.t.Helper()
	return stacktest.Call[found](s.Stack, 200, http.MethodPost, s.EventPath(s.path(query(parts))), body)
}

// names are those of the accounts that a search finds.
func (s *stand) names(body object) []string {
	s.t.Helper()
	return texts(s.search(body).Results, "name")
}

// named makes accounts with these names and gives their ids.
func (s *stand) named(names ...string) []string {
	s.t.Helper()
	ids := make([]string, len(names))
	for i, name := range names {
		ids[i] = s.create(200, object{"name": name}).id()
	}
	return ids
}

// takes gives the role to an account.
func (s *stand) takes(status int, account string, more ...object) entity {
	s.t.Helper()
	return s.create(status, merged(object{"account_id": account}, more...))
}

func (s *stand) bulk(operations ...object) outcome {
	s.t.Helper()
	return s.bulkUnder("", operations...)
}

func (s *stand) bulkUnder(key string, operations ...object) outcome {
	s.t.Helper()
	return s.desk.bulkUnder(s.path("/bulk"), key, operations...)
}

// field makes a custom field of accounts and gives its internal name.
func (s *stand) field(name, kind string, more ...object) string {
	s.t.Helper()
	return s.desk.field(name, kind, append([]object{{"module_id": "account"}}, more...)...)
}

// keysInOrder are the names of an object's properties as they were sent.
func keysInOrder(t *testing.T, body []byte) (names []string) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(body))
	_, err := decoder.Token()
	require.NoError(t, err)
	for decoder.More() {
		name, err := decoder.Token()
		require.NoError(t, err)
		names = append(names, name.(string))
		var value json.RawMessage
		require.NoError(t, decoder.Decode(&value))
	}
	return names
}

// isUnknown checks the 404 of an account that does not hold the role.
func (s *stand) isUnknown(answer entity) {
	s.t.Helper()
	require.Equal(s.t, entity{
		"code": "NOT_FOUND", "name": "NotFoundError", "error": "NotFoundError", "message": s.noun() + " not found",
	}, answer)
}

// isTaken checks the 409 for a role that the account holds already, or held.
func isTaken(t *testing.T, answer entity, account string, deleted bool) {
	t.Helper()
	isRefused(t, answer, "DUPLICATE_ROLE", "account_id")
	require.Equal(t, "ConflictError", answer["name"])
	require.Equal(t, account, answer.at("details.id"))
	if deleted {
		require.Equal(t, true, answer.at("details.deleted"))
	} else {
		require.Nil(t, answer.at("details.deleted"))
	}
}
