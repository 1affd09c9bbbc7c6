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

// ownErrors makes huma report its errors to the exchange. It keeps the two
// functions as globals; the first also names the shape of errors.
var ownErrors = sync.OnceFunc(func() {
	huma.NewError = func(int, string, ...error) huma.StatusError { return apierr.Internal() }
	huma.NewErrorWithContext = func(ctx huma.Context, _ int, message string, errs ...error) huma.StatusError {
		if c, ok := ctx.(*humaContext); ok {
			c.x.err = refused(message, errs)
		}
		return apierr.Internal()
	}
})

// refused makes one error of those that huma found after our own checks had
// passed: a resolver's own, or a value that does not decode.
func refused(message string, errs []error) error {
	for _, err := range errs {
		var e *apierr.Error
		if errors.As(err, &e) {
			return e
		}
	}
	if len(errs) > 0 {
		return check.Unfit()
	}
	return errors.New("api: huma: " + message)
}

// newTarget is an API to register routes with. What it serves is up to a.
func newTarget(a huma.Adapter) huma.API {
	ownErrors()
	encoding := huma.Format{
		// Answers are encoded by the pipeline; what huma writes is discarded.
		Marshal:   func(io.Writer, any) error { return nil },
		Unmarshal: json.Unmarshal,
	}
	return huma.NewAPI(huma.Config{
		OpenAPI: &huma.OpenAPI{OpenAPI: "3.1.0", Components: &huma.Components{Schemas: check.NewRegistry()}},
		Formats: map[string]huma.Format{"application/json": encoding},
	}, a)
}

// reply is how huma wants an answer with a body to be described.
type reply[O any] struct{ Body O }

// mount registers a route's handler. Its answer goes to the request's exchange
// and not through huma, which learns types alone.
func mount[I, O any](target huma.API, op *Operation, tag string, h func(context.Context, *I) (*O, error)) {
	described := op.described(tag, bodyOptional(reflect.TypeFor[I]()))
	if op.Status == http.StatusNoContent {
		huma.Register(target, described, answering[I, O, struct{}](h))
	} else {
		huma.Register(target, described, answering[I, O, reply[O]](h))
	}
}

func answering[I, O, R any](h func(context.Context, *I) (*O, error)) func(context.Context, *I) (*R, error) {
	return func(ctx context.Context, in *I) (*R, error) {
		x := exchangeOf(ctx)
		out, err := h(ctx, in)
		if out != nil {
			x.answer = out
		}
		x.err = err
		return nil, nil
	}
}

// endpoint is a mounted operation.
type endpoint struct {
	*Operation
	described *huma.Operation
	params    []*huma.Param
	registry  huma.Registry
	// body is the schema of the body; nil when the route takes none.
	body *huma.Schema
	// bodyless is whether the body may be left out.
	bodyless bool
	run      func(huma.Context)
}

// adapter collects what huma mounts.
type adapter struct {
	*http.ServeMux
	endpoints []*endpoint
}

// What huma's operation carries of ours.
const (
	metaOperation = "operation"
	metaBodyless  = "bodyless"
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
		e.bodyless = described.Metadata[metaBodyless].(bool)
		described.RequestBody.Required = !e.bodyless
	}
	a.endpoints = append(a.endpoints, e)
}

// lacks reports whether the operation's path lacks a path parameter of the input. It gives
// the parameter the name that the path has for it.
func (o *Operation) lacks(p *huma.Param) bool {
	if p.In != "path" {
		return false
	}
	p.Name = o.pathName(p.Name)
	return !strings.Contains(o.Path, "{"+p.Name+"}")
}

// plainParam takes out of a parameter's description what only a body can be,
// null, and says of a list how it is sent. A list that is there has an entry: an empty one would read as no list.
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

// humaContext shows huma a request of which the pipeline has checked every
// parameter and the body.
type humaContext struct {
	inner
	x *exchange
}

// inner is huma.Context by a name that does not hide its method Context.
type inner huma.Context

func (x *exchange) humaContext() *humaContext {
	return &humaContext{inner: humago.NewContext(nil, x.r.WithContext(x.ctx), discard{}), x: x}
}

func (c *humaContext) Param(name string) string { return c.x.params[c.x.pathName(name)] }
func (c *humaContext) Query(name string) string { return c.x.params[name] }
func (c *humaContext) BodyReader() io.Reader    { return bytes.NewReader(c.x.body) }

// Header hides the content type: by now the body is known to be JSON.
func (c *humaContext) Header(name string) string {
	if name == "Content-Type" {
		return ""
	}
	return c.inner.Header(name)
}

// discard is where huma's own answers go.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) WriteHeader(int)             {}

// bodyOptional is whether the Body of an input type may be left out: a pointer,
// or one with the tag required:"false". Left out, it reads as {}.
func bodyOptional(input reflect.Type) bool {
	body, ok := input.FieldByName("Body")
	return ok && (body.Type.Kind() == reflect.Pointer || body.Tag.Get("required") == "false")
}
