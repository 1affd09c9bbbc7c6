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
