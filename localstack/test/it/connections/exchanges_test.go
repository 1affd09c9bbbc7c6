package connections_test

import (
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/auth"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

// encoded returns a body in the encoding of forms, with headers for the request.
func encoded(body string, headers ...string) any {
	return stacktest.WithHeaders(body, append([]string{"Content-Type", "application/x-www-form-urlencoded"}, headers...)...)
}

// exchangeOf returns the parameters of a valid exchange of a code, and refreshOf those of a refresh.
func (s *site) exchangeOf(code string) map[string]string {
	return map[string]string{
		"grant_type": "authorization_code", "code": code, "client_id": s.app["client_id"].(string), "redirect_uri": callback, "code_verifier": verifier,
	}
}

func (s *site) refreshOf(tokens object) map[string]string {
	return map[string]string{
		"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"].(string), "client_id": s.app["client_id"].(string), "scope": "read:events",
	}
}

// connected returns the first tokens of a new connection.
func (s *site) connected() object {
	s.t.Helper()
	return s.tokens(http.StatusOK, s.visitor().approve(s.request()).Get("code"))
}

// requireEnded checks whether a connection has ended: the access token opens nothing, and the refresh token gives nothing.
func (s *site) requireEnded(ended bool, tokens object, name string) {
	s.t.Helper()
	status, refresh := http.StatusOK, http.StatusOK
	if ended {
		status, refresh = http.StatusUnauthorized, http.StatusBadRequest
	}
	answer := s.As(tokens["access_token"].(string)).TrySend(s.t, http.MethodGet, "/v1/events", nil)
	require.Equal(s.t, status, answer.Status, name)
	answer = s.As("").TrySend(s.t, http.MethodPost, "/oauth/token", object{
		"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"], "client_id": s.app["client_id"],
	})
	require.Equal(s.t, refresh, answer.Status, "%s: %s", name, answer.Body)
}

// requireOnce checks that a route refuses each parameter that is sent twice, with the same value and with another one, in both encodings,
// and each parameter that a request needs and has in the query alone.
func (s *site) requireOnce(path string, valid map[string]string, needed ...string) {
	s.t.Helper()
	before, form := s.dump(), valuesOf(valid)
	refuse := func(path string, body any, name string) {
		s.t.Helper()
		answer := s.As("").TrySend(s.t, http.MethodPost, path, body)
		require.Equal(s.t, http.StatusBadRequest, answer.Status, "%s: %s", name, answer.Body)
		require.Equal(s.t, "invalid_request", answer.JSON(s.t)["error"], name)
	}
	for name, value := range valid {
		for _, second := range []string{value, "x"} {
			more := url.Values{name: {second}}.Encode()
			refuse(path, encoded(form.Encode()+"&"+more), name+" in a form")
			refuse(path, encoded(more+"&"+form.Encode()), name+" first in a form")
			inJSON := strings.TrimSuffix(string(mustJSON(s.t, valid)), "}")
			refuse(path, inJSON+","+strings.TrimPrefix(string(mustJSON(s.t, object{name: second})), "{"), name+" in JSON")
		}
	}
	for _, name := range needed {
		rest := without(valid, name)
		query := path + "?" + url.Values{name: {valid[name]}}.Encode()
		refuse(query, rest, name+" in the query")
		refuse(query, encoded(valuesOf(rest).Encode()), name+" in the query of a form")
	}
	for _, body := range []any{"", "{}", encoded(""), encoded("x=y")} {
		refuse(path+"?"+form.Encode(), body, "all in the query")
	}
	require.Equal(s.t, before, s.dump(), "%s: a refused request changed something", path)
}

// TestParametersTwice and parameters in the query give nothing, and leave code and connection as they are (RFC 6749 section 3.2).
func TestParametersTwice(t *testing.T) {
	stacktest.Everywhere(t)
	s := newSite(t)
	code := s.visitor().approve(s.request()).Get("code")
	s.requireOnce("/oauth/token", s.exchangeOf(code), "grant_type", "code", "client_id", "redirect_uri", "code_verifier")
	tokens := s.tokens(http.StatusOK, code)
	s.requireOnce("/oauth/token", s.refreshOf(tokens), "grant_type", "refresh_token", "client_id")
	access := tokens["access_token"].(string)
	s.requireOnce("/oauth/revoke", map[string]string{"token": access, "client_id": s.app["client_id"].(string), "token_type_hint": "access_token"}, "token")
	s.requireEnded(false, tokens, "after the refusals")
}

