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
	"slices"
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

// exchange is one request with its answer or error.
type exchange struct {
	*pipeline
	*endpoint // nil if no route matches
	r         *http.Request
	w         http.ResponseWriter
	ctx       context.Context
	began     time.Time
	id        string
	meter     *metering.Meter
	caller    *auth.Caller
	// verdict is the verdict of the rate limiter; nil for a route without a limit.
	verdict *pendingVerdict
	// charged reports whether the read units of the request count against the organization's
	// budget.
	charged bool
	// params has the checked parameters of path and query, by name.
	params map[string]string
	// body is the body, or the text of Form.Claim; nil for a form that is not claimed.
	body []byte
	sent Form
	key  *idempotency.Key
	// allow has the methods for the answer to OPTIONS; nil for other requests.
	allow  []string
	answer any
	err    error
}

// steps run in this order, which is the order of refusals (gaps.md section 1).
var steps = []func(*exchange) error{
	(*exchange).authenticate,
	(*exchange).permit,
	(*exchange).limit,
	(*exchange).readBody,
	(*exchange).checkPath,
	(*exchange).checkTenant,
	(*exchange).checkQuery,
	(*exchange).checkBody,
	(*exchange).claim,
	(*exchange).handle,
}

// run serves a request that has a route.
func (x *exchange) run() {
	defer x.preferRefusal()
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
	if !x.needsToken() {
		return nil
	}
	// checkPath refuses an invalid id later.
	event, _ := strconv.ParseInt(x.r.PathValue("eventId"), 10, 64)
	form, token, err := auth.Credential(x.r.Header)
	if err != nil {
		return x.signIn(err)
	}
	caller, err := x.auth.Authenticate(x.ctx, form, token, max(event, 0))
	if err != nil {
		return x.signIn(err)
	}
	x.caller, x.ctx = caller, auth.With(x.ctx, caller)
	return nil
}

func (x *exchange) permit() error {
	if !x.needsToken() {
		return nil
	}
	if x.connected {
		return x.signIn(x.caller.MayAssist())
	}
	return x.caller.May(x.Scopes)
}

// signIn adds to a refusal of a route of applications where they ask a member to sign in.
func (x *exchange) signIn(err error) error {
	if refused := (*auth.Refusal)(nil); x.connected && errors.As(err, &refused) {
		refused.SignIn = Address(x.ctx) + PathAuthorize
	}
	return err
}

// readBody reads the body of a route that takes one.
func (x *exchange) readBody() error {
	if x.form != nil {
		return x.openForm()
	}
	if x.endpoint.body == nil {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(x.r.Body, x.MaxBody+1))
	switch {
	case err != nil:
		return apierr.Invalid("", "The request body could not be read.")
	case int64(len(body)) > x.MaxBody:
		return apierr.TooLarge(x.MaxBody)
	case len(body) == 0 && x.bodyOptional:
		x.body = []byte("{}")
		return nil
	}
	x.body = body
	kind, _, err := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
	switch {
	case err != nil || !slices.Contains(x.bodies, kind):
		return apierr.UnsupportedMediaType(strings.Join(x.bodies, " or "))
	case kind == mediaEncoded:
		x.body, err = check.Encoded(x.registry, x.endpoint.body, body)
	}
	return err
}

// Media types of bodies.
const mediaJSON, mediaEncoded, mediaForm = "application/json", "application/x-www-form-urlencoded", "multipart/form-data"

// openForm refuses a body that is no form, and one that is declared as too long. The handler reads it.
func (x *exchange) openForm() error {
	kind, params, err := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
	switch {
	case x.r.ContentLength > x.MaxBody:
		return apierr.TooLarge(x.MaxBody).Advise(x.advice)
	case err != nil || kind != mediaForm:
		return apierr.UnsupportedMediaType(mediaForm)
	case params["boundary"] == "":
		return apierr.Invalid("Content-Type", "Content-Type must have the boundary of the form.")
	}
	_, keyed := x.sentKeys()
	x.sent = Form{FormBody{x.r.Body, http.NewResponseController(x.w)}, params["boundary"], keyed}
	return x.refusal() // A caller over the rate limit sends no form.
}

