// Package stacktest starts a region for a test: the real engine and handlers, with an
// organization, an event and a token. Its only checks of the API are the status of an answer, and
// that links lead on (Site). The same tests run against the groups' binaries or a deployed region (backend.go).
package stacktest

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/shared/auth"
)

// defaultRegion is the region of a test without InRegion.
const defaultRegion = "us"

// anyPort is a free port on this machine alone.
const anyPort = "127.0.0.1:0"

// customLimit is the limit of a test's token: more requests than any test sends.
const customLimit = 1_000_000

// stopTime limits how long requests may take to end after a test. A server waits five
// seconds for a connection without a request, so the limit is longer.
const stopTime = 15 * time.Second

// Scopes lists the names of auth.APIScopes.
var Scopes = scopeNames()

func scopeNames() (names []string) {
	for _, scope := range auth.APIScopes {
		names = append(names, string(scope))
	}
	return names
}

// Stack is a caller of a running region.
type Stack struct {
	// URL is the base address.
	URL string
	// Token is the token of requests; without one, requests have no token.
	Token string
	// Org, Member and Event are the organization, its admin and its event.
	Org, Member, Event int64

	t       testing.TB
	backend backend
}

// Start returns a caller of a region that runs until the test ends, or of the deployed
// region. The caller has a new organization with an admin, an event without features, and a
// token with all of Scopes and a limit that no test reaches.
func Start(t testing.TB, options ...Option) *Stack {
	t.Helper()
	o := all(options)
	s := &Stack{t: t, backend: newBackend(t, o)}
	if s.backend.deployed != nil {
		s.URL = s.backend.deployed.URL
		return s.NewOrganization(t, o.features...)
	}
	return s.Instance(t).NewOrganization(t, o.features...)
}

// Instance starts a second instance of the functions on the same table, with a memory of
// its own, and returns the same caller there.
func (s *Stack) Instance(t testing.TB) *Stack {
	t.Helper()
	if s.backend.stack == nil {
		leaveOut(t, "which instance answers is not for a caller of the deployed service to choose")
	}
	instance, err := s.backend.stack.Serve(anyPort)
	require.NoError(t, err)
	other := *s
	other.t, other.URL, other.backend.instance = t, instance.URL, instance
	t.Cleanup(func() { other.Stop(t) })
	return &other
}

// Stop stops the instance, once it has answered the open requests. The end of the test does the
// same.
func (s *Stack) Stop(t testing.TB) {
	t.Helper()
	client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	require.NoError(t, s.backend.instance.Stop(ctx))
}

// As returns the same caller with another token; an empty token sends none.
func (s *Stack) As(token string) *Stack {
	other := *s
	other.Token = token
	return &other
}

// In returns the same caller with another event of the organization for EventPath.
func (s *Stack) In(event int64) *Stack {
	other := *s
	other.Event = event
	return &other
}

// NewOrganization creates an organization with an admin, an event with the features and a
// token, as Start does, and returns its caller.
func (s *Stack) NewOrganization(t testing.TB, features ...string) *Stack {
	t.Helper()
	other := *s
	other.t = t
	other.Org = id(t, other.Operator(t, "organization-create", map[string]any{"name": "Organization " + rand.Text()}))
	other.Member = id(t, other.Operator(t, "member-create", map[string]any{
		"org_id": other.Org, "name": "Admin", "email": "admin@example.org", "role": "admin", "manage_users": true,
	}))
	other.Event = other.NewEvent(t, features...)
	other.Token = other.NewToken(t, Scopes...)
	return &other
}

// NewEvent creates an event with the features, in the time zone America/Chicago, and
// returns its id.
func (s *Stack) NewEvent(t testing.TB, features ...string) int64 {
	t.Helper()
	on := map[string]bool{}
	for _, name := range features {
		on[name] = true
	}
	return id(t, s.Operator(t, "event-create", map[string]any{
		"org_id": s.Org, "name": "Event " + rand.Text(), "timezone": "America/Chicago", "default_language": "en",
		"starts_at": "2027-05-11T14:00:00Z", "ends_at": "2027-05-13T23:00:00Z", "features": on,
	}))
}

// NewToken creates a token of the organization's admin with the scopes, with the limit of
// Start, and returns its text.
func (s *Stack) NewToken(t testing.TB, scopes ...string) string {
	t.Helper()
	return s.TokenWith(t, map[string]any{"scopes": slices.Clone(scopes), "limit": customLimit})
}

// TokenWith creates a token of the organization's admin with properties for the operator
// command, and returns its text.
func (s *Stack) TokenWith(t testing.TB, properties map[string]any) string {
	t.Helper()
	input := map[string]any{"org_id": s.Org, "user_id": s.Member, "name": "Test"}
	for name, value := range properties {
		input[name] = value
	}
	token, _ := s.Operator(t, "token-create", input)["token"].(string)
	require.NotEmpty(t, token)
	return token
}

// Operator runs an operator command, which must succeed, and returns its answer.
func (s *Stack) Operator(t testing.TB, command string, input any) map[string]any {
	t.Helper()
	answer, err := s.TryOperator(t, command, input)
	require.NoError(t, err, command)
	return answer
}

// TryOperator runs an operator command and returns its answer or its error.
func (s *Stack) TryOperator(t testing.TB, command string, input any) (map[string]any, error) {
	t.Helper()
	answer, err := s.backend.do(context.Background(), command, encode(t, input))
	if err != nil {
		return nil, err
	}
	var decoded map[string]any
	decode(t, answer, &decoded)
	return decoded, nil
}

// EventPath returns a path below the caller's event.
func (s *Stack) EventPath(rest string) string { return fmt.Sprintf("/v1/event/%d%s", s.Event, rest) }

// id returns the integer id in the answer of a command.
func id(t testing.TB, answer map[string]any) int64 {
	t.Helper()
	number, ok := answer["id"].(float64)
	require.True(t, ok, "no id in %v", answer)
	return int64(number)
}
