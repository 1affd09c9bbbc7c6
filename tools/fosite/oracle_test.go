// Package fosite sends the wrong requests of the tests of connections to another authorization server, fosite, and compares the errors.
// It is a module of its own, so that nothing of the service needs fosite.
package fosite_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ory/fosite"
	"github.com/ory/fosite/compose"
	"github.com/ory/fosite/storage"
	"github.com/stretchr/testify/require"
)

// refusal is a request that breaks a rule, as localstack/test/it/connections has it.
type refusal struct {
	Name        string
	Set         map[string]string
	Error, Told string
}

const (
	client, other = "5c6d0000-0000-4000-8000-00000000000a", "5c6d0000-0000-4000-8000-00000000000b"
	callback      = "https://app.example/done"
	verifier      = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk" // of RFC 7636, appendix B
	challenge     = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
)

// server is fosite with two public applications, as strict as fosite can be.
type server struct {
	fosite.OAuth2Provider
	t *testing.T
}

func newServer(t *testing.T) server {
	config := &fosite.Config{
		GlobalSecret: []byte(strings.Repeat("s", 32)), EnforcePKCE: true, ScopeStrategy: fosite.ExactScopeStrategy,
		MinParameterEntropy: 1, RefreshTokenScopes: []string{}, AuthorizeCodeLifespan: time.Minute,
	}
	store := storage.NewMemoryStore()
	for id, addresses := range map[string][]string{client: {callback, "http://127.0.0.1/done"}, other: {"https://other.example/done"}} {
		store.Clients[id] = &fosite.DefaultClient{
			ID: id, Public: true, RedirectURIs: addresses, Scopes: []string{"read:events", "read:sessions", "write:sessions"},
			GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		}
	}
	return server{compose.Compose(config, store, compose.NewOAuth2HMACStrategy(config), compose.OAuth2AuthorizeExplicitFactory,
		compose.OAuth2RefreshTokenGrantFactory, compose.OAuth2TokenRevocationFactory, compose.OAuth2PKCEFactory), t}
}

// answer is what a request gets: the code of an error, and who is told; or the parameters of the answer.
type answer struct {
	code, told string
	given      map[string]any
}

// authorize lets a member approve an authorization request.
func (s server) authorize(sent map[string]string) answer {
	ctx := context.Background()
	asked, err := s.NewAuthorizeRequest(ctx, httptest.NewRequest(http.MethodGet, "/oauth/authorize?"+valuesOf(sent).Encode(), nil))
	told := "person"
	if asked != nil && asked.IsRedirectURIValid() {
		told = "application"
	}
	if err != nil {
		return answer{code: codeOf(err), told: told}
	}
	for _, scope := range asked.GetRequestedScopes() {
		asked.GrantScope(scope)
	}
	response, err := s.NewAuthorizeResponse(ctx, asked, &fosite.DefaultSession{Subject: "ada"})
	if err != nil {
		return answer{code: codeOf(err), told: told}
	}
	return answer{given: map[string]any{"code": response.GetParameters().Get("code")}}
}

