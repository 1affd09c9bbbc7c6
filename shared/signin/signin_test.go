package signin_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"lectern/localstack/test/tabletest"
	"lectern/shared/outside"
	"lectern/shared/secret"
	"lectern/shared/signin"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

// key signs the tokens of the providers of all tests.
var key = func() *rsa.PrivateKey {
	made, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return made
}()

// idp is an identity provider. It says what the test wants.
type idp struct {
	*httptest.Server
	w *world
	// edit changes the claims of the next token, and describe the description. key signs the tokens.
	edit, describe func(map[string]any)
	key            *rsa.PrivateKey
	// nonce and challenge are those of the last request of a browser, and form that of the last request for tokens.
	nonce, challenge string
	form             url.Values
	fails            bool
}

func newIDP(w *world) *idp {
	nothing := func(map[string]any) {}
	p := &idp{w: w, key: key, edit: nothing, describe: nothing}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(to http.ResponseWriter, _ *http.Request) {
		said := map[string]any{
			"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256"},
		}
		p.describe(said)
		_ = json.NewEncoder(to).Encode(said)
	})
	mux.HandleFunc("/keys", func(to http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(to).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "1", Algorithm: "RS256", Use: "sig"}}})
	})
	mux.HandleFunc("/token", func(to http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		p.form = r.PostForm
		client, hush, basic := r.BasicAuth()
		known := basic && client == "lectern" && hush == "hush" || p.form.Get("client_id") == "lectern" && p.form.Get("client_secret") == "hush"
		if p.fails || !known || oauth2.S256ChallengeFromVerifier(p.form.Get("code_verifier")) != p.challenge {
			http.Error(to, `{"error": "invalid_grant"}`, http.StatusBadRequest)
			return
		}
		to.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(to).Encode(map[string]any{"access_token": "x", "token_type": "Bearer", "id_token": p.token()})
	})
	p.Server = httptest.NewServer(mux)
	w.t.Cleanup(p.Close)
	return p
}

// token returns a signed token about Ada, as edit changes it.
func (p *idp) token() string {
	now := p.w.now
	said := map[string]any{
		"iss": p.URL, "aud": "lectern", "sub": "1", "iat": now.Unix(), "exp": now.Add(time.Minute).Unix(), "nonce": p.nonce,
		"email": "ada@example.com", "email_verified": true, "name": "Ada",
	}
	p.edit(said)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: p.key}, (&jose.SignerOptions{}).WithHeader("kid", "1"))
	require.NoError(p.w.t, err)
	text, err := json.Marshal(said)
	require.NoError(p.w.t, err)
	signed, err := signer.Sign(text)
	require.NoError(p.w.t, err)
	compact, err := signed.CompactSerialize()
	require.NoError(p.w.t, err)
	return compact
}

// world is a region with two organizations that have a provider, and a clock that the test moves.
type world struct {
	signin.Store
	t        *testing.T
	now      time.Time
	idp      *idp
	acme     *tenancy.Organization
	other    *tenancy.Organization
	ada      *tenancy.Member
	provider *tenancy.Provider
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, now: time.Now().UTC()}
	tab := tabletest.Start(t)
	tab.Now = w.time
	w.Store = signin.Store{
		Tenancy: tenancy.Store{Table: tab, Now: w.time, Region: "us", LocalProviders: true}, Keys: &secret.Keys{Load: master},
		Address: "https://us.lectern.example", Client: signin.NewClient(outside.NewNetwork(), true), Known: signin.NewKnown(),
	}
	w.idp = newIDP(w)
	w.acme, w.other = w.organization("Acme"), w.organization("Other")
	w.ada = w.member(w.acme, "ada@example.com")
	w.provider = w.newProvider(w.acme, "lectern", "example.com", "example.org")
	return w
}

func (w *world) time() time.Time { return w.now }

func (w *world) organization(name string) *tenancy.Organization {
	w.t.Helper()
	o := &tenancy.Organization{Name: name, AIEnabled: true}
	require.NoError(w.t, tenancy.Organizations.Create(w.t.Context(), w.Tenancy, o))
	return o
}

func (w *world) member(o *tenancy.Organization, email string) *tenancy.Member {
	w.t.Helper()
	m := &tenancy.Member{OrgID: o.ID, Name: "Ada", Email: email, Role: tenancy.RoleMember, Active: true, AIAccess: true}
	require.NoError(w.t, tenancy.Members.Create(w.t.Context(), w.Tenancy, m))
	return m
}

