package batteries_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/shared/bus"
	"lectern/shared/change"
	"lectern/shared/delivery"
	"lectern/shared/table"
	"lectern/shared/webhook"
)

const (
	// settleTime bounds the time until all deliveries are made after a start.
	settleTime = time.Minute
	// maxHurried is the number of kills after each other without a wait for the deliveries. A message
	// that is in flight at five kills is dead, since it may be the message that ends the process.
	maxHurried = 2
	// longestStart is about the time of a start.
	longestStart = 700 * time.Millisecond
	// slowAnswer is the longest time for which the receiver holds an answer, so that kills come
	// between a request and the record of its outcome.
	slowAnswer = 40 * time.Millisecond
)

// publication is a published kind of a record's change, as a webhook names it.
type publication struct {
	record, kind string
	sequence     int64
}

// inbox is a receiver that lives longer than the service. It refuses the first request of some
// webhooks, so that their second attempts wait in the queue when the service is killed.
type inbox struct {
	*httptest.Server
	verifier *standardwebhooks.Webhook

	mu sync.Mutex
	// ids has the webhook-ids of each publication.
	ids map[publication][]string
	// bodies has the body of each webhook-id. requests and accepted count its requests and those
	// that were not refused.
	bodies             map[string]string
	requests, accepted map[string]int
	// faults are the requests that no service sends.
	faults []string
}

// newInbox starts a receiver.
func newInbox(t *testing.T) *inbox {
	t.Helper()
	in := &inbox{ids: map[publication][]string{}, bodies: map[string]string{}, requests: map[string]int{}, accepted: map[string]int{}}
	in.Server = httptest.NewServer(in)
	t.Cleanup(in.Close)
	return in
}

// ServeHTTP keeps the request.
func (in *inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // The service was killed.
	}
	id := r.Header.Get(standardwebhooks.HeaderWebhookID)
	if !in.keep(id, body, r.Header) {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if id != "" {
		time.Sleep(slowAnswer * time.Duration(id[len(id)-2]%8) / 8)
	}
	w.WriteHeader(http.StatusNoContent)
}

// keep notes a request and reports whether it is to be accepted: not the first of each webhook whose
// id ends with 0.
func (in *inbox) keep(id string, body []byte, header http.Header) bool {
	var sent struct {
		Data     struct{ ID string }
		Metadata struct {
			ID          string
			Action      string
			Sequence    int64
			ResourceURL string `json:"resource_url"`
		}
	}
	problem := json.Unmarshal(body, &sent)
	in.mu.Lock()
	defer in.mu.Unlock()
	if problem == nil {
		problem = in.verifier.Verify(body, header)
	}
	was, again := in.bodies[id]
	if problem != nil || id == "" || sent.Metadata.ID != id || path.Base(sent.Metadata.ResourceURL) != sent.Data.ID || again && was != string(body) {
		in.faults = append(in.faults, fmt.Sprintf("%q: %v: %s", id, problem, body))
	}
	p := publication{sent.Data.ID, sent.Metadata.Action, sent.Metadata.Sequence}
	if !slices.Contains(in.ids[p], id) {
		in.ids[p] = append(in.ids[p], id)
	}
	in.bodies[id] = string(body)
	in.requests[id]++
	if in.requests[id] == 1 && id != "" && id[len(id)-1] == '0' {
		return false
	}
	in.accepted[id]++
	return true
}

// missing returns the first of the webhook-ids that was not received; with accepted, that was refused
// each time.
func (in *inbox) missing(want map[publication]string, accepted bool) string {
	in.mu.Lock()
	defer in.mu.Unlock()
	count := in.requests
	if accepted {
		count = in.accepted
	}
	for p, id := range want {
		if count[id] == 0 {
			return fmt.Sprint(p, " ", id)
		}
	}
	return ""
}

// check compares the requests with the changes of the table: each publication has come under its own
// id alone, and nothing else has come.
func (in *inbox) check(t *testing.T, want map[publication]string) {
	t.Helper()
	in.mu.Lock()
	defer in.mu.Unlock()
	require.Empty(t, in.faults)
	sequences := map[string][]int64{}
	for p, ids := range in.ids {
		require.Equal(t, []string{want[p]}, ids, "%+v", p)
		sequences[p.record] = append(sequences[p.record], p.sequence)
	}
	require.Len(t, in.ids, len(want))
	for record, got := range sequences {
		slices.Sort(got)
		for i, sequence := range got {
			require.EqualValues(t, i+1, sequence, "%s has a gap", record)
		}
	}
}

