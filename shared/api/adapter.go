package api

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"lectern/shared/api/check"
	"lectern/shared/apierr"
)

// setHumaErrors sets the globals in which huma keeps the constructors of its errors.
var setHumaErrors = sync.OnceFunc(func() { huma.NewError, huma.NewErrorWithContext = errorShape, reportError })

// errorShape gives the document the shape of errors.
func errorShape(int, string, ...error) huma.StatusError { return apierr.Internal() }

// reportError passes an error of huma to the exchange.
func reportError(ctx huma.Context, _ int, message string, errs ...error) huma.StatusError {
	if c, ok := ctx.(*humaContext); ok {
		c.x.err = humaError(message, errs)
	}
	return apierr.Internal()
}

// humaError returns the error to answer when huma refuses a request that passed our own
// checks: the error of a resolver, or a 400 for a value that does not decode.
func humaError(message string, errs []error) error {
	for _, err := range errs {
		var e *apierr.Error
		if errors.As(err, &e) {
			return e
		}
	}
	if len(errs) > 0 {
		return check.Undecodable()
	}
	return errors.New("api: huma: " + message)
}

// newTarget returns the huma API that routes are registered with. huma passes the routes on
// to a.
func newTarget(a huma.Adapter) huma.API {
	setHumaErrors()
	encoding := huma.Format{Marshal: marshalNothing, Unmarshal: json.Unmarshal}
	return huma.NewAPI(huma.Config{
		OpenAPI: &huma.OpenAPI{OpenAPI: "3.1.0", Components: &huma.Components{Schemas: check.NewRegistry()}},
		Formats: map[string]huma.Format{"application/json": encoding},
	}, a)
}

// marshalNothing discards the answer: the pipeline encodes answers itself.
func marshalNothing(io.Writer, any) error { return nil }

// reply tells huma the type of an answer with a body.
type reply[O any] struct{ Body O }

// mount registers the handler of a route. huma learns the types of input and answer, but the
// answer itself goes to the exchange of the request.
func mount[I, O any](target huma.API, op *Operation, tag string, h func(context.Context, *I) (*O, error)) {
	described := op.described(tag, bodyOptional(reflect.TypeFor[I]()))
	_, hasJSON := any(new(O)).(Choice)
	if op.Status == http.StatusNoContent || op.Status == http.StatusFound || len(op.media) > 0 && !hasJSON {
		huma.Register(target, described, humaHandler[I, O, struct{}]{h}.handle)
	} else {
		huma.Register(target, described, humaHandler[I, O, reply[O]]{h}.handle)
	}
}

// humaHandler calls the handler of a route for huma. R is the type that huma describes.
type humaHandler[I, O, R any] struct {
	run func(context.Context, *I) (*O, error)
}

// handle passes the answer and the error to the exchange.
func (h humaHandler[I, O, R]) handle(ctx context.Context, in *I) (*R, error) { //nolint:unparam // the signature of huma
	x := exchangeOf(ctx)
	out, err := h.run(ctx, in)
	if out != nil {
		x.answer = out
	}
	x.err = err
	return nil, nil
}

// endpoint is a mounted operation.
type endpoint struct {
	*Operation
	described *huma.Operation
	params    []*huma.Param
	registry  huma.Registry
	// body is the schema of the body; nil if the route takes no body.
	body *huma.Schema
	// bodyOptional reports whether a client may send no body.
	bodyOptional bool
	run          func(huma.Context)
}

// adapter collects the routes that are registered with huma.
type adapter struct {
	*http.ServeMux
	endpoints []*endpoint
}

// Keys of our own data in the metadata of huma's operations.
const (
	metaOperation    = "operation"
	metaBodyOptional = "body optional"
)

// Handle implements huma.Adapter.
func (a *adapter) Handle(described *huma.Operation, run func(huma.Context)) {
	op := described.Metadata[metaOperation].(*Operation)
	described.Parameters = slices.DeleteFunc(described.Parameters, op.lacks)
	e := &endpoint{Operation: op, described: described, params: described.Parameters, run: run}
	for _, p := range e.params {
		plainParam(p)
	}
	if described.RequestBody != nil {
		e.body = described.RequestBody.Content["application/json"].Schema
		e.bodyOptional = described.Metadata[metaBodyOptional].(bool)
		described.RequestBody.Required = !e.bodyOptional
	}
	a.endpoints = append(a.endpoints, e)
}

// lacks reports whether p is a path parameter that the operation's path does not have. It
// also gives p its name in the path.
func (o *Operation) lacks(p *huma.Param) bool {
	if p.In != "path" {
		return false
	}
	p.Name = o.pathName(p.Name)
	return !strings.Contains(o.Path, "{"+p.Name+"}")
}

// plainParam completes the description of a parameter: a parameter is never null, and a list
// may be sent in two ways. A list has at least one entry, since an empty list reads as absent.
func plainParam(p *huma.Param) {
	p.Schema.Nullable, p.Schema.Description = false, ""
	if p.Schema.Type != huma.TypeArray {
		p.Explode = nil
		return
	}
	p.Description += " Separated by commas, or the parameter repeated, or both."
	one := 1
	p.Schema.MinItems = cmp.Or(p.Schema.MinItems, &one)
}

// humaContext gives huma the parameters and the body after the pipeline has checked them.
type humaContext struct {
	inner
	x *exchange
}

// inner renames huma.Context: embedded under its own name, it would hide its method Context.
type inner huma.Context

func (x *exchange) humaContext() *humaContext {
	return &humaContext{inner: humago.NewContext(nil, x.r.WithContext(x.ctx), discard{}), x: x}
}

func (c *humaContext) Param(name string) string { return c.x.params[c.x.pathName(name)] }
func (c *humaContext) Query(name string) string { return c.x.params[name] }
func (c *humaContext) BodyReader() io.Reader    { return bytes.NewReader(c.x.body) }

// Header hides the content type, since the pipeline has checked that the body is JSON.
func (c *humaContext) Header(name string) string {
	if name == "Content-Type" {
		return ""
	}
	return c.inner.Header(name)
}

// discard drops the answers that huma writes itself.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) WriteHeader(int)             {}

// bodyOptional reports whether a client may leave out the Body of an input type: Body is a
// pointer or has the tag required:"false". A body left out reads as {}.
func bodyOptional(input reflect.Type) bool {
	body, ok := input.FieldByName("Body")
	return ok && (body.Type.Kind() == reflect.Pointer || body.Tag.Get("required") == "false")
}
