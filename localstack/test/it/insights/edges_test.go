package insights_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// TestMembers are numbers in fields of type user: a member's id is no text.
func TestMembers(t *testing.T) {
	a := newAsker(t)
	owner := a.NewField("Owner", "user")
	made := a.Create(200, object{"title": "Owned", "custom_fields": object{owner: a.Member}})
	for _, condition := range []string{"= %d", "IN (1, %d)", "BETWEEN 1 AND %d", ">= %d"} {
		query := fmt.Sprintf("SELECT session.title FROM sessions WHERE session.custom.owner "+condition, a.Member)
		require.Equal(t, []any{"Owned"}, a.column(query), query)
	}
	a.answer(400, "SELECT session.title FROM sessions WHERE session.custom.owner = '1'")
	require.Equal(t, []any{float64(a.Member)}, a.column("SELECT session.custom.owner FROM sessions WHERE session.id = '"+made.ID()+"'"))
}

// TestLongAnswers are a 400 that says what helps, or are sent: never a 5xx.
func TestLongAnswers(t *testing.T) {
	a := newAsker(t)
	for i := range 99 {
		a.NewEntry("tags", fmt.Sprint("Tag ", i))
	}
	a.NewContact("long@example.org", object{"about": strings.Repeat("é", 32<<10)})
	const query = "SELECT contact.about, tag.name FROM contacts JOIN events JOIN tags WHERE contact.email = 'long@example.org'"
	refused := a.answer(400, query)
	it.RequireInvalid(t, refused, "limit")
	require.Contains(t, refused.Text("message"), "Ask again with a limit of 79 or less.")
	a.answer(200, query, object{"limit": 79})
	csv := object{"format": "csv", "obfuscatePii": false, "limit": 100}
	long := it.Entity(a.across(400, query, csv).JSON(t))
	it.RequireInvalid(t, long, "limit")
	a.across(200, query, csv, object{"limit": named(t, long)})
	body := it.Merged(csv, object{"query": query})
	zipped := a.Call(t, 200, http.MethodPost, "/v1/insights/execute", stacktest.WithHeaders(body, "Accept", "text/csv", "Accept-Encoding", "gzip"))
	require.Equal(t, "gzip", zipped.Header.Get("Content-Encoding"))
}

// limitNamed matches the limit that a refusal of a long answer names.
var limitNamed = regexp.MustCompile(`Ask again with a limit of (\d+) or less\.`)

// named returns the limit that a refusal names.
func named(t *testing.T, refused it.Entity) int {
	t.Helper()
	found := limitNamed.FindStringSubmatch(refused.Text("message"))
	require.Len(t, found, 2, refused.Text("message"))
	limit, err := strconv.Atoi(found[1])
	require.NoError(t, err)
	return limit
}

// TestLongCSVOfMarks: quotes take more space as CSV and in the answer of a function, and little where they are compressed. The limit that
// a refusal names fits, and is not far below what fits.
func TestLongCSVOfMarks(t *testing.T) {
	a := newAsker(t)
	for i := range 40 {
		a.Create(200, object{"title": fmt.Sprintf("Talk %02d", i), "description": strings.Repeat(`"`, 65_535)})
	}
	query, csv := "SELECT session.description FROM sessions", object{"format": "csv", "limit": 40}
	refused := it.Entity(a.across(400, query, csv).JSON(t))
	it.RequireInvalid(t, refused, "limit")
	fits := named(t, refused)
	a.across(200, query, csv, object{"limit": fits})
	a.across(400, query, csv, object{"limit": fits + 4}) // Two sessions have no description.
	for _, limit := range []int{fits, 36, 40} {
		body := it.Merged(csv, object{"query": query, "limit": limit})
		a.Call(t, 200, http.MethodPost, "/v1/insights/execute", stacktest.WithHeaders(body, "Accept", "text/csv", "Accept-Encoding", "gzip"))
	}
}

// TestCSV escapes what a spreadsheet would run, also after a mark at which the spreadsheet may part a text.
func TestCSV(t *testing.T) {
	a := newAsker(t)
	a.Create(200, object{"title": "=HYPERLINK(\"https://example.org\")", "capacity": 3})
	a.Create(200, object{"title": "Talk;=1+1", "description": "-1\n- a\n =2;@3"})
	got := a.across(200, "SELECT session.title, session.capacity FROM sessions ORDER BY session.title", object{"format": "csv"})
	require.Equal(t, "text/csv; charset=utf-8", got.Header.Get("Content-Type"))
	require.Equal(t, "session.title,session.capacity\r\n\"'=HYPERLINK(\"\"https://example.org\"\")\",3\r\nAlpha,\r\nBeta,\r\n\"Talk;'=1+1\",\r\n", string(got.Body))
	got = a.across(200, "SELECT session.title, session.description FROM sessions WHERE session.title LIKE 'Talk%'", object{"format": "csv"})
	require.Equal(t, "session.title,session.description\r\n\"Talk;'=1+1\",\"'-1\n- a\n '=2;'@3\"\r\n", string(got.Body))
	got = a.across(200, "SELECT session.capacity FROM sessions ORDER BY session.title", object{"format": "csv"})
	require.Equal(t, "\"session.capacity\"\r\n3\r\n\"\"\r\n\"\"\r\n\"\"\r\n", string(got.Body), "a reader passes over an empty line")
}

