// Package agendaplanning is the Agenda Planning tag group: the rules and personas that an
// event's agenda is planned by.
package agendaplanning

import (
	"slices"

	"lectern/shared/agenda"
	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/ratelimit"
	"lectern/shared/resource"
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
))

// routes completes routes with what all of the group have in common.
func routes(r resource.Routes) resource.Routes {
	r.Read, r.Reads = auth.Scopes{auth.ReadEvents, auth.ReadSessions}, ratelimit.None
	r.Write, r.Writes = auth.Scopes{auth.WriteEvents}, ratelimit.EventManagementWrites
	return r
}

type service struct{ records resource.Store }

func start(env api.Env) *service { return &service{resource.NewStore(env)} }

func (s *service) store() resource.Store { return s.records }
