package api

import (
	"cmp"
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/ratelimit"
	"lectern/shared/write"
)

// Largest bodies, in bytes (gaps.md section 1).
const (
	bodyLimit     = 1 << 20
	BulkBodyLimit = 5 << 20
)

// Operation is one route as data. The router, the gateway, the document and the route table
// are made from operations.
type Operation struct {
	// ID is unique in the whole service, for example getSession.
	ID, Method, Path string
	// Scopes lists the scopes that allow the operation: a caller needs one of them. Routes
	// with auth.Public need no token.
	Scopes auth.Scopes
	Bucket ratelimit.Bucket
	// Status is the status of success.
	Status int
	// MaxBody is the largest body, in bytes.
	MaxBody int64
	// Description is a paragraph for the document, in Markdown; it may be empty.
	Description string

	hidden      bool // left out of the document
	clientCache bool // the client may cache the answer
	daily       bool // counts against Env.DailyWrites
	versioned   bool // the answer has an ETag
	repeatable  bool // ignores an Idempotency-Key
	// refusals are statuses of errors beside those of failures.
	refusals []int
	// media are the media types of an answer that is no JSON.
	media []string
	// form has the properties of a body of multipart/form-data; nil for a route with JSON or no body.
	// advice follows the message of a 413.
	form   reflect.Type
	advice string
	// bodies are the media types of a body that is no form.
	bodies []string
	// connected asks for the access token of an application; see Connected.
	connected bool
	// failure returns the answer of an error, of the type failureType; nil for the shape of all errors.
	failure     func(context.Context, *apierr.Error) any
	failureType reflect.Type
	// inPath maps parameters of the input to their names in the path; see InPath.
	inPath map[string]string
}

// Methods returns the HTTP methods of the operation. An operation with GET also has HEAD.
func (o *Operation) Methods() []string {
	if o.Method == http.MethodGet {
		return []string{http.MethodGet, http.MethodHead}
	}
	return []string{o.Method}
}

// Option changes an operation from its defaults.
type Option func(*Operation)

// MaxBody sets the largest body in bytes. The default is 1 MB.
func MaxBody(bytes int64) Option { return func(o *Operation) { o.MaxBody = bytes } }

// Limit counts the requests of the route in a bucket. By default, a route has no rate limit.
func Limit(bucket ratelimit.Bucket) Option { return func(o *Operation) { o.Bucket = bucket } }

// Status sets the status of success. The default is 200, or 204 for None.
func Status(code int) Option { return func(o *Operation) { o.Status = code } }

// Refuses adds a status of an error to the document.
func Refuses(status int) Option {
	return func(o *Operation) { o.refusals = append(o.refusals, status) }
}

// Describe sets the description of the operation in the document.
func Describe(markdown string) Option { return func(o *Operation) { o.Description = markdown } }

// ClientCache lets the client cache the answer for 180 seconds (spec.md section 8).
func ClientCache(o *Operation) { o.clientCache = true }

// CountsDaily also counts the requests against Env.DailyWrites (gaps.md section 1). A bulk
// counts as one request.
func CountsDaily(o *Operation) { o.daily = true }

// Repeatable is for a POST that creates no record: a repetition does the same again. The
// operation accepts no Idempotency-Key.
func Repeatable(o *Operation) { o.repeatable = true }

// Media sets the media types of the answer of a route with Download as its output.
func Media(types ...string) Option { return func(o *Operation) { o.media = types } }

// TakesForm is for a route with a body of multipart/form-data, of at most so many bytes, with the
// properties of T. The handler reads the body itself, see FormOf. The advice says what a client with a
// larger body can do.
func TakesForm[T any](bytes int64, advice string) Option {
	return func(o *Operation) { o.MaxBody, o.form, o.advice = bytes, reflect.TypeFor[T](), advice }
}

// AlsoEncoded accepts the body as application/x-www-form-urlencoded too: each property is a parameter with one value, and an empty one
// is absent (RFC 6749 section 4.1.3). OnlyEncoded accepts no JSON.
func AlsoEncoded(o *Operation) { o.bodies = []string{mediaJSON, mediaEncoded} }

