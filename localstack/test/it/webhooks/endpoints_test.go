package webhooks_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/functions/webhooks"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/bus"
	"lectern/shared/delivery"
	"lectern/shared/table"
)

const shape = "created_at description disabled_at disabled_reason enabled event_ids events headers id paused_reason payload secret_rotated_at updated_at url"

func TestAnEndpointIsCreatedReadChangedAndDeleted(t *testing.T) {
	d := newDesk(t)
	require.Empty(t, d.list())
	made := d.create(200, draft(object{
		"headers": object{"X-Key": "of the receiver", "authorization": "Bearer x"}, "description": "Agenda", "event_ids": []any{d.Event}, "payload": "thin",
	}))
	secret := made.Text("secret")
	require.Regexp(t, `^whsec_[A-Za-z0-9+/]{43}=$`, secret)
	delete(made, "secret")
	id := made.ID()
	require.Equal(t, shape, it.KeysOf(made))
	require.Equal(t, object{
		"url": "https://hooks.example.org/lectern", "events": []any{"session.updated", "session.deleted"}, "event_ids": []any{float64(d.Event)},
		"headers": object{"X-Key": "***", "authorization": "***"}, "description": "Agenda", "enabled": true, "payload": "thin",
		"secret_rotated_at": nil, "disabled_at": nil, "disabled_reason": nil, "paused_reason": nil, "updated_at": made["created_at"],
	}, it.Pick(made, "url", "events", "event_ids", "headers", "description", "enabled", "payload",
		"secret_rotated_at", "disabled_at", "disabled_reason", "paused_reason", "updated_at"))
	require.Equal(t, made, d.get(200, id))
	require.Equal(t, []entity{made}, d.list())

	plain := d.create(200, draft())
	require.Equal(t, object{"event_ids": []any{}, "headers": object{}, "description": nil, "enabled": true, "payload": "full"},
		it.Pick(plain, "event_ids", "headers", "description", "enabled", "payload"))
	require.NotEqual(t, secret, plain["secret"])
	require.Equal(t, []string{id, plain.ID()}, it.Texts(d.list(), "id"))

	changed := d.put(200, id, object{
		"url": "https://Other.example.org:8443/x?a=b", "enabled": false, "description": nil, "headers": object{"X-Team": "programme"},
	})
	want := it.Merged(object(made), object{
		"url": "https://other.example.org:8443/x?a=b", "enabled": false, "description": nil, "updated_at": changed["updated_at"],
		"headers": object{"X-Team": "***"},
	})
	require.Equal(t, entity(want), changed, "what is not sent stays")
	again := d.put(200, id, changed)
	require.Greater(t, again.Text("updated_at"), changed.Text("updated_at"))
	again["updated_at"] = changed["updated_at"]
	require.Equal(t, changed, again, "what was read can be sent back")

	gone := d.remove(200, id)
	require.NotEmpty(t, gone["deleted_at"])
	require.NotContains(t, gone, "secret")
	require.Equal(t, []string{plain.ID()}, it.Texts(d.list(), "id"))
	for _, answer := range []entity{
		d.get(404, id), d.put(404, id, object{}), d.remove(404, id), d.rotate(404, id), d.ping(404, id), d.get(404, it.UnknownID),
	} {
		require.Equal(t, "Webhook not found", answer["message"])
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		it.RequireInvalid(t, d.call(400, method, "/no-uuid", nil), "webhookId")
	}
	it.EngineOf(t, d.Stack).RequireWhole(t)
}

func TestTheListHasPages(t *testing.T) {
	d := newDesk(t)
	var ids []string
	for range 3 {
		ids = append(ids, d.create(200, draft()).ID())
	}
	var got []string
	for page := range 3 {
		var p it.Page
		d.Call(t, 200, http.MethodGet, fmt.Sprintf("%s?page_size=2&page=%d", collection, page+1), nil).Into(t, &p)
		got = append(got, it.Texts(p.Results, "id")...)
		require.Equal(t, 3, p.Pagination.TotalResults)
		require.Equal(t, 2, p.Pagination.TotalPages)
	}
	require.Equal(t, ids, got)
	it.RequireInvalid(t, d.Call(t, 400, http.MethodGet, collection+"?page_size=101", nil).JSON(t), "page_size")
}

