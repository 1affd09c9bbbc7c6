package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

func TestTheFirstReasonToRefuseDecides(t *testing.T) {
	s := start(t)
	limited := s.newToken(t, tenancy.Token{Scopes: []tenancy.Scope{auth.WriteSessions}, Limit: 1})
	used := s.send(t, "POST", s.path("/notes/create"), `{"text":"a","author":null}`, "X-Access-Token", limited)
	require.Equal(t, 201, used.StatusCode, used.body)
	reader := s.newToken(t, tenancy.Token{Scopes: []tenancy.Scope{auth.ReadSessions}})
	large := strings.Repeat("a", 1<<20+1)

	for _, c := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		field                    string
	}{
		{"unknown route", "GET", "/v2/nothing", "", []string{"X-Access-Token", ""}, 404, ""},
		{"wrong method before the token", "PATCH", s.path("/notes"), "{", []string{"X-Access-Token", ""}, 405, ""},
		{"token before the scope", "POST", s.path("/notes/create"), "{", []string{"X-Access-Token", "lct_us_nonsense"}, 401, ""},
		{"scope before the limit", "POST", s.path("/notes/create"), "{", []string{"X-Access-Token", reader}, 403, ""},
		{"limit before the size", "POST", "/v1/event/x/notes/create", large, []string{"X-Access-Token", limited}, 429, ""},
		{"size before the type", "POST", "/v1/event/x/notes/create", large, []string{"Content-Type", "text/plain"}, 413, ""},
		{"type before the path", "POST", "/v1/event/x/notes/create", "{", []string{"Content-Type", "text/plain"}, 415, ""},
		{"path before the event", "PUT", "/v1/event/999999/notes/x", "{", nil, 400, "noteId"},
		{"event before the body", "POST", "/v1/event/999999/notes/create", "{", nil, 404, ""},
		{"query before the body", "POST", s.path("/notes?pageSize=101"), "{", nil, 400, "pageSize"},
		{"body", "POST", s.path("/notes/create"), `{"text":1,"author":null}`, nil, 400, "text"},
	} {
		got := s.send(t, c.method, c.path, c.body, c.headers...)
		require.Equal(t, c.status, got.StatusCode, "%s: %s", c.name, got.body)
		e := got.refusal(t)
		require.Equal(t, e.Name, e.Err, c.name)
		require.NotEmpty(t, e.Name, c.name)
		if c.field != "" {
			require.Equal(t, "VALIDATION_ERROR", e.Code, c.name)
			require.Equal(t, c.field, e.Details["field"], c.name)
		}
	}
}

func TestWritesOfADayAreCountedWhereThatIsSet(t *testing.T) {
	s := start(t)
	body := []string{`{"text":"a","author":null}`, "Content-Type", "application/json"}
	env := s.env
	env.DailyWrites = 2
	env.Now = func() time.Time { return time.Date(2026, 11, 21, 23, 59, 0, 0, time.UTC) }
	server := httptest.NewServer(group.Handler(env))
	t.Cleanup(server.Close)
	free := *s
	s.url = server.URL
	for _, status := range []int{201, 201, 429, 429} {
		got := s.send(t, "POST", s.path("/notes/create"), body[0], body[1:]...)
		require.Equal(t, status, got.StatusCode)
		if status == 429 {
			require.Equal(t, "RATE_LIMITED", got.refusal(t).Code)
			require.Equal(t, "2", got.Header.Get("RateLimit-Limit"))
			require.NotEmpty(t, got.Header.Get("Retry-After"))
			continue
		}
		require.Equal(t, "100000", got.Header.Get("RateLimit-Limit"))
	}
	require.Equal(t, 204, s.send(t, "DELETE", s.path("/notes/"+kept), "").StatusCode, "not counted")
	require.Equal(t, 201, free.send(t, "POST", s.path("/notes/create"), body[0], body[1:]...).StatusCode, "off by default")
}

