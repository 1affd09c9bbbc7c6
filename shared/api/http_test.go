package api_test

import (
	"compress/gzip"
	"context"
	"encoding/base64"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/stretchr/testify/require"

	"lectern/shared/api"
)

func TestEveryAnswerCarriesTheCommonHeaders(t *testing.T) {
	s := start(t)
	for _, path := range []string{"/open", "/nothing", s.path("/notes/" + kept), s.path("/notes/x")} {
		header := s.send(t, "GET", path, "").Header
		require.Equal(t, "*", header.Get("Access-Control-Allow-Origin"), path)
		require.Empty(t, header.Get("Access-Control-Allow-Credentials"), path)
		for _, name := range []string{"ETag", "X-Request-Id", "RateLimit-Remaining", "Retry-After", "Idempotent-Replayed"} {
			require.Contains(t, header.Get("Access-Control-Expose-Headers"), name, path)
		}
		require.Equal(t, "nosniff", header.Get("X-Content-Type-Options"), path)
		require.NotEmpty(t, header.Get("Content-Security-Policy"), path)
		require.NotEmpty(t, header.Get("Strict-Transport-Security"), path)
	}
}

func TestMethodsOfAPath(t *testing.T) {
	s := start(t)
	for _, c := range []struct {
		path, method string
		status       int
		allow        string
	}{
		{s.path("/notes/" + kept), "PATCH", 405, "GET, PUT, DELETE, HEAD, OPTIONS"},
		{s.path("/notes/" + kept), "OPTIONS", 204, "GET, PUT, DELETE, HEAD, OPTIONS"},
		{s.path("/notes/create"), "OPTIONS", 204, "POST, OPTIONS"},
		{s.path("/notes/create"), "GET", 405, "POST, OPTIONS"},
		{"/nothing", "OPTIONS", 204, "OPTIONS"},
		{"/nothing", "DELETE", 404, ""},
		{"/open/", "GET", 200, ""},
		{s.path("/notes/" + kept + "/"), "PATCH", 405, "GET, PUT, DELETE, HEAD, OPTIONS"},
		{"/open//", "GET", 404, ""},
		{"/open%2F", "GET", 404, ""},
		{"//open", "GET", 404, ""},
		{"/x/../open", "GET", 404, ""},
	} {
		got := s.send(t, c.method, c.path, "", "X-Access-Token", "")
		require.Equal(t, c.status, got.StatusCode, "%s %s: %s", c.method, c.path, got.body)
		require.Equal(t, c.allow, got.Header.Get("Allow"), "%s %s", c.method, c.path)
		if c.method == "OPTIONS" {
			require.Equal(t, c.allow, got.Header.Get("Access-Control-Allow-Methods"))
			require.Contains(t, got.Header.Get("Access-Control-Allow-Headers"), "x-access-token")
		}
	}
}

func TestHeadAnswersLikeGetWithoutABody(t *testing.T) {
	s := start(t)
	get, head := s.send(t, "GET", s.path("/notes/"+kept), ""), s.send(t, "HEAD", s.path("/notes/"+kept), "")
	require.Equal(t, get.StatusCode, head.StatusCode)
	require.Empty(t, head.body)
	require.Equal(t, get.Header.Get("ETag"), head.Header.Get("ETag"))
	require.Equal(t, 404, s.send(t, "HEAD", "/nothing", "").StatusCode)
}

