package connections_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/functions/oauth"
	"lectern/functions/operator"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
)

// TestTheDescriptions name the addresses of the region, and where applications register if they may.
func TestTheDescriptions(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t).As("")
	issuers := []any{}
	for _, path := range []string{"/.well-known/oauth-authorization-server", "/oauth/.well-known/oauth-authorization-server"} {
		d := s.Call(t, http.StatusOK, http.MethodGet, path, nil).JSON(t)
		at := d["issuer"].(string)
		require.Equal(t, []any{at + "/oauth/authorize", at + "/oauth/token", at + "/oauth/revoke"},
			[]any{d["authorization_endpoint"], d["token_endpoint"], d["revocation_endpoint"]})
		issuers = append(issuers, at)
		require.Equal(t, []any{[]any{"code"}, []any{"S256"}, []any{"none"}, true},
			[]any{d["response_types_supported"], d["code_challenge_methods_supported"], d["token_endpoint_auth_methods_supported"],
				d["authorization_response_iss_parameter_supported"]})
		require.NotContains(t, d["scopes_supported"], "read:audit_logs")
		require.NotContains(t, d, "registration_endpoint")
	}
	d := s.Call(t, http.StatusOK, http.MethodGet, "/.well-known/oauth-protected-resource", nil).JSON(t)
	require.Equal(t, issuers[0], issuers[1])
	require.Equal(t, []any{issuers[0], issuers[:1], []any{"header"}}, []any{d["resource"], d["authorization_servers"], d["bearer_methods_supported"]})
	assistant := s.Call(t, http.StatusOK, http.MethodGet, "/.well-known/oauth-protected-resource/mcp", nil).JSON(t)
	require.Equal(t, issuers[0].(string)+"/mcp", assistant["resource"])
	require.Equal(t, issuers[:1], assistant["authorization_servers"])
	refused := s.Call(t, http.StatusForbidden, http.MethodPost, "/oauth/register", object{"redirect_uris": []string{callback}}).JSON(t)
	require.Equal(t, "access_denied", refused["error"])
}

// TestApplicationsRegisterThemselves where they may, and work as others.
func TestApplicationsRegisterThemselves(t *testing.T) {
	s := newSite(t)
	d := &it.Client{Stack: s.Stack, T: t}
	open := d.ServeGroup(oauth.Group, func(env *api.Env) { env.OpenRegistration = true }).As("")
	register := func(status int, body any) object {
		t.Helper()
		return open.Call(t, status, http.MethodPost, "/oauth/register", body).JSON(t)
	}
	require.Contains(t, open.Call(t, http.StatusOK, http.MethodGet, "/.well-known/oauth-authorization-server", nil).JSON(t), "registration_endpoint")
	made := register(http.StatusCreated, object{
		"client_name": "Stranger", "redirect_uris": []string{callback}, "scope": "read:events read:sessions", "token_endpoint_auth_method": "client_secret_basic",
		"grant_types": []string{"implicit"}, "logo_uri": "https://evil.example/x.png",
	})
	require.Equal(t, []any{"Stranger", []any{callback}, "read:events read:sessions", "none", []any{"authorization_code", "refresh_token"}},
		[]any{made["client_name"], made["redirect_uris"], made["scope"], made["token_endpoint_auth_method"], made["grant_types"]})
	require.NotContains(t, made, "client_secret")
	s.app = made
	b := s.visitor()
	asked := s.request()
	asked.Set("response_type", "x")
	told := b.get("/oauth/authorize?" + asked.Encode())
	require.Equal(t, []any{http.StatusBadRequest, ""}, []any{told.status, told.location}, "nobody is sent to a stranger's address without a click")
	require.Contains(t, told.text, callback+"?error=unsupported_response_type")
	require.Contains(t, b.get("/oauth/authorize?"+s.request().Encode()).text, "nobody has checked it")
	s.tokens(http.StatusOK, b.approve(s.request()).Get("code"))
	named := register(http.StatusCreated, object{"redirect_uris": []string{callback}})
	require.Equal(t, "app.example", named["client_name"])
	require.Equal(t, 19, strings.Count(named["scope"].(string), ":"))
	for _, c := range []struct {
		name, code string
		body       object
	}{
		{"no address", "invalid_request", object{"client_name": "x"}},
		{"an empty list", "invalid_redirect_uri", object{"client_name": "x", "redirect_uris": []string{}}},
		{"a fragment", "invalid_redirect_uri", object{"redirect_uris": []string{callback + "#x"}}},
		{"plain HTTP", "invalid_redirect_uri", object{"redirect_uris": []string{"http://app.example/done"}}},
		{"a script", "invalid_redirect_uri", object{"client_name": "x", "redirect_uris": []string{"javascript:alert(1)"}}},
		{"data", "invalid_redirect_uri", object{"client_name": "x", "redirect_uris": []string{"data:text/html,x"}}},
		{"another letter", "invalid_redirect_uri", object{"redirect_uris": []string{"https://%D0%B0pple.com/done"}}},
		{"a word of a policy", "invalid_redirect_uri", object{"redirect_uris": []string{"https://a;sandbox/"}}},
		{"every host", "invalid_redirect_uri", object{"redirect_uris": []string{"https://*/"}}},
		{"user information", "invalid_redirect_uri", object{"redirect_uris": []string{"https://a@app.example/done"}}},
		{"eleven addresses", "invalid_redirect_uri", object{"redirect_uris": strings.Split(strings.Repeat(callback+" ", 10)+callback, " ")}},
		{"an unknown scope", "invalid_client_metadata", object{"redirect_uris": []string{callback}, "scope": "admin"}},
		{"the scope of logs", "invalid_client_metadata", object{"redirect_uris": []string{callback}, "scope": "read:audit_logs"}},
		{"a hidden character", "invalid_client_metadata", object{"client_name": "Lec\u202etern", "redirect_uris": []string{callback}}},
		{"a long name", "invalid_client_metadata", object{"client_name": strings.Repeat("x", 256), "redirect_uris": []string{callback}}},
	} {
		require.Equal(t, c.code, register(http.StatusBadRequest, c.body)["error"], c.name)
	}
	for range 4 {
		register(http.StatusCreated, object{"redirect_uris": []string{callback}})
	}
	late := open.Call(t, http.StatusTooManyRequests, http.MethodPost, "/oauth/register", object{"redirect_uris": []string{callback}})
	require.Equal(t, "temporarily_unavailable", late.JSON(t)["error"])
	require.NotEmpty(t, late.Header.Get("Retry-After"))
	listed := s.Operator(t, "application-list", object{})
	require.Len(t, listed["results"], 7)
}

