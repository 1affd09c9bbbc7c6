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
	"lectern/shared/stores"
)

const event = "/v1/event/{eventId}/"

// Group declares every route of the tag group.
var Group = api.NewGroup("Participants", start, []api.Route[service]{
	api.Post("searchParticipants", event+"participants", (*service).search, readers),
	api.Get("getParticipantByEmail", event+"participants", (*service).byEmail, readers),
	api.Get("listParticipantRoles", event+"participant-roles", (*service).roles,
		auth.Scopes{auth.ReadSessions, auth.ReadContacts}),
})

var readers = auth.Scopes{auth.ReadContacts}

type service struct{ participation *participation.Store }

func start(env api.Env) *service { return &service{stores.Participation(env)} }

type searchInput struct {
	api.InEvent
	page.Query
	Body party.SearchBody[participation.ParticipantFilter] `required:"false"`
}

// search gives one page of the participants that match the filters.
func (s *service) search(ctx context.Context, in *searchInput) (*page.Of[*participation.Participant], error) {
	return s.participation.Participants(ctx, auth.From(ctx), participation.Query[participation.ParticipantFilter]{
		Filter: in.Body.Filters, Sort: in.Body.Sort.Keys, Page: in.Query, Expand: in.Body.Translated(),
	})
}

type emailInput struct {
	api.InEvent
	Email string `query:"email" required:"true" pattern:"\\S" maxLength:"255" doc:"The participant's e-mail address, whatever its case."`
	party.Expanding
}

// byEmail gives the participant that holds an address.
func (s *service) byEmail(ctx context.Context, in *emailInput) (*participation.Participant, error) {
	return s.participation.ByEmail(ctx, auth.From(ctx), in.Email, in.Translated())
}

type rolesInput struct{ api.InEvent }

// roles lists the roles that people can have on sessions.
func (s *service) roles(ctx context.Context, _ *rolesInput) (*[]participation.Role, error) {
	all, err := s.participation.Roles(ctx, auth.From(ctx))
	return &all, err
}
