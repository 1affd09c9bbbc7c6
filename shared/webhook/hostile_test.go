package webhook

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/outside"
)

// hostileURLs are addresses that a client must not be able to store.
func hostileURLs() []string {
	var all []string
	for _, host := range []string{
		// Loopback and other addresses in every spelling of IPv4.
		"127.0.0.1", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0x7f.1", "0177.0.0.1", "017700000001", "127.000.000.001",
		"0x7F.0x0.0x0.0x1", "127.0.0.1.", "0", "0.0.0.0", "00", "0x0", "10.0.0.1", "012.0.0.1", "167772161", "100.64.0.1", "169.254.169.254",
		"169.254.43518", "0xa9fea9fe", "0251.0376.0251.0376", "2852039166", "172.16.0.1", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.1.1",
		"192.168.257", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "4294967295", "168.63.129.16",
		"100.100.100.200", "8.8.8.8", "1.1.1.1", "134744072",
		// IPv6, with IPv4 inside, and with zones.
		"[::]", "[::1]", "[0:0:0:0:0:0:0:1]", "[0000:0000:0000:0000:0000:0000:0000:0001]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]",
		"[::ffff:0:127.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b:1::1]", "[100::1]", "[2001::1]", "[2001:db8::1]", "[2002:7f00:1::]", "[3fff::1]",
		"[5f00::1]", "[fc00::1]", "[fd00:ec2::254]", "[fe80::1]", "[fe80::1%25eth0]", "[fec0::1]", "[ff02::1]", "[2620:4f:8000::1]",
		"[2606:4700:4700::1111]",
		// Names of the inside.
		"localhost", "LOCALHOST", "localhost.", "LocalHost.LocalDomain", "a.localhost", "printer.local", "printer.LOCAL", "db.internal",
		"metadata.google.internal", "instance-data.ec2.internal", "router", "kubernetes", "a.localdomain", "local", "internal",
		// Names that programs read as numbers, or not at all.
		"example.127", "example.0x7f", "example.1", "a.0x", "1.2.3.4.5", "a..example.org", ".example.org", "example.org.", "-a.example.org",
		"a-.example.org", "a_.example.org", "example", "exämple.org", "example.org%2eevil.com", "example.org%00.evil.com", "ⓔxample.org",
		"１２７.0.0.1", "127。0。0。1", "example.c", "*.example.org", "a b.example.org", strings.Repeat("a", 64) + ".org",
		strings.Repeat("a.", 130) + "org",
	} {
		all = append(all, "https://"+host+"/hook", "https://"+host+":8443/hook")
	}
	for _, port := range []string{"0", "1", "22", "25", "80", "444", "0443", "8080", "8442", "65535", "65536", "99999", "-1", "x", "443x", "+443", "4 43"} {
		all = append(all, "https://hooks.example.org:"+port+"/")
	}
	for _, user := range []string{"a", "a:b", ":", "a:b@c", "127.0.0.1", "hooks.example.org%40"} {
		all = append(all, "https://"+user+"@hooks.example.org/")
	}
	return append(all,
		"", " ", "hooks.example.org", "//hooks.example.org/", "/hook", "http://hooks.example.org/", "HTTP://hooks.example.org", "ftp://hooks.example.org/",
		"file:///etc/passwd", "gopher://hooks.example.org/", "ws://hooks.example.org", "javascript:alert(1)", "data:text/plain,a", "https:", "https://",
		"https:///", "https:hooks.example.org", "https:/hooks.example.org", "https:\\\\hooks.example.org", "https://hooks.example.org\\@evil.com",
		"https://hooks.example.org#@evil.com/", "https://hooks.example.org/#f", "https://hooks.example.org/a b", "https://hooks.example.org/\n",
		"https://hooks.example.org/\r\nHost: evil", "https://hooks.example.org/%zz", "\thttps://hooks.example.org/", "https://hooks.example.org/\x00",
		"https://hooks.example.org/\u00e4", "https://hooks.example.org?a\"b", "https://[::1", "https://::1]/", "https://[hooks.example.org]/",
		"https://hooks.example.org:443:443/", "http://127.0.0.1:8080/", "http://localhost:8080/", "https://127.0.0.1:8443",
		"https://hooks.example.org/"+strings.Repeat("a", 2000),
	)
}

