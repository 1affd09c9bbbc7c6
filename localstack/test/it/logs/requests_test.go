package logs_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/granttest"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/auth"
	"lectern/shared/requestlog"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

func wireAt(at time.Time) wire.Time { return wire.At(at) }

// entryAt returns a request at a time.
func entryAt(at time.Time, status int) requestlog.Entry {
	return requestlog.Entry{RequestID: uuid.NewString(), At: wire.At(at), Method: "GET", Path: "/v1/events", Status: status, Milliseconds: 3}
}

// packID returns the id of a pack that is ingested at a time.
func packID(at time.Time) string {
	id := []byte(uuid.NewString())
	copy(id, fmt.Sprintf("%012x", at.UnixMilli())[:8])
	copy(id[9:], fmt.Sprintf("%012x", at.UnixMilli())[8:])
	id[14] = '7'
	return string(id)
}

// putPack stores requests that are ingested together at a time, and returns the id of the pack.
func putPack(d *it.Client, at time.Time, entries ...requestlog.Entry) string {
	d.T.Helper()
	p := requestlog.Pack{ID: packID(at), Org: d.Org, At: at, Entries: entries}
	data, err := json.Marshal(p)
	require.NoError(d.T, err)
	tab := d.Table(d.T)
	require.NoError(d.T, tab.Mark(d.T.Context(), table.Key{PK: requestlog.Root(d.Org), SK: at.UTC().Format("2006010215")}))
	item := table.Item{Key: p.Key(), Version: 1, Data: data, Expires: at.Add(requestlog.Keep).Unix()}
	require.NoError(d.T, tab.Transact(d.T.Context(), table.Insert(item)))
	return p.ID
}

// TestARequestIsExported: a request over HTTP passes the log line, the ingester and the table, and
// is read with the token's owner; so is a refused one.
func TestARequestIsExported(t *testing.T) {
	d := &it.Client{Stack: stacktest.Start(t, stacktest.Ingesting()), T: t}
	d.Inside(t, "the clock of the export is ahead")
	read := d.Call(t, 200, http.MethodGet, d.EventPath("/tracks"), nil)
	refused := d.As(d.Forged(t)).Call(t, 401, http.MethodGet, "/v1/events", nil)
	c := granttest.New(t, d.Stack)
	user := c.Member(nil)
	tokens, _ := c.Connect(user, auth.ReadEvents)
	byApp := d.As(tokens.AccessToken).Call(t, 200, http.MethodGet, "/v1/events", nil)
	d.Requests(t, read, refused, byApp)
	found := map[any]entity{}
	for _, event := range newExporter(d).all(requests, 1000) {
		found[event.At("target.id")] = event
	}
	shown := found[read.Header.Get(stacktest.RequestID)]
	require.Equal(t, "GET "+d.EventPath("/tracks"), shown["action"])
	require.EqualValues(t, d.Member, shown.At("actor.id"))
	require.Equal(t, "127.0.0.1", shown.At("source.ip"))
	shown = found[refused.Header.Get(stacktest.RequestID)]
	require.Equal(t, []any{"failure", "wrong_secret", nil}, []any{shown["outcome"], shown["reason"], shown.At("actor.id")})
	shown = found[byApp.Header.Get(stacktest.RequestID)]
	require.Equal(t, []any{"oauth", float64(user), "Agenda"}, []any{shown.At("actor.type"), shown.At("actor.id"), shown.At("token.name")})
}

// TestTheShapeOfARequest has the owner of the token as its actor.
func TestTheShapeOfARequest(t *testing.T) {
	d := it.NewClient(t)
	made := d.Operator(t, "token-create", object{"org_id": d.Org, "user_id": d.Member, "name": "Import", "scopes": []string{"read:events"}})
	token, at := int64(made["id"].(float64)), time.Now()
	id := putPack(d, at,
		requestlog.Entry{RequestID: "r1", At: wire.At(at), Method: "GET", Path: "/v1/event/7/sessions", Status: 404, Milliseconds: 12, Event: 7, Token: token,
			Reason: "NOT_FOUND", IP: "203.0.113.9", UserAgent: "curl/8"},
		requestlog.Entry{RequestID: "r2", At: wire.At(at), Method: "PATCH", Status: 401, Token: token, Reason: "wrong_secret"},
		requestlog.Entry{RequestID: "r3", At: wire.At(at), Method: "GET", Path: "/v1/events", Status: 200, Token: token},
		requestlog.Entry{RequestID: "r4", At: wire.At(at), Method: "GET", Path: "/v1/events", Status: 401, Token: 999_999, Reason: "revoked"},
	)
	events := newExporter(d).all(requests, 1000)
	owner := object{"type": "api_token", "id": float64(d.Member), "name": "Admin", "email": "admin@example.org"}
	nobody := object{"type": "api_token", "id": nil, "name": nil, "email": nil}
	require.Equal(t, entity{
		"id": id + "-0000", "stream": "api_request", "occurred_at": wire.At(at).String(), "action": "GET /v1/event/7/sessions",
		"outcome": "failure", "reason": "NOT_FOUND", "organization_id": float64(d.Org), "event_id": 7.0,
		"actor": owner, "token": object{"id": made["id"], "name": "Import"}, "source": object{"ip": "203.0.113.9", "user_agent": "curl/8"},
		"http":   object{"method": "GET", "path": "/v1/event/7/sessions", "status": 404.0, "duration_ms": 12.0},
		"target": object{"type": "request", "id": "r1", "name": nil, "field": nil, "new_value": nil},
	}, events[0])
	require.Equal(t, object{"action": "PATCH", "outcome": "failure", "reason": "wrong_secret", "event_id": nil, "actor": nobody},
		it.Pick(events[1], "action", "outcome", "reason", "event_id", "actor"), "anybody can send a wrong secret")
	require.Equal(t, object{"method": "PATCH", "path": nil, "status": 401.0, "duration_ms": 0.0}, events[1]["http"])
	require.Equal(t, object{"outcome": "success", "reason": nil, "actor": owner}, it.Pick(events[2], "outcome", "reason", "actor"))
	require.Equal(t, object{"outcome": "failure", "actor": nobody, "token": object{"id": 999999.0, "name": nil}},
		it.Pick(events[3], "outcome", "actor", "token"))
	require.Len(t, events, 4)
}

