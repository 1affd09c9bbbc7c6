package webhooks_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"lectern/events/schemas"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/resource"
	"lectern/shared/webhook"
)

// TestTheSecurityLogNamesDisabledEndpointsAndRotatedSecrets.
func TestTheSecurityLogNamesDisabledEndpointsAndRotatedSecrets(t *testing.T) {
	d := newDesk(t)
	id := d.create(200, draft()).ID()
	d.put(200, id, object{"description": "no event"})
	d.put(200, id, object{"enabled": false})
	d.put(200, id, object{"enabled": false, "description": "no event either"})
	d.put(200, id, object{"enabled": true})
	d.rotate(200, id)
	require.NoError(t, webhook.NewReceivers(d.env).Disable(t.Context(), stored(id), d.Org, "It answered 410."))
	actions, events := d.securityActions(id)
	require.Equal(t, []string{"webhook.disabled", "webhook.secret_rotated", "webhook.disabled"}, actions)
	for i, byService := range []bool{false, false, true} {
		require.Equal(t, map[bool]string{true: "system", false: "api_token"}[byService], events[i].At("actor.type"))
		require.Equal(t, !byService, events[i].At("actor.id") == float64(d.Member))
		require.Equal(t, "webhook", events[i].At("target.type"))
	}
}

// stored returns an endpoint with the address of the usual draft.
func stored(id string) *webhook.Endpoint {
	return &webhook.Endpoint{Header: resource.Header{ID: id}, URL: draft()["url"].(string)}
}

// TestTheServiceDisablesAnEndpointOnce and an update enables it again.
func TestTheServiceDisablesAnEndpointOnce(t *testing.T) {
	d := newDesk(t)
	r := webhook.NewReceivers(d.env)
	id := d.create(200, draft()).ID()
	moved := stored(id)
	moved.URL += "/former"
	require.NoError(t, r.Disable(t.Context(), moved, d.Org, "The former address answered 410."))
	require.Equal(t, true, d.get(200, id)["enabled"])
	require.NoError(t, r.Disable(t.Context(), stored(id), d.Org, "It answered 410."))
	shown := d.get(200, id)
	require.Equal(t, object{"enabled": false, "disabled_reason": "It answered 410."}, it.Pick(shown, "enabled", "disabled_reason"))
	require.Greater(t, shown.Text("disabled_at"), shown.Text("created_at"))
	require.NoError(t, r.Disable(t.Context(), stored(id), d.Org, "Another reason."))
	require.Equal(t, shown, d.get(200, id))
	require.Empty(t, gets(t, d, r, "session.updated", d.Event))
	e, err := r.Get(t.Context(), d.Org, id)
	require.NoError(t, err)
	require.Nil(t, e)

	shown = d.put(200, id, object{"description": "still disabled"})
	require.NotNil(t, shown["disabled_at"])
	shown = d.put(200, id, object{"enabled": true})
	require.Equal(t, object{"enabled": true, "disabled_reason": nil, "disabled_at": nil}, it.Pick(shown, "enabled", "disabled_reason", "disabled_at"))
	require.Equal(t, []string{id}, gets(t, d, r, "session.updated", d.Event))

	d.remove(200, id)
	require.NoError(t, r.Disable(t.Context(), stored(id), d.Org, "It is gone."))
	require.NoError(t, r.Disable(t.Context(), stored(it.UnknownID), d.Org, "It never was."))
	it.EngineOf(t, d.Stack).RequireWhole(t)
}

// verified checks the last request of a receiver by the reference implementation.
func verified(t *testing.T, r *receiver, secret any) bool {
	t.Helper()
	reader, err := standard.NewWebhook(secret.(string))
	require.NoError(t, err)
	i := len(r.bodies) - 1
	return reader.Verify(r.bodies[i], r.headers[i]) == nil
}

func TestATestSendsAPing(t *testing.T) {
	d := newDesk(t)
	r := newReceiver(t, func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusAccepted)
		_, _ = fmt.Fprint(w, strings.Repeat("thanks", 1000))
	})
	made := d.create(200, draft(object{"url": r.URL + "/hook?a=b", "enabled": false}))
	out := d.ping(200, made.ID())
	require.Equal(t, "delivered error id latency_ms response signed status", it.KeysOf(out))
	require.Equal(t, object{"delivered": true, "error": nil, "status": 202.0, "response": strings.Repeat("thanks", 1000)[:2048]},
		it.Pick(out, "delivered", "error", "status", "response"))
	require.True(t, verified(t, r, made["secret"]))
	require.Equal(t, out.ID(), r.headers[0].Get("Webhook-Id"))
	require.Equal(t, "webhook.ping", r.headers[0].Get("Lectern-Event"))
	require.Equal(t, "1", r.headers[0].Get("Lectern-Attempt"))
	require.Equal(t, "Lectern/1.0", r.headers[0].Get("User-Agent"))
	require.Equal(t, out.ID()+"."+r.headers[0].Get("Webhook-Timestamp")+"."+string(r.bodies[0]), out["signed"])

	var body entity
	require.NoError(t, json.Unmarshal(r.bodies[0], &body))
	require.Equal(t, object{"id": made.ID(), "message": "This is a test."}, body["data"])
	require.Equal(t, object{
		"id": out.ID(), "action": "webhook.ping", "actor_id": float64(d.Member), "event_id": nil, "org_id": float64(d.Org), "version": 1.0,
		"resource_url": "/v1/webhooks/" + made.ID(), "datetime": body.At("metadata.datetime"), "sequence": 0.0, "changed": []any{},
	}, body["metadata"])
	requireBody(t, webhook.Ping, r.bodies[0])
}

