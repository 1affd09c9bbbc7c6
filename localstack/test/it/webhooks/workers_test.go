package webhooks_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// sender is a caller whose changes are published and delivered, with a receiver on this machine.
type sender struct {
	*it.Client
	*receiver
	webhook entity
}

func newSender(t *testing.T, draft object, answer func(http.ResponseWriter)) *sender {
	t.Helper()
	s := &sender{Client: &it.Client{Stack: stacktest.Start(t, stacktest.Publishing()), T: t}, receiver: newReceiver(t, answer)}
	s.webhook = s.call(http.StatusOK, http.MethodPost, "/create", it.Merged(object{"url": s.receiver.URL}, draft))
	return s
}

func (s *sender) call(status int, method, path string, body any) entity {
	s.T.Helper()
	return s.Client.Call(s.T, status, method, collection+path, body).JSON(s.T)
}

// received waits for n requests and returns them, by their sequence.
func (s *sender) received(n int) (headers []http.Header, bodies []entity) {
	s.T.Helper()
	require.Eventually(s.T, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.bodies) >= n
	}, patience, pause)
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Len(s.T, s.bodies, n)
	order := make([]int, n)
	for i, text := range s.bodies {
		order[i] = i
		var body entity
		require.NoError(s.T, json.Unmarshal(text, &body))
		bodies = append(bodies, body)
	}
	slices.SortFunc(order, func(a, b int) int {
		return int(bodies[a].At("metadata.sequence").(float64) - bodies[b].At("metadata.sequence").(float64))
	})
	sorted := make([]entity, n)
	for i, at := range order {
		sorted[i], headers = bodies[at], append(headers, s.headers[at])
	}
	return headers, sorted
}

// deliveries returns the deliveries of the webhook that have a status.
func (s *sender) deliveries(status string) []entity {
	s.T.Helper()
	var p it.Page
	s.Client.Call(s.T, http.StatusOK, http.MethodGet, collection+"/"+s.webhook.ID()+"/deliveries?status="+status, nil).Into(s.T, &p)
	return p.Results
}

// TestAContactUpdateIsDelivered: one request that changes standard and custom fields gives two
// deliveries with ids of their own, from the source public_api (spec.md section 6).
func TestAContactUpdateIsDelivered(t *testing.T) {
	stacktest.Everywhere(t)
	s := newSender(t, object{"events": []any{"contact.updated"}}, ok)
	s.Do(200, http.MethodPost, "/fields/create", object{"name": "Badge", "type": "text", "module_id": "contact"})
	made := s.NewContact("ada@example.org", object{"first_name": "Ada"})
	path := s.EventPath("/contacts/" + made.ID())
	s.Call(t, 200, http.MethodPut, path, object{"last_name": "Quay", "custom_fields": object{"badge": "blue"}})
	shown := s.Call(t, 200, http.MethodGet, path, nil)

	headers, bodies := s.received(2)
	require.Equal(t, []any{"last_name"}, bodies[0].At("metadata.changed"))
	require.Equal(t, []any{"custom_fields.badge"}, bodies[1].At("metadata.changed"))
	require.NotEqual(t, headers[0].Get("webhook-id"), headers[1].Get("webhook-id"))
	for i, body := range bodies {
		require.Equal(t, headers[i].Get("webhook-id"), body.At("metadata.id"))
		require.Equal(t, "contact.updated", body.At("metadata.action"))
		require.Equal(t, "public_api", body.At("data.sourceOfChange"))
		require.True(t, strings.HasSuffix(body.At("metadata.resource_url").(string), path))
	}
	want := append(bytes.TrimSuffix(bytes.TrimSpace(shown.Body), []byte("}")), `,"sourceOfChange":"public_api"},"metadata":`...)
	require.True(t, bytes.HasPrefix(s.bodies[0], append([]byte(`{"data":`), want...)), "data is what the GET shows: %s", s.bodies[0])

	require.Eventually(t, func() bool { return len(s.deliveries("delivered")) == 2 }, patience, pause)
	for _, d := range s.deliveries("delivered") {
		require.Len(t, d.List("attempts"), 1)
		require.Equal(t, 200.0, d.List("attempts")[0]["status"])
		require.Nil(t, d["next_attempt_at"])
	}
}

// TestARedeliveryIsSentUnchanged, and a replay sends all deliveries of a time again.
func TestARedeliveryIsSentUnchanged(t *testing.T) {
	stacktest.Everywhere(t)
	s := newSender(t, object{"events": []any{"session.created"}, "payload": "thin"}, ok)
	s.NewSessions("One", "Two")
	s.received(2)
	require.Eventually(t, func() bool { return len(s.deliveries("delivered")) == 2 }, patience, pause)
	id := s.deliveries("delivered")[0].ID()
	s.Call(t, 200, http.MethodPost, collection+"/"+s.webhook.ID()+"/deliveries/"+id+"/redeliver", nil)
	s.received(3)
	s.Call(t, 200, http.MethodPost, collection+"/"+s.webhook.ID()+"/deliveries/replay", object{
		"since": time.Now().Add(-26 * time.Hour).UTC().Format(time.RFC3339), "until": time.Now().Add(time.Minute).UTC().Format(time.RFC3339),
	})
	s.received(5)
	sent := map[string][]string{}
	for i, header := range s.headers {
		id := header.Get("webhook-id")
		sent[id] = append(sent[id], string(s.bodies[i]))
	}
	require.Len(t, sent, 2)
	for _, bodies := range sent {
		require.Len(t, slices.Compact(bodies), 1)
	}
	require.Len(t, sent[id], 3)
}