// newProvider creates a provider of an organization at the idp of the test.
func (w *world) newProvider(o *tenancy.Organization, client string, domains ...string) *tenancy.Provider {
	w.t.Helper()
	p := &tenancy.Provider{OrgID: o.ID, Name: "Example", Issuer: w.idp.URL, ClientID: client, Domains: domains}
	require.NoError(w.t, tenancy.Providers.Create(w.t.Context(), w.Tenancy, p))
	sealed, err := w.Seal(w.t.Context(), o.ID, p.ID, "hush")
	require.NoError(w.t, err)
	return w.editProvider(p, func(p *tenancy.Provider) { p.Secret = sealed })
}

func (w *world) editProvider(p *tenancy.Provider, edit func(*tenancy.Provider)) *tenancy.Provider {
	w.t.Helper()
	changed, err := tenancy.Providers.Update(w.t.Context(), w.Tenancy, tenancy.ProviderPK(p.OrgID, p.ID), func(p *tenancy.Provider) error {
		edit(p)
		return nil
	})
	require.NoError(w.t, err)
	return changed
}

func (w *world) editMember(m *tenancy.Member, edit func(*tenancy.Member)) {
	w.t.Helper()
	_, err := w.Tenancy.UpdateMember(w.t.Context(), m.OrgID, m.ID, func(m *tenancy.Member) error {
		edit(m)
		return nil
	})
	require.NoError(w.t, err)
}

// begin begins a sign-in, and returns the cookie and what the provider sends back.
func (w *world) begin() (cookie string, back url.Values) {
	w.t.Helper()
	begun, err := w.Begin(w.t.Context(), w.provider, "ada@example.com", "/oauth/authorize?client_id=1")
	require.NoError(w.t, err)
	address, err := url.Parse(begun.Address)
	require.NoError(w.t, err)
	asked := address.Query()
	require.Equal(w.t, w.idp.URL+"/authorize", address.Scheme+"://"+address.Host+address.Path)
	require.Equal(w.t, []string{"code", "lectern", "openid email profile", "https://us.lectern.example/oauth/signin/callback/" + signin.Place(w.provider), "S256", "ada@example.com"},
		[]string{asked.Get("response_type"), asked.Get("client_id"), asked.Get("scope"), asked.Get("redirect_uri"),
			asked.Get("code_challenge_method"), asked.Get("login_hint")})
	w.idp.nonce, w.idp.challenge = asked.Get("nonce"), asked.Get("code_challenge")
	return begun.Cookie, url.Values{"state": {asked.Get("state")}, "code": {"c"}, "iss": {w.idp.URL}}
}

// finish finishes the sign-in of a browser without a session, at the path of the provider.
func (w *world) finish(cookie string, sent url.Values) (*signin.Started, error) {
	return w.Finish(w.t.Context(), signin.Back{Cookie: cookie, Place: signin.Place(w.provider), Sent: sent})
}

// signIn signs Ada in and returns the cookie of the session.
func (w *world) signIn() string {
	w.t.Helper()
	cookie, back := w.begin()
	started, err := w.finish(cookie, back)
	require.NoError(w.t, err)
	require.Equal(w.t, "/oauth/authorize?client_id=1", started.ReturnTo)
	return started.Cookie
}

// session returns the session of a cookie; nil for none.
func (w *world) session(cookie string) *signin.Session {
	w.t.Helper()
	s, err := w.Session(w.t.Context(), cookie)
	require.NoError(w.t, err)
	return s
}

func requireRefused(t *testing.T, err error, reason signin.Reason, about ...any) {
	t.Helper()
	var refused *signin.Refusal
	require.ErrorAs(t, err, &refused, about...)
	require.Equal(t, reason, refused.Reason, about...)
}

// actions returns the security events of an organization.
func (w *world) actions(o *tenancy.Organization) (all []string) {
	w.t.Helper()
	for item, err := range w.Tenancy.Table.Between(w.t.Context(), tenancy.SecurityPartition(o.ID, w.now), "0", "~") {
		require.NoError(w.t, err)
		var e tenancy.SecurityEvent
		require.NoError(w.t, json.Unmarshal(item.Data, &e))
		if strings.HasPrefix(e.Action, "member.signed") {
			all = append(all, fmt.Sprint(e.Action, " ", e.RecordID, " ", e.Actor.Type, " ", e.Actor.ID))
		}
	}
	return all
}

