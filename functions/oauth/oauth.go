// Package oauth is the OAuth tag group (spec.md section 5.2): applications ask a member for a connection, get tokens for it, and find out
// where to ask. It also has the pages of a browser: the sign-in, the question to the member, and the connected applications. Package grant
// has the rules of connections, package signin those of the sign-in.
//
// Read oauth.go, authorize.go, token.go, register.go, metadata.go; then the pages: browser.go, consent.go, signin.go, connections.go.
package oauth

import (
	"context"
	"net/http"

	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/grant"
	"lectern/shared/outside"
	"lectern/shared/ratelimit"
	"lectern/shared/signin"
	"lectern/shared/tenancy"
	"lectern/shared/webpage"
)

// Paths of the group.
const (
	pathAuthorize   = api.PathAuthorize
	pathToken       = "/oauth/token" //nolint:gosec // a path, and no token
	pathRevoke      = "/oauth/revoke"
	pathRegister    = "/oauth/register"
	pathConsent     = "/oauth/consent"
	pathSignIn      = "/oauth/signin"
	pathConnections = "/oauth/connections"
	wellKnown       = "/.well-known/oauth-authorization-server"
)

// Group declares every route of the tag group.
var Group = api.NewGroup("OAuth", start, []api.Route[service]{
	api.Get("checkAuthorization", pathAuthorize, (*service).authorize, auth.Public, failures, api.Describe(aboutAuthorize)),
	api.Post("consentToAuthorization", pathAuthorize+"/consent", (*service).consent, auth.SignedIn, failures,
		api.Refuses(http.StatusTooManyRequests), api.Describe(aboutConsent)),
	api.Get("listEligibleOrganizations", "/oauth/eligible-orgs", (*service).organizations, auth.SignedIn, failures,
		api.Describe(aboutOrganizations)),
	api.Post("createTokens", pathToken, (*service).token, auth.Public, failures, api.AlsoEncoded, api.Describe(aboutToken)),
	api.Post("revokeToken", pathRevoke, (*service).revoke, auth.Public, failures, api.AlsoEncoded, api.Describe(aboutRevoke)),
	api.Post("registerApplication", pathRegister, (*service).register, auth.Public, failures, api.Status(http.StatusCreated),
		api.Refuses(http.StatusForbidden), api.Refuses(http.StatusTooManyRequests), api.Describe(aboutRegister)),
	api.Get("getAuthorizationServer", wellKnown, (*service).server, auth.Public, api.Describe(aboutServer)),
	api.Get("getAuthorizationServerBelowOAuth", "/oauth"+wellKnown, (*service).server, auth.Public, api.Describe(aboutServer)),
	api.Get("getProtectedResource", api.ResourceMetadata, (*service).resource, auth.Public, api.Describe(aboutResource)),
	api.Get("getProtectedResourceOfAssistants", api.ResourceMetadata+api.PathMCP, (*service).assistants, auth.Public,
		api.Describe(aboutAssistant)),

	api.Get("showConsent", pathConsent, (*service).showConsent, auth.Public, onPages, api.Hidden),
	api.Post("answerConsent", pathConsent, (*service).answerConsent, auth.Public, onPages, api.OnlyEncoded, small, api.Hidden),
	api.Get("showSignIn", pathSignIn, (*service).showSignIn, auth.Public, onPages, api.Hidden),
	api.Post("beginSignIn", pathSignIn, (*service).beginSignIn, auth.Public, onPages, api.OnlyEncoded, small, api.Hidden),
	api.Get("finishSignIn", pathSignIn+"/callback/{place}", (*service).finishSignIn, auth.Public, onPages, api.Hidden),
	api.Post("signOut", "/oauth/signout", (*service).signOut, auth.Public, onPages, api.OnlyEncoded, small, api.Hidden),
	api.Get("showConnections", pathConnections, (*service).showConnections, auth.Public, onPages, api.Hidden),
	api.Post("disconnect", pathConnections+"/disconnect", (*service).disconnect, auth.Public, onPages, api.OnlyEncoded, small, api.Hidden),
	api.Get("getStyle", webpage.PathStyle, (*service).style, auth.Public, api.Hidden, api.ClientCache),
})

var (
	failures = api.FailsAs(failureOf)
	onPages  = api.FailsAs(pageOf)
	small    = api.MaxBody(maxForm)
)

// maxForm is the largest form of a page, in bytes.
const maxForm = 32 << 10

// failure is the shape of the errors of the group (RFC 6749 section 5.2).
type failure struct {
	Code        string `json:"error" doc:"What was refused, for a program, such as invalid_grant."`
	Description string `json:"error_description" doc:"One sentence for a person."`
}

// failureOf returns an error in the shape of the group. An error that has no code of OAuth gets one by the status.
func failureOf(_ context.Context, e *apierr.Error) failure {
	if e.Code == e.Name {
		return failure{e.Code, e.Message}
	}
	codes := map[int]string{
		http.StatusForbidden: grant.AccessDenied, http.StatusTooManyRequests: temporarily, http.StatusServiceUnavailable: temporarily,
		http.StatusInternalServerError: "server_error",
	}
	if code, ok := codes[e.Status]; ok {
		return failure{code, e.Message}
	}
	return failure{grant.InvalidRequest, e.Message}
}

// temporarily is the code of a refusal that ends by itself (RFC 6749 section 4.1.2.1).
const temporarily = "temporarily_unavailable"

type service struct {
	api.Env
	tenancy tenancy.Store
	limiter *ratelimit.Limiter
	client  *http.Client
	known   *signin.Known
}

func start(env api.Env) *service {
	return &service{
		Env: env, tenancy: tenancy.Store{Table: env.Table, Now: env.Now, Region: env.Region},
		limiter: api.Shared(env, newLimiter), known: signin.NewKnown(),
		client: signin.NewClient(outside.NewNetwork(), env.LocalReceivers),
	}
}

// newLimiter returns the limiter of a process without one: that of the pipeline is shared.
func newLimiter(env api.Env) *ratelimit.Limiter { return ratelimit.New(env.Table, env.Now, env.Log) }

// grants returns the store of connections, at the address of the request.
func (s *service) grants(ctx context.Context) grant.Store {
	return grant.Store{Tenancy: s.tenancy, Address: api.Address(ctx), NewID: s.NewID}
}

// signIns returns the store of sign-ins, at the address of the request.
func (s *service) signIns(ctx context.Context) signin.Store {
	return signin.Store{Tenancy: s.tenancy, Keys: s.Keys, Address: api.Address(ctx), Client: s.client, Known: s.known}
}
