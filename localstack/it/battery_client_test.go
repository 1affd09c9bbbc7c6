package it_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/stacktest"
)

// answer is what of an answer must not depend on when it was given, nor on how
// many came before it.
type answer struct {
	Status int
	Header http.Header
	Body   string
}

// changing are the headers that differ between two equal answers, those that a gateway
// adds among them.
var changing = []string{
	"Date", "X-Request-Id", "Ratelimit", "Ratelimit-Policy", "Ratelimit-Limit", "Ratelimit-Remaining", "Ratelimit-Reset",
	"X-Amz-Request-Id", "X-Amzn-Requestid", "X-Amz-Apigw-Id", "X-Amzn-Trace-Id",
}

// plain is the answer without what always changes.
func plain(a stacktest.Answer) answer {
	header := maps.Clone(a.Header)
	for _, name := range changing {
		delete(header, name)
	}
	return answer{a.Status, header, string(a.Body)}
}

// together runs clients side by side and waits for all. They report failures
// with Errorf, since no other goroutine may end the test.
func together(clients int, run func(client int)) {
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() { run(client) })
	}
	all.Wait()
}

// attempt is Send for a goroutine of together: a call without an answer is
// reported, and has status 0.
func attempt(t *testing.T, s *stacktest.Stack, method, path string, body any, header ...string) stacktest.Answer {
	t.Helper()
	a, err := s.Send(t, method, path, body, header...)
	if err != nil {
		t.Errorf("%s %s: %v", method, path, err)
	}
	return a
}

// made creates a record with a POST and gives its id.
func made(t *testing.T, s *stacktest.Stack, path string, body any) string {
	t.Helper()
	id, _ := s.Call(t, http.StatusOK, http.MethodPost, s.EventPath(path), body).JSON(t)["id"].(string)
	require.NotEmpty(t, id)
	return id
}

// quick decodes an answer's object where a test must not be ended; nil for what
// is none.
func quick(body []byte) map[string]any {
	var object map[string]any
	_ = json.Unmarshal(body, &object)
	return object
}
