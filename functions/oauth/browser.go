package oauth

import (
	"context"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/grant"
	"lectern/shared/signin"
	"lectern/shared/webpage"
)

// Cookies of a browser: the session, and the attempt to sign in.
const (
	forSession = ""
	forAttempt = "-attempt"
)

// attemptSeconds is how long a browser keeps the cookie of an attempt, as package signin keeps the attempt.
const attemptSeconds = 600

// cookieName returns the name of a cookie. The regions on one machine have one host, so the name has the region. A browser takes a
// name with __Host- from this host alone, and over HTTPS alone.
func (s *service) cookieName(ctx context.Context, use string) string {
	name := "lectern-" + s.Region + use
	if isSecure(ctx) {
		return "__Host-" + name
	}
	return name
}

// isSecure reports whether the region has HTTPS: it has everywhere but on one machine.
func isSecure(ctx context.Context) bool { return strings.HasPrefix(api.Address(ctx), "https://") }

// cookie returns the value of a cookie of the request; empty without.
func (s *service) cookie(ctx context.Context, use string) string {
	r := http.Request{Header: api.Header(ctx)}
	c, err := r.Cookie(s.cookieName(ctx, use))
	if err != nil {
		return ""
	}
	return c.Value
}

// newCookie returns a cookie to set, for some seconds; one until the browser ends for 0, and the removal of a cookie below 0.
func (s *service) newCookie(ctx context.Context, use, value string, seconds int) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // One machine has no HTTPS.
		Name: s.cookieName(ctx, use), Value: value, Path: "/", MaxAge: seconds,
		Secure: isSecure(ctx), HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
}

// isOwn reports whether a request that changes something comes from a page of the region, as far as the browser says where it comes from.
func isOwn(ctx context.Context) bool {
	h := api.Header(ctx)
	if site := h.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin"
	}
	origin := h.Get("Origin")
	at, err := url.Parse(api.Address(ctx))
	return origin == "" || err == nil && origin == at.Scheme+"://"+at.Host
}

// session returns the session of the browser. The error is a 401 for a browser without, and a 403 for a request of another site.
func (s *service) session(ctx context.Context) (*signin.Session, error) {
	if !isOwn(ctx) {
		return nil, apierr.OAuth(http.StatusForbidden, grant.AccessDenied, "The request comes from another site.")
	}
	session, err := s.signIns(ctx).Session(ctx, s.cookie(ctx, forSession))
	if err == nil && session == nil {
		err = apierr.OAuth(http.StatusUnauthorized, "login_required", "Sign in first, at "+pathSignIn+".")
	}
	return session, err
}

// form returns the session of a form that a page of the region has sent: the form repeats a text that no other site knows. Without a
// session, both are nil.
func (s *service) form(ctx context.Context, formToken string) (*signin.Session, error) {
	if !isOwn(ctx) {
		return nil, apierr.Forbidden("", "The form comes from another site.")
	}
	session, err := s.signIns(ctx).Session(ctx, s.cookie(ctx, forSession))
	if err == nil && session != nil && !session.IsForm(formToken) {
		return nil, apierr.Forbidden("", "The form is of another sign-in. Go back, load the page again, and send the form again.")
	}
	return session, err
}

// visited returns the session of a page that only shows something; nil for none.
func (s *service) visited(ctx context.Context) (*signin.Session, error) {
	return s.signIns(ctx).Session(ctx, s.cookie(ctx, forSession))
}

// personOf returns what pages show of a session.
func personOf(session *signin.Session) *webpage.Person {
	if session == nil {
		return nil
	}
	return &webpage.Person{Name: session.Name, Email: session.Email, FormToken: session.FormToken}
}

// goTo sends a browser to an address. The browser asks with GET.
func goTo(address string, cookies ...*http.Cookie) *webpage.Page {
	return &webpage.Page{Status: http.StatusSeeOther, To: address, Cookies: cookies}
}

// toSignIn sends a browser to the sign-in, and back to a path of the region.
func toSignIn(ctx context.Context, path string) *webpage.Page {
	return goTo(api.BasePath(ctx) + pathSignIn + "?" + url.Values{"return_to": {path}}.Encode())
}

// message is a page with a text, and perhaps a link. Link may have the scheme of an installed application.
type message struct {
	Text     string
	Link     template.URL
	LinkText string
}

// ownPath returns a link to a path of the region.
func ownPath(ctx context.Context, path string) template.URL {
	return template.URL(api.BasePath(ctx) + path) //nolint:gosec // The stage and the path are our own.
}

// pageOf returns the page of an error.
func pageOf(ctx context.Context, e *apierr.Error) *webpage.Page {
	title := "This does not work"
	switch e.Status {
	case http.StatusNotFound:
		title = "Not found"
	case http.StatusInternalServerError, http.StatusServiceUnavailable:
		title = "Please try again later"
	}
	return &webpage.Page{Status: e.Status, Name: "message", Title: title, Base: api.BasePath(ctx), Data: message{Text: e.Message}}
}

func (*service) style(context.Context, *struct{}) (*api.File, error) {
	return &api.File{Type: "text/css; charset=utf-8", Body: webpage.Style()}, nil
}
