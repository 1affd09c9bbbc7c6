// Package stacktest gives tests a region of their own: the real engine, the
// real handlers behind the real door, an organization with an event and a
// token. It owns no assertion about the API beyond the status of an answer.
// The same tests run against the groups' own binaries, or a deployed region.
package stacktest

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/stack"
	"lectern/shared/auth"
	"lectern/shared/table"
	"lectern/shared/table/faulty"
)

// region is the region of a stack unless a test chooses another.
const region = "us"

// anyPort is a free port on this machine alone.
const anyPort = "127.0.0.1:0"

// customLimit is the limit of a test's token: more than a test sends.
const customLimit = 1_000_000

// stopTime is how long requests may take to end when a test has ended: longer
// than the five seconds for which a server waits for a connection that has not
// been used yet.
const stopTime = 15 * time.Second

// Scopes are the names of auth.APIScopes.
var Scopes = func() (names []string) {
	for _, scope := range auth.APIScopes {
		names = append(names, string(scope))
	}
	return names
}()

// Stack is a caller of a running region: where it is, and as whom it calls.
type Stack struct {
	// URL is the base address.
	URL string
	// Token is what requests are sent with.
	Token string
	// Org, Member and Event are the organization, its admin and its event.
	Org, Member, Event int64

	t  testing.TB
	at place
}

// Option changes how Start starts.
type Option func(*options)

type options struct {
	config   stack.Config
	features []string
	asAWS    bool
	load     func(ctx context.Context, url, table string) error
}

// InRegion chooses another region than us.
func InRegion(name string) Option {
	return func(o *options) { o.config.Region = name }
}

// Features switches features of the event on; none is without it.
func Features(names ...string) Option {
	return func(o *options) { o.features = append(o.features, names...) }
}

// WithClient stands wrap's client between the service and the engine.
func WithClient(wrap func(table.Client) table.Client) Option {
	return func(o *options) { o.config.Wrap = wrap }
}

// AsAWS has the table conflict and throttle as AWS does, behind WithClient's client.
func AsAWS() Option {
	return func(o *options) { o.asAWS = true }
}

// OnTable fills the region's table on the engine at an address before anything is
// served from it.
func OnTable(load func(ctx context.Context, url, table string) error) Option {
	return func(o *options) { o.load = load }
}

// WithLog writes the service's log lines to a writer.
func WithLog(to io.Writer) Option {
	return func(o *options) { o.config.Log, o.config.Output = slog.New(slog.NewJSONHandler(to, nil)), to }
}

// EnvAsAWS has every test start its regions AsAWS.
const EnvAsAWS = "LECTERN_AS_AWS"

// beforeAWS returns wrap, which may be nil, before a table that acts as AWS.
func beforeAWS(wrap func(table.Client) table.Client) func(table.Client) table.Client {
	return func(inner table.Client) table.Client {
		inner = faulty.AsAWS(inner)
		if wrap != nil {
			inner = wrap(inner)
		}
		return inner
	}
}

// Start gives an organization in a region, with its admin, an event without features
// and a token with every one of Scopes and a limit that no test reaches. The region
// runs until the test ends, or is the deployed one.
func Start(t testing.TB, opts ...Option) *Stack {
	t.Helper()
	o := options{config: stack.Config{Region: region, Table: "lectern-" + rand.Text()}}
	for _, option := range opts {
		option(&o)
	}
	if o.asAWS || os.Getenv(EnvAsAWS) != "" && os.Getenv(EnvFunctions) == "" {
		o.config.Wrap = beforeAWS(o.config.Wrap)
	}
	s := &Stack{t: t, at: found(t, o)}
	if s.at.deployed != nil {
		s.URL = s.at.deployed.URL
		return s.NewOrganization(t, o.features...)
	}
	return s.Instance(t).NewOrganization(t, o.features...)
}

// Instance is the same caller at a second door: the same table, and functions with a
// memory of their own, as other Lambda instances have.
func (s *Stack) Instance(t testing.TB) *Stack {
	t.Helper()
	if s.at.stack == nil {
		leaveOut(t, "which instance answers is not for a caller of the deployed service to choose")
	}
	instance, err := s.at.stack.Serve(anyPort)
	require.NoError(t, err)
	t.Cleanup(func() {
		client.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), stopTime)
		defer cancel()
		require.NoError(t, instance.Stop(ctx))
	})
	other := *s
	other.t, other.URL, other.at.instance = t, instance.URL, instance
	return &other
}

// As is the same place called with another token; an empty one sends none.
func (s *Stack) As(token string) *Stack {
	other := *s
	other.Token = token
	return &other
}

// In is the same caller with another event of the organization for EventPath.
func (s *Stack) In(event int64) *Stack {
	other := *s
	other.Event = event
	return &other
}

// NewOrganization makes an organization with an admin, an event with the
// features and a token as Start does, and returns its caller.
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

// NewEvent makes an event of the organization with the features switched on,
// in the time zone America/Chicago, and returns its id.
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

// NewToken makes a token of the organization's admin with the scopes and the
// limit of Start's, and returns its value.
func (s *Stack) NewToken(t testing.TB, scopes ...string) string {
	t.Helper()
	return s.TokenWith(t, map[string]any{"scopes": slices.Clone(scopes), "limit": customLimit})
}

// TokenWith makes a token of the organization's admin with the properties
// given to the operator command, and returns its value.
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

// Operator does an operator command, which must succeed, and returns its
// answer.
func (s *Stack) Operator(t testing.TB, command string, input any) map[string]any {
	t.Helper()
	answer, err := s.TryOperator(t, command, input)
	require.NoError(t, err, command)
	return answer
}

// TryOperator does an operator command and returns its answer or its error.
func (s *Stack) TryOperator(t testing.TB, command string, input any) (map[string]any, error) {
	t.Helper()
	answer, err := s.at.do(context.Background(), command, encode(t, input))
	if err != nil {
		return nil, err
	}
	var decoded map[string]any
	decode(t, answer, &decoded)
	return decoded, nil
}

// EventPath is a path below the caller's event.
func (s *Stack) EventPath(rest string) string { return fmt.Sprintf("/v1/event/%d%s", s.Event, rest) }

// id is the integer id of what a command made.
func id(t testing.TB, answer map[string]any) int64 {
	t.Helper()
	number, ok := answer["id"].(float64)
	require.True(t, ok, "no id in %v", answer)
	return int64(number)
}
