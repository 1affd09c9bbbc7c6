package webhooks_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/shared/auth"
	"lectern/shared/bus"
	"lectern/shared/webhook"
	"lectern/shared/wire"
)

// readable names scopes with the kinds of record that they allow.
var readable = map[auth.Scope][]string{
	auth.ReadContacts: {"contact", "exhibitor", "sponsor"}, auth.ReadSessions: {"session"}, auth.ReadEvents: {"exhibitor", "sponsor"},
	auth.ReadReports: {}, auth.ReadMedia: {}, auth.WriteContacts: {}, auth.WriteSessions: {},
}

// TestAKindNeedsTheScopeOfItsRecord on create and on update.
func TestAKindNeedsTheScopeOfItsRecord(t *testing.T) {
	d := newDesk(t)
	all := d.create(200, draft(object{"events": anyOf(webhook.Kinds)})).ID()
	for scope, records := range readable {
		caller := d.with(d.NewToken(t, string(scope), string(auth.WriteEvents)))
		for _, kind := range webhook.Kinds {
			status := 403
			for _, record := range records {
				if kind[:len(record)] == record {
					status = 200
				}
			}
			body := draft(object{"events": []any{kind}})
			for _, answer := range []entity{caller.create(status, body), caller.put(status, all, object{"events": []any{kind}})} {
				if status == 403 {
					it.RequireError(t, answer, "INSUFFICIENT_SCOPE", "events[0]")
					require.Contains(t, answer["message"], kind)
					continue
				}
				if answer.ID() != all {
					d.remove(200, answer.ID())
				}
			}
		}
	}
	caller := d.with(d.NewToken(t, string(auth.ReadSessions), string(auth.WriteEvents)))
	d.put(200, all, object{"events": []any{"session.updated", "contact.updated"}})
	it.RequireError(t, caller.put(403, all, object{"enabled": false}), "INSUFFICIENT_SCOPE", "events[1]")
	require.Equal(t, true, d.get(200, all)["enabled"])
}

func anyOf(texts []string) []any {
	all := make([]any, len(texts))
	for i, text := range texts {
		all[i] = text
	}
	return all
}

func TestOperationsNeedTheScopesOfEvents(t *testing.T) {
	d := newDesk(t)
	id := d.create(200, draft()).ID()
	reader, writer := d.with(d.NewToken(t, string(auth.ReadEvents))), d.with(d.NewToken(t, string(auth.WriteEvents)))
	for _, r := range []struct{ method, path string }{{"GET", ""}, {"GET", "/" + id}, {"GET", "/" + id + "/deliveries"}} {
		writer.call(403, r.method, r.path, nil)
	}
	for _, r := range []struct{ method, path string }{
		{"POST", "/create"}, {"PUT", "/" + id}, {"DELETE", "/" + id}, {"POST", "/" + id + "/test"}, {"POST", "/" + id + "/rotate-secret"},
		{"POST", "/" + id + "/deliveries/replay"}, {"POST", "/" + id + "/deliveries/" + it.UnknownID + "/redeliver"},
		{"POST", "/" + id + "/deliveries/" + it.UnknownID + "/cancel"},
	} {
		require.Equal(t, "INSUFFICIENT_SCOPE", reader.call(403, r.method, r.path, object{})["code"], "%v", r)
	}
	reader.get(200, id)
	d.with("").call(401, http.MethodGet, "", nil)
	legacy := d.with(d.TokenWith(t, object{"kind": "legacy"}))
	legacy.get(200, id)
	legacy.create(403, draft())
	require.Equal(t, "log_export_only", d.with(d.TokenWith(t, object{"kind": "log_export"})).call(403, http.MethodGet, "", nil)["reason"])
}

func TestEndpointsOfOtherOrganizationsAreNotThere(t *testing.T) {
	d := newDesk(t)
	id := d.create(200, draft()).ID()
	other := *d
	other.Client = &it.Client{Stack: d.NewOrganization(t), T: t}
	require.Empty(t, other.list())
	for _, answer := range []entity{other.get(404, id), other.put(404, id, object{}), other.remove(404, id), other.rotate(404, id), other.ping(404, id)} {
		require.Equal(t, "Webhook not found", answer["message"])
	}
	it.RequireInvalid(t, other.create(400, draft(object{"event_ids": []any{d.Event}})), "event_ids[0]")
}

