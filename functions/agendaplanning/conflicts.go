package agendaplanning

import (
	"context"
	"errors"
	"fmt"

	"lectern/shared/agenda/conflict"
	"lectern/shared/agenda/live"
	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/auth"
)

const aboutConflicts = "An extension of this service. Lists the sessions of the live agenda that have conflicts, by start, end and id; " +
	"sessions without times come last. Abstracts, declined sessions and composition sources are not on the agenda, " +
	"nor are their subsessions, nor participants who declined, on an event with `speaker_acceptance`. " +
	"An answer of more than 5 MB needs gzip.\n\n" +
	"- `room_overlap`, `participant_overlap`: another session in the room, or with a person in any role, at the same time. " +
	"Sessions that touch do not overlap, nor does a subsession with its parent\n" +
	"- `room_capacity`: the room takes fewer people than the session expects: the value of a number field `%s`, " +
	"or else the session's `capacity`\n" +
	"- `rule`: an enabled rule of another type\n\n" +
	"The first three need no rule and are errors. The first enabled rule of `no_room_overlap`, `no_participant_overlap` or `room_capacity` " +
	"gives its id and level. A conflict of two sessions is in the lists of both; of a `track_in_one_room` in that of the session to move. " +
	"More than %d conflicts are a 400; one of several people counts for each. For example:\n\n```json\n%s\n```"

const exampleConflicts = `[{"session_id": "3b0c6a52-6a3e-4a52-9f5e-0d6a3f0f3c11", "friendly_id": "SESS-12", "title": "Keynote",
  "conflicts": [{"type": "room_overlap", "level": "error", "session_id": "9d1f7f0e-52ab-4f0c-8a8e-6a4f4a7f2b90",
    "message": "This session and SESS-31 are in room Hall 1 at the same time."}]}]`

// tooMany is the message for an agenda with more conflicts than an answer lists.
const tooMany = "The agenda has more than %d conflicts. Give sessions other times or rooms, or disable rules."

// listConflicts is the route of the conflicts.
var listConflicts = api.Get("listAgendaConflicts", "/v1/event/{eventId}/agenda-conflicts", (*service).conflicts, readers,
	api.Describe(fmt.Sprintf(aboutConflicts, live.AudienceField, conflict.Max, exampleConflicts)))

// SessionConflicts is a session with its conflicts.
type SessionConflicts struct {
	SessionID  string              `json:"session_id" format:"uuid" doc:"The session's id."`
	FriendlyID string              `json:"friendly_id" doc:"The session's number for people."`
	Title      string              `json:"title" doc:"The session's title."`
	Conflicts  []conflict.Conflict `json:"conflicts" nullable:"false" doc:"The session's conflicts, by type, rule and the other session's time."`
}

// conflicts returns the conflicts of the live agenda.
func (s *service) conflicts(ctx context.Context, _ *api.InEvent) (*[]SessionConflicts, error) {
	a, err := s.live.Read(ctx, auth.From(ctx))
	if err != nil {
		return nil, err
	}
	found, err := conflict.Check(a.Agenda)
	list := make([]SessionConflicts, len(found))
	for i, f := range found {
		list[i] = SessionConflicts{f.Session.ID, f.Session.Name, f.Session.Title, f.Conflicts}
	}
	return &list, listed(err)
}

// listed returns the error of an answer with conflicts: a 400 for more conflicts than an answer lists.
func listed(err error) error {
	if errors.Is(err, conflict.ErrTooMany) {
		return apierr.Invalid("", tooMany, conflict.Max)
	}
	return err
}
