package logs_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/granttest"
	"lectern/localstack/test/it"
	"lectern/shared/auth"
	"lectern/shared/change"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

// TestSecurityEvents follow the changes of tokens and members.
func TestSecurityEvents(t *testing.T) {
	d := it.NewClient(t)
	made := d.Operator(t, "token-create", object{"org_id": d.Org, "user_id": d.Member, "name": "Import", "scopes": []string{"read:events"}})
	token := object{"org_id": d.Org, "token_id": made["id"]}
	d.Operator(t, "token-update", it.Merged(token, object{"name": "Imports"}))
	d.Operator(t, "token-revoke", token)
	guest := d.Operator(t, "member-create", object{"org_id": d.Org, "name": "Guest", "email": "guest@example.org"})
	member := object{"org_id": d.Org, "user_id": guest["id"]}
	d.Operator(t, "member-update", it.Merged(member, object{"role": "admin", "active": false}))
	d.Operator(t, "member-remove", member)
	e := newExporter(d)
	events := e.all(security, 1000)
	var told []string
	for _, event := range events {
		id := event.At("target.id")
		if id == fmt.Sprint(made["id"]) || id == fmt.Sprint(guest["id"]) {
			told = append(told, event.Text("action"))
		}
	}
	require.Equal(t, []string{"token.created", "token.updated", "token.revoked", "member.activity_changed", "member.role_changed", "owner.inactive"}, told)
	i := slices.IndexFunc(events, func(event entity) bool { return event["action"] == "token.revoked" })
	require.Equal(t, entity{
		"id": events[i]["id"], "stream": "security_event", "occurred_at": events[i]["occurred_at"], "action": "token.revoked", "outcome": "success",
		"reason": nil, "organization_id": float64(d.Org), "event_id": nil,
		"actor":  object{"type": "system", "id": nil, "name": nil, "email": nil},
		"token":  object{"id": nil, "name": nil},
		"source": object{"ip": nil, "user_agent": nil},
		"http":   object{"method": nil, "path": nil, "status": nil, "duration_ms": nil},
		"target": object{"type": "token", "id": fmt.Sprint(made["id"]), "name": nil, "field": nil, "new_value": nil},
	}, events[i])
	ids := it.Texts(events, "id")
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(ids))), len(ids), "each id once, of events of one change too")
	require.True(t, slices.IsSortedFunc(events, inOrder))
	for _, limit := range []int{1, 2, 5, len(ids)} {
		require.Equal(t, ids, it.Texts(e.all(security, limit), "id"), "limit %d", limit)
	}
}

// TestConnectionsInTheLogs: the security events of a connection, and the actor of what an application does.
func TestConnectionsInTheLogs(t *testing.T) {
	d := it.NewClient(t)
	c := granttest.New(t, d.Stack)
	user := c.Member(object{"name": "Ada", "email": "ada@example.org"})
	tokens, id := c.Connect(user, auth.WriteSessions)
	d.As(tokens.AccessToken).Call(t, 200, "POST", d.EventPath("/sessions/create"), object{"title": "By an application"})
	require.NoError(t, c.Revoke(t.Context(), tokens.RefreshToken, ""))
	e := newExporter(d)
	var told []string
	for _, event := range e.all(security, 1000) {
		if event.At("target.id") == fmt.Sprint(id) {
			told = append(told, event.Text("action"))
		}
	}
	require.Equal(t, []string{"connection.created", "connection.updated", "connection.ended"}, told)
	for _, event := range e.all(audit, 1000) {
		if event["action"] == "session.created" {
			require.Equal(t, object{"type": "oauth", "id": float64(user), "name": "Ada", "email": "ada@example.org"}, event["actor"])
			require.Equal(t, object{"id": float64(id), "name": "Agenda"}, event["token"])
			return
		}
	}
	require.Fail(t, "no session was created")
}

// TestSecurityEventsOfYears are read month by month.
func TestSecurityEventsOfYears(t *testing.T) {
	d := it.NewClient(t)
	month := time.Date(time.Now().Year()+1, 1, 1, 0, 0, 0, 0, time.UTC)
	var want []string
	var writes []table.Write
	for n := range 40 {
		at := month.AddDate(0, n/2, 0)
		if n%2 == 1 {
			at = at.Add(-time.Millisecond)
		}
		r := change.New(t.Context(), change.Record{At: wireAt(at), Org: d.Org, Type: "token", RecordID: "1", Version: int64(n)})
		event := tenancy.SecurityEvent{ID: r.ID, At: r.At, Org: d.Org, Action: tenancy.TokenUpdated, Type: "token", RecordID: "1"}
		data, err := json.Marshal(event)
		require.NoError(t, err)
		want = append(want, r.ID+"-token.updated")
		writes = append(writes, table.Insert(table.Item{Key: event.Key(), Version: 1, Data: data}))
	}
	require.NoError(t, d.Table(t).Transact(t.Context(), writes...))
	slices.Sort(want)
	e := newExporter(d)
	since := "since=" + instant(month.Add(-time.Millisecond))
	e.clock.set(month.AddDate(5, 0, 0))
	require.Equal(t, want[:len(want):len(want)], it.Texts(e.all(security, 7, since), "id"))
	require.Equal(t, want, it.Texts(e.all(security, 1000, since), "id"))
	until := "until=" + instant(month.AddDate(0, 3, 0))
	got := e.all(security, 3, since, until)
	require.Equal(t, want[:len(got)], it.Texts(got, "id"))
	require.Less(t, got[len(got)-1].Text("occurred_at"), instant(month.AddDate(0, 3, 0)))
	require.Equal(t, 7, len(got))
}
