// Package granttest connects applications to the organizations of a region, for the tests of callers with access tokens.
package granttest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"lectern/localstack/test/stacktest"
	"lectern/shared/auth"
	"lectern/shared/grant"
	"lectern/shared/tenancy"
)

// Connector connects applications to an organization. It uses the region's table, so tests with a Connector leave themselves out of a
// deployed service.
type Connector struct {
	grant.Store
	*stacktest.Stack
	t testing.TB
}

// New returns the Connector of the caller's organization.
func New(t testing.TB, s *stacktest.Stack) Connector {
	t.Helper()
	store := tenancy.Store{Table: s.Table(t), Now: time.Now, Region: "us"}
	return Connector{grant.Store{Tenancy: store, Address: "https://us.lectern.example", NewID: uuid.NewString}, s, t}
}

// Member creates a member with AI Access, and with properties for the operator command. It returns the id.
func (c Connector) Member(properties map[string]any) int64 {
	c.t.Helper()
	input := map[string]any{"org_id": c.Org, "name": "Ada", "email": uuid.NewString() + "@example.org", "ai_access": true}
	for name, value := range properties {
		input[name] = value
	}
	return int64(c.Operator(c.t, "member-create", input)["id"].(float64))
}

// Connect returns the tokens and the id of a new connection of a member, with a high rate limit. It lets the members of the organization
// connect applications.
func (c Connector) Connect(user int64, scopes ...auth.Scope) (tokens *grant.Tokens, id int64) {
	c.t.Helper()
	c.Operator(c.t, "organization-update", map[string]any{"org_id": c.Org, "ai_enabled": true})
	_, tokens = Connected(c.t, c.Store, &tenancy.Member{OrgID: c.Org, ID: user}, scopes...)
	text, err := auth.Parse(auth.FormAccess, tokens.AccessToken)
	require.NoError(c.t, err)
	c.Operator(c.t, "token-update", map[string]any{"org_id": c.Org, "token_id": text.ID, "limit": 1_000_000})
	return tokens, text.ID
}

// Connected registers an application, lets a member connect it, and returns the application with the first tokens.
func Connected(t testing.TB, st grant.Store, member *tenancy.Member, scopes ...auth.Scope) (*grant.Client, *grant.Tokens) {
	t.Helper()
	app := &grant.Client{Name: "Agenda", RedirectURIs: []string{"https://app.example/done"}, Scopes: scopes}
	require.NoError(t, st.Register(t.Context(), app))
	verifier := strings.Repeat("v", 43)
	a, err := st.Check(t.Context(), grant.Request{
		ClientID: app.ID, RedirectURI: app.RedirectURIs[0], ResponseType: "code", CodeChallengeMethod: "S256",
		CodeChallenge: oauth2.S256ChallengeFromVerifier(verifier),
	})
	require.NoError(t, err)
	code, err := st.Approve(t.Context(), a, member.OrgID, member.ID)
	require.NoError(t, err)
	tokens, err := st.Tokens(t.Context(), grant.Exchange{Code: code, RedirectURI: a.RedirectURI, ClientID: app.ID, Verifier: verifier})
	require.NoError(t, err)
	return app, tokens
}

// Renew returns the next tokens of a connection.
func (c Connector) Renew(tokens *grant.Tokens) *grant.Tokens {
	c.t.Helper()
	text, err := auth.Parse(auth.FormRefresh, tokens.RefreshToken)
	require.NoError(c.t, err)
	t, err := tenancy.Tokens.Get(c.t.Context(), c.Tenancy, tenancy.TokenPK(text.Org, text.ID))
	require.NoError(c.t, err)
	next, err := c.Refresh(c.t.Context(), grant.Refresh{Token: tokens.RefreshToken, ClientID: t.Grant.ClientID})
	require.NoError(c.t, err)
	return next
}
