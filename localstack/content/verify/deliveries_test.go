package verify

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/content/verify/raw"
	"lectern/localstack/test/stacktest"
	"lectern/shared/bus"
	"lectern/shared/delivery"
	"lectern/shared/purge"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// posting stores deliveries of an organization to a webhook endpoint, at a time.
type posting struct {
	*testing.T
	delivery.Store
	org      int64
	endpoint string
	at       time.Time
	added    int
}

// newPosting creates an endpoint.
func newPosting(t *testing.T, s *stacktest.Stack) *posting {
	t.Helper()
	made := s.Call(t, 200, "POST", "/v1/webhooks/create", map[string]any{"url": "https://hooks.example.org/", "events": []string{"contact.created"}})
	p := &posting{T: t, org: s.Org, endpoint: made.JSON(t)["id"].(string), at: time.Now()}
	p.Store = delivery.Store{Table: s.Table(t), Now: func() time.Time { return p.at }}
	return p
}

// Render renders a body without content.
func (*posting) Render(context.Context, bus.Message, string) ([]byte, error) {
	return []byte(`{"metadata":{` + delivery.Place), nil
}

// post stores a delivery with its body, and records attempts with the statuses. It returns the id.
func (p *posting) post(statuses ...int) string {
	p.Helper()
	p.added++
	m := bus.Message{
		Change: uuid.NewString(), At: wire.At(p.at), Org: p.org, Kind: "contact.created", Sequence: int64(p.added), Type: "contact", RecordID: uuid.NewString(),
	}
	added, err := p.Add(p.Context(), m, []delivery.Target{{Endpoint: p.endpoint, Form: "thin"}}, p)
	require.NoError(p, err)
	task := added.Tasks[0]
	for i, status := range statuses {
		task.Attempt = i + 1
		w, err := p.Open(p.Context(), task)
		require.NoError(p, err)
		_, err = p.Record(p.Context(), w, task, delivery.Outcome{At: p.at, Status: status})
		require.NoError(p, err)
	}
	return task.ID
}

// deliver stores a delivery in each stage, a redelivery, a replay, and the state of an endpoint.
func deliver(t *testing.T, s *stacktest.Stack) *posting {
	t.Helper()
	p := newPosting(t, s)
	p.post()
	p.post(500)
	p.post(500, 500, 500)
	ended := p.post(200)
	_, err := p.Redeliver(t.Context(), p.org, p.endpoint, ended)
	require.NoError(t, err)
	require.NoError(t, p.Replay(t.Context(), p.org, p.endpoint, delivery.Filter{Status: delivery.Delivered}))
	_, err = p.Learn(t.Context(), p.org, p.endpoint, []delivery.Result{{Failed: true}})
	require.NoError(t, err)
	return p
}

// report is that of a table with the items.
func (all items) report(t *testing.T) *Report {
	t.Helper()
	spill, err := raw.NewSpill()
	require.NoError(t, err)
	defer spill.Close()
	r := &Report{Kinds: map[string]int64{}, listed: map[string]bool{}}
	for _, item := range all {
		require.NoError(t, r.add(item, spill))
	}
	require.NoError(t, r.check(spill))
	return r
}

// posted is a table with deliveries alone.
func posted(t *testing.T) (s *stacktest.Stack, p *posting, now func() items) {
	t.Helper()
	s = stacktest.Start(t)
	p = deliver(t, s)
	address, name := s.Engine(t)
	client, err := table.Open(t.Context(), table.Config{Endpoint: address})
	require.NoError(t, err)
	return s, p, func() items { return read(t, client, name) }
}

