package grant_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"lectern/localstack/test/tabletest"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/grant"
	"lectern/shared/metering"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

const (
	address  = "https://us.lectern.example"
	callback = "https://app.example/callback"
	verifier = "a-verifier-of-at-least-forty-three-characters-0123"
)

// world is a region with an organization, a member and an application, and a clock that the test moves.
type world struct {
	grant.Store
	t      *testing.T
	now    time.Time
	auth   *auth.Authenticator
	org    *tenancy.Organization
	member *tenancy.Member
	client *grant.Client
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, now: time.Date(2026, 11, 29, 9, 0, 0, 0, time.UTC)}
	tab := tabletest.Start(t)
	tab.Now = w.time
	w.Store = grant.Store{
		Tenancy: tenancy.Store{Table: tab, Now: w.time, Region: "us"}, Address: address, NewID: uuid.NewString,
	}
	w.auth = auth.New(tab, w.time, "us")
	w.org = &tenancy.Organization{Name: "Acme", AIEnabled: true}
	require.NoError(t, tenancy.Organizations.Create(t.Context(), w.Tenancy, w.org))
	w.member = &tenancy.Member{OrgID: w.org.ID, Name: "Ada", Email: "ada@example.com", Role: tenancy.RoleAdmin, Active: true, AIAccess: true}
	require.NoError(t, tenancy.Members.Create(t.Context(), w.Tenancy, w.member))
	w.client = w.register(callback, "http://127.0.0.1/done", "com.example.app:/done")
	return w
}

func (w *world) time() time.Time { return w.now }

func (w *world) register(addresses ...string) *grant.Client {
	w.t.Helper()
	c := &grant.Client{Name: "Agenda", RedirectURIs: addresses, Scopes: []auth.Scope{auth.ReadEvents, auth.ReadSessions, auth.WriteSessions}}
	require.NoError(w.t, w.Register(w.t.Context(), c))
	return c
}

// request returns a valid authorization request.
func (w *world) request() grant.Request {
	return grant.Request{
		ClientID: w.client.ID, RedirectURI: callback, ResponseType: "code", CodeChallengeMethod: "S256", State: "x",
		CodeChallenge: oauth2.S256ChallengeFromVerifier(verifier),
	}
}

// code returns the code of an approved request.
func (w *world) code(r grant.Request) string {
	w.t.Helper()
	a, err := w.Check(w.t.Context(), r)
	require.NoError(w.t, err)
	text, err := w.Approve(w.t.Context(), a, w.org.ID, w.member.ID)
	require.NoError(w.t, err)
	return text
}

// exchange returns a valid exchange of a code.
func (w *world) exchange(code string) grant.Exchange {
	return grant.Exchange{Code: code, RedirectURI: callback, ClientID: w.client.ID, Verifier: verifier}
}

// connect returns the tokens of a new connection.
func (w *world) connect() *grant.Tokens {
	w.t.Helper()
	tokens, err := w.Tokens(w.t.Context(), w.exchange(w.code(w.request())))
	require.NoError(w.t, err)
	return tokens
}

func (w *world) refresh(token string) (*grant.Tokens, error) {
	return w.Refresh(w.t.Context(), grant.Refresh{Token: token, ClientID: w.client.ID})
}

// opens reports whether an access token is accepted.
func (w *world) opens(access string) bool {
	_, err := w.auth.Authenticate(w.t.Context(), auth.FormAccess, access, 0)
	return err == nil
}

// requireRefused checks the code of an error of OAuth.
func requireRefused(t *testing.T, err error, code string, about ...any) {
	t.Helper()
	var refused *grant.Error
	require.ErrorAs(t, err, &refused, about...)
	require.Equal(t, code, refused.Code, about...)
	require.NotEmpty(t, refused.Description)
	require.NotContains(t, refused.Description, `"`, "RFC 6749 allows no quotes in a description")
}

func (w *world) editMember(edit func(*tenancy.Member)) {
	w.t.Helper()
	_, err := tenancy.Members.Update(w.t.Context(), w.Tenancy, tenancy.MemberPK(w.org.ID, w.member.ID), func(m *tenancy.Member) error {
		edit(m)
		return nil
	})
	require.NoError(w.t, err)
}

