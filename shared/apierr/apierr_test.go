package apierr_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/apierr"
)

func TestEveryErrorHasACode(t *testing.T) {
	for code, e := range map[string]*apierr.Error{
		"VALIDATION_ERROR":       apierr.Invalid("title", "wrong"),
		"TYPE_MISMATCH":          apierr.TypeMismatch("level", "wrong", "a", "b"),
		"FIELD_READ_ONLY":        apierr.ReadOnly("level"),
		"FIELD_NOT_FOUND":        apierr.FieldNotFound("level"),
		"NOT_FOUND":              apierr.NotFound("Session"),
		"BUILT_IN":               apierr.Conflict("BUILT_IN", "no"),
		"LIMIT_REACHED":          apierr.LimitReached("sessions", 3, "no"),
		"STALE_UPDATE":           apierr.Stale("2026-11-21T09:38:00.123Z", `"2"`),
		"UNAUTHORIZED":           apierr.Unauthorized(),
		"INSUFFICIENT_SCOPE":     apierr.Forbidden("log_export_only", "no"),
		"FEATURE_NOT_ENABLED":    apierr.FeatureNeeded("no"),
		"RATE_LIMITED":           apierr.TooManyRequests("later"),
		"PAYLOAD_TOO_LARGE":      apierr.TooLarge(1),
		"UNSUPPORTED_MEDIA_TYPE": apierr.UnsupportedMediaType("application/json"),
		"METHOD_NOT_ALLOWED":     apierr.MethodNotAllowed("GET"),
		"REUSED":                 apierr.Unprocessable("REUSED", "no"),
		"SERVICE_UNAVAILABLE":    apierr.Unavailable(),
		"INTERNAL_ERROR":         apierr.Internal(),
	} {
		require.Equal(t, code, e.Code, e.Message)
		require.Equal(t, e.Name, e.Err)
		require.GreaterOrEqual(t, e.Status, 400)
	}
}

func TestOptionsAreSeparatedByCommas(t *testing.T) {
	e := apierr.OneOf("role", "admin", "member")
	require.Equal(t, "role must be one of admin, member.", e.Message)
	require.Equal(t, "role", e.Details["field"])
}

// The gateway encodes a body as base64 in the event of a function. So its limits do not count
// the bytes that a client sends.
func TestTheGatewaysLimitOfABodyHasNoNumber(t *testing.T) {
	e, route := apierr.TooLargeForGateway(), apierr.TooLarge(1<<20)
	require.NotRegexp(t, `[0-9]`, e.Message)
	require.Contains(t, route.Message, "1048576 bytes")
	e.Message = route.Message
	require.Equal(t, route, e)
}
