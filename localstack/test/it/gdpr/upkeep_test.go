package gdpr_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/functions/gdpr"
	"lectern/functions/operator"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/bus"
	"lectern/shared/datarequest"
	"lectern/shared/maintain"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

// maintained maintains the table after some time, and returns the report and what was published.
func (b *bench) maintained(later time.Duration) (report *maintain.Report, sent []bus.Message) {
	b.T.Helper()
	now := func() time.Time { return time.Now().Add(later) }
	store := maintain.Store{
		Tenancy: tenancy.Store{Table: b.Table(b.T), Now: now, Region: "us"}, Blobs: b.Env(b.T).Blobs, Time: time.Minute,
		Publish: func(_ context.Context, messages []bus.Message) error {
			sent = append(sent, messages...)
			return nil
		},
	}
	report, err := store.Run(b.T.Context(), maintain.Input{Cursor: &maintain.Cursor{}})
	require.NoError(b.T, err)
	require.Zero(b.T, report.Failed)
	return report, sent
}

// requests returns the ids of the requests in the list.
func (b *bench) requests() []any {
	b.T.Helper()
	return it.Column(stacktest.Call[it.Page](b.Stack, http.StatusOK, http.MethodGet, collection, nil).Results, "id")
}

// TestAnEndedRequestIsDeleted 35 days later, and makes room; an open and a failed erasure stay.
func TestAnEndedRequestIsDeleted(t *testing.T) {
	b := newBench(t)
	engine := it.EngineOf(t, b.Stack)
	access, collect := b.asked("access")
	require.Zero(t, b.invoke(collect, 1))
	b.Call(t, 201, http.MethodPost, collection, asking("access", "open@example.org"))
	failed, erase := b.asked("erasure")
	b.fault = it.ErrEnded
	require.Equal(t, 1, b.invoke(erase, 5))
	b.fault = nil
	require.Equal(t, "A***@e***.org", b.request(access)["identity_value"])

	report, _ := b.maintained(35*24*time.Hour - time.Hour)
	require.Zero(t, report.Requests)
	require.Contains(t, b.requests(), access)
	report, _ = b.maintained(35*24*time.Hour + time.Hour)
	require.Equal(t, 1, report.Requests)
	require.NotContains(t, b.requests(), access)
	require.Contains(t, b.requests(), failed, "its work is still to be done")
	require.Len(t, b.requests(), 2)
	b.Call(t, 404, http.MethodGet, collection+"/"+access+"/archive", nil)
	require.Zero(t, b.invoke(collect, 1), "a message about a deleted request is done")
	noted := 0
	for _, item := range engine.Dump(t) {
		if strings.Contains(item.Data, `"action":"data_request.deleted"`) && strings.Contains(item.Data, access) {
			noted++
		}
	}
	require.Equal(t, 1, noted, "the audit trail keeps that it was there")
}

// TestADeletedRequestHasNoAddress while the deleted record can be found.
func TestADeletedRequestHasNoAddress(t *testing.T) {
	b := &bench{Contacts: &it.Contacts{Client: it.NewClient(t)}}
	_, collect := b.asked("access")
	require.Zero(t, b.invoke(collect, 1))
	require.NotEmpty(t, found(it.EngineOf(t, b.Stack).Dump(t)))
	report, _ := b.maintained(36 * 24 * time.Hour)
	require.Equal(t, 1, report.Requests)
	require.Empty(t, found(it.EngineOf(t, b.Stack).Dump(t)))
	b.maintained(70 * 24 * time.Hour)
	it.EngineOf(t, b.Stack).RequireWhole(t)
}

// TestAnOpenRequestIsSentAgain once a day: its message may be lost.
func TestAnOpenRequestIsSentAgain(t *testing.T) {
	b := &bench{Contacts: &it.Contacts{Client: it.NewClient(t)}}
	id, _ := b.asked("access")
	_, sent := b.maintained(23 * time.Hour)
	require.Empty(t, sent)
	report, sent := b.maintained(25 * time.Hour)
	require.Equal(t, 1, report.Resent)
	require.Len(t, sent, 1)
	require.Equal(t, []any{id, "data_request.created"}, []any{sent[0].RecordID, sent[0].Kind})
	require.Zero(t, b.invoke(it.Encode(t, object{"detail": sent[0]}), 1))
	require.Equal(t, "completed", b.request(id)["status"])
	_, sent = b.maintained(25 * time.Hour)
	require.Empty(t, sent)
}

// TestARequestWithoutItsChangeIsSentAgain, and done: the request says all that the worker needs.
func TestARequestWithoutItsChangeIsSentAgain(t *testing.T) {
	b := &bench{Contacts: &it.Contacts{Client: it.NewClient(t)}}
	id, _ := b.asked("access")
	for _, c := range it.ChangesOf(t, b.Stack) {
		if c.RecordID == id {
			require.NoError(t, b.Table(t).Transact(t.Context(), table.Delete(c.Key())))
		}
	}
	report, sent := b.maintained(25 * time.Hour)
	require.Equal(t, 1, report.Resent)
	require.Zero(t, b.invoke(it.Encode(t, object{"detail": sent[0]}), 1))
	require.Equal(t, "completed", b.request(id)["status"])
}

