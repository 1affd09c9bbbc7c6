package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"lectern/shared/api/check"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/change"
	"lectern/shared/idempotency"
	"lectern/shared/metering"
	"lectern/shared/ratelimit"
	"lectern/shared/settings"
	"lectern/shared/size"
)

// pipeline answers the requests of one group.
type pipeline struct {
	Env
	mux     *http.ServeMux
	auth    *auth.Authenticator
	limiter *ratelimit.Limiter
	budget  *ratelimit.Budget
	keys    idempotency.Store
}

// exchange is one request and what is known of its answer.
type exchange struct {
	*pipeline
	*endpoint // nil when no route matches
	r         *http.Request
	ctx       context.Context
	began     time.Time
	id        string
	meter     *metering.Meter
	caller    *auth.Caller
	// verdict waits for the rate limiter; nil where the bucket is None.
	verdict func() ratelimit.Verdict
	// spends is whether the request is charged to its organization's budget.
	spends bool
	params map[string]string
	body   []byte
	key    *idempotency.Key
	// allow is what OPTIONS answers; nil for other methods.
	allow  []string
	answer any
	// packed is the answer compressed, where its length had to be known.
	packed []byte
	err    error
}

// steps is the order of refusals (gaps.md section 1). The request id and the
// recovery stand before it, the encoding and the log line after it.
var steps = []func(*exchange) error{
	(*exchange).authenticate,
	(*exchange).permit,
	(*exchange).limit,
	(*exchange).read,
	(*exchange).checkPath,
	(*exchange).checkTenant,
	(*exchange).checkQuery,
	(*exchange).checkBody,
	(*exchange).claim,
	(*exchange).handle,
}

// run serves a request that has a route.
func (x *exchange) run() {
	defer x.obey()
	defer x.charge()
	defer x.recover()
	for _, step := range steps {
		if x.err = step(x); x.err != nil {
			return
		}
	}
}

// recover turns a panic into an error.
func (x *exchange) recover() {
	if cause := recover(); cause != nil {
		x.err = fmt.Errorf("api: panic: %v\n%s", cause, debug.Stack())
	}
}

func (x *exchange) authenticate() error {
	if x.Scopes.Open() {
		return nil
	}
	// An id that is none is refused later, by checkPath.
	event, _ := strconv.ParseInt(x.r.PathValue("eventId"), 10, 64)
	token := x.r.Header.Get("X-Access-Token")
	if token == "" && x.r.Header.Get("Authorization") != "" {
		return auth.Refuse(auth.ReasonUnknownGrant)
	}
	caller, err := x.auth.Authenticate(x.ctx, token, max(event, 0))
	if err != nil {
		return err
	}
	x.caller, x.ctx = caller, auth.With(x.ctx, caller)
	return nil
}

func (x *exchange) permit() error {
	if x.Scopes.Open() {
		return nil
	}
	return x.caller.May(x.Scopes)
}

// read reads the body of a route that takes one.
func (x *exchange) read() error {
	if x.endpoint.body == nil {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(x.r.Body, x.MaxBody+1))
	switch {
	case err != nil:
		return apierr.Invalid("", "The request body could not be read.")
	case int64(len(body)) > x.MaxBody:
		return apierr.TooLarge(x.MaxBody)
	case len(body) == 0 && x.bodyless:
		x.body = []byte("{}")
		return nil
	}
	x.body = body
	if kind, _, err := mime.ParseMediaType(x.r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return apierr.UnsupportedMediaType()
	}
	return nil
}

func (x *exchange) checkPath() error {
	return x.checkParams("path", func(name string) []string { return []string{x.r.PathValue(name)} })
}

func (x *exchange) checkQuery() error {
	query, err := url.ParseQuery(x.r.URL.RawQuery)
	if err != nil {
		return apierr.Invalid("", "The query string is not valid.")
	}
	return x.checkParams("query", func(name string) []string { return query[name] })
}

