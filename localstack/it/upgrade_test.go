package it_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/stacktest"
	"lectern/shared/table"
)

// upgraded is today's service on a table that an earlier release wrote.
type upgraded struct {
	*desk
	engine engine
	notes  upgradeNotes
}

// newUpgraded loads the table, before the service starts, and the notes.
func newUpgraded(t *testing.T) *upgraded {
	t.Helper()
	s := stacktest.Start(t, stacktest.OnTable(func(ctx context.Context, url, name string) error {
		return loadDump(ctx, upgradeItems, url, name)
	}))
	u := &upgraded{}
	require.NoError(t, unpack(upgradeAnswers, &u.notes))
	s = s.As(u.notes.Tokens["all"]).In(u.notes.Event)
	s.Org, s.Member = u.notes.Org, u.notes.Member
	url, name := s.Engine(t)
	client, err := table.Open(t.Context(), table.Config{Endpoint: url})
	require.NoError(t, err)
	u.desk, u.engine = &desk{s, t}, engine{client, name}
	u.engine.whole(t)
	return u
}

// there is the same caller at the second event.
func (u *upgraded) there() *desk { return &desk{u.In(u.notes.There), u.t} }

// asked holds today's answers to those of the earlier release.
func (u *upgraded) asked() {
	u.t.Helper()
	for _, q := range u.notes.Questions {
		now := q.ask(u.t, u.Stack, u.notes)
		what := fmt.Sprintf("%s: %s %s %v", q.Token, q.Method, q.Path, q.Body)
		require.Equal(u.t, q.Status, now.Status, "%s answers %s", what, now.Answer)
		require.Equal(u.t, q.ETag, now.ETag, what)
		require.JSONEq(u.t, string(q.Answer), string(now.Answer), what)
	}
}

// TestUpgradeReadsWhatWasWritten asks all that the earlier release was asked, twice: of
// an instance that has read nothing, and of one that has it in memory.
func TestUpgradeReadsWhatWasWritten(t *testing.T) {
	u := newUpgraded(t)
	require.NotEmpty(t, u.notes.Questions)
	u.asked()
	u.asked()
	require.Len(t, u.Operator(t, "member-list", object{"org_id": u.Org})["results"], 4)
	require.Len(t, u.Operator(t, "event-list", object{"org_id": u.Org})["results"], 2)
	require.Len(t, u.Operator(t, "token-list", object{"org_id": u.Org})["results"], 7)
	require.Equal(t, "Ann", u.done("session-show", object{"session_id": u.notes.Sessions[20]}).at("withdrawal.who"))
	u.engine.whole(t)
}

// TestUpgradeRepeatsWhatWasDone: what the earlier release did under a key is not done again.
func TestUpgradeRepeatsWhatWasDone(t *testing.T) {
	u := newUpgraded(t)
	for _, r := range u.notes.Requests {
		for range 2 {
			answer := u.Call(t, 200, http.MethodPost, u.EventPath(r.Path), r.Body, keyHeader, r.Key)
			require.Equal(t, "true", answer.Header.Get("Idempotent-Replayed"), r.Path)
			again := entity(answer.JSON(t))
			require.Equal(t, r.ID, again.id(), r.Path)
			if r.ID == "" {
				require.Equal(t, r.IDs, texts(again.list("results"), "id"), r.Path)
			}
		}
		u.send(http.StatusUnprocessableEntity, http.MethodPost, r.Path, r.another(), keyHeader, r.Key)
	}
	u.asked()
	u.engine.whole(t)
}

// another is a body for the same path.
func (r upgradeRequest) another() object {
	if r.ID == "" {
		return object{"operations": []object{deleting(unknownID)}}
	}
	body := merged(r.Body)
	for _, name := range []string{"title", "name", "email"} {
		if body[name] != nil {
			body[name] = "another@example.org"
		}
	}
	return body
}

// TestUpgradeWritesOverWhatWasWritten changes records of every kind, and finds them as
// they are then, with an instance that has them in memory and one that has not.
func TestUpgradeWritesOverWhatWasWritten(t *testing.T) {
	u := newUpgraded(t)
	u.asked()
	u.writesTenants()
	u.writesSettings()
	want := u.writesSessions()
	people := u.writesPeople()
	other := &desk{u.Instance(t), t}
	for _, d := range []*desk{u.desk, other} {
		for id, title := range want {
			require.Equal(t, title, d.get(200, id)["title"])
			require.Equal(t, title, byID(t, d.everyone("/sessions", object{}), id)["title"])
		}
		for id, title := range people {
			require.Equal(t, title, d.send(200, http.MethodGet, "/contacts/"+id, nil)["title"])
			require.Equal(t, title, byID(t, d.everyone("/contacts", object{"search": strings.ToUpper("old")}), id)["title"])
		}
	}
	u.engine.whole(t)
}