func (w *world) editOrganization(edit func(*tenancy.Organization)) {
	w.t.Helper()
	_, err := tenancy.Organizations.Update(w.t.Context(), w.Tenancy, table.Org(w.org.ID), func(o *tenancy.Organization) error {
		edit(o)
		return nil
	})
	require.NoError(w.t, err)
}

// TestAConnection from the consent to its end.
func TestAConnection(t *testing.T) {
	w := newWorld(t)
	r := w.request()
	r.Scope, r.Resource = "read:sessions read:events read:sessions", address+"/mcp"
	e := w.exchange(w.code(r))
	e.Resource = address + "/mcp"
	first, err := w.Tokens(t.Context(), e)
	require.NoError(t, err)
	require.Equal(t, []any{"Bearer", 3600, "read:sessions read:events"}, []any{first.TokenType, first.ExpiresIn, first.Scope})

	caller, err := w.auth.Authenticate(t.Context(), auth.FormAccess, first.AccessToken, 0)
	require.NoError(t, err)
	require.Equal(t, []any{"Agenda", tenancy.KindOAuth, true}, []any{caller.Token.Name, caller.Token.Kind, caller.Token.ObfuscatePII})
	require.Equal(t, []any{w.org.ID, w.member.ID}, []any{caller.Org.ID, caller.Member.ID})
	require.NoError(t, caller.May(auth.Scopes{auth.ReadSessions}))
	require.Error(t, caller.May(auth.Scopes{auth.WriteSessions}), "not approved")

	w.now = w.now.Add(30 * time.Minute)
	second, err := w.refresh(first.RefreshToken)
	require.NoError(t, err)
	require.True(t, w.opens(first.AccessToken), "until its end")
	require.True(t, w.opens(second.AccessToken))
	w.now = w.now.Add(30 * time.Minute)
	require.False(t, w.opens(first.AccessToken), "after an hour")
	require.True(t, w.opens(second.AccessToken))

	require.NoError(t, w.Revoke(t.Context(), second.AccessToken, ""))
	require.False(t, w.opens(second.AccessToken))
	_, err = w.refresh(second.RefreshToken)
	requireRefused(t, err, grant.InvalidGrant)
}

// TestRequests that are refused, and whether the application is told.
func TestRequests(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		edit func(*grant.Request)
		code string
		told bool
	}{
		"no client":           {func(r *grant.Request) { r.ClientID = "" }, grant.InvalidClient, false},
		"unknown client":      {func(r *grant.Request) { r.ClientID = uuid.NewString() }, grant.InvalidClient, false},
		"no address":          {func(r *grant.Request) { r.RedirectURI = "" }, grant.InvalidRequest, false},
		"other address":       {func(r *grant.Request) { r.RedirectURI += "/" }, grant.InvalidRequest, false},
		"implicit":            {func(r *grant.Request) { r.ResponseType = "token" }, grant.UnsupportedType, true},
		"no type":             {func(r *grant.Request) { r.ResponseType = "" }, grant.UnsupportedType, true},
		"two types":           {func(r *grant.Request) { r.ResponseType = "code token" }, grant.UnsupportedType, true},
		"no challenge":        {func(r *grant.Request) { r.CodeChallenge = "" }, grant.InvalidRequest, true},
		"short challenge":     {func(r *grant.Request) { r.CodeChallenge = r.CodeChallenge[1:] }, grant.InvalidRequest, true},
		"padded challenge":    {func(r *grant.Request) { r.CodeChallenge += "=" }, grant.InvalidRequest, true},
		"line after":          {func(r *grant.Request) { r.CodeChallenge += "\n" }, grant.InvalidRequest, true},
		"plain":               {func(r *grant.Request) { r.CodeChallengeMethod = "plain" }, grant.InvalidRequest, true},
		"no method":           {func(r *grant.Request) { r.CodeChallengeMethod = "" }, grant.InvalidRequest, true},
		"small method":        {func(r *grant.Request) { r.CodeChallengeMethod = "s256" }, grant.InvalidRequest, true},
		"unknown scope":       {func(r *grant.Request) { r.Scope = `read:all"` }, grant.InvalidScope, true},
		"scope of others":     {func(r *grant.Request) { r.Scope = "read:events read:contacts" }, grant.InvalidScope, true},
		"log export":          {func(r *grant.Request) { r.Scope = "read:audit_logs" }, grant.InvalidScope, true},
		"other region":        {func(r *grant.Request) { r.Resource = "https://eu.lectern.example" }, grant.InvalidTarget, true},
		"longer host":         {func(r *grant.Request) { r.Resource = address + ".evil.example" }, grant.InvalidTarget, true},
		"resource, fragment":  {func(r *grant.Request) { r.Resource = address + "/#x" }, grant.InvalidTarget, true},
		"endless resource":    {func(r *grant.Request) { r.Resource = address + "/" + strings.Repeat("x", 2000) }, grant.InvalidTarget, true},
		"resource, line":      {func(r *grant.Request) { r.Resource = address + "/\n" }, grant.InvalidTarget, true},
		"resource, user":      {func(r *grant.Request) { r.Resource = address + "@evil.example" }, grant.InvalidTarget, true},
		"endless state":       {func(r *grant.Request) { r.State = strings.Repeat("x", 2001) }, grant.InvalidRequest, true},
		"host in big letters": {func(r *grant.Request) { r.Resource = strings.ToUpper(address) }, grant.InvalidTarget, true},
	} {
		r := w.request()
		c.edit(&r)
		_, err := w.Check(t.Context(), r)
		requireRefused(t, err, c.code, name)
		var refused *grant.Error
		require.ErrorAs(t, err, &refused)
		require.Equal(t, c.told, refused.Redirects, name)
	}
	a, err := w.Check(t.Context(), w.request())
	require.NoError(t, err)
	require.Equal(t, w.client.Scopes, a.Scopes, "the scopes of the application")
}

