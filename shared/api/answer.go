package api

import (
	"errors"
	"net/http"
	"strings"

	"lectern/shared/api/encode"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/blob"
	"lectern/shared/scan"
	"lectern/shared/size"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Names of headers that several files use.
const (
	headerRequestID = "X-Request-Id"
	headerReplayed  = "Idempotent-Replayed"
)

const (
	// minGzip is the size above which an answer is compressed, in bytes.
	minGzip = 1 << 10
	// clientCaching lets a client cache an answer for three minutes, and forbids shared
	// caches (spec.md section 8).
	clientCaching = "private, max-age=180"
)

// versioned is an answer that shows one version of a record.
type versioned interface{ Revision() int64 }

// partial is an answer of several parts, for example a bulk. Causes returns the errors of the
// parts that the service failed to do.
type partial interface{ Causes() []error }

// takesGzip reports whether the client accepts gzip.
func (x *exchange) takesGzip() bool { return encode.TakesGzip(x.r.Header.Values("Accept-Encoding")) }

// response is an encoded answer.
type response struct {
	status int
	header http.Header
	body   []byte
	// gzip is the compressed body; nil if it was not needed yet.
	gzip []byte
	// compressed reports whether the format of the body is a compressed one.
	compressed bool
}

// respond encodes the answer, writes it and returns its status.
func (x *exchange) respond(w http.ResponseWriter) int {
	res := x.response()
	if x.takesGzip() && !res.compressed && len(res.body) > minGzip && res.header.Get("Content-Encoding") == "" {
		if res.gzip == nil {
			res.gzip = encode.Gzip(res.body)
		}
		res.body = res.gzip
		res.header.Set("Content-Encoding", "gzip")
	}
	for name, values := range res.header {
		w.Header()[name] = values
	}
	w.WriteHeader(res.status)
	if x.r.Method != http.MethodHead && len(res.body) > 0 {
		// An error says that the client has closed the connection.
		_, _ = w.Write(res.body)
	}
	return res.status
}

// response encodes the answer. It encodes the error instead if the request failed, or if the
// answer cannot be encoded.
func (x *exchange) response() *response {
	res := &response{header: x.commonHeader()}
	if x.err == nil {
		x.encode(res)
	}
	if x.err != nil {
		res = &response{header: x.commonHeader()}
		x.fail(res)
	}
	return res
}

// encode encodes the answer of a successful request, and sets err if that fails or panics.
func (x *exchange) encode(res *response) {
	defer x.recover()
	x.err = x.succeed(res)
}

// succeed encodes the answer of a successful request.
func (x *exchange) succeed(res *response) error {
	if x.allow != nil {
		x.options(res)
		return nil
	}
	res.status = x.Status
	switch answer := x.answer.(type) {
	case Written:
		if res.status, res.body = answer.Write(res.header); res.status != 0 {
			return nil
		}
		res.status = x.Status
	case *File:
		return x.file(res, answer)
	case *Redirect:
		res.header.Set("Location", answer.URL)
		return nil
	}
	if choice, ok := x.answer.(Choice); ok && choice.AsFile() != nil {
		return x.file(res, choice.AsFile())
	}
	if download, ok := x.answer.(*Download); ok {
		return x.download(res, download)
	}
	if x.Status == http.StatusNoContent {
		return nil
	}
	return x.record(res)
}

// record answers a record, or another answer as JSON.
func (x *exchange) record(res *response) error {
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
	x.logFailedParts()
	return nil
}

// render encodes the answer as JSON. version is 0 unless the answer is a record.
func (x *exchange) render(res *response) (version int64, err error) {
	res.header.Set("Content-Type", "application/json")
	if x.key != nil && x.key.Replays() {
		res.header.Set(headerReplayed, "true")
	}
	encoded, err := size.Encode(x.ctx, x.answer)
	if err != nil {
		return 0, err
	}
	res.body, res.gzip = encoded.JSON, encoded.Gzip
	if record, ok := x.answer.(versioned); ok {
		return record.Revision(), nil
	}
	return 0, nil
}

// tag sets the ETag. It answers 304 to a GET if the client has the same version.
func (x *exchange) tag(res *response, version int64) {
	etag := encode.Tag(version, res.body)
	res.header.Set("ETag", etag)
	if x.Method == http.MethodGet && encode.Matches(x.r.Header.Values("If-None-Match"), etag) {
		res.status, res.body, res.gzip = http.StatusNotModified, nil, nil
		res.header.Del("Content-Type")
	}
}

// logFailedParts logs the errors of the failed parts of an answer. Each line has the status
// that the part would have as a request of its own.
func (x *exchange) logFailedParts() {
	answer, ok := x.answer.(partial)
	if !ok {
		return
	}
	for _, err := range answer.Causes() {
		x.Log.ErrorContext(x.ctx, "part of the request failed", "request_id", x.id, "status", Visible(err).Status, "error", err)
	}
}

// file answers a File.
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
	if x.takesGzip() {
		res.header.Set("Content-Encoding", "gzip")
		return nil
	}
	var err error
	res.body, err = encode.Gunzip(f.Body)
	return err
}

