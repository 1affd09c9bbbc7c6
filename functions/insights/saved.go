package insights

import (
	"context"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/insight"
	"lectern/shared/insight/result"
	"lectern/shared/page"
	"lectern/shared/report"
	"lectern/shared/resource"
)

const (
	aboutSaved    = "Lists the saved queries, as `/queries` does, for callers with `read:insights` alone."
	aboutRunSaved = "Runs a saved query, as `/queries/{queryId}/run` does, for callers with `read:insights` alone. For example:\n\n```json\n" +
		`{"limit": 10}` + "\n```"
	aboutDashboard = "Returns a dashboard with the data of its widgets, as `/dashboards/{id}` does, for callers with `read:insights` alone."
)

// saved are the routes for saved queries and dashboards: of the event of the path, or of the organization.
var saved = []api.Route[service]{
	api.Get("listEventInsightsQueries", inEvent+"/queries", (*service).listSaved, readers, limit, api.Describe(aboutSaved)),
	api.Get("listInsightsQueries", inOrganization+"/queries", (*service).listSaved, readers, limit, api.Describe(aboutSaved)),
	api.Post("runEventInsightsQuery", inEvent+"/queries/{queryId}/run", (*service).runSaved, readers, limit, api.InPath("id", "queryId"),
		api.Repeatable, api.Describe(aboutRunSaved)),
	api.Post("runInsightsQuery", inOrganization+"/queries/{queryId}/run", (*service).runSaved, readers, limit, api.InPath("id", "queryId"),
		api.Repeatable, api.Describe(aboutRunSaved)),
	api.Get("getEventInsightsDashboard", inEvent+"/dashboards/{id}", (*service).dashboard, readers, limit, api.Describe(aboutDashboard)),
	api.Get("getInsightsDashboard", inOrganization+"/dashboards/{id}", (*service).dashboard, readers, limit, api.Describe(aboutDashboard)),
}

type listInput struct {
	resource.At
	report.List
}

// listSaved returns a page of the saved queries.
func (s *service) listSaved(ctx context.Context, in *listInput) (*page.Of[*report.Query], error) {
	o, err := in.Owner(auth.From(ctx))
	if err != nil {
		return nil, err
	}
	return s.reports.List(ctx, o, in.List)
}

type runInput struct {
	resource.In
	Body insight.Run `required:"false"`
}

// runSaved runs a saved query.
func (s *service) runSaved(ctx context.Context, in *runInput) (*page.Of[result.Row], error) {
	o, err := in.Owner(auth.From(ctx))
	if err != nil {
		return nil, err
	}
	return s.reports.Run(ctx, o, in.ID, in.Body.Question(""))
}

type dashboardInput struct{ resource.In }

// dashboard returns a dashboard with its data.
func (s *service) dashboard(ctx context.Context, in *dashboardInput) (*report.Dashboard, error) {
	o, err := in.Owner(auth.From(ctx))
	if err != nil {
		return nil, err
	}
	return s.reports.Dashboard(ctx, o, in.ID)
}
