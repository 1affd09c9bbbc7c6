package changes_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/events"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/bus"
	"lectern/shared/change"
	"lectern/shared/feed"
	"lectern/shared/table"
	"lectern/shared/wire"
)

type object = map[string]any

// soon is the longest wait for what happens at once.
const soon = 20 * time.Second

// published returns the number of messages in the publisher's lines of a log.
func published(log *stacktest.Log) (n int) {
	for line := range strings.Lines(log.String()) {
		var fields struct {
			Msg               string
			Messages, Refused int
		}
		if json.Unmarshal([]byte(line), &fields) == nil && fields.Msg == "published" {
			n += fields.Messages - fields.Refused
		}
	}
	return n
}

// kinds returns the number of change records of the caller's organization, and of their messages.
func kinds(t *testing.T, s *stacktest.Stack) (records, messages int) {
	t.Helper()
	now := time.Now()
	log := feed.Log{Table: s.Table(t), Root: change.Root(s.Org), Hourly: true, First: 100}
	items, err := log.Read(feed.Bound(now.Add(-time.Hour)), feed.Bound(now.Add(time.Hour))).Take(t.Context(), 1<<20)
	require.NoError(t, err)
	for _, item := range items {
		var r change.Record
		require.NoError(t, json.Unmarshal(item.Data, &r))
		messages += len(bus.Messages(r))
	}
	return len(items), messages
}

// TestEveryKindOfARequestIsPublished, soon after the answer.
func TestEveryKindOfARequestIsPublished(t *testing.T) {
	stacktest.Everywhere(t)
	log := &stacktest.Log{}
	s := stacktest.Start(t, stacktest.Publishing(), stacktest.WithLog(log))
	contact := s.Call(t, 200, http.MethodPost, s.EventPath("/contacts/create"), object{
		"first_name": "Ada", "last_name": "Quay", "email": "ada@example.org",
	}).JSON(t)
	session := s.Call(t, 200, http.MethodPost, s.EventPath("/sessions/create"), object{
		"title": "Harbours", "participants": []any{object{"contact_id": contact["id"], "core_role": "speaker"}},
	}).JSON(t)
	var waits []time.Duration
	for n := range 15 {
		before := published(log)
		s.Call(t, 200, http.MethodPut, s.EventPath("/sessions/"+session["id"].(string)), object{"title": fmt.Sprint("Ports ", n)})
		start := time.Now()
		require.Eventually(t, func() bool { return published(log) > before }, soon, time.Millisecond)
		waits = append(waits, time.Since(start))
	}
	slices.Sort(waits)
	t.Logf("published %s after the answer in the middle, %s at most", waits[len(waits)/2], waits[len(waits)-1])
	require.Less(t, waits[len(waits)/2], 300*time.Millisecond)
	_, messages := kinds(t, s)
	require.GreaterOrEqual(t, messages, 18)
	require.Eventually(t, func() bool { return published(log) == messages }, soon, time.Millisecond)
}

// TestADamagedChangeHoldsUpNoOther: what is written after it is published, and the queue changes-dead has its
// key.
func TestADamagedChangeHoldsUpNoOther(t *testing.T) {
	stacktest.Everywhere(t)
	log := &stacktest.Log{}
	s := stacktest.Start(t, stacktest.Publishing(), stacktest.WithLog(log))
	for name, put := range damages {
		dead, err := s.Places(t).Queue(bus.Dead(bus.Changes))
		require.NoError(t, err)
		r := change.New(t.Context(), change.Record{At: wire.At(time.Now()), Org: s.Org, RecordID: name})
		require.NoError(t, s.Table(t).Mark(t.Context(), feed.HourOf(r.Key())))
		put(t, s, table.Item{Key: r.Key(), Version: 1, Kind: table.KindChange})
		var kept []bus.Received
		require.Eventually(t, func() bool {
			kept, err = dead.Receive(t.Context(), 10)
			return err == nil && len(kept) > 0
		}, soon, 10*time.Millisecond, name)
		require.Len(t, kept, 1, name)
		require.JSONEq(t, fmt.Sprintf(`{"pk":%q,"sk":%q}`, r.Key().PK, r.Key().SK), string(kept[0].Body), name)
		before := published(log)
		s.Call(t, 200, http.MethodPost, s.EventPath("/sessions/create"), object{"title": "Published after it"})
		require.Eventually(t, func() bool { return published(log) > before }, soon, 10*time.Millisecond, name)
	}
}

