package agenda_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/functions/agendaplanning"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
)

// draftShape and placementShape are the properties of a draft and of a session in it (gaps.md 4).
const (
	draftShape     = "admin_url applied created_at description event_id id name status updated_at"
	placementShape = "created_at draft_id ends_at id room_id session_id starts_at updated_at"
)

// newDraft makes a draft and returns its path below the event.
func newDraft(c *it.Client, name string) string {
	c.T.Helper()
	return "/agenda-drafts/" + c.Do(200, http.MethodPost, "/agenda-drafts/create", object{"name": name}).ID()
}

// put places a session in a draft.
func put(c *it.Client, status int, draft, session string, at object) entity {
	c.T.Helper()
	return c.Do(status, http.MethodPost, draft+"/sessions/create", it.Merged(at, object{"session_id": session}))
}

func TestDraftsOfAnAgenda(t *testing.T) {
	stacktest.Everywhere(t)
	p := newPlanner(t)
	talk := p.place("Talk", "Big", 9, 10, nil)
	live := p.Get(200, talk)
	require.Equal(t, "[]", string(p.Call(t, 200, http.MethodGet, p.EventPath("/agenda-drafts"), nil).Body))
	draft := p.Do(200, http.MethodPost, "/agenda-drafts/create", object{"name": "Plan B"})
	require.Equal(t, draftShape, it.KeysOf(draft))
	require.Equal(t, object{"event_id": float64(p.Event), "name": "Plan B", "description": nil, "status": "draft"},
		it.Pick(draft, "event_id", "name", "description", "status"))
	first, second := "/agenda-drafts/"+draft.ID(), newDraft(p.Client, "Plan C")
	require.Equal(t, "Agenda draft not found", p.Do(404, http.MethodGet, "/agenda-drafts/"+uuid.NewString(), nil)["message"])

	placed := put(p.Client, 200, first, talk, object{"starts_at": hour(11), "ends_at": hour(12), "room_id": p.rooms["Small"]})
	require.Equal(t, placementShape, it.KeysOf(placed))
	require.Equal(t, object{"draft_id": draft.ID(), "session_id": talk, "room_id": p.rooms["Small"]}, it.Pick(placed, "draft_id", "session_id", "room_id"))
	require.Empty(t, p.ListSettings(second+"/sessions"), "drafts do not depend on each other")
	require.Equal(t, "DUPLICATE_SESSION_ID", put(p.Client, 409, first, talk, object{})["code"])
	unscheduled := put(p.Client, 200, second, talk, object{})
	require.Equal(t, object{"starts_at": nil, "ends_at": nil, "room_id": nil}, it.Pick(unscheduled, "starts_at", "ends_at", "room_id"))
	path := first + "/sessions/" + placed.ID()
	later := p.Do(200, http.MethodPut, path, object{"ends_at": hour(13)})
	require.Equal(t, it.Merged(object(placed), it.Pick(later, "ends_at", "updated_at")), object(later))
	require.Equal(t, []entity{later}, p.ListSettings(first+"/sessions"))
	require.Equal(t, live, p.Get(200, talk), "a draft changes nothing that is live")

	require.NotEmpty(t, p.Do(200, http.MethodDelete, path, nil)["deleted_at"])
	require.Equal(t, "Draft session not found", p.Do(404, http.MethodPut, path, object{})["message"])
	put(p.Client, 200, first, talk, object{})
	require.NotEmpty(t, p.Do(200, http.MethodDelete, first, nil)["deleted_at"])
	require.Equal(t, "Agenda draft not found", p.Do(404, http.MethodGet, first+"/sessions", nil)["message"])
	require.Equal(t, live, p.Get(200, talk))
	require.Equal(t, []entity{unscheduled}, p.ListSettings(second+"/sessions"))
}