func TestAStaleChangeIsRefused(t *testing.T) {
	d := newDesk(t)
	made := d.Call(t, 200, http.MethodPost, collection+"/create", draft())
	seen, tag := entity(made.JSON(t)), made.Header.Get("ETag")
	read := d.Call(t, 200, http.MethodGet, collection+"/"+seen.ID(), nil).Header.Get("ETag")
	d.Call(t, 304, http.MethodGet, collection+"/"+seen.ID(), stacktest.WithHeaders(nil, "If-None-Match", read))
	d.put(200, seen.ID(), object{"enabled": false}, "If-Match", tag)
	for _, answer := range []entity{
		d.put(409, seen.ID(), object{"enabled": true, "updated_at": seen["updated_at"]}), d.put(409, seen.ID(), object{}, "If-Match", tag),
		d.remove(409, seen.ID(), "If-Match", tag), d.rotate(409, seen.ID(), "If-Match", tag),
	} {
		require.Equal(t, "STALE_UPDATE", answer["code"])
	}
	require.Equal(t, false, d.get(200, seen.ID())["enabled"])
	it.RequireError(t, d.put(400, seen.ID(), object{}, "If-Match", "no tag"), "VALIDATION_ERROR", "If-Match")
}

func TestThereAreTwentyEndpointsAtMost(t *testing.T) {
	d := newDesk(t)
	first := d.create(200, draft()).ID()
	for range 19 {
		d.create(200, draft())
	}
	refusal := d.create(409, draft())
	require.Equal(t, "LIMIT_REACHED", refusal["code"])
	require.Equal(t, 20.0, refusal.At("details.maximum"))
	d.remove(200, first)
	d.create(200, draft())
	require.Len(t, d.list(), 20)
}

// TestARepeatedRequestShowsNoSecret: under its key a request is done once.
func TestARepeatedRequestShowsNoSecret(t *testing.T) {
	d := newDesk(t)
	made := d.create(200, draft(), it.KeyHeader, "make")
	require.NotEmpty(t, made.Text("secret"))
	repeated := d.Call(t, 200, http.MethodPost, collection+"/create", stacktest.WithHeaders(draft(), it.KeyHeader, "make"))
	require.Equal(t, "true", repeated.Header.Get("Idempotent-Replayed"))
	again := entity(repeated.JSON(t))
	require.NotContains(t, again, "secret")
	require.Equal(t, d.get(200, made.ID()), again)
	require.Len(t, d.list(), 1)
	require.Equal(t, "IDEMPOTENCY_KEY_REUSED", d.create(422, draft(object{"enabled": false}), it.KeyHeader, "make")["code"])

	rotated := d.rotate(200, made.ID(), it.KeyHeader, "turn")
	require.NotEmpty(t, rotated.Text("secret"))
	require.NotEqual(t, made["secret"], rotated["secret"])
	again = d.rotate(200, made.ID(), it.KeyHeader, "turn")
	require.NotContains(t, again, "secret")
	require.Equal(t, rotated["secret_rotated_at"], again["secret_rotated_at"], "rotated once")
}

func TestOneOfSimultaneousCreatesUnderAKeyIsDone(t *testing.T) {
	d := newDesk(t)
	answers := make([]stacktest.Answer, 8)
	it.Concurrently(len(answers), func(i int) {
		answers[i] = d.TrySend(t, http.MethodPost, collection+"/create", stacktest.WithHeaders(draft(), it.KeyHeader, "k"))
	})
	secrets := 0
	for _, a := range answers {
		require.Equal(t, 200, a.Status, string(a.Body))
		if entity(a.JSON(t)).Text("secret") != "" {
			secrets++
		}
	}
	require.Equal(t, 1, secrets)
	require.Len(t, d.list(), 1)
}

// TestNoSecretIsStoredOrLogged in plain: not in an item of the table, and not in a log.
func TestNoSecretIsStoredOrLogged(t *testing.T) {
	d := newDesk(t)
	const value, query = "value-of-a-header", "key-in-the-address"
	made := d.create(200, draft(object{"headers": object{"X-Key": value}}), it.KeyHeader, "k")
	id := made.ID()
	d.put(200, id, object{"headers": object{"X-Key": value, "X-Other": value + "2"}, "url": "https://hooks.example.org/a?key=" + query})
	d.put(200, id, object{"url": "https://hooks.example.org/b?key=" + query + "2"})
	rotated := d.rotate(200, id)
	secrets := []string{made.Text("secret"), rotated.Text("secret")}
	require.NotEqual(t, secrets[0], secrets[1])

	var urls []any
	for _, event := range d.log("audit-trail") {
		text, err := json.Marshal(event)
		require.NoError(t, err)
		for _, hidden := range append(secrets, value, query) {
			require.NotContains(t, string(text), hidden)
		}
		if event.At("target.id") == id && event.At("target.field") == "url" {
			urls = append(urls, event.At("target.new_value"))
		}
	}
	require.Equal(t, []any{"https://hooks.example.org", "https://hooks.example.org"}, urls)
	holding := 0
	for key, item := range it.EngineOf(t, d.Stack).Dump(t).Below(table.Org(d.Org)) {
		for _, hidden := range append(secrets, value) {
			require.NotContains(t, item.Data, strings.TrimPrefix(hidden, "whsec_"), "%v", key)
		}
		if strings.Contains(item.Data, query) {
			holding++
			require.Contains(t, key.SK, "R#webhook#", "the address is in the record alone")
		}
	}
	require.Equal(t, 1, holding)

	d.remove(200, id)
	for key, item := range it.EngineOf(t, d.Stack).Dump(t).Below(table.Org(d.Org)) {
		if strings.Contains(key.SK, "D#webhook#") {
			require.NotRegexp(t, regexp.MustCompile(`"(secret|headers|former)":"[A-Za-z0-9+/=]{20}`), item.Data, "a deleted endpoint has no secrets")
		}
	}
}

