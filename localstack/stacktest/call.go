package stacktest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TokenHeader carries an API token.
const TokenHeader = "X-Access-Token"

// client keeps as many connections as a test has callers, and shows answers as
// they were sent: neither unpacked nor redirected.
var client = &http.Client{
	Timeout:       time.Minute,
	Transport:     &http.Transport{DisableCompression: true, MaxIdleConns: 64, MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Answer is what the service answered.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Call sends a request with the caller's token and returns the answer, whose
// status must be the one given. A body may be a string or bytes, sent as they
// are, or anything else, sent as JSON; nil sends none. Headers are names and
// values in turn; an empty value leaves a header out that would be sent.
func (s *Stack) Call(t testing.TB, status int, method, path string, body any, header ...string) Answer {
	t.Helper()
	answer, err := s.Send(t, method, path, body, header...)
	require.NoError(t, err)
	require.Equal(t, status, answer.Status, "%s %s answered %s", method, path, answer.Body)
	return answer
}

// Send is Call for a request whose status is not known before, or whose answer
// may never come.
func (s *Stack) Send(t testing.TB, method, path string, body any, header ...string) (Answer, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, reader(t, body))
	require.NoError(t, err)
	if s.Token != "" {
		request.Header.Set(TokenHeader, s.Token)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Del(header[i])
		if header[i+1] != "" {
			request.Header.Set(header[i], header[i+1])
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

// Call sends a request as the method Call does and decodes the answer.
func Call[T any](s *Stack, status int, method, path string, body any, header ...string) T {
	s.t.Helper()
	var into T
	s.Call(s.t, status, method, path, body, header...).Into(s.t, &into)
	return into
}

// JSON is the answer's body as an object.
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