// TestATokenLimitedToEventsSeesTheirEndpoints, and those that it wrote itself.
func TestATokenLimitedToEventsSeesTheirEndpoints(t *testing.T) {
	d := newDesk(t)
	other := d.NewEvent(t)
	_, token := d.token(object{"event_ids": []any{d.Event}, "scopes": []string{"read:events", "write:events", "read:sessions"}})
	guest := d.with(token)
	whole, own := d.create(200, draft()).ID(), d.create(200, draft(object{"event_ids": []any{d.Event}})).ID()
	both := d.create(200, draft(object{"event_ids": []any{d.Event, other}})).ID()
	mine := guest.create(200, draft()).ID()
	require.Equal(t, []string{own, mine}, it.Texts(guest.list(), "id"))
	for _, hidden := range []string{whole, both} {
		for _, answer := range []entity{
			guest.get(404, hidden), guest.put(404, hidden, object{"enabled": false}), guest.remove(404, hidden), guest.rotate(404, hidden), guest.ping(404, hidden),
		} {
			require.Equal(t, "Webhook not found", answer["message"])
		}
	}
	for _, seen := range []string{own, mine} {
		guest.get(200, seen)
		guest.put(200, seen, object{"description": "seen"})
		guest.rotate(200, seen)
	}
	it.RequireInvalid(t, guest.create(400, draft(object{"event_ids": []any{other}})), "event_ids[0]")
	guest.remove(200, own)
	require.Len(t, d.list(), 3)

	r := webhook.NewReceivers(d.env)
	for event, want := range map[int64][]string{d.Event: {whole, both, mine}, other: {whole, both}, 0: {whole}} {
		require.ElementsMatch(t, want, gets(t, d, r, "session.updated", event), "event %d", event)
	}
}

// gets returns the ids of the endpoints that get a kind of change of an event.
func gets(t *testing.T, d *desk, r *webhook.Receivers, kind string, event int64) []string {
	t.Helper()
	all, err := r.Of(t.Context(), d.Org, bus.Message{Org: d.Org, Event: event, Kind: kind, At: wire.At(d.now())})
	require.NoError(t, err)
	ids := make([]string, len(all))
	for i, e := range all {
		ids[i] = e.ID
		require.True(t, e.May(kind, event))
	}
	return ids
}

// TestReceiversTakeNothingFromBeforeTheirCreation: changes that are published again may be older.
func TestReceiversTakeNothingFromBeforeTheirCreation(t *testing.T) {
	d := newDesk(t)
	made := d.create(200, draft())
	created, err := wire.ParseTime(made.Text("created_at"))
	require.NoError(t, err)
	for ahead, want := range map[time.Duration]int{-time.Hour: 0, -2 * time.Minute: 0, -30 * time.Second: 1, 0: 1, time.Hour: 1} {
		m := bus.Message{Org: d.Org, Event: d.Event, Kind: "session.updated", At: wire.At(created.Add(ahead))}
		all, err := webhook.NewReceivers(d.env).Of(t.Context(), d.Org, m)
		require.NoError(t, err)
		require.Len(t, all, want, ahead)
	}
}

func TestReceiversTakeTheirKindsAndEventsAlone(t *testing.T) {
	d := newDesk(t)
	r, other := webhook.NewReceivers(d.env), d.NewEvent(t)
	require.Empty(t, gets(t, d, r, "session.updated", d.Event))
	all := d.create(200, draft(object{"events": anyOf(webhook.Kinds)})).ID()
	one := d.create(200, draft(object{"events": []any{"session.deleted"}, "event_ids": []any{other}})).ID()
	d.create(200, draft(object{"enabled": false}))
	require.ElementsMatch(t, []string{all}, gets(t, d, r, "session.updated", d.Event))
	require.ElementsMatch(t, []string{all, one}, gets(t, d, r, "session.deleted", other))
	require.ElementsMatch(t, []string{all}, gets(t, d, r, "session.deleted", d.Event))
	for _, kind := range webhook.Kinds {
		require.Equal(t, []string{all}, gets(t, d, r, kind, d.Event)[:1], kind)
	}
	d.remove(200, all)
	require.Empty(t, gets(t, d, r, "session.updated", d.Event))
	e, err := r.Find(t.Context(), d.Org, all)
	require.NoError(t, err)
	require.Nil(t, e)
	e, err = r.Get(t.Context(), d.Org, one)
	require.NoError(t, err)
	require.Equal(t, one, e.ID)
}

