package people_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// accountClient is a client of the accounts of one role: its operations use the role's routes.
type accountClient struct {
	*it.Client
	role string
}

// inBothRoles does a test once in each role, each time in an organization of its
// own whose event has the features.
func inBothRoles(t *testing.T, test func(t *testing.T, s *accountClient), features ...string) {
	t.Helper()
	region := stacktest.Start(t)
	for _, role := range it.AccountRoles {
		t.Run(role, func(t *testing.T) {
			test(t, &accountClient{&it.Client{Stack: region.NewOrganization(t, features...), T: t}, role})
		})
	}
}

// other is the same caller at the other role's routes.
func (s *accountClient) other() *accountClient {
	if s.role == it.AccountRoles[0] {
		return &accountClient{s.Client, it.AccountRoles[1]}
	}
	return &accountClient{s.Client, it.AccountRoles[0]}
}

func (s *accountClient) elsewhere(features ...string) *accountClient {
	s.T.Helper()
	return &accountClient{s.InNewEvent(features...), s.role}
}

func (s *accountClient) as(token string) *accountClient {
	return &accountClient{s.WithToken(token), s.role}
}

// with returns the same client with a token of these scopes.
func (s *accountClient) with(scopes ...string) *accountClient {
	s.T.Helper()
	return s.as(s.NewToken(s.T, scopes...))
}

// writer is the scope that writes in the role need.
func (s *accountClient) writer() string { return "write:" + s.role + "s" }

// noun is the role as messages name it.
func (s *accountClient) noun() string {
	return map[string]string{"sponsor": "Sponsor", "exhibitor": "Exhibitor"}[s.role]
}

func (s *accountClient) path(rest string) string { return "/" + s.role + "s" + rest }

// call is a request on the role's routes with its whole answer.
func (s *accountClient) call(status int, method, rest string, body any, header ...string) stacktest.Answer {
	s.T.Helper()
	return s.Call(s.T, status, method, s.EventPath(s.path(rest)), stacktest.WithHeaders(body, header...))
}

func (s *accountClient) create(status int, body any, parts ...string) entity {
	s.T.Helper()
	return s.Do(status, http.MethodPost, s.path("/create"+it.Query(parts)), body)
}

func (s *accountClient) get(status int, id string, parts ...string) entity {
	s.T.Helper()
	return s.Do(status, http.MethodGet, s.path("/"+id+it.Query(parts)), nil)
}

func (s *accountClient) put(status int, id string, body any, parts ...string) entity {
	s.T.Helper()
	return s.Do(status, http.MethodPut, s.path("/"+id+it.Query(parts)), body)
}

func (s *accountClient) remove(status int, id string, header ...string) entity {
	s.T.Helper()
	return s.Do(status, http.MethodDelete, s.path("/"+id), nil, header...)
}

func (s *accountClient) restore(status int, id string, header ...string) entity {
	s.T.Helper()
	return s.Do(status, http.MethodPost, s.path("/"+id+"/restore"), nil, header...)
}

func (s *accountClient) search(body any, parts ...string) it.Page {
	s.T.Helper()
	return stacktest.Call[it.Page](s.Stack, 200, http.MethodPost, s.EventPath(s.path(it.Query(parts))), body)
}

// names are those of the accounts that a search finds.
func (s *accountClient) names(body object) []string {
	s.T.Helper()
	return it.Texts(s.search(body).Results, "name")
}

// named makes accounts with these names and gives their ids.
func (s *accountClient) named(names ...string) []string {
	s.T.Helper()
	ids := make([]string, len(names))
	for i, name := range names {
		ids[i] = s.create(200, object{"name": name}).ID()
	}
	return ids
}

// takes gives the role to an account.
func (s *accountClient) takes(status int, account string, more ...object) entity {
	s.T.Helper()
	return s.create(status, it.Merged(object{"account_id": account}, more...))
}

func (s *accountClient) bulk(operations ...object) it.BulkAnswer {
	s.T.Helper()
	return s.bulkUnder("", operations...)
}

func (s *accountClient) bulkUnder(key string, operations ...object) it.BulkAnswer {
	s.T.Helper()
	return s.BulkUnder(s.path("/bulk"), key, operations...)
}

// field makes a custom field of accounts and gives its internal name.
func (s *accountClient) field(name, kind string, more ...object) string {
	s.T.Helper()
	return s.NewField(name, kind, append([]object{{"module_id": "account"}}, more...)...)
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
func (s *accountClient) isUnknown(answer entity) {
	s.T.Helper()
	require.Equal(s.T, entity{
		"code": "NOT_FOUND", "name": "NotFoundError", "error": "NotFoundError", "message": s.noun() + " not found",
	}, answer)
}

// isTaken checks the 409 for a role that the account holds already, or held.
func isTaken(t *testing.T, answer entity, account string, deleted bool) {
	t.Helper()
	it.RequireError(t, answer, "DUPLICATE_ROLE", "account_id")
	require.Equal(t, "ConflictError", answer["name"])
	require.Equal(t, account, answer.At("details.id"))
	if deleted {
		require.Equal(t, true, answer.At("details.deleted"))
	} else {
		require.Nil(t, answer.At("details.deleted"))
	}
}
