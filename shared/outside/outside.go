// Package outside connects to hosts that others name, such as receivers of webhooks and identity providers: to public hosts alone, and to
// no host inside (docs/decisions/0032 and 0057).
package outside

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

const (
	connectTime = 5 * time.Second
	idleTime    = 10 * time.Second
	maxIdle     = 50
	// maxHeaderBytes bounds the headers of an answer.
	maxHeaderBytes = 32 << 10
)

// LocalHost is the only host on this machine that a network may connect to, for a region on one machine.
const LocalHost = "127.0.0.1"

// ErrRefused is the error for an address that is not allowed, and for a name without an address: a
// caller must not find out which names have addresses inside.
var ErrRefused = errors.New("outside: the address is not allowed")

// denied has the address ranges that no public host has: all of the IANA registries of special
// addresses, and those of metadata services.
var denied = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", // this network, private, carriers, loopback
	"169.254.0.0/16", "172.16.0.0/12", // link-local, private
	"192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", // protocols, documentation, AS112, AMT, 6to4
	"192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", // private, AS112, benchmarks, documentation
	"224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32", // multicast, reserved with broadcast, the metadata of Azure
	// All outside 2000::/3: unspecified, loopback, IPv4-mapped and -compatible, NAT64, discard, segment routing, unique local, link-local,
	// site-local, multicast.
	"::/3", "4000::/2", "8000::/1",
	"2001::/23", "2001:db8::/32", "2002::/16", // protocols with Teredo and ORCHID, documentation, 6to4
	"2620:4f:8000::/48", "3fff::/20", // AS112, documentation
)

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}

// allowed reports whether an address may be connected to. An IPv4-mapped address is none: resolve
// has unmapped the addresses that a resolver gives in that form.
func allowed(a netip.Addr) bool {
	return a.IsValid() && a.Zone() == "" && !slices.ContainsFunc(denied, func(p netip.Prefix) bool { return p.Contains(a) })
}

// Network connects to public hosts. Tests replace its parts.
type Network struct {
	// Lookup resolves the name of a host.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	// Dial connects to an address that is allowed.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Roots are the certificate authorities; nil for those of the machine.
	Roots *x509.CertPool
}

// NewNetwork returns the network of this machine.
func NewNetwork() Network {
	guarded := &net.Dialer{Timeout: connectTime, ControlContext: guard}
	return Network{Lookup: lookup, Dial: guarded.DialContext}
}

func lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// guard refuses a connection to an address that is not allowed, whatever chose the address.
func guard(_ context.Context, _, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || !allowed(to.Addr()) {
		return ErrRefused
	}
	return nil
}

// Transport returns an HTTP transport on a network. Without a client around it, there are no cookies
// and redirects: every answer is an answer. local allows LocalHost too.
func (n Network) Transport(local bool) *http.Transport {
	return &http.Transport{
		DialContext:            connector{n, local}.connect,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: n.Roots},
		TLSHandshakeTimeout:    connectTime,
		MaxIdleConns:           maxIdle,
		MaxIdleConnsPerHost:    1,
		IdleConnTimeout:        idleTime,
		MaxResponseHeaderBytes: maxHeaderBytes,
		DisableCompression:     true,
	}
}

// connector connects a transport. local allows LocalHost too.
type connector struct {
	Network
	local bool
}

// connect connects to the host of an address, by the first of its addresses that answers.
func (c connector) connect(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("outside: address of a host: %w", err)
	}
	if c.local && host == LocalHost {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	all, err := c.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	var conn net.Conn
	for _, a := range all {
		if conn, err = c.Dial(ctx, network, net.JoinHostPort(a.String(), port)); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// resolve returns the addresses of a host. It refuses a host with any address that is not allowed or
// without an address, and a host that is an address itself.
func (n Network) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if _, err := netip.ParseAddr(host); err == nil {
		return nil, ErrRefused
	}
	all, err := n.Lookup(ctx, host)
	if err != nil || len(all) == 0 {
		return nil, ErrRefused
	}
	for i := range all {
		if all[i] = all[i].Unmap(); !allowed(all[i]) {
			return nil, ErrRefused
		}
	}
	return all, nil
}