// TestASession from the sign-in to its end.
func TestASession(t *testing.T) {
	w := newWorld(t)
	found, err := w.Providers(t.Context(), "Ada@Example.COM")
	require.NoError(t, err)
	require.Len(t, found, 1)
	cookie := w.signIn()
	require.Equal(t, []string{"authorization_code", "c", "https://us.lectern.example/oauth/signin/callback/" + signin.Place(w.provider)},
		[]string{w.idp.form.Get("grant_type"), w.idp.form.Get("code"), w.idp.form.Get("redirect_uri")})
	s := w.session(cookie)
	require.Equal(t, []any{"ada@example.com", "Ada", 1}, []any{s.Email, s.Name, len(s.Members)})
	require.Equal(t, []any{w.acme.ID, w.ada.ID, true}, []any{s.Members[0].OrgID, s.Members[0].ID, s.Members[0].Connects()})
	require.True(t, s.IsForm(s.FormToken))
	require.False(t, s.IsForm(""))
	again := w.signIn()
	require.NotEqual(t, cookie, again, "each sign-in has a new cookie")
	require.NotEqual(t, s.FormToken, w.session(again).FormToken)
	require.NoError(t, w.End(t.Context(), cookie))
	require.NoError(t, w.End(t.Context(), cookie))
	require.Nil(t, w.session(cookie))
	require.NotNil(t, w.session(again))
	for _, unknown := range []string{"", "x", cookie} {
		require.Nil(t, w.session(unknown))
	}
	event := fmt.Sprint(" ", w.ada.ID, " user ", w.ada.ID)
	require.ElementsMatch(t, []string{"member.signed_in" + event, "member.signed_in" + event, "member.signed_out" + event}, w.actions(w.acme))
}

// TestTimesOfASession: an hour without a request, and twelve hours.
func TestTimesOfASession(t *testing.T) {
	w := newWorld(t)
	used, idle := w.signIn(), w.signIn()
	for range 13 {
		w.now = w.now.Add(54 * time.Minute)
		require.NotNil(t, w.session(used))
	}
	require.Nil(t, w.session(idle))
	w.now = w.now.Add(18 * time.Minute)
	require.Nil(t, w.session(used), "after twelve hours")
	late := w.signIn()
	w.now = w.now.Add(time.Hour)
	require.Nil(t, w.session(late))
}

// TestAttemptsThatFail start no session.
func TestAttemptsThatFail(t *testing.T) {
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	claim := func(name string, value any) func(*world, url.Values) {
		return func(w *world, _ url.Values) { w.idp.edit = func(said map[string]any) { said[name] = value } }
	}
	for name, c := range map[string]struct {
		spoil  func(*world, url.Values)
		reason signin.Reason
	}{
		"no state":    {func(_ *world, back url.Values) { back.Del("state") }, signin.UnknownAttempt},
		"other state": {func(_ *world, back url.Values) { back.Set("state", "x") }, signin.UnknownAttempt},
		"late":        {func(w *world, _ url.Values) { w.now = w.now.Add(10 * time.Minute) }, signin.UnknownAttempt},
		"mixed up":    {func(_ *world, back url.Values) { back.Set("iss", "https://evil.example") }, signin.ProviderFailed},
		"refused":     {func(_ *world, back url.Values) { back.Set("error", "access_denied") }, signin.ProviderRefused},
		"disabled": {func(w *world, _ url.Values) {
			w.editProvider(w.provider, func(p *tenancy.Provider) { p.Disabled = true })
		}, signin.ProviderFailed},
		"no tokens":       {func(w *world, _ url.Values) { w.idp.fails = true }, signin.ProviderFailed},
		"other key":       {func(w *world, _ url.Values) { w.idp.key = stranger }, signin.ProviderFailed},
		"other nonce":     {claim("nonce", "x"), signin.ProviderFailed},
		"no nonce":        {claim("nonce", nil), signin.ProviderFailed},
		"other audience":  {claim("aud", "another"), signin.ProviderFailed},
		"other issuer":    {claim("iss", "https://evil.example"), signin.ProviderFailed},
		"expired":         {claim("exp", time.Now().Add(-time.Hour).Unix()), signin.ProviderFailed},
		"not verified":    {claim("email_verified", false), signin.Unverified},
		"text false":      {claim("email_verified", "false"), signin.Unverified},
		"nothing said":    {claim("email_verified", nil), signin.Unverified},
		"no address":      {claim("email", nil), signin.ForeignDomain},
		"foreign domain":  {claim("email", "ada@evil.example"), signin.ForeignDomain},
		"domain within":   {claim("email", "ada@example.com.evil.example"), signin.ForeignDomain},
		"subdomain":       {claim("email", "ada@sub.example.com"), signin.ForeignDomain},
		"two signs":       {claim("email", "ada@example.com@evil.example"), signin.ForeignDomain},
		"folded letter":   {claim("email", "aDa@example.com\u017f"), signin.ForeignDomain},
		"long s":          {claim("email", "a\u017fh@example.com"), signin.ForeignDomain},
		"nobody":          {claim("email", "bob@example.com"), signin.NoMember},
		"inactive member": {func(w *world, _ url.Values) { w.editMember(w.ada, func(m *tenancy.Member) { m.Active = false }) }, signin.NoMember},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			cookie, back := w.begin()
			c.spoil(w, back)
			_, err := w.finish(cookie, back)
			requireRefused(t, err, c.reason)
			w.idp.edit = func(map[string]any) {}
			_, err = w.finish(cookie, back)
			requireRefused(t, err, signin.UnknownAttempt, "an attempt is finished once")
			require.Empty(t, w.actions(w.acme))
		})
	}
}

