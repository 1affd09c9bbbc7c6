package logs_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/functions/operator"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/change"
	"lectern/shared/contact"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

// changes makes changes of many kinds and returns the id of a contact with values.
func changes(d *it.Client) (person string) {
	d.T.Helper()
	session := d.Create(200, object{"title": "A"}).ID()
	d.Put(200, session, object{"title": "B", "description": strings.Repeat("\"é", 6_000), "capacity": 12, "is_public": true})
	d.Put(200, session, object{"description": nil})
	person = d.NewContact("ann@example.org", object{"first_name": "Ann"}).ID()
	d.Do(200, http.MethodPut, "/contacts/"+person, object{"first_name": "Anna", "company_name": "Acme"})
	company := d.Do(200, http.MethodPost, "/sponsors/create", object{"name": "Acme"}).ID()
	d.Do(200, http.MethodPut, "/sponsors/"+company, object{"name": "Acme Ltd"})
	persona := d.NewEntry("personas", "Nadia", object{"config": object{"likes": []any{"tea"}}}).ID()
	d.Do(200, http.MethodPut, "/personas/"+persona, object{"config": object{"likes": []any{"x<y", "coffee"}}})
	d.Delete(200, session)
	d.Restore(200, session)
	d.Operator(d.T, "member-update", object{"org_id": d.Org, "user_id": d.Member, "name": "Ada Admin"})
	return person
}

// TestTheAuditTrailIsAllChanges compares the audit trail, read by pages of each size, with the
// stored change records. A page of one event ends inside changes with several values.
func TestTheAuditTrailIsAllChanges(t *testing.T) {
	d := it.NewClient(t)
	e := newExporter(d)
	changes(d)
	want := trail(t, d.Stack)
	require.Greater(t, len(want), 20)
	require.True(t, slices.IsSortedFunc(want, inOrder))
	for _, limit := range []int{1, 2, 3, 7, len(want) - 1, len(want), len(want) + 1, 1000} {
		require.Equal(t, want, brief(e.all(audit, limit)), "limit %d", limit)
	}
	fields := map[string]any{}
	for _, event := range e.all(audit, 1000) {
		if field, ok := event.At("target.field").(string); ok && event.At("target.new_value") != nil {
			fields[event.At("target.type").(string)+"."+field] = event.At("target.new_value")
		}
	}
	require.Equal(t, "B", fields["session.title"])
	require.EqualValues(t, 12, fields["session.capacity"])
	require.Equal(t, true, fields["session.is_public"])
	require.Regexp(t, `^"\\"é\\"é`, fields["session.description"], "the text of a cut value")
	require.Equal(t, object{"likes": []any{"x<y", "coffee"}}, fields["persona.config"])
	require.Equal(t, "Ada Admin", fields["member.name"])
}

