package requests_test

import (
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/stacktest"
)

// TestEveryLinkLeadsOn at the root, as at a domain of the API. The document is the golden one.
func TestEveryLinkLeadsOn(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t)
	s.NeedsDoor(t, "the gateway serves below its stage")
	entry, document := s.Site(t).FollowAll(t)
	require.JSONEq(t, entryBelow(""), string(entry))
	require.Equal(t, golden(t), string(document))
}

// TestEveryLinkLeadsOnBelowAStage, as without a domain of the API.
func TestEveryLinkLeadsOnBelowAStage(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t, stacktest.BelowStage("live"))
	site := s.Site(t)
	address, err := url.Parse(site.URL)
	require.NoError(t, err)
	require.Equal(t, "/live", address.Path)
	entry, document := site.FollowAll(t)
	require.JSONEq(t, entryBelow("/live"), string(entry))
	require.Equal(t, strings.NewReplacer(`"url": "/"`, `"url": "/live"`, `Url": "/`, `Url": "/live/`).Replace(golden(t)), string(document))

	packed := s.Call(t, http.StatusOK, http.MethodGet, "/openapi.json", stacktest.WithHeaders(nil, "Accept", "*/*", "Accept-Encoding", "gzip"))
	require.Equal(t, "gzip", packed.Header.Get("Content-Encoding"))
	require.Equal(t, string(document), unpacked(t, packed.Body))
	s.Call(t, http.StatusOK, http.MethodGet, "/v1/events", nil)
}

func TestNoHeaderOfAClientMovesTheLinks(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t, stacktest.BelowStage("live"))
	answer := s.Call(t, http.StatusOK, http.MethodGet, "/", stacktest.WithHeaders(nil, "X-Forwarded-Prefix", "/evil", "X-Forwarded-Host", "evil.example",
		"Forwarded", "host=evil.example", "X-GoLambdaProxy-ApiGw-Context", `{"stage": "evil", "path": "/evil/"}`))
	require.JSONEq(t, entryBelow("/live"), string(answer.Body))
}

// entryBelow returns the entry of the region us below a base path.
func entryBelow(base string) string {
	return `{"name": "Lectern", "version": "1.0", "region": "us",
		"description": "` + base + `/openapi.json", "documentation": "` + base + `/docs"}`
}

func golden(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../../functions/root/openapi.json")
	require.NoError(t, err)
	return string(text)
}