// TestRedirects compares addresses of requests with those of an application.
func TestRedirects(t *testing.T) {
	w := newWorld(t)
	w.client = w.register(callback, callback+"?a=1", "http://127.0.0.1/done", "http://[::1]:80/done", "http://localhost:3000/done?x=1", "com.example.app:/done")
	allowed := func(redirect string) bool {
		r := w.request()
		r.RedirectURI = redirect
		_, err := w.Check(t.Context(), r)
		return err == nil
	}
	for _, redirect := range []string{
		callback, callback + "?a=1", "http://127.0.0.1/done", "http://127.0.0.1:1/done", "http://127.0.0.1:65535/done", "http://[::1]/done",
		"http://[::1]:4000/done", "http://localhost/done?x=1", "http://localhost:9/done?x=1", "com.example.app:/done",
	} {
		require.True(t, allowed(redirect), redirect)
	}
	for _, redirect := range []string{
		"https://app.example/Callback", "https://app.example/callback/", "https://app.example/callback?", "https://app.example/callback?a=2",
		"https://app.example/callback#x", "https://app.example/callback#", "https://app.example:443/callback", "https://APP.example/callback",
		"https://app.example./callback", "http://app.example/callback", "https://app.example/x/../callback", "https://app.example/%63allback",
		"https://user@app.example/callback", "https://app.example@evil.example/callback", "https://app.example.evil.example/callback",
		"https://app.example/callback\\", "https://app.example\\@evil.example/callback", "//app.example/callback", "https:app.example/callback",
		" https://app.example/callback", "https://app.example/callback ", "https://app.example/callback\n", "https://аpp.example/callback",
		"http://127.0.0.1:4000/done/", "http://127.0.0.1:4000/Done", "http://127.0.0.1:4000/done?x=1", "https://127.0.0.1/done",
		"http://127.0.0.2/done", "http://127.0.0.1.evil.example/done", "http://user@127.0.0.1:4000/done", "http://127.0.0.1:4000/done#x",
		"http://127.0.0.1:x/done", "http://127.0.0.1:4000@evil.example/done", "http://localhost:9/done", "http://LOCALHOST:9/done?x=1",
		"http://[::1%25eth0]:4000/done", "http://0.0.0.0/done", "com.example.app:/done/", "com.example.app://done", "COM.example.app:/done",
		"javascript:alert(1)", "data:text/html,x", "", "/callback",
	} {
		require.False(t, allowed(redirect), redirect)
	}
}