// TestABrowserFinishesItsOwnAttempt: a state without the cookie of its browser, or with that of another attempt, signs nobody in.
func TestABrowserFinishesItsOwnAttempt(t *testing.T) {
	w := newWorld(t)
	own, _ := w.begin()
	_, back := w.begin()
	for _, cookie := range []string{"", "x", own} {
		_, err := w.finish(cookie, back)
		requireRefused(t, err, signin.UnknownAttempt)
	}
	for _, to := range []string{"https://evil.example", "//evil.example", "/\\evil.example", "\\/evil.example", "oauth", "", "javascript:alert(1)"} {
		_, err := w.Begin(t.Context(), w.provider, "", to)
		require.Error(t, err, to)
	}
}

// TestProvidersHavePathsOfTheirOwn: what one provider has given is not finished at the path of another.
func TestProvidersHavePathsOfTheirOwn(t *testing.T) {
	w := newWorld(t)
	other := w.newProvider(w.other, "lectern", "example.com")
	for _, place := range []string{"", signin.Place(other), "x"} {
		cookie, back := w.begin()
		back.Del("iss")
		_, err := w.Finish(t.Context(), signin.Back{Cookie: cookie, Place: place, Sent: back})
		requireRefused(t, err, signin.ProviderFailed, place)
	}
}

// TestASessionLosesItsGround: it ends with the provider, the domain and the address that it began with, and with the next sign-in.
func TestASessionLosesItsGround(t *testing.T) {
	for name, take := range map[string]func(*world){
		"disabled": func(w *world) { w.editProvider(w.provider, func(p *tenancy.Provider) { p.Disabled = true }) },
		"domain": func(w *world) {
			w.editProvider(w.provider, func(p *tenancy.Provider) { p.Domains = []string{"example.org"} })
		},
		"address": func(w *world) { w.editMember(w.ada, func(m *tenancy.Member) { m.Email = "eve@example.com" }) },
	} {
		w := newWorld(t)
		cookie := w.signIn()
		take(w)
		require.Nil(t, w.session(cookie), name)
	}
	w := newWorld(t)
	first := w.signIn()
	cookie, back := w.begin()
	_, err := w.Finish(t.Context(), signin.Back{Cookie: cookie, Session: first, Place: signin.Place(w.provider), Sent: back})
	require.NoError(t, err)
	require.Nil(t, w.session(first), "a sign-in ends the session before")

	gone := w.signIn()
	w.editMember(w.ada, func(m *tenancy.Member) { m.Active = false })
	require.Nil(t, w.session(gone))
	w.editMember(w.ada, func(m *tenancy.Member) { m.Active = true })
	require.Nil(t, w.session(gone), "who comes back signs in again")
	w.now = w.now.Add(time.Second)
	unseen := w.signIn()
	w.editMember(w.ada, func(m *tenancy.Member) { m.Active = false })
	w.editMember(w.ada, func(m *tenancy.Member) { m.Active = true })
	require.Nil(t, w.session(unseen), "also if no page was visited meanwhile")
}

