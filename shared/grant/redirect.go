package grant

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// maxAddress is the largest length of an address.
const maxAddress = 2000

// loopback are the hosts of an application on the user's machine. It takes any port that is free (RFC 8252 section 7.3).
var loopback = []string{"127.0.0.1", "::1", "localhost"}

// isLoopback reports whether an address is that of an application on the user's machine.
func isLoopback(u *url.URL) bool {
	return u.Scheme == "http" && slices.Contains(loopback, u.Hostname())
}

// refuseRedirect says why an address may not get codes; empty for an address that may.
func refuseRedirect(address string) string {
	u, err := url.Parse(address)
	switch {
	case err != nil, len(address) > maxAddress, strings.ContainsFunc(address, isNotASCII):
		return "must be an address of at most 2000 characters of ASCII."
	case u.Fragment != "" || strings.Contains(address, "#"), u.User != nil, strings.Contains(address, "\\"):
		return "must have no fragment, no user information and no backslash."
	case isLoopback(u), u.Scheme == "https" && isHost.MatchString(hostIn(address)), isPrivate(u):
		return ""
	}
	return "must begin with https, with http on 127.0.0.1, ::1 or localhost, or with a scheme that is the reverse of a domain."
}

// isHost matches a host with a port or without one. Other characters and escapes could look like another host, or end a word of a policy.
var isHost = regexp.MustCompile(`^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*(:[0-9]+)?$`)

// hostIn returns the host of an address as the address writes it.
func hostIn(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	if end := strings.IndexAny(rest, "/?"); end >= 0 {
		rest = rest[:end]
	}
	return rest
}

// isPrivate reports whether an address has a scheme of an installed application: a domain of the publisher in reverse, such as
// com.example.app (RFC 8252 section 7.1).
func isPrivate(u *url.URL) bool {
	return strings.Contains(strings.Trim(u.Scheme, "."), ".") && u.Host == "" && (u.Path != "" || u.Opaque != "")
}

// isNotASCII reports whether a character is none of the printable characters of ASCII, or a blank.
func isNotASCII(r rune) bool { return r <= ' ' || r > '~' }

// redirects reports whether an address is one of the application's: letter for letter, but for the port of an address on the user's
// machine (RFC 9700 section 2.1).
func (c *Client) redirects(address string) bool {
	return slices.Contains(c.RedirectURIs, address) ||
		slices.ContainsFunc(c.RedirectURIs, func(known string) bool { return sameButPort(known, address) })
}

// sameButPort reports whether two addresses on the user's machine differ in their ports alone.
func sameButPort(known, address string) bool {
	a, err := url.Parse(known)
	if err != nil || !isLoopback(a) || refuseRedirect(address) != "" {
		return false
	}
	b, err := url.Parse(address)
	if err != nil || !isLoopback(b) {
		return false
	}
	return withoutPort(known, a) == withoutPort(address, b)
}

// withoutPort returns the text of an address without the port.
func withoutPort(address string, u *url.URL) string {
	return strings.Replace(address, "://"+u.Host, "://"+u.Hostname(), 1)
}