// TestTheOperatorEndsAnApplication everywhere.
func TestTheOperatorEndsAnApplication(t *testing.T) {
	stacktest.Everywhere(t)
	s := newSite(t)
	b := s.visitor()
	tokens := s.tokens(http.StatusOK, b.approve(s.request()).Get("code"))
	code := b.approve(s.request()).Get("code")
	id := s.app["client_id"]
	ended, next := 0, any(nil)
	for first := true; first || next != nil; first = false {
		input := object{"client_id": id}
		if next != nil {
			input["after"] = next
		}
		answer := s.Operator(t, "application-disconnect", input)
		ended, next = ended+int(answer["ended"].(float64)), answer["next"]
	}
	require.Equal(t, 1, ended)
	s.As(tokens["access_token"].(string)).Call(t, http.StatusUnauthorized, http.MethodGet, "/v1/events", nil)
	require.Equal(t, "invalid_client", s.tokens(http.StatusBadRequest, code)["error"])
	require.Equal(t, http.StatusBadRequest, b.get("/oauth/consent?"+s.request().Encode()).status)
	s.Operator(t, "application-update", object{"client_id": id, "disabled": false, "client_name": "Again"})
	s.tokens(http.StatusOK, code)
	require.Contains(t, b.get("/oauth/consent?"+s.request().Encode()).text, "Connect Again?")
}

// TestOperatorOfProvidersAndApplications: what is refused names the field, and no answer shows a secret.
func TestOperatorOfProvidersAndApplications(t *testing.T) {
	stacktest.Everywhere(t)
	s := newSite(t)
	listed := s.Operator(t, "identity-provider-list", object{"org_id": s.Org})
	require.Len(t, listed["results"], 1)
	require.NotContains(t, listed["results"].([]any)[0], "secret")
	require.NotContains(t, s.provider, "secret")
	for field, input := range map[string]object{
		"issuer":        {"name": "x", "client_id": "x", "issuer": "http://idp.example", "domains": []string{"example.org"}},
		"domains":       {"name": "x", "client_id": "x", "issuer": "https://idp.example"},
		"client_id":     {"name": "x", "issuer": "https://idp.example", "domains": []string{"example.org"}},
		"name":          {"issuer": "https://idp.example", "client_id": "x", "domains": []string{"example.org"}},
		"client_secret": {"name": "x", "client_id": "x", "issuer": "https://idp.example", "domains": []string{"example.org"}, "client_secret": ""},
	} {
		if input["org_id"] = s.Org; field != "client_secret" {
			input["client_secret"] = "x"
		}
		_, err := s.TryOperator(t, "identity-provider-create", input)
		require.ErrorContains(t, err, field+" must")
	}
	_, err := s.TryOperator(t, "identity-provider-create", object{"org_id": s.Org + 1_000_000, "name": "x", "client_secret": "x"})
	require.ErrorContains(t, err, "Organization not found")
	for field, input := range map[string]object{
		"client_name": {"client_name": "", "redirect_uris": []string{callback}}, "redirect_uris": {"client_name": "x", "redirect_uris": []string{}},
		"redirect_uris[0]": {"client_name": "x", "redirect_uris": []string{"x"}}, "scopes[0]": {"client_name": "x", "redirect_uris": []string{callback}, "scopes": []string{"x"}},
	} {
		_, err := s.TryOperator(t, "application-create", input)
		require.ErrorContains(t, err, field)
	}
	_, err = s.TryOperator(t, "application-update", object{"client_id": "00000000-0000-4000-8000-000000000000"})
	require.ErrorContains(t, err, "Application not found")
}

// TestADeployedServiceHasNoProviderOnItsMachine: the operator stores none, and a sign-in reaches none that a local service has stored.
func TestADeployedServiceHasNoProviderOnItsMachine(t *testing.T) {
	s := newSite(t)
	env := s.Env(t)
	env.LocalReceivers = false
	for command, input := range map[string]object{
		"identity-provider-create": {
			"org_id": s.Org, "name": "x", "client_id": "x", "client_secret": "x", "issuer": s.idp.URL, "domains": []string{"example.org"},
		},
		"identity-provider-update": {"org_id": s.Org, "provider_id": s.provider["id"], "issuer": "http://127.0.0.1:8090"},
	} {
		_, err := operator.New(env).Do(t.Context(), command, mustJSON(t, input))
		require.ErrorContains(t, err, "issuer must", command)
	}
	served := *s
	served.Stack = (&it.Client{Stack: s.Stack, T: t}).ServeGroup(oauth.Group, func(env *api.Env) { env.LocalReceivers = false }).Stack
	page := served.newBrowser().send(http.MethodPost, served.URL+"/oauth/signin", url.Values{"email": {s.ada}}, "Sec-Fetch-Site", "same-origin")
	require.Equal(t, http.StatusBadGateway, page.status, page.text)
}
