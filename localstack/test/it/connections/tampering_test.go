package connections_test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/table"
)

// granted returns the codes of the region and the tokens of the organization in the table; nil for a deployed service.
func (s *site) granted() it.Dump {
	s.t.Helper()
	all := s.dump()
	maps.DeleteFunc(all, func(key table.Key, _ it.DumpedItem) bool {
		return !strings.HasPrefix(key.PK, "R#code#") && !strings.HasPrefix(key.PK, table.Org(s.Org)+"#T#")
	})
	return all
}

// asked returns the form of the page that asks for a consent, with the decision to approve.
func (b *browser) asked() url.Values {
	b.t.Helper()
	page := b.get("/oauth/authorize?" + b.request().Encode())
	require.Equal(b.t, http.StatusOK, page.status, page.text)
	form := page.form()
	form.Set("decision", "approve")
	return form
}

// edited returns a copy of a form with other values, and without the fields whose value is empty.
func edited(form url.Values, edit map[string]string) url.Values {
	other := maps.Clone(form)
	for name, value := range edit {
		if other[name] = []string{value}; value == "" {
			delete(other, name)
		}
	}
	return other
}

// requireTold checks that a browser goes back to the application with an error and without a code.
func requireTold(t *testing.T, code string, page shown, name string) {
	t.Helper()
	require.Equal(t, http.StatusSeeOther, page.status, "%s: %s", name, page.text)
	back := mustParse(t, page.location)
	require.Equal(t, callback, back.Scheme+"://"+back.Host+back.Path, name)
	require.Equal(t, []string{code, ""}, []string{back.Query().Get("error"), back.Query().Get("code")}, name)
}

// requireSignIn checks that a browser is sent to the sign-in.
func requireSignIn(t *testing.T, page shown, name string) {
	t.Helper()
	require.Equal(t, http.StatusSeeOther, page.status, "%s: %s", name, page.text)
	require.True(t, strings.HasSuffix(mustParse(t, page.location).Path, "/oauth/signin"), "%s: %s", name, page.location)
	require.NotContains(t, page.location, "code=", name)
}

// TestConsentsThatWereChanged after the page was shown, with the cookie and the text of the form: the service checks each field again.
func TestConsentsThatWereChanged(t *testing.T) {
	stacktest.Everywhere(t)
	s := newSite(t)
	b := s.visitor()
	form := b.asked()
	other, foreign := s.another("https://other.example/done"), s.NewOrganization(t)
	narrow := s.Operator(t, "application-create", object{
		"client_name": "Narrow", "redirect_uris": []string{callback}, "scopes": []string{"read:events"},
	})["client_id"].(string)
	before := s.dump()
	for _, c := range []struct {
		name   string
		status int
		// told is the error that the application gets; empty for a page that tells the person alone.
		told string
		edit map[string]string
	}{
		{"a foreign address", 400, "", map[string]string{"redirect_uri": "https://evil.example/done"}},
		{"a longer address", 400, "", map[string]string{"redirect_uri": callback + "/"}},
		{"no address", 400, "", map[string]string{"redirect_uri": ""}},
		{"another application", 400, "", map[string]string{"client_id": other}},
		{"another application with the address and fewer scopes", 303, "invalid_scope", map[string]string{"client_id": narrow}},
		{"an unknown application", 400, "", map[string]string{"client_id": "00000000-0000-4000-8000-000000000000"}},
		{"no application", 400, "", map[string]string{"client_id": ""}},
		{"a wider scope", 303, "invalid_scope", map[string]string{"scope": "read:events write:contacts"}},
		{"the scope of logs", 303, "invalid_scope", map[string]string{"scope": "read:audit_logs"}},
		{"no challenge", 303, "invalid_request", map[string]string{"code_challenge": ""}},
		{"a short challenge", 303, "invalid_request", map[string]string{"code_challenge": "x"}},
		{"plain", 303, "invalid_request", map[string]string{"code_challenge_method": "plain"}},
		{"plain with the verifier", 303, "invalid_request", map[string]string{"code_challenge_method": "plain", "code_challenge": verifier}},
		{"no method", 303, "invalid_request", map[string]string{"code_challenge_method": ""}},
		{"a foreign resource", 303, "invalid_target", map[string]string{"resource": "https://eu.lectern.example"}},
		{"a token for a code", 303, "unsupported_response_type", map[string]string{"response_type": "token"}},
		{"a long state", 303, "invalid_request", map[string]string{"state": strings.Repeat("x", 2001)}},
		{"another organization", 403, "", map[string]string{"org_id": itoa(foreign.Org)}},
		{"an unknown organization", 403, "", map[string]string{"org_id": itoa(s.Org + 1_000_000)}},
		{"no organization", 403, "", map[string]string{"org_id": ""}},
		{"an organization that is no number", 400, "", map[string]string{"org_id": "x"}},
		{"no decision", 400, "", map[string]string{"decision": ""}},
		{"no text of the form", 403, "", map[string]string{"form_token": ""}},
	} {
		page := b.send(http.MethodPost, "/oauth/consent", edited(form, c.edit))
		if c.told != "" {
			requireTold(t, c.told, page, c.name)
			continue
		}
		require.Equal(t, []any{c.status, ""}, []any{page.status, page.location}, c.name)
		require.NotContains(t, page.text, "evil.example", c.name)
	}
	b.requireFieldsOnce(form)
	require.Equal(t, before, s.dump(), "a changed consent changed something")
	back := mustParse(t, b.send(http.MethodPost, "/oauth/consent", form).location)
	s.tokens(http.StatusOK, back.Query().Get("code"))
}

