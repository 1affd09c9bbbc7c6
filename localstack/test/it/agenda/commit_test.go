package agenda_test

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/session"
	"lectern/shared/table"
)

// at is a place in a draft.
func (p *planner) at(from, to float64, room string) object {
	return object{"starts_at": hour(from), "ends_at": hour(to), "room_id": p.rooms[room]}
}

// isAt returns where a session is.
func (p *planner) isAt(id string) object {
	p.T.Helper()
	s := p.Get(200, id)
	at := it.Pick(s, "starts_at", "ends_at")
	at["room_id"] = nil
	if s["room"] != nil {
		at["room_id"] = s.At("room.id")
	}
	return at
}

// nowhere is a place without times and room.
var nowhere = object{"starts_at": nil, "ends_at": nil, "room_id": nil}

// changesOf returns the changes of a draft by session, without their conflicts.
func (p *planner) changesOf(draft string) (answer entity, by map[string]object) {
	p.T.Helper()
	answer = p.Do(200, http.MethodGet, draft+"/changes", nil)
	by = map[string]object{}
	for _, one := range answer["changes"].([]any) {
		one := one.(map[string]any)
		by[one["session_id"].(string)] = one
	}
	return answer, by
}

// TestADraftIsPreviewedAndCommitted: the preview, the commit and the applied set say the same, and the sessions are
// where the draft has placed them.
func TestADraftIsPreviewedAndCommitted(t *testing.T) {
	stacktest.Everywhere(t)
	p := newPlanner(t)
	draft := newDraft(p.Client, "Plan B")
	moved := p.place("Moved", "Big", 9, 10, nil)
	room := p.place("Other room", "Big", 10, 11, nil)
	out := p.place("Out", "Big", 12, 13, nil)
	stays := p.place("Stays", "Big", 13, 14, nil)
	first := p.AddSession("First", nil)
	alone := p.place("Not placed", "Small", 15, 16, nil)
	places := map[string]object{
		moved: p.at(14, 15, "Big"), room: p.at(10, 11, "Small"), out: nowhere, stays: p.at(13, 14, "Big"), first: p.at(14.5, 15.5, "Big"),
	}
	var placedAt string
	for id, at := range places {
		placedAt = put(p.Client, 200, draft, id, at).Text("created_at")
	}
	live := p.Get(200, alone)

	preview, by := p.changesOf(draft)
	require.Equal(t, "draft", preview["status"])
	require.Nil(t, preview["committed_at"])
	require.Equal(t, object{
		"total": 5.0, "scheduled": 1.0, "moved": 1.0, "room_changed": 1.0, "unscheduled": 1.0, "unchanged": 1.0, "blocked": 0.0, "conflicts": 2.0,
	}, preview["summary"].(map[string]any))
	kinds := map[string]string{moved: "moved", room: "room_changed", out: "unscheduled", first: "scheduled"}
	require.Len(t, by, len(kinds))
	for id, kind := range kinds {
		require.Equal(t, kind, by[id]["change_type"])
		require.Equal(t, places[id], by[id]["to"])
		require.Equal(t, p.Get(200, id)["title"], by[id]["title"])
	}
	require.Equal(t, p.at(9, 10, "Big"), by[moved]["from"])
	conflicts := by[moved]["conflicts"].([]any)
	require.Len(t, conflicts, 1)
	require.Equal(t, object{"type": "room_overlap", "session_id": first}, it.Pick(entity(conflicts[0].(map[string]any)), "type", "session_id"))
	require.Equal(t, p.at(9, 10, "Big"), p.isAt(moved), "a preview changes nothing")

	committed := p.Do(200, http.MethodPost, draft+"/commit", nil)
	require.Equal(t, object{"status": "committed", "applied": 4.0}, it.Pick(committed, "status", "applied"))
	require.Equal(t, committed, p.Do(200, http.MethodGet, draft, nil))
	for id, at := range places {
		require.Equal(t, at, p.isAt(id))
	}
	require.Equal(t, live, p.Get(200, alone), "a session without a place stays as it is")

	// The applied set stays, whatever happens to the sessions.
	p.Delete(200, moved)
	p.Put(200, room, object{"title": "Renamed", "starts_at": hour(20), "ends_at": hour(21)})
	applied, after := p.changesOf(draft)
	require.LessOrEqual(t, applied.Text("committed_at"), committed.Text("updated_at"))
	require.Greater(t, applied.Text("committed_at"), placedAt)
	require.Equal(t, it.Merged(preview["summary"].(map[string]any), object{"conflicts": nil}), applied["summary"])
	for id := range by {
		by[id]["conflicts"] = []any{}
	}
	require.Equal(t, by, after)

	require.Equal(t, "DRAFT_COMMITTED", p.Do(409, http.MethodPost, draft+"/commit", nil)["code"])
	require.Equal(t, "Agenda draft not found", p.Do(404, http.MethodPost, "/agenda-drafts/"+uuid.NewString()+"/commit", nil)["message"])
	require.Equal(t, "Agenda draft not found", p.Do(404, http.MethodGet, "/agenda-drafts/"+uuid.NewString()+"/changes", nil)["message"])
}