// TestRegistrations that are refused name the field.
func TestRegistrations(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		field string
		edit  func(*grant.Client)
	}{
		"no name":       {"client_name", func(c *grant.Client) { c.Name = "" }},
		"long name":     {"client_name", func(c *grant.Client) { c.Name = strings.Repeat("x", 256) }},
		"no address":    {"redirect_uris", func(c *grant.Client) { c.RedirectURIs = nil }},
		"11 addresses":  {"redirect_uris", func(c *grant.Client) { c.RedirectURIs = strings.Split(strings.Repeat(callback+" ", 11), " ")[:11] }},
		"plain http":    {"redirect_uris[0]", func(c *grant.Client) { c.RedirectURIs = []string{"http://app.example/"} }},
		"fragment":      {"redirect_uris[1]", func(c *grant.Client) { c.RedirectURIs = []string{callback, callback + "#"} }},
		"user":          {"redirect_uris[0]", func(c *grant.Client) { c.RedirectURIs = []string{"https://a@app.example/"} }},
		"script":        {"redirect_uris[0]", func(c *grant.Client) { c.RedirectURIs = []string{"javascript:alert(1)"} }},
		"short scheme":  {"redirect_uris[0]", func(c *grant.Client) { c.RedirectURIs = []string{"app:/done"} }},
		"no host":       {"redirect_uris[0]", func(c *grant.Client) { c.RedirectURIs = []string{"https:///done"} }},
		"foreign":       {"redirect_uris[0]", func(c *grant.Client) { c.RedirectURIs = []string{"https://exämple.org/"} }},
		"endless":       {"redirect_uris[0]", func(c *grant.Client) { c.RedirectURIs = []string{callback + strings.Repeat("x", 2000)} }},
		"hidden name":   {"client_name", func(c *grant.Client) { c.Name = "App\u202e" }},
		"two lines":     {"client_name", func(c *grant.Client) { c.Name = "App\r\nOther" }},
		"no scope":      {"scopes", func(c *grant.Client) { c.Scopes = nil }},
		"scope twice":   {"scopes", func(c *grant.Client) { c.Scopes = append(c.Scopes, c.Scopes...) }},
		"log export":    {"scopes[0]", func(c *grant.Client) { c.Scopes = []auth.Scope{auth.ReadAuditLogs} }},
		"unknown scope": {"scopes[1]", func(c *grant.Client) { c.Scopes = []auth.Scope{auth.ReadEvents, "x"} }},
	} {
		client := &grant.Client{Name: "App", RedirectURIs: []string{callback}, Scopes: []auth.Scope{auth.ReadEvents}}
		c.edit(client)
		var refused *apierr.Error
		require.ErrorAs(t, w.Register(t.Context(), client), &refused, name)
		require.Equal(t, []any{400, c.field}, []any{refused.Status, refused.Details["field"]}, name)
	}
}

