package agenda_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/functions/agendaplanning"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
)

// wanted returns the body of a proposal: a Monday from nine to twelve, in slots of half an hour.
func wanted(more object) object {
	return it.Merged(object{"days": []any{day(9, 12)}, "slot_minutes": 30, "seed": 1, "time_limit_ms": 300}, more)
}

func day(from, to float64) object { return object{"starts_at": hour(from), "ends_at": hour(to)} }

// propose fills a draft.
func (p *planner) propose(status int, draft string, more object) entity {
	p.T.Helper()
	return p.Do(status, http.MethodPost, draft+"/propose", wanted(more))
}

// placed returns the placements of a draft by session.
func (p *planner) placed(draft string) map[string]object {
	p.T.Helper()
	by := map[string]object{}
	for _, one := range p.ListSettings(draft + "/sessions") {
		by[one.Text("session_id")] = it.Pick(one, "starts_at", "ends_at", "room_id")
	}
	return by
}

// TestADraftIsFilledWithAProposal: a draft in conflict becomes one without, again and again, until it is committed.
func TestADraftIsFilledWithAProposal(t *testing.T) {
	stacktest.Everywhere(t)
	p := newPlanner(t)
	draft := newDraft(p.Client, "Proposed")
	first, second := p.place("First", "Big", 9, 10, nil, "Ann speaker"), p.place("Second", "Small", 9, 10, nil, "Ann speaker")
	long := p.place("Long", "Big", 9, 13, nil)
	big := p.AddSession("Big", object{"capacity": 50})
	made := p.propose(200, draft, nil)
	require.Equal(t, "placed score seed steps unplaced", it.KeysOf(made))
	require.Equal(t, object{"placed": 3.0, "seed": 1.0}, it.Pick(made, "placed", "seed"))
	require.EqualValues(t, 1_000_000, made.At("score.unplaced"))
	require.Equal(t, []any{map[string]any{
		"session_id": long, "reason": "The days and the rules of type time_window leave no slot of 240 minutes.",
	}}, made["unplaced"])
	placed := p.placed(draft)
	require.Len(t, placed, 4)
	require.Equal(t, nowhere, placed[long], "a session without a place is in nobody's way")
	require.Equal(t, p.rooms["Big"], placed[big]["room_id"], "the other room is too small")
	preview, _ := p.changesOf(draft)
	require.Zero(t, preview.At("summary.conflicts"))

	// The places of the draft are the present places.
	p.propose(200, draft, object{"keep": "both", "seed": 2, "session_ids": []any{first, second, big}})
	require.Equal(t, placed, p.placed(draft))
	one := p.propose(200, draft, object{"days": []any{day(15, 16)}, "session_ids": []any{big}, "keep": "rooms"})
	require.EqualValues(t, 1, one["placed"])
	require.Equal(t, p.at(15, 16, "Big"), p.placed(draft)[big])
	require.Equal(t, placed[first], p.placed(draft)[first])
	shown := p.Do(200, http.MethodGet, draft, nil)
	none := p.propose(200, draft, object{"statuses": []any{"decline_queue"}})
	require.Equal(t, object{"placed": 0.0, "unplaced": []any{}}, it.Pick(none, "placed", "unplaced"))
	require.Equal(t, shown, p.Do(200, http.MethodGet, draft, nil), "a proposal that writes nothing locks nothing")

	p.Do(200, http.MethodPost, draft+"/commit", nil)
	require.Equal(t, p.at(15, 16, "Big"), p.isAt(big))
	require.Empty(t, p.conflicts())
	require.Equal(t, "DRAFT_COMMITTED", p.propose(409, draft, nil)["code"])
}