// TestAReceiverThatIsGone is disabled, and its deliveries end.
func TestAReceiverThatIsGone(t *testing.T) {
	stacktest.Everywhere(t)
	s := newSender(t, object{"events": []any{"session.created"}}, func(w http.ResponseWriter) { w.WriteHeader(http.StatusGone) })
	s.NewSessions("One")
	s.received(1)
	require.Eventually(t, func() bool { return len(s.deliveries("failed")) == 1 }, patience, pause)
	shown := s.call(200, http.MethodGet, "/"+s.webhook.ID(), nil)
	require.Equal(t, false, shown["enabled"])
	require.Equal(t, "The endpoint answered 410 Gone.", shown["disabled_reason"])
}

// TestAnAttemptFollowsSecondsLater: a receiver that fails once gets the delivery again, under the
// same id.
func TestAnAttemptFollowsSecondsLater(t *testing.T) {
	stacktest.Everywhere(t)
	first := make(chan bool, 1)
	first <- true
	s := newSender(t, object{"events": []any{"session.created"}}, func(w http.ResponseWriter) {
		select {
		case <-first:
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			ok(w)
		}
	})
	s.NewSessions("One")
	headers, _ := s.received(2)
	require.Equal(t, headers[0].Get("webhook-id"), headers[1].Get("webhook-id"))
	require.Equal(t, string(s.bodies[0]), string(s.bodies[1]))
	require.Eventually(t, func() bool { return len(s.deliveries("delivered")) == 1 }, patience, pause)
	require.Len(t, s.deliveries("delivered")[0].List("attempts"), 2)
}

// TestTheDeliveriesOfAPausedEndpointWait: they are due an hour later, and not cancelled.
func TestTheDeliveriesOfAPausedEndpointWait(t *testing.T) {
	stacktest.Everywhere(t)
	d := newRunning(t)
	id, text := d.token(object{"user_id": d.Member, "scopes": []string{"read:sessions", "read:events", "write:events"}})
	r := newReceiver(t, func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) })
	made := d.with(text).create(200, draft(object{"url": r.URL, "events": []any{"session.created"}}))
	s := &sender{Client: d.Client, receiver: r, webhook: made}
	s.NewSessions("One")
	s.received(1)
	d.Operator(t, "token-revoke", object{"org_id": d.Org, "token_id": id})
	require.Eventually(t, func() bool {
		next, err := time.Parse(time.RFC3339Nano, s.deliveries("pending")[0]["next_attempt_at"].(string))
		return err == nil && time.Until(next) > 50*time.Minute
	}, patience, pause)
	s.received(1)
}

// TestANewOwnerGetsNothingThatItMayNotRead: a token that may not read contacts takes over an endpoint
// for contacts. What was delivered before does not come when another token asks for it, and pending
// deliveries do not come either.
func TestANewOwnerGetsNothingThatItMayNotRead(t *testing.T) {
	d := newRunning(t)
	former := newReceiver(t, func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) })
	made := d.create(200, draft(object{"url": former.URL, "events": []any{"contact.created", "session.created"}}))
	d.NewContact("ada@example.org", object{"first_name": "Ada"})
	d.await(made.ID(), 1, "status=pending", "kind=contact.created")
	_, text := d.token(object{"user_id": d.Member, "scopes": []string{"read:sessions", "read:events", "write:events"}})
	mine := newReceiver(t, ok)
	thief := d.with(text)
	thief.put(200, made.ID(), object{"url": mine.URL, "events": []any{"session.created"}})
	d.call(200, http.MethodPost, "/"+made.ID()+"/deliveries/replay", object{
		"since": time.Now().Add(-time.Hour).UTC().Format(time.RFC3339), "until": time.Now().Add(time.Minute).UTC().Format(time.RFC3339),
	})
	d.eventually(func() bool {
		for _, a := range d.deliveries(made.ID(), "kind=contact.created").Results[0].List("attempts") {
			if a["error"] == "Not sent: the token that wrote the endpoint last may not read the change." {
				return true
			}
		}
		return false
	})
	d.NewSessions("One")
	d.await(made.ID(), 1, "status=delivered", "kind=session.created")
	mine.mu.Lock()
	defer mine.mu.Unlock()
	require.Len(t, mine.bodies, 1, "what the owner may read still comes")
	require.NotContains(t, string(mine.bodies[0]), "Ada")
}

// TestARepublishedChangeReachesAnEndpointThatIsEnabledLater: its delivery keeps the stored body longer.
func TestARepublishedChangeReachesAnEndpointThatIsEnabledLater(t *testing.T) {
	stacktest.Everywhere(t)
	s := newSender(t, object{"events": []any{"session.created"}}, ok)
	off := s.call(200, http.MethodPost, "/create", object{"url": s.receiver.URL, "events": []any{"session.created"}, "enabled": false})
	since := time.Now().Add(-time.Minute).UTC().Format(time.RFC3339)
	s.NewSessions("One")
	s.received(1)
	s.call(200, http.MethodPut, "/"+off.ID(), object{"enabled": true})
	time.Sleep(2 * time.Second) // A time to live is in whole seconds.
	s.Operator(t, "republish", object{"since": since, "org_id": s.Org})
	headers, _ := s.received(2)
	require.NotEqual(t, headers[0].Get("webhook-id"), headers[1].Get("webhook-id"), "each endpoint has its own delivery")
}