// TestTheOperatorsMaintainSendsToTheWorker through the bus.
func TestTheOperatorsMaintainSendsToTheWorker(t *testing.T) {
	o := &office{&it.Contacts{Client: &it.Client{Stack: stacktest.Start(t, stacktest.Publishing(), stacktest.Settling(time.Minute)), T: t}}}
	o.Inside(t, slow)
	b := &bench{Contacts: o.Contacts, id: o.Create(200, object{"email": address}).ID()}
	o.after(o.ask(201, asking("erasure", address)).ID(), "processing")
	require.Eventually(t, func() bool { return len(b.told()) == 1 }, patience, pause)
	env := b.Env(t)
	env.Memory, env.Places, env.Now = new(api.Memory), b.Places(t), func() time.Time { return time.Now().AddDate(0, 0, 2) }
	answer, err := operator.New(env).Do(t.Context(), "maintain", []byte(`{"cursor": {}}`))
	require.NoError(t, err)
	require.Equal(t, 1, answer.(*maintain.Report).Resent, "%+v", answer)
	require.Eventually(t, func() bool { return len(b.told()) == 2 }, patience, pause, "the worker begins again")
}

// TestAFloodOfRequestsIsDeleted by the operator, with archives: not what is open, earlier, or erased somebody.
func TestAFloodOfRequestsIsDeleted(t *testing.T) {
	b := newBench(t)
	earlier, collect := b.asked("access")
	require.Zero(t, b.invoke(collect, 1))
	time.Sleep(2 * time.Millisecond)
	since := time.Now().UTC()
	ended := func(kind, address string) string {
		id := b.Call(t, 201, http.MethodPost, collection, asking(kind, address)).JSON(t)["id"].(string)
		body := it.Encode(t, object{"detail": object{"org": b.Org, "record_id": id, "kind": datarequest.KindCreated}})
		posts := len(b.posts)
		require.Zero(t, b.invoke(body, 1))
		if kind == "erasure" {
			require.Zero(t, b.invoke(b.posts[posts].Body, 1))
		}
		require.Equal(t, "completed", b.request(id)["status"])
		return id
	}
	b.Create(200, object{"email": "grace@example.org"})
	access := ended("access", "flood@example.org")
	ended("erasure", "flood@example.org")
	erasure := ended("erasure", "grace@example.org")
	open, _ := b.asked("access")
	in := object{"org_id": b.Org, "since": since.Format(time.RFC3339Nano)}
	require.Equal(t, map[string]any{"deleted": 2.0, "left": 0.0}, b.Operator(t, "data-request-delete", in))
	require.ElementsMatch(t, []any{earlier, erasure, open}, b.requests())
	for key := range it.EngineOf(t, b.Stack).Dump(t) {
		require.False(t, strings.HasSuffix(key.PK, "#G#"+access), "the archive is removed")
	}
	b.Call(t, 200, http.MethodGet, collection+"/"+earlier+"/archive", nil)
	require.Equal(t, 404, it.RequireOperatorError(t, b.Stack, "data-request-delete", object{"org_id": 999, "since": in["since"]}).Status)
	it.EngineOf(t, b.Stack).RequireWhole(t)
}

// TestTheLimitOfRequestsTellsTheTruth: a client cannot delete requests. A repetition after a restore has no
// limit.
func TestTheLimitOfRequestsTellsTheTruth(t *testing.T) {
	d := &it.Contacts{Client: it.NewClient(t)}
	few := d.ServeGroup(gdpr.Group, func(env *api.Env) { env.MostRecords = 1 })
	few.Call(t, 201, http.MethodPost, collection, asking("access", "ada@example.org"))
	refused := entity(few.Call(t, 409, http.MethodPost, collection, asking("erasure", "ada@example.org")).JSON(t))
	require.Equal(t, "LIMIT_REACHED", refused["code"])
	require.Contains(t, refused["message"], "deleted after 35 days")
	require.NotContains(t, refused["message"], "Delete some first")
	ids := d.WithAddresses("ada@example.org", "grace@example.org")
	env := d.Env(t)
	env.Memory, env.MostRecords = new(api.Memory), 1
	_, err := operator.New(env).Do(t.Context(), "erasure-repeat", it.Encode(t, object{"org_id": d.Org, "erasures": []any{
		object{"request": uuid.NewString(), "identity": "", "contacts": ids},
	}}))
	require.NoError(t, err)
	require.Len(t, stacktest.Call[it.Page](d.Stack, 200, http.MethodGet, collection, nil).Results, 3)
}

// TestErasuresThatHaveNotEndedAreListed, since the restored table may not have them.
func TestErasuresThatHaveNotEndedAreListed(t *testing.T) {
	b := newBench(t)
	failed, erase := b.asked("erasure")
	b.fault = it.ErrEnded
	require.Equal(t, 1, b.invoke(erase, 5))
	open := b.Call(t, 201, http.MethodPost, collection, asking("erasure", "open@example.org")).JSON(t)["id"]
	b.asked("access")
	since := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	listed := entity(b.Operator(t, "erasure-list", object{"org_id": b.Org, "since": since}))
	require.ElementsMatch(t, []any{failed, open}, it.Column(listed.List("results"), "request"))
	repeated := b.Operator(t, "erasure-repeat", object{"org_id": b.Org, "erasures": listed["results"]})
	require.Empty(t, repeated["results"], "nobody has come back")
}