// TestCodes are refused without a connection, and can be exchanged afterwards by the right application.
func TestCodes(t *testing.T) {
	w := newWorld(t)
	other := w.register(callback)
	code := w.code(w.request())
	for name, c := range map[string]struct {
		code string
		edit func(*grant.Exchange)
	}{
		"no code":         {grant.InvalidGrant, func(e *grant.Exchange) { e.Code = "" }},
		"unknown code":    {grant.InvalidGrant, func(e *grant.Exchange) { e.Code += "x" }},
		"other client":    {grant.InvalidGrant, func(e *grant.Exchange) { e.ClientID = other.ID }},
		"no client":       {grant.InvalidGrant, func(e *grant.Exchange) { e.ClientID = "" }},
		"other address":   {grant.InvalidGrant, func(e *grant.Exchange) { e.RedirectURI = "http://127.0.0.1/done" }},
		"no address":      {grant.InvalidGrant, func(e *grant.Exchange) { e.RedirectURI = "" }},
		"no verifier":     {grant.InvalidGrant, func(e *grant.Exchange) { e.Verifier = "" }},
		"other verifier":  {grant.InvalidGrant, func(e *grant.Exchange) { e.Verifier += "x" }},
		"challenge":       {grant.InvalidGrant, func(e *grant.Exchange) { e.Verifier = w.request().CodeChallenge }},
		"long verifier":   {grant.InvalidGrant, func(e *grant.Exchange) { e.Verifier = strings.Repeat("v", 129) }},
		"other resource":  {grant.InvalidTarget, func(e *grant.Exchange) { e.Resource = address + "x" }},
		"region of codes": {grant.InvalidTarget, func(e *grant.Exchange) { e.Resource = "https://eu.lectern.example" }},
	} {
		e := w.exchange(code)
		c.edit(&e)
		_, err := w.Tokens(t.Context(), e)
		requireRefused(t, err, c.code, name)
	}
	tokens, err := w.Tokens(t.Context(), w.exchange(code))
	require.NoError(t, err)
	require.True(t, w.opens(tokens.AccessToken))
	_, err = w.Tokens(t.Context(), w.exchange(code))
	requireRefused(t, err, grant.InvalidGrant, "a second use")
	require.False(t, w.opens(tokens.AccessToken), "a second use ends the connection")

	require.ElementsMatch(t, []string{"connection.approved", "connection.created", "connection.ended", "connection.reuse"}, w.actions())

	soon, late := w.code(w.request()), w.code(w.request())
	w.now = w.now.Add(59 * time.Second)
	_, err = w.Tokens(t.Context(), w.exchange(soon))
	require.NoError(t, err)
	w.now = w.now.Add(time.Second)
	_, err = w.Tokens(t.Context(), w.exchange(late))
	requireRefused(t, err, grant.InvalidGrant, "after a minute")
}

// TestVerifiers have 43 characters or more: a challenge of a shorter text proves nothing.
func TestVerifiers(t *testing.T) {
	w := newWorld(t)
	for verifier, good := range map[string]bool{"": false, strings.Repeat("v", 42): false, strings.Repeat("v", 43): true, strings.Repeat("~", 128): true} {
		r := w.request()
		r.CodeChallenge = oauth2.S256ChallengeFromVerifier(verifier)
		e := w.exchange(w.code(r))
		e.Verifier = verifier
		_, err := w.Tokens(t.Context(), e)
		require.Equal(t, good, err == nil, verifier)
	}
}

// actions returns the security events of the organization about connections.
func (w *world) actions() (all []string) {
	w.t.Helper()
	for item, err := range w.Tenancy.Table.Between(w.t.Context(), tenancy.SecurityPartition(w.org.ID, w.now), "0", "~") {
		require.NoError(w.t, err)
		var e tenancy.SecurityEvent
		require.NoError(w.t, json.Unmarshal(item.Data, &e))
		if strings.HasPrefix(e.Action, "connection.") {
			all = append(all, e.Action)
		}
	}
	return all
}

// TestACodeIsUsedOnce by many applications at once: one gets tokens at most, and none that work.
func TestACodeIsUsedOnce(t *testing.T) {
	w := newWorld(t)
	code := w.code(w.request())
	var mu sync.Mutex
	var all []*grant.Tokens
	var done sync.WaitGroup
	for range 8 {
		done.Go(func() {
			if tokens, err := w.Tokens(t.Context(), w.exchange(code)); err == nil {
				mu.Lock()
				defer mu.Unlock()
				all = append(all, tokens)
			}
		})
	}
	done.Wait()
	require.Len(t, all, 1)
	require.False(t, w.opens(all[0].AccessToken))
}

