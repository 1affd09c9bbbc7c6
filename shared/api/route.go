package api

import (
	"cmp"
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"lectern/shared/auth"
	"lectern/shared/ratelimit"
	"lectern/shared/write"
)

// Body sizes that a route takes, in bytes (gaps.md section 1).
const (
	bodyLimit     = 1 << 20
	BulkBodyLimit = 5 << 20
)

// Operation is one route as data: what the router, the gateway, the document
// and the route table are made from.
type Operation struct {
	// ID is unique in the whole service, such as getSession.
	ID, Method, Path string
	// Scopes are those of which a caller needs one; auth.Public needs none.
	Scopes auth.Scopes
	Bucket ratelimit.Bucket
	// Status is the status of success.
	Status int
	// MaxBody is the largest body taken, in bytes.
	MaxBody int64
	// Description is a paragraph for the document, in Markdown; may be empty.
	Description string

	hidden      bool  // left out of the document
	clientCache bool  // the client may keep the answer
	daily       bool  // counts against Env.DailyWrites
	revised     bool  // the answer is a version of a record
	errors      []int // documented beside those that follow from the rest
	// inPath maps parameters of the input to their names in the path; see InPath.
	inPath map[string]string
}

// Methods are those with which a request is for the operation: HEAD asks for what GET
// would answer.
func (o *Operation) Methods() []string {
	if o.Method == http.MethodGet {
		return []string{http.MethodGet, http.MethodHead}
	}
	return []string{o.Method}
}

// Option changes an operation from its defaults.
type Option func(*Operation)

// MaxBody sets the largest body in bytes; without it that is 1 MB.
func MaxBody(bytes int64) Option { return func(o *Operation) { o.MaxBody = bytes } }

// Status sets the status of success; without it that is 200, or 204 for None.
func Status(code int) Option { return func(o *Operation) { o.Status = code } }

// Describe sets the paragraph that the document has for the operation.
func Describe(markdown string) Option { return func(o *Operation) { o.Description = markdown } }

// Fails documents statuses that the handler answers beside those that every
// route of its kind may (see document.go).
func Fails(statuses ...int) Option {
	return func(o *Operation) { o.errors = append(o.errors, statuses...) }
}

// ClientCache lets the client keep the answer for 180 seconds (spec section 8).
func ClientCache(o *Operation) { o.clientCache = true }

// CountsDaily counts the requests against Env.DailyWrites too, where that is set
// (gaps.md section 1). A bulk is one request.
func CountsDaily(o *Operation) { o.daily = true }

// Hidden leaves the operation out of the document.
func Hidden(o *Operation) { o.hidden = true }

// InPath has the path call a parameter of the input by another name, such as ruleId for id.
// So one input type serves many paths.
func InPath(param, name string) Option {
	return func(o *Operation) {
		if o.inPath == nil {
			o.inPath = map[string]string{}
		}
		o.inPath[param] = name
	}
}

// pathName returns the path's name of a parameter of the input.
func (o *Operation) pathName(param string) string { return cmp.Or(o.inPath[param], param) }

// writes is whether the operation needs a write scope.
func (o *Operation) writes() bool {
	return slices.ContainsFunc(o.Scopes, func(s auth.Scope) bool { return strings.HasPrefix(string(s), "write:") })
}

// idempotent is whether the operation honours an Idempotency-Key.
func (o *Operation) idempotent() bool { return o.Method == http.MethodPost && o.writes() }

// Handler is a method expression of the group's service, such as (*service).get.
// It returns the record that is the answer, nil for None.
type Handler[S, I, O any] = func(*S, context.Context, *I) (*O, error)

// Route is an operation with its handler, a method of the service S.
type Route[S any] struct {
	Operation
	mount func(target huma.API, tag string, service *S)
}

// Get declares a route that reads. It answers HEAD too.
func Get[S, I, O any](id, path string, h Handler[S, I, O], scopes auth.Scopes, bucket ratelimit.Bucket, opts ...Option) Route[S] {
	return route(http.MethodGet, id, path, h, scopes, bucket, opts)
}

// Post declares a route that searches or creates. One with a write scope
// honours an Idempotency-Key.
func Post[S, I, O any](id, path string, h Handler[S, I, O], scopes auth.Scopes, bucket ratelimit.Bucket, opts ...Option) Route[S] {
	return route(http.MethodPost, id, path, h, scopes, bucket, opts)
}

// Put declares a route that updates.
func Put[S, I, O any](id, path string, h Handler[S, I, O], scopes auth.Scopes, bucket ratelimit.Bucket, opts ...Option) Route[S] {
	return route(http.MethodPut, id, path, h, scopes, bucket, opts)
}

