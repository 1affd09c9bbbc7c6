package people_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/functions/exhibitors"
	"lectern/functions/sponsors"
	"lectern/localstack/test/it"
	"lectern/shared/api"
)

// everyAccountCall makes each request of a role, which must be answered with the
// status; reads or writes.
func (s *accountClient) everyAccountCall(reads, writes int, id string) {
	s.T.Helper()
	for _, c := range []struct {
		status       int
		method, rest string
		body         any
	}{
		{reads, http.MethodPost, "", object{}}, {reads, http.MethodGet, "/" + id, nil},
		{writes, http.MethodPost, "/create", object{"name": "X"}}, {writes, http.MethodPut, "/" + id, object{"name": "X"}},
		{writes, http.MethodDelete, "/" + id, nil}, {writes, http.MethodPost, "/" + id + "/restore", nil},
		{writes, http.MethodPost, "/bulk", object{"operations": []object{it.Creating(object{"name": "X"})}}},
	} {
		s.call(c.status, c.method, c.rest, c.body)
	}
}

func TestWhoMayReadAndWriteAccounts(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		id := s.named("A")[0]
		s.with("read:contacts").everyAccountCall(200, 403, id)
		s.with("read:events").everyAccountCall(200, 403, id)
		s.as(s.TokenWith(t, object{"kind": "legacy"})).everyAccountCall(200, 403, id)
		s.with("read:sessions", "read:reports", "write:contacts", "write:sessions", s.other().writer()).everyAccountCall(403, 403, id)
		s.as("").everyAccountCall(401, 401, id)
		s.as("wrong").everyAccountCall(401, 401, id)
		require.Equal(t, []string{"A"}, s.names(object{}), "nothing was written")
		s.with(s.writer()).everyAccountCall(403, 200, id)
		refusal := s.with(s.other().writer()).create(403, object{"name": "X"})
		require.Equal(t, "ForbiddenError", refusal["name"])
	})
}

// A writer of one role cannot change what the account is in the other, but the
// record is one: what it writes shows in both.
func TestAWriterOfOneRoleGivesNoOther(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		id, other := s.named("A")[0], s.other()
		writer := other.with(other.writer())
		other.isUnknown(writer.put(404, id, object{"name": "B"}))
		writer.takes(200, id, object{"description": "x"})
		require.Equal(t, "x", s.get(200, id)["description"])
		writer.other().remove(403, id)
		writer.remove(200, id)
		require.Equal(t, "A", s.get(200, id)["name"])
	})
}

func TestAccountLimits(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		id := s.named("A")[0]
		few := s.as(s.TokenWith(t, object{"scopes": []string{"read:events", "write:sponsors", "write:exhibitors"}, "limit": 6}))
		writes := []func() http.Header{
			func() http.Header { return few.call(200, http.MethodPut, "/"+id, object{"name": "B"}).Header },
			func() http.Header { return few.call(200, http.MethodDelete, "/"+id, nil).Header },
			func() http.Header { return few.call(200, http.MethodPost, "/"+id+"/restore", nil).Header },
			func() http.Header {
				return few.other().call(200, http.MethodPost, "/create", object{"name": "B"}).Header
			},
			func() http.Header {
				return few.call(200, http.MethodPost, "/bulk", object{"operations": []object{it.Creating(object{"name": "C"}), it.Creating(object{"name": "D"})}}).Header
			},
			func() http.Header { return few.call(409, http.MethodPost, "/create", object{"account_id": id}).Header },
		}
		for i, write := range writes {
			h := write()
			require.Equal(t, "6", h.Get("RateLimit-Limit"))
			require.Equal(t, fmt.Sprint(5-i), h.Get("RateLimit-Remaining"), "writes of both roles are one bucket, and a bulk is one request")
			require.Equal(t, `"account_writes";q=6;w=900`, h.Get("RateLimit-Policy"))
			require.NotEmpty(t, h.Get("RateLimit-Reset"))
		}
		refusal := few.call(429, http.MethodPut, "/"+id, object{"name": "Z"})
		require.NotEmpty(t, refusal.Header.Get("Retry-After"))
		require.Equal(t, "TooManyRequestsError", refusal.JSON(t)["error"])
		few.other().create(429, object{"name": "Z"})
		h := few.call(200, http.MethodGet, "/"+id, nil).Header
		require.Equal(t, "5", h.Get("RateLimit-Remaining"), "a limit on writes does not block reads")
		require.Equal(t, `"entity_reads";q=6;w=900`, h.Get("RateLimit-Policy"))
		require.Empty(t, few.call(200, http.MethodPost, "", object{}).Header.Get("RateLimit-Limit"), "a search is not limited")
	})
}

// TestAccountsLinkToTheAdminApplication: where one is configured, admin_url is the
// record there, in the role and on the event that are asked about.
func TestAccountsLinkToTheAdminApplication(t *testing.T) {
	groups := map[string]api.Group{"sponsor": sponsors.Group, "exhibitor": exhibitors.Group}
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		id := s.named("A")[0]
		s.other().takes(200, id)
		require.Nil(t, s.get(200, id)["admin_url"], "none is configured")
		for _, role := range []*accountClient{s, s.other()} {
			reader := &accountClient{role.ServeGroup(groups[role.role], func(env *api.Env) { env.AdminURL = "https://admin.example.org" }), role.role}
			want := fmt.Sprintf("https://admin.example.org/event/%d/%ss/%s", s.Event, role.role, id)
			require.Equal(t, want, reader.get(200, id)["admin_url"])
			require.Equal(t, []string{want}, it.Texts(reader.search(object{}).Results, "admin_url"))
		}
	})
}
