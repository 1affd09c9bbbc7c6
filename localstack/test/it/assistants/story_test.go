package assistants_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/docs"
	"lectern/functions/mcp"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// TestAnAssistantPlansAnEvent uses every tool once, and each answer has the schema of the tool.
func TestAnAssistantPlansAnEvent(t *testing.T) {
	stacktest.Everywhere(t)
	d := it.NewClient(t)
	a := newAssistant(t, d)
	require.Len(t, a.tools, len(mcp.Tools))
	require.Contains(t, a.session.InitializeResult().Instructions, "list_events")
	room := d.Call(t, http.StatusOK, http.MethodPost, d.EventPath("/rooms/create"), object{"name": "Hall", "capacity": 300}).JSON(t)
	for kind, name := range map[string]string{"tracks": "Design", "tags": "Keynote", "formats": "Talk"} {
		d.Call(t, http.StatusOK, http.MethodPost, d.EventPath("/"+kind+"/create"), object{"name": name})
	}
	for _, kind := range []string{"sponsors", "exhibitors"} {
		d.Call(t, http.StatusOK, http.MethodPost, d.EventPath("/"+kind+"/create"), object{"name": "Example Ltd"})
	}
	open := object{"name": "Best talk", "status": "open"}
	program := d.Call(t, http.StatusOK, http.MethodPost, "/v1/organization/"+id(d.Org)+"/awards/programs", open).JSON(t)

	called := map[string]bool{}
	call := func(tool string, args object) object {
		t.Helper()
		called[tool] = true
		if args == nil {
			args = object{}
		}
		args["event_id"] = d.Event
		if a.tools[tool].InputSchema.(object)["properties"].(object)["event_id"] == nil {
			delete(args, "event_id")
		}
		return a.call(tool, args)
	}
	require.EqualValues(t, d.Event, first(call("list_events", nil))["id"])
	require.Equal(t, "Hall", first(call("list_rooms", nil))["name"])
	track := first(call("list_tracks", nil))["id"]
	require.Empty(t, call("list_levels", nil)["results"])
	require.Empty(t, call("list_languages", nil)["results"])
	tag := first(call("list_tags", nil))["id"]
	format := first(call("list_formats", nil))["id"]
	require.NotEmpty(t, first(call("list_participant_roles", nil)))

	status := call("create_status", object{"name": "Waiting", "status": "pending"})
	require.Equal(t, "Shortlist", call("update_status", object{"id": status["id"], "name": "Shortlist"})["name"])
	require.Contains(t, string(mustJSON(t, call("list_statuses", nil))), `"Shortlist"`)
	field := call("create_field", object{"name": "Demo", "type": "text", "module_id": "session"})
	call("update_field", object{"field_id": field["id"], "name": "Demo needs"})
	require.NotEmpty(t, call("list_fields", nil)["results"])

	ada := call("create_contact", object{"email": "ada@example.com", "first_name": "Ada", "last_name": "Lovelace"})
	changed := call("update_contact", object{"contact_id": ada["id"], "company_name": "Engines", "email": "ada@example.org"})
	require.Equal(t, []any{"Engines", "ada@example.org"}, []any{changed["company_name"], changed["email"]})
	session := call("create_session", object{
		"title": "Notes on the engine", "description": "<p>A &amp; B</p>", "status": "accepted", "track_id": track, "format_id": format,
		"tag_ids": []any{tag}, "participants": []any{object{"contact_id": ada["id"], "core_role": "speaker"}},
		"custom_fields": object{field["internal_name"].(string): "a projector"},
	})
	require.NotContains(t, session, "capacity", "a property without a value is left out")
	updated := call("update_session", object{
		"session_id": session["id"], "room_id": room["id"], "starts_at": "2027-05-03T09:00:00Z", "ends_at": "2027-05-03T10:00:00Z",
		"custom_status_id": status["id"],
	})
	require.Equal(t, "Shortlist", updated["custom_status"].(object)["name"])
	call("update_session", object{"session_id": session["id"], "status": "accepted"})
	require.Equal(t, "Hall", updated["room"].(object)["name"])
	got := call("get_session", object{"session_id": session["id"]})
	require.Equal(t, "Engines", got["speakers"].([]any)[0].(object)["company_name"])
	found := first(call("find_sessions", object{"search": "engine", "track_ids": []any{track}, "is_abstract": false}))
	speaker := found["speakers"].([]any)[0].(object)
	delete(speaker, "participant_role")
	require.Equal(t, object{"id": ada["id"], "full_name": "Ada Lovelace", "company_name": "Engines"}, speaker)
	require.Empty(t, call("find_sessions", object{"search": "nothing has this title"})["results"])

	for _, people := range []string{"find_speakers", "find_participants", "find_contacts"} {
		require.Equal(t, ada["id"], first(call(people, object{"filters": object{"search": "lovelace"}}))["id"], people)
	}
	require.Equal(t, ada["id"], call("get_speaker", object{"contact_id": ada["id"]})["id"])
	require.Equal(t, ada["id"], call("get_contact", object{"contact_id": ada["id"]})["id"])
	require.Len(t, call("list_contact_sessions", object{"contact_id": ada["id"]})["sessions"], 1)
	call("get_sponsor", object{"sponsor_id": first(call("find_sponsors", nil))["id"]})
	call("get_exhibitor", object{"exhibitor_id": first(call("find_exhibitors", nil))["id"]})
	require.Equal(t, program["id"], first(call("list_award_programs", nil))["id"])
	grace := object{"name": "Grace", "email": "grace@example.com"}
	submitted := d.Operator(t, "award-submit", object{"org_id": d.Org, "program_id": program["id"], "submitter": grace})
	require.Equal(t, submitted["id"], first(call("list_award_submissions", object{"program_id": program["id"]}))["id"])
	submission := call("get_award_submission", object{"program_id": program["id"], "submission_id": submitted["id"]})
	require.Equal(t, "Grace", submission["submitter"].(object)["name"])
	text := d.Call(t, http.StatusCreated, http.MethodPost, d.EventPath("/sessions/"+session["id"].(string)+"/transcriptions"),
		object{"type": "fragment", "transcription": "Welcome.", "language_code": "en"}).JSON(t)["data"].(object)
	require.Equal(t, text["id"], call("list_transcriptions", object{"session_id": session["id"]})["data"].([]any)[0].(object)["id"])
	call("get_transcription", object{"id": text["id"]})

	draft := call("create_agenda_draft", object{"name": "Another day"})
	require.Equal(t, draft["id"], first(call("list_agenda_drafts", nil))["id"])
	proposed := call("propose_agenda", object{
		"draft_id": draft["id"], "days": []any{object{"starts_at": "2027-05-04T09:00:00Z", "ends_at": "2027-05-04T17:00:00Z"}},
		"slot_minutes": 30, "seed": 1, "time_limit_ms": 100,
	})
	require.EqualValues(t, 1, proposed["placed"])
	preview := call("preview_agenda_draft", object{"draft_id": draft["id"], "page_size": 1})
	require.Equal(t, session["id"], preview["changes"].([]any)[0].(object)["session_id"])
	require.EqualValues(t, 1, preview["pagination"].(object)["totalResults"])
	require.Empty(t, call("preview_agenda_draft", object{"draft_id": draft["id"], "page": 2})["changes"])
	require.Equal(t, "committed", call("commit_agenda_draft", object{"draft_id": draft["id"]})["status"])
	require.Contains(t, d.Get(http.StatusOK, session["id"].(string))["starts_at"], "2027-05-04")
	require.Empty(t, call("list_agenda_conflicts", nil)["results"])

	require.NotEmpty(t, call("get_query_schema", nil)["entities"])
	row := first(call("run_query", object{"query": "SELECT track.name, COUNT(session.id) AS n FROM sessions JOIN tracks GROUP BY track.name"}))
	require.EqualValues(t, 1, row["n"])
	for _, tool := range mcp.Tools {
		require.True(t, called[tool.Name], tool.Name)
	}

	schedule, err := a.read("lectern://events/" + id(d.Event) + "/schedule")
	require.NoError(t, err)
	require.Regexp(t, `Tuesday, 4 May 2027\n\d\d:\d\d–\d\d:\d\d Hall: Notes on the engine \(Ada Lovelace\) \[`, schedule)
	require.Contains(t, schedule, "["+session["id"].(string)+"]")
	page, err := a.read("lectern://query-language")
	require.NoError(t, err)
	require.Equal(t, docs.QueryLanguage, page)
}
