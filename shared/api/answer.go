package api

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"lectern/shared/api/encode"
	"lectern/shared/apierr"
	"lectern/shared/page"
	"lectern/shared/size"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Names of headers that are written in more than one place.
const (
	headerRequestID = "X-Request-Id"
	headerReplayed  = "Idempotent-Replayed"
)

const (
	// minGzip is the size from which compression pays, in bytes.
	minGzip = 1 << 10
	// clientCaching lets a client keep what it has read for three minutes, and
	// tells shared caches to keep off (spec.md section 8).
	clientCaching = "private, max-age=180"
)

// fitter is an answer that is a page of results.
type fitter interface{ Fits(limit int) (int, error) }

// revised is an answer that is a version of a record.
type revised interface{ Revision() int64 }

// troubled is an answer with parts that the service failed.
type troubled interface{ Causes() []error }

// zips is whether the client takes gzip.
func (x *exchange) zips() bool { return encode.TakesGzip(x.r.Header.Values("Accept-Encoding")) }

// response is an answer as it is written.
type response struct {
	status int
	header http.Header
	body   []byte
}

// respond makes the exchange's answer, writes it and gives its status.
func (x *exchange) respond(w http.ResponseWriter) int {
	res := x.response()
	if x.zips() && len(res.body) > minGzip && res.header.Get("Content-Encoding") == "" {
		if x.packed == nil || res.status != x.Status {
			x.packed = encode.Gzip(res.body)
		}
		res.body = x.packed
		res.header.Set("Content-Encoding", "gzip")
	}
	for name, values := range res.header {
		w.Header()[name] = values
	}
	w.WriteHeader(res.status)
	if x.r.Method != http.MethodHead && len(res.body) > 0 {
		// A client that has gone away is no concern of the service.
		_, _ = w.Write(res.body)
	}
	return res.status
}

// response is the answer, or the error if there is one or making it fails.
func (x *exchange) response() *response {
	res := &response{header: x.commonHeader()}
	if x.err == nil {
		func() {
			defer x.recover()
			x.err = x.succeed(res)
		}()
	}
	if x.err != nil {
		res = &response{header: x.commonHeader()}
		x.fail(res)
	}
	return res
}

// succeed makes the answer of a request that was not refused.
func (x *exchange) succeed(res *response) error {
	if x.allow != nil {
		x.options(res)
		return nil
	}
	res.status = x.Status
	if file, ok := x.answer.(*File); ok {
		return x.file(res, file)
	}
	if x.Status == http.StatusNoContent {
		return nil
	}
	version, err := x.render(res)
	if err != nil {
		return err
	}
	if version > 0 {
		x.tag(res, version)
	}
	if x.clientCache {
		res.cacheable()
	}
	x.confess()
	return nil
}

// render encodes the answer. version is 0 for an answer that is no record.
func (x *exchange) render(res *response) (version int64, err error) {
	res.header.Set("Content-Type", "application/json")
	if x.key != nil && x.key.Replays() {
		res.header.Set(headerReplayed, "true")
	}
	if res.body, err = x.sized(); err != nil {
		return 0, err
	}
	if record, ok := x.answer.(revised); ok {
		return record.Revision(), nil
	}
	return 0, nil
}

// sized returns the answer as JSON of a size that a Lambda can return. A page that is too
// long is refused, unless it has one result; that and single records leave something out.
// A write is always answered.
func (x *exchange) sized() ([]byte, error) {
	for {
		body, err := wire.Encode(x.answer)
		if err != nil {
			return nil, fmt.Errorf("api: encode answer: %w", err)
		}
		limit := x.room(body)
		if len(body) <= limit {
			return body, nil
		}
		if record, ok := x.answer.(size.Shrinker); ok && record.Shrink() {
			continue
		}
		if results, ok := x.answer.(fitter); ok {
			return nil, x.tooLong(results, limit)
		}
		if !x.writes() {
			return nil, apierr.Invalid("", "%s", size.Message(size.Limit(x.ctx)))
		}
		return body, nil
	}
}

// room returns how many bytes body may have. It keeps the body compressed where that is
// what a long answer is measured by.
func (x *exchange) room(body []byte) int {
	if x.packed = nil; x.zips() {
		if len(body) <= size.Plain || len(body) > size.Unpacked {
			return size.Unpacked
		}
		x.packed = encode.Gzip(body)
		return min(size.Unpacked, portion(len(body), size.Packed, len(x.packed)))
	}
	escaped := len(body) + bytes.Count(body, []byte{'"'}) + bytes.Count(body, []byte{'\\'})
	return min(size.Plain, portion(len(body), size.Payload, escaped))
}

// portion returns the part of n bytes that fits where all of them take so many of a limit.
func portion(n, limit, taken int) int { return int(int64(n) * int64(limit) / int64(taken)) }