// TestWithoutEvents: an organization without events, and an event without a time zone, answer.
func TestWithoutEvents(t *testing.T) {
	a := newAsker(t)
	empty := a.NewOrganization(t)
	empty.Org = int64(a.Operator(t, "organization-create", object{"name": "Empty"})["id"].(float64))
	empty.Member = int64(a.Operator(t, "member-create", object{"org_id": empty.Org, "name": "Admin", "email": "admin@example.org", "role": "admin"})["id"].(float64))
	none := &asker{it.ProgrammeOf(&it.Client{Stack: empty.As(empty.NewToken(t, "read:insights")), T: t})}
	for query, want := range map[string][]any{
		"SELECT COUNT(*) AS n FROM sessions": {map[string]any{"n": 0.0}}, "FIND Session": {}, "SELECT event.id FROM events": {}, "SELECT * FROM contacts": {},
		"SELECT SUM(session.capacity) AS n FROM sessions JOIN speakers": {map[string]any{"n": nil}},
	} {
		require.Equal(t, want, it.Entity(none.across(200, query).JSON(t))["results"], query)
	}
	none.across(404, "FIND Session", object{"eventId": a.Event})
	for _, path := range []string{"schema", "suggestions"} {
		none.Call(t, 200, "GET", "/v1/insights/"+path, nil)
	}
	zoneless := a.In(int64(a.Operator(t, "event-create", object{
		"org_id": a.Org, "name": "Zoneless", "default_language": "en", "starts_at": "2027-05-11T14:00:00Z", "ends_at": "2027-05-13T23:00:00Z",
	})["id"].(float64)))
	b := &asker{it.ProgrammeOf(&it.Client{Stack: zoneless, T: t})}
	b.Create(200, object{"title": "Late", "starts_at": "2027-05-11T23:30:00Z", "ends_at": "2027-05-12T00:30:00Z"})
	require.Equal(t, []any{map[string]any{"session.start_date": "2027-05-11", "session.end_date": "2027-05-12", "session.duration_minutes": 60.0}},
		b.ask("SELECT session.start_date, session.end_date, session.duration_minutes FROM sessions"))
}

// TestDeletedSettings are not shown: tracks, tags, rooms, statuses; a deleted role is that of its core role.
func TestDeletedSettings(t *testing.T) {
	a := newAsker(t)
	track, tag, status := a.NewEntry("tracks", "Gone"), a.NewEntry("tags", "Gone"), a.NewEntry("statuses", "Gone")
	judge := a.NewRole("Judge", "speaker")
	a.Create(200, object{
		"title": "Delta", "track_id": track.ID(), "tag_ids": []any{tag.ID()}, "custom_status_id": status.ID(),
		"participants": []any{a.Participant("Cid", "judge"), a.Participant("Ann", "speaker"), a.Participant("Ann", "judge")},
	})
	const query = "SELECT session.track_id, session.custom_status, session.custom_status_id, session.participant_count AS n FROM sessions WHERE title = 'Delta'"
	require.Equal(t, []any{map[string]any{
		"session.track_id": track.ID(), "session.custom_status": "Gone", "session.custom_status_id": status.ID(), "n": 3.0,
	}}, a.ask(query))
	require.Equal(t, []any{"Ann"}, a.column("SELECT speaker.first_name FROM sessions JOIN speakers WHERE session.title = 'Delta'"))
	for kind, made := range map[string]it.Entity{"tracks": track, "tags": tag, "statuses": status} {
		a.DeleteRecord(kind, made.ID())
	}
	a.Command("participant-role-delete", object{"role_id": judge.ID()})
	require.Equal(t, []any{map[string]any{"session.track_id": nil, "session.custom_status": nil, "session.custom_status_id": nil, "n": 2.0}}, a.ask(query))
	require.Equal(t, []any{"Ann", "Cid"}, a.column("SELECT speaker.first_name FROM sessions JOIN speakers WHERE session.title = 'Delta' ORDER BY speaker.first_name"))
	require.Equal(t, []any{"speaker", "speaker"}, a.column("SELECT participant.role_slug FROM participants JOIN sessions WHERE session.title = 'Delta'"))
	require.Empty(t, a.column("SELECT session.title FROM sessions JOIN tracks WHERE session.title = 'Delta'"))
	require.Empty(t, a.column("SELECT session.title FROM sessions JOIN tags WHERE session.title = 'Delta'"))
	require.Empty(t, a.column("SELECT track.name FROM tracks WHERE track.name = 'Gone'"))
}

