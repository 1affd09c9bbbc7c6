package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"lectern/shared/api"
	"lectern/shared/secret"
)

// verify checks a request by the reference implementation of Standard Webhooks.
func verify(t *testing.T, secret string, r *receiver, i int) error {
	t.Helper()
	reader, err := standard.NewWebhook(secret)
	require.NoError(t, err)
	return reader.Verify(r.bodies[i], r.requests[i].Header)
}

func TestARequestHasOurHeadersAndASignature(t *testing.T) {
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "thanks") })
	e, text := endpointAt(t, "https://example.com/hook?a=b", map[string]string{"X-Key": "v a l", "Authorization": "Bearer x", "Accept": "text/plain"})
	s := newInside(r, always(public)).sender(time.Now)
	a := send(t, s, e)
	require.Equal(t, Answer{Status: 200, Body: "thanks", Latency: a.Latency, Signed: a.Signed}, a)
	require.Positive(t, a.Latency)

	got := r.requests[0]
	require.Equal(t, "/hook?a=b", got.URL.String())
	require.Equal(t, "example.com", got.Host)
	require.Equal(t, http.MethodPost, got.Method)
	require.Equal(t, `{"a":1}`, string(r.bodies[0]))
	timestamp, signature := got.Header.Get("Webhook-Timestamp"), got.Header.Get("Webhook-Signature")
	require.Equal(t, http.Header{
		"Content-Type": {"application/json"}, "User-Agent": {"Lectern/1.0"}, "Content-Length": {"7"}, "Webhook-Id": {"msg"},
		"Webhook-Timestamp": {timestamp}, "Webhook-Signature": {signature}, "Lectern-Event": {"session.updated"}, "Lectern-Attempt": {"2"},
		"X-Key": {"v a l"}, "Authorization": {"Bearer x"}, "Accept": {"text/plain"},
	}, got.Header)
	require.Equal(t, "msg."+timestamp+".", a.Signed)
	require.NoError(t, verify(t, text, r, 0))
	require.Error(t, verify(t, newSecret(), r, 0))
	r.bodies[0][0] = 'x'
	require.Error(t, verify(t, text, r, 0))
}

// TestStoredHeadersNeverReplaceOurs, even when an older release has stored them.
func TestStoredHeadersNeverReplaceOurs(t *testing.T) {
	r := newReceiver(t, func(http.ResponseWriter, *http.Request) {})
	e, text := endpointAt(t, "https://example.com/", map[string]string{
		"Webhook-Id": "mine", "Webhook-Signature": "v1,x", "Content-Type": "text/plain", "User-Agent": "me", "Lectern-Event": "mine", "Host": "evil.example",
	})
	send(t, newInside(r, always(public)).sender(time.Now), e)
	require.NoError(t, verify(t, text, r, 0))
	require.Equal(t, "application/json", r.requests[0].Header.Get("Content-Type"))
	require.Equal(t, "Lectern/1.0", r.requests[0].Header.Get("User-Agent"))
	require.Equal(t, "session.updated", r.requests[0].Header.Get("Lectern-Event"))
	require.Equal(t, "example.com", r.requests[0].Host)
}

// TestTheFormerSecretSignsForADay beside the present secret.
func TestTheFormerSecretSignsForADay(t *testing.T) {
	r := newReceiver(t, func(http.ResponseWriter, *http.Request) {})
	in := newInside(r, always(public))
	for i, c := range []struct {
		ago    time.Duration
		former bool
	}{{0, true}, {overlap - time.Minute, true}, {overlap, false}, {2 * overlap, false}} {
		e, former := endpointAt(t, "https://example.com/", nil)
		now := rotated(t, e, time.Now().Add(-c.ago))
		send(t, in.sender(time.Now), e)
		require.NoError(t, verify(t, now, r, i))
		require.Equal(t, c.former, verify(t, former, r, i) == nil, "%v", c.ago)
		require.Len(t, strings.Fields(r.requests[i].Header.Get("Webhook-Signature")), map[bool]int{true: 2, false: 1}[c.former])
	}
}

func TestTheBeginningOfAnAnswerIsKept(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"short":    {"ok", "ok"},
		"empty":    {"", ""},
		"long":     {strings.Repeat("a", 5000), strings.Repeat("a", 2048)},
		"no UTF-8": {"a\xff\xfeb", "a\ufffdb"},
		"cut":      {strings.Repeat("ä", 2000), strings.Repeat("ä", 1024)},
		"odd cut":  {"x" + strings.Repeat("€", 1000), "x" + strings.Repeat("€", 682)},
		"huge":     {strings.Repeat("b", 10<<20), strings.Repeat("b", 2048)},
	} {
		r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusTeapot)
			_, _ = w.Write([]byte(c.body))
		})
		e, _ := endpointAt(t, "https://example.com/", nil)
		a := send(t, newInside(r, always(public)).sender(time.Now), e)
		require.Equal(t, 418, a.Status, name)
		require.Equal(t, c.want, a.Body, name)
		require.True(t, utf8.ValidString(a.Body))
	}
}

