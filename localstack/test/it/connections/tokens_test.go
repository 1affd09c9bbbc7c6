package connections_test

import (
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/stacktest"
)

// TestMalformedTokenRequests leave the code as it is.
func TestMalformedTokenRequests(t *testing.T) {
	stacktest.Everywhere(t)
	s := newSite(t)
	other := s.Operator(t, "application-create", object{"client_name": "Other", "redirect_uris": []string{callback}})["client_id"].(string)
	code := s.visitor().approve(s.request()).Get("code")
	valid := object{
		"grant_type": "authorization_code", "code": code, "client_id": s.app["client_id"], "redirect_uri": callback, "code_verifier": verifier,
	}
	for _, c := range []struct {
		name   string
		status int
		body   any
		header []string
	}{
		{"a list", 400, `["x"]`, nil},
		{"no body", 400, "", nil},
		{"a number", 400, `{"grant_type": 1}`, nil},
		{"no encoding", 400, "grant_type=%zz", []string{"Content-Type", "application/x-www-form-urlencoded"}},
		{"twice", 400, "grant_type=authorization_code&code=" + code + "&code=" + code, []string{"Content-Type", "application/x-www-form-urlencoded"}},
		{"another encoding", 415, "x", []string{"Content-Type", "text/plain"}},
		{"too long", 413, `{"grant_type": "` + strings.Repeat("x", 1<<20) + `"}`, nil},
		{"two clients", 400, valid, []string{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte(other+":"))}},
	} {
		answer := s.As("").Call(t, c.status, http.MethodPost, "/oauth/token", stacktest.WithHeaders(c.body, c.header...)).JSON(t)
		require.Equal(t, "invalid_request", answer["error"], c.name)
		require.Len(t, answer, 2, c.name)
	}
	secret := []string{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte(s.app["client_id"].(string)+":word"))}
	require.Equal(t, "invalid_client", s.As("").Call(t, http.StatusBadRequest, http.MethodPost, "/oauth/token", stacktest.WithHeaders(valid, secret...)).JSON(t)["error"])
	s.tokens(http.StatusOK, code)
}

// refresh exchanges the refresh token of an answer.
func (s *site) refresh(status int, tokens, edit object) object {
	s.t.Helper()
	body := object{"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"], "client_id": s.app["client_id"]}
	maps.Copy(body, edit)
	return s.As("").Call(s.t, status, http.MethodPost, "/oauth/token", body).JSON(s.t)
}

// TestRefreshTokens are exchanged once; a lost answer is repeated, and a stolen one ends the connection.
func TestRefreshTokens(t *testing.T) {
	stacktest.Everywhere(t)
	s := newSite(t)
	b := s.visitor()
	first := s.tokens(http.StatusOK, b.approve(s.request()).Get("code"))
	second := s.refresh(http.StatusOK, first, object{"scope": "read:events"})
	require.Equal(t, "read:events", second["scope"])
	s.As(second["access_token"].(string)).Call(t, http.StatusForbidden, http.MethodPost, s.EventPath("/sessions/create"), object{"title": "x"})
	require.Equal(t, second, s.refresh(http.StatusOK, first, object{"scope": "read:events"}), "the answer was lost")
	s.As(first["access_token"].(string)).Call(t, http.StatusOK, http.MethodGet, "/v1/events", nil)
	third := s.refresh(http.StatusOK, second, nil)
	require.Equal(t, "read:events read:sessions write:sessions", third["scope"])
	require.Equal(t, "invalid_grant", s.refresh(http.StatusBadRequest, first, nil)["error"], "an older one was stolen")
	for _, tokens := range []object{first, second, third} {
		s.As(tokens["access_token"].(string)).Call(t, http.StatusUnauthorized, http.MethodGet, "/v1/events", nil)
	}
	require.Equal(t, "invalid_grant", s.refresh(http.StatusBadRequest, third, nil)["error"])
}

// TestManyRefreshesAtOnce of one token, at two instances, give one pair of tokens.
func TestManyRefreshesAtOnce(t *testing.T) {
	s := newSite(t)
	tokens := s.tokens(http.StatusOK, s.visitor().approve(s.request()).Get("code"))
	places := []*stacktest.Stack{s.Stack, s.Instance(t)}
	var group sync.WaitGroup
	answers := make([]stacktest.Answer, 16)
	for i := range answers {
		group.Go(func() {
			answers[i] = places[i%2].As("").TrySend(t, http.MethodPost, "/oauth/token", object{
				"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"], "client_id": s.app["client_id"],
			})
		})
	}
	group.Wait()
	given := map[string]bool{}
	for _, answer := range answers {
		if answer.Status == http.StatusOK {
			given[answer.JSON(t)["refresh_token"].(string)] = true
		} else {
			require.Equal(t, http.StatusServiceUnavailable, answer.Status, "%s", answer.Body)
		}
	}
	require.Len(t, given, 1)
	for next := range given {
		s.refresh(http.StatusOK, object{"refresh_token": next}, nil)
	}
}

