package connections_test

import (
	"context"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"lectern/localstack/local/idp"
	"lectern/localstack/test/stacktest"
)

type object = map[string]any

// site is a region with an identity provider for the members of the caller's organization, and an application.
type site struct {
	*stacktest.Stack
	t *testing.T
	// issuer is the address of the region, as it says itself.
	issuer string
	// domain is that of the members' addresses, ada the address of a member with AI Access, and user the member's id.
	domain, ada string
	user        int64
	provider    object
	idp         *idp.Provider
	people      []idp.Person
	app         object
}

// callback is the address of the application of a site.
const callback = "https://app.example/done"

// newSite starts a region, or takes the deployed one.
func newSite(t *testing.T, options ...stacktest.Option) *site {
	t.Helper()
	return newSiteOf(t, stacktest.Start(t, options...))
}

// newSiteOf returns the site of a caller's organization.
func newSiteOf(t *testing.T, of *stacktest.Stack) *site {
	t.Helper()
	s := &site{Stack: of, t: t, domain: uuid.NewString() + ".example.com"}
	s.ada = "ada@" + s.domain
	s.issuer = s.As("").Call(t, http.StatusOK, http.MethodGet, "/.well-known/oauth-authorization-server", nil).JSON(t)["issuer"].(string)
	started, err := idp.Start("127.0.0.1:0", func(context.Context) ([]idp.Person, error) { return s.people, nil })
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, started.Stop()) })
	s.idp = started
	s.Operator(t, "organization-update", object{"org_id": s.Org, "ai_enabled": true})
	s.user = s.member(s.ada, object{"ai_access": true})
	s.provider = s.newProvider(s.Org)
	s.app = s.Operator(t, "application-create", object{
		"client_name": "Agenda", "redirect_uris": []string{callback, "http://127.0.0.1/done"}, "scopes": []string{"read:events", "read:sessions", "write:sessions"},
	})
	return s
}

// member creates a member of the organization whom the provider knows.
func (s *site) member(email string, properties object) int64 {
	s.t.Helper()
	input := object{"org_id": s.Org, "name": "Ada", "email": email}
	for name, value := range properties {
		input[name] = value
	}
	s.people = append(s.people, idp.Person{Name: "Ada", Email: email})
	return int64(s.Operator(s.t, "member-create", input)["id"].(float64))
}

// newProvider lets the members of an organization sign in at the provider.
func (s *site) newProvider(org int64) object {
	s.t.Helper()
	return s.Operator(s.t, "identity-provider-create", object{
		"org_id": org, "name": "Example ID", "issuer": s.idp.URL, "client_id": idp.ClientID, "client_secret": idp.ClientSecret,
		"domains": []string{s.domain},
	})
}

// verifier is the PKCE verifier of all requests.
var verifier = strings.Repeat("v", 43)

// request returns the parameters of a valid authorization request.
func (s *site) request() url.Values {
	return url.Values{
		"client_id": {s.app["client_id"].(string)}, "redirect_uri": {callback}, "response_type": {"code"}, "state": {"a state"},
		"code_challenge": {oauth2.S256ChallengeFromVerifier(verifier)}, "code_challenge_method": {"S256"},
	}
}

// browser is a browser of a person. It keeps cookies for the region, whatever the scheme is: an emulator serves by HTTP what it calls HTTPS.
type browser struct {
	*site
	cookies map[string]string
}

// shown is the page that a browser shows.
type shown struct {
	status   int
	header   http.Header
	location string
	text     string
}

func (s *site) newBrowser() *browser { return &browser{s, map[string]string{}} }

// client follows no redirect.
var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// send sends a request as a browser does, with more headers.
func (b *browser) send(method, address string, form url.Values, headers ...string) shown {
	b.t.Helper()
	address = b.at(address)
	r, err := http.NewRequestWithContext(b.t.Context(), method, address, strings.NewReader(form.Encode()))
	require.NoError(b.t, err)
	r.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", origin(b.issuer))
	}
	if strings.HasPrefix(address, b.URL) {
		r.Header.Set("Cookie", b.cookie())
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := client.Do(r)
	require.NoError(b.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(b.t, err)
	for _, c := range answer.Cookies() {
		if b.cookies[c.Name] = c.Value; c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		}
	}
	return shown{answer.StatusCode, answer.Header, answer.Header.Get("Location"), string(text)}
}