func TestETagsSaveWhatTheClientHas(t *testing.T) {
	s := start(t)
	path := s.path("/notes/" + kept)
	first := s.send(t, "GET", path, "")
	etag := first.Header.Get("ETag")
	require.Regexp(t, `^"7\.[A-Za-z0-9_-]+"$`, etag)
	require.Equal(t, "private, max-age=180", first.Header.Get("Cache-Control"))
	require.Equal(t, "Authorization, x-access-token, Accept-Encoding", first.Header.Get("Vary"))
	for match, status := range map[string]int{
		etag: 304, "W/" + etag: 304, `"1.x", ` + etag: 304, "*": 304, `"7.other"`: 200, strings.Trim(etag, `"`): 200, `"7"`: 200,
	} {
		got := s.send(t, "GET", path, "", "If-None-Match", match)
		require.Equal(t, status, got.StatusCode, match)
		require.Equal(t, etag, got.Header.Get("ETag"), match)
		require.Equal(t, status == 304, got.body == "", match)
	}
	require.Equal(t, "no-store", s.send(t, "GET", s.path("/notes/x"), "").Header.Get("Cache-Control"))
	written := s.send(t, "PUT", path, `{"text":"a","author":null}`, "If-None-Match", "*", "If-Match", etag)
	require.Equal(t, 200, written.StatusCode)
	require.NotEmpty(t, written.Header.Get("ETag"))
	require.Equal(t, "no-store", written.Header.Get("Cache-Control"))
	require.Contains(t, written.body, strings.Trim(etag, `"`), "the handler gets If-Match")
}

func TestLongAnswersAreCompressedForWhoTakesIt(t *testing.T) {
	s := start(t)
	for accepted, zipped := range map[string]bool{
		"gzip": true, "br, GZIP;q=0.5": true, "*": true, "gzip;q=0": false, "*, gzip;q=0": false, "identity": false, "br": false,
	} {
		got := s.send(t, "POST", s.path("/notes?size=2000"), "", "Accept-Encoding", accepted)
		require.Equal(t, zipped, got.Header.Get("Content-Encoding") == "gzip", accepted)
		require.Contains(t, got.Header.Get("Vary"), "Accept-Encoding")
		if zipped {
			unzipper, err := gzip.NewReader(strings.NewReader(got.body))
			require.NoError(t, err)
			plain, err := io.ReadAll(unzipper)
			require.NoError(t, err)
			got.body = string(plain)
		}
		require.Contains(t, got.body, strings.Repeat("x", 2000))
	}
	require.Empty(t, s.send(t, "POST", s.path("/notes?size=10"), "", "Accept-Encoding", "gzip").Header.Get("Content-Encoding"))
}

func TestTextIsNotEscapedForHTML(t *testing.T) {
	s := start(t)
	require.Contains(t, s.send(t, "GET", s.path("/notes/"+kept), "").body, `"a < b & \"c\""`)
}

func TestAPageThatCannotLeaveNamesTheSizeThatDoes(t *testing.T) {
	s := start(t)
	got := s.send(t, "POST", s.path("/notes?count=100&pageSize=100&size=100000"), "")
	require.Equal(t, 400, got.StatusCode)
	require.Equal(t, "pageSize", got.refusal(t).Details["field"])
	require.Contains(t, got.refusal(t).Message, "pageSize of 52 or less")
	require.Equal(t, 200, s.send(t, "POST", s.path("/notes?count=100&pageSize=52&size=100000"), "").StatusCode)
	list := s.send(t, "GET", s.path("/notes?size=6000000"), "")
	require.Equal(t, "page_size", list.refusal(t).Details["field"])
	require.Contains(t, list.refusal(t).Message, "page_size of 1 or less")
}

func TestAWriteIsAnsweredWithoutItsExpansions(t *testing.T) {
	s := start(t)
	got := s.send(t, "PUT", s.path("/notes/"+kept), `{"text":"a","author":null,"extras":9}`)
	require.Equal(t, 200, got.StatusCode)
	require.Less(t, len(got.body), 5<<20)
	require.Greater(t, len(got.body), 4<<20)
}

func TestADeleteAnswersNothingAndIgnoresABody(t *testing.T) {
	s := start(t)
	got := s.send(t, "DELETE", s.path("/notes/"+kept), "{ nonsense", "Content-Type", "text/plain")
	require.Equal(t, 204, got.StatusCode)
	require.Empty(t, got.body)
	require.Equal(t, 200, s.send(t, "GET", s.path("/notes/"+kept), "{ nonsense", "Content-Type", "text/plain").StatusCode)
}