// TestRefreshTokensAreReplaced: a replaced one gives the same tokens for ten seconds, and then ends the connection.
func TestRefreshTokensAreReplaced(t *testing.T) {
	w := newWorld(t)
	first := w.connect()
	second, err := w.refresh(first.RefreshToken)
	require.NoError(t, err)
	require.NotEqual(t, first.RefreshToken, second.RefreshToken)
	w.now = w.now.Add(10 * time.Second)
	again, err := w.refresh(first.RefreshToken)
	require.NoError(t, err)
	require.Equal(t, 3590, again.ExpiresIn, "its end does not move")
	again.ExpiresIn = second.ExpiresIn
	require.Equal(t, second, again)

	// The repetition asks for the same, and for no more than the application may have.
	other := w.register(callback)
	for code, r := range map[string]grant.Refresh{
		grant.InvalidGrant:  {Token: first.RefreshToken, ClientID: other.ID},
		grant.InvalidScope:  {Token: first.RefreshToken, ClientID: w.client.ID, Scope: "read:events"},
		grant.InvalidTarget: {Token: first.RefreshToken, ClientID: w.client.ID, Resource: "https://eu.lectern.example"},
	} {
		_, err := w.Refresh(t.Context(), r)
		requireRefused(t, err, code)
	}
	_, err = w.Refresh(t.Context(), grant.Refresh{Token: first.RefreshToken, ClientID: w.client.ID, Scope: "read:audit_logs"})
	requireRefused(t, err, grant.InvalidScope)
	w.editMember(func(m *tenancy.Member) { m.AIAccess = false })
	_, err = w.refresh(first.RefreshToken)
	requireRefused(t, err, grant.InvalidGrant)
	w.editMember(func(m *tenancy.Member) { m.AIAccess = true })

	third, err := w.refresh(second.RefreshToken)
	require.NoError(t, err)
	_, err = w.refresh(first.RefreshToken)
	requireRefused(t, err, grant.InvalidGrant, "the one before the last")
	for _, tokens := range []*grant.Tokens{first, second, third} {
		require.False(t, w.opens(tokens.AccessToken))
		_, err := w.refresh(tokens.RefreshToken)
		requireRefused(t, err, grant.InvalidGrant)
	}
	require.ElementsMatch(t, []string{"connection.approved", "connection.created", "connection.ended", "connection.reuse"}, w.actions())

	old := w.connect()
	next, err := w.refresh(old.RefreshToken)
	require.NoError(t, err)
	w.now = w.now.Add(11 * time.Second)
	_, err = w.refresh(old.RefreshToken)
	requireRefused(t, err, grant.InvalidGrant)
	require.False(t, w.opens(next.AccessToken))
}

// TestManyRefreshes: an application has its ten newest access tokens, and no two texts have anything in common.
func TestManyRefreshes(t *testing.T) {
	w := newWorld(t)
	tokens := w.connect()
	all, halves := []*grant.Tokens{tokens}, map[string]bool{}
	for range 10 {
		var err error
		tokens, err = w.refresh(tokens.RefreshToken)
		require.NoError(t, err)
		all = append(all, tokens)
	}
	for i, one := range all {
		require.Equal(t, i > 0, w.opens(one.AccessToken), i)
		access, err := auth.Parse(auth.FormAccess, one.AccessToken)
		require.NoError(t, err)
		refresh, err := auth.Parse(auth.FormRefresh, one.RefreshToken)
		require.NoError(t, err)
		for _, secret := range [][32]byte{access.Secret, refresh.Secret} {
			halves[string(secret[:16])], halves[string(secret[16:])] = true, true
		}
	}
	require.Len(t, halves, 4*len(all))
}

// TestOneRefreshByMany gives all the same tokens.
func TestOneRefreshByMany(t *testing.T) {
	w := newWorld(t)
	first := w.connect()
	var mu sync.Mutex
	all := map[string]int{}
	var done sync.WaitGroup
	for range 16 {
		done.Go(func() {
			tokens, err := w.refresh(first.RefreshToken)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				all[tokens.RefreshToken+tokens.AccessToken]++
			}
		})
	}
	done.Wait()
	require.Len(t, all, 1)
	for _, times := range all {
		require.Equal(t, 16, times)
	}
}

