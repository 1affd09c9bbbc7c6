// Package agendaplanning is the Agenda Planning tag group: the rules and personas that an event's agenda is planned by, the
// drafts of the agenda with their changes, commits and proposals, and the conflicts of the live agenda.
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
		About: "A persona is a made-up attendee who judges an agenda. `config` describes the persona; an update replaces it as a whole. " +
			"Every event has three built-in personas, with `is_custom` false; a change of one is a 409 `BUILT_IN`.",
		Example: `{"name": "Nadia", "config": {"role": "Designer", "feedback_style": "critical", "likes": ["short talks"]}}`,
	}), (*service).store),
	resource.Of(draft.Drafts, routes(resource.Routes{
		Path: drafts, ID: "draftId", One: "AgendaDraft", Many: "AgendaDrafts", About: aboutDrafts, Example: exampleDraft,
	}), (*service).store),
	actions,
	resource.Of(draft.Sessions, routes(resource.Routes{
		Path: draftSessions, ID: "draftSessionId", Parent: "draftId", One: "DraftSession", Many: "DraftSessions",
		About: aboutDraftSessions, Refusals: refusals, Example: exampleDraftSession, Bulk: true,
	}), (*service).store),
	[]api.Route[service]{listConflicts},
))

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
