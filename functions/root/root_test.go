package root

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/fstest"
	"time"

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
