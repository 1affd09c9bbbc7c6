// Package api serves typed handlers over HTTP. A route is declared as one line of data, and
// every request goes through the same pipeline (design.md section 2). The package defines the
// order of refusals, the headers, the shape of errors and the OpenAPI document. It uses
// callers, the snapshot of settings, rate limits and idempotency keys, but no records.
//
// Read route.go, router.go, pipeline.go, answer.go; then limit.go, adapter.go (huma),
// document.go and lambda.go.
package api

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"reflect"
	"sync"
	"time"

	"lectern/shared/api/check"
	"lectern/shared/apierr"
	"lectern/shared/blob"
	"lectern/shared/bus"
	"lectern/shared/idempotency"
	"lectern/shared/scan"
	"lectern/shared/secret"
	"lectern/shared/table"
)

// Version is the version of the API (spec.md section 9).
const Version = "1.0"

// Env is the environment of a group's service in one region.
type Env struct {
	// Region is the region's name in tokens, for example us.
	Region string
	Table  *table.Table
	// Now is the clock.
	Now func() time.Time
	// NewID returns a UUID, the id of a new record.
	NewID func() string
	Log   *slog.Logger
	// AdminURL is the address of the admin application, without a slash at the end. Without
	// AdminURL, the admin_url of records is null.
	AdminURL string
	// DailyWrites limits a token's requests to routes with CountsDaily on one day in UTC; 0
	// sets no limit.
	DailyWrites int64
	// SearchUnits limits the read units that an organization's requests to routes without
	// Limit may use in a minute, in one process; 0 sets no limit.
	SearchUnits int64
	// MostRecords lowers the caps on records of a kind (packages caps and resource), and on those that a query reads, for
	// tests; 0 leaves the caps as they are.
	MostRecords int64
	// Keys seals and opens small secrets with the keys of the region.
	Keys *secret.Keys
	// Blobs is the bucket of the region. Its calls fail in a function that uses no bytes.
	Blobs *blob.Store
	// Scanner gives the verdict on bytes of the bucket.
	Scanner scan.Scanner
	// Transcriber names the transcriber of the region (package speech); empty for none.
	Transcriber string
	// HoldingSlides reports whether the region has the worker that draws holding slides.
	HoldingSlides bool
	// OpenRegistration lets applications register themselves (RFC 7591).
	OpenRegistration bool
	// QueryModel is the id of the language model that writes queries (package writer), and QueryModelRegion
	// the AWS region of the model; QueryModel is empty for none.
	QueryModel, QueryModelRegion string
	// LocalReceivers allows webhooks to http://127.0.0.1:PORT, and identity providers there. A deployed function never has it.
	LocalReceivers bool
	// Places has the bus and the queues of the region, for the operator's commands. It is nil in
	// functions that use neither.
	Places *bus.Places
	// Memory has the values that the groups of one process share; see Shared.
	Memory *Memory
}

// Memory keeps one value of each type for all groups that use one table in one process. The
// zero Memory is empty.
type Memory struct {
	mu   sync.Mutex
	kept map[reflect.Type]func() any
}

// Shared returns the T that all groups of env share. The first call builds the T. Without a
// Memory every call builds a new T.
func Shared[T any](env Env, build func(Env) *T) *T {
	if env.Memory == nil {
		return build(env)
	}
	return env.Memory.once(reflect.TypeFor[T](), func() any { return build(env) })().(*T)
}

// once returns the function that builds the value of a type at its first call. Call the
// function outside the lock, since build may call Shared for other types.
func (m *Memory) once(t reflect.Type, build func() any) func() any {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil {
		m.kept = map[reflect.Type]func() any{}
	}
	if m.kept[t] == nil {
		m.kept[t] = sync.OnceValue(build)
	}
	return m.kept[t]
}

// Decode checks and decodes a JSON object inside a body, for example an operation of a bulk,
// by the rules of a request body of type T. The field in an error is relative to the object.
// The error is a 400.
func Decode[T any](raw []byte) (*T, *apierr.Error) {
	into, err := check.Decode[T](raw)
	if err != nil {
		return nil, Visible(err)
	}
	return into, nil
}

// Form is a body of multipart/form-data that the handler reads as it comes.
type Form struct {
	Body     FormBody
	Boundary string
	// Keyed reports whether the request has an Idempotency-Key. Claim needs no text otherwise.
	Keyed bool
}

// FormBody is the body of a form.
type FormBody struct {
	io.Reader
	control *http.ResponseController
}

// SetReadDeadline ends a read that lasts longer. It returns an error where the body has come before the
// request, as in a Lambda.
func (b FormBody) SetReadDeadline(at time.Time) error { return b.control.SetReadDeadline(at) }

// FormOf returns the form of a request to a route with TakesForm. Only the first call of the handler can
// read the body: a call that shows what an earlier request wrote (write.Ref) must not.
func FormOf(ctx context.Context) Form { return exchangeOf(ctx).sent }

// Claim looks up the Idempotency-Key of a request with a form, before its first write and after the
// handler has read the form. Two requests with the same text are the same request. Use the context for
// the write, and look at its write.Ref before.
func (f Form) Claim(ctx context.Context, text []byte) (context.Context, error) {
	x := exchangeOf(ctx)
	x.body = text
	err := x.claim()
	return idempotency.With(ctx, x.key), err
}

// Header returns the header of the request of a handler's context.
func Header(ctx context.Context) http.Header { return exchangeOf(ctx).r.Header }

// Written is an answer that sets its headers itself and returns status and body, such as a page for a browser. A Written of status 0 is
// encoded as JSON.
type Written interface {
	Write(h http.Header) (status int, body []byte)
}
