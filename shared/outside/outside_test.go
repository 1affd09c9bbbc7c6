package outside

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

// public is an address of a public host; no test connects to it.
var public = netip.MustParseAddr("8.8.8.8")

// errDialed is the error of each connection of newCounted.
var errDialed = errors.New("dialed")

// counted is a network that counts lookups and connections, and connects to nothing.
type counted struct {
	Network
	lookups, dials int
}

// newCounted returns a network whose names resolve to addresses.
func newCounted(all ...netip.Addr) *counted {
	n := &counted{}
	n.Lookup = func(context.Context, string) ([]netip.Addr, error) {
		n.lookups++
		return append([]netip.Addr{}, all...), nil
	}
	n.Dial = func(context.Context, string, string) (net.Conn, error) {
		n.dials++
		return nil, errDialed
	}
	return n
}

// get asks for an address on a transport, and closes the answer.
func get(t *testing.T, transport http.RoundTripper, address string) error {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	answer, err := transport.RoundTrip(r)
	if err == nil {
		require.NoError(t, answer.Body.Close())
	}
	return err
}

// hostileAddresses are addresses to which a name may resolve, of every special range.
func hostileAddresses() []netip.Addr {
	var all []netip.Addr
	for _, p := range denied {
		first := p.Addr()
		all = append(all, first, last(p))
	}
	for _, text := range []string{
		"0.0.0.0", "10.255.255.255", "100.127.255.255", "127.255.255.255", "169.254.169.254", "172.31.255.255", "192.0.0.192", "255.255.255.255",
		"::", "::1", "::127.0.0.1", "::ffff:0:7f00:1", "64:ff9b::7f00:1", "64:ff9b:1::a", "100::1", "100:0:0:1::1", "2001::1", "2001:2::1", "2001:10::1",
		"2001:20::1", "2001:30::1", "2002:a00:1::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "febf::1", "fec0::1", "ff01::1", "ff02::1",
		"ff0e::1", "4000::1", "8000::1", "e000::1", "1fff::1",
	} {
		all = append(all, netip.MustParseAddr(text))
	}
	for _, a := range all {
		if a.Is4() {
			all = append(all, netip.AddrFrom16(a.As16())) // IPv4-mapped
		}
	}
	return append(all, netip.MustParseAddr("2606:4700::1").WithZone("eth0"), netip.Addr{})
}

func last(p netip.Prefix) netip.Addr {
	bytes := p.Addr().AsSlice()
	for bit := p.Bits(); bit < len(bytes)*8; bit++ {
		bytes[bit/8] |= 0x80 >> (bit % 8)
	}
	a, _ := netip.AddrFromSlice(bytes)
	return a
}

// TestNamesOfHostileAddressesAreNotConnectedTo, nor names with a public address beside.
func TestNamesOfHostileAddressesAreNotConnectedTo(t *testing.T) {
	hostile := hostileAddresses()
	require.Greater(t, len(hostile), 100)
	for _, a := range hostile {
		for _, all := range [][]netip.Addr{{a}, {public, a}, {a, public}} {
			n := newCounted(all...)
			require.ErrorIs(t, get(t, n.Transport(true), "https://hooks.example.org/"), ErrRefused, "%v", all)
			require.Equal(t, []int{1, 0}, []int{n.lookups, n.dials}, "%v", all)
		}
		if a.IsValid() {
			require.ErrorIs(t, guard(t.Context(), "tcp", netip.AddrPortFrom(a, 443).String(), nil), ErrRefused, "%v", a)
		}
	}
	n := newCounted(public, public)
	require.ErrorIs(t, get(t, n.Transport(false), "https://hooks.example.org/"), errDialed)
	require.Equal(t, []int{1, 2}, []int{n.lookups, n.dials}, "each public address is tried")
	require.ErrorIs(t, get(t, newCounted().Transport(false), "https://hooks.example.org/"), ErrRefused, "a name without an address")
}

// TestHostsThatAreAddressesAreRefused, also those of public hosts.
func TestHostsThatAreAddressesAreRefused(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "8.8.8.8", "169.254.169.254", "[::1]", "[2606:4700:4700::1111]", "[::ffff:127.0.0.1]"} {
		n := newCounted(public)
		require.ErrorIs(t, get(t, n.Transport(false), "http://"+host+":8080/"), ErrRefused, host)
		require.Equal(t, []int{0, 0}, []int{n.lookups, n.dials}, host)
	}
}

// TestTheDenyTableLeavesPublicAddresses, also those beside a special range.
func TestTheDenyTableLeavesPublicAddresses(t *testing.T) {
	for _, text := range []string{
		"1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0", "169.253.255.255",
		"169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255",
		"2000::1", "2001:200::1", "2400::1", "2606:4700:4700::1111", "2a00::1", "3ffe:ffff::1", "2003::1", "3ffe::1",
	} {
		a := netip.MustParseAddr(text)
		require.True(t, allowed(a), text)
		require.NoError(t, guard(t.Context(), "tcp", netip.AddrPortFrom(a, 443).String(), nil))
	}
	for _, broken := range []string{"", "8.8.8.8", "example.org:443", "8.8.8.8:x"} {
		require.ErrorIs(t, guard(t.Context(), "tcp", broken, nil), ErrRefused)
	}
}

// TestOnlyALocalTransportReachesThisMachine, and by one name alone.
func TestOnlyALocalTransportReachesThisMachine(t *testing.T) {
	reached := 0
	at := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer at.Close()
	_, port, err := net.SplitHostPort(at.Listener.Addr().String())
	require.NoError(t, err)
	n := NewNetwork()
	_, err = n.Dial(t.Context(), "tcp", at.Listener.Addr().String())
	require.ErrorIs(t, err, ErrRefused, "the dialer refuses whatever has resolved the name")
	require.ErrorIs(t, get(t, n.Transport(false), at.URL), ErrRefused)
	for _, host := range []string{"localhost", "127.0.0.2", "[::1]", "0.0.0.0"} {
		require.ErrorIs(t, get(t, n.Transport(true), "http://"+host+":"+port), ErrRefused, host)
	}
	require.Zero(t, reached)
	require.NoError(t, get(t, n.Transport(true), at.URL))
	require.Equal(t, 1, reached)
}