func TestSearchesAreBoundByABudgetWhereThatIsSet(t *testing.T) {
	s := start(t)
	body := `{"filters":{}}`
	s.send(t, "POST", s.path("/notes"), body) // has the token read
	clock := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	env := s.env
	env.SearchUnits, env.Memory = 120, nil
	env.Now = func() time.Time { return clock }
	server := httptest.NewServer(group.Handler(env))
	t.Cleanup(server.Close)
	free := *s
	s.url = server.URL
	served := 0
	for s.send(t, "POST", s.path("/notes"), body).StatusCode != http.StatusTooManyRequests {
		served++
		require.Less(t, served, 120)
	}
	require.Greater(t, served, 10)
	refused := s.send(t, "POST", s.path("/notes"), body)
	require.Equal(t, "TooManyRequestsError", refused.refusal(t).Err)
	require.Equal(t, "RATE_LIMITED", refused.refusal(t).Code)
	require.Empty(t, refused.Header.Get("RateLimit-Limit"))
	wait, err := strconv.Atoi(refused.Header.Get("Retry-After"))
	require.NoError(t, err)
	require.Equal(t, 200, s.send(t, "GET", s.path("/notes/"+kept), "").StatusCode, "what has a limit of its own goes on")
	require.Equal(t, 401, s.send(t, "POST", s.path("/notes"), body, "X-Access-Token", "").StatusCode)
	for range 100 {
		require.Equal(t, 429, s.send(t, "POST", s.path("/notes"), body).StatusCode, "refusals are free")
	}
	clock = clock.Add(time.Duration(wait) * time.Second)
	require.NotEqual(t, 429, s.send(t, "POST", s.path("/notes"), body).StatusCode)
	require.NotEqual(t, 429, free.send(t, "POST", s.path("/notes"), body).StatusCode, "off by default")
}

func TestTooManyRequestsWinsOverWhateverAReadFinds(t *testing.T) {
	s := start(t)
	s.token = s.newToken(t, tenancy.Token{Scopes: []tenancy.Scope{auth.ReadSessions}, Limit: 1})
	first := s.send(t, "GET", s.path("/notes/"+kept), "")
	require.Equal(t, 200, first.StatusCode)
	require.Equal(t, "1", first.Header.Get("RateLimit-Limit"))
	require.Equal(t, "0", first.Header.Get("RateLimit-Remaining"))
	for _, path := range []string{s.path("/notes/" + kept), s.path("/notes/nonsense"), "/v1/event/999999/notes/" + kept, "/v1/trouble/panic"} {
		got := s.send(t, "GET", path, "")
		require.Equal(t, 429, got.StatusCode, path)
		require.Equal(t, "TooManyRequestsError", got.refusal(t).Err)
		require.NotEmpty(t, got.Header.Get("Retry-After"), path)
	}
	require.Equal(t, 200, s.send(t, "POST", s.path("/notes"), "").StatusCode, "a search is not limited")
}

func TestTheLimiterAdmitsExactlyItsNumber(t *testing.T) {
	s := start(t)
	s.token = s.newToken(t, tenancy.Token{Scopes: []tenancy.Scope{auth.WriteSessions}, Limit: 10})
	var done sync.WaitGroup
	var admitted, refused atomic.Int64
	for range 30 {
		done.Go(func() {
			switch s.send(t, "POST", s.path("/notes/create"), `{"text":"a","author":null}`).StatusCode {
			case http.StatusCreated:
				admitted.Add(1)
			case http.StatusTooManyRequests:
				refused.Add(1)
			}
		})
	}
	done.Wait()
	require.Equal(t, []int64{10, 20}, []int64{admitted.Load(), refused.Load()})
}

func TestAForeignEventAnswersLikeAnUnknownOne(t *testing.T) {
	s := start(t)
	own, event := s.token, s.event
	narrow := s.newToken(t, tenancy.Token{Scopes: []tenancy.Scope{auth.ReadSessions}, EventIDs: []int64{s.newEvent(t)}})
	s.settle(t)
	foreign := s.event
	s.event = event
	request := func(event int64, token string) answer {
		return s.send(t, "GET", fmt.Sprintf("/v1/event/%d/notes/%s", event, kept), "", "X-Access-Token", token)
	}
	unknown := request(999_999, own)
	require.Equal(t, 404, unknown.StatusCode)
	require.Equal(t, "Event not found", unknown.refusal(t).Message)
	for name, got := range map[string]answer{"foreign": request(foreign, own), "not permitted": request(event, narrow)} {
		require.Equal(t, 404, got.StatusCode, name)
		require.Equal(t, unknown.body, got.body, name)
	}
	require.Equal(t, 200, request(event, own).StatusCode)
}