// TestWrongProposals names the property of each wrong input, and writes nothing.
func TestWrongProposals(t *testing.T) {
	p := newPlanner(t)
	draft, gone := newDraft(p.Client, "Proposed"), p.place("Gone", "Big", 9, 10, nil)
	p.Delete(200, gone)
	other := it.NewProgramme(t)
	for i := range 22 {
		p.NewEntry("rooms", fmt.Sprint("Booth ", i))
	}
	days := func(all ...any) object { return object{"days": all} }
	for _, wrong := range []struct {
		field string
		body  object
	}{
		{"days", days()}, {"days", days(day(10, 10))}, {"days", days(day(10, 9))}, {"days", days(day(9, 33.5))},
		{"days", days(day(12, 14), day(9, 12.5))}, {"days[0].ends_at", days(object{"starts_at": hour(9)})},
		{"days[0].starts_at", days(object{"starts_at": "monday", "ends_at": hour(9)})},
		{"slot_minutes", object{"slot_minutes": 0}}, {"slot_minutes", object{"slot_minutes": 1441}},
		{"slot_minutes", object{"slot_minutes": 1, "days": []any{day(0, 24), day(24, 48), day(48, 72), day(72, 96)}}},
		{"slot_minutes", object{"slot_minutes": 1, "days": []any{day(0, 24), day(24, 48), day(48, 72)}}}, // 4,323 starts in 24 rooms
		{"session_ids", object{"session_ids": []any{gone}}}, {"session_ids", object{"session_ids": []any{uuid.NewString()}}},
		{"session_ids", object{"session_ids": []any{other.AddSession("Elsewhere", nil)}}}, {"session_ids", object{"session_ids": []any{}}},
		{"session_ids[0]", object{"session_ids": []any{"x"}}},
		{"room_ids", object{"room_ids": []any{uuid.NewString()}}}, {"room_ids", object{"room_ids": []any{}}},
		{"statuses[0]", object{"statuses": []any{"declined"}}}, {"keep", object{"keep": "all"}}, {"seed", object{"seed": -1}},
		{"time_limit_ms", object{"time_limit_ms": 20_001}}, {"time_limit_ms", object{"time_limit_ms": 0}},
	} {
		it.RequireInvalid(t, p.propose(400, draft, wrong.body), wrong.field)
	}
	it.RequireInvalid(t, p.Do(400, http.MethodPost, draft+"/propose", object{"slot_minutes": 30}), "days")
	it.RequireInvalid(t, p.Do(400, http.MethodPost, draft+"/propose", days(day(9, 12))), "slot_minutes")
	require.Empty(t, p.placed(draft))
	require.Equal(t, "Agenda draft not found", p.propose(404, "/agenda-drafts/"+uuid.NewString(), nil)["message"])
	it.RequireInvalid(t, p.propose(400, "/agenda-drafts/"+uuid.NewString(), days(day(10, 9))), "days")
}

// TestAProposalWithoutTime to try each session is refused and leaves the draft as it was.
func TestAProposalWithoutTime(t *testing.T) {
	p := newPlanner(t)
	var sessions []any
	for range 150 {
		sessions = append(sessions, object{"title": "Talk"})
	}
	p.CreateAll("sessions", sessions)
	draft := newDraft(p.Client, "Proposed")
	long := object{"time_limit_ms": 1, "slot_minutes": 1, "days": []any{day(0, 24), day(24, 48), day(48, 72)}}
	it.RequireInvalid(t, p.propose(400, draft, long), "time_limit_ms")
	require.Empty(t, p.placed(draft))
}

// TestARoomIsDeletedDuringAProposal: the sessions there lose their places.
func TestARoomIsDeletedDuringAProposal(t *testing.T) {
	p := newPlanner(t)
	draft := newDraft(p.Client, "Proposed")
	for range 3 {
		p.AddSession("Talk", nil)
	}
	p.place("Long", "Big", 9, 13, nil) // Without a place for it the search goes on to its end.
	hall := p.NewEntry("rooms", "Hall").ID()
	p.propose(200, draft, object{"room_ids": []any{hall}})
	answers := make(chan stacktest.Answer, 1)
	go func() {
		answers <- p.TrySend(t, http.MethodPost, p.EventPath(draft+"/propose"), wanted(object{"room_ids": []any{hall}, "time_limit_ms": 2_000, "seed": 2}))
	}()
	time.Sleep(500 * time.Millisecond)
	p.Do(200, http.MethodDelete, "/rooms/"+hall, nil)
	made := entity((<-answers).JSON(t))
	require.Zero(t, made["placed"])
	require.Len(t, made.List("unplaced"), 4)
	for _, place := range p.placed(draft) {
		require.Equal(t, nowhere, place)
	}
}

// TestADraftHasAsManySessionsAsItMay: a proposal of more is refused and writes nothing.
func TestADraftHasAsManySessionsAsItMay(t *testing.T) {
	p := newProposing(t)
	p.renew()
	most := func(records int64) *it.Client {
		return p.ServeGroup(agendaplanning.Group, func(e *api.Env) { e.MostRecords = records })
	}
	it.RequireInvalid(t, p.proposeOn(most(59), onFirst).JSON(t), "session_ids")
	require.Equal(t, "before, before", p.days())
	require.Equal(t, "ok", outcome(t, p.proposeOn(most(60), onFirst)))
	require.Equal(t, "first, first", p.days())
}
