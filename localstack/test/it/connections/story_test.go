package connections_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"lectern/functions/logexport"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
)

// TestAnApplicationIsConnected by the library of a stranger, works with the member's permissions, gets new tokens, and is disconnected.
func TestAnApplicationIsConnected(t *testing.T) {
	stacktest.Everywhere(t)
	s := newSite(t, stacktest.Publishing())
	config := oauth2.Config{
		ClientID: s.app["client_id"].(string), RedirectURL: callback, Scopes: []string{"read:events", "write:sessions"},
		Endpoint: oauth2.Endpoint{AuthURL: s.URL + "/oauth/authorize", TokenURL: s.URL + "/oauth/token"},
	}
	b := s.newBrowser()
	page := b.get(config.AuthCodeURL("a state", oauth2.S256ChallengeOption(verifier)))
	page = b.signIn(page, s.ada)
	for _, shows := range []string{"Connect Agenda?", "app.example", s.ada, "agenda drafts", "sessions and their files"} {
		require.Contains(t, page.text, shows)
	}
	form := page.form()
	form.Set("decision", "approve")
	back, err := url.Parse(b.send(http.MethodPost, "/oauth/consent", form).location)
	require.NoError(t, err)
	require.Equal(t, "app.example/done", back.Host+back.Path)
	require.Equal(t, []string{"a state", s.issuer}, []string{back.Query().Get("state"), back.Query().Get("iss")})
	token, err := config.Exchange(t.Context(), back.Query().Get("code"), oauth2.VerifierOption(verifier))
	require.NoError(t, err)
	require.Equal(t, []any{"Bearer", "read:events write:sessions"}, []any{token.TokenType, token.Extra("scope")})
	require.InDelta(t, 3600, token.ExpiresIn, 2)

	app := config.Client(t.Context(), token)
	answer, err := app.Get(s.URL + "/v1/events")
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)
	s.As(token.AccessToken).Call(t, http.StatusForbidden, http.MethodGet, "/v1/organization/1/awards/programs", nil)
	made := s.As(token.AccessToken).Call(t, http.StatusOK, http.MethodPost, s.EventPath("/sessions/create"), object{"title": "By an application"}).JSON(t)
	require.Equal(t, "By an application", made["title"])

	require.Contains(t, tool(s, token.AccessToken, "list_events", object{}), fmt.Sprintf(`"id":%d`, s.Event))
	require.Contains(t, tool(s, token.AccessToken, "create_session", object{"event_id": s.Event, "title": "By an assistant"}), "By an assistant")
	require.Contains(t, tool(s, token.AccessToken, "list_award_programs", object{}), "read:awards")

	next, err := config.TokenSource(t.Context(), &oauth2.Token{RefreshToken: token.RefreshToken}).Token()
	require.NoError(t, err)
	require.NotEqual(t, token.RefreshToken, next.RefreshToken)

	page = b.get("/oauth/connections")
	require.Contains(t, page.text, "Agenda")
	page = b.get(b.send(http.MethodPost, "/oauth/connections/disconnect", page.form()).location)
	require.Contains(t, page.text, "The application is disconnected.")
	require.NotContains(t, page.text, "Agenda")
	s.As(next.AccessToken).Call(t, http.StatusUnauthorized, http.MethodGet, "/v1/events", nil)
	_, err = config.TokenSource(t.Context(), &oauth2.Token{RefreshToken: next.RefreshToken}).Token()
	require.ErrorContains(t, err, "invalid_grant")

	signedOut := b.send(http.MethodPost, "/oauth/signout", page.form())
	require.Contains(t, signedOut.text, "You are signed out")
	require.Contains(t, b.get("/oauth/connections").text, `name="email"`)
}

