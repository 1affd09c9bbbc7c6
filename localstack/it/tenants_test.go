package it_test

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/stacktest"
	"lectern/shared/api"
	"lectern/shared/table"
)

// unknown is an id that nothing has.
const (
	unknownEvent = 999_999_999
	unknownID    = "00000000-0000-4000-8000-000000000000"
)

// place is an event with a record for each operation that is done on one.
type place struct {
	*stacktest.Stack
	records map[string]string // by the operation's id
}

func populated(t *testing.T, s *stacktest.Stack) place {
	t.Helper()
	p := place{s, map[string]string{}}
	for _, op := range operations() {
		p.records[op.ID] = record(t, op, s)
	}
	return p
}

// TestTenantMatrix calls every route with ids that belong to somebody else, as
// such and mixed with own ones. Each answer must be that of unknown ids, byte for
// byte, and nobody's items may change.
func TestTenantMatrix(t *testing.T) {
	s, engine := startOpen(t, nil, stacktest.Features("sessions_2_0", "translated_fields"))
	foreign := populated(t, s.NewOrganization(t, "sessions_2_0", "translated_fields"))
	elsewhere := populated(t, s.In(s.NewEvent(t, "sessions_2_0", "translated_fields")))
	own := populated(t, s)
	before := engine.dump(t)
	calls := 0
	same := func(op api.Operation, event int64, record string, unknown request) {
		t.Helper()
		asked := on(op, s.In(event), record)
		asked.body = unknown.body
		for _, header := range [][]string{nil, {"Idempotency-Key", uuid.NewString()}} {
			want := unknown.send(t, s, header...)
			require.Equal(t, http.StatusNotFound, want.Status, "%s: %s", unknown, want.Body)
			require.Equal(t, plain(want), plain(asked.send(t, s, header...)), "%s", asked)
			calls += 2
		}
	}
	for _, op := range operations() {
		if strings.Contains(op.Path, "{eventId}") {
			nowhere := on(op, s.In(unknownEvent), unknownID)
			same(op, foreign.Event, foreign.records[op.ID], nowhere)
			same(op, foreign.Event, own.records[op.ID], nowhere)
			same(op, unknownEvent, own.records[op.ID], nowhere)
		}
		if own.records[op.ID] != "" {
			same(op, own.Event, foreign.records[op.ID], on(op, own.Stack, unknownID))
			same(op, own.Event, elsewhere.records[op.ID], on(op, own.Stack, unknownID))
			same(op, elsewhere.Event, own.records[op.ID], on(op, elsewhere.Stack, unknownID))
		}
	}
	after := engine.dump(t)
	require.Equal(t, before.below(table.Org(foreign.Org)), after.below(table.Org(foreign.Org)), "the other organization changed")
	require.Equal(t, before.below(table.Org(s.Org)), after.below(table.Org(s.Org)), "a refused call changed something")
	t.Logf("%d routes, %d calls", len(operations()), calls)
}

// reference is a place in a request that names a record by its id.
type reference struct {
	collection string // what the record is among
	request    func(s *stacktest.Stack, id string) request
}

// references are those in bodies and queries.
func references(t *testing.T, session string) []reference {
	t.Helper()
	var all []reference
	add := func(collection, method, path string, body func(id string) any) {
		all = append(all, reference{collection, func(s *stacktest.Stack, id string) request {
			r := request{method: method, path: s.EventPath(strings.ReplaceAll(path, "ID", id))}
			if body != nil {
				r.body = body(id)
			}
			return r
		}})
	}
	written := map[string]string{"track_id": "tracks", "room_id": "rooms", "level_id": "levels", "format_id": "formats",
		"language_id": "languages", "custom_status_id": "statuses", "tag_ids": "tags", "parent_session_id": "sessions"}
	for property, collection := range written {
		data := func(id string) map[string]any {
			if property == "tag_ids" {
				return map[string]any{"title": "A title", property: []string{id}}
			}
			return map[string]any{"title": "A title", property: id}
		}
		add(collection, "POST", "/sessions/create", func(id string) any { return data(id) })
		add(collection, "PUT", "/sessions/"+session, func(id string) any { return data(id) })
		add(collection, "POST", "/sessions/bulk", func(id string) any {
			return operationsOf(map[string]any{"action": "create", "data": data(id)}, map[string]any{"action": "update", "id": session, "data": data(id)})
		})
	}
	add("sessions", "POST", "/sessions/bulk", func(id string) any {
		return operationsOf(map[string]any{"action": "update", "id": id, "data": map[string]any{"title": "Taken"}}, map[string]any{"action": "delete", "id": id})
	})
	filters := map[string]string{"track": "tracks", "level": "levels", "format": "formats", "language": "languages", "tag": "tags"}
	for name, collection := range filters {
		for _, path := range []string{"/sessions", "/sessions/status"} {
			add(collection, "POST", path, func(id string) any {
				return map[string]any{"filters": map[string]any{name + "Ids": []string{id}}}
			})
		}
		add(collection, "GET", "/sessions?"+name+"_id=ID", nil)
		add(collection, "GET", "/sessions?"+name+"_ids=ID", nil)
	}
	add("sessions", "GET", "/sessions?search=ID", nil)
	return all
}

