package reports_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/purge"
	"lectern/shared/resource"
)

// TestADashboardShowsItsWidgets with their data, in the order of their creation.
func TestADashboardShowsItsWidgets(t *testing.T) {
	stacktest.Everywhere(t)
	at := atEvent(t)
	forDesks(t, at, func(t *testing.T, d *desk) {
		first := []object{
			{"type": "number", "title": "Sessions", "query": count, "config": object{"field": "n", "format": "integer"}},
			{"type": "table", "query": "FIND Session", "config": object{"columns": []any{"title"}}}, {"type": "table"},
		}
		made := d.create(200, "/dashboards", object{"name": "Overview", "description": "All.", "widgets": first})
		require.Equal(t, dashboardShape, it.KeysOf(made))
		require.Equal(t, []any{d.event, "Overview", "All."}, []any{made["event_id"], made["name"], made["description"]})
		path := "/dashboards/" + made.ID()
		last := d.create(200, path+"/widgets", object{"type": "chart", "title": "Later", "query": count})
		require.Equal(t, widgetShape, it.KeysOf(last))

		shown := d.widgets(path)
		require.Len(t, shown, 4)
		require.Equal(t, []string{"Sessions", "", "", "Later"}, it.Texts(shown, "title"))
		require.Equal(t, object{"results": []any{object{"n": 1.0}}, "error": nil}, shown[0]["data"])
		require.Equal(t, object{"results": []any{}, "error": nil}, shown[2]["data"])
		require.Equal(t, object{
			"dashboard_id": made.ID(), "type": "number", "order": 1.0, "query": count, "config": object{"field": "n", "format": "integer"},
		}, it.Pick(shown[0], "dashboard_id", "type", "order", "query", "config"))
		delete(shown[3], "data")
		require.Equal(t, last, shown[3])

		whole := d.do(200, http.MethodGet, path, nil)
		back := d.do(200, http.MethodPut, path, whole)
		require.Equal(t, "All.", back["description"])
		require.Len(t, d.widgets(path), 4, "an update ignores widgets")
		d.do(200, http.MethodPut, "/widgets/"+shown[0].ID(), shown[0])
		require.Equal(t, []any{}, d.do(200, http.MethodGet, d.dashboard(), nil)["widgets"])
	})
}

// TestADashboardIsMadeWithAllItsWidgets or not at all.
func TestADashboardIsMadeWithAllItsWidgets(t *testing.T) {
	d := atEvent(t)
	good := object{"type": "number", "query": count}
	for field, bad := range map[string]object{
		"widgets[1].type": {"query": count}, "widgets[1].query": {"type": "table", "query": "SELECT"},
		"widgets[1].config.columns":    {"type": "chart", "config": object{"columns": []any{"n"}}},
		"widgets[1].config.chart_type": {"type": "chart", "config": object{"chart_type": "area"}},
	} {
		it.RequireInvalid(t, d.create(400, "/dashboards", object{"name": "X", "widgets": []object{good, bad}}), field)
	}
	it.RequireInvalid(t, d.create(400, "/dashboards", object{"name": "X", "widgets": slices.Repeat([]object{good}, 41)}), "widgets")
	require.Equal(t, "[]", string(d.Call(t, 200, http.MethodGet, d.prefix+"/dashboards", nil).Body))

	body := object{"name": "X", "widgets": slices.Repeat([]object{good}, 40)}
	made := d.create(200, "/dashboards", body, it.KeyHeader, "k")
	require.Equal(t, made, d.create(200, "/dashboards", body, it.KeyHeader, "k"))
	path := "/dashboards/" + made.ID()
	require.Len(t, d.widgets(path), 40)
	require.Equal(t, "LIMIT_REACHED", d.create(409, path+"/widgets", good)["code"])
}

// TestTheNumberOfWidgetsIsExact, also for widgets that are added at one time.
func TestTheNumberOfWidgetsIsExact(t *testing.T) {
	d := atEvent(t)
	path := d.dashboard(slices.Repeat([]object{{"type": "table"}}, 38)...)
	statuses := make([]int, 6)
	it.Concurrently(6, func(i int) {
		statuses[i] = d.TrySend(t, http.MethodPost, d.prefix+path+"/widgets/create", object{"type": "table"}).Status
	})
	slices.Sort(statuses)
	require.Equal(t, []int{200, 200, 409, 409, 409, 409}, statuses)
	d.do(200, http.MethodDelete, "/widgets/"+d.widgets(path)[7].ID(), nil)
	d.widget(path, nil)
	require.Len(t, d.widgets(path), 40)
}

