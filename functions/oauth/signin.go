package oauth

import (
	"cmp"
	"context"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"slices"

	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/ratelimit"
	"lectern/shared/signin"
	"lectern/shared/tenancy"
	"lectern/shared/webpage"
)

// entrance is the page of the sign-in. Providers are there to choose from.
type entrance struct {
	ReturnTo, Email, Problem string
	Providers                []choice
}

// choice is an identity provider to choose.
type choice struct{ Place, Name string }

// SignIn has the parameter of the page of the sign-in.
type SignIn struct {
	ReturnTo string `query:"return_to"`
}

func (s *service) showSignIn(ctx context.Context, in *struct{ SignIn }) (*webpage.Page, error) {
	session, err := s.visited(ctx)
	if err != nil {
		return nil, err
	}
	to := cmp.Or(in.ReturnTo, pathConnections)
	if session != nil && signin.IsLocal(to) {
		return goTo(api.BasePath(ctx) + to), nil
	}
	return s.entrance(ctx, http.StatusOK, "signin", entrance{ReturnTo: to}), nil
}

func (s *service) entrance(ctx context.Context, status int, name string, e entrance) *webpage.Page {
	return &webpage.Page{Status: status, Name: name, Title: "Sign in", Base: api.BasePath(ctx), Data: e}
}

// maxSignIns is how many sign-ins an IP address may begin in a window of the rate limiter: a conference has one address for many people.
const maxSignIns = 500

// beginning is the form of the sign-in.
type beginning struct {
	ReturnTo string `json:"return_to,omitempty" maxLength:"8192"`
	Email    string `json:"email,omitempty" maxLength:"254"`
	// Provider is signin.Place of the chosen provider; empty before a choice.
	Provider string `json:"provider,omitempty" maxLength:"50"`
}

func (s *service) beginSignIn(ctx context.Context, in *struct{ Body beginning }) (*webpage.Page, error) {
	if !isOwn(ctx) {
		return nil, apierr.Forbidden("", "The form comes from another site.")
	}
	b := in.Body
	if b.ReturnTo = cmp.Or(b.ReturnTo, pathConnections); !signin.IsLocal(b.ReturnTo) {
		return nil, apierr.Invalid("return_to", "return_to must be a path of the region.")
	}
	if err := s.limitClient(ctx, ratelimit.SignIns, maxSignIns); err != nil {
		return nil, err
	}
	all, err := s.signIns(ctx).Providers(ctx, b.Email)
	if err != nil {
		return nil, err
	}
	e := entrance{ReturnTo: b.ReturnTo, Email: b.Email}
	if len(all) == 0 {
		e.Problem = "No organization here signs in people with this address. Check it, or ask your administrator."
		return s.entrance(ctx, http.StatusUnprocessableEntity, "signin", e), nil
	}
	chosen := all[0]
	if len(all) > 1 {
		i := slices.IndexFunc(all, func(p *tenancy.Provider) bool { return signin.Place(p) == b.Provider })
		if i < 0 {
			for _, p := range all {
				e.Providers = append(e.Providers, choice{signin.Place(p), p.Name})
			}
			return s.entrance(ctx, http.StatusOK, "providers", e), nil
		}
		chosen = all[i]
	}
	return s.sendTo(ctx, chosen, b)
}

// sendTo sends the browser to an identity provider: by a page, since a policy for forms would have to name the provider before it is known.
func (s *service) sendTo(ctx context.Context, p *tenancy.Provider, b beginning) (*webpage.Page, error) {
	begun, err := s.signIns(ctx).Begin(ctx, p, b.Email, b.ReturnTo)
	if refused := (*signin.Refusal)(nil); errors.As(err, &refused) {
		return s.refused(ctx, refused), nil
	}
	if err != nil {
		return nil, err
	}
	return &webpage.Page{
		Status: http.StatusOK, Name: "message", Title: "Sign in at " + p.Name, Base: api.BasePath(ctx), To: begun.Address,
		//nolint:gosec // The operator has named the provider.
		Data:    message{"You go on to your identity provider.", template.URL(begun.Address), "Go on"},
		Cookies: []*http.Cookie{s.newCookie(ctx, forAttempt, begun.Cookie, attemptSeconds)},
	}, nil
}

// Back has what an identity provider sends back with the browser.
type Back struct {
	Place string `path:"place"`
	State string `query:"state"`
	Code  string `query:"code"`
	Error string `query:"error"`
	Iss   string `query:"iss"`
}

func (s *service) finishSignIn(ctx context.Context, in *struct{ Back }) (*webpage.Page, error) {
	started, err := s.signIns(ctx).Finish(ctx, signin.Back{
		Cookie: s.cookie(ctx, forAttempt), Session: s.cookie(ctx, forSession), Place: in.Place,
		Sent: url.Values{"state": {in.State}, "code": {in.Code}, "error": {in.Error}, "iss": {in.Iss}},
	})
	over := s.newCookie(ctx, forAttempt, "", -1)
	if refused := (*signin.Refusal)(nil); errors.As(err, &refused) {
		p := s.refused(ctx, refused)
		p.Cookies = append(p.Cookies, over)
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	return goTo(api.BasePath(ctx)+started.ReturnTo, s.newCookie(ctx, forSession, started.Cookie, 0), over), nil
}

// reasons say why nobody was signed in, and what the person can do.
var reasons = map[signin.Reason]string{
	signin.UnknownAttempt:  "The sign-in took too long, or began in another browser. Please begin again.",
	signin.ProviderRefused: "Your identity provider has not signed you in.",
	signin.ProviderFailed:  "Your identity provider does not answer as it should. Please try again, or ask your administrator.",
	signin.Unverified:      "Your identity provider has not verified your e-mail address. Ask your administrator.",
	signin.ForeignDomain:   "Your organization does not trust this identity provider for your e-mail address. Ask your administrator.",
	signin.NoMember:        "Nobody with your e-mail address is an active member of the organization. Ask your administrator.",
}

// refused returns the page of a sign-in that failed, and logs the reason.
func (s *service) refused(ctx context.Context, r *signin.Refusal) *webpage.Page {
	metric, status := "signin_refused", http.StatusForbidden
	switch r.Reason {
	case signin.UnknownAttempt: // Anybody can cause it.
		metric, status = "signin_unknown", http.StatusBadRequest
	case signin.ProviderFailed:
		status = http.StatusBadGateway
	}
	s.Log.WarnContext(ctx, "sign-in refused", "metric", metric, "reason", string(r.Reason), "org", r.Org, "error", r)
	return &webpage.Page{
		Status: status, Name: "message", Title: "You are not signed in", Base: api.BasePath(ctx),
		Data: message{reasons[r.Reason], ownPath(ctx, pathSignIn), "Begin again"},
	}
}

// formOnly is a form with nothing but the text of the session.
type formOnly struct {
	FormToken string `json:"form_token,omitempty"`
}

func (s *service) signOut(ctx context.Context, in *struct{ Body formOnly }) (*webpage.Page, error) {
	if _, err := s.form(ctx, in.Body.FormToken); err != nil {
		return nil, err
	}
	if err := s.signIns(ctx).End(ctx, s.cookie(ctx, forSession)); err != nil {
		return nil, err
	}
	return &webpage.Page{
		Status: http.StatusOK, Name: "message", Title: "You are signed out", Base: api.BasePath(ctx),
		Data:    message{"Connected applications keep their access.", ownPath(ctx, pathSignIn), "Sign in again"},
		Cookies: []*http.Cookie{s.newCookie(ctx, forSession, "", -1)},
	}, nil
}
