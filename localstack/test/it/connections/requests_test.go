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

// foreignAddresses are none of the application's.
var foreignAddresses = map[string]string{
	"missing":            "",
	"another path":       "https://app.example/other",
	"a longer path":      "https://app.example/done/",
	"a path within":      "https://app.example/done/../done",
	"an encoded path":    "https://app.example/%64one",
	"a query":            "https://app.example/done?next=https://evil.example",
	"an empty query":     "https://app.example/done?",
	"a fragment":         "https://app.example/done#x",
	"an empty fragment":  "https://app.example/done#",
	"user information":   "https://app.example@evil.example/done",
	"a password":         "https://user:word@app.example/done",
	"another case":       "https://App.example/done",
	"another scheme":     "http://app.example/done",
	"the scheme's case":  "HTTPS://app.example/done",
	"a port":             "https://app.example:443/done",
	"a dot at the end":   "https://app.example./done",
	"a subdomain":        "https://x.app.example/done",
	"a suffix":           "https://app.example.evil.example/done",
	"a backslash":        `https://app.example\@evil.example/done`,
	"a blank":            "https://app.example/done ",
	"a line":             "https://app.example/done\n",
	"a full-width dot":   "https://app．example/done",
	"another letter":     "https://аpp.example/done",
	"a zero width":       "https://app.example/\u200bdone",
	"without a scheme":   "//app.example/done",
	"a path alone":       "/done",
	"a script":           "javascript:alert(1)",
	"data":               "data:text/html,x",
	"an escaped letter":  "https://%D0%B0pp.example/done",
	"an escaped mark":    "https://app.example%E2%80%AE/done",
	"loopback's path":    "http://127.0.0.1:1/other",
	"loopback by name":   "http://localhost:1/done",
	"loopback elsewhere": "http://127.0.0.2/done",
	"loopback with user": "http://evil@127.0.0.1/done",
	"loopback and TLS":   "https://127.0.0.1/done",
}

// TestForeignAddressesGetNothing: the person is told, and the browser is not sent there, whether the person has signed in or not.
func TestForeignAddressesGetNothing(t *testing.T) {
	s := newSite(t)
	stranger, ada := s.newBrowser(), s.visitor()
	for name, address := range foreignAddresses {
		asked := s.request()
		asked.Set("redirect_uri", address)
		answer := s.As("").Call(t, http.StatusBadRequest, http.MethodGet, "/oauth/authorize?"+asked.Encode(), nil).JSON(t)
		require.Equal(t, "invalid_request", answer["error"], name)
		require.Len(t, answer, 2, name)
		for _, b := range []*browser{stranger, ada} {
			page := b.get("/oauth/authorize?" + asked.Encode())
			require.Equal(t, http.StatusBadRequest, page.status, name)
			require.Empty(t, page.location, name)
			require.NotContains(t, page.text, "evil.example", name)
		}
	}
}

// wrong is a request that breaks a rule, with the code of its error.
type wrong struct {
	name, code string
	spoil      func(url.Values)
}

// set returns a change of a parameter.
func set(name, value string) func(url.Values) { return func(v url.Values) { v.Set(name, value) } }

// wrongRequests have an address of the application.
var wrongRequests = []wrong{
	{"no response_type", "unsupported_response_type", set("response_type", "")},
	{"token", "unsupported_response_type", set("response_type", "token")},
	{"code and token", "unsupported_response_type", set("response_type", "code token")},
	{"no challenge", "invalid_request", set("code_challenge", "")},
	{"short challenge", "invalid_request", set("code_challenge", strings.Repeat("a", 42))},
	{"long challenge", "invalid_request", set("code_challenge", strings.Repeat("a", 44))},
	{"challenge in base64", "invalid_request", set("code_challenge", strings.Repeat("+", 43))},
	{"no method", "invalid_request", set("code_challenge_method", "")},
	{"plain", "invalid_request", set("code_challenge_method", "plain")},
	{"method in small letters", "invalid_request", set("code_challenge_method", "s256")},
	{"unknown scope", "invalid_scope", set("scope", "read:events admin")},
	{"scope of logs", "invalid_scope", set("scope", "read:audit_logs")},
	{"scope that the application has not", "invalid_scope", set("scope", "write:contacts")},
	{"scopes with commas", "invalid_scope", set("scope", "read:events,read:sessions")},
	{"long state", "invalid_request", set("state", strings.Repeat("s", 2001))},
	{"resource of another region", "invalid_target", set("resource", "https://eu.lectern.example/")},
	{"resource with a fragment", "invalid_target", func(v url.Values) { v.Set("resource", v.Get("resource")+"x#y") }},
	{"resource of a longer host", "invalid_target", set("resource", "http://127.0.0.1.evil.example/")},
}

// TestWrongRequestsAreToldToTheApplication, by the browser of a person who has signed in alone.
func TestWrongRequestsAreToldToTheApplication(t *testing.T) {
	s := newSite(t)
	stranger, ada := s.newBrowser(), s.visitor()
	for _, w := range wrongRequests {
		asked := s.request()
		asked.Set("resource", s.issuer)
		w.spoil(asked)
		answer := s.As("").Call(t, http.StatusBadRequest, http.MethodGet, "/oauth/authorize?"+asked.Encode(), nil).JSON(t)
		require.Equal(t, w.code, answer["error"], w.name)
		require.NotEmpty(t, answer["error_description"], w.name)
		require.Contains(t, stranger.get("/oauth/authorize?"+asked.Encode()).text, `name="email"`, w.name)
		told := ada.get("/oauth/authorize?" + asked.Encode())
		back, err := url.Parse(told.location)
		require.NoError(t, err)
		require.Equal(t, callback, back.Scheme+"://"+back.Host+back.Path, w.name)
		require.Equal(t, []string{w.code, s.issuer}, []string{back.Query().Get("error"), back.Query().Get("iss")}, w.name)
		if w.name != "long state" {
			require.Equal(t, "a state", back.Query().Get("state"), w.name)
		}
	}
	for name, client := range map[string]string{
		"none": "", "unknown": "00000000-0000-4000-8000-000000000000", "no id": "x", "capital letters": strings.ToUpper(s.app["client_id"].(string)),
	} {
		asked := s.request()
		asked.Set("client_id", client)
		answer := s.As("").Call(t, http.StatusBadRequest, http.MethodGet, "/oauth/authorize?"+asked.Encode(), nil).JSON(t)
		require.Equal(t, "invalid_client", answer["error"], name)
		require.Equal(t, http.StatusBadRequest, ada.get("/oauth/authorize?"+asked.Encode()).status, name)
	}
	twice := "/oauth/authorize?" + s.request().Encode() + "&client_id=x"
	require.Equal(t, "invalid_request", s.As("").Call(t, http.StatusBadRequest, http.MethodGet, twice, nil).JSON(t)["error"])
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

func mustParse(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	return u
}
