package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"

	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/table"
)

// operation is an operation of another group.
type operation struct {
	api.Operation
	// handler returns the handler of the group. The first call starts the group.
	handler func() http.Handler
	log     *slog.Logger
}

type requestKey struct{}

// withRequest keeps the context of a request for the calls of the message: the SDK passes on the values of a context, but neither the end
// of its time nor its cancellation.
func withRequest(ctx context.Context) context.Context {
	return context.WithValue(ctx, requestKey{}, ctx)
}

// send does the operation through the pipeline of its group, with the token of the request of ctx, and returns the body of the answer. The
// error is an *apierr.Error if the operation refuses the request.
func (o operation) send(ctx context.Context, address string, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, o.Method, address, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("mcp: %w", err)
	}
	r.Header.Set("Authorization", api.Header(ctx).Get("Authorization"))
	r.Header.Set("Content-Type", mediaJSON)
	got := newRecorder()
	o.handler().ServeHTTP(got, r)
	if got.status < http.StatusBadRequest {
		return got.Bytes(), nil
	}
	refusal := &apierr.Error{Status: got.status, Header: got.header}
	if err := json.Unmarshal(got.Bytes(), refusal); err != nil {
		return nil, fmt.Errorf("mcp: %w", err)
	}
	return nil, refusal
}

// safely does the work of a call, and returns an error for the client to see; nil without an error. The SDK calls a tool in a new
// goroutine, where a panic would end the process, and shows errors to the client unchanged.
func (o operation) safely(ctx context.Context, do func(context.Context) error) *apierr.Error {
	within := ctx.Value(requestKey{}).(context.Context)
	err := table.Safely(func() error { return do(within) })()
	if err == nil {
		return nil
	}
	refusal := api.Visible(err)
	if refusal.Status == http.StatusInternalServerError {
		o.log.ErrorContext(ctx, "a call of the MCP server failed", "operation", o.ID, "error", err)
	}
	return refusal
}

// recorder is the http.ResponseWriter of one request. A recorder keeps the answer in memory.
type recorder struct {
	header http.Header
	status int
	bytes.Buffer
}

func newRecorder() *recorder { return &recorder{header: http.Header{}, status: http.StatusOK} }

// Header returns the headers of the answer.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader sets the status of the answer.
func (r *recorder) WriteHeader(status int) { r.status = status }
