package oauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/grant"
	"lectern/shared/ratelimit"
	"lectern/shared/signin"
	"lectern/shared/tenancy"
)

const (
	aboutAuthorize = "Checks the request of an application for a connection, and shows the name of the application and the scopes. " +
		"A browser (`Accept: text/html`) is sent on to the page on which the member signs in and decides. There the answer of a request that " +
		"breaks a rule goes to `redirect_uri` with `error`, `error_description`, `iss` and `state`, once the address is known to be that of " +
		"the application and the member has signed in; for an application that has registered itself, the member chooses to go there."
	aboutConsent = "Answers the request of an application for the member of the browser's session. The answer is the address for the " +
		"browser: with a `code` for a minute and one exchange, or with `error=access_denied` if `approved` is false. " +
		"The page of the service does the same; this operation is for a page of your own on the same host. For example:\n\n```json\n" +
		`{"client_id": "5c6d...", "redirect_uri": "https://app.example/done", "code_challenge": "E9Me...", "code_challenge_method": "S256", ` +
		`"org_id": 7, "approved": true}` + "\n```"
	aboutOrganizations = "Lists the organizations of the browser's session in which the member has AI Access and that have the AI features: " +
		"those that the member can choose in `org_id` of a consent."
)

// Asked has the parameters of an authorization request.
type Asked struct {
	ClientID            string `query:"client_id" json:"client_id,omitempty" doc:"The id of the application. Required."`
	RedirectURI         string `query:"redirect_uri" json:"redirect_uri,omitempty" doc:"The address for the answer, one of the application's. Required."`
	ResponseType        string `query:"response_type" json:"response_type,omitempty" doc:"code. Required in a query."`
	Scope               string `query:"scope" json:"scope,omitempty" doc:"Scopes with spaces; all scopes of the application without."`
	CodeChallenge       string `query:"code_challenge" json:"code_challenge,omitempty" doc:"The PKCE challenge: the SHA-256 of the verifier in base64url. Required."`
	CodeChallengeMethod string `query:"code_challenge_method" json:"code_challenge_method,omitempty" doc:"S256. Required."`
	State               string `query:"state" json:"state,omitempty" doc:"A text that the application gets back."`
	Resource            string `query:"resource" json:"resource,omitempty" doc:"The address of this region, or of a part of it (RFC 8707)."`
}

func (a Asked) request() grant.Request { return grant.Request(a) }

// query returns the parameters as a query.
func (a Asked) query() string {
	query := url.Values{}
	for name, value := range map[string]string{
		"client_id": a.ClientID, "redirect_uri": a.RedirectURI, "response_type": a.ResponseType, "scope": a.Scope,
		"code_challenge": a.CodeChallenge, "code_challenge_method": a.CodeChallengeMethod, "state": a.State, "resource": a.Resource,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return query.Encode()
}

// authorization is the answer to a valid request, or the way of a browser to the page.
type authorization struct {
	Request asking `json:"authorization_request"`
	page    string
}

type asking struct {
	ClientID    string       `json:"client_id" doc:"The id of the application."`
	ClientName  string       `json:"client_name" doc:"The name of the application."`
	RedirectURI string       `json:"redirect_uri" doc:"The address for the answer."`
	Scopes      []auth.Scope `json:"scopes" nullable:"false" doc:"The scopes that the application asks for."`
}

// Write sends a browser to the page.
func (a *authorization) Write(h http.Header) (status int, body []byte) {
	if a.page == "" {
		return 0, nil
	}
	h.Set("Location", a.page)
	return http.StatusFound, nil
}

func (s *service) authorize(ctx context.Context, in *struct{ Asked }) (*authorization, error) {
	if strings.Contains(api.Header(ctx).Get("Accept"), "text/html") {
		return &authorization{page: api.BasePath(ctx) + pathConsent + "?" + in.query()}, nil
	}
	a, err := s.grants(ctx).Check(ctx, in.request())
	if err != nil {
		return nil, err
	}
	return &authorization{Request: asking{a.Client.ID, a.Client.Name, a.RedirectURI, a.Scopes}}, nil
}

// decision is the answer of a member to an application.
type decision struct {
	_ struct{} `json:"-" additionalProperties:"true"`
	Asked
	OrgID    int64 `json:"org_id" minimum:"1" doc:"The organization, one of the eligible ones."`
	Approved bool  `json:"approved" doc:"Whether the member connects the application."`
}

// decided is the way of the browser to the application.
type decided struct {
	RedirectURI string `json:"redirect_uri" doc:"The address for the browser, with code or error, iss and state."`
}

func (s *service) consent(ctx context.Context, in *struct{ Body decision }) (*decided, error) {
	session, err := s.session(ctx)
	if err != nil {
		return nil, err
	}
	address, err := s.decide(ctx, session, in.Body)
	if err != nil {
		return nil, err
	}
	return &decided{address}, nil
}

// decide returns the address of the application with the answer of the member. The error is a *grant.Error for a request that breaks a
// rule, and a 403 for an organization that is none of the member's.
func (s *service) decide(ctx context.Context, session *signin.Session, d decision) (string, error) {
	d.ResponseType = cmp.Or(d.ResponseType, "code")
	grants := s.grants(ctx)
	a, err := grants.Check(ctx, d.request())
	if err != nil {
		return "", err
	}
	member := memberOf(session, d.OrgID)
	if member == nil {
		return "", apierr.OAuth(http.StatusForbidden, grant.AccessDenied, "org_id is none of the member's organizations.")
	}
	if err := s.limit(ctx, fmt.Sprintf("%d/%d", member.OrgID, member.ID), ratelimit.Consents, maxConsents); err != nil {
		return "", err
	}
	if !d.Approved {
		refused := &grant.Error{Code: grant.AccessDenied, Description: "The member has refused the request."}
		noted := s.tenancy.PersonWrites(ctx, member.OrgID, member.ID, tenancy.ConnectionRefused)
		return grants.Refused(d.request(), refused), s.Table.Transact(ctx, noted...)
	}
	code, err := grants.Approve(ctx, a, member.OrgID, member.ID)
	if refused := (*grant.Error)(nil); errors.As(err, &refused) {
		return grants.Refused(d.request(), refused), nil
	}
	return grants.Granted(d.request(), code), err
}

// maxConsents is how many requests a member may answer in a window of the rate limiter: each answer is in the security log for good.
const maxConsents = 50

// memberOf returns the member of a session in an organization; nil for none. Of several members with the address, it prefers one that may
// connect applications.
func memberOf(session *signin.Session, org int64) (member *signin.Member) {
	for i, m := range session.Members {
		if m.OrgID == org && (member == nil || !member.Connects()) {
			member = &session.Members[i]
		}
	}
	return member
}

// eligible lists organizations.
type eligible struct {
	Results []organization `json:"results" nullable:"false" doc:"The organizations, by name."`
}

type organization struct {
	ID   int64  `json:"id" doc:"The organization's id."`
	Name string `json:"name" doc:"The organization's name."`
}

func (s *service) organizations(ctx context.Context, _ *struct{}) (*eligible, error) {
	session, err := s.session(ctx)
	if err != nil {
		return nil, err
	}
	return &eligible{organizationsOf(session)}, nil
}

// organizationsOf returns the organizations in which the person may connect applications, by name.
func organizationsOf(session *signin.Session) []organization {
	all := []organization{}
	for _, m := range session.Members {
		if one := (organization{m.OrgID, m.Organization.Name}); m.Connects() && !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b organization) int { return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return all
}
