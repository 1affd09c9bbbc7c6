// Package sessionfiles is the Session Files tag group: the upload slots of an event (spec.md
// section 4.6).
package sessionfiles

import (
	"context"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/resource"
	"lectern/shared/sessionfile"
)

// Group declares every route of the tag group.
var Group = api.NewGroup("Session Files", start, []api.Route[service]{
	api.Get("listContentSlots", "/v1/event/{eventId}/content-slots", (*service).slots, readers, api.Describe(aboutSlots)),
})

var readers = auth.Scopes{auth.ReadSessions}

const aboutSlots = "Lists the slots of the event that ask speakers for files, " +
	"in the order in which speakers see them: by `order`, then by `id`. " +
	"Archived slots are left out without `include_archived`. With `session_id`, the list has the active slots that apply to " +
	"the session. The organizer says which formats and tracks of sessions a slot is for. " +
	"An event that does not use slots has an empty list."

type service struct{ store *sessionfile.Store }

func start(env api.Env) *service {
	return &service{&sessionfile.Store{Records: resource.NewStore(env)}}
}

type slotsInput struct {
	api.InEvent
	Archived  bool   `query:"include_archived" doc:"Whether to list archived slots too; without effect beside session_id."`
	SessionID string `query:"session_id" format:"uuid" doc:"The active slots that apply to this session or subsession alone."`
}

// ContentSlots is the envelope of a list of slots.
type ContentSlots struct {
	Data []*sessionfile.Slot `json:"data"`
}

func (s *service) slots(ctx context.Context, in *slotsInput) (*ContentSlots, error) {
	all, err := s.store.Slots(ctx, auth.From(ctx), sessionfile.Query{Archived: in.Archived, Session: in.SessionID})
	return &ContentSlots{all}, err
}