// goodURLs are addresses that a client may store, with their stored form.
var goodURLs = map[string]string{
	"https://hooks.example.org":                       "https://hooks.example.org",
	"https://hooks.example.org/":                      "https://hooks.example.org/",
	"HTTPS://Hooks.Example.ORG:443/Path?Key=a%20b&c=": "https://hooks.example.org:443/Path?Key=a%20b&c=",
	"https://a-b.example-site.co.uk:8443/x/../y":      "https://a-b.example-site.co.uk:8443/x/../y",
	"https://xn--exmple-cua.org/":                     "https://xn--exmple-cua.org/",
	"https://my_hooks.example.org/":                   "https://my_hooks.example.org/",
	"https://1.2.3.example.xn--p1ai/":                 "https://1.2.3.example.xn--p1ai/",
	"https://127.0.0.1.example.org/":                  "https://127.0.0.1.example.org/",
}

func TestHostileAddressesAreRefusedWithOneMessage(t *testing.T) {
	r := newReceiver(t, func(http.ResponseWriter, *http.Request) {})
	in := newInside(r, always(public))
	s, hostile := in.sender(time.Now), hostileURLs()
	require.Greater(t, len(hostile), 200)
	for _, url := range hostile {
		_, err := checkURL(url, false)
		refused := (*apierr.Error)(nil)
		require.ErrorAs(t, err, &refused, "%q", url)
		require.Equal(t, refusedAddress, refused.Message, "%q", url)
		require.Equal(t, map[string]any{"field": "url"}, refused.Details)

		e, _ := endpointAt(t, url, nil)
		a := send(t, s, e)
		require.Equal(t, refusedAddress, a.Error, "%q", url)
		require.Zero(t, a.Status)
	}
	require.Zero(t, in.lookups.Load(), "no name is resolved")
	require.Zero(t, in.dials.Load(), "no connection is made")
	require.Empty(t, r.requests)
}

func TestAddressesOfPublicHostsAreAllowed(t *testing.T) {
	for url, stored := range goodURLs {
		got, err := checkURL(url, false)
		require.NoError(t, err, url)
		require.Equal(t, stored, got)
		again, err := checkURL(got, false)
		require.NoError(t, err)
		require.Equal(t, got, again, "a stored address stays")
	}
}

func TestOnlyALocalServiceAllowsReceiversOnItsMachine(t *testing.T) {
	for _, url := range []string{"http://127.0.0.1:1", "http://127.0.0.1:8080/", "http://127.0.0.1:65535/hook?a=b"} {
		got, err := checkURL(url, true)
		require.NoError(t, err, url)
		require.Equal(t, url, got)
	}
	for _, url := range []string{
		"http://127.0.0.1", "http://127.0.0.1/", "http://127.0.0.1:/", "http://127.0.0.1:0/", "http://127.0.0.1:08080/", "http://127.0.0.1:65536/",
		"http://127.0.0.2:8080", "http://127.1:8080", "http://0177.0.0.1:8080", "http://localhost:8080", "http://[::1]:8080", "http://0.0.0.0:8080",
		"http://a@127.0.0.1:8080", "https://127.0.0.1:8080", "https://127.0.0.1:8443", "http://10.0.0.1:8080", "http://hooks.example.org:8080",
		"http://127.0.0.1.:8080", "http://[::ffff:127.0.0.1]:8080",
	} {
		_, err := checkURL(url, true)
		require.Error(t, err, url)
	}
}

// TestNamesOfHostileAddressesAreNotConnectedTo, nor names with a public address beside.
func TestNamesOfHostileAddressesAreNotConnectedTo(t *testing.T) {
	r := newReceiver(t, func(http.ResponseWriter, *http.Request) {})
	e, _ := endpointAt(t, "https://hooks.example.org/", nil)
	for _, text := range []string{"127.0.0.1", "169.254.169.254", "10.0.0.1", "::1", "::ffff:127.0.0.1", "fd00:ec2::254"} {
		a := netip.MustParseAddr(text)
		for _, all := range [][]netip.Addr{{a}, {public, a}, {a, public}} {
			in := newInside(r, always(all...))
			require.Equal(t, refusedAddress, send(t, in.sender(time.Now), e).Error, "%v", all)
			require.Zero(t, in.dials.Load(), "%v", all)
		}
	}
	require.Empty(t, r.requests)
}