func TestFilesAreAnsweredAsTheyAre(t *testing.T) {
	s := start(t)
	got := s.send(t, "GET", "/file", "")
	require.Equal(t, "plain", got.body)
	require.Equal(t, "text/plain", got.Header.Get("Content-Type"))
}

func TestProxyServesTheGatewaysEvents(t *testing.T) {
	s := start(t)
	proxy := api.Proxy(group.Handler(s.env))
	call := func(method, path, body string, headers ...string) events.APIGatewayProxyResponse {
		request := events.APIGatewayProxyRequest{
			HTTPMethod: method, Path: path, Body: base64.StdEncoding.EncodeToString([]byte(body)), IsBase64Encoded: true,
			MultiValueHeaders:               map[string][]string{"x-access-token": {s.token}, "content-type": {"application/json"}},
			MultiValueQueryStringParameters: map[string][]string{"expand": {"author", "extras"}},
			RequestContext:                  events.APIGatewayProxyRequestContext{RequestID: "of-the-gateway"},
		}
		for i := 0; i < len(headers); i += 2 {
			request.MultiValueHeaders[headers[i]] = []string{headers[i+1]}
		}
		got, err := proxy(context.Background(), request)
		require.NoError(t, err)
		return got
	}
	got := call("POST", s.path("/notes"), "{}")
	require.Equal(t, 200, got.StatusCode)
	require.Contains(t, got.Body, `"author+extras"`)
	require.Equal(t, 204, call("DELETE", s.path("/notes/"+kept), "").StatusCode)
	require.Empty(t, call("HEAD", s.path("/notes/"+kept), "").Body)
	call("GET", s.path("/notes/"+kept), "", "x-request-id", "of-the-client")
	lines := s.lines(t)
	own, taken := lines[len(lines)-2], lines[len(lines)-1]
	require.Equal(t, "of-the-gateway", own["request_id"])
	require.NotContains(t, own, "gateway_request_id")
	require.Equal(t, []any{"of-the-client", "of-the-gateway"}, []any{taken["request_id"], taken["gateway_request_id"]})
	long := `{"filters":{"ids":["` + kept + `"` + strings.Repeat(`,"`+kept+`"`, 50) + `]}}`
	require.True(t, call("POST", s.path("/notes"), long, "accept", "*/*", "accept-encoding", "gzip").IsBase64Encoded)
	require.False(t, call("POST", s.path("/notes"), long, "accept-encoding", "gzip").IsBase64Encoded, "the gateway would hand it out in base64")
	download := call("GET", "/download", "", "accept", "*/*", "accept-encoding", "gzip")
	require.True(t, download.IsBase64Encoded)
	require.Equal(t, base64.StdEncoding.EncodeToString([]byte(picture)), download.Body)
	require.Equal(t, []string{`attachment; filename="picture.png"`}, download.MultiValueHeaders["Content-Disposition"])
	require.Empty(t, download.MultiValueHeaders["Content-Encoding"], "a picture is compressed already")
	require.Equal(t, 304, call("GET", "/download", "", "if-none-match", download.MultiValueHeaders["Etag"][0]).StatusCode)
	for _, id := range []string{"a%3Fb", "a?b", "50%", "a b", "é", "a%2Fb"} {
		require.Contains(t, []int{400, 404}, call("GET", s.path("/notes/"+id), "").StatusCode, id)
	}
}

func TestSharedIsOneOfATypeAProcess(t *testing.T) {
	type thing struct{ n int }
	env := api.Env{Memory: new(api.Memory)}
	made := 0
	build := func(api.Env) *thing { made++; return &thing{n: made} }
	require.Same(t, api.Shared(env, build), api.Shared(env, build))
	require.NotSame(t, api.Shared(env, build), api.Shared(api.Env{Memory: new(api.Memory)}, build))
	require.Equal(t, 2, made, strconv.Itoa(made))
}