// TestHeaderValuesStayWithTheirHost: nobody can have a stored value sent to an address of their own.
func TestHeaderValuesStayWithTheirHost(t *testing.T) {
	d := newDesk(t)
	id := d.create(200, draft(object{"headers": object{"X-Key": "value"}})).ID()
	const elsewhere = "https://mine.example.net/"
	it.RequireInvalid(t, d.put(400, id, object{"url": elsewhere}), "headers")
	it.RequireInvalid(t, d.put(400, id, object{"url": elsewhere, "headers": object{"X-Key": "***"}}), "headers.X-Key")
	d.put(200, id, object{"url": draft()["url"].(string) + "/other", "headers": object{"X-Key": "***"}})
	d.put(200, id, object{"url": elsewhere, "headers": object{"X-Key": "another"}})
	d.put(200, id, object{"headers": object{}})
	d.put(200, id, object{"url": draft()["url"]})
}

// TestHeaderValuesAreKept by *** and replaced as a whole; the receiver gets them.
func TestHeaderValuesAreKept(t *testing.T) {
	d, r := newDesk(t), newReceiver(t, ok)
	id := d.create(200, draft(object{"url": r.URL, "headers": object{"X-One": "1", "X-Two": "2"}})).ID()
	for _, step := range []struct{ sent, got object }{
		{object{"X-One": "***", "X-Two": "22"}, object{"X-One": "1", "X-Two": "22"}},
		{object{"x-one": "***", "X-Three": "3"}, object{"X-One": "1", "X-Three": "3"}},
		{object{}, object{}},
	} {
		changed := d.put(200, id, object{"headers": step.sent})
		require.Len(t, changed["headers"], len(step.sent))
		for name := range step.sent {
			require.Equal(t, "***", changed["headers"].(object)[name])
		}
		d.put(200, id, changed)
		require.Equal(t, true, d.ping(200, id)["delivered"])
		for _, name := range []string{"X-One", "X-Two", "X-Three"} {
			want, _ := step.got[name].(string)
			require.Equal(t, want, r.headers[len(r.headers)-1].Get(name), "%v", step)
		}
	}
	it.RequireInvalid(t, d.put(400, id, object{"headers": object{"X-One": "***"}}), "headers.X-One")
	it.RequireInvalid(t, d.create(400, draft(object{"headers": object{"X-New": "***"}})), "headers.X-New")
}