func TestRetryAfterCountsForTwoStatuses(t *testing.T) {
	now := time.Date(2027, 5, 11, 14, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		status int
		sent   string
		want   time.Duration
	}{
		{429, "120", 2 * time.Minute}, {503, "0", 0}, {503, "Tue, 11 May 2027 14:10:00 GMT", 10 * time.Minute},
		{503, "Tue, 11 May 2027 13:10:00 GMT", 0}, {429, "-5", 0}, {429, "soon", 0}, {429, "", 0}, {429, "99999999999999999999", 0},
		{500, "120", 0}, {200, "120", 0},
	} {
		r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", c.sent)
			w.WriteHeader(c.status)
		})
		e, _ := endpointAt(t, "https://example.com/", nil)
		a := send(t, newInside(r, always(public)).sender(func() time.Time { return now }), e)
		require.Equal(t, c.want, a.RetryAfter, "%d %s", c.status, c.sent)
	}
}

// TestAReceiverThatNeverEndsIsLeft after the time of an attempt.
func TestAReceiverThatNeverEndsIsLeft(t *testing.T) {
	release := make(chan struct{})
	r := newReceiver(t, func(http.ResponseWriter, *http.Request) { <-release })
	t.Cleanup(func() { close(release) })
	e, _ := endpointAt(t, "https://example.com/", nil)
	s := newInside(r, always(public)).sender(time.Now)
	s.total = 100 * time.Millisecond
	a := send(t, s, e)
	require.Zero(t, a.Status)
	require.Contains(t, a.Error, "did not answer in time")
	require.GreaterOrEqual(t, a.Latency, s.total)
}

// TestAReceiverThatTakesTheConnection and keeps it is left at once: the answer has no body.
func TestAReceiverThatTakesTheConnection(t *testing.T) {
	release := make(chan struct{})
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer connection.Close()
		_, _ = io.WriteString(connection, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
		<-release
	})
	t.Cleanup(func() { close(release) })
	e, _ := endpointAt(t, "https://example.com/", nil)
	s, got := newInside(r, always(public)).sender(time.Now), make(chan Answer, 1)
	go func() {
		a, _ := s.Send(context.Background(), Request{Org: org, Endpoint: e, ID: "msg", Kind: "session.updated", Attempt: 1, Body: []byte("{}")})
		got <- a
	}()
	select {
	case a := <-got:
		require.Equal(t, []any{101, ""}, []any{a.Status, a.Body})
	case <-time.After(20 * time.Second):
		require.Fail(t, "the attempt goes on")
	}
}

// TestFaultsOfOursAreErrors and no answers of the receiver.
func TestFaultsOfOursAreErrors(t *testing.T) {
	r := newReceiver(t, func(http.ResponseWriter, *http.Request) {})
	e, _ := endpointAt(t, "https://example.com/", nil)
	in := newInside(r, always(public))
	noKeys := &secret.Keys{Load: func(context.Context) ([]byte, error) { return nil, errors.New("no keys") }}
	_, err := NewSenderOn(api.Env{Keys: noKeys, Now: time.Now}, in.Network).Send(t.Context(), Request{Org: org, Endpoint: e, ID: "msg"})
	require.ErrorContains(t, err, "no keys")
	_, err = in.sender(time.Now).Send(t.Context(), Request{Org: org + 1, Endpoint: e, ID: "msg"})
	require.ErrorContains(t, err, "open secret", "sealed for another organization")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = in.sender(time.Now).Send(ended, Request{Org: org, Endpoint: e, ID: "msg"})
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, r.requests)
}

// TestTheClientTakesNothingFromTheEnvironment.
func TestTheClientTakesNothingFromTheEnvironment(t *testing.T) {
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Set-Cookie", "a=b") })
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	t.Setenv("ALL_PROXY", "http://127.0.0.1:1")
	e, _ := endpointAt(t, "https://example.com/", nil)
	s := newInside(r, always(public)).sender(time.Now)
	require.Nil(t, s.transport.(*http.Transport).Proxy)
	for range 2 {
		require.Equal(t, 200, send(t, s, e).Status)
	}
	require.Empty(t, r.requests[1].Header.Get("Cookie"))
}

// TestAClosedConnectionIsNoFailure: the receiver closes a connection that it has kept open, and the
// sender uses it once more. The request is made again on a new connection; a receiver that closes each
// connection without an answer has failed.
func TestAClosedConnectionIsNoFailure(t *testing.T) {
	var number atomic.Int32
	var all atomic.Bool
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		if number.Add(1)%2 == 1 && !all.Load() {
			return
		}
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	})
	e, _ := endpointAt(t, "https://example.com/", nil)
	s := newInside(r, always(public)).sender(time.Now)
	for range 3 { // Each but the first finds the connection closed.
		a := send(t, s, e)
		require.Equal(t, 200, a.Status, a.Error)
	}
	require.Len(t, r.requests, 5)
	for i, body := range r.bodies {
		require.Equal(t, `{"a":1}`, string(body))
		require.NotContains(t, r.requests[i].Header, "Idempotency-Key")
	}
	all.Store(true)
	require.Equal(t, "The connection to the receiver failed.", send(t, s, e).Error)
}
