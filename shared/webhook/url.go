package webhook

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lectern/shared/apierr"
	"lectern/shared/outside"
)

// refusedAddress is the only message for an address that is not allowed, before and after
// resolution: a caller must not find out which names and addresses exist inside.
const refusedAddress = "url must be the https address of a public host, given by a name that resolves to public addresses alone, " +
	"with punycode for letters outside ASCII, on port 443 or 8443, without user information or fragment."

// maxURL is the largest length of an address.
const maxURL = 2000

var (
	// hostName matches names of at least two labels. The last label begins with a letter and is no
	// hexadecimal number: programs read other last labels as parts of an IP address.
	hostName = regexp.MustCompile(`^([a-z0-9]([a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$`)
	// urlText matches the printable characters of ASCII that an address may have.
	urlText = regexp.MustCompile(`^[!#-;=?-\[\]_a-z~]+$`)
	// ports are the ports of receivers; empty is 443.
	ports = []string{"", "443", "8443"}
	// insideNames are last labels of hosts that are not public.
	insideNames = []string{"localhost", "local", "internal", "localdomain"}
)

// checkURL returns an address in its stored form, or the 400. local also allows
// http://127.0.0.1:PORT, see isLocal.
func checkURL(text string, local bool) (string, error) {
	refused := apierr.Invalid("url", refusedAddress)
	if len(text) > maxURL || !urlText.MatchString(text) {
		return "", refused
	}
	u, err := url.Parse(text)
	if err != nil || u.User != nil || u.Opaque != "" || strings.Contains(text, "#") {
		return "", refused
	}
	u.Host = strings.ToLower(u.Host)
	if !isPublic(u) && (!local || !isLocal(u)) {
		return "", refused
	}
	return u.String(), nil
}

// isPublic reports whether an address has the form of the address of a public host. What the name
// resolves to is checked at each connection.
func isPublic(u *url.URL) bool {
	host := u.Hostname()
	last := host[strings.LastIndexByte(host, '.')+1:]
	return u.Scheme == "https" && slices.Contains(ports, u.Port()) && u.Host == joined(host, u.Port()) &&
		len(host) <= 253 && hostName.MatchString(host) && !slices.Contains(insideNames, last)
}

// isLocal reports whether an address begins with exactly http://127.0.0.1:PORT, a receiver beside
// a service on one machine.
func isLocal(u *url.URL) bool {
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	return u.Scheme == "http" && u.Host == joined(outside.LocalHost, u.Port()) && err == nil && port > 0 && u.Port()[0] != '0'
}

// joined returns host and port as in an address.
func joined(host, port string) string {
	if port == "" {
		return host
	}
	return host + ":" + port
}