// TestAPingHasNoKey: a repetition sends another ping, and the document has no header for a key.
func TestAPingHasNoKey(t *testing.T) {
	d, r := newDesk(t), newReceiver(t, ok)
	id := d.create(200, draft(object{"url": r.URL})).ID()
	ids := map[string]bool{}
	for range 2 {
		answer := d.Call(t, 200, http.MethodPost, collection+"/"+id+"/test", stacktest.WithHeaders(nil, it.KeyHeader, "k"))
		require.Empty(t, answer.Header.Get("Idempotent-Replayed"))
		ids[entity(answer.JSON(t)).ID()] = true
	}
	require.Len(t, ids, 2)
	require.Len(t, r.bodies, 2)
	document, err := os.ReadFile("../../../../functions/root/openapi.json")
	require.NoError(t, err)
	var described struct {
		Paths map[string]map[string]struct{ Parameters []struct{ Name string } }
	}
	require.NoError(t, json.Unmarshal(document, &described))
	for path, keyed := range map[string]bool{
		"/create": true, "/{webhookId}/rotate-secret": true, "/{webhookId}/test": false, "/{webhookId}/deliveries/replay": false,
		"/{webhookId}/deliveries/{deliveryId}/redeliver": false, "/{webhookId}/deliveries/{deliveryId}/cancel": false,
	} {
		names := []string{}
		for _, p := range described.Paths[collection+path]["post"].Parameters {
			names = append(names, p.Name)
		}
		require.Equal(t, keyed, slices.Contains(names, it.KeyHeader), path)
	}
}

// TestAPingOfAReceiverThatFailsSaysHow; the operation itself succeeds.
func TestAPingOfAReceiverThatFailsSaysHow(t *testing.T) {
	d := newDesk(t)
	for _, status := range []int{300, 302, 400, 410, 500, 503} {
		r := newReceiver(t, func(w http.ResponseWriter) {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(status)
		})
		out := d.ping(200, d.create(200, draft(object{"url": r.URL})).ID())
		require.Equal(t, object{"delivered": false, "error": nil, "status": float64(status), "response": ""},
			it.Pick(out, "delivered", "error", "status", "response"))
		require.Len(t, r.bodies, 1)
	}
	r := newReceiver(t, ok)
	id := d.create(200, draft(object{"url": r.URL})).ID()
	r.Close()
	out := d.ping(200, id)
	require.Equal(t, object{"delivered": false, "error": "The connection to the receiver failed.", "status": nil, "response": nil},
		it.Pick(out, "delivered", "error", "status", "response"))
	require.Equal(t, true, d.get(200, id)["enabled"], "a test disables no endpoint")
}

// TestTheFormerSecretSignsForADay beside the new secret.
func TestTheFormerSecretSignsForADay(t *testing.T) {
	d, r := newDesk(t), newReceiver(t, ok)
	made := d.create(200, draft(object{"url": r.URL}))
	id, first := made.ID(), made["secret"]
	require.Nil(t, made["secret_rotated_at"])
	second := d.rotate(200, id)
	require.NotNil(t, second["secret_rotated_at"])
	require.NotContains(t, d.get(200, id), "secret")
	d.ping(200, id)
	require.True(t, verified(t, r, first))
	require.True(t, verified(t, r, second["secret"]))
	require.Len(t, strings.Fields(r.headers[0].Get("Webhook-Signature")), 2)

	third := d.rotate(200, id)["secret"]
	d.ping(200, id)
	require.False(t, verified(t, r, first), "the secret before the former one does not sign")
	require.True(t, verified(t, r, second["secret"]))
	require.True(t, verified(t, r, third))

	d.moveAhead(25 * time.Hour)
	d.ping(200, id)
	// The reference implementation refuses a clock that is a day ahead.
	require.Len(t, strings.Fields(r.headers[2].Get("Webhook-Signature")), 1)
	require.NotEqual(t, first, third)
}

func TestEventTypesDescribeEveryKind(t *testing.T) {
	d := newDesk(t)
	var p it.Page
	d.Call(t, 200, http.MethodGet, "/v1/webhook-event-types?page_size=100", nil).Into(t, &p)
	require.Equal(t, append(append([]string{}, webhook.Kinds...), webhook.Ping), it.Texts(p.Results, "kind"))
	for i, shown := range p.Results {
		require.Equal(t, "description example kind schema scopes", it.KeysOf(shown))
		require.NotEmpty(t, shown["description"])
		require.Equal(t, shown["kind"], shown.At("schema.title"))
		require.Equal(t, shown["kind"], shown.At("example.metadata.action"))
		text, err := json.Marshal(shown["example"])
		require.NoError(t, err)
		requireBody(t, shown.Text("kind"), text)
		require.JSONEq(t, string(schemas.All[i].Schema), string(it.Encode(t, shown["schema"])))
	}
	scopes := map[string]any{}
	for _, shown := range p.Results {
		scopes[strings.Split(shown.Text("kind"), ".")[0]] = shown["scopes"]
	}
	require.Equal(t, map[string]any{
		"contact": []any{"read:contacts"}, "session": []any{"read:sessions"}, "webhook": []any{},
		"exhibitor": []any{"read:contacts", "read:events"}, "sponsor": []any{"read:contacts", "read:events"},
	}, scopes)
	require.Equal(t, 21, p.Pagination.TotalResults)
	d.with(d.NewToken(t, "read:sessions")).Call(t, 403, http.MethodGet, "/v1/webhook-event-types", nil)
	it.RequireInvalid(t, d.Call(t, 400, http.MethodGet, "/v1/webhook-event-types?page=0", nil).JSON(t), "page")
}
