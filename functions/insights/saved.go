package insights

import "lectern/shared/api"

const (
	aboutSaved    = "Lists the saved queries, as `/queries` does, for callers with `read:insights` alone."
	aboutRunSaved = "Runs a saved query, as `/queries/{queryId}/run` does, for callers with `read:insights` alone. For example:\n\n```json\n" +
		`{"limit": 10}` + "\n```"
	aboutDashboard = "Returns a dashboard with the data of its widgets, as `/dashboards/{id}` does, for callers with `read:insights` alone."
)

// saved are the routes for saved queries and dashboards: of the event of the path, or of the organization.
var saved = []api.Route[service]{
	api.Get("listEventInsightsQueries", inEvent+"/queries", (*service).List, readers, limit, api.Describe(aboutSaved)),
	api.Get("listInsightsQueries", inOrganization+"/queries", (*service).List, readers, limit, api.Describe(aboutSaved)),
	api.Post("runEventInsightsQuery", inEvent+"/queries/{queryId}/run", (*service).Run, readers, limit, api.InPath("id", "queryId"),
		api.Repeatable, api.Describe(aboutRunSaved)),
	api.Post("runInsightsQuery", inOrganization+"/queries/{queryId}/run", (*service).Run, readers, limit, api.InPath("id", "queryId"),
		api.Repeatable, api.Describe(aboutRunSaved)),
	api.Get("getEventInsightsDashboard", inEvent+"/dashboards/{id}", (*service).Dashboard, readers, limit, api.Describe(aboutDashboard)),
	api.Get("getInsightsDashboard", inOrganization+"/dashboards/{id}", (*service).Dashboard, readers, limit, api.Describe(aboutDashboard)),
}
