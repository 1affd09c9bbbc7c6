package api

import (
	"context"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"

	"lectern/shared/api/check"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/idempotency"
	"lectern/shared/ratelimit"
)

// Handler returns the handler of the group's routes. It also answers OPTIONS, wrong methods and
// unknown paths.
func (g Group) Handler(env Env) http.Handler {
	p := &pipeline{
		Env:     env,
		auth:    Shared(env, newAuthenticator),
		limiter: Shared(env, newLimiter),
		budget:  Shared(env, newBudget),
		keys:    idempotency.Store{Table: env.Table, Now: env.Now},
	}
	a := &adapter{}
	target := newTarget(a)
	g.mount(target, &env)
	registry := target.OpenAPI().Components.Schemas
	check.Finish(registry)
	for _, e := range a.endpoints {
		e.registry = registry
	}
	p.mux = muxOf(a.endpoints, otherRoutes{sync.OnceValue(g.otherRoutes)})
	return p
}

func newAuthenticator(env Env) *auth.Authenticator { return auth.New(env.Table, env.Now, env.Region) }

func newLimiter(env Env) *ratelimit.Limiter { return ratelimit.New(env.Table, env.Now, env.Log) }

func newBudget(env Env) *ratelimit.Budget { return ratelimit.NewBudget(env.SearchUnits, env.Now) }

// otherRoutes refuses requests with paths that are not in the group. The first such request
// builds the mux.
type otherRoutes struct{ mux func() *http.ServeMux }

func (o otherRoutes) ServeHTTP(w http.ResponseWriter, r *http.Request) { o.mux().ServeHTTP(w, r) }

// otherRoutes returns a mux that refuses every request: with 405 if the path belongs to another
// group, otherwise with 404.
func (g Group) otherRoutes() *http.ServeMux {
	var known []*endpoint
	if g.OtherRoutes != nil {
		for _, o := range g.OtherRoutes() {
			known = append(known, &endpoint{Operation: &o})
		}
	}
	return muxOf(known, http.HandlerFunc(refuseUnknown))
}

// refuseUnknown answers 404.
func refuseUnknown(_ http.ResponseWriter, r *http.Request) { exchangeOf(r.Context()).refuse(nil) }

// methods has the endpoints of one path, by method. As in API Gateway, the path is matched
// before the method: GET on a path with only POST is a 405, even if the path also matches the
// template of another route with GET.
type methods map[string]*endpoint

// muxOf routes requests to the endpoints, and requests with other paths to rest.
func muxOf(endpoints []*endpoint, rest http.Handler) *http.ServeMux {
	mux := http.NewServeMux()
	paths := map[string]methods{}
	for _, e := range endpoints {
		if paths[e.Path] == nil {
			paths[e.Path] = methods{}
			mux.Handle(pattern(e.Path), paths[e.Path])
		}
		paths[e.Path][e.Method] = e
	}
	mux.Handle("/", rest)
	return mux
}

// pattern returns the ServeMux pattern that matches only the path. In a ServeMux, a path that
// ends with a slash matches all paths below it too.
func pattern(path string) string {
	if strings.HasSuffix(path, "/") {
		return path + "{$}"
	}
	return path
}

// ServeHTTP serves a request with the path.
func (m methods) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	x := exchangeOf(r.Context())
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	e := m[method]
	if e == nil || e.run == nil {
		x.refuse(m.names())
		return
	}
	x.r, x.endpoint = r, e
	x.run()
}

// names lists the methods for the Allow header.
func (m methods) names() (all []string) {
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		if m[method] != nil {
			all = append(all, method)
		}
	}
	if m[http.MethodGet] != nil {
		all = append(all, http.MethodHead)
	}
	return all
}

// ServeHTTP serves a request and logs it in one line.
func (p *pipeline) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r = withoutSlash(r)
	x := p.begin(r)
	x.w = w
	if strings.HasPrefix(r.URL.Path, "/") && path.Clean(r.URL.Path) == r.URL.Path {
		p.mux.ServeHTTP(nil, x.r)
	} else {
		// ServeMux would redirect this path. The service answers 404.
		x.refuse(nil)
	}
	x.log(x.respond(w))
}

