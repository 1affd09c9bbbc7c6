package webhooks_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/webhook"
)

// The tests of this file follow changes through the bus, the matcher and the deliverer of a
// running service to a receiver on this machine.

// patience is longer than the minute between two runs of the deployed sweeper.
const (
	patience = 100 * time.Second
	pause    = 20 * time.Millisecond
)

// newRunning returns a caller of a service with its workers.
func newRunning(t *testing.T) *desk {
	t.Helper()
	d := &it.Client{Stack: stacktest.Start(t, stacktest.Publishing()), T: t}
	return &desk{Client: d, clock: new(clock)}
}

// deliveries returns the deliveries of an endpoint by a query, such as status=pending.
func (d *desk) deliveries(id string, query ...string) it.Page {
	d.T.Helper()
	var p it.Page
	d.Call(d.T, http.StatusOK, http.MethodGet, collection+"/"+id+"/deliveries"+it.Query(query), nil).Into(d.T, &p)
	return p
}

// await returns the deliveries of a query once there are n.
func (d *desk) await(id string, n int, query ...string) (all []entity) {
	d.T.Helper()
	d.eventually(func() bool {
		all = d.deliveries(id, query...).Results
		return len(all) == n
	})
	return all
}

// attempted returns a delivery once it has n attempts.
func (d *desk) attempted(id, delivery string, n int) (found entity) {
	d.T.Helper()
	d.eventually(func() bool {
		found = it.ByID(d.T, d.deliveries(id).Results, delivery)
		return len(found.List("attempts")) >= n
	})
	return found
}

// eventually waits until a condition holds. The condition may end the test.
func (d *desk) eventually(holds func() bool) {
	d.T.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(pause) {
		require.True(d.T, time.Now().Before(deadline), "the condition does not hold")
	}
}

func (d *desk) act(status int, id, delivery, act string) entity {
	d.T.Helper()
	return d.call(status, http.MethodPost, "/"+id+"/deliveries/"+delivery+"/"+act, nil)
}

// switchable returns a receiver that answers with the status that the test sets.
func switchable(t *testing.T) (*receiver, *atomic.Int32) {
	t.Helper()
	status := new(atomic.Int32)
	status.Store(http.StatusOK)
	return newReceiver(t, func(w http.ResponseWriter) {
		w.WriteHeader(int(status.Load()))
		_, _ = fmt.Fprint(w, "an answer")
	}), status
}

// count returns the number of requests so far.
func (r *receiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.bodies)
}

func TestADeliveryIsListedWithItsAttempt(t *testing.T) {
	d := newRunning(t)
	r, _ := switchable(t)
	made := d.create(200, draft(object{"url": r.URL, "events": []any{"session.created", "session.updated"}}))
	id := made.ID()
	require.Empty(t, d.deliveries(id).Results)
	session := d.Create(200, object{"title": "Followed"})
	shown := d.await(id, 1, "status=delivered")[0]
	require.Equal(t, "attempts created_at event_id id kind next_attempt_at record_id sequence status webhook_id", it.KeysOf(shown))
	require.Equal(t, object{
		"webhook_id": id, "kind": "session.created", "event_id": float64(d.Event), "record_id": session.ID(), "sequence": 1.0, "status": "delivered",
		"next_attempt_at": nil,
	}, it.Pick(shown, "webhook_id", "kind", "event_id", "record_id", "sequence", "status", "next_attempt_at"))
	attempt := shown.List("attempts")[0]
	require.Equal(t, "at error latency_ms response status", it.KeysOf(attempt))
	require.Equal(t, object{"error": nil, "response": "an answer", "status": 200.0}, it.Pick(attempt, "error", "response", "status"))

	require.Equal(t, 1, r.count())
	require.True(t, verified(t, r, made["secret"]))
	require.Equal(t, shown.ID(), r.headers[0].Get("Webhook-Id"))
	require.Equal(t, "session.created", r.headers[0].Get("Lectern-Event"))
	requireBody(t, "session.created", r.bodies[0])
}

