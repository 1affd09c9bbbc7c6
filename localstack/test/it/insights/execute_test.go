// Package insights_test asks queries about events over HTTP.
package insights_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

type object = it.Object

// asker is an event whose programme is asked about.
type asker struct{ *it.Programme }

// newAsker starts a region with an event of some sessions:
//
//	Alpha  track Web,   room Hall,  accepted, 9:00 to 10:00, speaker Ann, tags Go and Cloud, sponsor Acme
//	Beta   track Web,               pending,                 speakers Ann and Ben
//	Gamma  abstract, track Cloud,   pending
//	Part   subsession of Alpha
func newAsker(t *testing.T) *asker {
	t.Helper()
	a := &asker{it.NewProgramme(t, "sessions_2_0", "participant_roles")}
	for _, name := range []string{"Ann", "Ben", "Cid"} {
		a.AddContact(name)
	}
	web, cloud := a.NewEntry("tracks", "Web", object{"color": "#112233"}).ID(), a.NewEntry("tracks", "Cloud").ID()
	hall := a.NewEntry("rooms", "Hall", object{"capacity": 80}).ID()
	golang, clouds := a.NewEntry("tags", "Go").ID(), a.NewEntry("tags", "Cloud").ID()
	sponsor := a.Do(200, http.MethodPost, "/sponsors/create", object{"name": "Acme", "contacts": []any{object{"contact_id": a.IDs["Cid"]}}}).ID()
	alpha := a.Create(200, object{
		"title": "Alpha", "track_id": web, "location": "room", "room_id": hall, "status": "accepted", "starts_at": "2027-05-10T09:00:00Z",
		"ends_at": "2027-05-10T10:00:00Z", "tag_ids": []any{golang, clouds}, "participants": it.ParticipantsOf([]string{"Ann speaker"}),
		"sponsor_ids": []any{sponsor}, "description": "The first.",
	})
	a.Create(200, object{
		"title": "Beta", "track_id": web, "status": "pending", "participants": it.ParticipantsOf([]string{"Ann speaker", "Ben speaker", "Cid moderator"}),
	})
	a.Create(200, object{"title": "Gamma", "track_id": cloud, "status": "pending", "is_abstract": true})
	a.NewSubsession(alpha.ID(), "Part")
	return a
}

// ask runs a query over the event, with personal data as it is, and returns the results.
func (a *asker) ask(query string, more ...object) []any {
	a.T.Helper()
	return a.answer(200, query, more...)["results"].([]any)
}

// answer sends a query.
func (a *asker) answer(status int, query string, more ...object) it.Entity {
	a.T.Helper()
	return a.Do(status, http.MethodPost, "/insights/execute", it.Merged(object{"query": query, "obfuscatePii": false, "limit": 100}, more...))
}

// column runs a query and returns the values of its only column.
func (a *asker) column(query string, more ...object) (values []any) {
	a.T.Helper()
	values = []any{}
	for _, row := range a.ask(query, more...) {
		for _, v := range row.(map[string]any) {
			values = append(values, v)
		}
	}
	return values
}