// OnlyEncoded is for the forms of pages, see AlsoEncoded.
func OnlyEncoded(o *Operation) { o.bodies = []string{mediaEncoded} }

// FailsAs gives the errors of a route another shape. A Written answers itself.
func FailsAs[T any](shape func(context.Context, *apierr.Error) T) Option {
	return func(o *Operation) {
		o.failureType = reflect.TypeFor[T]()
		o.failure = func(ctx context.Context, e *apierr.Error) any { return shape(ctx, e) }
	}
}

// Connected is for a route with auth.SignedIn that a member calls through an application: it needs the access token of a connection, with
// any scopes.
func Connected(o *Operation) { o.connected = true }

// PathMCP is the path of the MCP server, the only route of applications alone (Connected). The path of its description follows
// ResourceMetadata: a client compares the resource that the description names with the address that the client has called
// (RFC 9728 section 3.3).
const PathMCP = "/mcp"

// IsConnected reports whether the operation is one of applications, see Connected.
func (o *Operation) IsConnected() bool { return o.connected }

// needsToken reports whether the operation needs a token.
func (o *Operation) needsToken() bool { return o.connected || o.Scopes.NeedToken() }

// Hidden leaves the operation out of the document.
func Hidden(o *Operation) { o.hidden = true }

// InPath gives a parameter of the input another name in the path, for example ruleId for id.
// So several paths can share one input type.
func InPath(param, name string) Option {
	return func(o *Operation) {
		if o.inPath == nil {
			o.inPath = map[string]string{}
		}
		o.inPath[param] = name
	}
}

// pathName returns the name in the path of a parameter of the input.
func (o *Operation) pathName(param string) string { return cmp.Or(o.inPath[param], param) }

// IsHidden reports whether the document leaves the operation out.
func (o *Operation) IsHidden() bool { return o.hidden }

// HasForm reports whether the body of the operation is a form, see TakesForm.
func (o *Operation) HasForm() bool { return o.form != nil }

// Writes reports whether the operation needs a write scope.
func (o *Operation) Writes() bool { return slices.ContainsFunc(o.Scopes, isWrite) }

func isWrite(s auth.Scope) bool { return strings.HasPrefix(string(s), "write:") }

// idempotent reports whether the operation accepts an Idempotency-Key.
func (o *Operation) idempotent() bool {
	return o.Method == http.MethodPost && o.Writes() && !o.repeatable
}

// Handler is a method expression of the group's service, for example (*service).get. It
// returns the answer, or nil for None.
type Handler[S, I, O any] = func(*S, context.Context, *I) (*O, error)

// Route is an operation with its handler, a method of the service S.
type Route[S any] struct {
	Operation
	mount func(target huma.API, tag string, service *S)
}

// Get declares a route that reads. The route also answers HEAD.
func Get[S, I, O any](id, path string, h Handler[S, I, O], scopes auth.Scopes, opts ...Option) Route[S] {
	return route(Operation{Method: http.MethodGet, ID: id, Path: path, Scopes: scopes}, h, opts)
}

// Post declares a route that searches or creates. A route with a write scope accepts an
// Idempotency-Key.
func Post[S, I, O any](id, path string, h Handler[S, I, O], scopes auth.Scopes, opts ...Option) Route[S] {
	return route(Operation{Method: http.MethodPost, ID: id, Path: path, Scopes: scopes}, h, opts)
}

// Put declares a route that updates.
func Put[S, I, O any](id, path string, h Handler[S, I, O], scopes auth.Scopes, opts ...Option) Route[S] {
	return route(Operation{Method: http.MethodPut, ID: id, Path: path, Scopes: scopes}, h, opts)
}

// Patch declares a route that updates as Put does, for clients that send PATCH.
func Patch[S, I, O any](id, path string, h Handler[S, I, O], scopes auth.Scopes, opts ...Option) Route[S] {
	return route(Operation{Method: http.MethodPatch, ID: id, Path: path, Scopes: scopes}, h, opts)
}

// Delete declares a route that deletes.
func Delete[S, I, O any](id, path string, h Handler[S, I, O], scopes auth.Scopes, opts ...Option) Route[S] {
	return route(Operation{Method: http.MethodDelete, ID: id, Path: path, Scopes: scopes}, h, opts)
}

