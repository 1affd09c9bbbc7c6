// Package participants is the Participants tag group: everyone who has a role on
// the sessions of an event, and the roles that there are.
package participants

import (
	"context"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/page"
	"lectern/shared/participation"
	"lectern/shared/party"
	"lectern/shared/ratelimit"
	"lectern/shared/search"
	"lectern/shared/stores"
)

const event = "/v1/event/{eventId}/"

// Group declares every route of the tag group.
var Group = api.NewGroup("Participants", start, []api.Route[service]{
	api.Post("searchParticipants", event+"participants", (*service).search, readers, ratelimit.None),
	api.Get("getParticipantByEmail", event+"participants", (*service).byEmail, readers, ratelimit.None),
	api.Get("listParticipantRoles", event+"participant-roles", (*service).roles,
		auth.Scopes{auth.ReadSessions, auth.ReadContacts}, ratelimit.None),
})

var readers = auth.Scopes{auth.ReadContacts}

type service struct{ participation *participation.Store }

func start(env api.Env) *service { return &service{stores.Participation(env)} }

type searchInput struct {
	api.InEvent
	page.Query
	Body searchBody `required:"false"`
}

type searchBody struct {
	Filters participation.ParticipantFilter `json:"filters,omitzero" doc:"All of them must match; those by role and by metadata on one top-level session."`
	Sort    search.Sort[search.ByTimes]     `json:"sort,omitzero"`
	Expand  api.Strings                     `json:"expand,omitempty" enum:"translated_fields" doc:"What to add to each participant."`
	_       struct{}                        `json:"-" additionalProperties:"true"`
}

// search gives one page of the participants that match the filters.
func (s *service) search(ctx context.Context, in *searchInput) (*page.Of[*participation.Participant], error) {
	return s.participation.Participants(ctx, auth.From(ctx), participation.Query[participation.ParticipantFilter]{
		Filter: in.Body.Filters, Sort: in.Body.Sort.Keys, Page: in.Query, Expand: translated(in.Body.Expand),
	})
}

type emailInput struct {
	api.InEvent
	Email  string      `query:"email" required:"true" pattern:"\\S" maxLength:"255" doc:"The participant's e-mail address, whatever its case."`
	Expand api.Strings `query:"expand" enum:"translated_fields" doc:"What to add to the answer."`
}

// byEmail gives the participant that holds an address.
func (s *service) byEmail(ctx context.Context, in *emailInput) (*participation.Participant, error) {
	return s.participation.ByEmail(ctx, auth.From(ctx), in.Email, translated(in.Expand))
}

type rolesInput struct{ api.InEvent }

// roles lists the roles that people can have on sessions.
func (s *service) roles(ctx context.Context, _ *rolesInput) (*[]participation.Role, error) {
	all, err := s.participation.Roles(ctx, auth.From(ctx))
	return &all, err
}

// translated is whether the answer adds translated_fields.
func translated(expand api.Strings) party.Expand {
	return party.Expand(expand.Has("translated_fields"))
}
