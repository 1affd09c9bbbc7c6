package connections_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/functions/oauth"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
)

// TestPagesAreClosed: no page can be framed, has a script, or leads a form elsewhere, and none is kept.
func TestPagesAreClosed(t *testing.T) {
	stacktest.Everywhere(t)
	s := newSite(t)
	b, stranger := s.visitor(), s.newBrowser()
	b.approve(s.request())
	for name, page := range map[string]shown{
		"sign-in": stranger.get("/oauth/signin"), "connections": b.get("/oauth/connections"), "error": b.get("/oauth/consent"),
		"unknown address": stranger.send(http.MethodPost, "/oauth/signin", url.Values{"email": {"x@unknown.example"}}),
		"onward":          stranger.send(http.MethodPost, "/oauth/signin", url.Values{"email": {s.ada}}),
		"foreign form":    b.send(http.MethodPost, "/oauth/signout", url.Values{"form_token": {"x"}}),
	} {
		require.Equal(t, "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
			page.header.Get("Content-Security-Policy"), name)
		require.Equal(t, []string{"DENY", "no-store", "same-origin", "nosniff", "text/html; charset=utf-8"}, []string{
			page.header.Get("X-Frame-Options"), page.header.Get("Cache-Control"), page.header.Get("Referrer-Policy"),
			page.header.Get("X-Content-Type-Options"), page.header.Get("Content-Type"),
		}, name)
		require.Empty(t, page.header.Get("Access-Control-Allow-Origin"), name)
		require.NotContains(t, page.text, "<script", name)
	}
	asked := s.request()
	for address, allowed := range map[string]string{
		callback: " https://app.example", "http://127.0.0.1:41234/done": " http://127.0.0.1:41234",
	} {
		asked.Set("redirect_uri", address)
		require.True(t, strings.HasSuffix(b.get("/oauth/consent?"+asked.Encode()).header.Get("Content-Security-Policy"), "form-action 'self'"+allowed))
	}
	style := s.As("").Call(t, http.StatusOK, http.MethodGet, "/oauth/style.css", nil)
	require.Equal(t, "text/css; charset=utf-8", style.Header.Get("Content-Type"))
}

// TestCookies are of this host alone, and no script reads them.
func TestCookies(t *testing.T) {
	s := newSite(t)
	b := s.newBrowser()
	page := b.get("/oauth/signin")
	form := page.form()
	form.Set("email", s.ada)
	onward := b.send(http.MethodPost, "/oauth/signin", form)
	require.Equal(t, []string{"lectern-us-attempt"}, names(onward.header))
	back := b.choose(onward.onward(t), s.ada)
	kept := maps.Clone(b.cookies)
	signedIn := b.send(http.MethodGet, back, nil)
	require.Equal(t, []string{"lectern-us", "lectern-us-attempt"}, names(signedIn.header))
	for _, text := range append(onward.header.Values("Set-Cookie"), signedIn.header.Values("Set-Cookie")...) {
		require.Contains(t, text, "; Path=/")
		require.Contains(t, text, "; HttpOnly; SameSite=Lax")
		require.NotContains(t, text, "Domain")
	}
	b.cookies = kept // The browser has dropped the cookie of the attempt.
	again := b.send(http.MethodGet, back, nil)
	require.Equal(t, http.StatusBadRequest, again.status, "an attempt is finished once")
	require.Equal(t, []string{"lectern-us-attempt"}, names(again.header), "nobody is signed in by it")

	// Behind HTTPS the names bind the cookies to the host.
	request := httptest.NewRequest(http.MethodPost, "/oauth/signin", strings.NewReader("email="+url.QueryEscape(s.ada)))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer := httptest.NewRecorder()
	secure := api.WithAddress(t.Context(), "https://us.lectern.example")
	oauth.Group.Handler(s.EnvOf(t, oauth.Group.Name)).ServeHTTP(answer, request.WithContext(secure))
	require.Equal(t, []string{"__Host-lectern-us-attempt"}, names(answer.Header()))
	require.Contains(t, answer.Header().Get("Set-Cookie"), "; Path=/; Max-Age=600; HttpOnly; Secure; SameSite=Lax")
}