// TestTheSecondUseOfACode ends the connection, whatever else is wrong in the request: the code has leaked (decision 56).
func TestTheSecondUseOfACode(t *testing.T) {
	stacktest.Everywhere(t)
	s := newSite(t)
	b, other := s.visitor(), s.another(callback)
	for _, c := range []struct {
		name, code string
		ends       bool
		edit       map[string]string
	}{
		{"the same request", "invalid_grant", true, nil},
		{"another application", "invalid_grant", true, map[string]string{"client_id": other}},
		{"an unknown application", "invalid_grant", true, map[string]string{"client_id": "x"}},
		{"another verifier", "invalid_grant", true, map[string]string{"code_verifier": strings.Repeat("w", 43)}},
		{"another address", "invalid_grant", true, map[string]string{"redirect_uri": "https://evil.example/done"}},
		{"another region", "invalid_grant", true, map[string]string{"resource": "https://eu.lectern.example"}},
		{"no verifier", "invalid_request", false, map[string]string{"code_verifier": ""}},
		{"no application", "invalid_request", false, map[string]string{"client_id": ""}},
		{"a part of the code", "invalid_grant", false, map[string]string{"code": "x"}},
	} {
		code := b.approve(s.request()).Get("code")
		first, second := s.tokens(http.StatusOK, code), s.tokens(http.StatusOK, b.approve(s.request()).Get("code"))
		sent := edited(valuesOf(s.exchangeOf(code)), c.edit)
		answer := s.As("").Call(t, http.StatusBadRequest, http.MethodPost, "/oauth/token", encoded(sent.Encode())).JSON(t)
		require.Equal(t, c.code, answer["error"], c.name)
		s.requireEnded(c.ends, first, c.name)
		s.requireEnded(false, second, c.name+": another connection")
	}
}

// TestManyExchangesAtOnce of one code, at two instances, give at most one connection, and end it: the code was used a second time.
func TestManyExchangesAtOnce(t *testing.T) {
	s := newSite(t)
	b, places := s.visitor(), []*stacktest.Stack{s.Stack, s.Instance(t)}
	for round := range 4 {
		code := b.approve(s.request()).Get("code")
		answers := make([]stacktest.Answer, 8)
		it.Concurrently(len(answers), func(i int) {
			answers[i] = places[i%2].As("").TrySend(t, http.MethodPost, "/oauth/token", s.exchangeOf(code))
		})
		var given []object
		statuses := map[int]int{}
		for _, answer := range answers {
			statuses[answer.Status]++
			if answer.Status == http.StatusOK {
				given = append(given, answer.JSON(t))
			}
		}
		require.LessOrEqual(t, len(given), 1, statuses)
		require.Equal(t, len(answers), statuses[200]+statuses[400]+statuses[503], statuses)
		made := 0
		for _, token := range s.Operator(t, "token-list", object{"org_id": s.Org})["results"].([]any) {
			if token.(object)["kind"] == "oauth" {
				made++
			}
		}
		require.LessOrEqual(t, made, round+1)
		if made == round+1 {
			require.Equal(t, "invalid_grant", s.tokens(http.StatusBadRequest, code)["error"])
		}
		for _, tokens := range given {
			s.requireEnded(true, tokens, "after the second use")
		}
	}
}

// copied copies an item from the table of a region to that of another one.
func copied(t *testing.T, from, to *site, key table.Key) {
	t.Helper()
	item, err := from.Table(t).Get(t.Context(), key)
	require.NoError(t, err)
	require.NoError(t, to.Table(t).Transact(t.Context(), table.Insert(item)))
}

