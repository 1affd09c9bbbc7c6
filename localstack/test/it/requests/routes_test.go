package requests_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/stacktest"
)

func TestUnknownRoutes(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t)
	for _, path := range []string{
		"/v1", "/v1/", "/v2/events", "/v1/events//", "//", "/v1//events", "//v1/events", "/v1/event", "/v1/event/{event}",
		"/v1/event/{event}/nothing", "/v1/event/{event}/sessions/create/more", "/v1/./events", "/%2e%2e/v1/events", "/v1/events%3Fpage=1",
	} {
		answer := s.Call(t, http.StatusNotFound, http.MethodGet, strings.ReplaceAll(path, "{event}", fmt.Sprint(s.Event)), nil)
		require.Equal(t, "NotFoundError", answer.JSON(t)["name"], path)
		require.Equal(t, "application/json", answer.Header.Get("Content-Type"), path)
	}
}

// TestATrailingSlashIsIgnored by every method, and by the limiter, which counts the request for
// the same route.
func TestATrailingSlashIsIgnored(t *testing.T) {
	s := stacktest.Start(t)
	track := s.Call(t, http.StatusOK, http.MethodPost, s.EventPath("/tracks/create/"), map[string]any{"name": "Ropes"}).JSON(t)
	id, _ := track["id"].(string)
	plain, slash := s.EventPath("/tracks"), s.EventPath("/tracks/")
	require.JSONEq(t, string(s.Call(t, http.StatusOK, http.MethodGet, plain, nil).Body), string(s.Call(t, http.StatusOK, http.MethodGet, slash, nil).Body))
	s.Call(t, http.StatusOK, http.MethodGet, slash+"?page=1", nil)
	s.Call(t, http.StatusOK, http.MethodPut, slash+id+"/", map[string]any{"name": "Knots"})
	s.Call(t, http.StatusOK, http.MethodHead, slash, nil)
	require.Equal(t, "GET, POST, HEAD, OPTIONS", s.Call(t, http.StatusMethodNotAllowed, http.MethodPatch, slash, nil).Header.Get("Allow"))
	require.Empty(t, s.As("").Call(t, http.StatusNoContent, http.MethodOptions, slash, nil).Body)
	s.As("").Call(t, http.StatusUnauthorized, http.MethodGet, slash, nil)
	few := s.As(s.TokenWith(t, map[string]any{"scopes": stacktest.Scopes, "limit": 2}))
	few.Call(t, http.StatusOK, http.MethodGet, plain, nil)
	few.Call(t, http.StatusOK, http.MethodGet, slash, nil)
	few.Call(t, http.StatusTooManyRequests, http.MethodGet, slash, nil)
}

func TestWrongMethods(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t)
	for _, c := range []struct{ method, path, allow string }{
		{http.MethodPost, "/v1/events", "GET, HEAD, OPTIONS"},
		{http.MethodDelete, s.EventPath("/sessions"), "GET, POST, HEAD, OPTIONS"},
		{http.MethodPatch, s.EventPath("/rooms"), "GET, POST, HEAD, OPTIONS"},
	} {
		answer := s.As("").Call(t, http.StatusMethodNotAllowed, c.method, c.path, nil)
		require.Equal(t, c.allow, answer.Header.Get("Allow"), "%s %s", c.method, c.path)
		require.Equal(t, "MethodNotAllowedError", answer.JSON(t)["name"])
	}
}

// TestAMethodThatHTTPDoesNotKnow does not pass a gateway.
func TestAMethodThatHTTPDoesNotKnow(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t)
	s.NeedsDoor(t, "the gateway answers methods that it does not know by itself")
	answer := s.As("").Call(t, http.StatusMethodNotAllowed, "BREW", "/health", nil)
	require.Equal(t, "GET, HEAD, OPTIONS", answer.Header.Get("Allow"))
}

func TestHead(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t)
	for _, path := range []string{"/", "/health", "/docs", "/openapi.json", "/v1/events", s.EventPath("/tracks")} {
		get := s.Call(t, http.StatusOK, http.MethodGet, path, nil)
		head := s.Call(t, http.StatusOK, http.MethodHead, path, nil)
		require.Empty(t, head.Body, path)
		require.Equal(t, get.Header.Get("Content-Type"), head.Header.Get("Content-Type"), path)
		require.Equal(t, get.Header.Get("ETag"), head.Header.Get("ETag"), path)
	}
	require.Empty(t, s.As("").Call(t, http.StatusUnauthorized, http.MethodHead, "/v1/events", nil).Body)
}

