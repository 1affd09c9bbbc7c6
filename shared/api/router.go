package api

import (
	"cmp"
	"errors"
	"log/slog"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/awslabs/aws-lambda-go-api-proxy/core"

	"lectern/shared/api/check"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/idempotency"
	"lectern/shared/ratelimit"
)

// Handler answers the group's routes, and in the same manner OPTIONS, wrong
// methods and unknown paths. Every answer is complete when it is written.
func (g Group) Handler(env Env) http.Handler {
	p := &pipeline{
		Env:     env,
		auth:    Shared(env, func() *auth.Authenticator { return auth.New(env.Table, env.Now, env.Region) }),
		limiter: Shared(env, func() *ratelimit.Limiter { return ratelimit.New(env.Table, env.Now, env.Log) }),
		budget:  Shared(env, func() *ratelimit.Budget { return ratelimit.NewBudget(env.SearchUnits, env.Now) }),
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
	elsewhere := sync.OnceValue(g.elsewhere)
	p.mux = muxOf(a.endpoints, func(w http.ResponseWriter, r *http.Request) { elsewhere().ServeHTTP(w, r) })
	return p
}

// elsewhere knows the paths of other groups' operations, without answering them.
func (g Group) elsewhere() *http.ServeMux {
	var known []*endpoint
	if g.Elsewhere != nil {
		for _, o := range g.Elsewhere() {
			known = append(known, &endpoint{Operation: &o})
		}
	}
	return muxOf(known, func(_ http.ResponseWriter, r *http.Request) { exchangeOf(r.Context()).refuse(nil) })
}

// resource is a path with what answers its methods. The path is matched before
// the method, as by API Gateway: GET on a path that has POST alone is a wrong
// method, even if the path fits the template of another route's.
type resource map[string]*endpoint

// muxOf routes to the endpoints by resource, and all other paths to rest.
func muxOf(endpoints []*endpoint, rest http.HandlerFunc) *http.ServeMux {
	mux := http.NewServeMux()
	resources := map[string]resource{}
	for _, e := range endpoints {
		if resources[e.Path] == nil {
			resources[e.Path] = resource{}
			mux.Handle(pattern(e.Path), resources[e.Path])
		}
		resources[e.Path][e.Method] = e
	}
	mux.Handle("/", rest)
	return mux
}

// pattern is the path's in a ServeMux, where a final slash would match
// everything below it.
func pattern(path string) string {
	if strings.HasSuffix(path, "/") {
		return path + "{$}"
	}
	return path
}

// ServeHTTP serves a request whose path is the resource's.
func (res resource) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	x := exchangeOf(r.Context())
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	e := res[method]
	if e == nil || e.run == nil {
		x.refuse(res.methods())
		return
	}
	x.r, x.endpoint = r, e
	x.run()
}

// methods lists the resource's methods, as Allow does.
func (res resource) methods() (all []string) {
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		if res[method] != nil {
			all = append(all, method)
		}
	}
	if res[http.MethodGet] != nil {
		all = append(all, http.MethodHead)
	}
	return all
}

// ServeHTTP serves one request and writes one log line about it.
func (p *pipeline) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := p.begin(r)
	if strings.HasPrefix(r.URL.Path, "/") && path.Clean(r.URL.Path) == r.URL.Path {
		p.mux.ServeHTTP(nil, x.r)
	} else {
		// ServeMux would redirect such a path; here it is an unknown one.
		x.refuse(nil)
	}
	x.log(x.respond(w))
}

// refuse answers a path by the methods that it has: OPTIONS, or an error.
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

// log writes the request's line. It never has the query, a body, a name or a
// secret in it; of the path it has ids that were checked.
func (x *exchange) log(status int) {
	calls, roundTrips, rcu, wcu := x.meter.Totals()
	line := append([]slog.Attr{
		slog.String("request_id", x.id), slog.String("method", x.r.Method), slog.Int("status", status),
		slog.Int64("ms", time.Since(x.began).Milliseconds()),
		slog.Int("calls", calls), slog.Int("round_trips", roundTrips), slog.Float64("rcu", rcu), slog.Float64("wcu", wcu),
	}, x.facts()...)
	level := slog.LevelInfo
	if status >= http.StatusInternalServerError {
		level = slog.LevelError
		line = append(line, slog.Any("error", x.err))
	}
	x.Log.LogAttrs(x.ctx, level, "request", line...)
}

// facts are what is known of the gateway, the route, the caller and a refusal.
func (x *exchange) facts() (line []slog.Attr) {
	if gateway, ok := core.GetAPIGatewayContextFromContext(x.ctx); ok && gateway.RequestID != x.id {
		line = append(line, slog.String("gateway_request_id", gateway.RequestID))
	}
	if x.endpoint != nil {
		line = append(line, slog.String("route", x.Path), slog.String("bucket", string(x.Bucket)))
		line = append(line, x.ids()...)
	}
	org, token, reason := x.whose()
	if org != 0 {
		line = append(line, slog.Int64("org", org), slog.Int64("token", token))
	}
	if reason != "" {
		line = append(line, slog.String("reason", reason))
	}
	return line
}

// ids are the ids of the path, by their names in it.
func (x *exchange) ids() (line []slog.Attr) {
	for _, p := range x.endpoint.params {
		if id, ok := x.params[p.Name]; ok && p.In == "path" {
			line = append(line, slog.String(p.Name, id))
		}
	}
	return line
}

// whose gives the organization and token of the request, 0 when they are not
// known, and why it was refused, empty when it was not.
func (x *exchange) whose() (org, token int64, reason string) {
	if x.caller != nil {
		org, token = x.caller.Org.ID, x.caller.Token.ID
	}
	var refusal *auth.Refusal
	var e *apierr.Error
	switch {
	case errors.As(x.err, &refusal):
		return refusal.Org, refusal.Token, string(refusal.Reason)
	case errors.As(x.err, &e):
		return org, token, cmp.Or(e.Reason, e.Code, e.Name)
	}
	return org, token, ""
}
