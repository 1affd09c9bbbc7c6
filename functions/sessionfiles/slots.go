package sessionfiles

import (
	"context"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/sessionfile"
)

const aboutSlots = "Lists the slots of the event that ask speakers for files, " +
	"in the order in which speakers see them: by `order`, then by `id`. " +
	"Archived slots are left out without `include_archived`. With `session_id`, the list has the active slots that apply to " +
	"the session. The organizer says which formats and tracks of sessions a slot is for. " +
	"An event that does not use slots has an empty list."

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