// again counts the webhooks that were accepted more than once.
func (in *inbox) again() (n int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, times := range in.accepted {
		if times > 1 {
			n++
		}
	}
	return n
}

// TestKillWebhooks kills the service and its engine at random moments of a write load, and starts
// them again. Every committed change is delivered, each of its kinds under a single webhook-id, and
// nothing else is.
func TestKillWebhooks(t *testing.T) {
	k, in := newKilling(t), newInbox(t)
	made := k.caller.Call(t, 200, "POST", "/v1/webhooks/create", map[string]any{"url": in.URL, "events": webhook.Kinds}).JSON(t)
	var err error
	in.verifier, err = standardwebhooks.NewWebhook(made["secret"].(string))
	require.NoError(t, err)
	endpoint := made["id"].(string)
	rounds, hurried, starts := it.Size(10, 100), 0, 0
	var slowest time.Duration
	for round := range rounds {
		k.round(round)
		last := round == rounds-1
		if hurried++; hurried <= maxHurried && chance(k.r, 2) && !last {
			continue // The next kill comes while the service catches up.
		}
		if hurried = 0; last || chance(k.r, 3) {
			starts++
			k.killStart()
		}
		began, want := time.Now(), k.published(endpoint)
		k.settled(func() string { return in.missing(want, last) })
		slowest = max(slowest, time.Since(began))
		in.check(t, want)
		audited(t, k.engine.Dump(t), k.caller.Org, k.caller.Event)
	}
	want := k.published(endpoint)
	k.settled(func() string { return k.open(endpoint, want) })
	in.check(t, want)
	audited(t, k.engine.Dump(t), k.caller.Org, k.caller.Event)
	k.report()
	t.Logf("killed %d starts too; %d webhooks came, %d of them more than once, at most %v after a start", starts, len(want), in.again(), slowest)
}

// killStart kills the service and then, at a random moment, the next start of it.
func (k *killing) killStart() {
	k.t.Helper()
	k.kill(killBoth, 0)
	k.launch()
	time.Sleep(time.Duration(k.r.IntN(int(longestStart))))
	k.kill(killService, 0)
	k.start()
}

// published returns the webhook-id of each publication of the table's change records.
func (k *killing) published(endpoint string) map[publication]string {
	k.t.Helper()
	all := map[publication]string{}
	for key, item := range k.engine.Dump(k.t).Below(table.Org(k.caller.Org)) {
		if item.Kind != table.KindChange {
			continue
		}
		var r change.Record
		require.NoError(k.t, json.Unmarshal([]byte(item.Data), &r), key)
		for _, m := range bus.Messages(r) {
			if m.Kind == bus.FieldsChanged {
				continue // No webhook has this kind.
			}
			p := publication{m.RecordID, m.Kind, m.Sequence}
			require.Contains(k.t, webhook.Kinds, m.Kind)
			require.Empty(k.t, all[p], "%+v is published twice", p)
			all[p] = delivery.ID(m, endpoint)
		}
	}
	return all
}

// open returns a delivery of the table that has not ended as delivered; if all have, it compares
// them with the ids that were published.
func (k *killing) open(endpoint string, want map[publication]string) string {
	k.t.Helper()
	var ids []string
	for key, item := range k.engine.Dump(k.t).Below(table.Org(k.caller.Org) + "#W#" + endpoint) {
		if key.SK == "S" {
			continue // The state of the endpoint, which has failed.
		}
		var d delivery.Delivery
		require.NoError(k.t, json.Unmarshal([]byte(item.Data), &d))
		if d.Status != delivery.Delivered {
			return fmt.Sprint(d.Status, " ", d.ID, " ", d.Attempts)
		}
		require.Equal(k.t, d.ID, want[publication{d.RecordID, d.Kind, d.Sequence}])
		ids = append(ids, d.ID)
	}
	if len(ids) < len(want) {
		return fmt.Sprint("a delivery of ", len(want), ", of which there are ", len(ids))
	}
	return ""
}

// settled waits until missing finds nothing.
func (k *killing) settled(missing func() string) {
	k.t.Helper()
	deadline := time.Now().Add(settleTime)
	for what := missing(); what != ""; what = missing() {
		if time.Now().After(deadline) {
			require.Fail(k.t, "the deliveries do not settle", "missing is %s", what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
