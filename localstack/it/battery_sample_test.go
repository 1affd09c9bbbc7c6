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

// onARecord is whether the operation's path names a record.
func onARecord(op api.Operation) bool { return slices.ContainsFunc(strings.Split(op.Path, "/"), anID) }

// ofOrganization is whether the operation is one on the organization's level.
func ofOrganization(op api.Operation) bool { return strings.Contains(op.Path, "{orgId}") }

// collectionOf is what a route's records are among, such as sessions; empty for a
// route of no event and no organization.
func collectionOf(op api.Operation) string {
	if segments := strings.Split(op.Path, "/"); len(segments) > 4 {
		return segments[4]
	}
	return ""
}

// byAddress is the one operation that names a record in its query.
func byAddress(op api.Operation) bool {
	return op.Method == http.MethodGet && collectionOf(op) == "participants"
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
	path := strings.Join(segments, "/")
	if byAddress(op) {
		path += "?email=" + record
	}
	return request{op.Method, path, bodyOf(op)}
}

// bodyOf is a body that the operation accepts.
func bodyOf(op api.Operation) any {
	switch path := op.Path; {
	case op.Method == http.MethodGet || op.Method == http.MethodDelete || strings.HasSuffix(path, "/restore"):
		return nil
	case strings.HasSuffix(path, "/bulk"):
		return operationsOf(map[string]any{"action": "create", "data": specimen(collectionOf(op))})
	case strings.HasSuffix(path, "/{sessionId}/fields"):
		return map[string]any{"values": map[string]any{}}
	case strings.HasSuffix(path, "/create") || op.Method == http.MethodPut:
		return specimen(collectionOf(op))
	}
	return map[string]any{} // A search.
}

// specimen is what a create and an update of a record of the collection take.
func specimen(collection string) map[string]any {
	id := uuid.NewString()
	name := "Sample " + id
	switch collection {
	case "sessions":
		return map[string]any{"title": name}
	case "contacts":
		return map[string]any{"email": id + "@example.org", "first_name": name}
	case "fields":
		return map[string]any{"name": name, "type": "text", "module_id": "session"}
	case "rules":
		return map[string]any{"name": name, "type": "room_capacity"}
	}
	return map[string]any{"name": name}
}

// record makes a record that the operation can be done on, and gives what names
// it; empty for an operation on none.
func record(t *testing.T, op api.Operation, s *stacktest.Stack) string {
	t.Helper()
	switch collection := collectionOf(op); {
	case byAddress(op):
		_, address := speaker(t, s)
		return address
	case !onARecord(op):
		return ""
	case collection == "speakers":
		id, _ := speaker(t, s)
		return id
	default:
		id := made(t, s, "/"+collection+"/create", specimen(collection))
		if strings.HasSuffix(op.Path, "/restore") {
			s.Call(t, http.StatusOK, http.MethodDelete, s.EventPath("/"+collection+"/"+id), nil)
		}
		return id
	}
}

// speaker makes a contact that speaks on a session, and gives its id and address.
func speaker(t *testing.T, s *stacktest.Stack) (id, address string) {
	t.Helper()
	person := specimen("contacts")
	id = made(t, s, "/contacts/create", person)
	made(t, s, "/sessions/create", map[string]any{
		"title": "A talk", "participants": []any{map[string]any{"contact_id": id, "core_role": "speaker"}},
	})
	return id, person["email"].(string)
}