// TestQueries of each entity and relation.
func TestQueries(t *testing.T) {
	stacktest.Everywhere(t)
	a := newAsker(t)
	event := float64(a.Event)
	for query, want := range map[string][]any{
		"SELECT session.title FROM sessions ORDER BY session.title":                                                       {"Alpha", "Beta"},
		"FIND session WHERE title = 'Alpha' AND status = 'accepted'; ":                                                    nil,
		"SELECT abstract.title FROM abstracts":                                                                            {"Gamma"},
		"SELECT subsession.title FROM subsessions":                                                                        {"Part"},
		"SELECT subsession.title FROM subsessions JOIN sessions WHERE session.title = 'Alpha'":                            {"Part"},
		"SELECT title FROM sessions WHERE starts_at >= '2027-05-10' AND ends_at <= '2027-05-10T10:00:00Z'":                {"Alpha"},
		"SELECT session.title FROM sessions WHERE session.description LIKE 'the f%'":                                      {"Alpha"},
		"SELECT session.start_date FROM sessions WHERE session.duration_minutes = 60":                                     {"2027-05-10"},
		"SELECT track.name FROM sessions JOIN tracks WHERE session.title = 'Beta'":                                        {"Web"},
		"SELECT COUNT(session.id) AS n FROM tracks LEFT JOIN sessions GROUP BY track.name ORDER BY track.name":            {0.0, 2.0},
		"SELECT track.color FROM tracks WHERE color IS NOT NULL":                                                          {"#112233"},
		"SELECT session.title FROM rooms JOIN sessions WHERE room.capacity BETWEEN 50 AND 100":                            {"Alpha"},
		"SELECT tag.name FROM sessions JOIN tags WHERE session.title = 'Alpha' ORDER BY tag.name":                         {"Cloud", "Go"},
		"SELECT COUNT(session.id) AS n FROM speakers JOIN sessions GROUP BY speaker.full_name ORDER BY speaker.full_name": {2.0, 1.0},
		"SELECT speaker.email FROM sessions JOIN speakers WHERE session.title = 'Alpha'":                                  {"ann@example.org"},
		"SELECT contact.email FROM contacts ORDER BY contact.email":                                                       {"ann@example.org", "ben@example.org", "cid@example.org"},
		"SELECT contact.email FROM sessions JOIN contacts WHERE session.title = 'Beta' AND contact.email LIKE 'c%'":       {"cid@example.org"},
		"SELECT participant.role_slug FROM participants JOIN contacts WHERE contact.email = 'cid@example.org'":            {"moderator"},
		"SELECT session.title FROM participant_contacts JOIN sessions WHERE participant.core_role = 'moderator'":          {"Beta"},
		"SELECT COUNT(participant.id) AS n FROM sessions JOIN participants GROUP BY session.title ORDER BY session.title": {1.0, 3.0},
		"SELECT sponsor.name FROM sponsors":                                                                               {"Acme"},
		"SELECT sponsor.name FROM sessions JOIN sponsors":                                                                 {"Acme"},
		"SELECT contact.email FROM sponsors JOIN contacts":                                                                {"cid@example.org"},
		"SELECT exhibitor.name FROM exhibitors":                                                                           {},
		"SELECT event.id FROM sessions JOIN events WHERE session.title IN ('Alpha', 'Nobody')":                            {event},
		"SELECT track.name FROM sessions JOIN events JOIN tracks WHERE session.title = 'Beta'":                            {"Web"},
		"SELECT file.id FROM files JOIN sessions":                                                                         {},
		"SELECT language.name FROM languages":                                                                             {},
		"SELECT level.name FROM levels":                                                                                   {}, "SELECT format.name FROM formats": {},
		"SELECT session.title FROM sessions LEFT JOIN speakers WHERE speaker.id IS NULL": {},
		"SELECT session.composition_role FROM sessions WHERE title = 'Alpha'":            {"standalone"},
	} {
		if want == nil {
			require.Len(t, a.ask(query), 1, query)
			continue
		}
		require.Equal(t, want, a.column(query), query)
	}
}

// TestResultsFollowWrites at once.
func TestResultsFollowWrites(t *testing.T) {
	a := newAsker(t)
	const query = "SELECT session.title FROM sessions WHERE session.capacity = 7"
	require.Empty(t, a.column(query))
	id := a.ask("SELECT session.id FROM sessions WHERE title = 'Beta'")[0].(map[string]any)["session.id"].(string)
	a.Put(200, id, object{"capacity": 7})
	require.Equal(t, []any{"Beta"}, a.column(query))
	a.Delete(200, id)
	require.Empty(t, a.column(query))
	a.Restore(200, id)
	require.Equal(t, []any{"Beta"}, a.column(query))
	a.DeletePerson("contacts", "Ann")
	require.Equal(t, []any{"Ben"}, a.column("SELECT speaker.full_name FROM speakers"))
	require.Equal(t, []any{"ben@example.org", "cid@example.org"}, a.column("SELECT contact.email FROM participants JOIN contacts ORDER BY contact.email"))
}

// TestCustomFields are columns with the type of the field.
func TestCustomFields(t *testing.T) {
	a := newAsker(t)
	id := a.ask("SELECT session.id FROM sessions WHERE title = 'Beta'")[0].(map[string]any)["session.id"].(string)
	values := object{}
	for _, kind := range []string{"text", "number", "checkbox", "date", "datetime", "wysiwyg"} {
		values[a.NewField("My "+kind, kind)] = map[string]any{
			"text": "Blue", "number": 3.5, "checkbox": true, "date": "2027-05-11", "datetime": "2027-05-11T09:30:00+02:00", "wysiwyg": "<p>Long</p>",
		}[kind]
	}
	options := a.NewField("Many", "dropdown", object{"options": []any{"A", "B"}, "multiple": true})
	values[options] = []any{"A", "B"}
	a.PutFields(200, id, values)
	for condition := range map[string]bool{
		"session.custom.my_text = 'Blue'": true, "custom.my_number > 3": true, "session.custom.my_checkbox = TRUE": true,
		"session.custom.my_date = '2027-05-11'": true, "session.custom.my_datetime = '2027-05-11T07:30:00Z'": true,
		"session.custom.my_wysiwyg CONTAINS 'long'": true, "session.custom.many = 'A, B'": true,
	} {
		require.Equal(t, []any{"Beta"}, a.column("SELECT session.title FROM sessions WHERE "+condition), condition)
	}
	a.answer(400, "SELECT session.custom.nothing FROM sessions")
}