// cookie returns the header with the cookies.
func (b *browser) cookie() string {
	var all []string
	for name, value := range b.cookies {
		all = append(all, name+"="+value)
	}
	return strings.Join(all, "; ")
}

// at returns the address at which the test finds a path of the region. The region calls its own host and stage by other names than an
// emulator has for them.
func (b *browser) at(address string) string {
	path := strings.TrimPrefix(address, origin(b.issuer))
	if below := strings.Index(path, "/oauth/"); strings.HasPrefix(path, "/") && below >= 0 {
		return b.URL + path[below:]
	}
	return address
}

func origin(address string) string {
	u, _ := url.Parse(address)
	return u.Scheme + "://" + u.Host
}

// get opens an address, and follows redirects within the region.
func (b *browser) get(address string) shown {
	b.t.Helper()
	page := b.send(http.MethodGet, address, nil)
	for page.location != "" && (strings.HasPrefix(page.location, "/") || strings.HasPrefix(page.location, origin(b.issuer))) {
		page = b.send(http.MethodGet, page.location, nil)
	}
	return page
}

// field matches a hidden field of a form.
var field = regexp.MustCompile(`<input type="hidden" name="([^"]*)" value="([^"]*)">`)

// form returns the hidden fields of the last form of a page.
func (p shown) form() url.Values {
	form := url.Values{}
	text := p.text[max(0, strings.LastIndex(p.text, "<form")):]
	for _, m := range field.FindAllStringSubmatch(text, -1) {
		form.Set(html.UnescapeString(m[1]), html.UnescapeString(m[2]))
	}
	return form
}

// refresh matches the address in the header Refresh.
var refresh = regexp.MustCompile(`^0; url=(.*)$`)

// onward returns the address of the provider to which a page leads.
func (p shown) onward(t *testing.T) string {
	t.Helper()
	m := refresh.FindStringSubmatch(p.header.Get("Refresh"))
	require.NotNil(t, m, "%d %s", p.status, p.text)
	return m[1]
}

// signIn signs a person in from the page of the sign-in, and returns the page after it.
func (b *browser) signIn(page shown, email string) shown {
	b.t.Helper()
	require.Contains(b.t, page.text, `name="email"`)
	form := page.form()
	form.Set("email", email)
	back := b.choose(b.send(http.MethodPost, "/oauth/signin", form).onward(b.t), email)
	return b.get(back)
}

// choose chooses a person at the provider, and returns the address to which the provider sends the browser back.
func (b *browser) choose(address, email string) string {
	b.t.Helper()
	chosen := b.send(http.MethodGet, address+"&choose="+url.QueryEscape(email), nil)
	require.Equal(b.t, http.StatusSeeOther, chosen.status, chosen.text)
	return chosen.location
}

// visitor is a browser in which Ada has signed in.
func (s *site) visitor() *browser {
	s.t.Helper()
	b := s.newBrowser()
	page := b.signIn(b.get("/oauth/signin"), s.ada)
	require.Contains(s.t, page.text, "Connected applications")
	return b
}

// approve connects the application of a request, and returns the parameters that the application gets.
func (b *browser) approve(request url.Values) url.Values {
	b.t.Helper()
	page := b.get("/oauth/authorize?" + request.Encode())
	require.Equal(b.t, http.StatusOK, page.status, page.text)
	form := page.form()
	form.Set("decision", "approve")
	answer := b.send(http.MethodPost, "/oauth/consent", form)
	require.Equal(b.t, http.StatusSeeOther, answer.status, answer.text)
	address, err := url.Parse(answer.location)
	require.NoError(b.t, err)
	require.Empty(b.t, address.Query().Get("error"), answer.location)
	return address.Query()
}

// tokens exchanges a code, and returns the answer.
func (s *site) tokens(status int, code string) object {
	s.t.Helper()
	return s.As("").Call(s.t, status, http.MethodPost, "/oauth/token", object{
		"grant_type": "authorization_code", "code": code, "client_id": s.app["client_id"], "redirect_uri": callback, "code_verifier": verifier,
	}).JSON(s.t)
}

// placeOf returns the name of the provider of a site in the paths of the sign-in.
func placeOf(s *site) string { return itoa(s.Org) + "-" + itoa(int64(s.provider["id"].(float64))) }

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func mustJSON(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return text
}
