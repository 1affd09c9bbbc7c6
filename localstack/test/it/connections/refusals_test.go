package connections_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// refusal is a request that breaks a rule: a valid one with other parameters, or without those that are empty.
type refusal struct {
	Name  string
	Set   map[string]string
	Error string
	// Told says who learns of a wrong request of the endpoint authorize: the person alone, or the application too.
	Told string
}

// refusals returns the wrong requests of testdata/refusals.json for an endpoint. The test fails for an endpoint without any, and for a
// request that is not well described. tools/fosite sends the same to fosite.
func refusals(t *testing.T, endpoint string) []refusal {
	t.Helper()
	text, err := os.ReadFile("testdata/refusals.json")
	require.NoError(t, err)
	var all map[string][]refusal
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&all))
	require.ElementsMatch(t, []string{"authorize", "exchange", "refresh"}, slices.Collect(maps.Keys(all)))
	require.NotEmpty(t, all[endpoint])
	names := map[string]bool{}
	for _, r := range all[endpoint] {
		require.False(t, names[r.Name], "%s is there twice", r.Name)
		names[r.Name] = true
		require.NotContains(t, []string{r.Name, r.Error}, "", r.Name)
		require.Contains(t, map[bool][]string{true: {"person", "application"}, false: {""}}[endpoint == "authorize"], r.Told, r.Name)
	}
	return all[endpoint]
}

// parameters lists the names of the parameters that wrong requests have.
var parameters = strings.Fields("client_id code code_challenge code_challenge_method code_verifier grant_type redirect_uri refresh_token " +
	"resource response_type scope state")

// placeholder matches a name in braces.
var placeholder = regexp.MustCompile(`\{[^}]*\}?`)

// request returns the parameters of the request. words are the texts for placeholders; "letters 43" stands for so many letters. The test
// fails for an unknown name, and for a request that is the valid one.
func (r refusal) request(t *testing.T, valid, words map[string]string) map[string]string {
	t.Helper()
	sent := maps.Clone(valid)
	for name, value := range r.Set {
		require.Contains(t, parameters, name, r.Name)
		sent[name] = placeholder.ReplaceAllStringFunc(value, func(name string) string {
			if letters, ok := strings.CutPrefix(name, "{letters "); ok {
				n, err := strconv.Atoi(strings.TrimSuffix(letters, "}"))
				require.NoError(t, err, r.Name)
				return strings.Repeat("w", n)
			}
			word := words[strings.Trim(name, "{}")]
			require.NotEmpty(t, word, "%s: %s is unknown", r.Name, name)
			return word
		})
	}
	maps.DeleteFunc(sent, func(_, value string) bool { return value == "" })
	require.NotEqual(t, valid, sent, "%s is no other request", r.Name)
	return sent
}

// valuesOf returns parameters as those of a form.
func valuesOf(sent map[string]string) url.Values {
	form := url.Values{}
	for name, value := range sent {
		form.Set(name, value)
	}
	return form
}

// words returns the texts for placeholders that belong to a site. other is another application, with an address.
func (s *site) words(address string) map[string]string {
	s.t.Helper()
	id := s.app["client_id"].(string)
	return map[string]string{
		"client": id, "CLIENT": strings.ToUpper(id), "other": s.another(address), "issuer": s.issuer, "verifier": verifier,
		"challenge": s.request().Get("code_challenge"),
	}
}

// another registers another application with an address, and returns its id.
func (s *site) another(address string) string {
	s.t.Helper()
	other := s.Operator(s.t, "application-create", object{"client_name": "Other", "redirect_uris": []string{address}})
	return other["client_id"].(string)
}

// dump returns the region's table; nil for a deployed service, whose table is its own.
func (s *site) dump() (all it.Dump) {
	s.t.Helper()
	if !s.HasEngine() {
		return nil
	}
	all = it.EngineOf(s.t, s.Stack).Dump(s.t)
	require.NotEmpty(s.t, all)
	return all
}