// TestAPlacementNamesASessionAndARoomOfTheEvent, when it is made and whenever it is changed.
func TestAPlacementNamesASessionAndARoomOfTheEvent(t *testing.T) {
	p := newPlanner(t)
	other := it.NewProgramme(t)
	draft := newDraft(p.Client, "Plan B")
	talk, gone := p.place("Talk", "Big", 9, 10, nil), p.place("Gone", "Big", 9, 10, nil)
	p.Delete(200, gone)
	for _, unknown := range []string{uuid.NewString(), gone, other.AddSession("Elsewhere", nil)} {
		it.RequireError(t, put(p.Client, 400, draft, unknown, object{}), "VALIDATION_ERROR", "session_id")
	}
	small := p.rooms["Small"]
	for _, unknown := range []string{uuid.NewString(), other.NewEntry("rooms", "There").ID(), talk} {
		it.RequireError(t, put(p.Client, 400, draft, talk, object{"room_id": unknown}), "VALIDATION_ERROR", "room_id")
	}
	path := draft + "/sessions/" + put(p.Client, 200, draft, talk, object{"starts_at": hour(9), "ends_at": hour(10), "room_id": small}).ID()
	it.RequireError(t, p.Do(400, http.MethodPut, path, object{"starts_at": hour(10)}), "VALIDATION_ERROR", "starts_at")
	it.RequireError(t, p.Do(400, http.MethodPut, path, object{"session_id": uuid.NewString()}), "VALIDATION_ERROR", "session_id")
	p.Do(200, http.MethodPut, path, object{"session_id": talk, "starts_at": hour(9.5)})
	p.DeleteRecord("rooms", small)
	it.RequireError(t, p.Do(400, http.MethodPut, path, object{"starts_at": hour(9)}), "VALIDATION_ERROR", "room_id")
	p.Do(200, http.MethodPut, path, object{"room_id": nil})
	p.Delete(200, talk)
	it.RequireError(t, p.Do(400, http.MethodPut, path, object{"starts_at": hour(9)}), "VALIDATION_ERROR", "session_id")
	p.Do(200, http.MethodDelete, path, nil)
}

// TestABulkOfPlacements has as many operations as every other bulk, in the transactions of a few.
func TestABulkOfPlacements(t *testing.T) {
	log := &stacktest.Log{}
	p := &planner{Programme: it.ProgrammeOf(&it.Client{Stack: stacktest.Start(t, stacktest.WithLog(log)), T: t})}
	draft := newDraft(p.Client, "Plan B")
	var operations []object
	for i := range 100 {
		session := p.AddSession(fmt.Sprint("Talk ", i), nil)
		data := object{"session_id": session, "starts_at": hour(float64(i)), "ends_at": hour(float64(i + 1))}
		operations = append(operations, object{"action": "create", "data": data})
	}
	answer := p.Call(t, 200, http.MethodPost, p.EventPath(draft+"/sessions/bulk"), object{"operations": operations})
	require.Equal(t, 100.0, entity(answer.JSON(t)).At("stats.succeeded"))
	require.Len(t, p.ListSettings(draft+"/sessions"), 100)
	p.requireRepeatedBulk(operations[:2])
	line := log.Fields(t, answer.Header.Get("X-Request-Id"))
	require.LessOrEqual(t, line["round_trips"], 12.0, "%v", line)
	for _, body := range []object{{"operations": []object{}}, {"operations": append(operations, operations[0])}, {}} {
		it.RequireInvalid(t, p.Do(400, http.MethodPost, draft+"/sessions/bulk", body), "operations")
	}
	p.Do(404, http.MethodPost, "/agenda-drafts/"+uuid.NewString()+"/sessions/bulk", object{"operations": operations[:1]})
}

// requireRepeatedBulk checks that a repeated bulk answers the same after the draft is deleted.
func (p *planner) requireRepeatedBulk(operations []object) {
	p.T.Helper()
	draft := newDraft(p.Client, "Soon deleted")
	body := object{"operations": operations}
	first := p.Do(200, http.MethodPost, draft+"/sessions/bulk", body, "Idempotency-Key", "a bulk")
	require.Equal(p.T, 2.0, first.At("stats.succeeded"))
	p.Do(200, http.MethodDelete, draft, nil)
	require.Equal(p.T, first, p.Do(200, http.MethodPost, draft+"/sessions/bulk", body, "Idempotency-Key", "a bulk"))
	p.Do(404, http.MethodPost, draft+"/sessions/bulk", body, "Idempotency-Key", "another")
}

// TestTheAddressOfADraft in the admin application, where one is configured.
func TestTheAddressOfADraft(t *testing.T) {
	c := it.NewClient(t)
	made := c.Do(200, http.MethodPost, "/agenda-drafts/create", object{"name": "Plan B"})
	require.Nil(t, made["admin_url"])
	at := c.ServeGroup(agendaplanning.Group, func(env *api.Env) { env.AdminURL = "https://admin.example.org" })
	want := fmt.Sprintf("https://admin.example.org/event/%d/agenda-drafts/%s", c.Event, made.ID())
	for _, shown := range []entity{
		at.Do(200, http.MethodGet, "/agenda-drafts/"+made.ID(), nil), at.ListSettings("/agenda-drafts")[0],
		at.Do(200, http.MethodPut, "/agenda-drafts/"+made.ID(), object{"name": "Plan C"}),
	} {
		require.Equal(t, want, shown["admin_url"])
	}
	require.Nil(t, c.Do(200, http.MethodGet, "/agenda-drafts/"+made.ID(), nil)["admin_url"], "the address is not stored")
}
