// Package agendaplanning is the Agenda Planning tag group: the rules and personas that an
// event's agenda is planned by, and the conflicts of the agenda.
package agendaplanning

import (
	"slices"

	"lectern/shared/agenda"
	"lectern/shared/agenda/draft"
	"lectern/shared/agenda/live"
	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/ratelimit"
	"lectern/shared/resource"
	"lectern/shared/stores"
)

// Group declares every route of the tag group.
var Group = api.NewGroup("Agenda Planning", start, slices.Concat(
	resource.Of(agenda.Rules, routes(resource.Routes{
		Path: "/v1/event/{eventId}/rules", ID: "ruleId", One: "Rule", Many: "Rules",
		About:   agenda.AboutRules(),
		Example: `{"name": "Breaks", "type": "min_gap_minutes", "config": {"minutes": 15}}`,
	}), (*service).store),
	resource.Of(agenda.Personas, routes(resource.Routes{
		Path: "/v1/event/{eventId}/personas", ID: "personaId", One: "Persona", Many: "Personas",
		About:   "A persona is a made-up attendee who judges an agenda. `config` describes the persona; an update replaces it as a whole.",
		Example: `{"name": "Nadia", "config": {"role": "Designer", "feedback_style": "critical", "likes": ["short talks"]}}`,
	}), (*service).store),
	resource.Of(agenda.Drafts, routes(resource.Routes{
		Path: drafts, ID: "draftId", One: "AgendaDraft", Many: "AgendaDrafts",
		About: "A draft is an agenda beside the live one. Drafts do not depend on each other; to delete one changes no session. " +
			"A committed draft is closed: a write to it is a 409 `DRAFT_COMMITTED`, and to delete it needs `force=true`.",
		Example: `{"name": "Without parallel keynotes"}`,
	}), (*service).store),
	resource.Of(draft.Sessions, routes(resource.Routes{
		Path: drafts + "/{draftId}/sessions", ID: "draftSessionId", Parent: "draftId", One: "DraftSession", Many: "DraftSessions", Bulk: true,
		About: "A draft session is the place of a session in a draft: its times and its room, or none. A draft has each session once; " +
			"another one is a 409 `DUPLICATE_SESSION_ID`. Sessions without a place in the draft stay where they are.",
		Example: `{"session_id": "3b0c6a52-6a3e-4a52-9f5e-0d6a3f0f3c11", "starts_at": "2027-05-10T09:00:00Z",` +
			` "ends_at": "2027-05-10T10:00:00Z", "room_id": "9d1f7f0e-52ab-4f0c-8a8e-6a4f4a7f2b90"}`,
	}), (*service).store),
	[]api.Route[service]{listConflicts},
))

// drafts is the path of the drafts.
const drafts = "/v1/event/{eventId}/agenda-drafts"

// readers are the scopes for reading.
var readers = auth.Scopes{auth.ReadEvents, auth.ReadSessions}

// routes completes routes with what all of the group have in common.
func routes(r resource.Routes) resource.Routes {
	r.Read, r.Reads = readers, ratelimit.None
	r.Write, r.Writes = auth.Scopes{auth.WriteEvents}, ratelimit.EventManagementWrites
	return r
}

type service struct{ live live.Reader }

func start(env api.Env) *service {
	return &service{live.Reader{
		Records: resource.NewStore(env), Sessions: stores.Sessions(env), Memory: api.Shared(env, live.NewMemory),
	}}
}

func (s *service) store() resource.Store { return s.live.Records }