func TestAnOrganizationInThePathMustBeTheCallers(t *testing.T) {
	s := start(t)
	own := s.send(t, "GET", "/v1/organization/"+strconv.FormatInt(s.org, 10)+"/team", "")
	require.Equal(t, 200, own.StatusCode)
	require.JSONEq(t, `{"name":"Ada"}`, own.body)
	foreign := s.send(t, "GET", "/v1/organization/999999/team", "")
	require.Equal(t, 404, foreign.StatusCode)
	require.Equal(t, "Organization not found", foreign.refusal(t).Message)
	require.Equal(t, "orgId", s.send(t, "GET", "/v1/organization/x/team", "").refusal(t).Details["field"])
}

func TestRefusalsAtSignInLookAlike(t *testing.T) {
	s := start(t)
	past := wire.At(time.Now().Add(-time.Hour))
	expired := s.newToken(t, tenancy.Token{Scopes: []tenancy.Scope{auth.ReadSessions}, ExpiresAt: &past})
	missing := s.send(t, "GET", s.path("/notes/"+kept), "", "X-Access-Token", "")
	require.Equal(t, "Bearer", missing.Header.Get("WWW-Authenticate"))
	for _, c := range [][]string{
		{"X-Access-Token", "lct_us_nonsense"},
		{"X-Access-Token", expired},
		{"X-Access-Token", "", "Authorization", "Bearer something"},
	} {
		got := s.send(t, "GET", s.path("/notes/"+kept), "", c...)
		require.Equal(t, 401, got.StatusCode)
		require.Equal(t, missing.body, got.body)
		require.Equal(t, `Bearer error="invalid_token"`, got.Header.Get("WWW-Authenticate"))
	}
	var reasons []any
	for _, line := range s.lines(t) {
		reasons = append(reasons, line["reason"])
	}
	require.Equal(t, []any{"missing", "checksum", "expired", "malformed"}, reasons)
	require.InEpsilon(t, s.org, s.lines(t)[2]["org"], 0, "a known token is logged for its organization")
}

func TestOnlyOurOwnErrorsSayAnything(t *testing.T) {
	s := start(t)
	for kind, status := range map[string]int{"panic": 500, "error": 500, "busy": 503, "stale": 409} {
		got := s.send(t, "GET", "/v1/trouble/"+kind, "")
		require.Equal(t, status, got.StatusCode, kind)
		require.NotContains(t, got.body, "secret", kind)
		require.NotEmpty(t, got.refusal(t).Message, kind)
		require.NotEmpty(t, got.Header.Get("X-Request-Id"), kind)
		require.Equal(t, "application/json", got.Header.Get("Content-Type"), kind)
		require.Equal(t, kind == "stale", got.Header.Get("ETag") != "", kind)
		require.Equal(t, map[string]string{"busy": "1"}[kind], got.Header.Get("Retry-After"), kind)
	}
	require.Contains(t, s.log.String(), "secret cause")
}

func TestOneLineIsLoggedARequest(t *testing.T) {
	s := start(t)
	s.token = s.newToken(t, tenancy.Token{Scopes: []tenancy.Scope{auth.ReadSessions}})
	s.send(t, "GET", s.path("/notes/"+kept), "") // has the token read
	s.send(t, "GET", s.path("/notes/"+kept+"?private=query"), "", "X-Request-Id", "request-1")
	s.send(t, "POST", s.path("/notes"), `{"filters":{"ids":[]}}`)
	lines := s.lines(t)
	require.Len(t, lines, 3)
	lines = lines[1:]
	at, err := time.Parse(time.RFC3339, lines[0]["timestamp"].(string))
	require.NoError(t, err, "Lambda takes the time of a line from it")
	require.WithinDuration(t, time.Now(), at, time.Minute)
	delete(lines[0], "timestamp")
	delete(lines[0], "ms")
	require.Equal(t, map[string]any{
		"level": "INFO", "msg": "request", "request_id": "request-1", "method": "GET", "status": 200.0,
		"route": "/v1/event/{eventId}/notes/{noteId}", "bucket": "entity_reads", "eventId": strconv.FormatInt(s.event, 10), "noteId": kept,
		"org": float64(s.org), "token": lines[0]["token"], "calls": 2.0, "round_trips": 2.0, "rcu": 2.0, "wcu": 1.0,
	}, lines[0])
	require.Equal(t, "VALIDATION_ERROR", lines[1]["reason"])
	require.NotContains(t, s.log.String(), "private")
	require.NotContains(t, s.log.String(), s.token)
}

