package api

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/stretchr/testify/require"
)

// TestTheLineHasTheAddressAndTheUserAgentOfTheGateway, as far as both can be printed.
func TestTheLineHasTheAddressAndTheUserAgentOfTheGateway(t *testing.T) {
	line := func(ip, agent string) []slog.Attr {
		return source(events.APIGatewayRequestIdentity{SourceIP: ip, UserAgent: agent})
	}
	require.Equal(t, []slog.Attr{slog.String("ip", "203.0.113.9"), slog.String("user_agent", "curl/8.5.0")}, line("203.0.113.9", "curl/8.5.0"))
	require.Equal(t, []slog.Attr{slog.String("ip", "2001:db8::1")}, line("2001:DB8:0::1", ""))
	require.Empty(t, line("", ""))
	require.Empty(t, line("somewhere", "\x00\t\u202e\xff\ufffd"))

	long := strings.Repeat("x", maxUserAgent-1)
	for sent, want := range map[string]string{
		long + "yz":            long + "y",
		long + "é":             long, // The letter has two bytes.
		"\xff" + long + "é":    long,
		"a\r\nb\x7fc\u0085d e": "abcd e",
		"Müller\u2028\u202e/1": "Müller/1",
	} {
		require.Equal(t, []slog.Attr{slog.String("user_agent", want)}, line("", sent), "%q", sent)
	}
}

// TestTheClientOfEdges: with the secret of the edges, the client is the one before the edge that called the
// gateway. Without it, nobody can choose the address in the log.
func TestTheClientOfEdges(t *testing.T) {
	const edge = "64.252.65.1"
	for _, c := range []struct{ secret, sent, forwarded, want string }{
		{"s3cret", "s3cret", "203.0.113.9, " + edge, "203.0.113.9"},
		{"s3cret", "s3cret", "198.51.100.7, 203.0.113.9, " + edge, "203.0.113.9"},
		{"s3cret", "s3cret", "198.51.100.7, 203.0.113.9", "203.0.113.9"},
		{"s3cret", "s3cret", "2001:db8::1," + edge, "2001:db8::1"},
		{"s3cret", "s3cret", edge, edge},
		{"s3cret", "s3cret", "", edge},
		{"s3cret", "secret", "203.0.113.9, " + edge, edge},
		{"s3cret", "", "203.0.113.9, " + edge, edge},
		{"", "", "203.0.113.9, " + edge, edge},
		{"", "s3cret", "203.0.113.9, " + edge, edge},
	} {
		got := client(events.APIGatewayProxyRequest{
			StageVariables:    map[string]string{StageEdges: c.secret},
			MultiValueHeaders: map[string][]string{"x-lectern-edges": {c.sent}, "X-Forwarded-For": {c.forwarded}},
			RequestContext:    events.APIGatewayProxyRequestContext{Identity: events.APIGatewayRequestIdentity{SourceIP: edge}},
		})
		require.Equal(t, c.want, got, "%+v", c)
	}
	require.Equal(t, edge, client(events.APIGatewayProxyRequest{
		StageVariables:    map[string]string{StageEdges: "s3cret"},
		MultiValueHeaders: map[string][]string{HeaderEdges: {"s3cret", "s3cret"}, "X-Forwarded-For": {"203.0.113.9"}},
		RequestContext:    events.APIGatewayProxyRequestContext{Identity: events.APIGatewayRequestIdentity{SourceIP: edge}},
	}), "a client that sends the header too")
}
