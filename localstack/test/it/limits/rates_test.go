package limits_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
)

// fresh is a caller with a token of its own, with the default limit unless
// limit is another.
func fresh(t *testing.T, s *stacktest.Stack, limit int) *stacktest.Stack {
	t.Helper()
	properties := map[string]any{"scopes": stacktest.Scopes}
	if limit > 0 {
		properties["limit"] = limit
	}
	return s.As(s.TokenWith(t, properties))
}

// TestLimitHeaders: the headers of spec.md section 8 beside those of the IETF
// draft, on answers of every kind; nothing on what is not limited.
func TestLimitHeaders(t *testing.T) {
	stacktest.Everywhere(t)
	s := fresh(t, stacktest.Start(t), 0)
	for i, c := range []struct {
		status       int
		method, path string
	}{
		{200, "GET", "/rooms"}, {200, "GET", "/fields"}, {404, "GET", "/sessions/" + it.UnknownID}, {400, "GET", "/sessions/x"},
		{404, "GET", "/contacts/" + it.UnknownID}, {404, "GET", "/sponsors/" + it.UnknownID}, {400, "GET", "/exhibitors/x"},
	} {
		h := s.Call(t, c.status, c.method, s.EventPath(c.path), nil).Header
		reset, err := strconv.ParseInt(h.Get("RateLimit-Reset"), 10, 64)
		require.NoError(t, err)
		left := time.Until(time.Unix(reset, 0))
		require.Positive(t, left)
		require.LessOrEqual(t, left, 15*time.Minute)
		require.Equal(t, "100", h.Get("RateLimit-Limit"))
		require.Equal(t, strconv.Itoa(99-i), h.Get("RateLimit-Remaining"))
		require.Equal(t, `"entity_reads";q=100;w=900`, h.Get("RateLimit-Policy"))
		require.Regexp(t, fmt.Sprintf(`^"entity_reads";r=%d;t=\d+$`, 99-i), h.Get("RateLimit"))
		require.Empty(t, h.Get("Retry-After"))
	}
	for _, path := range []string{"/sessions", "/sessions/status", "/fields", "/rooms", "/session-statuses", "/contacts", "/speakers", "/participants", "/sponsors", "/exhibitors"} {
		h := s.Call(t, 200, "POST", s.EventPath(path), map[string]any{}).Header
		require.Empty(t, h.Get("RateLimit-Limit"), path)
		require.Empty(t, h.Get("RateLimit"), path)
	}
	for _, path := range []string{"/sessions", "/rules", "/personas"} {
		require.Empty(t, s.Call(t, 200, "GET", s.EventPath(path), nil).Header.Get("RateLimit-Limit"), "a list is no single read")
	}
}

// TestRefusalsByTheLimit: body and headers of a 429.
func TestRefusalsByTheLimit(t *testing.T) {
	stacktest.Everywhere(t)
	s := fresh(t, stacktest.Start(t), 1)
	s.Call(t, 200, "GET", s.EventPath("/rooms"), nil)
	for range 2 {
		refused := s.Call(t, 429, "GET", s.EventPath("/tracks"), nil)
		require.Equal(t, "0", refused.Header.Get("RateLimit-Remaining"))
		wait, err := strconv.Atoi(refused.Header.Get("Retry-After"))
		require.NoError(t, err)
		require.Positive(t, wait)
		require.LessOrEqual(t, wait, 900)
		body := refused.JSON(t)
		require.Equal(t, "TooManyRequestsError", body["error"])
		require.NotEmpty(t, body["message"])
	}
}