// TestDamagedDeliveriesAreFound takes away or changes one item of webhooks.
func TestDamagedDeliveriesAreFound(t *testing.T) {
	_, _, now := posted(t)
	whole := now()
	require.Empty(t, whole.report(t).Problems)
	remove := func(i *raw.Item) { *i = raw.Item{Key: table.Key{PK: "R#maintain", SK: "-"}, Data: "{}"} }
	swapped := func(old, now string) func(*raw.Item) {
		return func(i *raw.Item) {
			require.Contains(t, i.Data, old)
			i.Data = strings.Replace(i.Data, old, now, 1)
		}
	}
	otherPartition := func(i *raw.Item) { i.PK = i.PK[:len(i.PK)-4] + "0000" }
	for _, c := range []struct {
		kind, text string
		damage     func(*raw.Item)
		problem    string
	}{
		{"delivery", "", swapped(`{`, `[`), "a delivery cannot be read"},
		{"delivery", "", swapped(`"webhook_id":"`, `"webhook_id":"0`), "stands in the wrong place"},
		{"delivery", "", swapped(`contact.created`, `contact.deleted`), "stands in the wrong place"},
		{"delivery", "", swapped(`"sequence":`, `"sequence":1`), "stands in the wrong place"},
		{"delivery", "", swapped(`"change":"`, `"change":"0`), "stands in the wrong place"},
		{"delivery", "", swapped(`"org":`, `"org":1`), "stands in the wrong place"},
		{"delivery", "", swapped(`"created_at":"2`, `"created_at":"3`), "stands in the wrong place"},
		{"delivery", "", func(i *raw.Item) { i.PK = i.PK[:len(i.PK)-8] + "20200101" }, "stands in the wrong place"},
		{"delivery", "", swapped(`"record_id":"`, `"record_id":"0`), "has no body"},
		{"delivery", `"status":"pending"`, swapped(`"status":"pending"`, `"status":"failed"`), "a status that does not fit"},
		{"delivery", `"status":"delivered"`, swapped(`"status":"delivered"`, `"status":"pending"`), "a status that does not fit"},
		{"delivery", `"made":3`, remove, "is of a delivery to"},
		{"delivery", `"status":"delivered"`, remove, "is of a delivery to"},
		{"delivery", `"made":3`, swapped(`"made":3`, `"made":4`), "has no due item"},
		{"webhook body", "", remove, "has no body"},
		{"webhook body", "", swapped(`"id":"0`, `"id":"1`), "has no place for its id"},
		{"state of a webhook endpoint", "", swapped(`{`, `[`), "cannot be read"},
		{"state of a webhook endpoint", "", otherPartition, "a state belongs to the endpoint"},
		{"record", `"url":"`, remove, "a state belongs to the endpoint"},
		{"record", `"url":"`, remove, "delivery"},
		{"record", `"url":"`, remove, "due item"},
		{"due item", `"attempt":4`, remove, "has no due item"},
		{"due item", `"attempt":4`, swapped(`"attempt":4`, `"attempt":5`), "a due item of"},
		{"due item", `"attempt":4`, swapped(`"at":"2`, `"at":"3`), "a due item of"},
		{"due item", `"mode":"redelivery"`, swapped(`"id":"0`, `"id":"1`), "a due item of"},
		{"due item", `"mode":"redelivery"`, swapped(`"id":"`, `"id":"x`), "a due item of"},
		{"due item", `"mode":"redelivery"`, swapped(`"endpoint":"`, `"endpoint":"0`), "which is not there"},
		{"due item", `"replay":{`, swapped(`"part":0`, `"part":1`), "a due item of"},
		{"due item", `"replay":{`, swapped(`"endpoint":"`, `"endpoint":"0`), "which is not there"},
		{"due item", "", swapped(`{`, `[`), "names no organization"},
		{"due item", "", swapped(`"org":`, `"was":`), "names no organization"},
		{"due item", "", func(i *raw.Item) { i.Expires = 0 }, "has no ttl"},
	} {
		t.Run(c.kind+c.text+" "+c.problem, func(t *testing.T) {
			all := slices.Clone(whole)
			c.damage(all.first(t, c.kind, c.text))
			require.Contains(t, strings.Join(all.report(t).Problems, "\n"), c.problem)
		})
	}
	for _, text := range damaged(whole.first(t, "due item", `"replay":{`).Data) {
		all := slices.Clone(whole)
		all.first(t, "due item", `"replay":{`).Data = text
		require.NotPanics(t, func() { all.report(t) }, text)
	}
}

