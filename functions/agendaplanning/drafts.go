package agendaplanning

import (
	"context"

	"lectern/shared/agenda/draft"
	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/ratelimit"
	"lectern/shared/resource"
)

// drafts is the path of the drafts, draftSessions that of the placements of a draft.
const (
	drafts        = "/v1/event/{eventId}/agenda-drafts"
	oneDraft      = drafts + "/{draftId}"
	draftSessions = oneDraft + "/sessions"
)

const (
	aboutDrafts = "A draft is an agenda beside the live one. Drafts do not depend on each other; to delete one changes no session. " +
		"A committed draft is closed: a write to it is a 409 `DRAFT_COMMITTED`, and to delete it needs `force=true`."
	exampleDraft = `{"name": "Without parallel keynotes"}`

	aboutDraftSessions = "A draft session is the place of a session in a draft: its times and its room, or none. " +
		"A draft has each session once; another one is a 409 `DUPLICATE_SESSION_ID`. " +
		"Sessions without a place in the draft stay where they are."
	refusals = "While a proposal is written into the draft, a write is a 409 `DRAFT_BUSY`: send it again, " +
		"also under the same `Idempotency-Key`. `Retry-After`, and the message in a bulk, say the longest wait."
	exampleDraftSession = `{"session_id": "3b0c6a52-6a3e-4a52-9f5e-0d6a3f0f3c11", "starts_at": "2027-05-10T09:00:00Z",` +
		` "ends_at": "2027-05-10T10:00:00Z", "room_id": "9d1f7f0e-52ab-4f0c-8a8e-6a4f4a7f2b90"}`

	aboutChanges = "Lists the sessions that a commit of the draft would change, each with the conflicts that it would have then. " +
		"`blocked` says why a commit would be refused. After the commit it lists what the commit has changed, whatever happened to the " +
		"sessions since; `blocked` then says why it left a session as it was. An agenda that would have more conflicts than " +
		"`/agenda-conflicts` lists is a 400. An answer of more than 5 MB needs gzip. For example:\n\n```json\n" + exampleChanges + "\n```"
	exampleChanges = `{"draft_id": "6f1c1a0e-0f0a-4c55-9b43-5a3d0c2e7f10", "status": "draft", "committed_at": null,
  "summary": {"total": 2, "scheduled": 1, "moved": 0, "room_changed": 0, "unscheduled": 0, "unchanged": 1, "blocked": 0, "conflicts": 0},
  "changes": [{"draft_session_id": "0b9e7a4c-5d0e-4a7e-8a53-1f2d3c4b5a69", "session_id": "3b0c6a52-6a3e-4a52-9f5e-0d6a3f0f3c11",
    "friendly_id": "SESS-12", "title": "Keynote", "change_type": "scheduled", "blocked": null, "conflicts": [],
    "from": {"starts_at": null, "ends_at": null, "room_id": null},
    "to": {"starts_at": "2027-05-10T09:00:00Z", "ends_at": "2027-05-10T10:00:00Z", "room_id": "9d1f7f0e-52ab-4f0c-8a8e-6a4f4a7f2b90"}}]}`

	aboutCommit = "Puts the draft live as a whole, and answers the draft with the number of changed sessions. " +
		"Each of them has a `session.updated`. " +
		"A session that was deleted or got other times after it was placed, a deleted room, and a session too large for a place are a " +
		"409 `DRAFT_OUTDATED`, which names them, and changes nothing. " +
		"What becomes so during the commit leaves its session as it is; `changes` names it. " +
		"A second commit is a 409 `DRAFT_COMMITTED`. " +
		"While a proposal is written into the draft, a commit is a 409 `DRAFT_BUSY` with the longest wait as `Retry-After`: send it again. " +
		"After a 503 the draft may be committed: read it, which finishes the commit, " +
		"or send the request again under its `Idempotency-Key`."

	aboutPropose = "An extension of this service. Fills the draft with a proposed agenda: a draft session for each session with a place, " +
		"in place of an earlier one. No proposed session shares a room or a person with another at one time, is outside of the days, " +
		"needs more seats than the room has unless a rule of type `room_capacity` is a warning, or breaks an enabled rule of level `error`. " +
		"The score has what the search makes small. `keep` is about the present places: those in the draft, else the live ones. " +
		"Subsessions move with their session, within its time and room; " +
		"a subsession with the location `virtual` or `other` and without a room gets times alone. " +
		"A session without times takes as long as on the live agenda, or else an hour. " +
		"A session that finds no place loses its times and its room in the draft, and `unplaced` says why. " +
		"Nothing is written if the time does not allow to try each session: a 400 that names `time_limit_ms`. " +
		"While the proposal is written, a commit, another proposal and a write of a draft session are a 409 `DRAFT_BUSY` " +
		"with the longest wait as `Retry-After`. " +
		"So is a proposal if others change the draft during the search; it then writes nothing. Readers may see a part. " +
		"A request that broke off may keep the draft busy for about half a minute. " +
		"The `updated_at` of the draft changes. " +
		"After another error the draft may have a part of the proposal; send the request again. For example:\n\n```json\n" + examplePropose +
		"\n```\n\nThe answer:\n\n```json\n" + exampleProposal + "\n```"
	examplePropose  = `{"days": [{"starts_at": "2027-05-10T09:00:00Z", "ends_at": "2027-05-10T18:00:00Z"}], "slot_minutes": 15, "seed": 1}`
	exampleProposal = `{"placed": 41, "seed": 1, "steps": 212480,
  "unplaced": [{"session_id": "3b0c6a52-6a3e-4a52-9f5e-0d6a3f0f3c11",
    "reason": "The days and the rules of type time_window leave no slot of 600 minutes."}],
  "score": {"unplaced": 1000000, "warnings": 240, "tracks": 120, "clashes": 60, "seats": 0, "idle": 45, "days": 120}}`
)

// actions are the routes of a draft as a whole.
var actions = []api.Route[service]{
	api.Get("getAgendaDraftChanges", oneDraft+"/changes", (*service).changes, readers, api.Describe(aboutChanges)),
	api.Post("commitAgendaDraft", oneDraft+"/commit", (*service).commit, auth.Scopes{auth.WriteEvents},
		api.Limit(ratelimit.EventManagementWrites), api.Describe(aboutCommit)),
	api.Post("proposeAgendaDraft", oneDraft+"/propose", (*service).propose, auth.Scopes{auth.WriteEvents},
		api.Limit(ratelimit.EventManagementWrites), api.Repeatable, api.Describe(aboutPropose)),
}

type inDraft struct {
	api.InEvent
	ID string `path:"draftId" format:"uuid" doc:"The draft's id."`
}

type proposeInput struct {
	api.InEvent
	ID   string `path:"draftId" format:"uuid" doc:"The draft's id."`
	Body draft.Wanted
}

// changes returns what a draft changes.
func (s *service) changes(ctx context.Context, in *inDraft) (*draft.Changes, error) {
	shown, err := draft.Preview(ctx, s.live, auth.From(ctx), in.ID)
	return shown, listed(err)
}

// commit puts a draft live.
func (s *service) commit(ctx context.Context, in *inDraft) (*draft.Draft, error) {
	c := auth.From(ctx)
	return draft.Commit(ctx, s.store(), resource.Owner{Org: c.Org.ID, Event: c.Event.ID}, in.ID)
}

// propose fills a draft with a proposed agenda.
func (s *service) propose(ctx context.Context, in *proposeInput) (*draft.Proposal, error) {
	return draft.Propose(ctx, s.live, auth.From(ctx), in.ID, in.Body)
}
