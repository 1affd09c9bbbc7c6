package batteries_test

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// The limit of a token without one of its own, and the length of a window
// (spec.md section 8).
const (
	defaultLimit = 100
	window       = 15 * time.Minute
)

// inOneWindow is the caller with a token of the limit, 0 for the default, whose
// current window does not end before the test does. Where windows begin depends
// on the token.
func inOneWindow(t *testing.T, s *stacktest.Stack, limit int) (caller *stacktest.Stack, reset int64) {
	t.Helper()
	for {
		properties := map[string]any{"scopes": stacktest.Scopes}
		if limit > 0 {
			properties["limit"] = limit
		}
		caller = s.As(s.TokenWith(t, properties))
		// A bucket that no test here counts.
		reset = headerInt(t, caller.Call(t, 404, "PUT", s.EventPath("/rooms/"+it.UnknownID), map[string]any{"name": "A room"}), "RateLimit-Reset")
		if time.Until(time.Unix(reset, 0)) > 2*time.Minute {
			return caller, reset
		}
	}
}

func headerInt(t *testing.T, a stacktest.Answer, name string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(a.Header.Get(name), 10, 64)
	require.NoError(t, err, "%s: %q", name, a.Header.Get(name))
	return n
}

// tally counts the answers of a limited route by status, and every number of
// remaining requests that an admitted one was told.
type tally struct {
	sync.Mutex
	statuses  map[int]int
	remaining map[int64]int
}

// hammer has 16 clients call a route of two instances 20 times each, every one
// on a session of its own, and checks the headers of every answer.
func hammer(t *testing.T, callers []*stacktest.Stack, method string, sessions []string, body any, limit, reset int64) *tally {
	t.Helper()
	counted := &tally{statuses: map[int]int{}, remaining: map[int64]int{}}
	it.Concurrently(16, func(client int) {
		for range 20 {
			at := callers[client%len(callers)]
			a := at.TrySend(t, method, at.EventPath("/sessions/"+sessions[client%len(sessions)]), body)
			if problem := limitHeaders(a, limit, reset); problem != "" {
				t.Errorf("%s %v: %s", method, a.Header, problem)
				return
			}
			counted.Lock()
			counted.statuses[a.Status]++
			if a.Status != http.StatusTooManyRequests {
				left, _ := strconv.ParseInt(a.Header.Get("RateLimit-Remaining"), 10, 64)
				counted.remaining[left]++
			}
			counted.Unlock()
		}
	})
	return counted
}

// limitHeaders says what is wrong with the headers of a limited answer.
func limitHeaders(a stacktest.Answer, limit, reset int64) string {
	read := func(name string) int64 { n, _ := strconv.ParseInt(a.Header.Get(name), 10, 64); return n }
	wait := reset - time.Now().Unix()
	refused := a.Status == http.StatusTooManyRequests
	after := read("Retry-After")
	switch {
	case read("RateLimit-Limit") != limit:
		return "not the limit"
	case read("RateLimit-Reset") != reset:
		return fmt.Sprint("the window does not end at ", reset)
	case refused && a.Header.Get("RateLimit-Remaining") != "0":
		return "refused with requests left"
	case refused && (after < wait-1 || after > wait+60):
		return fmt.Sprint("Retry-After is not about ", wait)
	case !refused && a.Header.Get("Retry-After") != "":
		return "Retry-After on an answer"
	}
	return ""
}

// TestLimiterAdmitsExactly: of 320 requests of 16 clients at two instances
// exactly the limit is served, and each is told another number of requests left.
func TestLimiterAdmitsExactly(t *testing.T) { limiterAdmitsExactly(t, stacktest.Start(t), 16) }

// limiterAdmitsExactly has 16 clients read and write so many sessions.
func limiterAdmitsExactly(t *testing.T, s *stacktest.Stack, written int) {
	t.Helper()
	second := s.Instance(t)
	var sessions []string
	for range written {
		sessions = append(sessions, it.MustCreate(t, s, "/sessions/create", map[string]any{"title": "Counted"}))
	}
	for name, limit := range map[string]int{"default": 0, "custom, lower": 37, "custom, higher": 250} {
		t.Run(name, func(t *testing.T) {
			caller, reset := inOneWindow(t, s, limit)
			if limit == 0 {
				limit = defaultLimit
			}
			callers := []*stacktest.Stack{caller, second.As(caller.Token)}
			for method, body := range map[string]any{"GET": nil, "PUT": map[string]any{"title": "Counted again"}} {
				counted := hammer(t, callers, method, sessions, body, int64(limit), reset)
				require.Equal(t, map[int]int{200: limit, 429: 320 - limit}, counted.statuses, "%s: buckets are counted apart", method)
				require.Len(t, counted.remaining, limit, "each admitted request is told another remainder")
			}
			refused := caller.Call(t, 429, "GET", s.EventPath("/sessions/"+sessions[0]), nil).JSON(t)
			require.Equal(t, "TooManyRequestsError", refused["error"])
			require.Equal(t, "TooManyRequestsError", refused["name"])
			require.NotEmpty(t, refused["message"])
			free := caller.Call(t, 200, "POST", s.EventPath("/sessions"), map[string]any{})
			require.Empty(t, free.Header.Get("RateLimit-Limit"), "a search is not limited")
		})
	}
}

// TestLimiterBeforeBody: a refused write is refused whatever it says, and is not
// done; and a request that fails is counted.
func TestLimiterBeforeBody(t *testing.T) {
	s := stacktest.Start(t)
	caller, _ := inOneWindow(t, s, 3)
	path := s.EventPath("/sessions/create")
	caller.Call(t, 200, "POST", path, map[string]any{"title": "First"})
	caller.Call(t, 400, "POST", path, "{")
	caller.Call(t, 404, "DELETE", s.EventPath("/sessions/"+it.UnknownID), nil)
	caller.Call(t, 429, "POST", path, map[string]any{"title": "Second"})
	caller.Call(t, 429, "POST", path, "{")
	caller.Call(t, 429, "POST", "/v1/event/0/sessions/create", "{")
	caller.As(s.NewToken(t, "read:events")).Call(t, 403, "POST", path, "{")
	caller.As("").Call(t, 401, "POST", path, "{")
	results := s.Call(t, 200, "POST", s.EventPath("/sessions"), map[string]any{}).JSON(t)["results"]
	require.Len(t, results, 1)
}