// writesTenants changes organization, event, members and tokens.
func (u *upgraded) writesTenants() {
	in := object{"org_id": u.Org}
	u.Operator(u.t, "organization-update", merged(in, object{"name": "New Town"}))
	u.done("event-update", object{"name": "New Town Days"})
	u.Operator(u.t, "member-update", merged(in, object{"user_id": u.Member, "name": "Mayor"}))
	made := u.Operator(u.t, "token-create", merged(in, object{"user_id": u.Member, "name": "New", "scopes": []string{"read:events"}}))
	text, _ := made["token"].(string)
	u.As(text).Call(u.t, 200, http.MethodGet, "/v1/events", nil)
	u.Operator(u.t, "token-revoke", merged(in, object{"token_id": made["id"]}))
	u.As(text).Call(u.t, 401, http.MethodGet, "/v1/events", nil)
	u.As(u.notes.Tokens["reader"]).Call(u.t, 200, http.MethodGet, "/v1/events", nil)
}

// writesSettings changes, makes, deletes and restores settings.
func (u *upgraded) writesSettings() {
	for _, kind := range []string{"rooms", "tracks", "tags", "levels", "formats", "languages"} {
		all := u.array("/" + kind)
		u.send(200, http.MethodPut, "/"+kind+"/"+all[0].id(), object{"name": "Changed today"})
		u.drop(kind, u.entry(kind, "Made today").id())
		require.Equal(u.t, "Changed today", byID(u.t, u.array("/"+kind), all[0].id())["name"])
		require.Len(u.t, u.array("/"+kind), len(all))
	}
	waiting := u.settings("/session-statuses?pageSize=100", object{}).Results
	own := waiting[len(waiting)-1].id()
	u.drop("statuses", own)
	u.revive("statuses", own)
	u.field("Made today", "text")
	role := u.done("participant-role-create", object{"name": "Made today", "core_role": "speaker"})
	u.done("participant-role-delete", object{"role_id": role.id()})
}

// writesSessions changes sessions and gives their titles by id.
func (u *upgraded) writesSessions() map[string]string {
	ids, want := u.notes.Sessions, map[string]string{}
	shown := u.write(200, http.MethodGet, ids[0], nil)
	u.write(200, http.MethodPut, ids[0], object{"title": "By tag"}, "If-Match", shown.Header.Get("ETag"))
	u.write(409, http.MethodPut, ids[0], object{"title": "By an old tag"}, "If-Match", shown.Header.Get("ETag"))
	made := u.create(200, object{"title": "Made today"}).id()
	require.Equal(u.t, u.get(200, made)["title"], "Made today")
	want[ids[0]], want[made] = "By tag", "Made today"
	u.restore(200, ids[10])
	want[ids[10]], _ = u.get(200, ids[10])["title"].(string)
	u.remove(200, ids[3])
	u.get(404, ids[3])
	u.put(200, u.notes.Parts[1], object{"title": "A part of today"})
	u.remove(200, u.notes.Parts[2])
	u.restore(200, u.notes.Parts[0])
	u.done("session-link", link(made, ids[18], "merged_session"))
	u.done("session-unlink", object{"source_id": ids[16]})
	var operations []object
	for _, i := range []int{22, 23, 25, 26, 27, 28} {
		want[ids[i]] = fmt.Sprintf("By bulk %d", i)
		operations = append(operations, updating(ids[i], object{"title": want[ids[i]]}))
	}
	o := u.bulkUnder("/sessions/bulk", "today", append(operations, creating(object{"title": "Made by bulk"}))...)
	require.Equal(u.t, 7, o.Stats.Succeeded)
	require.Equal(u.t, texts(o.Results, "id"), texts(u.bulkUnder("/sessions/bulk", "today", append(operations, creating(object{"title": "Made by bulk"}))...).Results, "id"))
	return want
}

// writesPeople changes contacts and accounts on both events and gives the titles of
// contacts by id.
func (u *upgraded) writesPeople() map[string]string {
	want := map[string]string{}
	for i, p := range u.everyone("/contacts", object{"search": "old"}) {
		if i%2 == 0 {
			want[p.id()] = fmt.Sprintf("Mender %d", i)
			u.send(200, http.MethodPut, "/contacts/"+p.id(), object{"title": want[p.id()]})
		}
	}
	for _, p := range u.there().everyone("/contacts", object{})[:4] {
		u.there().send(200, http.MethodPut, "/contacts/"+p.id(), object{"phone": "+33 1 23 45 67"})
	}
	u.send(409, http.MethodPost, "/contacts/create", object{"email": "ROBERT@example.org"})
	u.person("today@example.org")
	for _, role := range bothRoles {
		all := u.everyone("/"+role+"s", object{})
		u.send(200, http.MethodPut, "/"+role+"s/"+all[0].id(), object{"description": "Of today"})
		u.drop(role+"s", all[1].id())
		u.revive(role+"s", all[1].id())
		u.send(200, http.MethodPost, "/"+role+"s/create", object{"name": "Made today"})
	}
	return want
}

// unpack reads the one value of a packed file.
func unpack(path string, into any) error {
	return unpackLines(path, func(l dumpLine, last bool) error {
		if last {
			return nil
		}
		text, err := json.Marshal(l)
		if err != nil {
			return err
		}
		return json.Unmarshal(text, into)
	})
}
