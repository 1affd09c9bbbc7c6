package signin_test

import (
	"context"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"

	"lectern/shared/outside"
	"lectern/shared/signin"
	"lectern/shared/tenancy"
)

// hostile is a world whose provider is at https://example.com, as a deployed region reaches it. answer replaces the provider's answers; nil
// leaves them. asked has the paths of all requests.
type hostile struct {
	*world
	answer http.HandlerFunc
	asked  []string
}

// newHostile returns a world on a network on which hosts below inside.example have an address inside, and other hosts a public one.
func newHostile(t *testing.T) *hostile {
	t.Helper()
	h := &hostile{world: newWorld(t)}
	served := httptest.NewTLSServer(http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		h.asked = append(h.asked, r.URL.Path)
		if h.answer != nil {
			h.answer(to, r)
			return
		}
		h.idp.Config.Handler.ServeHTTP(to, r)
	}))
	t.Cleanup(served.Close)
	n := outside.Network{
		Lookup: func(_ context.Context, host string) ([]netip.Addr, error) {
			if strings.HasSuffix(host, "inside.example") {
				return []netip.Addr{netip.MustParseAddr("169.254.169.254")}, nil
			}
			return []netip.Addr{netip.MustParseAddr("8.8.8.8")}, nil
		},
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, served.Listener.Addr().String())
		},
		Roots: x509.NewCertPool(),
	}
	n.Roots.AddCert(served.Certificate())
	h.Client, h.idp.URL = signin.NewClient(n, false), "https://example.com"
	h.provider = h.editProvider(h.provider, func(p *tenancy.Provider) { p.Issuer = h.idp.URL })
	return h
}

// refusal begins a sign-in, which fails by the provider, and returns the error.
func (h *hostile) refusal() error {
	h.t.Helper()
	_, err := h.Begin(h.t.Context(), h.provider, "", "/")
	requireRefused(h.t, err, signin.ProviderFailed)
	return err
}

// TestAllAddressesOfAProviderHaveHTTPS if the issuer has.
func TestAllAddressesOfAProviderHaveHTTPS(t *testing.T) {
	h := newHostile(t)
	require.NotNil(t, h.session(h.signIn()))
	for _, name := range []string{"authorization_endpoint", "token_endpoint", "jwks_uri"} {
		for _, address := range []any{"http://example.com/", "http://169.254.169.254/", "file:///etc/passwd", "", nil} {
			h.Known = signin.NewKnown()
			h.idp.describe = func(said map[string]any) { said[name] = address }
			require.ErrorContains(t, h.refusal(), "without https", "%s %v", name, address)
		}
	}
}

// TestNoProviderIsInside: an issuer, and an address in a description, that resolve to the inside are not connected to.
func TestNoProviderIsInside(t *testing.T) {
	for _, name := range []string{"token_endpoint", "jwks_uri"} {
		h := newHostile(t)
		h.idp.describe = func(said map[string]any) { said[name] = "https://keys.inside.example/" }
		cookie, back := h.begin()
		_, err := h.finish(cookie, back)
		requireRefused(t, err, signin.ProviderFailed)
		require.ErrorContains(t, err, "not allowed")
		require.NotContains(t, h.asked, "/")
	}
	h := newHostile(t)
	for _, issuer := range []string{"https://inside.example", "https://127.0.0.1", "https://[::1]:443", "https://169.254.169.254", "https://8.8.8.8"} {
		h.provider = h.editProvider(h.provider, func(p *tenancy.Provider) { p.Issuer = issuer })
		require.ErrorContains(t, h.refusal(), "not allowed", issuer)
	}
	h.provider.Issuer = "http://" + h.idp.Listener.Addr().String() // As a region on one machine has stored it.
	require.ErrorContains(t, h.refusal(), "not allowed")
	require.Empty(t, h.asked)
}

// TestAnswersOfProvidersAreLimited: a redirect is not followed, and an answer of more than 1 MB is none.
func TestAnswersOfProvidersAreLimited(t *testing.T) {
	h := newHostile(t)
	h.answer = func(to http.ResponseWriter, r *http.Request) {
		http.Redirect(to, r, "https://example.com/elsewhere", http.StatusFound)
	}
	require.ErrorContains(t, h.refusal(), "302")
	require.Equal(t, []string{"/.well-known/openid-configuration"}, h.asked)
	h.answer, h.Known = nil, signin.NewKnown()
	h.idp.describe = func(said map[string]any) { said["more"] = strings.Repeat("a", 1<<20) }
	require.ErrorContains(t, h.refusal(), "too large")
}

// TestAProviderCannotWriteIntoTheLog: the error has the beginning of what the provider answers, without control characters.
func TestAProviderCannotWriteIntoTheLog(t *testing.T) {
	h := newHostile(t)
	h.answer = func(to http.ResponseWriter, _ *http.Request) {
		to.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(to, "down\r\n{\"level\": \"INFO\"}\x1b[31m\u2028\u202e\x00\xff"+strings.Repeat("ä", 10_000))
	}
	for range 2 { // The second is the failure that is remembered.
		text := h.refusal().Error()
		require.Contains(t, text, "500 Internal Server Error: down  {")
		require.LessOrEqual(t, len([]rune(text)), len("signin: provider_failed: ")+200)
		require.NotContains(t, text, "\u202e")
		require.False(t, strings.ContainsFunc(text, unicode.IsControl), text)
	}
}

// TestAFailureIsRememberedForTenSeconds, but not that of a browser that leaves.
func TestAFailureIsRememberedForTenSeconds(t *testing.T) {
	h := newHostile(t)
	left, leave := context.WithCancel(t.Context())
	leave()
	_, err := h.Begin(left, h.provider, "", "/")
	requireRefused(t, err, signin.ProviderFailed)
	h.answer = http.NotFound
	require.ErrorContains(t, h.refusal(), "404")
	h.answer = nil
	h.now = h.now.Add(9 * time.Second)
	require.ErrorContains(t, h.refusal(), "404")
	require.Len(t, h.asked, 1)
	h.now = h.now.Add(time.Second)
	h.signIn()
}
