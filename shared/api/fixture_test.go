package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/local/engine"
	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/programme"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

const tableName = "notes"

// stack is the test group behind a real server over a real table.
type stack struct {
	url, token string
	org, event int64
	env        api.Env
	member     *tenancy.Member
	log        *bytes.Buffer
	client     table.Client
}

func start(t *testing.T) *stack {
	t.Helper()
	ctx := context.Background()
	e, err := engine.Start(ctx, engine.Config{InMemory: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Stop()) })
	client, err := table.Open(ctx, table.Config{Endpoint: e.URL, Region: "us-east-1"})
	require.NoError(t, err)
	require.NoError(t, table.Create(ctx, client, tableName))
	log := new(bytes.Buffer)
	s := &stack{log: log, client: client, env: api.Env{
		Region: "us", Table: table.New(client, tableName), Now: time.Now, NewID: uuid.NewString,
		Log: api.NewLog(log), Memory: new(api.Memory),
	}}
	s.settle(t)
	server := httptest.NewServer(group.Handler(s.env))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// settle makes an organization with an event, a member and a token.
func (s *stack) settle(t *testing.T) {
	t.Helper()
	ctx, store := context.Background(), s.tenants()
	org := &tenancy.Organization{Name: "Orbit"}
	require.NoError(t, tenancy.Organizations.Create(ctx, store, org))
	s.org = org.ID
	s.member = &tenancy.Member{OrgID: org.ID, Name: "Ada", Email: "ada@example.org", Role: tenancy.RoleAdmin, Active: true}
	require.NoError(t, tenancy.Members.Create(ctx, store, s.member))
	s.event = s.newEvent(t)
	s.token = s.newToken(t, tenancy.Token{Scopes: []tenancy.Scope{auth.ReadSessions, auth.WriteSessions}, Limit: 100_000})
}

func (s *stack) tenants() tenancy.Store {
	return tenancy.Store{Table: s.env.Table, Now: s.env.Now, Region: s.env.Region}
}

func (s *stack) newEvent(t *testing.T) int64 {
	t.Helper()
	now := s.env.Now()
	event := &programme.Event{
		OrgID: s.org, Name: "Launch", Timezone: "Europe/Berlin", DefaultLanguage: "en",
		StartsAt: wire.At(now), EndsAt: wire.At(now.Add(time.Hour)),
	}
	require.NoError(t, programme.Events.Create(context.Background(), s.tenants(), event))
	return event.ID
}

func (s *stack) newToken(t *testing.T, token tenancy.Token) string {
	t.Helper()
	text := auth.Text{Region: s.env.Region, Org: s.org, User: s.member.ID, Secret: auth.NewSecret()}
	token.OrgID, token.UserID, token.Name, token.SecretHash = s.org, s.member.ID, "test", text.Hash()
	if token.Kind == "" {
		token.Kind = tenancy.KindAPI
	}
	require.NoError(t, s.tenants().CreateToken(context.Background(), &token))
	text.ID = token.ID
	return text.String()
}

// answer is a response with its body read.
type answer struct {
	*http.Response
	body string
}

// send sends a request as the stack's caller. A header pair with an empty value
// takes the header away.
func (s *stack) send(t *testing.T, method, path, body string, headers ...string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(context.Background(), method, s.url+path, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("X-Access-Token", s.token)
	request.Header.Set("Accept-Encoding", "identity")
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Del(headers[i])
		if headers[i+1] != "" {
			request.Header.Set(headers[i], headers[i+1])
		}
	}
	// The transport neither follows redirects nor unpacks answers.
	response, err := http.DefaultTransport.RoundTrip(request)
	require.NoError(t, err)
	read, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return answer{response, string(read)}
}

func (a answer) refusal(t *testing.T) apierr.Error {
	t.Helper()
	var e apierr.Error
	require.NoError(t, json.Unmarshal([]byte(a.body), &e), a.body)
	return e
}

// path is a path under the stack's event.
func (s *stack) path(rest string) string {
	return "/v1/event/" + strconv.FormatInt(s.event, 10) + rest
}

// lines are the log lines about requests, oldest first.
func (s *stack) lines(t *testing.T) (all []map[string]any) {
	t.Helper()
	for line := range strings.Lines(s.log.String()) {
		fields := map[string]any{}
		require.NoError(t, json.Unmarshal([]byte(line), &fields))
		if fields["msg"] == "request" {
			all = append(all, fields)
		}
	}
	return all
}

// The test group: notes of an event.
