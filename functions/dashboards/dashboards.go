// Package dashboards is the Dashboards and Widgets tag group: the dashboards of events and organizations, with widgets that show
// the answers to queries.
package dashboards

import (
	"slices"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/insight"
	"lectern/shared/ratelimit"
	"lectern/shared/report"
	"lectern/shared/resource"
	"lectern/shared/stores"
)

// Group declares every route of the tag group.
var Group = api.NewGroup("Dashboards and Widgets", start, routes()).Named("dashboards")

// readers and writers are the scopes of the group.
var (
	readers = auth.Scopes{auth.ReadDashboards, auth.ReadInsights}
	writers = auth.Scopes{auth.WriteEvents}
)

const (
	about = "A dashboard is a page of widgets. An owner is an event, or an organization with queries about all of its events. " +
		"`widgets` has the first widgets, up to 40: the dashboard is made with all of them or not at all. " +
		"To delete a dashboard deletes its widgets too."
	example = `{"name": "Overview", "widgets": [{"type": "number", "title": "Sessions",` +
		` "query": "SELECT COUNT(session.id) AS n FROM sessions", "config": {"field": "n"}}]}`
	aboutGet = "Returns a dashboard with its widgets. `data.results` has the first 100 results of a widget's query, with masked personal " +
		"data. A query without an answer has its message in `data.error`, and the other widgets have their data. If the answer would be " +
		"too long, so have the widgets with the longest results; a client that sends `Accept-Encoding: gzip` gets more. " +
		"For example, a widget:\n\n```json\n" +
		`{"id": "3b0c6a52-6a3e-4a52-9f5e-0d6a3f0f3c11", "dashboard_id": "3b0c6a52-6a3e-4a52-8d5a-0f6a3d0c2e7f", "type": "number",` +
		` "title": "Sessions", "order": 1, "config": {"field": "n"}, "query": "SELECT COUNT(session.id) AS n FROM sessions",` +
		` "data": {"results": [{"n": 12}], "error": null},` +
		` "created_at": "2027-05-10T09:00:00.000Z", "updated_at": "2027-05-10T09:00:00.000Z"}` + "\n```"
	aboutWidget = "Adds a widget to the dashboard, after the others. A dashboard may have 40 widgets; one more is a 409 `LIMIT_REACHED`. " +
		"`config` is by type: `chart_type` (bar, line or pie), `x`, `y` and `format` for a chart, `columns` for a table, " +
		"`field` and `format` for a number. A query that is not valid is a 400 that names `query`. The answer has no `data`. " +
		"For example:\n\n```json\n" +
		`{"type": "chart", "title": "Sessions by track", "config": {"chart_type": "bar", "x": "track", "y": "n"},` +
		` "query": "SELECT track.name AS track, COUNT(session.id) AS n FROM sessions JOIN tracks GROUP BY track.name"}` + "\n```"
	aboutUpdate = resource.Updates + " `type` cannot change. For example:\n\n```json\n" + `{"title": "Talks by track"}` + "\n```"
	aboutChart  = "An extension of this service. Draws the chart of a widget as a picture, from all results of its query. " +
		"A widget of another type is a 400 that names `type`. A widget without a query, with a query that fails, or with more than 10,000 " +
		"results is a 400 that names `query`, and so is one of an organization with more than 100 events. " +
		"A column that the query does not have is a 400 that names `config.x` or `config.y`. " +
		"A column `y` with other values than numbers is a 400 that names `config.y`. " +
		"Send an `Accept` header such as `*/*`: without one, the gateway answers the picture in base64."
)

// routes returns the routes below each prefix.
func routes() (all []api.Route[service]) {
	for _, p := range report.Prefixes {
		path := p.Path + "/dashboards"
		one, widget := path+"/{id}", p.Path+"/widgets/{widgetId}"
		all = slices.Concat(all, resource.Of(report.Dashboards, resource.Routes{
			Path: path, ID: "id", One: p.Name + "Dashboard", Many: p.Name + "Dashboards", About: about, Example: example,
			Read: readers, Reads: ratelimit.None, Write: writers, Writes: ratelimit.EventManagementWrites, NoGet: true,
		}, (*service).Records), []api.Route[service]{
			api.Get("get"+p.Name+"Dashboard", one, (*service).Dashboard, readers, api.Describe(aboutGet)),
			api.Post("create"+p.Name+"Widget", one+"/widgets/create", (*service).createWidget, writers, writes("id", aboutWidget)...),
			api.Put("update"+p.Name+"Widget", widget, (*service).updateWidget, writers, writes("widgetId", aboutUpdate)...),
			api.Delete("delete"+p.Name+"Widget", widget, (*service).deleteWidget, writers, writes("widgetId", resource.Deletes)...),
			api.Get("get"+p.Name+"WidgetChart", widget+"/chart.svg", (*service).drawChart, readers,
				api.InPath("id", "widgetId"), api.Media("image/svg+xml"), api.Describe(aboutChart)),
		})
	}
	return all
}

// writes returns the options of a route that changes widgets. id is the name in the path.
func writes(id, about string) []api.Option {
	return []api.Option{api.InPath("id", id), api.Limit(ratelimit.EventManagementWrites), api.Describe(about)}
}

type service struct{ *report.Store }

func start(env api.Env) *service {
	return &service{report.NewStore(env, insight.NewStore(env, stores.Sessions(env)))}
}