// requireFieldsOnce checks that no field of a consent can be sent twice, with the same value and with another one.
func (b *browser) requireFieldsOnce(form url.Values) {
	b.t.Helper()
	for name := range form {
		for _, second := range []string{form.Get(name), "x"} {
			twice := maps.Clone(form)
			twice[name] = []string{form.Get(name), second}
			for range 2 {
				page := b.send(http.MethodPost, "/oauth/consent", twice)
				require.Equal(b.t, []any{http.StatusBadRequest, ""}, []any{page.status, page.location}, name)
				slices.Reverse(twice[name])
			}
		}
	}
}

// TestLossesBeforeTheAnswer to a page that asks for a consent: no code.
func TestLossesBeforeTheAnswer(t *testing.T) {
	stacktest.Everywhere(t)
	s := newSite(t)
	app := s.app["client_id"]
	member, provider := object{"org_id": s.Org, "user_id": s.user}, object{"org_id": s.Org, "provider_id": s.provider["id"]}
	for _, c := range []struct {
		name, command string
		of            object
		// field has the value lost, and then the value kept again.
		field      string
		lost, kept any
		// told is the error that the application gets; empty for a browser that has to sign in.
		told string
	}{
		{"AI Access", "member-update", member, "ai_access", false, true, "access_denied"},
		{"the AI features", "organization-update", object{"org_id": s.Org}, "ai_enabled", false, true, "access_denied"},
		{"the organization", "organization-update", object{"org_id": s.Org}, "disabled", true, false, ""},
		{"the member", "member-update", member, "active", false, true, ""},
		{"the provider", "identity-provider-update", provider, "disabled", true, false, ""},
		{"the domain", "identity-provider-update", provider, "domains", []string{"x." + s.domain}, []string{s.domain}, ""},
		{"a scope", "application-update", object{"client_id": app}, "scopes", []string{"read:events"},
			[]string{"read:events", "read:sessions", "write:sessions"}, "invalid_scope"},
	} {
		b := s.visitor()
		form, before := b.asked(), s.granted()
		s.Operator(t, c.command, it.Merged(c.of, object{c.field: c.lost}))
		page := b.send(http.MethodPost, "/oauth/consent", form)
		if c.told != "" {
			requireTold(t, c.told, page, c.name)
		} else {
			requireSignIn(t, page, c.name)
		}
		require.Equal(t, before, s.granted(), c.name)
		s.Operator(t, c.command, it.Merged(c.of, object{c.field: c.kept}))
		page = b.send(http.MethodPost, "/oauth/consent", form)
		if c.told == "" {
			requireSignIn(t, page, c.name+" is back, and the session is not")
			require.Equal(t, before, s.granted(), c.name)
			continue
		}
		require.NotEmpty(t, mustParse(t, page.location).Query().Get("code"), c.name)
	}
	b := s.visitor()
	form, before := b.asked(), s.granted()
	for name, edit := range map[string]object{"the address": {"redirect_uris": []string{callback + "/other"}}, "the application": {"disabled": true}} {
		s.Operator(t, "application-update", it.Merged(object{"client_id": app}, edit))
		page := b.send(http.MethodPost, "/oauth/consent", form)
		require.Equal(t, []any{http.StatusBadRequest, ""}, []any{page.status, page.location}, name)
	}
	require.Equal(t, before, s.granted())
}

// attempt begins a sign-in, and returns the address to which the provider sends the browser back.
func (b *browser) attempt(email string) string {
	b.t.Helper()
	return b.choose(b.send(http.MethodPost, "/oauth/signin", url.Values{"email": {email}}).onward(b.t), email)
}

// mixed returns an address with a parameter of another one.
func mixed(t *testing.T, address, other, name string) string {
	t.Helper()
	u := mustParse(t, address)
	sent := u.Query()
	sent.Set(name, mustParse(t, other).Query().Get(name))
	u.RawQuery = sent.Encode()
	return u.String()
}

