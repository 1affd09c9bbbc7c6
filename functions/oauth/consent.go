package oauth

import (
	"cmp"
	"context"
	"errors"
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
	if refused != nil { // Nobody is sent to the address of a stranger's application without a sign-in (RFC 9700 section 4.11).
		return goTo(s.grants(ctx).Refused(in.request(), refused)), nil
	}
	organizations := organizationsOf(session)
	if len(organizations) == 0 {
		return s.unable(ctx, session, in.Asked), nil
	}
	q := question{
		Host: hostOf([]string{a.RedirectURI}), Parameters: in.parameters(), Organizations: organizations,
		Permissions: webpage.PermissionsOf(a.Scopes),
	}
	return &webpage.Page{
		Status: http.StatusOK, Name: "consent", Title: "Connect " + a.Client.Name + "?", Base: api.BasePath(ctx), Person: personOf(session),
		Data: q, FormTo: a.RedirectURI,
	}, nil
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
			s.grants(ctx).Refused(asked.request(), refused), "Back to the application",
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
	d := decision{Asked: b.Asked, OrgID: b.OrgID, Approved: b.Decision == "approve"}
	d.ResponseType = cmp.Or(d.ResponseType, "code")
	address, err := s.decide(ctx, session, d)
	if refused := (*grant.Error)(nil); errors.As(err, &refused) && refused.Redirects {
		return goTo(s.grants(ctx).Refused(b.request(), refused)), nil
	}
	if err != nil {
		return nil, err
	}
	return goTo(address), nil
}
