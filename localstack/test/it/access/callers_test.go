package access_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/stacktest"
	"lectern/shared/auth"
)

// TestWhyARequestWasRefusedIsInTheLogAlone: the line of a 401 says why, and of a
// known token which; no line has a token's text.
func TestWhyARequestWasRefusedIsInTheLogAlone(t *testing.T) {
	log := &stacktest.Log{}
	s := stacktest.Start(t, stacktest.WithLog(log))
	revoked := s.Operator(t, "token-create", map[string]any{"org_id": s.Org, "user_id": s.Member, "name": "R", "kind": "legacy"})
	s.Operator(t, "token-revoke", map[string]any{"org_id": s.Org, "token_id": revoked["id"]})
	text, err := auth.Parse(auth.FormToken, s.Token)
	require.NoError(t, err)
	text.Secret[0] ^= 1
	forged := text.String()
	text.ID += 1000
	unknown := text.String()

	for i, c := range []struct {
		reason  string
		header  []string
		ofToken bool
	}{
		{"missing", []string{stacktest.TokenHeader, ""}, false},
		{"malformed", []string{stacktest.TokenHeader, "hunter2"}, false},
		{"checksum", []string{stacktest.TokenHeader, s.Token + "0"}, false},
		{"unknown", []string{stacktest.TokenHeader, unknown}, false},
		{"wrong_secret", []string{stacktest.TokenHeader, forged}, true},
		{"revoked", []string{stacktest.TokenHeader, revoked["token"].(string)}, true},
		{"malformed", []string{stacktest.TokenHeader, "", "Authorization", "Bearer " + s.Token}, false},
	} {
		id := "refused-" + string(rune('a'+i))
		answer := s.Call(t, 401, "GET", "/v1/events", stacktest.WithHeaders(nil, append(c.header, "X-Request-Id", id)...))
		require.NotContains(t, string(answer.Body), c.reason)
		line := log.Fields(t, id)
		require.Equal(t, c.reason, line["reason"])
		require.Equal(t, c.ofToken, line["token"] != nil, "a known token's line names it: %v", line)
	}
	require.NotContains(t, log.String(), "lct_us_")
}

// TestATokenStandsInItsOwnHeader: an API token counts in x-access-token, and not as a bearer. Two
// different texts are refused.
func TestATokenStandsInItsOwnHeader(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t)
	s.Call(t, 200, "GET", "/v1/events", stacktest.WithHeaders(nil, "Authorization", "Bearer "+s.Token))
	for _, other := range []string{"Bearer nonsense", "Basic " + s.Token, "Bearer", s.Token} {
		answer := s.Call(t, 401, "GET", "/v1/events", stacktest.WithHeaders(nil, "Authorization", other)).JSON(t)
		require.Contains(t, answer["message"], "not both")
	}
	s.As("").Call(t, 401, "GET", "/v1/events", stacktest.WithHeaders(nil, "Authorization", "Bearer "+s.Token))
	s.As("").Call(t, 401, "GET", "/v1/events", stacktest.WithHeaders(nil, "Authorization", "Basic "+s.Token))
}

// TestALogExportTokenOpensNothingElse: 403 with its reason, whatever the route.
func TestALogExportTokenOpensNothingElse(t *testing.T) {
	s := stacktest.Start(t)
	logs := s.As(s.TokenWith(t, map[string]any{"kind": "log_export"}))
	for _, route := range [][2]string{
		{"GET", "/v1/events"}, {"POST", s.EventPath("/sessions")}, {"POST", s.EventPath("/sessions/create")}, {"GET", s.EventPath("/rooms")},
	} {
		refused := logs.Call(t, 403, route[0], route[1], nil).JSON(t)
		require.Equal(t, "log_export_only", refused["reason"], route)
	}
	require.Nil(t, s.As(s.NewToken(t, "read:awards")).Call(t, 403, "GET", "/v1/events", nil).JSON(t)["reason"])
}