func TestOptionsAndOtherOrigins(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t)
	preflight := s.As("").Call(t, http.StatusNoContent, http.MethodOptions, s.EventPath("/sessions"), stacktest.WithHeaders(nil,
		"Origin", "https://app.example", "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "x-access-token"))
	require.Equal(t, "GET, POST, HEAD, OPTIONS", preflight.Header.Get("Allow"))
	require.Equal(t, "*", preflight.Header.Get("Access-Control-Allow-Origin"))
	require.Contains(t, preflight.Header.Get("Access-Control-Allow-Methods"), "POST")
	for _, name := range []string{"x-access-token", "authorization", "content-type", "if-match", "idempotency-key"} {
		require.Contains(t, preflight.Header.Get("Access-Control-Allow-Headers"), name)
	}
	require.Empty(t, preflight.Body)

	answers := []stacktest.Answer{
		s.Call(t, http.StatusOK, http.MethodGet, "/v1/events", nil),
		s.As("").Call(t, http.StatusUnauthorized, http.MethodGet, "/v1/events", nil),
		s.Call(t, http.StatusNotFound, http.MethodGet, "/nothing", nil),
		s.Call(t, http.StatusBadRequest, http.MethodPost, s.EventPath("/sessions"), "{"),
	}
	for _, answer := range answers {
		require.Equal(t, "*", answer.Header.Get("Access-Control-Allow-Origin"))
		require.Contains(t, answer.Header.Get("Access-Control-Expose-Headers"), "ETag")
		require.Contains(t, answer.Header.Get("Access-Control-Expose-Headers"), "RateLimit-Remaining")
	}
}

const mega = 1 << 20

// padded is a session as a body of a size.
func padded(size int) string {
	return `{"title": "Padded", "unknown": "` + strings.Repeat("x", size-len(`{"title": "Padded", "unknown": ""}`)) + `"}`
}

// TestTheLargestBulk is one that a Lambda cannot be given: the gateway encodes a body as
// base64, and 6 MB are the limit of that.
func TestTheLargestBulk(t *testing.T) {
	s := stacktest.Start(t)
	s.Inside(t, "a body of more than 4.4 MB does not fit into what a Lambda is given")
	s.Call(t, http.StatusBadRequest, http.MethodPost, s.EventPath("/sessions/bulk"), padded(5*mega))
}

func TestBodySizesAndTypes(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t)
	create, bulk := s.EventPath("/sessions/create"), s.EventPath("/sessions/bulk")
	const kilo = 1 << 10
	s.Call(t, http.StatusOK, http.MethodPost, create, padded(mega))
	s.Call(t, http.StatusRequestEntityTooLarge, http.MethodPost, create, padded(mega+1))
	s.Call(t, http.StatusBadRequest, http.MethodPost, bulk, padded(4*mega))
	above := s.Call(t, http.StatusRequestEntityTooLarge, http.MethodPost, bulk, padded(5*mega+1))
	require.Equal(t, "PayloadTooLargeError", above.JSON(t)["name"])
	require.NotEmpty(t, above.Header.Get("X-Request-Id"))
	require.Equal(t, "*", above.Header.Get("Access-Control-Allow-Origin"))
	// Servers before the API answer such a body, and not in the API's shape.
	s.Call(t, http.StatusRequestEntityTooLarge, http.MethodPost, bulk, padded(10*mega+kilo))

	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "json", ""} {
		answer := s.Call(t, http.StatusUnsupportedMediaType, http.MethodPost, create, stacktest.WithHeaders(`{"title": "A"}`, "Content-Type", kind))
		require.Equal(t, "UnsupportedMediaTypeError", answer.JSON(t)["name"], kind)
	}
	s.Call(t, http.StatusOK, http.MethodPost, create, stacktest.WithHeaders(`{"title": "A"}`, "Content-Type", "application/json; charset=utf-8"))
	answer := s.Call(t, http.StatusBadRequest, http.MethodPost, create, `{"title": `)
	require.Equal(t, "VALIDATION_ERROR", answer.JSON(t)["code"])
}