// token sends a request for tokens.
func (s server) token(sent map[string]string) answer {
	ctx := context.Background()
	r := httptest.NewRequest(http.MethodPost, "/oauth/token", strings.NewReader(valuesOf(sent).Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	asked, err := s.NewAccessRequest(ctx, r, &fosite.DefaultSession{})
	if err != nil {
		return answer{code: codeOf(err)}
	}
	response, err := s.NewAccessResponse(ctx, asked)
	if err != nil {
		return answer{code: codeOf(err)}
	}
	return answer{given: response.ToMap()}
}

func codeOf(err error) string { return fosite.ErrorToRFC6749Error(err).ErrorField }

func valuesOf(sent map[string]string) url.Values {
	form := url.Values{}
	for name, value := range sent {
		form.Set(name, value)
	}
	return form
}

// placeholder matches a name in braces.
var placeholder = regexp.MustCompile(`\{[^}]+\}`)

// request returns the parameters of a refusal.
func (r refusal) request(valid, words map[string]string) map[string]string {
	sent := maps.Clone(valid)
	for name, value := range r.Set {
		sent[name] = placeholder.ReplaceAllStringFunc(value, func(name string) string {
			name = strings.Trim(name, "{}")
			if n, err := strconv.Atoi(strings.TrimPrefix(name, "letters ")); err == nil {
				return strings.Repeat("w", n)
			}
			return words[name]
		})
	}
	maps.DeleteFunc(sent, func(_, value string) bool { return value == "" })
	return sent
}

// The requests that both accept.
var (
	authorization = map[string]string{
		"client_id": client, "redirect_uri": callback, "response_type": "code", "state": "a state", "scope": "read:events read:sessions write:sessions",
		"code_challenge": challenge, "code_challenge_method": "S256",
	}
	exchange = map[string]string{"grant_type": "authorization_code", "client_id": client, "redirect_uri": callback, "code_verifier": verifier}
	refresh  = map[string]string{"grant_type": "refresh_token", "client_id": client}
)

// code returns a new code.
func (s server) code() string {
	given := s.authorize(authorization).given
	require.NotNil(s.t, given)
	return given["code"].(string)
}

// TestRefusals: fosite refuses what the service refuses, with the same error, but for the differences that are explained.
func TestRefusals(t *testing.T) {
	text, err := os.ReadFile("../../localstack/test/it/connections/testdata/refusals.json")
	require.NoError(t, err)
	var all map[string][]refusal
	require.NoError(t, json.Unmarshal(text, &all))
	s, differ, checked := newServer(t), maps.Clone(explained), 0
	for endpoint, list := range all {
		for _, r := range list {
			got, want := s.answer(endpoint, r), r.Error+" "+r.Told
			said := got.code + " " + got.told
			if got.given != nil {
				said = "accepted"
			}
			checked++
			key := endpoint + ": " + r.Name
			if why, known := differ[key]; known {
				require.Equal(t, why.fosite, said, key)
				require.NotEqual(t, want, said, "%s is no difference", key)
				delete(differ, key)
				continue
			}
			if want != said {
				t.Errorf("%q: want %s, fosite says %s", key, want, said)
			}
		}
	}
	require.Empty(t, differ, "there are no such requests")
	t.Logf("%d requests, %d explained differences", checked, len(explained))
}

// answer returns fosite's answer to a wrong request.
func (s server) answer(endpoint string, r refusal) answer {
	words := map[string]string{
		"client": client, "CLIENT": strings.ToUpper(client), "other": other, "issuer": "https://us.lectern.example", "verifier": verifier, "challenge": challenge,
	}
	if endpoint == "authorize" {
		return s.authorize(r.request(authorization, words))
	}
	words["code"] = s.code()
	words["part"] = words["code"][1:]
	valid := maps.Clone(exchange)
	valid["code"] = words["code"]
	if endpoint == "exchange" {
		return s.token(r.request(valid, words))
	}
	given := s.token(valid).given
	require.NotNil(s.t, given)
	words["access"], words["refresh"] = given["access_token"].(string), given["refresh_token"].(string)
	valid = maps.Clone(refresh)
	valid["refresh_token"] = words["refresh"]
	return s.token(r.request(valid, words))
}

// difference is what fosite says to a request, and why the service says something else.
type difference struct{ fosite, why string }

const (
	noResource  = "fosite does not know RFC 8707 and ignores resource; the name tells an application that it is in the wrong region"
	noForm      = "fosite looks at the form of a challenge when the verifier comes; the service does at once (RFC 7636 section 4.2)"
	noScopes    = "fosite ignores scope of a refresh; RFC 6749 section 6 lets an application ask for less, and forbids more"
	noHandler   = "fosite has one error for what no handler takes; RFC 6749 section 5.2 has a code for an unknown grant_type"
	noParameter = "fosite finds no grant for the empty text; RFC 6749 section 5.2 has invalid_request for a missing parameter"
)

// explained has the requests to which both say something else.
var explained = map[string]difference{
	"authorize: loopback with user": {"accepted", "fosite compares host and path of addresses on the user's machine alone; " +
		"user information can mislead a person who reads the address"},
	"authorize: code in capital letters": {"server_error application", "the value is compared letter by letter, and the mistake is the application's"},
	"authorize: a long state":            {"accepted", "fosite has no limit; an answer of any length could not be sent back in a header"},
	"exchange: an unknown application":   {"invalid_client ", "the service asks first whose the code is: not this application's"},

	"authorize: a short challenge":        {"accepted", noForm},
	"authorize: a long challenge":         {"accepted", noForm},
	"authorize: a challenge in base64":    {"accepted", noForm},
	"authorize: a challenge with padding": {"accepted", noForm},

	"authorize: another region":                   {"accepted", noResource},
	"authorize: a resource with a fragment":       {"accepted", noResource},
	"authorize: a resource with a query":          {"accepted", noResource},
	"authorize: a resource of a longer host":      {"accepted", noResource},
	"authorize: a resource with user information": {"accepted", noResource},
	"authorize: no address as resource":           {"accepted", noResource},
	"exchange: another region":                    {"accepted", noResource},
	"refresh: another region":                     {"accepted", noResource},

	"exchange: password":                                    {"invalid_request ", noHandler},
	"exchange: client_credentials":                          {"invalid_request ", noHandler},
	"exchange: implicit":                                    {"invalid_request ", noHandler},
	"exchange: AUTHORIZATION_CODE":                          {"invalid_request ", noHandler},
	"exchange: urn:ietf:params:oauth:grant-type:jwt-bearer": {"invalid_request ", noHandler},

	"exchange: no code":     {"invalid_grant ", noParameter},
	"exchange: no address":  {"invalid_grant ", noParameter},
	"exchange: no verifier": {"invalid_grant ", noParameter},
	"refresh: no token":     {"invalid_grant ", noParameter},

	"refresh: a wider scope":     {"accepted", noScopes},
	"refresh: an unknown scope":  {"accepted", noScopes},
	"refresh: the scope of logs": {"accepted", noScopes},
}
