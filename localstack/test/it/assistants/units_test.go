package assistants_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"lectern/localstack/test/granttest"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/auth"
	"lectern/shared/grant"
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
	read := func(by *stacktest.Stack, id string) []any {
		for range 2 { // The first request of a caller fills the memory.
			by.Call(t, http.StatusOK, http.MethodGet, d.EventPath("/sessions/"+session), stacktest.WithHeaders(nil, "X-Request-Id", id+"-before"))
		}
		by.Call(t, http.StatusOK, http.MethodGet, d.EventPath("/sessions/"+session), stacktest.WithHeaders(nil, "X-Request-Id", id))
		return costOf(t, log, id)
	}
	byToken := read(d.Stack, "by-token")
	require.Equal(t, byToken, read(app, "by-application"))

	for range 2 {
		app.Call(t, http.StatusOK, http.MethodPost, "/mcp", message(listTools, "X-Request-Id", "tools-before"))
	}
	app.Call(t, http.StatusOK, http.MethodPost, "/mcp", message(listTools, "X-Request-Id", "tools"))
	require.Equal(t, []any{1.0, 1.0, 1.0, 0.0}, costOf(t, log, "tools"))
}

// costOf returns the calls, round trips, read units and write units of the request with an id.
func costOf(t *testing.T, log *stacktest.Log, id string) []any {
	t.Helper()
	line := log.Fields(t, id)
	return []any{line["calls"], line["round_trips"], line["rcu"], line["wcu"]}
}

// TestTheUnitsOfConnections of the requests that connect an application, renew its tokens and disconnect it.
func TestTheUnitsOfConnections(t *testing.T) {
	log := &stacktest.Log{}
	s := stacktest.Start(t, stacktest.WithLog(log))
	c := granttest.New(t, s)
	tokens, _ := c.Connect(c.Member(nil), auth.APIScopes...)
	verifier := strings.Repeat("v", 43)
	asked := grant.Request{
		ClientID: clientOf(t, c, tokens.RefreshToken), RedirectURI: "https://app.example/done", ResponseType: "code",
		CodeChallenge: oauth2.S256ChallengeFromVerifier(verifier), CodeChallengeMethod: grant.S256,
	}
	checked, err := c.Check(t.Context(), asked)
	require.NoError(t, err)
	exchange := func() object {
		code, err := c.Approve(t.Context(), checked, c.Org, c.Member(nil))
		require.NoError(t, err)
		return object{
			"grant_type": "authorization_code", "code": code, "client_id": asked.ClientID, "redirect_uri": asked.RedirectURI, "code_verifier": verifier,
		}
	}
	s.As("").Call(t, http.StatusOK, http.MethodPost, "/oauth/token", exchange()) // The first exchange of an instance reserves ids.
	query := url.Values{
		"client_id": {asked.ClientID}, "redirect_uri": {asked.RedirectURI}, "response_type": {"code"}, "code_challenge": {asked.CodeChallenge},
		"code_challenge_method": {grant.S256},
	}
	for _, r := range []struct {
		name, method, path string
		body               any
		cost               []any
	}{
		{"authorize", http.MethodGet, "/oauth/authorize?" + query.Encode(), nil, []any{1.0, 1.0, 1.0, 0.0}},
		{"exchange", http.MethodPost, "/oauth/token", exchange(), []any{6.0, 6.0, 5.0, 17.0}},
		{"refresh", http.MethodPost, "/oauth/token", object{
			"grant_type": "refresh_token", "refresh_token": tokens.RefreshToken, "client_id": asked.ClientID,
		}, []any{2.0, 2.0, 4.0, 2.0}},
		{"revoke", http.MethodPost, "/oauth/revoke", object{"token": tokens.RefreshToken}, []any{3.0, 3.0, 2.0, 10.0}},
	} {
		s.As("").Call(t, http.StatusOK, r.method, r.path, stacktest.WithHeaders(r.body, "X-Request-Id", r.name))
		require.Equal(t, r.cost, costOf(t, log, r.name), r.name)
	}
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