// TestAWidgetIsChangedAndDeleted without the dashboard in the path.
func TestAWidgetIsChangedAndDeleted(t *testing.T) {
	stacktest.Everywhere(t)
	forDesks(t, atEvent(t), func(t *testing.T, d *desk) {
		dashboard := d.dashboard()
		pie := object{"chart_type": "pie"}
		made := d.create(200, dashboard+"/widgets", object{"type": "chart", "title": "One", "query": count, "config": pie})
		path, seen := "/widgets/"+made.ID(), made["updated_at"]
		changed := d.do(200, http.MethodPut, path, object{"title": nil, "query": "FIND Session", "type": "chart", "updated_at": seen})
		require.Equal(t, object{"title": nil, "query": "FIND Session", "config": pie}, it.Pick(changed, "title", "query", "config"))
		require.Equal(t, "STALE_UPDATE", d.do(409, http.MethodPut, path, object{"title": "x", "updated_at": made["updated_at"]})["code"])
		require.Equal(t, "STALE_UPDATE", d.do(409, http.MethodDelete, path, nil, "If-Match", `"1"`)["code"])
		for field, body := range map[string]object{
			"type": {"type": "table"}, "title": {"title": 1}, "query": {"query": "SELECT"}, "config": {"config": nil},
			"config.columns": {"config": object{"columns": []any{"n"}}}, "config.field": {"config": object{"field": "n"}},
			"config.x": {"config": object{"x": 1}}, "config.chart_type": {"config": object{"chart_type": "area"}},
		} {
			it.RequireInvalid(t, d.do(400, http.MethodPut, path, body), field)
		}
		for field, body := range map[string]object{
			"config.x": {"type": "table", "config": object{"x": "n"}}, "config.y": {"type": "number", "config": object{"y": "n"}},
			"config.format": {"type": "table", "config": object{"format": "integer"}}, "type": {"title": "x"},
		} {
			it.RequireInvalid(t, d.create(400, dashboard+"/widgets", body), field)
		}
		it.RequireInvalid(t, d.do(400, http.MethodPut, "/widgets/7", object{}), "widgetId")

		gone := d.do(200, http.MethodDelete, path, nil)
		require.NotEmpty(t, gone["deleted_at"])
		require.Empty(t, d.widgets(dashboard))
		d.requireNoWidget(path)
	})
}

// requireNoWidget holds that every operation on the widget is a 404.
func (d *desk) requireNoWidget(path string) {
	d.T.Helper()
	for call, body := range map[[2]string]any{
		{http.MethodPut, path}: object{}, {http.MethodDelete, path}: nil, {http.MethodGet, path + "/chart.svg"}: nil,
	} {
		require.Equal(d.T, "Widget not found", d.do(404, call[0], call[1], body)["message"])
	}
}

// TestADashboardTakesItsWidgetsWithIt, at once, and for good after thirty days.
func TestADashboardTakesItsWidgetsWithIt(t *testing.T) {
	stacktest.Everywhere(t)
	d := atEvent(t)
	kept := d.dashboard(object{"type": "table"})
	dashboard := d.dashboard(object{"type": "table"}, object{"type": "chart", "query": count})
	path := "/widgets/" + d.widgets(dashboard)[1].ID()
	d.do(200, http.MethodDelete, dashboard, nil)
	d.requireNoWidget(path)
	require.Equal(t, "Dashboard not found", d.do(404, http.MethodGet, dashboard, nil)["message"])
	require.Equal(t, "PARENT_DELETED", d.create(409, dashboard+"/widgets", object{"type": "table"})["code"])
	require.Equal(t, "Dashboard not found", d.create(404, "/dashboards/"+it.UnknownID+"/widgets", object{"type": "table"})["message"])

	later, counts := time.Now().AddDate(0, 0, 31), purge.Counts{}
	store := purge.Store{Table: d.Table(t), Now: func() time.Time { return later }, Until: later, Counts: &counts}
	require.NoError(t, store.Records(t.Context(), d.Org, d.Event))
	require.Equal(t, int64(3), counts.Records)
	require.Empty(t, it.EngineOf(t, d.Stack).Dump(t).Below(
		resource.Owner{Org: d.Org, Event: d.Event, Parent: dashboard[len("/dashboards/"):]}.Partition()))
	require.Len(t, d.widgets(kept), 1)
}

// TestAForeignWidgetIsUnknown, of another event, of the organization, and of another organization.
func TestAForeignWidgetIsUnknown(t *testing.T) {
	d := atEvent(t)
	path := d.widget(d.dashboard(), nil)
	desksOf(d.Client)["own"].requireNoWidget(path)
	desksOf(d.InNewEvent())["event"].requireNoWidget(path)
	desksOf(&it.Client{Stack: d.NewOrganization(t), T: t})["event"].requireNoWidget(path)
	limited := d.As(d.TokenWith(t, object{"scopes": stacktest.Scopes, "event_ids": []int64{d.Event}}))
	limited.Call(t, 200, http.MethodPut, d.prefix+path, object{})
	limited.Call(t, 403, http.MethodGet, "/v1/dashboards", nil)
	limited.Call(t, 403, http.MethodPut, fmt.Sprintf("/v1/organization/%d%s", d.Org, path), object{})
}

// TestTheChartOfAWidget is a picture.
func TestTheChartOfAWidget(t *testing.T) {
	forDesks(t, atEvent(t), func(t *testing.T, d *desk) {
		dashboard := d.dashboard()
		for _, config := range []object{{}, {"chart_type": "line", "x": "title", "y": "n"}, {"chart_type": "pie", "format": "percent"}} {
			path := d.widget(dashboard, object{"title": "Sessions", "config": config,
				"query": "SELECT session.title AS title, COUNT(session.id) AS n FROM sessions GROUP BY session.title"})
			answer := d.Call(t, 200, http.MethodGet, d.prefix+path+"/chart.svg", stacktest.WithHeaders(nil, "Accept", "*/*"))
			require.Equal(t, "image/svg+xml", answer.Header.Get("Content-Type"))
			require.Contains(t, string(answer.Body), "<svg ")
			require.NotEmpty(t, answer.Header.Get("ETag"))
		}
		for _, c := range []struct {
			field  string
			widget object
		}{
			{"type", object{"type": "table"}}, {"query", object{"query": nil}},
			{"config.x", object{"config": object{"x": "track"}}}, {"config.y", object{"config": object{"y": "m"}}},
			{"config.y", object{"query": "SELECT session.title AS title FROM sessions"}},
		} {
			it.RequireInvalid(t, d.do(400, http.MethodGet, d.widget(dashboard, c.widget)+"/chart.svg", nil), c.field)
		}
	})
}