// TestBodiesMatchTheirSchemas in both forms, for every kind.
func TestBodiesMatchTheirSchemas(t *testing.T) {
	stacktest.Everywhere(t)
	d := newRunning(t)
	r, _ := switchable(t)
	for _, payload := range []string{"full", "thin"} {
		d.create(200, draft(object{"url": r.URL, "events": anyOf(webhook.Kinds), "payload": payload}))
	}
	person := d.Do(200, http.MethodPost, "/contacts/create", object{"email": "ada@speakers.example", "first_name": "Ada"}).ID()
	d.Do(200, http.MethodPut, "/contacts/"+person, object{"first_name": "Ada Maria"})
	// A contact that came to four more events a moment ago is read in a transaction.
	guest := d.Do(200, http.MethodPost, "/contacts/create", object{"email": "grace@speakers.example", "first_name": "Grace"}).ID()
	for range 4 {
		d.InNewEvent().Do(200, http.MethodPost, "/contacts/create", object{"email": "grace@speakers.example"})
	}
	d.Create(200, object{"title": "It stays", "participants": []any{object{"contact_id": guest, "core_role": "speaker"}}})
	session := d.Create(200, object{"title": "A talk", "participants": []any{object{"contact_id": person, "core_role": "speaker"}}}).ID()
	d.Put(200, session, object{"title": "Another talk", "participants": []any{}})
	d.Delete(200, session)
	company := d.Do(200, http.MethodPost, "/sponsors/create", object{"name": "Quay"}).ID()
	d.Do(200, http.MethodPost, "/exhibitors/create", object{"account_id": company})
	d.Do(200, http.MethodPut, "/sponsors/"+company, object{"name": "Quay Ltd"})
	for _, path := range []string{"/exhibitors/" + company, "/sponsors/" + company, "/contacts/" + person} {
		d.Do(200, http.MethodDelete, path, nil)
	}
	stand := d.Do(200, http.MethodPost, "/exhibitors/create", object{"name": "Pier"}).ID()
	d.Do(200, http.MethodPost, "/sponsors/create", object{"account_id": stand})
	d.Do(200, http.MethodPut, "/exhibitors/"+stand, object{"name": "Pier Ltd"})
	for _, path := range []string{"/sponsors/" + stand, "/exhibitors/" + stand} {
		d.Do(200, http.MethodDelete, path, nil)
	}
	seen := map[string]int{}
	d.eventually(func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		seen = map[string]int{}
		for _, h := range r.headers {
			seen[h.Get("Lectern-Event")]++
		}
		for _, kind := range webhook.Kinds {
			if seen[kind] < 2 {
				return false
			}
		}
		return true
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, body := range r.bodies {
		requireBody(t, r.headers[i].Get("Lectern-Event"), body)
	}
}

func TestDeliveriesAreFilteredAndPaged(t *testing.T) {
	d := newRunning(t)
	r, status := switchable(t)
	id := d.create(200, draft(object{"url": r.URL, "events": []any{"session.created", "session.updated"}})).ID()
	session := d.Create(200, object{"title": "One"})
	first := d.await(id, 1, "status=delivered")[0]
	status.Store(http.StatusInternalServerError)
	d.Put(200, session.ID(), object{"title": "Two"})
	second := d.await(id, 1, "kind=session.updated")[0]
	d.attempted(id, second.ID(), 1)

	require.Equal(t, []string{second.ID(), first.ID()}, it.Texts(d.deliveries(id).Results, "id"), "the latest comes first")
	for query, want := range map[string][]string{
		"status=delivered": {first.ID()}, "status=pending": {second.ID()}, "status=failed": {}, "status=cancelled": {},
		"kind=session.created": {first.ID()}, "kind=session.deleted": {},
		"since=" + second.Text("created_at"):                                        {second.ID()},
		"until=" + second.Text("created_at"):                                        {first.ID()},
		"status=pending&kind=session.created":                                       {},
		"since=" + second.Text("created_at") + "&until=" + first.Text("created_at"): {},
		"since=" + first.Text("created_at") + "&status=delivered":                   {first.ID()},
		"since=" + time.Now().Add(time.Hour).UTC().Format(time.RFC3339):             {},
		"until=" + time.Now().Add(-time.Hour).UTC().Format(time.RFC3339):            {},
	} {
		require.Equal(t, want, it.Texts(d.deliveries(id, query).Results, "id"), query)
	}
	page := d.deliveries(id, "page_size=1")
	require.Equal(t, []string{second.ID()}, it.Texts(page.Results, "id"))
	require.Equal(t, 2, page.Pagination.TotalResults)
	page = d.deliveries(id, "page_size=1", "page=2")
	require.Equal(t, []string{first.ID()}, it.Texts(page.Results, "id"))
	require.Equal(t, 2, page.Pagination.TotalPages)
	require.Empty(t, d.deliveries(id, "page_size=1", "page=3").Results)
}

func TestADeliveryIsSentAgainUnchanged(t *testing.T) {
	d := newRunning(t)
	r, _ := switchable(t)
	id := d.create(200, draft(object{"url": r.URL, "events": []any{"session.created"}})).ID()
	session := d.Create(200, object{"title": "As it was"})
	delivery := d.await(id, 1, "status=delivered")[0].ID()
	d.Put(200, session.ID(), object{"title": "As it is"})
	require.Equal(t, delivery, d.act(200, id, delivery, "redeliver").ID())
	shown := d.attempted(id, delivery, 2)
	require.Equal(t, "delivered", shown["status"])
	require.Equal(t, r.headers[0].Get("Webhook-Id"), r.headers[1].Get("Webhook-Id"))
	require.Equal(t, string(r.bodies[0]), string(r.bodies[1]))

	require.Equal(t, "Delivery not found", d.act(404, id, it.UnknownID, "redeliver")["message"])
	require.Equal(t, "Delivery not found", d.act(404, id, it.UnknownID, "cancel")["message"])
	other := d.create(200, draft(object{"url": r.URL})).ID()
	require.Equal(t, "Delivery not found", d.act(404, other, delivery, "redeliver")["message"], "of another endpoint")
}

func TestAPendingDeliveryIsCancelled(t *testing.T) {
	d := newRunning(t)
	r, status := switchable(t)
	status.Store(http.StatusInternalServerError)
	id := d.create(200, draft(object{"url": r.URL, "events": []any{"session.created"}})).ID()
	d.Create(200, object{"title": "Never there"})
	delivery := d.await(id, 1)[0].ID()
	pending := d.attempted(id, delivery, 1)
	require.Equal(t, "pending", pending["status"])
	require.NotNil(t, pending["next_attempt_at"])
	ended := d.act(200, id, delivery, "cancel")
	require.Equal(t, object{"status": "cancelled", "next_attempt_at": nil}, it.Pick(ended, "status", "next_attempt_at"))
	d.act(409, id, delivery, "cancel")

	status.Store(http.StatusOK)
	d.act(200, id, delivery, "redeliver")
	d.await(id, 1, "status=delivered")
	d.act(409, id, delivery, "cancel")
}

func TestARangeIsReplayed(t *testing.T) {
	d := newRunning(t)
	r, _ := switchable(t)
	id := d.create(200, draft(object{"url": r.URL, "events": []any{"session.created"}})).ID()
	begin := time.Now().UTC()
	for i := range 3 {
		d.Create(200, object{"title": fmt.Sprint("Session ", i)})
	}
	ids := it.Texts(d.await(id, 3, "status=delivered"), "id")
	body := object{"since": begin.Add(-time.Minute).Format(time.RFC3339), "until": begin.Add(time.Hour).Format(time.RFC3339)}
	replay := func(more object) entity {
		return d.call(200, http.MethodPost, "/"+id+"/deliveries/replay", it.Merged(body, more))
	}
	require.Equal(t, "failed", replay(object{"status": "failed"})["status"])
	replay(nil)
	for _, delivery := range ids {
		require.Len(t, d.attempted(id, delivery, 2).List("attempts"), 2)
	}
	require.Equal(t, 6, r.count())
	sent := map[string]int{}
	for _, h := range r.headers {
		sent[h.Get("Webhook-Id")]++
	}
	require.Equal(t, map[string]int{ids[0]: 2, ids[1]: 2, ids[2]: 2}, sent)
}

// TestDeliveriesOfOtherOrganizationsAreNotThere.
func TestDeliveriesOfOtherOrganizationsAreNotThere(t *testing.T) {
	d := newRunning(t)
	r, _ := switchable(t)
	id := d.create(200, draft(object{"url": r.URL, "events": []any{"session.created"}})).ID()
	d.Create(200, object{"title": "Ours"})
	delivery := d.await(id, 1, "status=delivered")[0].ID()
	other := *d
	other.Client = &it.Client{Stack: d.NewOrganization(t), T: t}
	for _, act := range []string{"redeliver", "cancel"} {
		require.Equal(t, "Webhook not found", other.act(404, id, delivery, act)["message"])
		own := other.create(200, draft()).ID()
		require.Equal(t, "Delivery not found", other.act(404, own, delivery, act)["message"])
	}
	other.Call(t, 404, http.MethodGet, collection+"/"+id+"/deliveries", nil)
}

// TestDeliveriesAreSeenByThoseWhoMayReadThem: a token that may not read a kind, or does not see an event,
// neither lists nor replays nor redelivers nor cancels such deliveries of an endpoint that it sees.
func TestDeliveriesAreSeenByThoseWhoMayReadThem(t *testing.T) {
	d := newRunning(t)
	r, status := switchable(t)
	status.Store(http.StatusInternalServerError)
	id := d.create(200, draft(object{"url": r.URL, "events": []any{"session.created", "contact.created"}})).ID()
	d.NewContact("ada@example.org", object{"first_name": "Ada"})
	d.Create(200, object{"title": "Here"})
	other := d.InNewEvent()
	other.Create(200, object{"title": "There"})
	byKind := map[string]string{}
	for _, one := range d.await(id, 3) {
		byKind[fmt.Sprintf("%s %v", one.Text("kind"), one["event_id"] == float64(d.Event))] = one.ID()
		d.attempted(id, one.ID(), 1)
	}
	here, there := byKind["session.created true"], byKind["session.created false"]
	contact := byKind["contact.created true"] + byKind["contact.created false"]
	require.Len(t, byKind, 3)
	d.put(200, id, object{"event_ids": []any{d.Event}})
	scopes := []string{"read:events", "write:events", "read:sessions"}
	_, text := d.token(object{"scopes": scopes})
	_, limited := d.token(object{"scopes": append(scopes, "read:contacts"), "event_ids": []any{d.Event}})
	all := map[string][]string{text: {contact}, limited: {there}}
	for token, hidden := range all {
		guest, seen := d.with(token), len(byKind)-1
		if token == limited && byKind["contact.created true"] == "" { // A contact is of the organization.
			hidden, seen = append(hidden, contact), seen-1
		}
		listed := it.Texts(guest.deliveries(id).Results, "id")
		require.Len(t, listed, seen)
		require.Equal(t, seen, guest.deliveries(id).Pagination.TotalResults)
		for _, one := range hidden {
			require.NotContains(t, listed, one)
			for _, act := range []string{"redeliver", "cancel"} {
				require.Equal(t, "Delivery not found", guest.act(404, id, one, act)["message"])
			}
		}
	}
	status.Store(http.StatusOK)
	d.with(limited).call(200, http.MethodPost, "/"+id+"/deliveries/replay", object{
		"since": time.Now().Add(-time.Hour).UTC().Format(time.RFC3339), "until": time.Now().Add(time.Minute).UTC().Format(time.RFC3339),
	})
	d.attempted(id, here, 2)
	require.Equal(t, here, d.with(text).act(200, id, here, "redeliver").ID())
	d.attempted(id, here, 3)
	require.NotEmpty(t, it.ByID(t, d.deliveries(id).Results, here).List("attempts"))
	attempts := it.ByID(t, d.deliveries(id).Results, there).List("attempts")
	for _, one := range attempts { // The second scheduled attempt comes after 4 seconds.
		if sentAt(t, one).Sub(sentAt(t, attempts[0])) < 4*time.Second {
			require.NotEqual(t, 200.0, one["status"], "the other event's delivery was not replayed")
		}
	}
}

// sentAt returns the time of an attempt.
func sentAt(t *testing.T, attempt entity) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, attempt.Text("at"))
	require.NoError(t, err)
	return at
}