// names returns the names of the cookies that are set, in order.
func names(h http.Header) (all []string) {
	for _, text := range h.Values("Set-Cookie") {
		name, _, _ := strings.Cut(text, "=")
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// TestSignInsThatFail say why, and sign nobody in.
func TestSignInsThatFail(t *testing.T) {
	stacktest.Everywhere(t)
	s := newSite(t)
	s.people = append(s.people, s.people[0], s.people[0])
	s.people[1].Email, s.people[2].Email = "nobody@"+s.domain, "eve@evil.example"
	begin := func(b *browser) string {
		return b.send(http.MethodPost, "/oauth/signin", url.Values{"email": {s.ada}}).onward(t)
	}
	for name, c := range map[string]struct {
		status int
		shows  string
		finish func(b *browser) shown
	}{
		"nobody": {403, "Nobody with your e-mail", func(b *browser) shown { return b.get(b.choose(begin(b), "nobody@"+s.domain)) }},
		"foreign domain": {403, "does not trust", func(b *browser) shown {
			return b.get(b.choose(begin(b), "eve@evil.example"))
		}},
		"another browser": {400, "another browser", func(b *browser) shown { return s.newBrowser().get(b.choose(begin(b), s.ada)) }},
		"another state":   {400, "another browser", func(b *browser) shown { return b.get(b.choose(begin(b), s.ada) + "x") }},
		"no attempt":      {400, "another browser", func(b *browser) shown { return b.get("/oauth/signin/callback/1-1?state=x&code=y") }},
		"an error":        {403, "has not signed you in", func(b *browser) shown { return b.get(withError(t, b.choose(begin(b), s.ada))) }},
		"another place": {502, "does not answer", func(b *browser) shown {
			return b.get(strings.Replace(b.choose(begin(b), s.ada), "/callback/", "/callback/9", 1))
		}},
		"a wrong code": {502, "does not answer", func(b *browser) shown {
			return b.get(strings.Replace(b.choose(begin(b), s.ada), "code=", "code=x", 1))
		}},
	} {
		b := s.newBrowser()
		page := c.finish(b)
		require.Equal(t, c.status, page.status, name)
		require.Contains(t, page.text, c.shows, name)
		require.Contains(t, page.text, "Begin again", name)
		require.Contains(t, b.get("/oauth/connections").text, `name="email"`, name)
	}
	for _, address := range []string{"", "x", "@", "x@unknown.example", "x@" + s.domain + ".evil.example"} {
		page := s.newBrowser().send(http.MethodPost, "/oauth/signin", url.Values{"email": {address}})
		require.Equal(t, http.StatusUnprocessableEntity, page.status, address)
	}
	require.NoError(t, s.idp.Stop())
	s.Operator(t, "identity-provider-update", object{"org_id": s.Org, "provider_id": s.provider["id"], "issuer": "http://127.0.0.1:1"})
	page := s.newBrowser().send(http.MethodPost, "/oauth/signin", url.Values{"email": {s.ada}})
	require.Equal(t, http.StatusBadGateway, page.status)
}

// withError replaces the code in an address by an error.
func withError(t *testing.T, address string) string {
	t.Helper()
	u := mustParse(t, address)
	sent := u.Query()
	sent.Del("code")
	sent.Set("error", "access_denied")
	u.RawQuery = sent.Encode()
	return u.String()
}

// TestNobodyIsSentElsewhere after a sign-in.
func TestNobodyIsSentElsewhere(t *testing.T) {
	s := newSite(t)
	b := s.visitor()
	for _, to := range []string{"https://evil.example", "//evil.example", `/\evil.example`, `\\evil.example`, "javascript:alert(1)", "http:evil.example", "/%09/evil.example", "x"} {
		page := b.send(http.MethodGet, "/oauth/signin?"+url.Values{"return_to": {to}}.Encode(), nil)
		led, err := mustParse(t, s.issuer+"/oauth/signin").Parse(page.location)
		require.NoError(t, err)
		require.Equal(t, mustParse(t, s.issuer).Host, led.Host, to)
		page = s.newBrowser().send(http.MethodPost, "/oauth/signin", url.Values{"email": {s.ada}, "return_to": {to}})
		if to != "/%09/evil.example" { // A path of the region, with an escaped tab.
			require.Equal(t, http.StatusBadRequest, page.status, to)
		}
	}
}

// TestFormsOfOtherSites are refused: by the text of the form, and by where the browser says that they come from.
func TestFormsOfOtherSites(t *testing.T) {
	stacktest.Everywhere(t)
	s := newSite(t)
	b, other := s.visitor(), s.visitor()
	consent := b.get("/oauth/consent?" + s.request().Encode()).form()
	consent.Set("decision", "approve")
	s.tokens(http.StatusOK, b.approve(s.request()).Get("code"))
	list := b.get("/oauth/connections").form()
	for path, form := range map[string]url.Values{"/oauth/consent": consent, "/oauth/connections/disconnect": list, "/oauth/signout": {"form_token": list["form_token"]}} {
		for name, header := range map[string][]string{
			"origin": {"Origin", "https://evil.example"}, "null": {"Origin", "null"},
			"cross-site": {"Sec-Fetch-Site", "cross-site"}, "same-site": {"Sec-Fetch-Site", "same-site"},
		} {
			require.Equal(t, http.StatusForbidden, b.send(http.MethodPost, path, form, header...).status, "%s %s", path, name)
		}
		for name, token := range map[string]string{
			"none": "", "x": "x", "another session's": other.get("/oauth/consent?" + s.request().Encode()).form().Get("form_token"),
		} {
			spoiled := url.Values{}
			for key, values := range form {
				spoiled[key] = values
			}
			spoiled["form_token"] = []string{token}
			require.Equal(t, http.StatusForbidden, b.send(http.MethodPost, path, spoiled).status, "%s %s", path, name)
		}
		answer := s.newBrowser().send(http.MethodPost, path, form)
		require.False(t, strings.HasPrefix(answer.location, "https://app.example"), "nobody has signed in")
		require.Equal(t, http.StatusUnsupportedMediaType, b.send(http.MethodPost, path, form, "Content-Type", "text/plain").status, path)
	}
	require.Contains(t, b.get("/oauth/connections").text, "Agenda", "nothing was disconnected, and nobody signed out")
	require.Equal(t, http.StatusForbidden, s.newBrowser().send(http.MethodPost, "/oauth/signin", url.Values{"email": {s.ada}}, "Origin", "https://evil.example").status)
}

// TestASignInHasANewCookie, and ends the session before: a cookie that somebody has planted is worth nothing.
func TestASignInHasANewCookie(t *testing.T) {
	s := newSite(t)
	b := s.visitor()
	old := maps.Clone(b.cookies)
	form := url.Values{"email": {s.ada}}
	b.get(b.choose(b.send(http.MethodPost, "/oauth/signin", form).onward(t), s.ada))
	require.NotEqual(t, old, b.cookies)
	thief := s.newBrowser()
	thief.cookies = old
	require.Contains(t, thief.get("/oauth/connections").text, `name="email"`, "the old session has ended")
	planted := s.newBrowser()
	planted.cookies["lectern-us"] = "planted"
	planted.signIn(planted.get("/oauth/signin"), s.ada)
	require.NotEqual(t, "planted", planted.cookies["lectern-us"])
}

// TestChoosingAProvider where two organizations trust different ones for a domain, and an organization where a member has several.
func TestChoosingAProvider(t *testing.T) {
	s := newSite(t)
	other := newSiteOf(t, s.NewOrganization(t))
	other.domain = s.domain
	other.people = s.people
	other.newProvider(other.Org)
	b := s.newBrowser()
	form := url.Values{"email": {s.ada}}
	page := b.send(http.MethodPost, "/oauth/signin", form)
	require.Equal(t, 2, strings.Count(page.text, `name="provider"`))
	form.Set("provider", "9-9")
	require.Equal(t, 2, strings.Count(b.send(http.MethodPost, "/oauth/signin", form).text, `name="provider"`))
	_, place, _ := strings.Cut(page.text, `name="provider" value="`)
	place, _, _ = strings.Cut(place, `"`)
	form.Set("provider", place)
	require.NotEmpty(t, b.send(http.MethodPost, "/oauth/signin", form).onward(t))

	// A member of two organizations that have the same provider chooses at the consent.
	second := s.NewOrganization(t)
	s.Operator(t, "organization-update", object{"org_id": second.Org, "ai_enabled": true})
	s.Operator(t, "member-create", object{"org_id": second.Org, "name": "Ada", "email": s.ada, "ai_access": true})
	s.newProvider(second.Org)
	both := s.newBrowser()
	chosen := both.send(http.MethodPost, "/oauth/signin", url.Values{"email": {s.ada}, "provider": {placeOf(s)}})
	both.get(both.choose(chosen.onward(t), s.ada))
	page = both.get("/oauth/consent?" + s.request().Encode())
	require.Equal(t, 2, strings.Count(page.text, `type="radio"`))
	consent := page.form()
	consent.Set("decision", "approve")
	require.Equal(t, http.StatusForbidden, both.send(http.MethodPost, "/oauth/consent", consent).status, "no organization")
	consent.Set("org_id", itoa(second.Org))
	back := mustParse(t, both.send(http.MethodPost, "/oauth/consent", consent).location)
	tokens := s.tokens(http.StatusOK, back.Query().Get("code"))
	events := s.As(tokens["access_token"].(string)).Call(t, http.StatusOK, http.MethodGet, "/v1/events", nil).JSON(t)
	require.Contains(t, string(mustJSON(t, events)), itoa(second.Event))
}

// TestTwoMembersWithOneAddress in an organization: the one that may connect applications does, and both see their connections.
func TestTwoMembersWithOneAddress(t *testing.T) {
	s := newSite(t)
	second := s.member(s.ada, object{"ai_access": true})
	s.Operator(t, "member-update", object{"org_id": s.Org, "user_id": s.user, "ai_access": false})
	b := s.visitor()
	require.NotContains(t, b.get("/oauth/consent?"+s.request().Encode()).text, `type="radio"`)
	s.tokens(http.StatusOK, b.approve(s.request()).Get("code"))
	listed := s.Operator(t, "token-list", object{"org_id": s.Org})["results"].([]any)
	require.InEpsilon(t, second, listed[len(listed)-1].(object)["user_id"], 0)
	b.get(b.send(http.MethodPost, "/oauth/connections/disconnect", b.get("/oauth/connections").form()).location)
	require.NotContains(t, b.get("/oauth/connections").text, "Agenda")
}

// TestTheWayBackToAnInstalledApplication is a link with the scheme of the application.
func TestTheWayBackToAnInstalledApplication(t *testing.T) {
	s := newSite(t)
	s.app = s.Operator(t, "application-create", object{"client_name": "Phone", "redirect_uris": []string{"com.example.app:/done"}})
	b := s.visitor()
	asked := s.request()
	asked.Set("redirect_uri", "com.example.app:/done")
	page := b.get("/oauth/consent?" + asked.Encode())
	require.True(t, strings.HasSuffix(page.header.Get("Content-Security-Policy"), "form-action 'self' com.example.app:"))
	s.Operator(t, "member-update", object{"org_id": s.Org, "user_id": s.user, "ai_access": false})
	require.Contains(t, b.get("/oauth/consent?"+asked.Encode()).text, `href="com.example.app:/done?error=access_denied`)
}

// TestLongFormsAreRefused before anything is stored.
func TestLongFormsAreRefused(t *testing.T) {
	s := newSite(t)
	long := strings.Repeat("x", 8193)
	for name, form := range map[string]url.Values{
		"path": {"email": {s.ada}, "return_to": {"/" + long}}, "address": {"email": {long[:255] + "@" + s.domain}}, "provider": {"email": {s.ada}, "provider": {long}},
	} {
		require.Equal(t, http.StatusBadRequest, s.newBrowser().send(http.MethodPost, "/oauth/signin", form).status, name)
	}
	require.Equal(t, http.StatusRequestEntityTooLarge, s.newBrowser().send(http.MethodPost, "/oauth/signin", url.Values{"email": {strings.Repeat(long, 5)}}).status)
}

// TestAMemberWithoutAIAccess sees why, and the way back.
func TestAMemberWithoutAIAccess(t *testing.T) {
	stacktest.Everywhere(t)
	s := newSite(t)
	b := s.visitor()
	s.Operator(t, "member-update", object{"org_id": s.Org, "user_id": s.user, "ai_access": false})
	page := b.get("/oauth/authorize?" + s.request().Encode())
	require.Equal(t, http.StatusForbidden, page.status)
	require.Contains(t, page.text, "AI Access")
	require.Contains(t, page.text, "https://app.example/done?error=access_denied")
}