// requireForeign checks that a region refuses the tokens of another one, and keeps its own.
func (s *site) requireForeign(tokens object) {
	s.t.Helper()
	before := s.dump()
	for _, name := range []string{"access_token", "refresh_token"} {
		answer := s.As("").Call(s.t, http.StatusOK, http.MethodPost, "/oauth/revoke", object{"token": tokens[name]})
		require.JSONEq(s.t, "{}", string(answer.Body))
	}
	s.As(tokens["access_token"].(string)).Call(s.t, http.StatusUnauthorized, http.MethodGet, "/v1/events", nil)
	require.Equal(s.t, "invalid_grant", s.refresh(http.StatusBadRequest, tokens, nil)["error"])
	require.Equal(s.t, before, s.dump(), "a text of another region changed something")
}

// TestTextsOfAnotherRegion open nothing, although the region has the same application, and even a copy of the connection.
func TestTextsOfAnotherRegion(t *testing.T) {
	us, eu := newSite(t), newSite(t, stacktest.InRegion("eu"))
	tokens, code := us.connected(), us.visitor().approve(us.request()).Get("code")
	eu.app = us.app
	copied(t, us, eu, table.Key{PK: "R#application", SK: us.app["client_id"].(string)})
	before := eu.dump()
	require.Equal(t, "invalid_grant", eu.tokens(http.StatusBadRequest, code)["error"])
	require.Equal(t, before, eu.dump(), "a code of another region changed something")
	renamed := object{}
	var text auth.Text
	for name, form := range map[string]auth.Form{"access_token": auth.FormAccess, "refresh_token": auth.FormRefresh} {
		var err error
		text, err = auth.Parse(form, tokens[name].(string))
		require.NoError(t, err)
		text.Region = "eu"
		renamed[name] = text.String()
	}
	eu.requireForeign(tokens)
	eu.requireForeign(renamed)
	for _, pk := range []string{table.Org(us.Org), tenancy.MemberPK(us.Org, us.user), tenancy.TokenPK(us.Org, text.ID)} {
		copied(t, us, eu, table.Key{PK: pk, SK: "-"})
	}
	eu.requireForeign(tokens)
	us.requireEnded(false, tokens, "in its own region")
	us.tokens(http.StatusOK, code)
	eu.requireEnded(false, renamed, "the copy has texts of the region")
}

// TestWrongRepetitions of a refresh within ten seconds give nothing, and end nothing.
func TestWrongRepetitions(t *testing.T) {
	stacktest.Everywhere(t)
	s := newSite(t)
	first := s.connected()
	second, other := s.refresh(http.StatusOK, first, nil), s.another(callback)
	before := s.dump()
	for _, c := range []struct {
		name, code string
		edit       object
	}{
		{"another application", "invalid_grant", object{"client_id": other}},
		{"an unknown application", "invalid_client", object{"client_id": "x"}},
		{"fewer scopes", "invalid_scope", object{"scope": "read:events"}},
		{"a wider scope", "invalid_scope", object{"scope": "read:events read:contacts"}},
		{"another region", "invalid_target", object{"resource": "https://eu.lectern.example"}},
	} {
		require.Equal(t, c.code, s.refresh(http.StatusBadRequest, first, c.edit)["error"], c.name)
	}
	require.Equal(t, before, s.dump(), "a wrong repetition changed something")
	require.Equal(t, second["refresh_token"], s.refresh(http.StatusOK, first, nil)["refresh_token"])
	s.requireEnded(false, second, "after the repetitions")
}

// TestRefreshesOfAnApplicationThatIsDisabled give nothing until it is back, and those of one that is disconnected never again.
func TestRefreshesOfAnApplicationThatIsDisabled(t *testing.T) {
	stacktest.Everywhere(t)
	s := newSite(t)
	first := s.connected()
	second := s.refresh(http.StatusOK, first, nil)
	id := s.app["client_id"]
	s.Operator(t, "application-update", object{"client_id": id, "disabled": true})
	before := s.granted()
	for _, tokens := range []object{second, first} {
		require.Equal(t, "invalid_client", s.refresh(http.StatusBadRequest, tokens, nil)["error"])
	}
	require.Equal(t, before, s.granted())
	s.Operator(t, "application-update", object{"client_id": id, "disabled": false})
	third := s.refresh(http.StatusOK, second, nil)
	for next := any(nil); ; {
		input := object{"client_id": id}
		if next != nil {
			input["after"] = next
		}
		if next = s.Operator(t, "application-disconnect", input)["next"]; next == nil {
			break
		}
	}
	for _, disabled := range []bool{true, false} {
		s.Operator(t, "application-update", object{"client_id": id, "disabled": disabled})
		for _, tokens := range []object{third, second, first} {
			require.Equal(t, "invalid_grant", s.refresh(http.StatusBadRequest, tokens, nil)["error"])
		}
		s.requireEnded(true, third, "disconnected")
	}
}

