package it_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/functions"
	"lectern/localstack/stacktest"
	"lectern/shared/api"
)

// kinds are the metadata of an event, as they stand in paths.
var kinds = []string{"rooms", "tracks", "tags", "formats", "levels", "languages"}

// operations are all routes of the service.
func operations() []api.Operation {
	var all []api.Operation
	for _, group := range functions.Groups {
		all = append(all, group.Operations...)
	}
	return all
}

// request is a request without its caller.
type request struct {
	method, path string
	body         any
}

// send makes the request as s.
func (r request) send(t *testing.T, s *stacktest.Stack, header ...string) stacktest.Answer {
	t.Helper()
	answer, err := s.Send(t, r.method, r.path, r.body, header...)
	require.NoError(t, err)
	return answer
}

func (r request) String() string { return fmt.Sprint(r.method, " ", r.path, " ", r.body) }

// anID is a variable of a route's path that names a record, such as {sessionId}.
func anID(segment string) bool {
	return strings.HasPrefix(segment, "{") && segment != "{eventId}" && segment != "{orgId}"
}

// on is the operation on an event, an organization and a record; its body is
// one that succeeds where the record allows it.
func on(op api.Operation, s *stacktest.Stack, record string) request {
	segments := strings.Split(op.Path, "/")
	for i, segment := range segments {
		switch {
		case segment == "{eventId}":
			segments[i] = fmt.Sprint(s.Event)
		case segment == "{orgId}":
			segments[i] = fmt.Sprint(s.Org)
		case anID(segment):
			segments[i] = record
		}
	}
	return request{op.Method, strings.Join(segments, "/"), bodyOf(op)}
}

// bodyOf is a body that the operation accepts.
func bodyOf(op api.Operation) any {
	name := "Sample " + uuid.NewString()
	switch path := op.Path; {
	case op.Method == http.MethodGet || op.Method == http.MethodDelete || strings.HasSuffix(path, "/restore"):
		return nil
	case strings.HasSuffix(path, "/bulk"):
		return map[string]any{"operations": []any{map[string]any{"action": "create", "data": map[string]any{"title": name}}}}
	case strings.HasSuffix(path, "/sessions/create") || strings.HasSuffix(path, "/{sessionId}"):
		return map[string]any{"title": name}
	case strings.HasSuffix(path, "/{sessionId}/fields"):
		return map[string]any{"values": map[string]any{}}
	case strings.HasSuffix(path, "/fields/create"):
		return map[string]any{"name": name, "type": "text", "module_id": "session"}
	case strings.HasSuffix(path, "/create") || op.Method == http.MethodPut:
		return map[string]any{"name": name}
	}
	return map[string]any{} // A search.
}

// record makes a record that the operation can be done on, and gives its id;
// empty for an operation on none.
func record(t *testing.T, op api.Operation, s *stacktest.Stack) string {
	t.Helper()
	segments := strings.Split(op.Path, "/")
	at := slices.IndexFunc(segments, anID)
	if at < 0 {
		return ""
	}
	collection := segments[at-1]
	create := slices.IndexFunc(operations(), func(o api.Operation) bool {
		return strings.HasSuffix(o.Path, "/"+collection+"/create")
	})
	require.GreaterOrEqual(t, create, 0, "no route creates %s", collection)
	answer := on(operations()[create], s, "").send(t, s)
	id, _ := answer.JSON(t)["id"].(string)
	require.NotEmpty(t, id, "%s", answer.Body)
	if strings.HasSuffix(op.Path, "/restore") {
		path := s.EventPath("/" + collection + "/" + id)
		require.Less(t, request{http.MethodDelete, path, nil}.send(t, s).Status, 300)
	}
	return id
}