// TestMistakes are a 400 with their place.
func TestMistakes(t *testing.T) {
	a := newAsker(t)
	refused := a.answer(400, "SELECT session.titel FROM sessions")
	require.Equal(t, "VALIDATION_ERROR", refused.Text("code"))
	require.Equal(t, map[string]any{"field": "query", "line": 1.0, "column": 8.0, "did_you_mean": "session.title"}, refused["details"])
	require.Contains(t, refused.Text("message"), "session.titel")
	for _, body := range []object{
		{"query": ""}, {"query": 3}, {}, {"query": "SELECT"}, {"query": "DROP TABLE sessions"}, {"query": "FIND Session", "limit": 0},
		{"query": "FIND Session", "limit": 101}, {"query": "FIND Session", "page": 0}, {"query": "FIND Session", "obfuscatePii": "no"},
		{"query": "FIND Session", "obfuscatePii": nil},
	} {
		a.Do(400, http.MethodPost, "/insights/execute", body)
	}
}

// TestPages neither repeat nor skip a row.
func TestPages(t *testing.T) {
	a := newAsker(t)
	for i := range 7 {
		a.Create(200, object{"title": fmt.Sprint("Same ", i%2)})
	}
	seen := map[any]bool{}
	for page := 1; page <= 4; page++ {
		answer := a.answer(200, "SELECT session.id, session.title FROM sessions ORDER BY session.title", object{"page": page, "limit": 3})
		require.Equal(t, map[string]any{"currentPage": float64(page), "pageSize": 3.0, "totalPages": 3.0, "totalResults": 9.0}, answer["pagination"])
		for _, row := range answer["results"].([]any) {
			seen[row.(map[string]any)["session.id"]] = true
		}
	}
	require.Len(t, seen, 9)
}

// TestPersonalData is masked by default, for tokens that mask it, and for callers without read:contacts.
func TestPersonalData(t *testing.T) {
	a := newAsker(t)
	dora := a.NewContact("dora@mail.example.com", object{"phone_mobile": "+1 555 123 4567", "gender": "female", "first_name": "Dora"}).ID()
	a.Create(200, object{"title": "Dora's", "participants": []any{object{"contact_id": dora, "core_role": "moderator"}}})
	const query = "SELECT contact.email, contact.phone_mobile, contact.gender, contact.first_name FROM contacts WHERE contact.first_name = 'Dora'"
	plain := object{"contact.email": "dora@mail.example.com", "contact.phone_mobile": "+1 555 123 4567", "contact.gender": "female", "contact.first_name": "Dora"}
	masked := object{"contact.email": "d***@m***.com", "contact.phone_mobile": "***-***-4567", "contact.gender": "***", "contact.first_name": "Dora"}
	sees := func(c *asker, want object, more ...object) {
		t.Helper()
		require.Equal(t, []any{want}, c.ask(query, more...))
	}
	sees(a, plain)
	sees(a, masked, object{"obfuscatePii": true})
	require.Equal(t, []any{masked}, a.Do(200, http.MethodPost, "/insights/execute", object{"query": query})["results"])
	for _, token := range []string{
		a.NewToken(t, "read:insights"), a.TokenWith(t, object{"scopes": []any{"read:insights", "read:contacts"}, "obfuscate_pii": true}),
	} {
		other := &asker{it.ProgrammeOf(a.WithToken(token))}
		sees(other, masked)
		other.answer(400, "SELECT contact.id FROM contacts WHERE contact.email = 'dora@mail.example.com'")
	}
	sees(&asker{it.ProgrammeOf(a.WithToken(a.NewToken(t, "read:insights", "read:contacts")))}, plain)
	for _, entity := range []string{"contact", "participant", "speaker"} { // Each has the fields of contacts.
		a.Create(200, object{"title": entity, "participants": []any{object{"contact_id": dora, "core_role": "speaker"}}})
		query := strings.ReplaceAll("SELECT E.email AS email, E.phone_mobile AS phone, E.gender AS gender FROM Es WHERE E.first_name = 'Dora' LIMIT 1", "E.", entity+".")
		rows := a.ask(strings.Replace(query, "Es ", entity+"s ", 1), object{"obfuscatePii": true})
		require.Equal(t, []any{map[string]any{"email": "d***@m***.com", "phone": "***-***-4567", "gender": "***"}}, rows, entity)
	}
}

