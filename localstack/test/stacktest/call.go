package stacktest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/shared/auth"
)

// TokenHeader carries an API token.
const TokenHeader = "X-Access-Token"

// maxIdle is the time for which client keeps a connection without requests. The emulator
// closes a connection after 5 s, and a request that is sent at the same moment gets no answer.
const maxIdle = 2 * time.Second

// client keeps as many connections as a test has callers. Answers stay as the service sent
// them: client neither unpacks nor follows redirects.
var client = &http.Client{
	Timeout:       time.Minute,
	Transport:     &http.Transport{DisableCompression: true, MaxIdleConns: 64, MaxIdleConnsPerHost: 64, IdleConnTimeout: maxIdle},
	CheckRedirect: keepRedirect,
}

func keepRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Answer holds an answer of the service.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// withHeaders is a body with headers for the request.
type withHeaders struct {
	body    any
	headers []string
}

// WithHeaders returns a body for Call and Send that also sets headers of the request, given
// as names and values in turn. An empty value removes a header. A body with headers may get more.
func WithHeaders(body any, headers ...string) any { return withHeaders{body, headers} }

// Call sends a request with the caller's token, an API token or the access token of an
// application, and returns the answer, which must have the status. A string or bytes are sent as
// the body without change, nil sends no body, and any other value is sent as JSON.
func (s *Stack) Call(t testing.TB, status int, method, path string, body any) Answer {
	t.Helper()
	answer, err := s.Send(t, method, path, body)
	require.NoError(t, err)
	require.Equal(t, status, answer.Status, "%s %s answered %s", method, path, answer.Body)
	return answer
}

// Send sends a request as Call does. The answer may have any status, or may never come.
func (s *Stack) Send(t testing.TB, method, path string, body any) (Answer, error) {
	t.Helper()
	var headers []string
	for with, ok := body.(withHeaders); ok; with, ok = body.(withHeaders) {
		body, headers = with.body, append(slices.Clone(with.headers), headers...)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, reader(t, body))
	require.NoError(t, err)
	switch {
	case strings.HasPrefix(s.Token, string(auth.FormAccess)):
		request.Header.Set("Authorization", "Bearer "+s.Token)
	case s.Token != "":
		request.Header.Set(TokenHeader, s.Token)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Del(headers[i])
		if headers[i+1] != "" {
			request.Header.Set(headers[i], headers[i+1])
		}
	}
	response, err := client.Do(request)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return Answer{Status: response.StatusCode, Header: response.Header, Body: text}, err
}

// TrySend sends a request from any goroutine of the test. A request without an answer fails
// the test, without ending it, and has status 0.
func (s *Stack) TrySend(t testing.TB, method, path string, body any) Answer {
	t.Helper()
	answer, err := s.Send(t, method, path, body)
	if err != nil {
		t.Errorf("%s %s: %v", method, path, err)
	}
	return answer
}

// Call sends a request as the method Call does and decodes the answer.
func Call[T any](s *Stack, status int, method, path string, body any) T {
	s.t.Helper()
	var into T
	s.Call(s.t, status, method, path, body).Into(s.t, &into)
	return into
}

// JSON decodes the answer's body as an object.
func (a Answer) JSON(t testing.TB) map[string]any {
	t.Helper()
	var object map[string]any
	a.Into(t, &object)
	return object
}

// Into decodes the answer's body.
func (a Answer) Into(t testing.TB, into any) {
	t.Helper()
	decode(t, a.Body, into)
}

func reader(t testing.TB, body any) io.Reader {
	t.Helper()
	switch body := body.(type) {
	case nil:
		return http.NoBody
	case string:
		return bytes.NewReader([]byte(body))
	case []byte:
		return bytes.NewReader(body)
	default:
		return bytes.NewReader(encode(t, body))
	}
}

func encode(t testing.TB, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return text
}

func decode(t testing.TB, text []byte, into any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(text, into), "%s", text)
}