// withoutSlash returns the request without the slash at the end of its path, which the service
// ignores as API Gateway does (gaps.md section 1). An encoded slash belongs to a segment.
func withoutSlash(r *http.Request) *http.Request {
	encoded, ok := strings.CutSuffix(r.URL.EscapedPath(), "/")
	if !ok || strings.HasSuffix(encoded, "/") || encoded == "" {
		return r
	}
	without, address := *r, *r.URL
	address.Path, address.RawPath = strings.TrimSuffix(r.URL.Path, "/"), encoded
	without.URL = &address
	return &without
}

// refuse answers OPTIONS on a path with these methods, and refuses other methods.
func (x *exchange) refuse(methods []string) {
	allow := slices.Concat(methods, []string{http.MethodOptions})
	switch {
	case x.r.Method == http.MethodOptions:
		x.allow = allow
	case len(methods) == 0:
		x.err = apierr.NotFound("Route")
	default:
		x.err = apierr.MethodNotAllowed(strings.Join(allow, ", "))
	}
}

// addressed returns a context with the address of the API of an event, see Address and BasePath.
func addressed(ctx context.Context, r events.APIGatewayProxyRequest) context.Context {
	if base := basePath(r); base != "" {
		ctx = context.WithValue(ctx, basePathKey{}, base)
	}
	if address := r.StageVariables[StageAddress]; address != "" {
		return WithAddress(ctx, address)
	}
	if host := r.RequestContext.DomainName; host != "" {
		ctx = WithAddress(ctx, scheme(r)+"://"+host+basePath(r))
	}
	return ctx
}

// Variables of the stage of an API behind edges, and the header of the edges.
const (
	// StageAddress is the address of the edges, where the API has no domain.
	StageAddress = "address"
	// StageEdges is the secret by which a request in HeaderEdges shows that the edges have sent the request.
	StageEdges  = "edges"
	HeaderEdges = "X-Lectern-Edges"
)

type addressKey struct{}

// WithAddress returns a context with the address of the API, without a slash at the end.
func WithAddress(ctx context.Context, address string) context.Context {
	return context.WithValue(ctx, addressKey{}, address)
}

// Address returns the address at which the caller has found the API, or that of the edges before the API, or the
// address of WithAddress; empty without any. A client cannot choose the host on AWS.
func Address(ctx context.Context) string {
	address, _ := ctx.Value(addressKey{}).(string)
	return address
}

// Client returns the IP address of the client of a request; empty if the gateway tells none.
func Client(ctx context.Context) string {
	if gateway, ok := core.GetAPIGatewayContextFromContext(ctx); ok {
		return gateway.Identity.SourceIP
	}
	return ""
}

type basePathKey struct{}

// BasePath returns what the caller's address has before the paths of the API: /live below the
// stage live, nothing at a domain of the API. A link of an answer begins
// with the base path.
func BasePath(ctx context.Context) string {
	base, _ := ctx.Value(basePathKey{}).(string)
	return base
}

// scheme returns the scheme of the caller's address. Only one machine has plain HTTP.
func scheme(r events.APIGatewayProxyRequest) string {
	if http.Header(r.MultiValueHeaders).Get("X-Forwarded-Proto") == "http" {
		return "http"
	}
	return "https"
}

// basePath returns the base path of an event: the path in the gateway's context without the
// path of the request. It returns nothing but the stage or "", so a client cannot choose it.
func basePath(r events.APIGatewayProxyRequest) string {
	// At the root, only one of the two paths may end with a slash.
	whole, below := strings.TrimSuffix(r.RequestContext.Path, "/"), strings.TrimSuffix(r.Path, "/")
	base, found := strings.CutSuffix(whole, below)
	if !found || base != "/"+r.RequestContext.Stage {
		return ""
	}
	return base
}

// options answers OPTIONS, including the preflight request of a script of another origin.
func (x *exchange) options(res *response) {
	res.status = http.StatusNoContent
	allow := strings.Join(x.allow, ", ")
	res.header.Set("Allow", allow)
	res.header.Set("Access-Control-Allow-Methods", allow)
	res.header.Set("Access-Control-Allow-Headers",
		"authorization, content-type, idempotency-key, if-match, if-none-match, last-event-id, mcp-method, mcp-name, "+
			"mcp-protocol-version, mcp-session-id, x-access-token, x-request-id")
	res.header.Set("Access-Control-Max-Age", "86400")
}