// TestACommitOfAnOutdatedDraft changes nothing, and names each session that was deleted or moved, and each room that is
// gone, until the session is placed again or taken out.
func TestACommitOfAnOutdatedDraft(t *testing.T) {
	stacktest.Everywhere(t)
	p := newPlanner(t)
	draft := newDraft(p.Client, "Plan B")
	sessions, paths, numbers := map[string]string{}, map[string]string{}, map[string]any{}
	for i, title := range []string{"Fine", "Gone", "Moved", "No room", "Moved there"} {
		sessions[title] = p.place(title, "Big", float64(9+i), float64(10+i), nil)
		numbers[sessions[title]] = p.Get(200, sessions[title])["friendly_id"]
		paths[title] = draft + "/sessions/" + put(p.Client, 200, draft, sessions[title], p.at(float64(15+i), float64(16+i), "Small")).ID()
	}
	outdated := func(want map[string]string) entity {
		refused := p.Do(409, http.MethodPost, draft+"/commit", nil)
		require.Equal(t, "DRAFT_OUTDATED", refused["code"])
		got := map[string]string{}
		for _, one := range refused.At("details.sessions").([]any) {
			one := entity(one.(map[string]any))
			got[one.Text("session_id")] = one.Text("blocked")
			require.Equal(t, numbers[one.Text("session_id")], one["friendly_id"])
		}
		require.Equal(t, want, got)
		require.EqualValues(t, len(want), refused.At("details.count"))
		preview, _ := p.changesOf(draft)
		require.EqualValues(t, len(want), preview.At("summary.blocked"))
		require.Equal(t, "draft", p.Do(200, http.MethodGet, draft, nil)["status"])
		require.Equal(t, p.at(9, 10, "Big"), p.isAt(sessions["Fine"]))
		return refused
	}
	p.Delete(200, sessions["Gone"])
	require.Contains(t, outdated(map[string]string{sessions["Gone"]: "session_deleted"})["message"], "is deleted. Take it out of the draft.")
	p.Put(200, sessions["Moved"], object{"ends_at": hour(13)})
	p.Put(200, sessions["Moved there"], object{"starts_at": hour(19), "ends_at": hour(20)}) // where the draft places it
	outdated(map[string]string{sessions["Gone"]: "session_deleted", sessions["Moved"]: "session_moved"})
	p.DeleteRecord("rooms", p.rooms["Small"])
	all := map[string]string{sessions["Gone"]: "session_deleted", sessions["Moved"]: "session_moved"}
	for _, title := range []string{"Fine", "No room", "Moved there"} {
		all[sessions[title]] = "room_deleted"
	}
	outdated(all)
	p.Do(200, http.MethodDelete, paths["Gone"], nil)
	for _, title := range []string{"Fine", "Moved", "No room", "Moved there"} {
		p.Do(200, http.MethodPut, paths[title], object{"room_id": p.rooms["Big"]})
	}
	require.EqualValues(t, 3, p.Do(200, http.MethodPost, draft+"/commit", nil)["applied"], "one is there already")
	require.Equal(t, p.at(17, 18, "Big"), p.isAt(sessions["Moved"]))
}

// grow gives a session so many bytes that a place may be too many.
func (p *planner) grow(id string) {
	p.T.Helper()
	if p.long == nil {
		p.long = object{}
		for _, name := range []string{"First text", "Second text"} {
			p.long[p.NewField(name, "wysiwyg")] = strings.Repeat("x", 60_000)
		}
	}
	p.Put(200, id, object{"description": "x", "custom_fields": p.long})
	stored, err := p.Table(p.T).Get(p.T.Context(), session.Of(p.Org, p.Event).Body(id))
	require.NoError(p.T, err)
	p.Put(200, id, object{"description": strings.Repeat("x", 150<<10-100-len(stored.Data))})
}

// TestASessionThatIsTooLargeForAPlace blocks the commit until the draft has it no more, and no other request.
func TestASessionThatIsTooLargeForAPlace(t *testing.T) {
	p := newPlanner(t)
	draft, talk := newDraft(p.Client, "Plan B"), p.AddSession("Talk", nil)
	placed := put(p.Client, 200, draft, talk, p.at(9, 10, "Big"))
	p.grow(talk)
	refused := p.Do(409, http.MethodPost, draft+"/commit", nil)
	require.Equal(t, "DRAFT_OUTDATED", refused["code"])
	require.Contains(t, refused["message"], "is too large for a place. Shorten it")
	require.Equal(t, "session_too_large", refused.At("details.sessions").([]any)[0].(map[string]any)["blocked"])
	_, by := p.changesOf(draft)
	require.Equal(t, "session_too_large", by[talk]["blocked"])
	require.Equal(t, []string{"draft"}, it.Texts(p.ListSettings("/agenda-drafts"), "status"))
	p.Do(200, http.MethodDelete, draft+"/sessions/"+placed.ID(), nil)
	require.EqualValues(t, 0, p.Do(200, http.MethodPost, draft+"/commit", nil)["applied"])
}

