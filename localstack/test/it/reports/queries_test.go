package reports_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// TestASavedQueryIsRun at each prefix; a run of an organization is about all of its events.
func TestASavedQueryIsRun(t *testing.T) {
	stacktest.Everywhere(t)
	at := atEvent(t)
	forDesks(t, at, func(t *testing.T, d *desk) {
		made := d.create(200, "/queries", object{"name": "Sessions", "query": "SELECT session.title AS title FROM sessions", "category": "All"})
		require.Equal(t, queryShape, it.KeysOf(made))
		require.Equal(t, d.event, made["event_id"])
		run := "/queries/" + made.ID() + "/run"
		for _, body := range []object{{}, {"obfuscatePii": true, "page": 1, "limit": 25}, {"obfuscatePii": false, "more": 1}} {
			require.Equal(t, object{
				"results":    []any{object{"title": "Keynote"}},
				"pagination": object{"currentPage": 1.0, "pageSize": 25.0, "totalPages": 1.0, "totalResults": 1.0},
			}, object(d.do(200, http.MethodPost, run, body)))
		}
		past := d.do(200, http.MethodPost, run, object{"page": 2, "limit": 1})
		require.Equal(t, []any{}, past["results"])
		for field, wrong := range map[string]any{"limit": 101, "page": 0, "obfuscatePii": "no"} {
			it.RequireInvalid(t, d.do(400, http.MethodPost, run, object{field: wrong}), field)
		}
		it.RequireInvalid(t, d.do(400, http.MethodPost, "/queries/7/run", object{}), "queryId")
		d.do(200, http.MethodDelete, "/queries/"+made.ID(), nil)
		for _, path := range []string{run, "/queries/" + it.UnknownID + "/run"} {
			require.Equal(t, "Query not found", d.do(404, http.MethodPost, path, object{})["message"])
		}
	})
}

// TestAQueryIsCheckedWhenItIsSaved, with the custom fields of the event, and again when it is run.
func TestAQueryIsCheckedWhenItIsSaved(t *testing.T) {
	d := atEvent(t)
	const custom = "SELECT session.custom.colour AS colour FROM sessions"
	it.RequireInvalid(t, d.create(400, "/queries", object{"name": "Colours", "query": custom}), "query")
	made := d.create(200, "/queries", object{"name": "Colours", "query": count})
	path := "/queries/" + made.ID()
	it.RequireInvalid(t, d.do(400, http.MethodPut, path, object{"query": custom}), "query")
	d.do(404, http.MethodPut, "/queries/"+it.UnknownID, object{"query": custom})

	field := it.MustCreate(t, d.Stack, "/fields/create", object{"name": "Colour", "type": "text", "module_id": "session"})
	d.do(200, http.MethodPut, path, object{"query": custom})
	widget := "/dashboards/" + d.create(200, "/dashboards", object{"name": "Colours", "widgets": []object{
		{"type": "chart", "query": custom}, {"type": "number", "query": count},
	}}).ID()
	d.Do(200, http.MethodDelete, "/fields/"+field, nil)
	it.RequireInvalid(t, d.do(400, http.MethodPost, path+"/run", object{}), "query")
	d.do(200, http.MethodPut, path, object{"name": "Without colours"})
	// What was valid once can be sent back as it is, and nothing else.
	d.do(200, http.MethodPut, path, object{"name": "Colours", "query": custom})
	it.RequireInvalid(t, d.do(400, http.MethodPut, path, object{"query": custom + " LIMIT 2"}), "query")
	d.do(200, http.MethodPut, widget, it.Merged(object(d.do(200, http.MethodGet, widget, nil)), object{"name": "Colours of today"}))
	shown := d.widgets(widget)
	d.do(200, http.MethodPut, "/widgets/"+shown[0].ID(), object{"title": "Colours", "query": custom})
	it.RequireInvalid(t, d.do(400, http.MethodPut, "/widgets/"+shown[0].ID(), object{"query": custom + " LIMIT 2"}), "query")
	require.Equal(t, []any{}, shown[0].At("data.results"))
	require.NotEmpty(t, shown[0].At("data.error"))
	require.Equal(t, []any{object{"n": 1.0}}, shown[1].At("data.results"))
	// A widget shows masked data, so it cannot be about personal data.
	private := "SELECT contact.email, COUNT(contact.id) AS n FROM contacts GROUP BY contact.email"
	d.create(200, "/queries", object{"name": "Addresses", "query": private})
	it.RequireInvalid(t, d.create(400, widget+"/widgets", object{"type": "table", "query": private}), "query")
	it.RequireInvalid(t, d.do(400, http.MethodGet, "/widgets/"+shown[0].ID()+"/chart.svg", nil), "query")
}