// TestANameThatMovesInsideIsRefused: the name resolves to a public address first.
func TestANameThatMovesInsideIsRefused(t *testing.T) {
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close") })
	in := newInside(r, func(_ string, n int) []netip.Addr {
		return []netip.Addr{map[bool]netip.Addr{true: public, false: netip.MustParseAddr("169.254.169.254")}[n == 1]}
	})
	s := in.sender(time.Now)
	e, _ := endpointAt(t, "https://example.com/", nil)
	require.Equal(t, 200, send(t, s, e).Status)
	for range 3 {
		a := send(t, s, e)
		require.Equal(t, refusedAddress, a.Error)
		require.Zero(t, a.Status)
	}
	require.EqualValues(t, 1, in.dials.Load())
	require.Len(t, r.requests, 1)
}

// TestADeployedSenderRefusesThisMachine.
func TestADeployedSenderRefusesThisMachine(t *testing.T) {
	r := newReceiver(t, func(http.ResponseWriter, *http.Request) {})
	s := NewSenderOn(api.Env{Keys: testKeys, Now: time.Now, LocalReceivers: false}, outside.NewNetwork())
	e, _ := endpointAt(t, "http://"+r.Listener.Addr().String(), nil)
	require.Equal(t, refusedAddress, send(t, s, e).Error)
	require.Empty(t, r.requests)
}

// TestRedirectsAreAnswers: none is followed, wherever it leads.
func TestRedirectsAreAnswers(t *testing.T) {
	for _, status := range []int{300, 301, 302, 303, 307, 308} {
		for _, to := range []string{"http://169.254.169.254/", "https://127.0.0.1/", "/next", "https://example.com/next", "file:///etc/passwd", "://%zz"} {
			r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", to)
				w.WriteHeader(status)
			})
			in := newInside(r, always(public))
			e, _ := endpointAt(t, "https://example.com/", nil)
			a := send(t, in.sender(time.Now), e)
			require.Equal(t, status, a.Status)
			require.Empty(t, a.Error)
			require.Len(t, r.requests, 1, "%d %s", status, to)
			require.EqualValues(t, 1, in.dials.Load())
		}
	}
}

func TestFailuresAreToldInPlainWords(t *testing.T) {
	r := newReceiver(t, func(http.ResponseWriter, *http.Request) {})
	e, _ := endpointAt(t, "https://example.com/?key=of-the-receiver", nil)
	failing := func(err error) *inside {
		in := newInside(r, always(public))
		in.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, err }
		return in
	}
	unknown := newInside(r, always(public))
	unknown.Lookup = func(context.Context, string) ([]netip.Addr, error) {
		return nil, &net.DNSError{Err: "no such host", Name: "example.com", IsNotFound: true}
	}
	stranger := newInside(r, always(public))
	stranger.Roots = nil
	hangs := newInside(r, always(public))
	hangs.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, fmt.Errorf("dial: %w", ctx.Err())
	}
	old := oldTLS(t)
	for name, c := range map[string]struct {
		in   *inside
		want string
	}{
		"refused":  {failing(errors.New("dial tcp 8.8.8.8:443: connection refused")), "The connection to the receiver failed."},
		"no name":  {unknown, refusedAddress},
		"no names": {newInside(r, always()), refusedAddress},
		"stranger": {stranger, "The certificate of the receiver is not valid for the url."},
		"old TLS":  {newInside(old, always(public)), "The receiver does not speak TLS 1.2 or later."},
		"hangs":    {hangs, "The receiver did not answer in time: a connection may take 5 seconds, an answer 15."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := send(t, c.in.sender(time.Now), e)
			require.Equal(t, c.want, a.Error)
			require.Zero(t, a.Status)
		})
	}
}
