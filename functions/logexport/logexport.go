// Package logexport is the Log Export tag group: the logs of the organization that a token
// belongs to. Only log export tokens have the scope.
package logexport

import (
	"context"
	"strconv"
	"time"

	"lectern/shared/account"
	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/contact"
	"lectern/shared/logs"
	"lectern/shared/ratelimit"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

// Group declares every route of the tag group.
var Group = api.NewGroup("Log Export", start, []api.Route[service]{
	api.Get("exportApiRequests", "/v1/logs/api-requests", (*service).requests, scopes, limit, api.Describe(aboutRequests+aboutPages)),
	api.Get("exportSecurityEvents", "/v1/logs/security-events", (*service).security, scopes, limit, api.Describe(aboutSecurity+aboutPages)),
	api.Get("exportAuditTrail", "/v1/logs/audit-trail", (*service).audit, scopes, limit, api.Describe(aboutAudit+aboutPages)),
})

var (
	scopes = auth.Scopes{auth.ReadAuditLogs}
	limit  = api.Limit(ratelimit.LogExport)
)

const (
	aboutRequests = "The requests to the API with a known token, those that the service refused too, " +
		"in the order in which they were logged. " +
		"A request that API Gateway itself refuses is not logged. The reads of this log are in it. " +
		"They are kept for 365 days. With `until`, requests that were logged more than two days later are left out."
	aboutSecurity = "The changes of tokens and of the access of members, disabled webhook endpoints and rotated secrets, " +
		"and the ends of data requests, in the order of `occurred_at` and `id`. " +
		"The end of a token by its `expires_at` is no event: requests with the token are refused with the reason `expired`."
	aboutAudit = "All changes of records, in the order of `occurred_at` and `id`. A change of several values is an event for each value. " +
		"A creation has no values. The values of people and companies are erased with the record, and those of a person also by an erasure."
	aboutPages = "\n\nSend `next_cursor` back as `cursor` to continue without gaps or repeats: at once while `has_more` is true, " +
		"later for new events. " +
		"An event can be read 60 seconds after it was stored: a change at once, a request mostly within seconds. " +
		"`has_more`, and not an empty page, ends a loop. The token must be a log export token; the log is of the whole organization."
)

type service struct{ logs logs.Reader }

func start(env api.Env) *service {
	return &service{logs.Reader{Table: env.Table.Lenient(), Now: env.Now, Log: env.Log, Personal: map[string]func(int64, string) string{
		contact.Kind.Name: contact.Kind.PK, account.Kind.Name: account.Kind.PK, tenancy.Members.Name: memberPK,
	}}}
}

// memberPK returns the partition of a member.
func memberPK(org int64, id string) string {
	number, _ := strconv.ParseInt(id, 10, 64) // Members have such ids.
	return tenancy.MemberPK(org, number)
}

// PageInput selects a page of a log.
type PageInput struct {
	Cursor string `query:"cursor" minLength:"1" maxLength:"300" doc:"The next_cursor of an earlier page of the same log."`
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"How many events a page has at most."`
	Since  string `query:"since" format:"date-time" example:"2026-11-21T09:30:00Z" doc:"The earliest occurred_at."`
	Until  string `query:"until" format:"date-time" example:"2026-11-22T00:00:00Z" doc:"All events have an earlier occurred_at."`
}

type auditInput struct {
	PageInput
	IncludeValues bool `query:"include_values" default:"true" doc:"false leaves new_value out: it is null."`
}

func (s *service) requests(ctx context.Context, in *PageInput) (*logs.Page, error) {
	return s.logs.Read(ctx, logs.Requests, in.query(ctx))
}

func (s *service) security(ctx context.Context, in *PageInput) (*logs.Page, error) {
	return s.logs.Read(ctx, logs.Security, in.query(ctx))
}

func (s *service) audit(ctx context.Context, in *auditInput) (*logs.Page, error) {
	q := in.query(ctx)
	q.HideValues = !in.IncludeValues
	return s.logs.Read(ctx, logs.Audit, q)
}

func (in *PageInput) query(ctx context.Context) logs.Query {
	return logs.Query{Org: auth.From(ctx).Org, Cursor: in.Cursor, Limit: in.Limit, Since: timeOf(in.Since), Until: timeOf(in.Until)}
}

// timeOf returns the time of a checked parameter; nil for an absent parameter.
func timeOf(text string) *time.Time {
	t, err := wire.ParseTime(text)
	if err != nil {
		return nil
	}
	return &t.Time
}