// TestARefusedCommitNamesAHundredSessions, and counts all.
func TestARefusedCommitNamesAHundredSessions(t *testing.T) {
	p := newPlanner(t)
	draft := newDraft(p.Client, "Plan B")
	var talks []any
	for range 101 {
		talks = append(talks, object{"title": "Talk"})
	}
	for _, talk := range p.CreateAll("sessions", talks) {
		put(p.Client, 200, draft, talk, p.at(9, 10, "Small"))
	}
	p.DeleteRecord("rooms", p.rooms["Small"])
	refused := p.Do(409, http.MethodPost, draft+"/commit", nil)
	require.EqualValues(t, 101, refused.At("details.count"))
	require.Len(t, refused.At("details.sessions"), 100)
}

// renamed is a client that calls rename before each query.
type renamed struct {
	table.Client
	rename func()
}

// Query forwards the query.
func (c renamed) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	c.rename()
	return c.Client.Query(ctx, in, o...)
}

// TestAPreviewOfADraftThatKeepsChanging is a 503 after some repetitions.
func TestAPreviewOfADraftThatKeepsChanging(t *testing.T) {
	c := newPlanner(t).newCommitting(1)
	process, at := c.through(math.MaxInt64, nil)
	var names atomic.Int64
	process.Client = renamed{process.Client, func() {
		c.TrySend(t, http.MethodPut, c.EventPath(c.draft), object{"name": fmt.Sprint("Plan ", names.Add(1))})
	}}
	at.Do(503, http.MethodGet, c.draft+"/changes", nil)
	require.GreaterOrEqual(t, names.Load(), int64(5))
	c.Do(200, http.MethodGet, c.draft+"/changes", nil)
}

// TestACommittedDraftIsClosed to every write but a deletion with force.
func TestACommittedDraftIsClosed(t *testing.T) {
	p := newPlanner(t)
	draft, other := newDraft(p.Client, "Plan B"), p.AddSession("Other", nil)
	placed := put(p.Client, 200, draft, p.AddSession("Talk", nil), p.at(9, 10, "Big"))
	require.EqualValues(t, 1, p.Do(200, http.MethodPost, draft+"/commit", nil)["applied"])
	path := draft + "/sessions/" + placed.ID()
	bulk := object{"operations": []object{{"action": "create", "data": object{"session_id": other}}}}
	for _, refused := range []entity{
		put(p.Client, 409, draft, other, nowhere), p.Do(409, http.MethodPut, path, nowhere), p.Do(409, http.MethodDelete, path, nil),
		p.Do(409, http.MethodPut, draft, object{"name": "Plan C"}), p.Do(409, http.MethodPost, draft+"/commit", nil),
		p.Do(200, http.MethodPost, draft+"/sessions/bulk", bulk).List("results")[0].At("error").(map[string]any),
	} {
		require.Equal(t, "DRAFT_COMMITTED", refused["code"], refused)
	}
	kept := p.ListSettings(draft + "/sessions")[0]
	require.Equal(t, it.Merged(object(placed), it.Pick(kept, "updated_at")), object(kept))
	needs := p.Do(409, http.MethodDelete, draft, nil)
	require.Equal(t, []any{"CONFIRMATION_REQUIRED", 1.0}, []any{needs["code"], needs.At("details.count")})
	require.NotEmpty(t, p.Do(200, http.MethodDelete, draft+"?force=true", nil)["deleted_at"])
	p.Do(404, http.MethodGet, draft+"/changes", nil)
}

// TestARepeatedCommit under an Idempotency-Key answers the draft, and another one is refused.
func TestARepeatedCommit(t *testing.T) {
	stacktest.Everywhere(t)
	p := newPlanner(t)
	draft := newDraft(p.Client, "Plan B")
	put(p.Client, 200, draft, p.AddSession("Talk", nil), p.at(9, 10, "Big"))
	empty := newDraft(p.Client, "Nothing")
	require.EqualValues(t, 0, p.Do(200, http.MethodPost, empty+"/commit", nil)["applied"])
	first := p.Do(200, http.MethodPost, draft+"/commit", nil, "Idempotency-Key", "a commit")
	require.Equal(t, first, p.Do(200, http.MethodPost, draft+"/commit", nil, "Idempotency-Key", "a commit"))
	p.Do(409, http.MethodPost, draft+"/commit", nil, "Idempotency-Key", "another")
}