// TestBucketsAreCountedApart: a category's limit blocks no other, and a bulk is
// one request.
func TestBucketsAreCountedApart(t *testing.T) {
	stacktest.Everywhere(t)
	s := fresh(t, stacktest.Start(t), 1)
	operations := []map[string]any{}
	for i := range 5 {
		operations = append(operations, map[string]any{"action": "create", "data": map[string]any{"title": strconv.Itoa(i)}})
	}
	s.Call(t, 200, "POST", s.EventPath("/sessions/bulk"), map[string]any{"operations": operations})
	s.Call(t, 429, "POST", s.EventPath("/sessions/create"), map[string]any{"title": "One more"})
	s.Call(t, 200, "POST", s.EventPath("/contacts/bulk"), it.BulkOf(it.Creating(it.SampleDraft("contacts")), it.Creating(it.SampleDraft("contacts"))))
	s.Call(t, 429, "POST", s.EventPath("/contacts/create"), it.SampleDraft("contacts"))
	s.Call(t, 429, "POST", s.EventPath("/sponsors/create"), it.SampleDraft("sponsors"))
	s.Call(t, 429, "DELETE", s.EventPath("/exhibitors/"+it.UnknownID), nil)
	s.Call(t, 200, "POST", s.EventPath("/rooms/create"), map[string]any{"name": "Hall"})
	s.Call(t, 429, "POST", s.EventPath("/fields/create"), map[string]any{"name": "Seats", "type": "number", "module_id": "session"})
	s.Call(t, 200, "POST", s.EventPath("/rules/create"), it.SampleDraft("rules"))
	s.Call(t, 429, "POST", s.EventPath("/personas/create"), it.SampleDraft("personas"))
	s.Call(t, 429, "DELETE", s.EventPath("/rules/"+it.UnknownID), nil)
	s.Call(t, 429, "POST", s.EventPath("/queries/create"), map[string]any{"name": "All", "query": "FIND Session"})
	s.Call(t, 429, "POST", s.EventPath("/dashboards/create"), map[string]any{"name": "All"})
	programs := fmt.Sprintf("/v1/organization/%d/awards/programs", s.Org)
	s.Call(t, 200, "POST", programs, map[string]any{"name": "Best"})
	s.Call(t, 429, "POST", programs, map[string]any{"name": "Second"})
	s.Call(t, 200, "POST", s.EventPath("/insights/execute"), map[string]any{"query": "FIND Session"})
	s.Call(t, 429, "GET", "/v1/insights/schema", nil)
	s.Call(t, 200, "GET", s.EventPath("/rooms"), nil)
	s.Call(t, 429, "GET", s.EventPath("/rooms"), nil)
	s.Call(t, 200, "POST", s.EventPath("/rooms"), map[string]any{})
	s.Call(t, 200, "GET", s.EventPath("/rules"), nil)
}

// TestACustomLimitCountsAtOnce: a token's limit can be raised, lowered and taken
// away, within the same window.
func TestACustomLimitCountsAtOnce(t *testing.T) {
	s := stacktest.Start(t)
	made := s.Operator(t, "token-create", map[string]any{"org_id": s.Org, "user_id": s.Member, "name": "L", "scopes": stacktest.Scopes, "limit": 1})
	caller := s.As(made["token"].(string))
	limit := func(to any) {
		s.Operator(t, "token-update", map[string]any{"org_id": s.Org, "token_id": made["id"], "limit": to})
	}
	get := func(status int) string {
		return caller.Call(t, status, "GET", s.EventPath("/rooms"), nil).Header.Get("RateLimit-Limit")
	}
	require.Equal(t, "1", get(200))
	require.Equal(t, "1", get(429))
	limit(3)
	require.Equal(t, "3", get(200))
	limit(2)
	require.Equal(t, "2", get(429))
	limit(nil)
	require.Equal(t, "100", get(200))
}

// TestCreatesCountAgainstTheDay: creates and bulks do, nothing else does.
func TestCreatesCountAgainstTheDay(t *testing.T) {
	inEveryKind(t, func(t *testing.T, w *kindClient) {
		few := &kindClient{w.ServeGroup(writeGroups[w.Collection], func(env *api.Env) { env.DailyWrites = 2 }), w.Kind}
		id := few.one("A")
		few.Do(200, "PUT", w.Path(id), w.WithText("B"))
		few.remove(200, id)
		few.RestoreRecord(w.Collection, id)
		few.bulk(it.Updating(id, w.WithText("C")), it.Updating(id, w.WithText("D")))
		require.Equal(t, "TooManyRequestsError", few.create(429, w.Draft("E"))["error"])
		few.Do(429, "POST", w.BulkPath(), object{"operations": []object{it.Deleting(id)}})
		require.Equal(t, "F", few.Do(200, "PUT", w.Path(id), w.WithText("F"))[w.TextField])
	})
}
