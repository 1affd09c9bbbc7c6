package connections_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/stacktest"
)

// TestAValidRequest shows the application to a program, and the page to a browser.
func TestAValidRequest(t *testing.T) {
	stacktest.Everywhere(t)
	s := newSite(t)
	asked := s.request()
	shown := s.As("").Call(t, http.StatusOK, http.MethodGet, "/oauth/authorize?"+asked.Encode(), nil).JSON(t)
	require.Equal(t, object{"authorization_request": object{
		"client_id": s.app["client_id"], "client_name": "Agenda", "redirect_uri": callback,
		"scopes": []any{"read:events", "read:sessions", "write:sessions"},
	}}, shown)
	asked.Set("scope", strings.Repeat("read:sessions  ", 2))
	asked.Set("redirect_uri", "http://127.0.0.1:41234/done")
	shown = s.As("").Call(t, http.StatusOK, http.MethodGet, "/oauth/authorize?"+asked.Encode(), nil).JSON(t)
	require.Equal(t, []any{"read:sessions"}, shown["authorization_request"].(object)["scopes"])
	asked.Set("resource", s.issuer+"/mcp")
	require.Contains(t, s.visitor().get("/oauth/authorize?"+asked.Encode()).text, "Connect Agenda?")
}

// TestConsentByAProgram: a page on the same host answers for the member of the browser's session.
func TestConsentByAProgram(t *testing.T) {
	stacktest.Everywhere(t)
	s := newSite(t)
	ada := s.visitor()
	cookie := ada.cookie()
	body := func(edit object) object {
		b := object{"org_id": s.Org, "approved": true}
		for name, values := range s.request() {
			b[name] = values[0]
		}
		delete(b, "response_type")
		for name, value := range edit {
			b[name] = value
		}
		return b
	}
	consent := func(status int, edit object, headers ...string) object {
		t.Helper()
		return s.As("").Call(t, status, http.MethodPost, "/oauth/authorize/consent",
			stacktest.WithHeaders(body(edit), append([]string{"Cookie", cookie}, headers...)...)).JSON(t)
	}
	organizations := s.As("").Call(t, http.StatusOK, http.MethodGet, "/oauth/eligible-orgs", stacktest.WithHeaders(nil, "Cookie", cookie)).JSON(t)
	require.Equal(t, float64(s.Org), organizations["results"].([]any)[0].(object)["id"])
	require.Len(t, organizations["results"], 1)
	back := mustParse(t, consent(http.StatusOK, nil)["redirect_uri"].(string))
	s.tokens(http.StatusOK, back.Query().Get("code"))
	back = mustParse(t, consent(http.StatusOK, object{"approved": false})["redirect_uri"].(string))
	require.Equal(t, "access_denied", back.Query().Get("error"))
	for _, c := range []struct {
		name   string
		status int
		code   string
		edit   object
		header []string
	}{
		{"foreign organization", 403, "access_denied", object{"org_id": s.Org + 1}, nil},
		{"no organization", 400, "invalid_request", object{"org_id": nil}, nil},
		{"no decision", 400, "invalid_request", object{"approved": "yes"}, nil},
		{"foreign address", 400, "invalid_request", object{"redirect_uri": "https://evil.example"}, nil},
		{"plain", 400, "invalid_request", object{"code_challenge_method": "plain"}, nil},
		{"wider scope", 400, "invalid_scope", object{"scope": "write:contacts"}, nil},
		{"unknown application", 400, "invalid_client", object{"client_id": "x"}, nil},
		{"no session", 401, "login_required", nil, []string{"Cookie", ""}},
		{"another cookie", 401, "login_required", nil, []string{"Cookie", "lectern-us=x"}},
		{"a token in place of a session", 401, "login_required", nil, []string{"Cookie", "", stacktest.TokenHeader, s.Token}},
		{"another site by its origin", 403, "access_denied", nil, []string{"Origin", "https://evil.example"}},
		{"no origin to tell", 403, "access_denied", nil, []string{"Origin", "null"}},
		{"another site by the browser", 403, "access_denied", nil, []string{"Sec-Fetch-Site", "cross-site"}},
		{"another port", 403, "access_denied", nil, []string{"Sec-Fetch-Site", "same-site"}},
		{"a form", 415, "invalid_request", nil, []string{"Content-Type", "application/x-www-form-urlencoded"}},
		{"a text", 415, "invalid_request", nil, []string{"Content-Type", "text/plain"}},
	} {
		require.Equal(t, c.code, consent(c.status, c.edit, c.header...)["error"], c.name)
	}
	s.Operator(t, "member-update", object{"org_id": s.Org, "user_id": s.user, "ai_access": false})
	organizations = s.As("").Call(t, http.StatusOK, http.MethodGet, "/oauth/eligible-orgs", stacktest.WithHeaders(nil, "Cookie", cookie)).JSON(t)
	require.Empty(t, organizations["results"])
	back = mustParse(t, consent(http.StatusOK, nil)["redirect_uri"].(string))
	require.Equal(t, "access_denied", back.Query().Get("error"), "AI Access was taken before the consent")
	s.Operator(t, "member-update", object{"org_id": s.Org, "user_id": s.user, "active": false})
	require.Equal(t, "login_required", consent(http.StatusUnauthorized, nil)["error"])
	s.As("").Call(t, http.StatusUnauthorized, http.MethodGet, "/oauth/eligible-orgs", stacktest.WithHeaders(nil, "Cookie", cookie))
}

// TestManyAnswersOfAMember are refused after some: each is in the security log.
func TestManyAnswersOfAMember(t *testing.T) {
	s := newSite(t)
	ada, bob := s.visitor(), s.newBrowser()
	s.member("bob@"+s.domain, object{"ai_access": true})
	bob.signIn(bob.get("/oauth/signin"), "bob@"+s.domain)
	answer := func(b *browser, status int) stacktest.Answer {
		body := object{"org_id": s.Org, "approved": false}
		for name, values := range s.request() {
			body[name] = values[0]
		}
		return s.As("").Call(t, status, http.MethodPost, "/oauth/authorize/consent", stacktest.WithHeaders(body, "Cookie", b.cookie()))
	}
	for range 50 {
		answer(ada, http.StatusOK)
	}
	late := answer(ada, http.StatusTooManyRequests)
	require.Equal(t, "temporarily_unavailable", late.JSON(t)["error"])
	require.NotEmpty(t, late.Header.Get("Retry-After"))
	form := ada.get("/oauth/consent?" + s.request().Encode()).form()
	form.Set("decision", "approve")
	require.Equal(t, http.StatusTooManyRequests, ada.send(http.MethodPost, "/oauth/consent", form).status)
	answer(bob, http.StatusOK)
}

func mustParse(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	return u
}