// checkParams checks the declared parameters of one kind; others are ignored.
func (x *exchange) checkParams(in string, sent func(name string) []string) error {
	for _, p := range x.endpoint.params {
		if p.In != in {
			continue
		}
		values := sent(p.Name)
		if len(values) == 0 {
			if p.Required {
				return apierr.Invalid(p.Name, "%s is required.", p.Name)
			}
			continue
		}
		plain, err := check.Param(x.registry, p.Schema, p.Name, values)
		if err != nil {
			return err
		}
		x.params[p.Name] = plain
	}
	return nil
}

// checkTenant refuses an event or organization in the path that is not there
// for the caller. A foreign one answers as an unknown one does.
func (x *exchange) checkTenant() error {
	if x.Scopes.Open() {
		return nil
	}
	if org, in := x.params["orgId"]; in && org != strconv.FormatInt(x.caller.Org.ID, 10) {
		return apierr.NotFound("Organization")
	}
	if _, in := x.params["eventId"]; in && (x.caller.Event == nil || !x.caller.SeesEvent(x.caller.Event.ID)) {
		return apierr.NotFound("Event")
	}
	return nil
}

func (x *exchange) checkBody() error {
	if x.endpoint.body == nil {
		return nil
	}
	if len(x.body) == 0 {
		return apierr.Invalid("", "A request body is required.")
	}
	plain, err := check.Body(x.registry, x.endpoint.body, x.body)
	x.body = plain
	return err
}

// claim looks up the request's idempotency key.
func (x *exchange) claim() error {
	keys, sent := x.r.Header[http.CanonicalHeaderKey(idempotency.Header)]
	if !sent || !x.idempotent() {
		return nil
	}
	var err error
	x.key, err = x.keys.Begin(x.ctx, idempotency.Request{
		Org: x.caller.Org.ID, Token: x.caller.Token.ID, Method: x.Method, Path: x.place(), Key: strings.Join(keys, ","), Body: x.body,
	})
	x.ctx = idempotency.With(x.ctx, x.key)
	return err
}

// place is the request's path in the one form that its ids have, however the
// client wrote them.
func (x *exchange) place() string {
	path := x.Path
	for _, p := range x.endpoint.params {
		if p.In == "path" {
			path = strings.Replace(path, "{"+p.Name+"}", x.params[p.Name], 1)
		}
	}
	return path
}

// handle calls the route's handler. One that repeats a request under its key shows what
// that one wrote.
func (x *exchange) handle() error {
	x.endpoint.run(x.humaContext())
	if x.err == nil || x.key == nil || x.key.Replays() {
		return x.err
	}
	return x.overtaken()
}

// overtaken looks a failed request's idempotency key up again: when another request
// under it was faster, that one's change is what this one failed on, and what that one
// wrote is shown. So is what a write has done whose own answer was lost.
func (x *exchange) overtaken() error {
	failed := x.err
	err := x.claim()
	switch {
	case err == nil && x.key.Replays():
		x.err, x.answer = nil, nil
		x.endpoint.run(x.humaContext())
		return x.err
	case !errors.Is(failed, idempotency.ErrRaced):
		return failed
	case err != nil:
		return err
	}
	return apierr.Unavailable()
}

// begin starts an exchange: its request id, its clock and its meter.
func (p *pipeline) begin(r *http.Request) *exchange {
	x := &exchange{pipeline: p, r: r, began: time.Now(), id: r.Header.Get(headerRequestID), params: map[string]string{}}
	if !safeID(x.id) {
		x.id = p.NewID()
	}
	ctx := size.With(settings.Hold(change.WithRequest(r.Context(), x.id)), x.zips())
	ctx, meter := metering.Measured(ctx)
	x.ctx, x.meter = context.WithValue(ctx, exchangeKey{}, x), meter
	x.r = r.WithContext(x.ctx)
	return x
}

// maxID is the longest request id that is taken over from the client.
const maxID = 128

// safeID is whether a client's request id may stand in headers and the log.
func safeID(id string) bool {
	for _, c := range id {
		if !strings.ContainsRune("-_.:/+=@", c) && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return id != "" && len(id) <= maxID
}

type exchangeKey struct{}

// exchangeOf gives the exchange that a handler's context belongs to.
func exchangeOf(ctx context.Context) *exchange { return ctx.Value(exchangeKey{}).(*exchange) }
