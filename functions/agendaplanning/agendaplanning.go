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
		About:   aboutRules,
		Example: `{"name": "Breaks", "type": "min_gap_minutes", "config": {"minutes": 15}}`,
	}), (*service).store),
	resource.Of(agenda.Personas, routes(resource.Routes{
		Path: "/v1/event/{eventId}/personas", ID: "personaId", One: "Persona", Many: "Personas",
		About:   "A persona is a made-up attendee who judges an agenda. `config` describes the persona; an update replaces it as a whole.",
		Example: `{"name": "Nadia", "config": {"role": "Designer", "feedback_style": "critical", "likes": ["short talks"]}}`,
	}), (*service).store),
))

const aboutRules = "A rule says what the schedule of the event should keep. " +
	"`type` cannot change; `config` has the parameters of the type, and an update replaces it as a whole:\n\n" +
	"- `no_room_overlap`, `no_participant_overlap`, `room_capacity`: none\n" +
	"- `min_gap_minutes`: `minutes`, 1 to 1440\n" +
	"- `time_window`: `starts` and `ends` such as `09:30`, and `weekdays`, a list of names such as `monday`; without it every day\n" +
	"- `track_in_one_room`: `track_id`\n" +
	"- `order`: `before_session_id`, `after_session_id`\n" +
	"- `free_text`: `text`, up to 3,000 characters\n\n" +
	"Any other type is kept with any `config` and never evaluated. `config` has at most 12,288 bytes of JSON. " +
	"A rule may name tracks and sessions that are not there any more."

// routes completes routes with what all of the group have in common.
func routes(r resource.Routes) resource.Routes {
	r.Read, r.Reads = auth.Scopes{auth.ReadEvents, auth.ReadSessions}, ratelimit.None
	r.Write, r.Writes = auth.Scopes{auth.WriteEvents}, ratelimit.EventManagementWrites
	return r
}

type service struct{ records resource.Store }

func start(env api.Env) *service { return &service{resource.NewStore(env)} }

func (s *service) store() resource.Store { return s.records }
