// Package reports is the Reports and Queries tag group: the saved queries of events and organizations.
package reports

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
var Group = api.NewGroup("Reports and Queries", start, routes()).Named("reports")

// readers and writers are the scopes of the group.
var (
	readers = auth.Scopes{auth.ReadReports, auth.ReadInsights}
	writers = auth.Scopes{auth.WriteEvents}
)

const (
	about = "A saved query has a name. An owner is an event, or an organization with a query about all of its events. " +
		"A query that is not valid is a 400 that names `query`; one of the organization may name the custom fields of its newest 100 events."
	example   = `{"name": "Accepted", "query": "SELECT session.title FROM sessions WHERE session.status = 'accepted'", "category": "Sessions"}`
	aboutList = resource.Lists + " `category` keeps the queries of a category. For example, a result:\n\n```json\n" +
		`{"id": "3b0c6a52-6a3e-4a52-9f5e-0d6a3f0f3c11", "event_id": null, "name": "Accepted", "query": "FIND Session", "category": "Sessions",` +
		` "created_at": "2027-05-10T09:00:00.000Z", "updated_at": "2027-05-10T09:00:00.000Z"}` + "\n```"
	aboutRun = "Answers the saved query. A query of the organization reads the events of `eventIds`, or else all that the caller may " +
		"access; more than 100 are a 400 that names `eventIds`. Personal data is masked unless `obfuscatePii` is false and the caller may " +
		"see the data. A query that is no longer valid, for example since a custom field was deleted, is a 400 that names `query`. For example:" +
		"\n\n```json\n{\"limit\": 25}\n```\n\nThe answer:\n\n```json\n" +
		`{"results": [{"session.title": "Go"}], "pagination": {"currentPage": 1, "pageSize": 25, "totalPages": 1, "totalResults": 1}}` + "\n```"
)

// routes returns the routes below each prefix.
func routes() (all []api.Route[service]) {
	for _, p := range report.Prefixes {
		path := p.Path + "/queries"
		all = slices.Concat(all, []api.Route[service]{
			api.Get("list"+p.Name+"Queries", path, (*service).List, readers, api.Describe(aboutList)),
		}, resource.Of(report.Queries, resource.Routes{
			Path: path, ID: "queryId", One: p.Name + "Query", Many: p.Name + "Queries", About: about, Example: example,
			Write: writers, Writes: ratelimit.EventManagementWrites, NoList: true, NoGet: true,
		}, (*service).Records), []api.Route[service]{
			api.Post("run"+p.Name+"Query", path+"/{queryId}/run", (*service).Run, writers, api.InPath("id", "queryId"),
				api.Limit(ratelimit.EventManagementWrites), api.Repeatable, api.Describe(aboutRun)),
		})
	}
	return all
}

type service struct{ *report.Store }

func start(env api.Env) *service {
	return &service{report.NewStore(env, insight.NewStore(env, stores.Sessions(env)))}
}
