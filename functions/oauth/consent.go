package oauth

import (
	"context"
	"errors"
	"html/template"
	"net/http"
	"net/url"

	"lectern/shared/api"
	"lectern/shared/grant"
	"lectern/shared/signin"
	"lectern/shared/webpage"
)

// question is the page that asks a member about an application.
type question struct {
	// Host is where the application sends the browser back to.
	Host          string
	Parameters    []parameter
	Organizations []organization
	Permissions   webpage.Permissions
	// SelfRegistered reports whether nobody has looked at the application.
	SelfRegistered bool
}

// parameter is a parameter of the request, which the form repeats.
type parameter struct{ Name, Value string }

func (s *service) showConsent(ctx context.Context, in *struct{ Asked }) (*webpage.Page, error) {
	a, refused, err := s.checked(ctx, in.Asked)
	if err != nil {
		return nil, err
	}
	session, err := s.visited(ctx)
	if err != nil {
		return nil, err
	}
	if session == nil {
		return toSignIn(ctx, pathConsent+"?"+in.query()), nil
	}
	if refused != nil {
		return s.tell(ctx, session, in.Asked, refused), nil
	}
	organizations := organizationsOf(session)
	if len(organizations) == 0 {
		return s.unable(ctx, session, in.Asked), nil
	}
	in.Scope = grant.JoinScopes(a.Scopes) // What the member approves is what the page shows.
	q := question{
		Host: hostOf([]string{a.RedirectURI}), Parameters: in.parameters(), Organizations: organizations,
		Permissions: webpage.PermissionsOf(a.Scopes), SelfRegistered: a.Client.SelfRegistered,
	}
	return &webpage.Page{
		Status: http.StatusOK, Name: "consent", Title: "Connect " + a.Client.Name + "?", Base: api.BasePath(ctx), Person: personOf(session),
		Data: q, FormTo: a.RedirectURI,
	}, nil
}

// tell tells the application of a request that breaks a rule. Nobody is sent to the address of an application that has registered itself
// without a click, and to no other without a sign-in: the host would be an open door (RFC 9700 section 4.11).
func (s *service) tell(ctx context.Context, session *signin.Session, asked Asked, refused *grant.Error) *webpage.Page {
	address := s.grants(ctx).Refused(asked.request(), refused)
	if !refused.Stranger {
		return goTo(address)
	}
	return &webpage.Page{
		Status: http.StatusBadRequest, Name: "message", Title: "The application asks wrongly", Base: api.BasePath(ctx), Person: personOf(session),
		Data: message{refused.Description, template.URL(address), "Back to the application"}, //nolint:gosec // It is one of the application's.
	}
}

// checked returns what a request asks for, or a refusal that the application may be told. Any other error is for the person alone.
func (s *service) checked(ctx context.Context, asked Asked) (*grant.Authorization, *grant.Error, error) {
	a, err := s.grants(ctx).Check(ctx, asked.request())
	if refused := (*grant.Error)(nil); errors.As(err, &refused) && refused.Redirects {
		return nil, refused, nil
	}
	return a, nil, err
}

// unable is the page for a member who may connect no application.
func (s *service) unable(ctx context.Context, session *signin.Session, asked Asked) *webpage.Page {
	refused := &grant.Error{Code: grant.AccessDenied, Description: "The member may not connect applications."}
	return &webpage.Page{
		Status: http.StatusForbidden, Name: "message", Title: "You may not connect applications", Base: api.BasePath(ctx),
		Person: personOf(session),
		Data: message{
			"Your organization has not given you AI Access. Ask an administrator for it.",
			template.URL(s.grants(ctx).Refused(asked.request(), refused)), //nolint:gosec // It is one of the application's.
			"Back to the application",
		},
	}
}

// parameters returns the parameters of the request that were sent.
func (a Asked) parameters() (all []parameter) {
	query, _ := url.ParseQuery(a.query()) // query has encoded it.
	for name := range query {
		all = append(all, parameter{name, query.Get(name)})
	}
	return all
}

// answer is the answer of a member, as the form sends it.
type answer struct {
	Asked
	FormToken string `json:"form_token,omitempty"`
	OrgID     int64  `json:"org_id,omitempty"`
	Decision  string `json:"decision" enum:"approve,refuse"`
}

func (s *service) answerConsent(ctx context.Context, in *struct{ Body answer }) (*webpage.Page, error) {
	b := in.Body
	session, err := s.form(ctx, b.FormToken)
	if err != nil {
		return nil, err
	}
	if session == nil {
		return toSignIn(ctx, pathConsent+"?"+b.query()), nil
	}
	address, err := s.decide(ctx, session, decision{Asked: b.Asked, OrgID: b.OrgID, Approved: b.Decision == "approve"})
	if refused := (*grant.Error)(nil); errors.As(err, &refused) && refused.Redirects {
		return goTo(s.grants(ctx).Refused(b.request(), refused)), nil
	}
	if err != nil {
		return nil, err
	}
	return goTo(address), nil
}
