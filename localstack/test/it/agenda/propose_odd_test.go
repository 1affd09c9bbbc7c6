package agenda_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

// TestAProposalForOddDays: days before 1970, and days far from each other. A day of the year 9999 takes no more memory than one
// of this week.
func TestAProposalForOddDays(t *testing.T) {
	p := newPlanner(t)
	draft := newDraft(p.Client, "Proposed")
	first, second := p.AddSession("First", nil), p.AddSession("Second", nil)
	rule(p.Client, 200, "order", object{"before_session_id": first, "after_session_id": second, "level": "error"})
	for _, year := range []string{"0001", "1969", "9999"} {
		at := func(time string) string { return year + "-05-10T" + time + ":00:00.000Z" }
		made := p.propose(200, draft, object{"days": []any{day(9, 9.5), object{"starts_at": at("09"), "ends_at": at("12")}}})
		require.EqualValues(t, 2, made["placed"], year)
		for _, session := range []string{first, second} {
			require.Contains(t, []any{at("09"), at("10"), at("11")}, p.placed(draft)[session]["starts_at"])
		}
	}
}

// TestASessionWithoutAPlaceKeepsTheLength: the next proposal and the commit give it as much time as it had.
func TestASessionWithoutAPlaceKeepsTheLength(t *testing.T) {
	p := newPlanner(t)
	draft := newDraft(p.Client, "Proposed")
	long := p.place("Long", "Big", 9, 13, nil)
	part := p.NewSubsession(long, "Part", object{"starts_at": hour(10), "ends_at": hour(12)}).ID()
	for range 2 {
		require.Zero(t, p.propose(200, draft, nil)["placed"], "a morning has no four hours")
	}
	require.Equal(t, nowhere, p.placed(draft)[long])
	require.EqualValues(t, 2, p.propose(200, draft, object{"days": []any{day(14, 18)}})["placed"])
	p.Do(200, http.MethodPost, draft+"/commit", nil)
	require.Equal(t, object{"starts_at": hour(14), "ends_at": hour(18)}, it.Pick(p.isAt(long), "starts_at", "ends_at"))
	is := it.Pick(p.isAt(part), "starts_at", "ends_at")
	require.Contains(t, []object{
		{"starts_at": hour(14), "ends_at": hour(16)}, {"starts_at": hour(15), "ends_at": hour(17)}, {"starts_at": hour(16), "ends_at": hour(18)},
	}, is, "two hours within the parent")
}

// TestAProposalLeavesVirtualSessions at their location, with their subsessions, unless they are named. All other properties
// have defaults.
func TestAProposalLeavesVirtualSessions(t *testing.T) {
	p := newPlanner(t)
	draft := newDraft(p.Client, "Proposed")
	hall, virtual, other := p.AddSession("Hall", nil), p.AddSession("Online", object{"location": "virtual"}), p.AddSession("Bus", object{"location": "other"})
	p.NewSubsession(virtual, "Chat")
	made := p.Do(200, http.MethodPost, draft+"/propose", object{"days": []any{day(9, 12)}, "slot_minutes": 30})
	require.Equal(t, object{"placed": 1.0, "unplaced": []any{}, "seed": 0.0}, it.Pick(made, "placed", "unplaced", "seed"))
	require.Len(t, p.placed(draft), 1)
	require.NotEqual(t, nowhere, p.placed(draft)[hall])
	made = p.propose(200, draft, object{"session_ids": []any{virtual, other}, "room_ids": []any{p.rooms["Big"], p.rooms["Big"]}})
	require.EqualValues(t, 3, made["placed"])
	require.Equal(t, p.rooms["Big"], p.placed(draft)[other]["room_id"])
	require.EqualValues(t, 4, p.propose(200, draft, nil)["placed"], "in the draft they have a room now")
	require.Zero(t, p.propose(200, draft, object{"days": []any{day(9, 9.5)}})["placed"])
	require.EqualValues(t, 4, p.propose(200, draft, nil)["placed"], "without a place, they find one again")
}

// TestAVirtualSubsessionGetsNoRoom beside a session in a hall: it gets times within the session, whatever its audience, and
// takes no seats. The draft can bring it into a room.
func TestAVirtualSubsessionGetsNoRoom(t *testing.T) {
	p := newPlanner(t)
	draft := newDraft(p.Client, "Proposed")
	hall := p.place("Hall", "", 9, 11, object{"capacity": 100})
	stream := p.NewSubsession(hall, "Stream", object{"location": "virtual", "capacity": 5_000}).ID()
	chat := p.NewSubsession(hall, "Chat", object{"location": "other", "starts_at": hour(9), "ends_at": hour(9.5)}).ID()
	for range 2 {
		require.Equal(t, object{"placed": 3.0, "unplaced": []any{}}, it.Pick(p.propose(200, draft, nil), "placed", "unplaced"))
		placed := p.placed(draft)
		require.Equal(t, p.rooms["Big"], placed[hall]["room_id"])
		for _, id := range []string{stream, chat} {
			require.Nil(t, placed[id]["room_id"])
			require.GreaterOrEqual(t, placed[id]["starts_at"], placed[hall]["starts_at"])
			require.LessOrEqual(t, placed[id]["ends_at"], placed[hall]["ends_at"])
		}
	}
	for _, one := range p.ListSettings(draft + "/sessions") {
		if one["session_id"] == chat {
			p.Do(200, http.MethodPut, draft+"/sessions/"+one.ID(), object{"room_id": p.rooms["Small"]})
		}
	}
	require.EqualValues(t, 3, p.propose(200, draft, nil)["placed"])
	placed := p.placed(draft)
	require.Equal(t, p.rooms["Big"], placed[chat]["room_id"])
	p.Do(200, http.MethodPost, draft+"/commit", nil)
	require.Equal(t, placed[stream], p.isAt(stream))
	require.Equal(t, "virtual", p.Get(200, stream)["location"])
	require.Equal(t, "room", p.Get(200, chat)["location"])
}