// TestAttemptsOfAnAttacker sign nobody in, in a browser that has begun a sign-in.
func TestAttemptsOfAnAttacker(t *testing.T) {
	stacktest.Everywhere(t)
	s := newSite(t)
	eve := "eve@" + s.domain
	s.member(eve, object{"ai_access": true})
	for _, c := range []struct {
		name   string
		status int
		finish func(victim, attacker *browser) shown
	}{
		{"the answer to another attempt", 400, func(victim, attacker *browser) shown {
			victim.attempt(s.ada)
			return victim.get(attacker.attempt(eve))
		}},
		{"the state of another attempt", 400, func(victim, attacker *browser) shown {
			return victim.get(mixed(t, victim.attempt(s.ada), attacker.attempt(eve), "state"))
		}},
		{"the code of another attempt", 502, func(victim, attacker *browser) shown {
			return victim.get(mixed(t, victim.attempt(s.ada), attacker.attempt(eve), "code"))
		}},
		{"a planted attempt before the own", 400, func(victim, attacker *browser) shown {
			theirs := attacker.attempt(eve)
			victim.cookies = maps.Clone(attacker.cookies)
			victim.attempt(s.ada)
			return victim.get(theirs)
		}},
		{"a planted attempt after the own", 400, func(victim, attacker *browser) shown {
			own := victim.attempt(s.ada)
			attacker.attempt(eve)
			victim.cookies = maps.Clone(attacker.cookies)
			return victim.get(own)
		}},
		{"the answer to the victim's attempt", 400, func(victim, attacker *browser) shown {
			attacker.attempt(eve)
			return attacker.get(victim.attempt(s.ada))
		}},
	} {
		victim, attacker := s.newBrowser(), s.newBrowser()
		page := c.finish(victim, attacker)
		require.Equal(t, c.status, page.status, "%s: %s", c.name, page.text)
		for _, b := range []*browser{victim, attacker} {
			require.Contains(t, b.get("/oauth/connections").text, `name="email"`, c.name)
		}
	}
}

// TestAPlantedSession is replaced by the sign-in: it opens nothing of the victim's, and has ended.
func TestAPlantedSession(t *testing.T) {
	stacktest.Everywhere(t)
	s := newSite(t)
	eve := "eve@" + s.domain
	s.member(eve, object{"ai_access": true})
	attacker, victim := s.newBrowser(), s.newBrowser()
	require.Contains(t, attacker.signIn(attacker.get("/oauth/signin"), eve).text, eve)
	victim.cookies = maps.Clone(attacker.cookies)
	page := victim.get(victim.attempt(s.ada))
	require.Contains(t, page.text, s.ada)
	require.NotContains(t, page.text, eve)
	require.NotEmpty(t, victim.cookies)
	for name, value := range victim.cookies {
		require.NotEqual(t, attacker.cookies[name], value, name)
	}
	require.Contains(t, attacker.get("/oauth/connections").text, `name="email"`, "the planted session has ended")
	require.Contains(t, victim.get("/oauth/connections").text, s.ada)
}

// TestCookiesThatWereKept after a sign-out open nothing, and neither do the forms of the session.
func TestCookiesThatWereKept(t *testing.T) {
	stacktest.Everywhere(t)
	s := newSite(t)
	b, thief := s.visitor(), s.newBrowser()
	tokens := s.tokens(http.StatusOK, b.approve(s.request()).Get("code"))
	consent, list := b.asked(), b.get("/oauth/connections").form()
	before := s.granted()
	thief.cookies = maps.Clone(b.cookies)
	kept := thief.cookie()
	require.Contains(t, thief.get("/oauth/connections").text, s.ada, "the cookie opens the session until the sign-out")
	require.Contains(t, b.send(http.MethodPost, "/oauth/signout", list).text, "You are signed out")
	require.Contains(t, thief.get("/oauth/connections").text, `name="email"`)
	require.Contains(t, thief.get("/oauth/authorize?"+s.request().Encode()).text, `name="email"`)
	for path, form := range map[string]url.Values{"/oauth/consent": consent, "/oauth/connections/disconnect": list} {
		requireSignIn(t, thief.send(http.MethodPost, path, form), path)
	}
	program := stacktest.WithHeaders(object{"org_id": s.Org, "approved": true}, "Cookie", kept)
	require.Equal(t, "login_required", s.As("").Call(t, http.StatusUnauthorized, http.MethodPost, "/oauth/authorize/consent", program).JSON(t)["error"])
	eligible := stacktest.WithHeaders(nil, "Cookie", kept)
	require.Equal(t, "login_required", s.As("").Call(t, http.StatusUnauthorized, http.MethodGet, "/oauth/eligible-orgs", eligible).JSON(t)["error"])

	require.Contains(t, b.signIn(b.get("/oauth/signin"), s.ada).text, "Agenda")
	for path, form := range map[string]url.Values{"/oauth/consent": consent, "/oauth/connections/disconnect": list, "/oauth/signout": list} {
		page := b.send(http.MethodPost, path, form)
		require.Equal(t, []any{http.StatusForbidden, ""}, []any{page.status, page.location}, "%s with the text of the session before", path)
	}
	require.Equal(t, before, s.granted())
	require.Contains(t, b.get("/oauth/connections").text, "Agenda", "nobody has signed out")
	s.As(tokens["access_token"].(string)).Call(t, http.StatusOK, http.MethodGet, "/v1/events", nil)
}