// Patch declares a route that updates as Put does, for clients that send PATCH.
func Patch[S, I, O any](id, path string, h Handler[S, I, O], scopes auth.Scopes, bucket ratelimit.Bucket, opts ...Option) Route[S] {
	return route(http.MethodPatch, id, path, h, scopes, bucket, opts)
}

// Delete declares a route that deletes.
func Delete[S, I, O any](id, path string, h Handler[S, I, O], scopes auth.Scopes, bucket ratelimit.Bucket, opts ...Option) Route[S] {
	return route(http.MethodDelete, id, path, h, scopes, bucket, opts)
}

func route[S, I, O any](method, id, path string, h Handler[S, I, O], scopes auth.Scopes, bucket ratelimit.Bucket, opts []Option) Route[S] {
	op := Operation{ID: id, Method: method, Path: path, Scopes: scopes, Bucket: bucket, Status: http.StatusOK, MaxBody: bodyLimit}
	op.revised = reflect.TypeFor[*O]().Implements(reflect.TypeFor[revised]())
	if reflect.TypeFor[O]() == reflect.TypeFor[None]() {
		op.Status = http.StatusNoContent
	}
	for _, change := range opts {
		change(&op)
	}
	return Route[S]{Operation: op, mount: func(target huma.API, tag string, service *S) {
		mount(target, &op, tag, func(ctx context.Context, in *I) (*O, error) { return h(service, ctx, in) })
	}}
}

// Group is one tag group, which is one Lambda: its operations and how to
// answer them.
type Group struct {
	// Name is the group's folder under functions.
	Name string
	// Tag is the group's name in the document.
	Tag        string
	Operations []Operation

	// mount registers the routes; without an env, for the document alone.
	mount func(target huma.API, env *Env)
	// Elsewhere gives methods and paths that other groups answer. The root
	// group, which gets every unknown request, tells 404 from 405 by it.
	Elsewhere func() []Operation
}

// NewGroup declares a tag group. start makes the service from an environment;
// it is not called to describe the group. S must be a type of the group's own
// package: the package's name is the group's.
func NewGroup[S any](tag string, start func(Env) *S, routes []Route[S]) Group {
	path := strings.Split(reflect.TypeFor[S]().PkgPath(), "/")
	g := Group{Name: path[len(path)-1], Tag: tag}
	for _, r := range routes {
		g.Operations = append(g.Operations, r.Operation)
	}
	g.mount = func(target huma.API, env *Env) {
		var service *S
		if env != nil {
			service = start(*env)
		}
		for _, r := range routes {
			if env == nil && r.hidden {
				continue
			}
			r.mount(target, tag, service)
		}
	}
	return g
}

// InEvent is the part of an input that names the event of the path. Embed it,
// as any part of an input, by an exported type: huma skips others.
type InEvent struct {
	EventID int64 `path:"eventId" minimum:"1" doc:"The event's id."`
}

// InOrganization is the part of an input that names the organization of the
// path. The pipeline has checked that it is the caller's own.
type InOrganization struct {
	OrgID int64 `path:"orgId" minimum:"1" doc:"The organization's id, the caller's own."`
}

// Revision is the part of an input that takes an If-Match header, to be held
// against the record by write.Guard.
type Revision struct {
	IfMatch string `header:"If-Match" doc:"The record's ETag as last fetched. When the record has changed since, nothing is written and the answer is 409."`
}

// Resolve refuses a header that is no list of entity tags before the handler
// runs, and so before the record is looked for: huma calls it.
func (r *Revision) Resolve(c huma.Context) []error {
	c.EachHeader(func(name, value string) {
		if strings.EqualFold(name, "If-Match") && value == "" {
			r.IfMatch = " " // An empty header is not the absence of one.
		}
	})
	if err := (write.Guard{IfMatch: r.IfMatch}).Validate(); err != nil {
		return []error{err}
	}
	return nil
}

// Strings is a query parameter that is a list. Values may be separated by
// commas, the parameter may be repeated, and both may be mixed.
type Strings []string

// Has is whether the list contains value.
func (s Strings) Has(value string) bool { return slices.Contains(s, value) }

// None is the output of a route that answers 204 without a body.
type None struct{}

// File is the output of a route that answers bytes instead of a record.
type File struct {
	// Type is the Content-Type.
	Type string
	// Body is what is sent.
	Body []byte
	// Gzipped is whether Body is kept compressed. A client that does not take
	// gzip gets it unpacked.
	Gzipped bool
	// Policy is the Content-Security-Policy; empty forbids everything.
	Policy string
}