// TestQueriesOfACategory: the filter and the pages of a list.
func TestQueriesOfACategory(t *testing.T) {
	forDesks(t, atEvent(t), func(t *testing.T, d *desk) {
		if d.prefix == "/v1" {
			return // It has the queries of the organization.
		}
		for i, category := range []any{"A", "B", nil, "A"} {
			d.create(200, "/queries", object{"name": string(rune('a' + i)), "query": count, "category": category})
		}
		list := func(query string) (names []string, total any) {
			var page struct{ Results []entity }
			answer := d.Call(t, 200, http.MethodGet, d.prefix+"/queries"+query, nil)
			answer.Into(t, &page)
			return it.Texts(page.Results, "name"), entity(answer.JSON(t)).At("pagination.totalResults")
		}
		names, total := list("?category=A")
		require.Equal(t, []any{[]string{"a", "d"}, 2.0}, []any{names, total})
		names, total = list("?category=A&page=2&limit=1")
		require.Equal(t, []any{[]string{"d"}, 2.0}, []any{names, total})
		names, _ = list("")
		require.Equal(t, []string{"a", "b", "c", "d"}, names)
	})
}

// TestPersonalDataOfARunIsMasked unless the client asks for it as it is.
func TestPersonalDataOfARunIsMasked(t *testing.T) {
	d := atEvent(t)
	it.MustCreate(t, d.Stack, "/contacts/create", object{"email": "ada@example.org"})
	const addresses = "SELECT contact.email AS email FROM contacts"
	run := "/queries/" + d.create(200, "/queries", object{"name": "Addresses", "query": addresses}).ID() + "/run"
	email := func(body object) any {
		results, ok := d.do(200, http.MethodPost, run, body)["results"].([]any)
		require.True(t, ok)
		require.Len(t, results, 1)
		return results[0].(object)["email"]
	}
	require.Equal(t, "ada@example.org", email(object{"obfuscatePii": false}))
	require.NotEqual(t, "ada@example.org", email(object{}))
	shown := d.widgets(d.dashboard(object{"type": "table", "query": addresses}))
	require.NotContains(t, it.Describe(shown, nil), "ada@example.org")
}

// TestTheScopesOfReports: a read scope opens the reads of its group, and a run needs write:events.
func TestTheScopesOfReports(t *testing.T) {
	d := atEvent(t)
	run := d.prefix + "/queries/" + d.create(200, "/queries", object{"name": "Sessions", "query": count}).ID() + "/run"
	dashboard := d.prefix + d.dashboard(object{"type": "chart", "query": count})
	for scope, want := range map[string][]int{
		"read:reports": {200, 403, 403}, "read:dashboards": {403, 200, 403}, "read:insights": {200, 200, 403}, "write:events": {403, 403, 200},
	} {
		as := d.As(d.NewToken(t, scope))
		as.Call(t, want[0], http.MethodGet, d.prefix+"/queries", nil)
		as.Call(t, want[1], http.MethodGet, dashboard, nil)
		as.Call(t, want[2], http.MethodPost, run, object{})
	}
}