// across sends a query about events of the organization.
func (a *asker) across(status int, query string, more ...object) stacktest.Answer {
	a.T.Helper()
	return a.Call(a.T, status, http.MethodPost, "/v1/insights/execute", it.Merged(object{"query": query}, more...))
}

// TestAcrossEvents: each event has its own records; others' events are unknown.
func TestAcrossEvents(t *testing.T) {
	stacktest.Everywhere(t)
	a := newAsker(t)
	other := &asker{it.ProgrammeOf(a.InNewEvent())}
	other.Create(200, object{"title": "Elsewhere"})
	other.NewContact("ann@example.org")
	foreign := a.NewOrganization(t)
	const titles = "SELECT event.id, session.title FROM sessions JOIN events ORDER BY session.title"
	all := it.Entity(a.across(200, titles).JSON(t))
	require.Equal(t, []any{
		map[string]any{"event.id": float64(a.Event), "session.title": "Alpha"}, map[string]any{"event.id": float64(a.Event), "session.title": "Beta"},
		map[string]any{"event.id": float64(other.Event), "session.title": "Elsewhere"},
	}, all["results"])
	one := it.Entity(a.across(200, titles, object{"eventId": other.Event}).JSON(t))
	require.Len(t, one["results"], 1)
	require.Len(t, it.Entity(a.across(200, titles, object{"eventIds": []any{a.Event, other.Event, a.Event}}).JSON(t))["results"], 3)
	count := it.Entity(a.across(200, "SELECT COUNT(contact.id) AS n, COUNT(DISTINCT contact.id) AS people FROM contacts").JSON(t))
	require.Equal(t, []any{map[string]any{"n": 4.0, "people": 3.0}}, count["results"], "a contact on two events")
	for _, unknown := range []int64{foreign.Event, 999_999_999} {
		a.across(404, titles, object{"eventIds": []any{a.Event, unknown}})
	}
	limited := &asker{it.ProgrammeOf(a.WithToken(a.TokenWith(t, object{"scopes": []any{"read:insights"}, "event_ids": []any{other.Event}})))}
	require.Len(t, it.Entity(limited.across(200, titles).JSON(t))["results"], 1)
	limited.across(404, titles, object{"eventId": a.Event})
}

// TestArrangements of a result.
func TestArrangements(t *testing.T) {
	stacktest.Everywhere(t)
	a := newAsker(t)
	const query = "SELECT session.title, session.status, session.participant_count FROM sessions"
	results := func(more ...object) any {
		t.Helper()
		return it.Entity(a.across(200, query, more...).JSON(t))["results"]
	}
	require.Len(t, results(object{"search": "ALPH"}), 1)
	require.Equal(t, []any{map[string]any{"session.status": "accepted", "count": 1.0}, map[string]any{"session.status": "pending", "count": 1.0}},
		results(object{"groupBy": "session.status", "sortBy": "session.status"}))
	require.Equal(t, []any{map[string]any{"session.title": "Alpha", "accepted": 1.0, "pending": nil}, map[string]any{"session.title": "Beta", "accepted": nil, "pending": 3.0}},
		results(object{"pivot": object{"row": "session.title", "column": "session.status", "value": "session.participant_count", "aggregate": "sum"}, "sortBy": "session.title"}))
	require.Equal(t, "Beta", results(object{"sortBy": "session.title", "sortDirection": "desc"}).([]any)[0].(map[string]any)["session.title"])
	for _, wrong := range []object{
		{"sortBy": "nothing"}, {"groupBy": "nothing"}, {"pivot": object{"row": "session.title", "column": "x"}}, {"pivot": object{"row": "x", "column": "session.title"}},
		{"pivot": object{"row": "session.title", "column": "session.status", "aggregate": "sum"}},
		{"pivot": object{"row": "session.title", "column": "session.status", "value": "session.title", "aggregate": "sum"}},
		{"groupBy": "session.title", "pivot": object{"row": "session.title", "column": "session.status"}}, {"format": "xml"}, {"eventIds": []any{}}, {"eventId": 0},
	} {
		a.across(400, query, wrong)
	}
	for _, title := range []string{`Say "hi"`, `a":1,"b`, "back\\slash", "<b>&amp;", "日本"} {
		made := a.Create(200, object{"title": title})
		row := it.Entity(a.across(200, query, object{"pivot": object{"row": "session.status", "column": "session.title"}}).JSON(t))["results"].([]any)[0].(map[string]any)
		require.Contains(t, row, title)
		require.Len(t, row, 4, "the status and three titles")
		a.Delete(200, made.ID())
	}
	const private = "SELECT contact.email, contact.company_name FROM contacts"
	for _, wrong := range []object{
		{"sortBy": "contact.email"}, {"groupBy": "contact.email"}, {"pivot": object{"row": "contact.email", "column": "contact.company_name"}},
		{"pivot": object{"row": "contact.company_name", "column": "contact.email"}},
	} {
		a.across(400, private, wrong)
		a.across(200, private, wrong, object{"obfuscatePii": false})
	}
}