func TestWrongInputsOfEndpoints(t *testing.T) {
	d := newDesk(t)
	id := d.create(200, draft()).ID()
	many := object{}
	for i := range 21 {
		many[fmt.Sprint("X-", i)] = "a"
	}
	events := func(all ...any) object { return object{"events": all} }
	header := func(name string, value any) object { return object{"headers": object{name: value}} }
	for _, c := range []struct {
		field string
		body  object
	}{
		{"url", object{"url": nil}}, {"url", object{"url": 1}}, {"url", object{"url": ""}}, {"url", object{"url": "https://127.0.0.1/"}},
		{"url", object{"url": "https://hooks.example.org/" + strings.Repeat("a", 2000)}}, {"url", object{"url": "http://hooks.example.org/"}},
		{"events", object{"events": nil}}, {"events", events()}, {"events", object{"events": "session.updated"}}, {"events[0]", events("session.unknown")},
		{"events[0]", events(bus.FieldsChanged)},
		{"events[1]", events("session.updated", "webhook.ping")}, {"events[0]", events(1)}, {"events[0]", events("*")},
		{"event_ids", object{"event_ids": nil}}, {"event_ids[0]", object{"event_ids": []any{"x"}}},
		{"event_ids[1]", object{"event_ids": []any{d.Event, it.UnknownEvent}}}, {"event_ids[0]", object{"event_ids": []any{0}}},
		{"headers", object{"headers": nil}}, {"headers", object{"headers": []any{}}}, {"headers", object{"headers": many}}, {"headers.X", header("X", nil)},
		{"headers.X", header("X", 1)}, {"headers.X", header("X", "a\nb")}, {"headers.X", header("X", "ä")}, {"headers.X", header("X", strings.Repeat("a", 1001))},
		{"headers.X", header("X", " a")}, {"headers.X Y", header("X Y", "a")}, {"headers.X:", header("X:", "a")}, {"headers.", header("", "a")},
		{"headers.Ä", header("Ä", "a")}, {"headers." + strings.Repeat("x", 101), header(strings.Repeat("x", 101), "a")},
		{"headers.x-a", object{"headers": object{"x-a": "1", "X-A": "2"}}},
		{"description", object{"description": 1}}, {"description", object{"description": strings.Repeat("x", 2001)}},
		{"enabled", object{"enabled": nil}}, {"enabled", object{"enabled": "yes"}}, {"payload", object{"payload": nil}}, {"payload", object{"payload": "slim"}},
	} {
		it.RequireInvalid(t, d.put(400, id, c.body), c.field)
		it.RequireInvalid(t, d.create(400, draft(c.body)), c.field)
	}
	for _, name := range []string{
		"webhook-id", "Webhook-Signature", "webhook-anything", "Content-Type", "content-length", "Content-Encoding", "HOST", "User-Agent", "connection",
		"Keep-Alive", "Transfer-Encoding", "TE", "Trailer", "Upgrade", "Proxy-Authorization", "proxy-x", "Expect", "Lectern-Event", "lectern-x",
		"Accept-Encoding", "Sec-Fetch-Mode", "X-Amz-Date",
	} {
		it.RequireInvalid(t, d.put(400, id, header(name, "a")), "headers."+name)
	}
	for _, missing := range []string{"url", "events"} {
		body := draft()
		delete(body, missing)
		it.RequireInvalid(t, d.create(400, body), missing)
	}
	require.Contains(t, d.create(400, draft(events("session.updated", "session.updated"))).At("details.field"), "events")
	require.Len(t, d.list(), 1)
	// A wrong body comes before an unknown endpoint.
	it.RequireInvalid(t, d.put(400, it.UnknownID, object{"url": "https://10.0.0.1/"}), "url")
}

// TestADeployedServiceAllowsNoReceiversInside, unlike a service on one machine.
func TestADeployedServiceAllowsNoReceiversInside(t *testing.T) {
	d := it.NewClient(t)
	served := &desk{Client: d.ServeGroup(webhooks.Group, func(env *api.Env) { env.Keys, env.LocalReceivers = testKeys, false })}
	r := newReceiver(t, ok)
	message := served.create(400, draft(object{"url": r.URL}))["message"]
	require.Equal(t, message, served.create(400, draft(object{"url": "https://metadata.internal/"}))["message"])
	// An address that a local service has stored is not connected to either.
	id := deskOf(d).create(200, draft(object{"url": r.URL})).ID()
	answer := served.ping(200, id)
	require.Equal(t, message, answer["error"])
	require.Equal(t, false, answer["delivered"])
	require.Empty(t, r.bodies)
}

// TestANewAddressBeginsAnew: the failures of the former address, or from before the endpoint was disabled,
// are forgotten. Other updates keep them.
func TestANewAddressBeginsAnew(t *testing.T) {
	d := newDesk(t)
	id := d.create(200, draft()).ID()
	store := delivery.Store{Table: d.Table(t), Now: d.now}
	for _, c := range []struct {
		before, update object
		forgotten      bool
	}{
		{nil, object{"description": "The same"}, false},
		{nil, object{"url": "https://hooks.example.org/lectern", "enabled": true}, false},
		{nil, object{"enabled": false}, false},
		{object{"enabled": false}, object{"enabled": true}, true},
		{nil, object{"url": "https://hooks.example.org/other"}, true},
	} {
		if c.before != nil {
			d.put(200, id, c.before)
		}
		_, err := store.Learn(t.Context(), d.Org, id, []delivery.Result{{Failed: true}})
		require.NoError(t, err)
		d.put(200, id, c.update)
		state, err := store.ReadState(t.Context(), d.Org, id)
		require.NoError(t, err)
		require.Equal(t, c.forgotten, state.Healthy(), c.update)
	}
}