// TestRequestsAreInOrderOfIngestion, and a page ends inside a pack.
func TestRequestsAreInOrderOfIngestion(t *testing.T) {
	d := it.NewClient(t)
	begin := time.Now().Add(-5 * time.Hour)
	var want []string
	for n := range 30 {
		at := begin.Add(time.Duration(n) * 9 * time.Minute)
		entries := make([]requestlog.Entry, n%4*2+1)
		for i := range entries {
			entries[i] = entryAt(at.Add(-time.Duration(i*7%5)*time.Minute), 200)
		}
		id := putPack(d, at, entries...)
		for i := range entries {
			want = append(want, fmt.Sprintf("%s-%04d", id, i))
		}
	}
	e := newExporter(d)
	for _, limit := range []int{2, 3, 5, 50, len(want) - 1, len(want), 1000} {
		require.Equal(t, want, it.Texts(e.all(requests, limit), "id"), "limit %d", limit)
	}
}

// TestRequestsAreChosenByTheirTime, not by that of their ingestion.
func TestRequestsAreChosenByTheirTime(t *testing.T) {
	d := it.NewClient(t)
	noon := wire.At(time.Now().Add(-72 * time.Hour))
	var want []string
	for _, minutes := range []int{0, 1, 59, 61, 600, 47 * 60} {
		id := putPack(d, noon.Add(time.Duration(minutes)*time.Minute),
			entryAt(noon.Add(-time.Millisecond), 200), entryAt(noon.Time, 200), entryAt(noon.Add(999*time.Millisecond), 200), entryAt(noon.Add(time.Second), 200))
		want = append(want, id+"-0001", id+"-0002")
	}
	putPack(d, noon.Add(49*time.Hour), entryAt(noon.Time, 200))
	putPack(d, noon.Add(-time.Minute), entryAt(noon.Add(-time.Hour), 200))
	e := newExporter(d)
	window := []string{"since=" + noon.String(), "until=" + instant(noon.Add(time.Second))}
	for _, limit := range []int{1, 3, 12, 1000} {
		require.Equal(t, want, it.Texts(e.all(requests, limit, window...), "id"), "limit %d", limit)
	}
	require.Len(t, e.all(requests, 1000), 26, "without bounds")
	require.Len(t, e.all(requests, 1000, window[0]), 19, "since alone: a request that is logged late too")
	require.Len(t, e.all(requests, 1000, window[1]), 19)
}

// TestRequestsAreKeptForAYear: what is older is not read.
func TestRequestsAreKeptForAYear(t *testing.T) {
	d := it.NewClient(t)
	now := time.Now().Add(30 * 24 * time.Hour)
	putPack(d, now.Add(-requestlog.Keep-2*time.Hour), entryAt(now, 200))
	id := putPack(d, now.Add(-requestlog.Keep+2*time.Hour), entryAt(now, 200))
	e := newExporter(d)
	e.clock.set(now)
	require.Equal(t, []string{id + "-0000"}, it.Texts(e.all(requests, 1000), "id"))
	require.Equal(t, []string{id + "-0000"}, it.Texts(e.all(requests, 1000, "since=1999-01-01T00:00:00Z"), "id"))
}

// TestALongPackIsReadByParts: each page is full, and nothing is left out or repeated.
func TestALongPackIsReadByParts(t *testing.T) {
	d := it.NewClient(t)
	at := time.Now()
	entries := make([]requestlog.Entry, 1500)
	for i := range entries {
		entries[i] = entryAt(at, 200)
		entries[i].RequestID = fmt.Sprint("r", i)
	}
	first := putPack(d, at, entries...)
	second := putPack(d, at.Add(time.Millisecond), entryAt(at, 200))
	e := newExporter(d)
	var got []string
	for _, event := range e.all(requests, 400) {
		got = append(got, event.ID())
	}
	require.Len(t, got, 1501)
	require.True(t, slices.IsSorted(got[:1500]))
	require.Equal(t, first+"-0000", got[0])
	require.Equal(t, first+"-1499", got[1499])
	require.Equal(t, second+"-0000", got[1500])
}

// TestADamagedTokenHoldsUpNoPage: only its name is missing.
func TestADamagedTokenHoldsUpNoPage(t *testing.T) {
	d := it.NewClient(t)
	made := d.Operator(t, "token-create", object{"org_id": d.Org, "user_id": d.Member, "name": "Import", "scopes": []string{"read:events"}})
	entry := entryAt(time.Now(), 200)
	entry.Token = int64(made["id"].(float64))
	putPack(d, time.Now(), entry)
	e := newExporter(d)
	require.Equal(t, "Import", e.all(requests, 10)[0].At("token.name"))
	key := table.Key{PK: tenancy.TokenPK(d.Org, entry.Token), SK: "-"}
	require.NoError(t, d.Table(t).Transact(t.Context(), table.Put(table.Item{Key: key, Version: 9, Data: []byte("{")})))
	shown := e.all(requests, 10)[0]
	require.Equal(t, []any{entry.RequestID, nil, nil}, []any{shown.At("target.id"), shown.At("token.name"), shown.At("actor.id")})
}
