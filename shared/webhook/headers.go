package webhook

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"lectern/shared/apierr"
	"lectern/shared/wire"
)

const (
	maxHeaders     = 20
	maxHeaderName  = 100
	maxHeaderValue = 1000
	// masked stands for a header value in answers. A client that sends masked back keeps the value.
	masked = "***"
)

var (
	headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	// ours are the headers that the service and HTTP itself set.
	ours = []string{
		"content-type", "content-length", "content-encoding", "host", "user-agent", "connection", "keep-alive", "transfer-encoding", "te",
		"trailer", "trailers", "upgrade", "expect", "http2-settings", "accept-encoding",
	}
	// ourPrefixes begin the names of further headers of the service and of proxies.
	ourPrefixes = []string{"webhook-", "lectern-", "proxy-", "sec-", "x-amz-", "x-amzn-"}
)

// checkHeaders returns the 400 of headers that break a rule.
func checkHeaders(sent map[string]string) error {
	if len(sent) > maxHeaders {
		return apierr.Invalid("headers", "headers must not have more than %d entries.", maxHeaders)
	}
	seen := map[string]bool{}
	for _, name := range sortedKeys(sent) {
		field, lower := "headers."+name, strings.ToLower(name)
		switch {
		case len(name) > maxHeaderName || !headerName.MatchString(name):
			return apierr.Invalid(field, "headers must have names of 1 to %d characters that HTTP allows.", maxHeaderName)
		case isOurs(lower):
			return apierr.Invalid(field, "headers must not have %s, which the service sets.", name)
		case seen[lower]:
			return apierr.Invalid(field, "headers must not have %s twice.", name)
		case !isHeaderValue(sent[name]):
			return apierr.Invalid(field, "%s must have up to %d printable ASCII characters, without spaces at its ends.", field, maxHeaderValue)
		}
		seen[lower] = true
	}
	return nil
}

func isOurs(lower string) bool {
	return slices.Contains(ours, lower) || slices.ContainsFunc(ourPrefixes, func(p string) bool { return strings.HasPrefix(lower, p) })
}

func isHeaderValue(value string) bool {
	for _, c := range []byte(value) {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return len(value) <= maxHeaderValue && value == strings.TrimSpace(value)
}

// kept returns the values of sent headers, where former has the stored values by canonical name.
// A masked value stands for the stored value.
func kept(sent, former map[string]string) (map[string]string, error) {
	values := map[string]string{}
	for _, name := range sortedKeys(sent) {
		value, canonical := sent[name], http.CanonicalHeaderKey(name)
		if value == masked {
			stored, known := former[canonical]
			if !known {
				return nil, apierr.Invalid("headers."+name, "headers.%s has no stored value that *** could keep.", name)
			}
			value = stored
		}
		values[canonical] = value
	}
	return values, nil
}

// shown returns headers as answers show them.
func shown(sent map[string]string) map[string]string {
	all := map[string]string{}
	for name := range sent {
		all[name] = masked
	}
	return all
}

// encodeHeaders returns the JSON of header values; nil without any.
func encodeHeaders(values map[string]string) ([]byte, error) {
	if len(values) == 0 {
		return nil, nil
	}
	return wire.Encode(values)
}

func decodeHeaders(data []byte) (values map[string]string, err error) {
	if data == nil {
		return nil, nil
	}
	if err := json.Unmarshal(data, &values); err != nil {
		return nil, fmt.Errorf("webhook: decode headers: %w", err)
	}
	return values, nil
}