// route completes an operation with the defaults and the options.
func route[S, I, O any](op Operation, h Handler[S, I, O], opts []Option) Route[S] {
	op.Bucket, op.Status, op.MaxBody, op.bodies = ratelimit.None, http.StatusOK, bodyLimit, []string{mediaJSON}
	op.versioned = reflect.TypeFor[*O]().Implements(reflect.TypeFor[versioned]())
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

// Group is a tag group: its operations and their handlers. Each group is one Lambda.
type Group struct {
	// Name is the name of the group's folder under functions.
	Name string
	// Tag is the name of the group in the document.
	Tag        string
	Operations []Operation

	// mount registers the routes. If env is nil, mount only describes the routes.
	mount func(target huma.API, env *Env)
	// OtherRoutes returns the methods and paths of other groups. The root group receives all
	// unknown requests: with OtherRoutes it decides between 404 and 405.
	OtherRoutes func() []Operation
}

// NewGroup declares a tag group. start creates the service; it is not called to describe the
// group. The group's name is its tag in lower case without spaces; its package has that name too.
func NewGroup[S any](tag string, start func(Env) *S, routes []Route[S]) Group {
	g := Group{Name: strings.ToLower(strings.ReplaceAll(tag, " ", "")), Tag: tag}
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

// Named returns the group with a name that the tag does not give.
func (g Group) Named(name string) Group {
	g.Name = name
	return g
}

// InEvent is the part of an input with the event of the path. Embed it. The embedded parts of
// an input must be exported types, since huma ignores unexported types.
type InEvent struct {
	EventID int64 `path:"eventId" minimum:"1" doc:"The event's id."`
}

// InSession is the part of an input with the session of the path, of the caller's event.
type InSession struct {
	InEvent
	SessionID string `path:"sessionId" format:"uuid" doc:"The session's or subsession's id."`
}

// InOrganization is the part of an input with the organization of the path. The pipeline has
// checked that the caller belongs to the organization.
type InOrganization struct {
	OrgID int64 `path:"orgId" minimum:"1" doc:"The organization's id, the caller's own."`
}

// Revision is the part of an input with the If-Match header, which write.Guard compares with
// the record.
type Revision struct {
	IfMatch string `header:"If-Match" doc:"The record's ETag as last fetched. When the record has changed since, nothing is written and the answer is 409."`
}

// Resolve implements huma.Resolver. It refuses an If-Match header that is not a list of entity
// tags, before the handler looks for the record.
func (r *Revision) Resolve(c huma.Context) []error {
	c.EachHeader(func(name, value string) {
		if strings.EqualFold(name, "If-Match") && value == "" {
			r.IfMatch = " " // An empty header is not an absent header.
		}
	})
	if err := (write.Guard{IfMatch: r.IfMatch}).Validate(); err != nil {
		return []error{err}
	}
	return nil
}

// Strings is a query parameter with a list: values separated by commas, the parameter
// repeated, or both.
type Strings []string

// Has reports whether the list contains value.
func (s Strings) Has(value string) bool { return slices.Contains(s, value) }

// None is the output of a route that answers 204 without a body.
type None struct{}

// Redirect is the output of a route that sends the client to another address.
type Redirect struct{ URL string }

// File is the output of a route that answers bytes instead of a record.
type File struct {
	// Type is the Content-Type.
	Type string
	Body []byte
	// Gzipped reports whether Body is compressed. The pipeline decompresses Body for a client
	// that does not accept gzip.
	Gzipped bool
	// Policy is the Content-Security-Policy. The default forbids everything.
	Policy string
}

// Choice is an output that a client can have as a file, too: AsFile returns the file, nil for JSON. Media names the types of the files.
type Choice interface{ AsFile() *File }

// Download is the output of a route that answers a file made of records. It has an ETag, and is not
// compressed on its way: its formats are.
type Download struct {
	File
	// Name is the name under which a browser saves the file, in ASCII.
	Name string
	// Version tells two states of the records apart.
	Version int64
}

// Revision returns the version that the ETag names.
func (d *Download) Revision() int64 { return d.Version }