// TestRevocation ends a connection, and tells nobody which tokens exist.
func TestRevocation(t *testing.T) {
	stacktest.Everywhere(t)
	s := newSite(t)
	b := s.visitor()
	for _, which := range []string{"access_token", "refresh_token"} {
		tokens := s.tokens(http.StatusOK, b.approve(s.request()).Get("code"))
		for _, text := range []any{"x", "lca_us_x", s.Token, tokens["access_token"].(string) + "x"} {
			s.As("").Call(t, http.StatusOK, http.MethodPost, "/oauth/revoke", object{"token": text})
		}
		s.As("").Call(t, http.StatusOK, http.MethodPost, "/oauth/revoke", object{"token": tokens[which], "client_id": "another"})
		s.As(tokens["access_token"].(string)).Call(t, http.StatusOK, http.MethodGet, "/v1/events", nil)
		form := url.Values{"token": {tokens[which].(string)}, "token_type_hint": {"refresh_token"}, "client_id": {s.app["client_id"].(string)}}
		for range 2 {
			answer := s.As("").Call(t, http.StatusOK, http.MethodPost, "/oauth/revoke",
				stacktest.WithHeaders(form.Encode(), "Content-Type", "application/x-www-form-urlencoded"))
			require.JSONEq(t, "{}", string(answer.Body))
		}
		s.As(tokens["access_token"].(string)).Call(t, http.StatusUnauthorized, http.MethodGet, "/v1/events", nil)
		require.Equal(t, "invalid_grant", s.refresh(http.StatusBadRequest, tokens, nil)["error"])
	}
	require.Equal(t, "invalid_request", s.refused("/oauth/revoke", http.StatusBadRequest, map[string]string{})["error"])
	s.Call(t, http.StatusOK, http.MethodGet, "/v1/events", nil)
}

// TestRightsThatAreTaken between consent and code, code and token, token and request.
func TestRightsThatAreTaken(t *testing.T) {
	stacktest.Everywhere(t)
	s := newSite(t)
	member := func(edit object) {
		body := object{"org_id": s.Org, "user_id": s.user}
		maps.Copy(body, edit)
		s.Operator(t, "member-update", body)
	}
	organization := func(edit object) {
		body := object{"org_id": s.Org}
		maps.Copy(body, edit)
		s.Operator(t, "organization-update", body)
	}
	for name, c := range map[string]struct {
		status     int
		take, give func()
	}{
		"AI Access":       {http.StatusForbidden, func() { member(object{"ai_access": false}) }, func() { member(object{"ai_access": true}) }},
		"the AI features": {http.StatusForbidden, func() { organization(object{"ai_enabled": false}) }, func() { organization(object{"ai_enabled": true}) }},
		"the member":      {http.StatusUnauthorized, func() { member(object{"active": false}) }, func() { member(object{"active": true}) }},
	} {
		b := s.visitor() // The case before may have ended the session.
		tokens, code := s.tokens(http.StatusOK, b.approve(s.request()).Get("code")), b.approve(s.request()).Get("code")
		c.take()
		require.Equal(t, "invalid_grant", s.tokens(http.StatusBadRequest, code)["error"], name)
		require.Equal(t, "invalid_grant", s.refresh(http.StatusBadRequest, tokens, nil)["error"], name)
		s.As(tokens["access_token"].(string)).Call(t, c.status, http.MethodGet, "/v1/events", nil)
		c.give()
		s.As(tokens["access_token"].(string)).Call(t, http.StatusOK, http.MethodGet, "/v1/events", nil)
		s.tokens(http.StatusOK, code)
	}
}

// TestNoTokenOpensThePagesOrTheConsent: what a caller sends in the headers of the API changes no answer of the group.
func TestNoTokenOpensThePagesOrTheConsent(t *testing.T) {
	s := newSite(t)
	tokens := s.tokens(http.StatusOK, s.visitor().approve(s.request()).Get("code"))
	for _, path := range []string{"/oauth/eligible-orgs", "/oauth/connections", "/oauth/consent?" + s.request().Encode(), "/oauth/signin",
		"/.well-known/oauth-authorization-server", "/oauth/.well-known/oauth-authorization-server", "/.well-known/oauth-protected-resource"} {
		want := s.As("").TrySend(t, http.MethodGet, path, nil)
		for _, token := range []string{s.Token, tokens["access_token"].(string), tokens["refresh_token"].(string), "x"} {
			got := s.As(token).TrySend(t, http.MethodGet, path, nil)
			require.Equal(t, []any{want.Status, string(want.Body)}, []any{got.Status, string(got.Body)}, path)
		}
	}
}

// TestAHeaderThatNamesNobody is refused (RFC 6749 section 5.2): a request that tries HTTP Basic and fails is none without the header.
func TestAHeaderThatNamesNobody(t *testing.T) {
	stacktest.Everywhere(t)
	s := newSite(t)
	b, accepted := s.visitor(), []string{}
	for name, header := range map[string]string{
		"no user": basic(":"), "no colon": basic(s.app["client_id"].(string)), "no base64": "Basic %%%", "nothing": "Basic",
	} {
		tokens, code := s.connected(), b.approve(s.request()).Get("code")
		for path, sent := range map[string]map[string]string{
			"/oauth/token": s.exchangeOf(code), "/oauth/revoke": {"token": tokens["refresh_token"].(string)},
		} {
			answer := s.As("").TrySend(t, http.MethodPost, path, encoded(valuesOf(sent).Encode(), "Authorization", header))
			if answer.Status != http.StatusBadRequest {
				accepted = append(accepted, name+" at "+path)
			}
		}
	}
	slices.Sort(accepted)
	require.Empty(t, accepted)
}
