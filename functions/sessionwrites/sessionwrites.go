// Package sessionwrites has the routes of the Session Writes tag group: creating, updating,
// deleting and restoring sessions and abstracts, alone or in bulk.
package sessionwrites

import (
	"context"

	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/bulk"
	"lectern/shared/ratelimit"
	"lectern/shared/session"
	"lectern/shared/session/store"
	"lectern/shared/session/view"
	"lectern/shared/stores"
	"lectern/shared/wire"
	"lectern/shared/write"
)

const (
	sessions = "/v1/event/{eventId}/sessions"
	one      = sessions + "/{sessionId}"
)

// Group declares every route of the tag group.
var Group = api.NewGroup("Session Writes", start, []api.Route[service]{
	api.Post("createSession", sessions+"/create", (*service).create, writers, limit, api.CountsDaily),
	api.Put("updateSession", one, (*service).update, writers, limit),
	api.Delete("deleteSession", one, (*service).delete, writers, limit),
	api.Post("restoreSession", one+"/restore", (*service).restore, writers, limit),
	api.Post("bulkSessions", sessions+"/bulk", (*service).bulk, writers, limit, api.CountsDaily, api.MaxBody(api.BulkBodyLimit)),
	api.Put("updateSessionFields", one+"/fields", (*service).fields, writers, limit),
})

var (
	writers = auth.Scopes{auth.WriteSessions}
	limit   = api.Limit(ratelimit.SessionWrites)
)

type service struct{ sessions *store.Store }

func start(env api.Env) *service { return &service{sessions: stores.Sessions(env)} }

// Expand names the properties that the answer of a write can add.
type Expand struct {
	Expand api.Strings `query:"expand" enum:"translated_fields,subsession_details,composition" doc:"What to add to the answer."`
}

func (x Expand) names() view.Expand { return view.Expansion(x.Expand) }

type createInput struct {
	api.InEvent
	Expand
	Body session.Create
}

// create creates a session, an abstract or, with a parent, a subsession.
func (s *service) create(ctx context.Context, in *createInput) (*view.Session, error) {
	return s.sessions.Create(ctx, auth.From(ctx), &in.Body, in.names())
}

// InSession names the session of the path and the version that the client has seen.
type InSession struct {
	api.InEvent
	SessionID string `path:"sessionId" format:"uuid" doc:"The session's or subsession's id."`
	api.Revision
	Expand
}

type updateInput struct {
	InSession
	Body session.Update
}

// update changes the properties that were sent.
func (s *service) update(ctx context.Context, in *updateInput) (*view.Session, error) {
	guard := write.Guard{UpdatedAt: in.Body.UpdatedAt, IfMatch: in.IfMatch}
	return s.sessions.Update(ctx, auth.From(ctx), store.Target{ID: in.SessionID, Guard: guard}, &in.Body.Draft, in.names())
}

type fieldsInput struct {
	InSession
	Body fieldsBody
}

type fieldsBody struct {
	Values       wire.Opt[map[string]any] `json:"values,omitzero" nullable:"false" doc:"Values by the field's internal name; null clears one."`
	CustomFields wire.Opt[map[string]any] `json:"custom_fields,omitzero" nullable:"false" doc:"Another name of values."`
	UpdatedAt    wire.Opt[wire.Time]      `json:"updated_at,omitzero" nullable:"false" doc:"The record's updated_at as last fetched; a stale one is a 409."`
	_            struct{}                 `json:"-" additionalProperties:"true"`
}

// fields changes custom field values alone.
func (s *service) fields(ctx context.Context, in *fieldsInput) (*view.Session, error) {
	draft := session.Draft{CustomFields: in.Body.Values}
	switch {
	case in.Body.Values.Sent && in.Body.CustomFields.Sent:
		return nil, apierr.Invalid("custom_fields", "Give values or custom_fields, not both.")
	case in.Body.CustomFields.Sent:
		draft.CustomFields = in.Body.CustomFields
	case !in.Body.Values.Sent:
		return nil, apierr.Invalid("values", "values is required.")
	}
	guard := write.Guard{UpdatedAt: in.Body.UpdatedAt, IfMatch: in.IfMatch}
	return s.sessions.Update(ctx, auth.From(ctx), store.Target{ID: in.SessionID, Guard: guard}, &draft, in.names())
}

// delete hides the session until restore.
func (s *service) delete(ctx context.Context, in *InSession) (*view.Session, error) {
	return s.sessions.Delete(ctx, auth.From(ctx), store.Target{ID: in.SessionID, Guard: write.Guard{IfMatch: in.IfMatch}}, in.names())
}

// restore brings a deleted session back.
func (s *service) restore(ctx context.Context, in *InSession) (*view.Session, error) {
	return s.sessions.Restore(ctx, auth.From(ctx), store.Target{ID: in.SessionID, Guard: write.Guard{IfMatch: in.IfMatch}}, in.names())
}

type bulkInput struct {
	api.InEvent
	Expand
	Body bulk.Request
}

// bulk does up to 100 operations. Each succeeds or fails alone.
func (s *service) bulk(ctx context.Context, in *bulkInput) (*bulk.Response[view.Session, bulk.Failure], error) {
	return s.sessions.Bulk(ctx, auth.From(ctx), in.Body, in.names())
}