// TestRefreshesThatAreRefused change nothing.
func TestRefreshesThatAreRefused(t *testing.T) {
	w := newWorld(t)
	tokens := w.connect()
	text, err := auth.Parse(auth.FormRefresh, tokens.RefreshToken)
	require.NoError(t, err)
	forged, foreign, access, another := text, text, text, text
	forged.Secret[0] ^= 1
	another.User++
	foreign.Region, access.Form = "eu", auth.FormAccess
	other := w.register(callback)
	for name, c := range map[string]struct {
		code string
		edit func(*grant.Refresh)
	}{
		"no token":        {grant.InvalidGrant, func(r *grant.Refresh) { r.Token = "" }},
		"forged":          {grant.InvalidGrant, func(r *grant.Refresh) { r.Token = forged.String() }},
		"other region":    {grant.InvalidGrant, func(r *grant.Refresh) { r.Token = foreign.String() }},
		"another member":  {grant.InvalidGrant, func(r *grant.Refresh) { r.Token = another.String() }},
		"access token":    {grant.InvalidGrant, func(r *grant.Refresh) { r.Token = tokens.AccessToken }},
		"as access token": {grant.InvalidGrant, func(r *grant.Refresh) { r.Token = access.String() }},
		"other client":    {grant.InvalidGrant, func(r *grant.Refresh) { r.ClientID = other.ID }},
		"no client":       {grant.InvalidClient, func(r *grant.Refresh) { r.ClientID = "" }},
		"wider":           {grant.InvalidScope, func(r *grant.Refresh) { r.Scope = "read:events write:contacts" }},
		"log export":      {grant.InvalidScope, func(r *grant.Refresh) { r.Scope = "read:audit_logs" }},
		"resource":        {grant.InvalidTarget, func(r *grant.Refresh) { r.Resource = "https://eu.lectern.example" }},
	} {
		r := grant.Refresh{Token: tokens.RefreshToken, ClientID: w.client.ID}
		c.edit(&r)
		_, err := w.Refresh(t.Context(), r)
		requireRefused(t, err, c.code, name)
	}
	require.True(t, w.opens(tokens.AccessToken))
	narrow, err := w.Refresh(t.Context(), grant.Refresh{Token: tokens.RefreshToken, ClientID: w.client.ID, Scope: "read:events"})
	require.NoError(t, err)
	require.Equal(t, "read:events", narrow.Scope)
	caller, err := w.auth.Authenticate(t.Context(), auth.FormAccess, narrow.AccessToken, 0)
	require.NoError(t, err)
	require.Error(t, caller.May(auth.Scopes{auth.ReadSessions}))
	whole, err := w.refresh(narrow.RefreshToken)
	require.NoError(t, err)
	require.Equal(t, "read:events read:sessions write:sessions", whole.Scope, "the member has approved all of them")
	w.now = w.now.Add(7*24*time.Hour - time.Second)
	last, err := w.refresh(whole.RefreshToken)
	require.NoError(t, err)
	w.now = w.now.Add(7 * 24 * time.Hour)
	_, err = w.refresh(last.RefreshToken)
	requireRefused(t, err, grant.InvalidGrant, "after seven days")
}

// TestAccessThatIsTaken between consent and code, code and token, token and request, token and refresh.
func TestAccessThatIsTaken(t *testing.T) {
	for name, c := range map[string]struct {
		take func(*world)
		// refused reports whether a request is a 401; otherwise it is a 403.
		refused bool
	}{
		"AI access":             {func(w *world) { w.editMember(func(m *tenancy.Member) { m.AIAccess = false }) }, false},
		"AI features":           {func(w *world) { w.editOrganization(func(o *tenancy.Organization) { o.AIEnabled = false }) }, false},
		"inactive":              {func(w *world) { w.editMember(func(m *tenancy.Member) { m.Active = false }) }, true},
		"left":                  {func(w *world) { w.editMember(func(m *tenancy.Member) { at := m.CreatedAt; m.RemovedAt = &at }) }, true},
		"organization disabled": {func(w *world) { w.editOrganization(func(o *tenancy.Organization) { o.Disabled = true }) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			asked, err := w.Check(t.Context(), w.request())
			require.NoError(t, err)
			code, tokens := w.code(w.request()), w.connect()
			require.True(t, w.opens(tokens.AccessToken))
			c.take(w)
			_, err = w.Approve(t.Context(), asked, w.org.ID, w.member.ID)
			requireRefused(t, err, grant.AccessDenied)
			_, err = w.Tokens(t.Context(), w.exchange(code))
			requireRefused(t, err, grant.InvalidGrant)
			_, err = w.refresh(tokens.RefreshToken)
			requireRefused(t, err, grant.InvalidGrant)
			caller, err := w.auth.Authenticate(t.Context(), auth.FormAccess, tokens.AccessToken, 0)
			if c.refused {
				var refusal *auth.Refusal
				require.ErrorAs(t, err, &refusal)
				return
			}
			require.NoError(t, err)
			var refused *apierr.Error
			require.ErrorAs(t, caller.May(auth.Scopes{auth.ReadEvents}), &refused)
			require.Equal(t, []any{403, "ai_access"}, []any{refused.Status, refused.Reason})
		})
	}
}

