package access_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/granttest"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/auth"
)

// applications are the access tokens of applications, for the matrix of scopes: of an admin, of members who see one event, and of members
// and organizations that may not connect applications any more.
func applications(t *testing.T, s *stacktest.Stack) []bearer {
	t.Helper()
	c := granttest.New(t, s)
	of := func(properties map[string]any, scopes ...auth.Scope) string {
		tokens, _ := c.Connect(c.Member(properties), scopes...)
		return tokens.AccessToken
	}
	logs := func(op api.Operation) bool { return slices.Contains(op.Scopes, auth.ReadAuditLogs) }
	every := func(op api.Operation) int {
		if logs(op) {
			return http.StatusForbidden
		}
		return 0
	}
	onEvent := func(op api.Operation) int {
		if logs(op) || it.OfWholeOrganization(op) {
			return http.StatusForbidden
		}
		return 0
	}
	reads := func(op api.Operation) int {
		if op.Scopes.IsPublic() || slices.Contains(op.Scopes, auth.ReadSessions) && !it.NeedsReadScope(op) {
			return 0
		}
		return http.StatusForbidden
	}
	closed := func(op api.Operation) int {
		if op.Scopes.IsPublic() {
			return 0
		}
		return http.StatusForbidden
	}
	out := func(op api.Operation) int {
		if op.Scopes.IsPublic() {
			return 0
		}
		return http.StatusUnauthorized
	}
	inactive := c.Member(nil)
	left, _ := c.Connect(inactive, auth.APIScopes...)
	s.Operator(t, "member-update", map[string]any{"org_id": s.Org, "user_id": inactive, "active": false})
	ended, id := c.Connect(c.Member(nil), auth.APIScopes...)
	s.Operator(t, "token-revoke", map[string]any{"org_id": s.Org, "token_id": id})
	unable := c.Member(nil)
	without, _ := c.Connect(unable, auth.APIScopes...)
	s.Operator(t, "member-update", map[string]any{"org_id": s.Org, "user_id": unable, "ai_access": false})
	off := granttest.New(t, s.NewOrganization(t))
	elsewhere, _ := off.Connect(off.Member(nil), auth.APIScopes...)
	off.Operator(t, "organization-update", map[string]any{"org_id": off.Org, "ai_enabled": false})
	return []bearer{
		{name: "an admin's application", token: of(map[string]any{"role": "admin"}, auth.APIScopes...), status: every},
		{name: "an application that reads sessions", token: of(nil, auth.ReadSessions), status: reads, narrow: true},
		{name: "an inactive member's application", token: left.AccessToken, status: out},
		{name: "an application whose connection has ended", token: ended.AccessToken, status: out},
		{name: "an event's member's application", status: onEvent,
			token: of(map[string]any{"role": "event_only", "event_ids": []int64{s.Event}}, auth.APIScopes...)},
		{name: "an application without AI access", token: without.AccessToken, status: closed, reason: "ai_access"},
		{name: "an application of an organization without AI", token: elsewhere.AccessToken, status: closed, reason: "ai_access"},
	}
}

// TestAnApplicationIsACaller with the member's permissions, until the connection ends.
func TestAnApplicationIsACaller(t *testing.T) {
	s := stacktest.Start(t)
	c := granttest.New(t, s)
	tokens, id := c.Connect(c.Member(nil), auth.ReadEvents, auth.WriteSessions)
	access := tokens.AccessToken
	app := s.As(access)
	made := app.Call(t, http.StatusOK, http.MethodPost, s.EventPath("/sessions/create"), map[string]any{"title": "By an application"}).JSON(t)
	require.Equal(t, "By an application", made["title"])
	lacks := app.Call(t, http.StatusForbidden, http.MethodPost, s.EventPath("/insights/execute"), map[string]any{"query": "FIND Session"})
	require.Contains(t, challenge(lacks), `Bearer error="insufficient_scope", scope="read:insights", resource_metadata="`)
	logs := app.Call(t, http.StatusForbidden, http.MethodGet, "/v1/logs/api-requests", nil)
	require.Empty(t, challenge(logs), "no application can have the scope")
	for _, headers := range [][]string{
		{"Authorization", "bearer " + access}, {"Authorization", "Bearer  " + access},
		{"Authorization", "Bearer " + access, stacktest.TokenHeader, access},
	} {
		s.As("").Call(t, http.StatusOK, http.MethodGet, "/v1/events", stacktest.WithHeaders(nil, headers...))
	}
	for _, headers := range [][]string{
		{"Authorization", access}, {"Authorization", "Basic " + access}, {"Authorization", "Bearer"}, {"Authorization", "Bearer " + access + "x"},
		{"Authorization", "Bearer " + s.Token}, {stacktest.TokenHeader, access}, {"Cookie", "Authorization=Bearer " + access},
	} {
		s.As("").Call(t, http.StatusUnauthorized, http.MethodGet, "/v1/events", stacktest.WithHeaders(nil, headers...))
	}
	s.As("").Call(t, http.StatusUnauthorized, http.MethodGet, "/v1/events?access_token="+access, nil)

	// The operator sees the connection, without secrets, changes its limit alone, and ends it.
	shown := s.Operator(t, "token-list", map[string]any{"org_id": s.Org})
	var found map[string]any
	for _, one := range shown["results"].([]any) {
		if token := one.(map[string]any); int64(token["id"].(float64)) == id {
			found = token
		}
	}
	require.Equal(t, []any{"oauth", "Agenda", true}, []any{found["kind"], found["name"], found["obfuscate_pii"]})
	require.Len(t, found["grant"], 1, "the application alone")
	for name, value := range map[string]any{
		"scopes": []string{"read:events"}, "event_ids": []int64{s.Event}, "expires_at": "2030-01-01T00:00:00Z", "obfuscate_pii": false,
	} {
		_, err := s.TryOperator(t, "token-update", map[string]any{"org_id": s.Org, "token_id": id, name: value})
		require.ErrorContains(t, err, "connection of an application", name)
	}
	s.Operator(t, "token-revoke", map[string]any{"org_id": s.Org, "token_id": id})
	app.Call(t, http.StatusUnauthorized, http.MethodGet, "/v1/events", nil)
	require.NotContains(t, fmt.Sprint(shown), "hash")
}