// TestWrongAuthorizationRequests: a person is told of a foreign address and sent nowhere, whether the person has signed in or not. An
// application is told of its mistakes by the browser of a person who has signed in alone.
func TestWrongAuthorizationRequests(t *testing.T) {
	s := newSite(t)
	stranger, ada, words := s.newBrowser(), s.visitor(), s.words("https://other.example/done")
	valid := map[string]string{"resource": s.issuer}
	for name, values := range s.request() {
		valid[name] = values[0]
	}
	before := s.dump()
	for _, r := range refusals(t, "authorize") {
		sent := valuesOf(r.request(t, valid, words))
		answer := s.As("").Call(t, http.StatusBadRequest, http.MethodGet, "/oauth/authorize?"+sent.Encode(), nil).JSON(t)
		require.Equal(t, r.Error, answer["error"], r.Name)
		require.NotEmpty(t, answer["error_description"], r.Name)
		require.Len(t, answer, 2, r.Name)
		if r.Told == "person" {
			for _, b := range []*browser{stranger, ada} {
				page := b.get("/oauth/authorize?" + sent.Encode())
				require.Equal(t, []any{http.StatusBadRequest, ""}, []any{page.status, page.location}, r.Name)
				require.NotContains(t, page.text, "evil.example", r.Name)
			}
			continue
		}
		require.Contains(t, stranger.get("/oauth/authorize?"+sent.Encode()).text, `name="email"`, r.Name)
		back := mustParse(t, ada.get("/oauth/authorize?"+sent.Encode()).location)
		require.Equal(t, callback, back.Scheme+"://"+back.Host+back.Path, r.Name)
		require.Equal(t, []string{r.Error, s.issuer, ""}, []string{back.Query().Get("error"), back.Query().Get("iss"), back.Query().Get("code")}, r.Name)
		if state := sent.Get("state"); len(state) <= 2000 {
			require.Equal(t, state, back.Query().Get("state"), r.Name)
		}
	}
	for name := range valid {
		twice := "/oauth/authorize?" + valuesOf(valid).Encode() + "&" + url.Values{name: {valid[name]}}.Encode()
		require.Equal(t, "invalid_request", s.As("").Call(t, http.StatusBadRequest, http.MethodGet, twice, nil).JSON(t)["error"], name)
	}
	require.Equal(t, before, s.dump(), "a wrong request changed something")
}

// refused sends a request for tokens in both encodings to a route that must refuse it, and returns the answer.
func (s *site) refused(path string, status int, body map[string]string) object {
	s.t.Helper()
	inJSON := s.As("").Call(s.t, status, http.MethodPost, path, body).JSON(s.t)
	encoded := s.As("").Call(s.t, status, http.MethodPost, path,
		stacktest.WithHeaders(valuesOf(body).Encode(), "Content-Type", "application/x-www-form-urlencoded")).JSON(s.t)
	require.Equal(s.t, inJSON, encoded)
	require.Len(s.t, inJSON, 2)
	return inJSON
}

// TestWrongTokenRequests give nothing, and leave code and connection as they are.
func TestWrongTokenRequests(t *testing.T) {
	stacktest.Everywhere(t)
	s := newSite(t)
	words, ada := s.words(callback), s.visitor()
	words["code"] = ada.approve(s.request()).Get("code")
	words["part"] = words["code"][1:]
	exchange := map[string]string{
		"grant_type": "authorization_code", "code": words["code"], "client_id": words["client"], "redirect_uri": callback, "code_verifier": verifier,
	}
	before := s.dump()
	for _, r := range refusals(t, "exchange") {
		require.Equal(t, r.Error, s.refused("/oauth/token", http.StatusBadRequest, r.request(t, exchange, words))["error"], r.Name)
	}
	require.Equal(t, before, s.dump(), "a wrong exchange of a code changed something")
	given := s.tokens(http.StatusOK, words["code"])
	require.Equal(t, []any{"Bearer", "read:events read:sessions write:sessions"}, []any{given["token_type"], given["scope"]})
	words["access"], words["refresh"] = given["access_token"].(string), given["refresh_token"].(string)
	refresh := map[string]string{"grant_type": "refresh_token", "refresh_token": words["refresh"], "client_id": words["client"]}
	before = s.dump()
	for _, r := range refusals(t, "refresh") {
		require.Equal(t, r.Error, s.refused("/oauth/token", http.StatusBadRequest, r.request(t, refresh, words))["error"], r.Name)
	}
	require.Equal(t, before, s.dump(), "a wrong refresh changed something")
	s.refresh(http.StatusOK, given, nil)
	require.Equal(t, "invalid_grant", s.tokens(http.StatusBadRequest, words["code"])["error"], "the code was used before")
	s.As(words["access"]).Call(t, http.StatusUnauthorized, http.MethodGet, "/v1/events", nil)
	require.Equal(t, "invalid_grant", s.refresh(http.StatusBadRequest, given, nil)["error"])
}