func operationsOf(operations ...any) map[string]any { return map[string]any{"operations": operations} }

// TestForeignReferences names records of somebody else inside requests that are
// otherwise the caller's own. Each answer is that of an unknown id.
func TestForeignReferences(t *testing.T) {
	s, engine := startOpen(t, nil, stacktest.Features("sessions_2_0"))
	others := []*stacktest.Stack{s.NewOrganization(t, "sessions_2_0"), s.In(s.NewEvent(t, "sessions_2_0"))}
	session := made(t, s, "/sessions/create", map[string]any{"title": "Own"})
	ids := make([]map[string]string, len(others))
	for i, other := range others {
		ids[i] = map[string]string{"sessions": made(t, other, "/sessions/create", map[string]any{"title": "Theirs"})}
		for _, collection := range append(slices.Clone(kinds), "statuses") {
			ids[i][collection] = made(t, other, "/"+collection+"/create", map[string]any{"name": "Theirs"})
		}
	}
	before := engine.dump(t)
	batch := regexp.MustCompile(`"batch_id":"[^"]+"`)
	normal := func(a stacktest.Answer, id string) answer {
		p := plain(a)
		p.Body = strings.ReplaceAll(batch.ReplaceAllString(p.Body, ""), id, "ID")
		p.Header.Del("Etag")
		return p
	}
	for _, r := range references(t, session) {
		want := normal(r.request(s, unknownID).send(t, s), unknownID)
		for _, theirs := range ids {
			asked := r.request(s, theirs[r.collection])
			require.Equal(t, want, normal(asked.send(t, s), theirs[r.collection]), "%s", asked)
		}
	}
	require.Equal(t, settled(before, s), settled(engine.dump(t), s))
}

// settled is a dump without limits, which count every call, and the running
// numbers, which a refused create may use up.
func settled(d dump, s *stacktest.Stack) dump {
	kept := dump{}
	for key, item := range d {
		if !strings.HasPrefix(key.PK, "L#") && key.PK != table.Event(s.Org, s.Event)+"#N#session" {
			kept[key] = item
		}
	}
	return kept
}

// TestNothingLeaks reads everything there is to read on one event and looks for
// what stands on others.
func TestNothingLeaks(t *testing.T) {
	s, engine := startOpen(t, nil)
	foreign := populated(t, s.NewOrganization(t))
	elsewhere := populated(t, s.In(s.NewEvent(t)))
	own := populated(t, s)
	secrets := map[string]bool{}
	pattern := regexp.MustCompile(`Sample [0-9a-f-]{36}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	all := engine.dump(t)
	find := func(part dump, is bool) {
		for key, item := range part {
			for _, found := range pattern.FindAllString(key.PK+" "+key.SK+" "+item.data, -1) {
				secrets[found] = is
			}
		}
	}
	find(all.below(table.Org(foreign.Org)), true)
	find(all.below(table.Event(elsewhere.Org, elsewhere.Event)), true)
	secretCount := len(secrets)
	find(all.below(table.Event(own.Org, own.Event)), false)
	require.Greater(t, secretCount, 50)
	ordered := operations()
	slices.SortStableFunc(ordered, func(a, b api.Operation) int { return cmp.Compare(rank(a), rank(b)) })
	for _, op := range ordered {
		asked := on(op, s, own.records[op.ID])
		got := asked.send(t, s)
		require.True(t, rank(op) > 0 || got.Status < 300, "%s: %d", asked, got.Status)
		for _, found := range pattern.FindAllString(string(got.Body), -1) {
			require.False(t, secrets[found], "%s shows %s", asked, found)
		}
	}
}

// rank puts what only reads before what writes and may take away what is read.
func rank(op api.Operation) int {
	if len(op.Scopes) > 0 && strings.HasPrefix(string(op.Scopes[0]), "read:") {
		return 0
	}
	return 1
}

// TestIdempotencyKeysOfTenants: a key means nothing to another organization, to
// another token, or on another event.
func TestIdempotencyKeysOfTenants(t *testing.T) {
	s := stacktest.Start(t)
	callers := []*stacktest.Stack{s, s.NewOrganization(t), s.As(s.NewToken(t, stacktest.Scopes...)), s.In(s.NewEvent(t))}
	ids := map[any]int{} // the caller that made each
	for range 2 {
		for i, caller := range callers {
			a := caller.Call(t, 200, "POST", caller.EventPath("/sessions/create"), map[string]any{"title": "The same"}, "Idempotency-Key", "one key")
			id := a.JSON(t)["id"]
			if by, ok := ids[id]; ok {
				require.Equal(t, by, i, "a caller got another's answer")
			}
			ids[id] = i
		}
	}
	require.Len(t, ids, len(callers))
}