// TestTheProgressOfTheSweeperIsChecked: the sweeper finds no due item before its progress.
func TestTheProgressOfTheSweeperIsChecked(t *testing.T) {
	_, _, now := posted(t)
	whole := now()
	at := slices.IndexFunc(whole, func(i raw.Item) bool { return i.Pattern().Name == delivery.Swept.Name })
	later := fmt.Sprintf(`{"minute":%d}`, time.Now().Add(time.Minute).Unix()/60)
	for data, problem := range map[string]string{later: "2 due items are before", "[": "cannot be read", "{}": "", `{"minute":1}`: ""} {
		all := slices.Clone(whole)
		all[at].Data = data
		lines := strings.Join(all.report(t).Problems, "\n")
		require.Contains(t, lines, problem)
		require.Equal(t, problem == "", lines == "", lines)
	}
	require.Contains(t, slices.Delete(slices.Clone(whole), at, at+1).report(t).Problems, "3 due items are before the progress of the sweeper, or there is none")
}

// TestLegalLeftoversOfDeliveries: what a process leaves that ends at any step, and what maintenance
// and the time to live leave, is no problem.
func TestLegalLeftoversOfDeliveries(t *testing.T) {
	s, p, now := posted(t)
	whole := now()
	remove := func(all items, kind, text string) items {
		return slices.DeleteFunc(all, func(i raw.Item) bool { return i.Pattern().Name == kind && strings.Contains(i.Data, text) })
	}
	sound := func(what string, all items) {
		t.Helper()
		require.Empty(t, all.report(t).Problems, what)
	}
	sound("a delivery without an attempt, and no message", whole)
	sound("a sweeper that has removed what it sent", remove(slices.Clone(whole), "due item", `"mode":`))

	sent := remove(slices.Clone(whole), "due item", `"attempt":4`)
	d := sent.first(t, "delivery", `"made":3`)
	_, rest, _ := strings.Cut(d.Data, `"next_attempt_at":"`)
	next, _, _ := strings.Cut(rest, `"`)
	d.Data = strings.Replace(d.Data, next, time.Now().Add(-time.Minute).UTC().Format(time.RFC3339), 1)
	sound("an attempt that the sweeper has sent", sent)

	_, err := p.Cancel(t.Context(), p.org, p.endpoint, whole.first(t, "delivery", `"made":3`).SK)
	require.NoError(t, err)
	sound("a delivery that has ended, with its due item", now())

	p.at = time.Now().Add(-delivery.Keep - time.Minute)
	p.post(500, 500, 500)
	old := now()
	sound("what has expired and is there", old)
	sound("a body that has expired", remove(slices.Clone(old), "webhook body", "").with(bodies(whole)...))
	sound("a due item of a delivery that has expired", slices.DeleteFunc(old, func(i raw.Item) bool {
		return i.Pattern().Name == "delivery" && i.Expires < time.Now().Unix()
	}))

	p.at = time.Now()
	s.Call(t, 200, "DELETE", "/v1/webhooks/"+p.endpoint, nil)
	sound("deliveries to a deleted endpoint", now())
	require.NoError(t, p.Forget(t.Context(), p.org, p.endpoint))
	forgotten := now()
	sound("due items of a deleted endpoint", forgotten)
	months := func() time.Time { return time.Now().Add(40 * 24 * time.Hour) }
	require.NoError(t, purge.Store{Table: p.Table, Now: months, Until: time.Now(), Counts: &purge.Counts{}}.Records(t.Context(), p.org, 0))
	purged := now()
	require.NotEqual(t, len(forgotten), len(purged))
	sound("due items of a purged endpoint", purged)
}

// bodies are the bodies of webhooks.
func bodies(all items) items {
	return slices.DeleteFunc(slices.Clone(all), func(i raw.Item) bool { return i.Pattern().Name != "webhook body" })
}
