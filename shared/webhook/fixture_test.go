package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/shared/api"
	"lectern/shared/outside"
	"lectern/shared/secret"
	"lectern/shared/wire"
)

const (
	org        = 3
	endpointID = "018f9f6e-7c1a-7b51-9c39-6a5b8d1f2e30"
)

// public is an address of a public host; no test connects to it.
var public = netip.MustParseAddr("8.8.8.8")

var testKeys = &secret.Keys{Load: func(context.Context) ([]byte, error) { return []byte(strings.Repeat("k", 32)), nil }}

// endpointAt returns an endpoint with a secret and headers, and the secret.
func endpointAt(t *testing.T, url string, headers map[string]string) (*Endpoint, string) {
	t.Helper()
	e, text, s := &Endpoint{URL: url, Enabled: true}, newSecret(), Sealer{testKeys}
	e.ID = endpointID
	plain, err := encodeHeaders(headers)
	require.NoError(t, err)
	var p private
	p.Secret, err = s.seal(t.Context(), org, e.ID, partSecret, []byte(text))
	require.NoError(t, err)
	p.Headers, err = s.seal(t.Context(), org, e.ID, partHeaders, plain)
	require.NoError(t, err)
	require.NoError(t, e.hide(p))
	return e, text
}

// rotated gives the endpoint another secret at a time, and returns the secret.
func rotated(t *testing.T, e *Endpoint, at time.Time) string {
	t.Helper()
	text, s := newSecret(), Sealer{testKeys}
	p, err := e.private()
	require.NoError(t, err)
	p.Former = p.Secret
	p.Secret, err = s.seal(t.Context(), org, e.ID, partSecret, []byte(text))
	require.NoError(t, err)
	when := wire.At(at)
	e.SecretRotatedAt = &when
	require.NoError(t, e.hide(p))
	return text
}

// receiver is a server on this machine that keeps the requests.
type receiver struct {
	*httptest.Server
	mu       sync.Mutex
	requests []*http.Request
	bodies   [][]byte
}

// newReceiver starts a receiver with TLS that answers with a handler.
func newReceiver(t *testing.T, answer http.HandlerFunc) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		r.requests, r.bodies = append(r.requests, req), append(r.bodies, body)
		r.mu.Unlock()
		answer(w, req)
	}))
	r.StartTLS()
	t.Cleanup(r.Close)
	return r
}

// inside is a network on which every allowed address leads to one receiver.
type inside struct {
	outside.Network
	lookups, dials atomic.Int32
	addresses      func(host string, n int) []netip.Addr
}

// newInside returns a network whose names resolve to addresses. Nothing leaves the machine.
func newInside(r *receiver, addresses func(host string, n int) []netip.Addr) *inside {
	in := &inside{addresses: addresses}
	in.Lookup = func(_ context.Context, host string) ([]netip.Addr, error) {
		return in.addresses(host, int(in.lookups.Add(1))), nil
	}
	in.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		in.dials.Add(1)
		return new(net.Dialer).DialContext(ctx, network, r.Listener.Addr().String())
	}
	in.Roots = x509.NewCertPool()
	in.Roots.AddCert(r.Certificate())
	return in
}

func always(all ...netip.Addr) func(string, int) []netip.Addr {
	return func(string, int) []netip.Addr { return append([]netip.Addr{}, all...) }
}

// sender returns a sender on a network, with a clock.
func (in *inside) sender(now func() time.Time) *Sender {
	return NewSenderOn(api.Env{Keys: testKeys, Now: now}, in.Network)
}

// send makes an attempt with a body.
func send(t *testing.T, s *Sender, e *Endpoint) Answer {
	t.Helper()
	a, err := s.Send(t.Context(), Request{Org: org, Endpoint: e, ID: "msg", Kind: "session.updated", Attempt: 2, Body: []byte(`{"a":1}`)})
	require.NoError(t, err)
	return a
}

// oldTLS starts a receiver that speaks no TLS later than 1.1.
func oldTLS(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{Server: httptest.NewUnstartedServer(http.NotFoundHandler())}
	r.TLS = &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}
	r.StartTLS()
	t.Cleanup(r.Close)
	return r
}