// damages put an item in the place of a change record that cannot be decoded.
var damages = map[string]func(*testing.T, *stacktest.Stack, table.Item){
	"no JSON": func(t *testing.T, s *stacktest.Stack, item table.Item) {
		t.Helper()
		item.Data = []byte("[")
		require.NoError(t, s.Table(t).Transact(t.Context(), table.Insert(item)))
	},
	"no deflated data": func(t *testing.T, s *stacktest.Stack, item table.Item) {
		t.Helper()
		it.EngineOf(t, s).PutBroken(t, item)
	},
}

// TestRepublish publishes the changes of a time again, in calls that continue.
func TestRepublish(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t, stacktest.Publishing())
	other := s.NewOrganization(t)
	since := time.Now().Add(-10 * time.Minute)
	tab := s.Table(t)
	for pack := range int64(60) {
		var writes []table.Write
		for n := range int64(90) {
			r := change.Record{
				At: wire.At(since.Add(time.Duration(pack) * time.Second)), Org: s.Org, Type: "rule", RecordID: fmt.Sprint(pack, "-", n), Version: 1,
				Action: "rule.created", Kinds: []change.Kind{{Name: "rule.created", Sequence: 1}},
			}
			writes = append(writes, change.New(t.Context(), r).Write())
		}
		require.NoError(t, change.Commit(t.Context(), tab, writes...))
	}
	records, messages := kinds(t, s)
	others, _ := kinds(t, other)
	in := object{"since": since.UTC().Format(time.RFC3339)}
	all := drain(t, s, in)
	require.Len(t, all, 2, "a call has its limit")
	require.InDelta(t, records+others, all[0].Records+all[1].Records, 0)

	in["org_id"] = s.Org
	all = drain(t, s, in)
	require.Len(t, all, 2)
	require.Equal(t, records, all[0].Records+all[1].Records)
	require.Equal(t, messages, all[0].Messages+all[1].Messages)

	in["until"] = since.Add(30 * time.Second).UTC().Format(time.RFC3339)
	in["since"] = since.Add(20 * time.Second).UTC().Format(time.RFC3339)
	require.Equal(t, []answer{{Records: 900, Messages: 900, Keys: []string{}}}, drain(t, s, in))

	require.Equal(t, "NOT_FOUND", it.RequireOperatorError(t, s, "republish", object{"since": in["since"], "org_id": 777}).Code)
	require.Equal(t, "cursor.after", it.RequireOperatorError(t, s, "republish", object{
		"since": in["since"], "cursor": object{"org_id": s.Org, "after": "x"},
	}).Details["field"])
}

// TestRepublishOfManyOrganizations: a call has its limit too where each organization has few changes, and
// the calls together publish each change once.
func TestRepublishOfManyOrganizations(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t, stacktest.Publishing())
	records := 0
	for n := range 60 {
		made := s.Operator(t, "organization-create", object{"name": fmt.Sprint("Organization ", n)})
		commitRules(t, s, int64(made["id"].(float64)), 90)
		records += 90
	}
	all := drain(t, s, object{"since": time.Now().Add(-10 * time.Minute).UTC().Format(time.RFC3339)})
	sum := 0
	for _, a := range all {
		require.Less(t, a.Records, 5200)
		sum += a.Records
	}
	require.GreaterOrEqual(t, len(all), 2, "a call has its limit")
	own, _ := kinds(t, s)
	require.GreaterOrEqual(t, sum, records+own)
	require.Less(t, sum, records+own+200, "each change once, and the creations of the organizations")
}

// commitRules stores n changes of an organization, and returns their ids.
func commitRules(t *testing.T, s *stacktest.Stack, org int64, n int) (ids []string) {
	t.Helper()
	var writes []table.Write
	for i := range n {
		r := change.New(t.Context(), change.Record{
			At: wire.At(time.Now().Add(-5 * time.Minute)), Org: org, Type: "rule", RecordID: fmt.Sprint(i), Version: 1,
			Action: "rule.created", Kinds: []change.Kind{{Name: "rule.created", Sequence: 1}},
		})
		ids, writes = append(ids, r.ID), append(writes, r.Write())
	}
	require.NoError(t, change.Commit(t.Context(), s.Table(t), writes...))
	return ids
}

