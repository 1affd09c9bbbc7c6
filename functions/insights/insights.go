// Package insights is the Insights tag group: queries about the programme, with a schema, suggestions and a language model for the
// authors of queries.
package insights

import (
	"context"
	"net/http"
	"slices"

	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/insight"
	"lectern/shared/insight/writer"
	"lectern/shared/insight/writer/bedrock"
	"lectern/shared/page"
	"lectern/shared/query/result"
	"lectern/shared/ratelimit"
	"lectern/shared/report"
	"lectern/shared/size"
	"lectern/shared/stores"
)

// Paths of the group.
const (
	inEvent        = "/v1/event/{eventId}/insights"
	inOrganization = "/v1/insights"
)

var readers = auth.Scopes{auth.ReadInsights}

// Group declares every route of the tag group.
var Group = api.NewGroup("Insights", start, slices.Concat(written, saved, []api.Route[service]{
	api.Post("executeEventQuery", inEvent+"/execute", (*service).execute, readers, limit, api.Repeatable, api.Describe(aboutExecute)),
	api.Post("executeQuery", inOrganization+"/execute", (*service).executeAcross, readers, limit, api.Repeatable,
		api.Media("text/csv"), api.Refuses(http.StatusNotFound), api.Describe(aboutAcross)),
	api.Get("getEventInsightsSchema", inEvent+"/schema", (*service).schema, readers, limit, api.Describe(aboutSchema)),
	api.Get("getInsightsSchema", inOrganization+"/schema", (*service).schema, readers, limit, api.Describe(aboutSchema)),
	api.Get("getInsightsSchemaOfEvent", inOrganization+"/events/{eventId}/schema", (*service).schema, readers, limit,
		api.Describe(aboutSchema)),
	api.Get("listEventSuggestions", inEvent+"/suggestions", (*service).suggestions, readers, limit, api.Describe(aboutSuggestions)),
	api.Get("listSuggestions", inOrganization+"/suggestions", (*service).suggestions, readers, limit, api.Describe(aboutSuggestions)),
}))

// limit is the bucket of all routes.
var limit = api.Limit(ratelimit.Insights)

const (
	aboutExecute = "Runs a query over the records of the event, as they are at this moment. `docs/query-language.md` describes the " +
		"language, `schema` lists entities and fields. A query that is not valid is a 400 with the place, what is expected there, and the " +
		"nearest known name. Personal data is masked unless `obfuscatePii` is false and the caller has `read:contacts`; a masked field " +
		"can be shown and counted, and not be compared, sorted or grouped by. A query reads at most 10,000 records of an entity, and " +
		"takes at most 64 MB of memory and 5 seconds; more is a 400 that names the limit. For example:\n\n```json\n" + exampleExecute +
		"\n```\n\nThe answer:\n\n```json\n" + exampleAnswer + "\n```"
	exampleExecute = `{"query": "SELECT track.name, COUNT(session.id) AS sessions FROM sessions JOIN tracks GROUP BY track.name"}`
	exampleAnswer  = `{"results": [{"track.name": "Cloud", "sessions": 28}, {"track.name": "Web", "sessions": 41}],
  "pagination": {"currentPage": 1, "pageSize": 25, "totalPages": 1, "totalResults": 2}}`
	aboutAcross = "Runs a query over events of the organization: those of `eventId` and `eventIds`, or else all that the caller may access, " +
		"100 at most. A contact, sponsor or exhibitor is one record for each event. The result can be arranged anew: `search`, " +
		"then `groupBy` or `pivot`, then `sortBy`. The values of `pivot.column` name the new columns; no value is the column `null`. " +
		"`format` `csv` answers the page as CSV. For example:\n\n```json\n" + exampleAcross + "\n```"
	exampleAcross = `{"query": "SELECT event.name, session.status FROM sessions JOIN events",
  "pivot": {"row": "event.name", "column": "session.status"}}`

	tooLarge = "The result has %d rows; at most %d can be arranged. Add conditions to WHERE."
)

type service struct {
	*report.Store
	insights *insight.Store
	writer   writer.Writer
}

func start(env api.Env) *service {
	insights := insight.NewStore(env, stores.Sessions(env))
	return &service{report.NewStore(env, insights), insights, writer.Writer{Model: bedrock.New(env), Now: env.Now}}
}

type executeInput struct {
	api.InEvent
	Body struct {
		Query string `json:"query" minLength:"1" maxLength:"10000" doc:"The query."`
		insight.Options
		_ struct{} `json:"-" additionalProperties:"true"`
	}
}

// execute runs a query over the event.
func (s *service) execute(ctx context.Context, in *executeInput) (*page.Of[result.Row], error) {
	return s.insights.Page(ctx, nil, in.Body.Question(in.Body.Query))
}

// About names the events of a query.
type About struct {
	EventID  int64   `json:"eventId,omitempty" minimum:"1" doc:"An event to read."`
	EventIDs []int64 `json:"eventIds,omitempty" minItems:"1" maxItems:"100" doc:"The events to read; without eventId and eventIds all that the caller may access."`
}

// events returns the ids of the events; none for all.
func (a *About) events() []int64 {
	if a.EventID == 0 {
		return a.EventIDs
	}
	return append([]int64{a.EventID}, a.EventIDs...)
}

type executeAcrossInput struct {
	Body struct {
		Query string `json:"query" minLength:"1" maxLength:"10000" doc:"The query."`
		About
		Format string `json:"format,omitempty" enum:"json,csv" default:"json" doc:"The format of the answer."`
		result.Arrangement
		insight.Options
		_ struct{} `json:"-" additionalProperties:"true"`
	}
}

// answer is a page of results, in JSON or as CSV.
type answer struct {
	page.Of[result.Row]
	csv *api.File
}

// AsFile returns the page as CSV; nil for JSON.
func (a *answer) AsFile() *api.File { return a.csv }

// executeAcross runs a query over events of the organization.
func (s *service) executeAcross(ctx context.Context, in *executeAcrossInput) (*answer, error) {
	reach, err := s.insights.Reach(ctx, auth.From(ctx), in.Body.events())
	if err != nil {
		return nil, err
	}
	q, arranged := in.Body.Question(in.Body.Query), !in.Body.IsNone()
	if arranged {
		q.Page = page.Query{Page: 1, PageSize: result.MostRows}
	}
	reply, err := reach.AskOne(ctx, q)
	if err != nil {
		return nil, err
	}
	table, total := reply.Table, reply.Total
	if arranged {
		if total > result.MostRows {
			return nil, apierr.Invalid("query", tooLarge, total, result.MostRows)
		}
		if table, err = in.Body.Of(table, reach.Masks(q)); err != nil {
			return nil, err
		}
		total, table.Rows = len(table.Rows), page.Cut(in.Body.Wanted(), table.Rows)
	}
	if in.Body.Format == "csv" {
		return asCSV(ctx, table)
	}
	return &answer{Of: *page.New(in.Body.Wanted(), total, table.Objects())}, nil
}

// asCSV returns a page as CSV. The error is a 400 for a page that is too long.
func asCSV(ctx context.Context, t result.Table) (*answer, error) {
	text, compressed, err := size.JoinLines(ctx, t.CSV())
	if err != nil {
		return nil, err
	}
	file := &api.File{Type: "text/csv; charset=utf-8", Body: text}
	if compressed != nil {
		file.Body, file.Gzipped = compressed, true
	}
	return &answer{csv: file}, nil
}