// TestALimitOfOneWidget is the error of this widget alone.
func TestALimitOfOneWidget(t *testing.T) {
	a := newAsker(t)
	for _, kind := range []string{"tags", "tracks", "rooms", "levels", "formats"} {
		for i := range 14 {
			a.NewEntry(kind, fmt.Sprint(kind, i))
		}
	}
	for range 8 {
		a.Create(200, object{"title": "Long", "description": strings.Repeat("x", 64<<10-1)})
	}
	long := "SELECT session.id"
	for i := range 90 {
		long += fmt.Sprintf(", MIN(session.description) AS d%d", i)
	}
	long += " FROM sessions GROUP BY session.id"
	const counted, tags = "SELECT COUNT(session.id) AS n FROM sessions", "SELECT COUNT(tag.id) AS n FROM tags"
	show := func(queries ...string) []it.Entity {
		var widgets []any
		for _, query := range queries {
			widgets = append(widgets, object{"type": "table", "query": query})
		}
		board := a.Do(200, http.MethodPost, "/dashboards/create", object{"name": "All", "widgets": widgets}).ID()
		return a.Do(200, http.MethodGet, "/dashboards/"+board, nil).List("widgets")
	}
	for _, shown := range [][]it.Entity{show(counted, heavy, long, tags), show(heavy, counted, long, tags), show(counted, long, tags, heavy)} {
		require.GreaterOrEqual(t, len(shown), 4)
		for _, widget := range shown {
			switch widget.Text("query") {
			case counted:
				require.Equal(t, []any{map[string]any{"n": 10.0}}, widget.At("data.results"))
			case tags:
				require.Equal(t, []any{map[string]any{"n": 16.0}}, widget.At("data.results"))
			case heavy:
				require.Contains(t, widget.At("data.error"), "64 MB of memory")
			case long:
				require.Contains(t, widget.At("data.error"), "more than 32 MB")
			default:
				require.Fail(t, "an unknown widget", widget.Text("query"))
			}
		}
	}
}

// TestManyEvents: a query reads 100 events at most, so a client with more has to name some.
func TestManyEvents(t *testing.T) {
	a := newAsker(t)
	for range 100 {
		a.NewEvent(t)
	}
	refused := it.Entity(a.across(400, "SELECT event.id FROM events").JSON(t))
	it.RequireInvalid(t, refused, "eventIds")
	require.Contains(t, refused["message"], "100")
	a.across(200, "SELECT event.id FROM events", object{"eventId": a.Event})

	saved := it.Entity(a.Call(t, 200, http.MethodPost, "/v1/queries/create", object{"name": "Events", "query": "SELECT event.id FROM events"}).JSON(t))
	run := "/v1/queries/" + saved.ID() + "/run"
	it.RequireInvalid(t, it.Entity(a.Call(t, 400, http.MethodPost, run, nil).JSON(t)), "eventIds")
	only := it.Entity(a.Call(t, 200, http.MethodPost, run, object{"eventIds": []any{a.Event}}).JSON(t))
	require.Equal(t, []any{map[string]any{"event.id": float64(a.Event)}}, only["results"])
	a.Call(t, 404, http.MethodPost, run, object{"eventIds": []any{999_999_999}})
	for _, path := range []string{"schema", "suggestions"} {
		a.Call(t, 200, http.MethodGet, "/v1/insights/"+path, nil)
	}
	chart := object{"type": "chart", "query": "SELECT event.name, COUNT(event.id) AS n FROM events GROUP BY event.name"}
	made := it.Entity(a.Call(t, 200, http.MethodPost, "/v1/dashboards/create", object{"name": "All", "widgets": []any{chart}}).JSON(t))
	shown := it.Entity(a.Call(t, 200, http.MethodGet, "/v1/dashboards/"+made.ID(), nil).JSON(t)).List("widgets")[0]
	require.Contains(t, shown.At("data.error"), "Use a dashboard of an event")
	it.RequireInvalid(t, it.Entity(a.Call(t, 400, http.MethodGet, "/v1/widgets/"+shown.ID()+"/chart.svg", nil).JSON(t)), "query")
}

// TestTimesAtTheEdges: a time that the format of answers cannot have is refused, since texts are compared.
func TestTimesAtTheEdges(t *testing.T) {
	a := newAsker(t)
	for _, literal := range []string{"9999-12-31T23:00:00-05:00", "0000-01-01T00:00:00+05:00", "2027-05-11T14:00:00.0005Z"} {
		refused := a.answer(400, "SELECT session.title FROM sessions WHERE session.starts_at < '"+literal+"'")
		require.Contains(t, refused.Text("message"), "a time such as", literal)
	}
	a.answer(200, "SELECT session.title FROM sessions WHERE session.starts_at < '9999-12-31T23:00:00Z' OR session.starts_at = '2027-05-11T14:00:00.005Z'")
}