// TestTheShapeOfAnAuditEvent has each key, with the member and the token of the change.
func TestTheShapeOfAnAuditEvent(t *testing.T) {
	d := it.NewClient(t)
	made := d.Operator(t, "token-create", object{"org_id": d.Org, "user_id": d.Member, "name": "Import", "scopes": []string{"write:sessions"}})
	id := d.WithToken(made["token"].(string)).Create(200, object{"title": "A"}).ID()
	e := newExporter(d)
	events := e.all(audit, 1000)
	created := events[slices.IndexFunc(events, func(event entity) bool { return event["action"] == "session.created" })]
	require.Equal(t, entity{
		"id": created["id"], "stream": "audit", "occurred_at": created["occurred_at"], "action": "session.created", "outcome": "success", "reason": nil,
		"organization_id": float64(d.Org), "event_id": float64(d.Event),
		"actor":  object{"type": "api_token", "id": float64(d.Member), "name": "Admin", "email": "admin@example.org"},
		"token":  object{"id": made["id"], "name": "Import"},
		"source": object{"ip": nil, "user_agent": nil},
		"http":   object{"method": nil, "path": nil, "status": nil, "duration_ms": nil},
		"target": object{"type": "session", "id": id, "name": nil, "field": nil, "new_value": nil},
	}, created)
	require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}-0000$`, created["id"])
	first := events[0]
	require.Equal(t, "organization.created", first["action"])
	require.Nil(t, first["event_id"])
	require.Equal(t, object{"type": "system", "id": nil, "name": nil, "email": nil}, first["actor"], "an operator")
	require.Equal(t, object{"id": nil, "name": nil}, first["token"])
}

// TestNamesOfTheAuditTrailAreThePresentNames, and those of unknown members and tokens are null.
func TestNamesOfTheAuditTrailAreThePresentNames(t *testing.T) {
	d := it.NewClient(t)
	at := time.Now().Add(-time.Minute)
	for i, member := range []int64{d.Member, 999_999} {
		ctx := change.WithActor(t.Context(), change.Actor{Type: change.ActorToken, ID: member, Token: 888_888}, change.SourceAPI)
		r := change.New(ctx, change.Record{At: wireAt(at), Org: d.Org, Action: "x.updated", Type: "x", RecordID: fmt.Sprint(i), Version: 2})
		require.NoError(t, change.Commit(ctx, d.Table(t), r.Write()))
	}
	d.Operator(t, "member-update", object{"org_id": d.Org, "user_id": d.Member, "name": "Ada", "email": "ada@example.org"})
	e := newExporter(d)
	actors := map[any]any{}
	for _, event := range e.page(audit, "until="+instant(at.Add(time.Millisecond))).Results {
		actors[event.At("target.id")] = event["actor"]
		require.Equal(t, object{"id": 888888.0, "name": nil}, event["token"])
	}
	require.Equal(t, map[any]any{
		"0": object{"type": "api_token", "id": float64(d.Member), "name": "Ada", "email": "ada@example.org"},
		"1": object{"type": "api_token", "id": 999999.0, "name": nil, "email": nil},
	}, actors)
}

// TestValuesCanBeHidden: the fields stay.
func TestValuesCanBeHidden(t *testing.T) {
	d := it.NewClient(t)
	e := newExporter(d)
	changes(d)
	want := trail(t, d.Stack)
	for _, event := range want {
		event["new_value"] = nil
	}
	require.Equal(t, want, brief(e.all(audit, 5, "include_values=false")))
	require.NotEqual(t, want, brief(e.all(audit, 1000, "include_values=true")))
	e.invalid("include_values", audit, "include_values=maybe")
	e.call(200, security, "include_values=maybe")
}

// TestValuesOfAPersonGoWithThePurge leaves a single event of each change, without values.
func TestValuesOfAPersonGoWithThePurge(t *testing.T) {
	d := it.NewClient(t)
	e := newExporter(d)
	person := changes(d)
	d.Do(200, http.MethodPut, "/contacts/"+person, object{"first_name": "Ann", "last_name": "Secret"})
	d.Do(200, http.MethodDelete, "/contacts/"+person, nil)
	ofPerson := func() (events []entity, texts string) {
		answer := e.call(200, audit, "limit=1000")
		var p page
		answer.Into(t, &p)
		for _, event := range p.Results {
			if event.At("target.id") == person {
				events = append(events, event)
			}
		}
		return events, string(answer.Body)
	}
	before, text := ofPerson()
	require.Contains(t, text, "Secret")
	purged(d, 31)
	_, err := d.Table(t).Get(t.Context(), table.Key{PK: contact.Kind.PK(d.Org, person), SK: "B"})
	require.ErrorIs(t, err, table.ErrNotFound)
	after, text := ofPerson()
	require.NotContains(t, text, "Secret")
	require.Less(t, len(after), len(before))
	var ids []string
	for _, event := range before {
		if strings.HasSuffix(event.ID(), "-0000") {
			ids = append(ids, event.ID())
		}
	}
	require.Equal(t, ids, it.Texts(after, "id"), "the ids stay")
	for _, event := range after {
		require.Nil(t, event.At("target.field"))
		require.Nil(t, event.At("target.new_value"))
	}
}

// purged purges what was deleted, as it will be done so many days from now.
func purged(d *it.Client, days int) {
	d.T.Helper()
	env := d.Env(d.T)
	env.Now = func() time.Time { return time.Now().AddDate(0, 0, days) }
	_, err := operator.New(env).Do(d.T.Context(), operator.Maintain, encode(d.T, object{"cursor": object{}}))
	require.NoError(d.T, err)
}

// TestAnOldOrganizationWaitsForMaintenance: a log without the items of its hours would leave
// changes out.
func TestAnOldOrganizationWaitsForMaintenance(t *testing.T) {
	d := it.NewClient(t)
	e := newExporter(d)
	env := d.Env(t)
	store := tenancy.Store{Table: env.Table, Now: env.Now, Region: env.Region}
	_, err := tenancy.Organizations.Update(t.Context(), store, table.Org(d.Org), func(o *tenancy.Organization) error {
		o.HourItems = false
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, "1", e.call(503, audit).Header.Get("Retry-After"))
	e.call(200, security)
	e.call(200, requests)
	purged(d, 0)
	require.Equal(t, trail(t, d.Stack), brief(e.all(audit, 1000)))
}

// TestChangesOfFormerReleases have their values in the feed, those of people too. Beside a person
// is only a hash, which a purge removes.
func TestChangesOfFormerReleases(t *testing.T) {
	d := it.NewClient(t)
	r := change.New(t.Context(), change.Record{At: wireAt(time.Now()), Org: d.Org, Action: "contact.updated", Type: "contact", RecordID: it.UnknownID,
		Version: 2, Values: []change.Value{{Field: "title", New: "Dr"}}})
	r.Nonce = ""
	pointer := table.Item{Key: change.PersonalKey(contact.Kind.PK(d.Org, it.UnknownID), r.ID), Version: 1, Data: []byte(`{"hash":"0f"}`)}
	require.NoError(t, change.Commit(t.Context(), d.Table(t), r.Write(), table.Insert(pointer)))
	events := newExporter(d).all(audit, 1000)
	i := slices.IndexFunc(events, func(event entity) bool { return event.At("target.id") == it.UnknownID })
	require.Equal(t, "Dr", events[i].At("target.new_value"))
	require.NoError(t, d.Table(t).Transact(t.Context(), table.Delete(pointer.Key)))
	events = newExporter(d).all(audit, 1000)
	require.Nil(t, events[i].At("target.new_value"), "the values of a purged person are not shown")
	require.Nil(t, events[i].At("target.field"))
}

// TestALogOf2000Changes is read by pages of 1000, over hours and in order.
func TestALogOf2000Changes(t *testing.T) {
	d := it.NewClient(t)
	begin := time.Now().Add(-30 * time.Hour)
	times := make([]time.Time, 2000)
	for i := range times {
		times[i] = begin.Add(time.Duration(i*i) * 25 * time.Millisecond)
	}
	want := commit(d, times...)
	e := newExporter(d)
	var got []string
	at := []string{"limit=1000", "until=" + instant(begin.Add(29*time.Hour))}
	for call := range 3 {
		p := e.page(audit, at...)
		require.Equal(t, call == 0, p.HasMore, "page %d", call)
		require.Len(t, p.Results, []int{1000, 1000, 0}[call])
		require.True(t, slices.IsSortedFunc(p.Results, inOrder))
		for _, event := range p.Results {
			got = append(got, strings.TrimSuffix(event.ID(), "-0000"))
		}
		at = []string{"limit=1000", "until=" + instant(begin.Add(29*time.Hour)), "cursor=" + p.NextCursor}
	}
	slices.Sort(want)
	require.Equal(t, want, got)
}

// TestALongPageEndsBeforeItsLimit, so that the answer is never too long for a client without gzip.
func TestALongPageEndsBeforeItsLimit(t *testing.T) {
	d := it.NewClient(t)
	long := strings.Repeat("\"", 4_000)
	var want []string
	for n := range 90 {
		r := change.Record{At: wireAt(time.Now()), Org: d.Org, Action: "contact.updated", Type: "contact", RecordID: fmt.Sprint("p", n), Version: 2}
		for v := range 8 {
			r.Values = append(r.Values, change.Value{Field: fmt.Sprint("field", v), New: long})
		}
		r = change.New(t.Context(), r)
		require.NoError(t, change.Commit(t.Context(), d.Table(t), r.PersonalWrites(contact.Kind.PK(d.Org, r.RecordID))...))
		for v := range 8 {
			want = append(want, fmt.Sprintf("%s-%04d", r.ID, v))
		}
	}
	e := newExporter(d)
	var got []string
	pages := 0
	for at := []string{"limit=1000"}; ; pages++ {
		answer := e.call(200, audit, at...)
		require.Less(t, len(answer.Body), 5<<20)
		var p page
		answer.Into(t, &p)
		for _, event := range p.Results {
			if event.At("target.type") == "contact" {
				require.True(t, event.At("target.new_value") == long, event.ID())
				got = append(got, event.ID())
			}
		}
		if !p.HasMore {
			break
		}
		at = []string{"limit=1000", "cursor=" + p.NextCursor}
	}
	slices.Sort(want)
	require.Equal(t, want, got)
	require.Greater(t, pages, 1)
}

// TestTheLogsOfOtherOrganizationsAreNotShown, whatever the events are of.
func TestTheLogsOfOtherOrganizationsAreNotShown(t *testing.T) {
	d := it.NewClient(t)
	other := &it.Client{Stack: d.NewOrganization(t), T: t}
	changes(d)
	changes(other)
	putPack(d, time.Now(), entryAt(time.Now(), 200))
	for _, caller := range []*it.Client{d, other} {
		e := newExporter(caller)
		require.Equal(t, trail(t, caller.Stack), brief(e.all(audit, 1000)))
		require.NotEmpty(t, e.all(security, 1000))
	}
	require.Empty(t, newExporter(other).all(requests, 1000))
	require.Len(t, newExporter(d).all(requests, 1000), 1)
}

// TestADamagedCopyBesideAPerson takes the values of its change from the audit trail, and nothing else.
func TestADamagedCopyBesideAPerson(t *testing.T) {
	log := &stacktest.Log{}
	d := &it.Client{Stack: stacktest.Start(t, stacktest.WithLog(log)), T: t}
	e := newExporter(d)
	person := changes(d)
	before := e.all(audit, 1000)
	ofUpdate := func(event entity) bool { return event.At("target.id") == person && event.At("target.field") != nil }
	first := slices.IndexFunc(before, ofUpdate)
	values := 0
	for _, event := range before {
		if ofUpdate(event) {
			values++
		}
	}
	require.Equal(t, 2, values)
	copied := change.PersonalKey(contact.Kind.PK(d.Org, person), before[first].ID()[:len(it.UnknownID)])
	it.EngineOf(t, d.Stack).PutBroken(t, table.Item{Key: copied})
	shown := e.all(audit, 1)
	require.Equal(t, slices.Concat(before[:first], before[first+values:]), slices.Concat(shown[:first], shown[first+1:]))
	want := before[first]
	want["reason"] = "damaged"
	target := want["target"].(map[string]any)
	target["field"], target["new_value"] = nil, nil
	require.Equal(t, want, shown[first])
	require.Contains(t, log.String(), copied.SK)
}