// download answers a Download.
func (x *exchange) download(res *response, d *Download) error {
	res.compressed = true
	res.header.Set("Content-Disposition", `attachment; filename="`+d.Name+`"`)
	if err := x.file(res, &d.File); err != nil {
		return err
	}
	x.tag(res, d.Version)
	return nil
}

// fail answers the error of the exchange.
func (x *exchange) fail(res *response) {
	e := Visible(x.err)
	for name, values := range e.Header {
		res.header[name] = values
	}
	if challenge := x.challenge(e); challenge != "" {
		res.header.Set(HeaderChallenge, challenge)
	}
	res.header.Set("Content-Type", "application/json")
	res.status = e.Status
	shown := any(e)
	if x.endpoint != nil && x.failure != nil {
		shown = x.failure(x.ctx, e)
	}
	if page, ok := shown.(Written); ok {
		_, res.body = page.Write(res.header)
		return
	}
	body, err := wire.Encode(shown)
	if err != nil {
		// A detail cannot be encoded: answer the error without its details.
		e.Details = nil
		body, _ = wire.Encode(e)
	}
	res.body = body
}

// Visible returns the error to show to the caller: err itself if it is an *apierr.Error, a 503
// if the table or the bucket is busy or the scanner has no verdict, otherwise a 500 without a cause.
func Visible(err error) *apierr.Error {
	var e *apierr.Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, scan.ErrNoVerdict):
		return apierr.Unscanned() // A scan may end with the time of the completion, which is ErrBusy too.
	case errors.Is(err, table.ErrBusy), errors.Is(err, blob.ErrBusy):
		return apierr.Unavailable()
	default:
		return apierr.Internal()
	}
}

// exposed lists the headers that a script of another origin may read.
var exposed = strings.Join([]string{
	"ETag", headerRequestID, headerReplayed, "Retry-After",
	"RateLimit", "RateLimit-Policy", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", HeaderChallenge,
}, ", ")

// HeaderChallenge and Challenge are the header of every 401, and of the 403 for an application without the scope. API Gateway renames
// the header in the answers of functions, so the gateway's own 401 sends the header itself.
const (
	HeaderChallenge = "WWW-Authenticate"
	Challenge       = "Bearer"
)

// challenge returns the header of a refusal by a function; empty for a refusal without the header. The header says where to find the
// servers that give tokens (RFC 9728 section 5.1), that a token was sent and is not valid, or which scope an application lacks
// (RFC 6750 section 3).
func (x *exchange) challenge(e *apierr.Error) string {
	var parts []string
	switch {
	case e.Status == http.StatusForbidden && x.caller != nil:
		scope := x.caller.Lacks(x.Scopes)
		if scope == "" {
			return ""
		}
		parts = append(parts, `error="insufficient_scope"`, `scope="`+string(scope)+`"`)
	case e.Status != http.StatusUnauthorized || x.endpoint != nil && !x.needsToken():
		return ""
	}
	if refused := (*auth.Refusal)(nil); errors.As(x.err, &refused) && refused.Reason != auth.ReasonMissing {
		parts = append(parts, `error="invalid_token"`)
	}
	if address := Address(x.ctx); address != "" {
		parts = append(parts, described(address, x.endpoint != nil && x.connected))
	}
	return strings.TrimSpace(Challenge + " " + strings.Join(parts, ", "))
}

// ChallengeAt returns the header of a 401 without an invocation, for the MCP server of a region at an address.
func ChallengeAt(address string) string { return Challenge + " " + described(address, true) }

// described returns the parameter of the header that names the description of a region, or of the MCP server of the region.
func described(address string, connected bool) string {
	address += ResourceMetadata
	if connected {
		address += PathMCP
	}
	return `resource_metadata="` + address + `"`
}

// PathAuthorize is the path to which an application sends the browser of a member.
const PathAuthorize = "/oauth/authorize"

// ResourceMetadata is the path of the description of the region for applications (RFC 9728).
const ResourceMetadata = "/.well-known/oauth-protected-resource"

// CommonHeader returns the headers of every answer except X-Request-Id. The gateway sends
// them too, with the answers that it gives itself. Any origin may call, because a browser
// never sends the token by itself.
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

// commonHeader returns the headers that do not depend on the result: CommonHeader, the rate
// limit, the request id and the default Content-Security-Policy.
func (x *exchange) commonHeader() http.Header {
	h := http.Header{}
	if x.verdict != nil {
		h = x.verdict.wait().Header()
	}
	for name, value := range CommonHeader() {
		h.Set(name, value)
	}
	h.Set(headerRequestID, x.id)
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	return h
}

// cacheable lets the client cache the answer, separately for each caller and encoding.
func (res *response) cacheable() {
	res.header.Set("Cache-Control", clientCaching)
	res.header.Set("Vary", "Authorization, x-access-token, Accept-Encoding")
}