// TestAllDomainsOfAProviderChange in one transaction.
func TestAllDomainsOfAProviderChange(t *testing.T) {
	w := newWorld(t)
	names := func(end string) (all []string) {
		for i := range 40 {
			all = append(all, fmt.Sprint("d", i, end))
		}
		return all
	}
	w.editProvider(w.provider, func(p *tenancy.Provider) { p.Domains = names(".example.com") })
	w.editProvider(w.provider, func(p *tenancy.Provider) { p.Domains = names(".example.org") })
	found, err := w.Providers(t.Context(), "x@d39.example.org")
	require.NoError(t, err)
	require.Len(t, found, 1)
	found, err = w.Providers(t.Context(), "x@d39.example.com")
	require.NoError(t, err)
	require.Empty(t, found)
}

// TestVerifiedInOtherWords: some providers write a text, and Entra has a claim of its own.
func TestVerifiedInOtherWords(t *testing.T) {
	w := newWorld(t)
	for name, value := range map[string]any{"email_verified": "true", "xms_edov": true} {
		w.idp.edit = func(said map[string]any) {
			delete(said, "email_verified")
			said[name] = value
		}
		require.NotNil(t, w.session(w.signIn()), name)
	}
}

// TestOrganizations: a person is signed in to the organizations that have the same provider for the domain, and to no other.
func TestOrganizations(t *testing.T) {
	w := newWorld(t)
	w.member(w.other, "ADA@example.com")
	require.Len(t, w.session(w.signIn()).Members, 1, "no provider")
	p := w.newProvider(w.other, "another", "example.com")
	require.Len(t, w.session(w.signIn()).Members, 1, "another client")
	p = w.editProvider(p, func(p *tenancy.Provider) { p.ClientID, p.Domains = "lectern", []string{"example.org"} })
	require.Len(t, w.session(w.signIn()).Members, 1, "not for the domain")
	p = w.editProvider(p, func(p *tenancy.Provider) { p.Domains = []string{"example.com", "example.org"} })
	cookie := w.signIn()
	require.Len(t, w.session(cookie).Members, 2)
	found, err := w.Providers(t.Context(), "x@example.com")
	require.NoError(t, err)
	require.Len(t, found, 1, "both are the same")
	for name, spoil := range map[string]func(*tenancy.Provider){
		"disabled": func(p *tenancy.Provider) { p.Disabled = true }, "domain": func(p *tenancy.Provider) { p.Domains = []string{"example.org"} },
		"issuer": func(p *tenancy.Provider) { p.Issuer = "https://idp.example" }, "client": func(p *tenancy.Provider) { p.ClientID = "other" },
	} {
		was := *p
		w.editProvider(p, spoil)
		require.Len(t, w.session(w.signIn()).Members, 1, name)
		require.Len(t, w.session(cookie).Members, 1, "%s: a session from before", name)
		w.editProvider(p, func(p *tenancy.Provider) {
			p.Disabled, p.Domains, p.Issuer, p.ClientID = false, was.Domains, was.Issuer, was.ClientID
		})
	}
	require.Len(t, w.session(cookie).Members, 2)
	for _, nobody := range []string{"", "x", "@example.com", "x@unknown.example"} {
		found, err := w.Providers(t.Context(), nobody)
		require.NoError(t, err)
		require.Empty(t, found, nobody)
	}

	// What a member loses, the session loses at once.
	w.editMember(w.ada, func(m *tenancy.Member) { m.AIAccess = false })
	require.False(t, w.session(cookie).Members[0].Connects())
	w.editMember(w.ada, func(m *tenancy.Member) { m.Active = false })
	require.Len(t, w.session(cookie).Members, 1)
	_, err = tenancy.Organizations.Update(t.Context(), w.Tenancy, table.Org(w.other.ID), func(o *tenancy.Organization) error {
		o.Disabled = true
		return nil
	})
	require.NoError(t, err)
	require.Nil(t, w.session(cookie))
}

