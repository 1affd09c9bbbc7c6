package root

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/shared/api"
)

// call sends a request to the group, which needs no table.
func call(t *testing.T, method, path string) *httptest.ResponseRecorder {
	t.Helper()
	env := api.Env{Region: "us", Now: time.Now, NewID: uuid.NewString, Log: slog.New(slog.DiscardHandler)}
	recorder := httptest.NewRecorder()
	request := httptest.NewRequestWithContext(context.Background(), method, path, http.NoBody)
	request.Header.Set("Accept-Encoding", "identity")
	Group.Handler(env).ServeHTTP(recorder, request)
	return recorder
}

func TestTheEntrySaysWhereToReadOn(t *testing.T) {
	got := call(t, "GET", "/")
	require.Equal(t, 200, got.Code)
	require.JSONEq(t, `{"name":"Lectern","version":"1.0","region":"us","description":"/openapi.json","documentation":"/docs"}`, got.Body.String())
	require.JSONEq(t, `{"status":"ok"}`, call(t, "GET", "/health").Body.String())
	require.Equal(t, string(document), call(t, "GET", "/openapi.json").Body.String())
}

// below answers a GET of API Gateway below the stage live. The headers are names and values in
// turn.
func below(t *testing.T, path string, headers ...string) events.APIGatewayProxyResponse {
	t.Helper()
	request := events.APIGatewayProxyRequest{
		HTTPMethod: http.MethodGet, Path: path, MultiValueHeaders: map[string][]string{},
		RequestContext: events.APIGatewayProxyRequestContext{Stage: "live", Path: "/live" + path},
	}
	for i := 0; i < len(headers); i += 2 {
		request.MultiValueHeaders[headers[i]] = []string{headers[i+1]}
	}
	env := api.Env{Region: "us", Now: time.Now, NewID: uuid.NewString, Log: slog.New(slog.DiscardHandler)}
	answer, err := api.Proxy(Group.Handler(env))(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.StatusCode)
	return answer
}

func TestTheEntryBelowAStage(t *testing.T) {
	require.JSONEq(t, `{"name":"Lectern","version":"1.0","region":"us","description":"/live/openapi.json","documentation":"/live/docs"}`,
		below(t, "/").Body)
}

// TestTheDocumentBelowAStageDiffersInItsAddressesAlone, and the document at the root stays the
// golden one after it.
func TestTheDocumentBelowAStageDiffersInItsAddressesAlone(t *testing.T) {
	want := strings.Split(string(document), "\n")
	text := below(t, "/openapi.json").Body
	got := strings.Split(text, "\n")
	require.Len(t, got, len(want))
	var changed []string
	for i := range want {
		if got[i] != want[i] {
			changed = append(changed, strings.TrimSpace(got[i]))
		}
	}
	require.Equal(t, []string{
		`"authorizationUrl": "/live/oauth/authorize",`, `"refreshUrl": "/live/oauth/token",`, `"tokenUrl": "/live/oauth/token"`, `"url": "/live"`,
	}, changed)

	packed := below(t, "/openapi.json", "Accept", "*/*", "Accept-Encoding", "gzip")
	require.True(t, packed.IsBase64Encoded)
	require.Equal(t, []string{"gzip"}, packed.MultiValueHeaders["Content-Encoding"])
	unpacked, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed.Body)))
	require.NoError(t, err)
	all, err := io.ReadAll(unpacked)
	require.NoError(t, err)
	require.Equal(t, text, string(all))

	require.Equal(t, string(document), call(t, "GET", "/openapi.json").Body.String())
}

// TestEveryAddressOfTheDocumentIsRendered, also one that a later change of the document adds.
func TestEveryAddressOfTheDocumentIsRendered(t *testing.T) {
	var described any
	require.NoError(t, json.Unmarshal([]byte(below(t, "/openapi.json").Body), &described))
	found := addresses(described)
	require.Len(t, found, 4)
	for _, address := range found {
		require.Regexp(t, "^/live(/|$)", address)
	}
}

// addresses returns the texts in a value of JSON that begin with a slash. Keys of objects are no
// addresses: the paths of the operations are relative to the server.
func addresses(value any) (found []string) {
	switch value := value.(type) {
	case string:
		if strings.HasPrefix(value, "/") {
			return []string{value}
		}
	case []any:
		for _, v := range value {
			found = append(found, addresses(v)...)
		}
	case map[string]any:
		for _, v := range value {
			found = append(found, addresses(v)...)
		}
	}
	return found
}

func TestPathsOfOtherGroupsAreKnown(t *testing.T) {
	session := "/v1/event/1/sessions/0196f1d2-0000-7000-8000-000000000001"
	for _, c := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"PATCH", session, 405, "GET, PUT, DELETE, HEAD, OPTIONS"},
		{"OPTIONS", session, 204, "GET, PUT, DELETE, HEAD, OPTIONS"},
		{"GET", "/v1/event/1/sessions/create", 405, "POST, OPTIONS"},
		{"POST", "/", 405, "GET, HEAD, OPTIONS"},
		{"GET", "/v1/nothing", 404, ""},
		{"OPTIONS", "/v1/nothing", 204, "OPTIONS"},
	} {
		got := call(t, c.method, c.path)
		require.Equal(t, c.status, got.Code, "%s %s", c.method, c.path)
		require.Equal(t, c.allow, got.Header().Get("Allow"), "%s %s", c.method, c.path)
	}
}

func TestTheReferencePageAsksThisServiceAlone(t *testing.T) {
	got := call(t, "GET", "/docs")
	require.Equal(t, 200, got.Code)
	require.Equal(t, "text/html; charset=utf-8", got.Header().Get("Content-Type"))
	sum := sha256.Sum256([]byte(startScript))
	require.Equal(t, "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; connect-src 'self'; "+
		"img-src 'self' data:; font-src 'self' data:; style-src 'self' 'unsafe-inline'; "+
		"script-src 'self' 'unsafe-eval' 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'",
		got.Header().Get("Content-Security-Policy"))
	require.NotContains(t, got.Body.String(), "http")
}

func TestABuildWithoutTheScriptSaysSo(t *testing.T) {
	with := &service{files: fstest.MapFS{scalarScript: {Data: []byte("zipped")}}}
	without := &service{files: fstest.MapFS{}}

	full, err := with.reference(context.Background(), nil)
	require.NoError(t, err)
	require.Contains(t, string(full.Body), "docs/scalar.js")
	script, err := with.script(context.Background(), nil)
	require.NoError(t, err)
	require.True(t, script.Gzipped)

	bare, err := without.reference(context.Background(), nil)
	require.NoError(t, err)
	require.Contains(t, string(bare.Body), "make setup")
	_, err = without.script(context.Background(), nil)
	require.EqualError(t, err, "Script not found")
}
