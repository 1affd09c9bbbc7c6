package assistants_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/granttest"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/auth"
	"lectern/shared/tenancy"
)

// TestTheUnitsOfApplications: a request of an application costs what that of a token costs, and a message to the MCP server one read of the
// caller beside the operation.
func TestTheUnitsOfApplications(t *testing.T) {
	log := &stacktest.Log{}
	d := &it.Client{Stack: stacktest.Start(t, stacktest.WithLog(log)), T: t}
	c := granttest.New(t, d.Stack)
	tokens, _ := c.Connect(c.Member(nil), auth.APIScopes...)
	app := d.As(tokens.AccessToken)
	session := d.Create(200, object{"title": "Opening"}).ID()
	cost := func(id string) []any {
		line := log.Fields(t, id)
		return []any{line["calls"], line["round_trips"], line["rcu"], line["wcu"]}
	}
	read := func(by *stacktest.Stack, id string) []any {
		for range 2 { // The first request of a caller fills the memory.
			by.Call(t, http.StatusOK, http.MethodGet, d.EventPath("/sessions/"+session), stacktest.WithHeaders(nil, "X-Request-Id", id+"-before"))
		}
		by.Call(t, http.StatusOK, http.MethodGet, d.EventPath("/sessions/"+session), stacktest.WithHeaders(nil, "X-Request-Id", id))
		return cost(id)
	}
	byToken := read(d.Stack, "by-token")
	require.Equal(t, byToken, read(app, "by-application"))

	for range 2 {
		app.Call(t, http.StatusOK, http.MethodPost, "/mcp", message(listTools, "X-Request-Id", "tools-before"))
	}
	app.Call(t, http.StatusOK, http.MethodPost, "/mcp", message(listTools, "X-Request-Id", "tools"))
	require.Equal(t, []any{1.0, 1.0, 1.0, 0.0}, cost("tools"))
	refresh := object{"grant_type": "refresh_token", "refresh_token": tokens.RefreshToken, "client_id": clientOf(t, c, tokens.RefreshToken)}
	d.As("").Call(t, http.StatusOK, http.MethodPost, "/oauth/token", stacktest.WithHeaders(refresh, "X-Request-Id", "refresh"))
	d.As("").Call(t, http.StatusOK, http.MethodPost, "/oauth/revoke",
		stacktest.WithHeaders(object{"token": tokens.RefreshToken}, "X-Request-Id", "revoke"))
	t.Logf("calls, round trips, read and write units: session %v, refresh %v, revoke %v", byToken, cost("refresh"), cost("revoke"))
}

// clientOf returns the application of a refresh token.
func clientOf(t *testing.T, c granttest.Connector, refresh string) string {
	t.Helper()
	text, err := auth.Parse(auth.FormRefresh, refresh)
	require.NoError(t, err)
	token, err := tenancy.Tokens.Get(t.Context(), c.Tenancy, tenancy.TokenPK(text.Org, text.ID))
	require.NoError(t, err)
	return token.Grant.ClientID
}