// TestRepublishPassesDamagedRecords: the answer counts and names the change records that cannot be decoded,
// and all others are published.
func TestRepublishPassesDamagedRecords(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t, stacktest.Publishing())
	before, _ := kinds(t, s)
	commitRules(t, s, s.Org, 90)
	var keys []string
	for name, put := range damages {
		r := change.New(t.Context(), change.Record{
			At: wire.At(time.Now().Add(-5 * time.Minute)), Org: s.Org, RecordID: name,
		})
		put(t, s, table.Item{Key: r.Key(), Version: 1, Kind: table.KindChange})
		keys = append(keys, r.Key().PK+" "+r.Key().SK)
	}
	now := time.Now()
	for _, in := range []object{{"org_id": s.Org}, {}} {
		in["since"] = now.Add(-10 * time.Minute).UTC().Format(time.RFC3339)
		all := drain(t, s, in)
		require.Len(t, all, 1)
		require.Equal(t, []any{before + 90, 2}, []any{all[0].Records, all[0].Damaged})
		require.ElementsMatch(t, keys, all[0].Keys)
	}
}

// answer is an answer of republish.
type answer struct {
	Records, Messages, Damaged int
	Keys                       []string `json:"damaged_keys"`
	Cursor                     object
}

// drain calls republish until an answer has no cursor.
func drain(t *testing.T, s *stacktest.Stack, in object) (all []answer) {
	t.Helper()
	for {
		text, err := json.Marshal(s.Operator(t, "republish", in))
		require.NoError(t, err)
		var a answer
		require.NoError(t, json.Unmarshal(text, &a))
		all = append(all, a)
		if a.Cursor == nil {
			return all
		}
		var next object
		require.NoError(t, json.Unmarshal(text, &next))
		in = object{"since": next["since"], "until": next["until"], "cursor": next["cursor"]}
		if next["org_id"] != nil {
			in["org_id"] = next["org_id"]
		}
	}
}

// TestRedrive moves dead letters back, as many as are asked for.
func TestRedrive(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t, stacktest.Transcribing())
	for _, queue := range []string{events.Webhooks, events.Deliveries, events.Work, events.Drawings, events.Media} {
		dead, err := s.Places(t).Queue(bus.Dead(queue))
		require.NoError(t, err)
		var posts []bus.Post
		for n := range 25 {
			posts = append(posts, bus.Post{Body: fmt.Appendf(nil, `{"dead":%d}`, n), Group: fmt.Sprint("group ", n%3)})
		}
		require.NoError(t, dead.Send(t.Context(), posts...))
		in := object{"queue": queue, "most": 12}
		require.Equal(t, object{"queue": queue, "moved": 12.0, "left": 13.0}, s.Operator(t, "redrive", in))
		delete(in, "most")
		require.Equal(t, object{"queue": queue, "moved": 13.0, "left": 0.0}, s.Operator(t, "redrive", in))
		require.Equal(t, object{"queue": queue, "moved": 0.0, "left": 0.0}, s.Operator(t, "redrive", in))
	}
	refused := it.RequireOperatorError(t, s, "redrive", object{"queue": "changes"})
	require.Equal(t, "queue must be one of: deliveries, drawings, media, webhooks, work.", refused.Message)
}

// TestTheCommandsOfTheBusAreTheOperatorsOwn: the test sees neither the table nor the queues, so it runs
// against a deployed service too. There the operator's role must allow the bus and every queue.
func TestTheCommandsOfTheBusAreTheOperatorsOwn(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t, stacktest.Publishing())
	since := time.Now().Add(-time.Minute)
	s.Call(t, 200, http.MethodPost, s.EventPath("/sessions/create"), object{"title": "Published twice"})
	published := drain(t, s, object{"since": since.UTC().Format(time.RFC3339), "org_id": s.Org})
	require.Len(t, published, 1)
	require.GreaterOrEqual(t, published[0].Records, 1)
	require.GreaterOrEqual(t, published[0].Messages, 1)
	for _, queue := range []string{events.Webhooks, events.Deliveries, events.Work} {
		require.Equal(t, object{"queue": queue, "moved": 0.0, "left": 0.0}, s.Operator(t, "redrive", object{"queue": queue}))
	}
}

// TestWithoutABusTheCommandsAreRefused: a region that publishes nothing has neither bus nor queues.
func TestWithoutABusTheCommandsAreRefused(t *testing.T) {
	s := stacktest.Start(t)
	s.Inside(t, "binaries have a local bus in any case")
	_, err := s.TryOperator(t, "republish", object{"since": "2026-11-24T00:00:00Z"})
	require.ErrorIs(t, err, bus.ErrUnnamed)
	require.Equal(t, "queue", it.RequireOperatorError(t, s, "redrive", object{"queue": "webhooks"}).Details["field"])
}