func TestGzip(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t)
	plain := s.Call(t, http.StatusOK, http.MethodGet, "/openapi.json", nil)
	require.Empty(t, plain.Header.Get("Content-Encoding"))
	packed := s.Call(t, http.StatusOK, http.MethodGet, "/openapi.json", stacktest.WithHeaders(nil, "Accept", "*/*", "Accept-Encoding", "br, gzip;q=0.5"))
	require.Equal(t, "gzip", packed.Header.Get("Content-Encoding"))
	require.Less(t, len(packed.Body), len(plain.Body)/2)
	require.Equal(t, string(plain.Body), unpacked(t, packed.Body))
	require.Contains(t, packed.Header.Get("Vary"), "Accept-Encoding")

	small := s.Call(t, http.StatusOK, http.MethodGet, "/health", stacktest.WithHeaders(nil, "Accept", "*/*", "Accept-Encoding", "gzip"))
	require.Empty(t, small.Header.Get("Content-Encoding"), "an answer under 1 KB is not worth it")
	// The gateway would hand it out in base64.
	silent := s.Call(t, http.StatusOK, http.MethodGet, "/openapi.json", stacktest.WithHeaders(nil, "Accept", "", "Accept-Encoding", "gzip"))
	require.Empty(t, silent.Header.Get("Content-Encoding"))
	refused := s.Call(t, http.StatusOK, http.MethodGet, "/openapi.json", stacktest.WithHeaders(nil, "Accept", "*/*", "Accept-Encoding", "gzip;q=0, identity"))
	require.Empty(t, refused.Header.Get("Content-Encoding"))
}

func unpacked(t *testing.T, body []byte) string {
	t.Helper()
	reader, err := gzip.NewReader(bytes.NewReader(body))
	require.NoError(t, err)
	text, err := io.ReadAll(reader)
	require.NoError(t, err)
	return string(text)
}

func TestRequestID(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t)
	for _, path := range []string{"/v1/events", "/nothing"} {
		sent, err := s.Send(t, http.MethodGet, path, stacktest.WithHeaders(nil, "X-Request-Id", "client-7:a.b"))
		require.NoError(t, err)
		require.Equal(t, "client-7:a.b", sent.Header.Get("X-Request-Id"))
		first, err := s.Send(t, http.MethodGet, path, nil)
		require.NoError(t, err)
		second, err := s.Send(t, http.MethodGet, path, stacktest.WithHeaders(nil, "X-Request-Id", "no <such> id"))
		require.NoError(t, err)
		require.NotEmpty(t, first.Header.Get("X-Request-Id"))
		require.NotEqual(t, first.Header.Get("X-Request-Id"), second.Header.Get("X-Request-Id"))
		require.NotContains(t, second.Header.Get("X-Request-Id"), "<")
	}
}

func TestPathsStayEncoded(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t)
	for _, id := range []string{"a%20b", "a%3Fb", "a%25e", "%C3%A9", "a%23b", "%FF"} {
		requireOneSegment(t, s, id)
	}
}

// requireOneSegment asks for a session by a text that is no id.
func requireOneSegment(t *testing.T, s *stacktest.Stack, id string) {
	t.Helper()
	answer := s.Call(t, http.StatusBadRequest, http.MethodGet, s.EventPath("/sessions/"+id), nil)
	require.Equal(t, map[string]any{"field": "sessionId"}, answer.JSON(t)["details"], id)
}

func TestAnEncodedSlashDoesNotPartAPath(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t)
	s.NeedsGateway(t, "decodes a path before it looks for its route")
	requireOneSegment(t, s, "a%2Fb")
	s.Call(t, http.StatusNotFound, http.MethodGet, "/v1/events%2F", nil)
}

func TestReferencePageIsServedFromHereAlone(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t)
	page := s.As("").Call(t, http.StatusOK, http.MethodGet, "/docs", nil)
	require.Contains(t, page.Header.Get("Content-Type"), "text/html")
	require.Contains(t, page.Header.Get("Content-Security-Policy"), "connect-src 'self'")
	require.NotContains(t, string(page.Body), "://")
	script := s.As("").Call(t, http.StatusOK, http.MethodGet, "/docs/scalar.js", nil)
	require.Contains(t, script.Header.Get("Content-Type"), "text/javascript")
	require.Greater(t, len(script.Body), 1<<20)

	var document struct {
		OpenAPI string         `json:"openapi"`
		Paths   map[string]any `json:"paths"`
	}
	s.As("").Call(t, http.StatusOK, http.MethodGet, "/openapi.json", nil).Into(t, &document)
	require.Equal(t, "3.1.0", document.OpenAPI)
	require.Contains(t, document.Paths, "/v1/event/{eventId}/sessions/{sessionId}")
}

func TestEveryErrorIsJSON(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t)
	var shape struct {
		Name    string `json:"name"`
		Error   string `json:"error"`
		Message string `json:"message"`
	}
	for path, status := range map[string]int{
		"/nothing": http.StatusNotFound, "/v1/event/x/sessions": http.StatusBadRequest, "/v1/event/999999/sessions": http.StatusNotFound,
	} {
		require.NoError(t, json.Unmarshal(s.Call(t, status, http.MethodGet, path, nil).Body, &shape))
		require.NotEmpty(t, shape.Message)
		require.Equal(t, shape.Name, shape.Error)
	}
}