// TestProvidersThatAreRefused name the field.
func TestProvidersThatAreRefused(t *testing.T) {
	w := newWorld(t)
	for field, edit := range map[string]func(*tenancy.Provider){
		"name":       func(p *tenancy.Provider) { p.Name = "" },
		"issuer":     func(p *tenancy.Provider) { p.Issuer = "http://idp.example" },
		"client_id":  func(p *tenancy.Provider) { p.ClientID = "" },
		"domains":    func(p *tenancy.Provider) { p.Domains = nil },
		"domains[0]": func(p *tenancy.Provider) { p.Domains = []string{"Example.com"} },
		"domains[1]": func(p *tenancy.Provider) { p.Domains = []string{"example.com", "localhost"} },
	} {
		p := &tenancy.Provider{OrgID: w.acme.ID, Name: "x", Issuer: "https://idp.example", ClientID: "c", Domains: []string{"example.com"}}
		edit(p)
		require.ErrorContains(t, tenancy.Providers.Create(t.Context(), w.Tenancy, p), field+" must")
	}
	deployed := w.Tenancy
	deployed.LocalProviders = false
	for _, issuer := range []string{w.idp.URL, "http://127.0.0.1", "http://127.0.0.1:8090/a"} {
		p := &tenancy.Provider{OrgID: w.acme.ID, Name: "x", Issuer: issuer, ClientID: "c", Domains: []string{"example.com"}}
		require.ErrorContains(t, tenancy.Providers.Create(t.Context(), deployed, p), "issuer must", issuer)
		require.NoError(t, tenancy.Providers.Create(t.Context(), w.Tenancy, p), issuer)
		_, err := tenancy.Providers.Update(t.Context(), deployed, tenancy.ProviderPK(p.OrgID, p.ID), func(*tenancy.Provider) error { return nil })
		require.ErrorContains(t, err, "issuer must", issuer)
	}
	for _, issuer := range []string{"http://127.0.0.2", "http://localhost:8090", "ftp://127.0.0.1", "//127.0.0.1", "http://127.0.0.1.evil.example"} {
		p := &tenancy.Provider{OrgID: w.acme.ID, Name: "x", Issuer: issuer, ClientID: "c", Domains: []string{"example.com"}}
		require.ErrorContains(t, tenancy.Providers.Create(t.Context(), w.Tenancy, p), "issuer must", issuer)
	}
}

// master returns the master key of the region.
func master(context.Context) ([]byte, error) { return []byte(strings.Repeat("k", 32)), nil }

// TestAnAccountAtGoogleIsOfAHostedDomain: each organization must trust the domain that hosts the account, beside that of the address.
func TestAnAccountAtGoogleIsOfAHostedDomain(t *testing.T) {
	w := newWorld(t)
	w.Client = &http.Client{Transport: &http.Transport{DialTLSContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, w.idp.Listener.Addr().String())
	}}}
	w.idp.URL = "https://accounts.google.com"
	w.provider = w.editProvider(w.provider, func(p *tenancy.Provider) { p.Issuer = w.idp.URL })
	other := w.newProvider(w.other, "lectern", "example.com")
	w.member(w.other, "ada@example.com")
	hostedBy := func(domain any) { w.idp.edit = func(said map[string]any) { said["hd"] = domain } }
	for _, foreign := range []any{nil, "", "evil.example", "EXAMPLE.COM"} {
		hostedBy(foreign)
		cookie, back := w.begin()
		_, err := w.finish(cookie, back)
		requireRefused(t, err, signin.ForeignDomain, foreign)
	}
	hostedBy("example.com")
	both := w.signIn()
	require.Len(t, w.session(both).Members, 2)
	hostedBy("example.org") // Acme trusts it, and Other trusts the address alone.
	one := w.signIn()
	require.Len(t, w.session(one).Members, 1)
	require.Equal(t, w.acme.ID, w.session(one).Members[0].OrgID)
	require.Len(t, w.actions(w.other), 1, "of the first sign-in")

	// A session loses an organization with the trust in the domain that hosts the account.
	w.editProvider(w.provider, func(p *tenancy.Provider) { p.Domains = []string{"example.com"} })
	require.Nil(t, w.session(one))
	require.Len(t, w.session(both).Members, 2)
	w.editProvider(other, func(p *tenancy.Provider) { p.Domains = []string{"example.org"} })
	require.Len(t, w.session(both).Members, 1)
}