// TestSuggestionsRun as they are, as do the examples of the schema.
func TestSuggestionsRun(t *testing.T) {
	stacktest.Everywhere(t)
	a := newAsker(t)
	a.NewField("Level of detail", "dropdown", object{"options": []any{"A", "B"}})
	suggestions := a.Do(200, http.MethodGet, "/insights/suggestions", nil).List("suggestions")
	require.Greater(t, len(suggestions), 12)
	for _, s := range suggestions {
		a.Do(200, http.MethodPost, "/insights/execute", object{"query": s.Text("query")})
		a.across(200, s.Text("query"))
	}
	for _, path := range []string{a.EventPath("/insights/schema"), fmt.Sprintf("/v1/insights/events/%d/schema", a.Event), "/v1/insights/schema"} {
		schema := it.Entity(a.Call(t, 200, http.MethodGet, path, nil).JSON(t))
		require.Len(t, schema.List("entities"), 16)
		require.Len(t, schema["examples"], len(suggestions))
		if path == "/v1/insights/schema" {
			require.NotContains(t, schema, "session_participant_roles")
		} else {
			require.Len(t, schema["session_participant_roles"], 3)
		}
	}
	require.Len(t, it.Entity(a.Call(t, 200, http.MethodGet, "/v1/insights/suggestions", nil).JSON(t)).List("suggestions"), len(suggestions))
}

// TestWritingNeedsAModel: without one configured, a prompt is a 503. A wrong prompt is a 400.
func TestWritingNeedsAModel(t *testing.T) {
	stacktest.Everywhere(t)
	a := newAsker(t)
	for _, path := range []string{a.EventPath("/insights/ai/generate"), "/v1/insights/ai/generate"} {
		refused := it.Entity(a.Call(t, 503, http.MethodPost, path, object{"prompt": "How many sessions are there?"}).JSON(t))
		require.Equal(t, "AI_NOT_CONFIGURED", refused["code"])
		long := func(n int) string { return strings.Repeat("ü", n) }
		message := func(role, content string) object { return object{"role": role, "content": content} }
		many := slices.Repeat([]any{message("user", long(4000))}, 20)
		a.Call(t, 503, http.MethodPost, path, object{"prompt": long(2000), "conversationHistory": many})
		for _, wrong := range []struct {
			field string
			body  object
		}{
			{"prompt", object{}}, {"prompt", object{"prompt": ""}}, {"prompt", object{"prompt": " "}}, {"prompt", object{"prompt": 3}},
			{"prompt", object{"prompt": long(2001)}},
			{"conversationHistory", object{"prompt": "x", "conversationHistory": append(many, message("user", "x"))}},
			{"conversationHistory[0].role", object{"prompt": "x", "conversationHistory": []any{message("system", "x")}}},
			{"conversationHistory[0].content", object{"prompt": "x", "conversationHistory": []any{message("user", "")}}},
			{"conversationHistory[1].content", object{"prompt": "x", "conversationHistory": []any{many[0], message("assistant", "\n")}}},
			{"conversationHistory[0].content", object{"prompt": "x", "conversationHistory": []any{message("user", long(4001))}}},
		} {
			it.RequireInvalid(t, it.Entity(a.Call(t, 400, http.MethodPost, path, wrong.body).JSON(t)), wrong.field)
		}
	}
	a.Call(t, 404, http.MethodPost, "/v1/insights/ai/generate", object{"prompt": "x", "eventId": 999_999_999})
}