func TestRequestIDsAreTakenWhenTheyAreSafe(t *testing.T) {
	s := start(t)
	long := strings.Repeat("a", 128)
	for sent, taken := range map[string]bool{"abc-1_2.3:/+=": true, "ada@example.org": false, long: true, long + "a": false, "with space": false, "a\"b": false, "": false} {
		got := s.send(t, "GET", "/open", "", "X-Request-Id", sent).Header.Get("X-Request-Id")
		require.NotEmpty(t, got)
		require.Equal(t, taken, got == sent, sent)
	}
}

func TestOpenRoutesNeedNoToken(t *testing.T) {
	s := start(t)
	got := s.send(t, "GET", "/open", "", "X-Access-Token", "")
	require.Equal(t, 200, got.StatusCode)
	require.JSONEq(t, `{"name":"anyone"}`, got.body)
}

func TestARetriedCreateIsMadeOnce(t *testing.T) {
	s := start(t)
	body := `{"text":"a < b & <i>c\\u003c</i>","author":{"name":"Bo"}}`
	create := func(body, key string) answer {
		return s.send(t, "POST", s.path("/notes/create?x=1"), body, "Idempotency-Key", key)
	}
	first := create(body, "key-1")
	require.Equal(t, 201, first.StatusCode, first.body)
	require.Empty(t, first.Header.Get("Idempotent-Replayed"))
	again := create(body, "key-1")
	require.Equal(t, 201, again.StatusCode)
	require.Equal(t, first.body, again.body)
	require.Equal(t, first.Header.Get("ETag"), again.Header.Get("ETag"))
	require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))

	require.NotEqual(t, first.body, create(body, "key-2").body)
	require.Equal(t, 422, create(`{"text":"b","author":null}`, "key-1").StatusCode)
	tooLong := create(body, strings.Repeat("k", 256))
	require.Equal(t, 400, tooLong.StatusCode)
	require.Equal(t, "Idempotency-Key", tooLong.refusal(t).Details["field"])
	refuse := `{"text":"a","author":null,"refuse":true}`
	require.Equal(t, 409, create(refuse, "key-3").StatusCode)
	require.Equal(t, 201, create(body, "key-3").StatusCode, "a refused request keeps nothing")
}

func TestSimultaneousCreatesUnderOneKeyAnswerAlike(t *testing.T) {
	s := start(t)
	bodies := make([]string, 12)
	var done sync.WaitGroup
	for i := range bodies {
		done.Go(func() {
			got := s.send(t, "POST", s.path("/notes/create"), `{"text":"a","author":null}`, "Idempotency-Key", "one")
			bodies[i] = strconv.Itoa(got.StatusCode) + got.body
		})
	}
	done.Wait()
	for _, body := range bodies {
		require.Equal(t, bodies[0], body)
	}
	require.True(t, strings.HasPrefix(bodies[0], strconv.Itoa(http.StatusCreated)), bodies[0])
}

// panicking panics where the rate limiter counts.
type panicking struct{ table.Client }

func (panicking) UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	panic("secret cause")
}

func TestALimiterThatPanicsRefusesNobody(t *testing.T) {
	s := start(t)
	s.env.Table, s.env.Memory = table.New(panicking{s.client}, tableName), new(api.Memory)
	server := httptest.NewServer(group.Handler(s.env))
	t.Cleanup(server.Close)
	s.url = server.URL
	for method, path := range map[string]string{"GET": s.path("/notes/" + kept), "DELETE": s.path("/notes/" + kept)} {
		got := s.send(t, method, path, "")
		require.Less(t, got.StatusCode, 300, got.body)
	}
	require.Contains(t, s.log.String(), "secret cause")
}
