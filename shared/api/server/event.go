package server

import (
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// Request says what an event has beside the request of the client.
type Request struct {
	ID string
	At time.Time
	// Stage is the name of the stage, Path the path below the stage, encoded.
	Stage, Path string
	// Template is the path of the route, Parameters has the values of its variables; both may be empty.
	Template   string
	Parameters map[string]string
	// Scheme is http or https, Client the address of the client.
	Scheme, Client string
}

// Event returns the event by which API Gateway passes a request to a function, without a body. The path
// stays encoded, the query is decoded, and the context of the event has the whole path.
func Event(r *http.Request, of Request) events.APIGatewayProxyRequest {
	r.Header["Host"] = []string{r.Host}
	r.Header["X-Forwarded-Proto"] = []string{of.Scheme}
	return events.APIGatewayProxyRequest{
		Resource:                        of.Template,
		Path:                            of.Path,
		HTTPMethod:                      r.Method,
		MultiValueHeaders:               r.Header,
		MultiValueQueryStringParameters: query(r.URL.RawQuery),
		PathParameters:                  of.Parameters,
		RequestContext: events.APIGatewayProxyRequestContext{
			Stage:            of.Stage,
			RequestID:        of.ID,
			ResourcePath:     of.Template,
			HTTPMethod:       r.Method,
			Path:             r.URL.EscapedPath(),
			Protocol:         r.Proto,
			DomainName:       r.Host,
			RequestTimeEpoch: of.At.UnixMilli(),
			Identity:         events.APIGatewayRequestIdentity{SourceIP: of.Client, UserAgent: r.UserAgent()},
		},
	}
}

// Below returns the path of a request without the stage, and reports whether the path begins with the stage.
// Without a stage, every path stays as it is.
func Below(stage, path string) (string, bool) {
	if stage == "" {
		return path, true
	}
	rest, found := strings.CutPrefix(path, "/"+stage)
	if found && rest == "" {
		return "/", true // As on AWS, the address of the stage needs no slash.
	}
	return rest, found && strings.HasPrefix(rest, "/")
}

// Host returns an address without the port.
func Host(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}

// query decodes a query string. A broken value stays as sent, so that the group refuses the
// value: a dropped parameter would widen a search.
func query(raw string) map[string][]string {
	decoded := map[string][]string{}
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name = unescaped(name)
		decoded[name] = append(decoded[name], unescaped(value))
	}
	return decoded
}

// unescaped returns text without percent encoding; a broken text stays as sent.
func unescaped(text string) string {
	if plain, err := url.QueryUnescape(text); err == nil {
		return plain
	}
	return text
}