// tool calls a tool of the MCP server with an access token, and returns the text of the result.
func tool(s *site, access, name string, args object) string {
	s.t.Helper()
	answer := s.As(access).Call(s.t, http.StatusOK, http.MethodPost, "/mcp", stacktest.WithHeaders(object{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": object{"name": name, "arguments": args},
	}, "Accept", "application/json, text/event-stream"))
	return answer.JSON(s.t)["result"].(object)["content"].([]any)[0].(object)["text"].(string)
}

// TestTheMemberRefuses: the application is told, with its state, and gets no code.
func TestTheMemberRefuses(t *testing.T) {
	stacktest.Everywhere(t)
	s := newSite(t)
	b := s.visitor()
	form := b.get("/oauth/authorize?" + s.request().Encode()).form()
	form.Set("decision", "refuse")
	back, err := url.Parse(b.send(http.MethodPost, "/oauth/consent", form).location)
	require.NoError(t, err)
	sent := back.Query()
	require.Equal(t, []string{"access_denied", "a state", s.issuer, ""}, []string{sent.Get("error"), sent.Get("state"), sent.Get("iss"), sent.Get("code")})
	form.Set("decision", "perhaps")
	require.Equal(t, http.StatusBadRequest, b.send(http.MethodPost, "/oauth/consent", form).status)
}

// TestTheSecurityLogOfAConnection has the acts of the member and of the application, and those who were not signed in.
func TestTheSecurityLogOfAConnection(t *testing.T) {
	s := newSite(t)
	log := s.TokenWith(t, object{"kind": "log_export"})
	b := s.visitor()
	form := b.get("/oauth/authorize?" + s.request().Encode()).form()
	form.Set("decision", "refuse")
	b.send(http.MethodPost, "/oauth/consent", form)
	code := b.approve(s.request()).Get("code")
	tokens := s.tokens(http.StatusOK, code)
	s.As("").Call(t, http.StatusOK, http.MethodPost, "/oauth/revoke", object{"token": tokens["access_token"]})
	b.send(http.MethodPost, "/oauth/signout", b.get("/oauth/connections").form())
	stranger := s.newBrowser()
	s.idp.EditClaims(func(claims map[string]any) { claims["email_verified"] = false })
	page := stranger.signIn(stranger.get("/oauth/signin"), s.ada)
	require.Equal(t, http.StatusForbidden, page.status)
	require.Contains(t, page.text, "has not verified")
	s.idp.EditClaims(func(claims map[string]any) { claims["email"] = "nobody@" + s.domain })
	page = stranger.signIn(stranger.get("/oauth/signin"), s.ada)
	require.Contains(t, page.text, "Nobody with your e-mail")

	var actions []string
	for _, event := range exported(s, log) {
		action := event["action"].(string)
		if strings.HasPrefix(action, "member.sign") || strings.HasPrefix(action, "connection.") {
			actions = append(actions, action+" "+event["outcome"].(string))
		}
		if action == "member.sign_in_failed" {
			require.Equal(t, "no_member", event["reason"])
		}
		if action == "connection.created" || action == "connection.ended" {
			require.Equal(t, []any{"oauth", float64(s.user)}, []any{event["actor"].(object)["type"], event["actor"].(object)["id"]})
		}
	}
	require.ElementsMatch(t, []string{
		"member.signed_in success", "connection.refused success", "connection.approved success", "connection.created success",
		"connection.ended success", "member.signed_out success", "member.sign_in_failed failure",
	}, actions)
}

// exported returns the security events of the organization, from a service whose clock is ahead: a log lags a minute.
func exported(s *site, token string) (events []object) {
	s.t.Helper()
	d := &it.Client{Stack: s.As(token), T: s.t}
	ahead := d.ServeGroup(logexport.Group, func(env *api.Env) { env.Now = func() time.Time { return time.Now().Add(2 * time.Minute) } })
	answer := ahead.Call(s.t, http.StatusOK, http.MethodGet, "/v1/logs/security-events?limit=1000", nil).JSON(s.t)
	for _, event := range answer["results"].([]any) {
		events = append(events, event.(object))
	}
	return events
}