// envelope is room for what a page has beside its results, in bytes.
const envelope = 1 << 10

// tooLong is the 400 that names the page size that fits.
func (x *exchange) tooLong(results fitter, limit int) error {
	fits, err := results.Fits(limit - envelope)
	if err != nil {
		return fmt.Errorf("api: measure answer: %w", err)
	}
	name := "pageSize"
	for _, p := range x.endpoint.params {
		if p.Name == "page_size" {
			name = p.Name
		}
	}
	return page.TooLong(name, fits, size.Limit(x.ctx))
}

// tag sets the ETag and answers 304 to a read of what the client has already.
func (x *exchange) tag(res *response, version int64) {
	etag := encode.Tag(version, res.body)
	res.header.Set("ETag", etag)
	if x.Method == http.MethodGet && encode.Matches(x.r.Header.Values("If-None-Match"), etag) {
		res.status, res.body = http.StatusNotModified, nil
		res.header.Del("Content-Type")
	}
}

// confess logs why the service failed parts of an answer, as the request's line has only
// an error of the whole. The status is what such a request would have by itself.
func (x *exchange) confess() {
	answer, ok := x.answer.(troubled)
	if !ok {
		return
	}
	for _, err := range answer.Causes() {
		x.Log.ErrorContext(x.ctx, "part of the request failed", "request_id", x.id, "status", Visible(err).Status, "error", err)
	}
}

// file answers bytes.
func (x *exchange) file(res *response, f *File) error {
	res.body = f.Body
	res.header.Set("Content-Type", f.Type)
	if f.Policy != "" {
		res.header.Set("Content-Security-Policy", f.Policy)
	}
	if x.clientCache {
		res.cacheable()
	}
	if !f.Gzipped {
		return nil
	}
	if x.zips() {
		res.header.Set("Content-Encoding", "gzip")
		return nil
	}
	var err error
	res.body, err = encode.Gunzip(f.Body)
	return err
}

// fail answers an error. Only an *apierr.Error says anything to the caller.
func (x *exchange) fail(res *response) {
	e := Visible(x.err)
	for name, values := range e.Header {
		res.header[name] = values
	}
	if e.Status == http.StatusUnauthorized {
		res.header.Set("WWW-Authenticate", "Bearer")
	}
	res.header.Set("Content-Type", "application/json")
	res.status = e.Status
	body, err := wire.Encode(e)
	if err != nil {
		// A detail that is no JSON: the error is shown without its details.
		e.Details = nil
		body, _ = wire.Encode(e)
	}
	res.body = body
}

// Visible is the error that a caller may see of one: an *apierr.Error as it is, the 503 of
// a busy table, and otherwise a 500 that tells nothing.
func Visible(err error) *apierr.Error {
	var e *apierr.Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, table.ErrBusy):
		return apierr.Unavailable()
	default:
		return apierr.Internal()
	}
}

// exposed are the headers that a script of another origin may read.
var exposed = strings.Join([]string{
	"ETag", headerRequestID, headerReplayed, "Retry-After",
	"RateLimit", "RateLimit-Policy", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset",
}, ", ")

// CommonHeader has what every answer carries, those that a gateway gives by itself among
// them, beside the id of its request. Callers authenticate by a header of their own
// making, so any origin may call.
func CommonHeader() map[string]string {
	return map[string]string{
		"Cache-Control":                 "no-store",
		"Vary":                          "Accept-Encoding",
		"Access-Control-Allow-Origin":   "*",
		"Access-Control-Expose-Headers": exposed,
		"Referrer-Policy":               "no-referrer",
		"Strict-Transport-Security":     "max-age=31536000",
		"X-Content-Type-Options":        "nosniff",
	}
}

// commonHeader is CommonHeader with what is this answer's own, whatever it says.
func (x *exchange) commonHeader() http.Header {
	h := http.Header{}
	if x.verdict != nil {
		h = x.verdict().Header()
	}
	for name, value := range CommonHeader() {
		h.Set(name, value)
	}
	h.Set(headerRequestID, x.id)
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	return h
}

// cacheable lets the client keep the answer, by caller and coding.
func (res *response) cacheable() {
	res.header.Set("Cache-Control", clientCaching)
	res.header.Set("Vary", "Authorization, x-access-token, Accept-Encoding")
}

// options answers OPTIONS, also as the preflight of another origin's script.
func (x *exchange) options(res *response) {
	res.status = http.StatusNoContent
	allow := strings.Join(x.allow, ", ")
	res.header.Set("Allow", allow)
	res.header.Set("Access-Control-Allow-Methods", allow)
	res.header.Set("Access-Control-Allow-Headers",
		"authorization, content-type, idempotency-key, if-match, if-none-match, x-access-token, x-request-id")
	res.header.Set("Access-Control-Max-Age", "86400")
}