// TestAnEndpointIsPausedWithItsOwner, says so, and gets nothing meanwhile.
func TestAnEndpointIsPausedWithItsOwner(t *testing.T) {
	d := newDesk(t)
	r := webhook.NewReceivers(d.env)
	user := d.Operator(t, "member-create", object{"org_id": d.Org, "name": "Owner", "email": "owner@example.org", "role": "admin"})["id"]
	member := object{"org_id": d.Org, "user_id": user}
	tokenID, text := d.token(object{"user_id": user, "scopes": []string{"read:events", "read:sessions", "read:contacts", "write:events"}})
	token := object{"org_id": d.Org, "token_id": tokenID}
	body := draft(object{"events": []any{"session.updated", "contact.updated", "sponsor.created"}, "event_ids": []any{d.Event}})
	id := d.with(text).create(200, body).ID()
	command := func(name string, input, more object) func() {
		return func() { d.Operator(t, name, it.Merged(input, more)) }
	}
	kinds := []string{"session.updated", "contact.updated", "sponsor.created"}
	other := d.NewEvent(t)
	for _, c := range []struct {
		name       string
		begin, end func()
		reason     string
		gets       []string
	}{
		{"inactive", command("member-update", member, object{"active": false}), command("member-update", member, object{"active": true}),
			"The member behind the token that wrote the endpoint last is not active.", nil},
		{"narrowed", command("token-update", token, object{"scopes": []string{"read:sessions", "write:events"}}),
			command("token-update", token, object{"scopes": []string{"read:events", "read:sessions", "read:contacts", "write:events"}}),
			"The token that wrote the endpoint last may not read contact.updated, sponsor.created, so the endpoint does not get those.",
			[]string{"session.updated"}},
		{"other events", command("token-update", token, object{"event_ids": []any{other}}), command("token-update", token, object{"event_ids": nil}),
			fmt.Sprintf("The token that wrote the endpoint last may not read changes of event %d, so the endpoint does not get those.", d.Event), nil},
		{"member of other events", command("member-update", member, object{"role": "event_only", "event_ids": []any{other}}),
			command("member-update", member, object{"role": "admin", "event_ids": []any{}}),
			fmt.Sprintf("The token that wrote the endpoint last may not read changes of event %d, so the endpoint does not get those.", d.Event), nil},
		{"expired", command("token-update", token, object{"expires_at": wire.At(time.Now().Add(time.Hour)).String()}),
			command("token-update", token, object{"expires_at": nil}), "", kinds},
		{"revoked", command("token-revoke", token, nil), func() {}, "The token that wrote the endpoint last is revoked.", nil},
	} {
		c.begin()
		shown := d.get(200, id)
		if c.reason == "" {
			require.Nil(t, shown["paused_reason"], c.name)
		} else {
			require.Equal(t, c.reason, shown["paused_reason"], c.name)
		}
		require.Equal(t, shown["paused_reason"], d.list()[0]["paused_reason"])
		for _, kind := range kinds {
			want := map[bool][]string{true: {id}, false: {}}[contains(c.gets, kind)]
			require.Equal(t, want, gets(t, d, r, kind, d.Event), "%s %s", c.name, kind)
		}
		found, err := r.Find(t.Context(), d.Org, id)
		require.NoError(t, err)
		require.Equal(t, c.name == "inactive" || c.name == "revoked", found.Paused(), c.name)
		got, err := r.Get(t.Context(), d.Org, id)
		require.NoError(t, err)
		require.Equal(t, found.Paused(), got == nil, c.name)
		c.end()
		if c.name != "revoked" {
			require.Nil(t, d.get(200, id)["paused_reason"], "after "+c.name)
			require.Equal(t, []string{id}, gets(t, d, r, kinds[0], d.Event))
		}
	}
	// A later update makes its own token the owner.
	require.Nil(t, d.put(200, id, object{"description": "Taken over"})["paused_reason"])
	require.Equal(t, []string{id}, gets(t, d, r, kinds[1], d.Event))
	d.Operator(t, "member-remove", member)
	require.Nil(t, d.get(200, id)["paused_reason"])
}

func contains(all []string, one string) bool {
	for _, text := range all {
		if text == one {
			return true
		}
	}
	return false
}

// TestATokenThatExpiresPausesItsEndpoints at that moment.
func TestATokenThatExpiresPausesItsEndpoints(t *testing.T) {
	d := newDesk(t)
	r := webhook.NewReceivers(d.env)
	_, text := d.token(object{"scopes": []string{"read:sessions", "write:events"}, "expires_at": wire.At(time.Now().Add(time.Hour)).String()})
	id := d.with(text).create(200, draft()).ID()
	require.Equal(t, []string{id}, gets(t, d, r, "session.updated", d.Event))
	d.moveAhead(2 * time.Hour)
	require.Empty(t, gets(t, d, r, "session.updated", d.Event))
	require.Equal(t, "The token that wrote the endpoint last has expired.", d.get(200, id)["paused_reason"])
}

// TestADisabledOrganizationGetsNothing.
func TestADisabledOrganizationGetsNothing(t *testing.T) {
	d := newDesk(t)
	r := webhook.NewReceivers(d.env)
	id := d.create(200, draft()).ID()
	d.Operator(t, "organization-update", object{"org_id": d.Org, "disabled": true})
	require.Empty(t, gets(t, d, r, "session.updated", d.Event))
	d.Operator(t, "organization-update", object{"org_id": d.Org, "disabled": false})
	require.Equal(t, []string{id}, gets(t, d, r, "session.updated", d.Event))
}