// TestRevocations end the connection of a token that the application has, and nothing else.
func TestRevocations(t *testing.T) {
	w := newWorld(t)
	kept, other := w.connect(), w.register(callback)
	text, err := auth.Parse(auth.FormRefresh, kept.RefreshToken)
	require.NoError(t, err)
	text.Secret[0] ^= 1
	unknown := text
	unknown.ID += 1000
	abroad, err := auth.Parse(auth.FormAccess, kept.AccessToken)
	require.NoError(t, err)
	abroad.Region = "eu"
	for _, token := range []string{"", "x", kept.AccessToken + "x", text.String(), unknown.String(), abroad.String()} {
		require.NoError(t, w.Revoke(t.Context(), token, ""), token)
	}
	require.NoError(t, w.Revoke(t.Context(), kept.RefreshToken, other.ID))
	require.True(t, w.opens(kept.AccessToken))
	for _, of := range []func(*grant.Tokens) string{
		func(tokens *grant.Tokens) string { return tokens.AccessToken }, func(tokens *grant.Tokens) string { return tokens.RefreshToken },
	} {
		ended := w.connect()
		require.NoError(t, w.Revoke(t.Context(), of(ended), w.client.ID))
		require.False(t, w.opens(ended.AccessToken))
		require.NoError(t, w.Revoke(t.Context(), of(ended), w.client.ID), "again")
	}
	require.True(t, w.opens(kept.AccessToken))
}

// TestABearerCostsWhatATokenDoes in read units: the first time, and then.
func TestABearerCostsWhatATokenDoes(t *testing.T) {
	w := newWorld(t)
	text := auth.Text{Region: "us", Org: w.org.ID, User: w.member.ID, Secret: auth.NewSecret()}
	token := &tenancy.Token{
		OrgID: w.org.ID, UserID: w.member.ID, Name: "CI", Kind: tenancy.KindAPI, Scopes: []auth.Scope{auth.ReadEvents}, SecretHash: text.Hash(),
	}
	require.NoError(t, w.Tenancy.CreateToken(t.Context(), token))
	text.ID = token.ID
	bearer := w.connect().AccessToken
	for _, want := range []float64{9 - 1, 1, 1} {
		for _, c := range []struct {
			form auth.Form
			text string
		}{{auth.FormToken, text.String()}, {auth.FormAccess, bearer}} {
			ctx, meter := metering.Measured(t.Context())
			_, err := w.auth.Authenticate(ctx, c.form, c.text, 0)
			require.NoError(t, err)
			_, _, units, _ := meter.Totals()
			require.InDelta(t, want, units, 0, c.text)
		}
	}
	// An application that uses an old access token beside the new one costs no more.
	tokens := w.connect()
	newer, err := w.refresh(tokens.RefreshToken)
	require.NoError(t, err)
	require.True(t, w.opens(tokens.AccessToken))
	require.True(t, w.opens(newer.AccessToken))
	for _, access := range []string{tokens.AccessToken, newer.AccessToken, tokens.AccessToken} {
		ctx, meter := metering.Measured(t.Context())
		_, err := w.auth.Authenticate(ctx, auth.FormAccess, access, 0)
		require.NoError(t, err)
		_, _, units, _ := meter.Totals()
		require.InDelta(t, 1, units, 0)
	}
	// A text of one form is none of the other.
	for _, c := range []struct {
		form auth.Form
		text string
	}{{auth.FormAccess, text.String()}, {auth.FormToken, bearer}} {
		_, err := w.auth.Authenticate(t.Context(), c.form, c.text, 0)
		require.Error(t, err)
	}
	parsed, err := auth.Parse(auth.FormAccess, bearer)
	require.NoError(t, err)
	parsed.Form = auth.FormToken
	_, err = w.auth.Authenticate(t.Context(), auth.FormToken, parsed.String(), 0)
	var refusal *auth.Refusal
	require.ErrorAs(t, err, &refusal)
	require.Equal(t, auth.ReasonUnknown, refusal.Reason)
}
