package maintenance_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/table"
)

// upgraded is today's service on a table that an earlier release wrote.
type upgraded struct {
	*it.Client
	engine it.Engine
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
	u.Client, u.engine = &it.Client{Stack: s, T: t}, it.Engine{Client: client, Table: name}
	u.engine.RequireWhole(t)
	return u
}

// there is the same caller at the second event.
func (u *upgraded) there() *it.Client { return &it.Client{Stack: u.In(u.notes.There), T: u.T} }

// asked holds today's answers to those of the earlier release.
func (u *upgraded) asked() {
	u.T.Helper()
	for _, q := range u.notes.Questions {
		now := q.ask(u.T, u.Stack, u.notes)
		what := fmt.Sprintf("%s: %s %s %v", q.Token, q.Method, q.Path, q.Body)
		require.Equal(u.T, q.Status, now.Status, "%s answers %s", what, now.Answer)
		require.Equal(u.T, q.ETag, now.ETag, what)
		require.JSONEq(u.T, string(q.Answer), string(now.Answer), what)
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
	require.Equal(t, "Ann", u.Command("session-show", object{"session_id": u.notes.Sessions[20]}).At("withdrawal.who"))
	u.engine.RequireWhole(t)
}

// TestUpgradeRepeatsWhatWasDone: what the earlier release did under a key is not done again.
func TestUpgradeRepeatsWhatWasDone(t *testing.T) {
	u := newUpgraded(t)
	for _, r := range u.notes.Requests {
		for range 2 {
			answer := u.Call(t, 200, http.MethodPost, u.EventPath(r.Path), stacktest.WithHeaders(r.Body, it.KeyHeader, r.Key))
			require.Equal(t, "true", answer.Header.Get("Idempotent-Replayed"), r.Path)
			again := entity(answer.JSON(t))
			require.Equal(t, r.ID, again.ID(), r.Path)
			if r.ID == "" {
				require.Equal(t, r.IDs, it.Texts(again.List("results"), "id"), r.Path)
			}
		}
		u.Do(http.StatusUnprocessableEntity, http.MethodPost, r.Path, r.another(), it.KeyHeader, r.Key)
	}
	u.asked()
	u.engine.RequireWhole(t)
}

// another is a body for the same path.
func (r upgradeRequest) another() object {
	if r.ID == "" {
		return object{"operations": []object{it.Deleting(it.UnknownID)}}
	}
	body := it.Merged(r.Body)
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
	other := &it.Client{Stack: u.Instance(t), T: t}
	for _, d := range []*it.Client{u.Client, other} {
		for id, title := range want {
			require.Equal(t, title, d.Get(200, id)["title"])
			require.Equal(t, title, it.ByID(t, d.SearchAllPages("/sessions", object{}), id)["title"])
		}
		for id, title := range people {
			require.Equal(t, title, d.Do(200, http.MethodGet, "/contacts/"+id, nil)["title"])
			require.Equal(t, title, it.ByID(t, d.SearchAllPages("/contacts", object{"search": strings.ToUpper("old")}), id)["title"])
		}
	}
	u.engine.RequireWhole(t)
}

// writesTenants changes organization, event, members and tokens.
func (u *upgraded) writesTenants() {
	in := object{"org_id": u.Org}
	u.Operator(u.T, "organization-update", it.Merged(in, object{"name": "New Town"}))
	u.Command("event-update", object{"name": "New Town Days"})
	u.Operator(u.T, "member-update", it.Merged(in, object{"user_id": u.Member, "name": "Mayor"}))
	made := u.Operator(u.T, "token-create", it.Merged(in, object{"user_id": u.Member, "name": "New", "scopes": []string{"read:events"}}))
	text, _ := made["token"].(string)
	u.As(text).Call(u.T, 200, http.MethodGet, "/v1/events", nil)
	u.Operator(u.T, "token-revoke", it.Merged(in, object{"token_id": made["id"]}))
	u.As(text).Call(u.T, 401, http.MethodGet, "/v1/events", nil)
	u.As(u.notes.Tokens["reader"]).Call(u.T, 200, http.MethodGet, "/v1/events", nil)
}

// writesSettings changes, makes, deletes and restores settings.
func (u *upgraded) writesSettings() {
	for _, kind := range []string{"rooms", "tracks", "tags", "levels", "formats", "languages"} {
		all := u.ListSettings("/" + kind)
		u.Do(200, http.MethodPut, "/"+kind+"/"+all[0].ID(), object{"name": "Changed today"})
		u.DeleteRecord(kind, u.NewEntry(kind, "Made today").ID())
		require.Equal(u.T, "Changed today", it.ByID(u.T, u.ListSettings("/"+kind), all[0].ID())["name"])
		require.Len(u.T, u.ListSettings("/"+kind), len(all))
	}
	waiting := u.SearchSettings("/session-statuses?pageSize=100", object{}).Results
	own := waiting[len(waiting)-1].ID()
	u.DeleteRecord("statuses", own)
	u.RestoreRecord("statuses", own)
	u.NewField("Made today", "text")
	role := u.Command("participant-role-create", object{"name": "Made today", "core_role": "speaker"})
	u.Command("participant-role-delete", object{"role_id": role.ID()})
}

// writesSessions changes sessions and gives their titles by id.
func (u *upgraded) writesSessions() map[string]string {
	ids, want := u.notes.Sessions, map[string]string{}
	shown := u.CallSession(200, http.MethodGet, ids[0], nil)
	u.CallSession(200, http.MethodPut, ids[0], object{"title": "By tag"}, "If-Match", shown.Header.Get("ETag"))
	u.CallSession(409, http.MethodPut, ids[0], object{"title": "By an old tag"}, "If-Match", shown.Header.Get("ETag"))
	made := u.Create(200, object{"title": "Made today"}).ID()
	require.Equal(u.T, u.Get(200, made)["title"], "Made today")
	want[ids[0]], want[made] = "By tag", "Made today"
	u.Restore(200, ids[10])
	want[ids[10]], _ = u.Get(200, ids[10])["title"].(string)
	u.Delete(200, ids[3])
	u.Get(404, ids[3])
	u.Put(200, u.notes.Parts[1], object{"title": "A part of today"})
	u.Delete(200, u.notes.Parts[2])
	u.Restore(200, u.notes.Parts[0])
	u.Command("session-link", it.Link(made, ids[18], "merged_session"))
	u.Command("session-unlink", object{"source_id": ids[16]})
	var operations []object
	for _, i := range []int{22, 23, 25, 26, 27, 28} {
		want[ids[i]] = fmt.Sprintf("By bulk %d", i)
		operations = append(operations, it.Updating(ids[i], object{"title": want[ids[i]]}))
	}
	o := u.BulkUnder("/sessions/bulk", "today", append(operations, it.Creating(object{"title": "Made by bulk"}))...)
	require.Equal(u.T, 7, o.Stats.Succeeded)
	require.Equal(u.T, it.Texts(o.Results, "id"), it.Texts(u.BulkUnder("/sessions/bulk", "today", append(operations, it.Creating(object{"title": "Made by bulk"}))...).Results, "id"))
	return want
}

// writesPeople changes contacts and accounts on both events and gives the titles of
// contacts by id.
func (u *upgraded) writesPeople() map[string]string {
	want := map[string]string{}
	for i, p := range u.SearchAllPages("/contacts", object{"search": "old"}) {
		if i%2 == 0 {
			want[p.ID()] = fmt.Sprintf("Mender %d", i)
			u.Do(200, http.MethodPut, "/contacts/"+p.ID(), object{"title": want[p.ID()]})
		}
	}
	for _, p := range u.there().SearchAllPages("/contacts", object{})[:4] {
		u.there().Do(200, http.MethodPut, "/contacts/"+p.ID(), object{"phone": "+33 1 23 45 67"})
	}
	u.Do(409, http.MethodPost, "/contacts/create", object{"email": "ROBERT@example.org"})
	u.NewContact("today@example.org")
	for _, role := range it.AccountRoles {
		all := u.SearchAllPages("/"+role+"s", object{})
		u.Do(200, http.MethodPut, "/"+role+"s/"+all[0].ID(), object{"description": "Of today"})
		u.DeleteRecord(role+"s", all[1].ID())
		u.RestoreRecord(role+"s", all[1].ID())
		u.Do(200, http.MethodPost, "/"+role+"s/create", object{"name": "Made today"})
	}
	return want
}

// unpack reads the one value of a packed file.
func unpack(path string, into any) error {
	return unpackLines(path, func(l it.DumpLine, last bool) error {
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