func (x *exchange) checkPath() error {
	values := url.Values{}
	for _, p := range x.endpoint.params {
		values.Set(p.Name, x.r.PathValue(p.Name))
	}
	return x.checkParams("path", values)
}

func (x *exchange) checkQuery() error {
	query, err := url.ParseQuery(x.r.URL.RawQuery)
	if err != nil {
		return apierr.Invalid("", "The query string is not valid.")
	}
	return x.checkParams("query", query)
}

// checkParams checks the declared parameters of the path or the query, and ignores all other
// parameters.
func (x *exchange) checkParams(in string, sent url.Values) error {
	for _, p := range x.endpoint.params {
		if p.In != in {
			continue
		}
		values := sent[p.Name]
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

// checkTenant refuses an event or organization in the path that does not exist for the
// caller. The answer does not tell whether it exists for other callers.
func (x *exchange) checkTenant() error {
	if !x.needsToken() {
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

// sentKeys returns the values of the header Idempotency-Key, and reports whether the request has the header.
func (x *exchange) sentKeys() (keys []string, sent bool) {
	keys, sent = x.r.Header[http.CanonicalHeaderKey(idempotency.Header)]
	return keys, sent
}

// claim looks up the request's idempotency key.
func (x *exchange) claim() error {
	keys, sent := x.sentKeys()
	if !sent || !x.idempotent() || x.form != nil && x.body == nil {
		return nil
	}
	var err error
	x.key, err = x.keys.Begin(x.ctx, idempotency.Request{
		Org: x.caller.Org.ID, Token: x.caller.Token.ID, Method: x.Method, Path: x.plainPath(), Key: strings.Join(keys, ","), Body: x.body,
	})
	x.ctx = idempotency.With(x.ctx, x.key)
	return err
}

// plainPath returns the path of the request with the ids in their checked form, for example
// with UUIDs in lower case.
func (x *exchange) plainPath() string {
	path := x.Path
	for _, p := range x.endpoint.params {
		if p.In == "path" {
			path = strings.Replace(path, "{"+p.Name+"}", x.params[p.Name], 1)
		}
	}
	return path
}

// handle calls the handler of the route. If the idempotency key has a finished request, the
// handler shows the records that were written then.
func (x *exchange) handle() error {
	x.ctx = size.With(x.ctx, size.Client{Gzip: x.takesGzip(), PageSize: x.pageSize(), Writes: x.Writes()})
	x.endpoint.run(x.humaContext())
	if x.err == nil || x.key == nil || x.key.Replays() {
		return x.err
	}
	return x.replayIfDone()
}

// pageSize returns the name of the parameter for the size of a page, or of the property of a
// body; empty for an endpoint without pages.
func (x *exchange) pageSize() string {
	for _, p := range x.endpoint.params {
		if p.Name == "pageSize" || p.Name == "page_size" {
			return p.Name
		}
	}
	body := x.endpoint.body
	if body != nil && body.Ref != "" {
		body = x.registry.SchemaFromRef(body.Ref)
	}
	if body != nil && body.Properties["limit"] != nil {
		return "limit"
	}
	return ""
}

// replayIfDone looks up the idempotency key of a failed request again. If the key has a
// finished request now, replayIfDone shows the records that were written. There are two
// reasons: a parallel request with the same key was faster, or the own transaction succeeded
// but its answer was lost.
func (x *exchange) replayIfDone() error {
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

// begin starts an exchange: the request id, the clock and the meter.
func (p *pipeline) begin(r *http.Request) *exchange {
	x := &exchange{pipeline: p, r: r, began: time.Now(), id: r.Header.Get(headerRequestID), params: map[string]string{}}
	if !safeID(x.id) {
		x.id = p.NewID()
	}
	ctx := settings.OneSnapshot(change.WithRequest(r.Context(), x.id))
	ctx, meter := metering.Measured(ctx)
	x.ctx, x.meter = context.WithValue(ctx, exchangeKey{}, x), meter
	x.r = r.WithContext(x.ctx)
	return x
}

type exchangeKey struct{}

// exchangeOf returns the exchange of a handler's context.
func exchangeOf(ctx context.Context) *exchange { return ctx.Value(exchangeKey{}).(*exchange) }