// basic returns the header of HTTP Basic for a text of user and password.
func basic(text string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(text)) }

// without returns parameters but for those of a name.
func without(parameters map[string]string, name string) map[string]string {
	rest := maps.Clone(parameters)
	delete(rest, name)
	return rest
}

// TestBasic names the application in the header Authorization (RFC 6749 section 2.3.1): a wrong name gives nothing and ends nothing.
func TestBasic(t *testing.T) {
	stacktest.Everywhere(t)
	s := newSite(t)
	id, other := s.app["client_id"].(string), s.another(callback)
	code, tokens := s.visitor().approve(s.request()).Get("code"), s.connected()
	exchange, refresh := s.exchangeOf(code), s.refreshOf(tokens)
	revoke := map[string]string{"token": tokens["refresh_token"].(string)}
	send := func(name, code, path, header string, body map[string]string) {
		t.Helper()
		status := http.StatusBadRequest
		if code == "" {
			status = http.StatusOK
		}
		answer := s.As("").TrySend(t, http.MethodPost, path, encoded(valuesOf(body).Encode(), "Authorization", header))
		require.Equal(t, status, answer.Status, "%s: %s", name, answer.Body)
		if code != "" {
			require.Equal(t, code, answer.JSON(t)["error"], name)
		}
	}
	before := s.dump()
	for _, c := range []struct{ name, header, exchange, refresh, revoke string }{
		{"an unknown application", basic("x:"), "invalid_grant", "invalid_client", ""},
		{"an unknown id", basic("00000000-0000-4000-8000-000000000000:"), "invalid_grant", "invalid_grant", ""},
		{"another application", basic(other + ":"), "invalid_grant", "invalid_grant", ""},
		{"the id in capital letters", basic(strings.ToUpper(id) + ":"), "invalid_grant", "invalid_grant", ""},
		{"a password", basic(id + ":word"), "invalid_client", "invalid_client", "invalid_client"},
		{"a password alone", basic(":word"), "invalid_client", "invalid_client", "invalid_client"},
		{"no escape", basic("%zz:"), "invalid_client", "invalid_client", "invalid_client"},
	} {
		send(c.name, c.exchange, "/oauth/token", c.header, without(exchange, "client_id"))
		send(c.name, c.refresh, "/oauth/token", c.header, without(refresh, "client_id"))
		send(c.name, c.revoke, "/oauth/revoke", c.header, revoke)
	}
	for name, header := range map[string]string{"no user": basic(":"), "no colon": basic(id), "no base64": "Basic %%%", "nothing": "Basic"} {
		send(name, "invalid_request", "/oauth/token", header, without(exchange, "client_id"))
		send(name, "invalid_request", "/oauth/token", header, without(refresh, "client_id"))
	}
	for name, header := range map[string]string{"no user": basic(":"), "another application": basic(other + ":")} {
		send(name+" and client_id", "invalid_request", "/oauth/token", header, exchange)
		send(name+" and client_id", "invalid_request", "/oauth/token", header, refresh)
		send(name+" and client_id", "invalid_request", "/oauth/revoke", header, map[string]string{"token": revoke["token"], "client_id": id})
	}
	require.Equal(t, before, s.dump(), "a request with a wrong header changed something")
	send("the application", "", "/oauth/token", basic(id+":"), without(exchange, "client_id"))
	send("the application", "", "/oauth/token", basic(url.QueryEscape(id)+":"), refresh)
	send("the application", "", "/oauth/revoke", basic(id+":"), revoke)
	s.requireEnded(true, tokens, "the application has revoked")
}
