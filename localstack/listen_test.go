package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"
)

const listenSecret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="

// deliver sends a body to a listener, signed at a time, and returns the status.
func deliver(t *testing.T, url, body string, at time.Time) int {
	t.Helper()
	signer, err := standardwebhooks.NewWebhook(listenSecret)
	require.NoError(t, err)
	signature, err := signer.Sign("msg", at, []byte(body))
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	for name, value := range map[string]string{
		"webhook-id": "msg", "webhook-timestamp": strconv.FormatInt(at.Unix(), 10), "webhook-signature": signature,
		"lectern-event": "session.updated", "lectern-attempt": "2",
	} {
		request.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	return answer.StatusCode
}

func TestListenVerifiesAndPrintsDeliveries(t *testing.T) {
	const body = `{"metadata":{"sequence":7,"resource_url":"https://example.org/s"}}`
	verifier, err := standardwebhooks.NewWebhook(listenSecret)
	require.NoError(t, err)
	var out bytes.Buffer
	l := &listener{verifier: verifier, bodies: true, out: &out}
	server := httptest.NewServer(l)
	t.Cleanup(server.Close)

	require.Equal(t, http.StatusNoContent, deliver(t, server.URL, body, time.Now()))
	require.Contains(t, out.String(), " session.updated msg sequence 7 attempt 2 https://example.org/s: verified\n")
	require.Contains(t, out.String(), `    "sequence": 7`)
	out.Reset()
	require.Equal(t, http.StatusUnauthorized, deliver(t, server.URL, body, time.Now().Add(-time.Hour)))
	require.Contains(t, out.String(), "too old")
	other, err := standardwebhooks.NewWebhookRaw([]byte("another secret"))
	require.NoError(t, err)
	l.verifier = other
	require.Equal(t, http.StatusUnauthorized, deliver(t, server.URL, body, time.Now()))
	require.Contains(t, out.String(), "no matching signature")

	out.Reset()
	l.verifier = nil
	require.Equal(t, http.StatusNoContent, deliver(t, server.URL, "no JSON", time.Now()))
	require.Contains(t, out.String(), "sequence 0 attempt 2 : not verified\nno JSON\n")
	require.Equal(t, http.StatusBadRequest, deliver(t, server.URL, strings.Repeat("x", largestDelivery+1), time.Now()))
}

func TestListenRefusesASecretOfAnotherForm(t *testing.T) {
	text, err := run(t, "listen", "--port", "0", "--secret", "whsec_%%%")
	require.Error(t, err)
	require.Contains(t, text, "read the secret")
}

// TestAWebhookArrives at a receiver on this machine within a second of the write's answer, signed with
// the secret of the endpoint. A machine that is busy may need more than one write for it.
func TestAWebhookArrives(t *testing.T) {
	_, variables := upOn(t, t.TempDir(), "--no-demo")
	var out bytes.Buffer
	l := &listener{out: &out}
	server := httptest.NewServer(l)
	t.Cleanup(server.Close)
	made := ask(t, variables, "US", http.MethodPost, "/v1/webhooks/create", `{"url": "`+server.URL+`", "events": ["session.created"]}`)
	verifier, err := standardwebhooks.NewWebhook(made["secret"].(string))
	require.NoError(t, err)
	l.verifier = verifier
	for range 10 {
		made := ask(t, variables, "US", http.MethodPost, "/v1/event/{event}/sessions/create", `{"title": "Harbours"}`)
		if l.arrives(made["id"].(string), &out) {
			return
		}
	}
	require.Fail(t, "no webhook arrived within a second", out.String())
}

// arrives waits a second for the verified delivery of a new session.
func (l *listener) arrives(id string, out *bytes.Buffer) bool {
	want := regexp.MustCompile(`session\.created .*` + id + `.*: verified`)
	for until := time.Now().Add(time.Second); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		l.mu.Lock()
		found := want.Match(out.Bytes())
		l.mu.Unlock()
		if found {
			return true
		}
	}
	return false
}
