package solver_test

import (
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/shared/agenda/block"
	"lectern/shared/agenda/conflict"
	"lectern/shared/agenda/solver"
	"lectern/tools/judge/instance"
)

// TestNoProposedSessionIsInConflict holds proposals for random problems against the check of agendas, the days, the rooms and
// the kept parts of places.
func TestNoProposedSessionIsInConflict(t *testing.T) {
	seed, placed, unplaced := it.Seed(t), 0, map[string]int{}
	for i := range it.Size(300, 3_000) {
		p := instance.Wild(it.Source(seed, i))
		p.Seed, p.Steps = seed, 300
		if len(p.Agenda.Sessions) <= 5 {
			p.Steps = 20_000
		}
		r := solver.Solve(p)
		errors, err := instance.Errors(p, r)
		require.NoError(t, err)
		require.Zero(t, errors, "problem %d", i)
		require.Equal(t, instance.Score(p, r.Placed), r.Score, "problem %d", i)
		for _, s := range r.Placed {
			requireAllowed(t, p, r, s)
		}
		placed += len(r.Placed)
		for _, u := range r.Unplaced {
			unplaced[u.Reason[:12]]++
		}
	}
	t.Log(placed, unplaced)
	require.NotZero(t, placed)
}

// requireAllowed checks the time and the room of a proposed session.
func requireAllowed(t *testing.T, p solver.Problem, r solver.Result, s *conflict.Session) {
	t.Helper()
	was := p.Agenda.Sessions[slices.IndexFunc(p.Agenda.Sessions, hasID(s.ID))]
	if parent := instance.ParentOf(p, s); parent != nil {
		i := slices.IndexFunc(r.Placed, hasID(parent.ID))
		require.GreaterOrEqual(t, i, 0, "a subsession is placed with the parent")
		top := r.Placed[i]
		if was.Elsewhere && was.Room == "" {
			require.Empty(t, s.Room)
		} else {
			require.Equal(t, top.Room, s.Room)
		}
		require.False(t, s.Starts.Before(top.Starts) || s.Ends.After(top.Ends) || !s.Ends.After(s.Starts))
		require.True(t, !p.KeepTimes || !was.TakesTime() || parent.TakesTime() && was.Starts.Sub(parent.Starts) == s.Starts.Sub(top.Starts))
		return
	}
	length := cmp.Or(was.Length, time.Hour)
	if was.TakesTime() {
		length = was.Ends.Sub(was.Starts)
	}
	require.Equal(t, length, s.Ends.Sub(s.Starts))
	day := slices.IndexFunc(p.Days, func(d block.Day) bool { return !s.Starts.Before(d.Starts) && !s.Ends.After(d.Ends) })
	require.GreaterOrEqual(t, day, 0)
	_, hadRoom := p.Agenda.Rooms[was.Room]
	if p.KeepTimes && was.TakesTime() {
		require.True(t, was.Starts.Equal(s.Starts))
	} else {
		require.Zero(t, s.Starts.Sub(p.Days[day].Starts)%p.Slot)
	}
	if p.KeepRooms && hadRoom {
		require.Equal(t, was.Room, s.Room)
	} else if len(p.RoomIDs) > 0 {
		require.Contains(t, p.RoomIDs, s.Room)
	}
}

func hasID(id string) func(*conflict.Session) bool {
	return func(s *conflict.Session) bool { return s.ID == id }
}

// TestTheScoreByDifferenceIsTheFullScore after each of many random moves, also of moves into conflicts.
func TestTheScoreByDifferenceIsTheFullScore(t *testing.T) {
	seed := it.Seed(t)
	for i := range it.Size(200, 2_000) {
		p := instance.Wild(it.Source(seed, i))
		p.Seed = seed
		b := solver.NewBoard(p)
		for range 50 {
			placed, score := b.Now()
			require.Equal(t, instance.Score(p, placed), score, "problem %d", i)
			b.MoveAny()
			b.Try()
		}
	}
}

// TestTheCheapestPlace compares the cheapest place of a comparison with the judgements of all places.
func TestTheCheapestPlace(t *testing.T) {
	seed := it.Seed(t)
	for i := range it.Size(200, 2_000) {
		p := instance.Wild(it.Source(seed, i))
		if i%2 == 0 {
			drawn, err := instance.Draw(24, uint64(i)).Problem()
			require.NoError(t, err)
			p = drawn
		}
		p.Seed = seed
		b := solver.NewBoard(p)
		for range 10 {
			if b.Movable() {
				b.MoveAny()
				require.True(t, b.Cheapest(), "problem %d", i)
			}
		}
	}
}

// TestTheSameSeedAndStepsGiveTheSameAgenda in whatever order the sessions come.
func TestTheSameSeedAndStepsGiveTheSameAgenda(t *testing.T) {
	p, err := instance.Draw(40, 1).Problem()
	require.NoError(t, err)
	p.Seed, p.Steps = 1, 5_000
	first := solver.Solve(p)
	require.Equal(t, 5_000, first.Steps)
	slices.Reverse(p.Agenda.Sessions)
	slices.Reverse(p.SessionIDs)
	slices.Reverse(p.Days)
	p.Agenda.Rooms = maps.Clone(p.Agenda.Rooms)
	require.Equal(t, first, solver.Solve(p))
	p.Seed = 2
	require.NotEqual(t, first.Placed, solver.Solve(p).Placed)
	seed := it.Seed(t)
	for i := range 30 {
		p = instance.Wild(it.Source(seed, i))
		p.Seed, p.Steps = seed, 200
		require.Equal(t, solver.Solve(p), solver.Solve(p), "problem %d", i)
	}
}

// problem returns a problem of one day from 09:00 to 12:00 with slots of 30 minutes.
func problem(sessions ...*conflict.Session) solver.Problem {
	p := solver.Problem{Seed: 1, Steps: 3_000}
	p.Slot, p.Days = 30*time.Minute, []block.Day{{Starts: at(9, 0), Ends: at(12, 0)}}
	p.Agenda = conflict.Agenda{Sessions: sessions, Rooms: map[string]conflict.Room{"h1": {Name: "Hall 1", Capacity: number(100)}, "h2": {Name: "Hall 2"}}}
	for _, s := range sessions {
		p.SessionIDs = append(p.SessionIDs, s.ID)
	}
	return p
}

func at(hour, minute int) time.Time { return time.Date(2027, 5, 10, hour, minute, 0, 0, time.UTC) }

func number(n int) *int { return &n }

// talk returns a session without a place.
func talk(id string, people ...string) *conflict.Session {
	return &conflict.Session{ID: id, Name: "SESS-" + id, People: people}
}

// in returns a session in a room from an hour on, for an hour.
func in(id, room string, hour int, people ...string) *conflict.Session {
	s := talk(id, people...)
	s.Room, s.Starts, s.Ends = room, at(hour, 0), at(hour+1, 0)
	return s
}

// rule returns a rule from its parameters.
func rule(kind, config string) conflict.Rule { return conflict.Parse(kind, kind, []byte(config)) }

// places returns a text for each placed session, and the reasons for the others.
func places(r solver.Result) (all []string) {
	for _, s := range r.Placed {
		all = append(all, fmt.Sprint(s.ID, " ", s.Room, " ", s.Starts.Format("15:04"), "-", s.Ends.Format("15:04")))
	}
	for _, u := range r.Unplaced {
		all = append(all, u.SessionID+": "+u.Reason)
	}
	return all
}

// TestRules: each rule decides between places that are free.
func TestRules(t *testing.T) {
	audience := talk("a")
	audience.Audience = number(120)
	require.Equal(t, "h2", solver.Solve(problem(audience)).Placed[0].Room, "capacity needs no rule")

	p := problem(talk("a", "p"), talk("b", "p"))
	require.Zero(t, solver.Solve(p).Score)
	p.Agenda.Rules = []conflict.Rule{rule("min_gap_minutes", `{"minutes":60}`)}
	require.Equal(t, 60*time.Minute, apart(solver.Solve(p)))

	p = problem(talk("a"), talk("b"))
	p.Agenda.Rules = []conflict.Rule{rule("order", `{"before_session_id":"b","after_session_id":"a"}`)}
	require.Negative(t, solver.Solve(p).Placed[1].Ends.Compare(solver.Solve(p).Placed[0].Starts.Add(1)))

	p = problem(talk("a"))
	p.Agenda.Rules = []conflict.Rule{rule("time_window", `{"starts":"10:30","ends":"11:30"}`)}
	require.Contains(t, places(solver.Solve(p))[0], "10:30-11:30")
	p.Agenda.Rules = []conflict.Rule{rule("time_window", `{"starts":"11:00","ends":"23:00","level":"warning"}`)}
	require.Contains(t, places(solver.Solve(p))[0], "11:00-12:00")

	p = problem(talk("a"), talk("b"), talk("c"), talk("d"))
	for _, s := range p.Agenda.Sessions {
		s.Track = "t"
	}
	p.Agenda.Rules = []conflict.Rule{rule("track_in_one_room", `{"track_id":"t"}`), rule("free_text", `{"text":"x"}`), rule("mine", `{}`)}
	r := solver.Solve(p)
	require.Len(t, r.Placed, 3, "one room has three hours")
	require.Contains(t, r.Unplaced[0].Reason, "a rule of type track_in_one_room is broken")
}

// apart returns the time between two sessions.
func apart(r solver.Result) time.Duration {
	return max(r.Placed[0].Starts.Sub(r.Placed[1].Ends), r.Placed[1].Starts.Sub(r.Placed[0].Ends))
}

// TestSubsessionsAreWithinTheirParent in the same room, one after another.
func TestSubsessionsAreWithinTheirParent(t *testing.T) {
	parent, first, second := in("a", "", 9, "p"), talk("b", "p"), talk("c", "p")
	parent.Ends = at(10, 30)
	for _, s := range []*conflict.Session{first, second} {
		s.Parent, s.Starts, s.Ends = "a", at(9, 0), at(9, 40)
	}
	r := solver.Solve(problem(parent, first, second))
	require.Len(t, r.Placed, 3)
	for _, s := range r.Placed[1:] {
		require.Equal(t, r.Placed[0].Room, s.Room)
		require.False(t, s.Starts.Before(r.Placed[0].Starts) || s.Ends.After(r.Placed[0].Ends))
	}
	require.Zero(t, apart(solver.Result{Placed: r.Placed[1:]}))
	second.Ends = at(10, 0)
	require.Contains(t, places(solver.Solve(problem(parent, first, second)))[2], "no time for the subsession beside the other subsessions")
}

// TestKeep keeps times, rooms or both.
func TestKeep(t *testing.T) {
	sessions := func() []*conflict.Session {
		return []*conflict.Session{in("a", "h2", 10), in("b", "h2", 10), talk("c")}
	}
	for _, expected := range []string{"10:00", "h2"} {
		p := problem(sessions()...)
		p.KeepTimes, p.KeepRooms = expected == "10:00", expected == "h2"
		r := solver.Solve(p)
		require.Len(t, r.Placed, 3, expected)
		for _, line := range places(r)[:2] {
			require.Contains(t, line, expected)
		}
	}
	p := problem(sessions()...)
	p.KeepTimes, p.KeepRooms = true, true
	r := solver.Solve(p)
	require.Len(t, r.Placed, 2)
	require.Contains(t, r.Unplaced[0].Reason, "No place is free: the room is taken (1 times in 1 places, for example by SESS-")
}

// TestReasons: the reason for each session without a place.
func TestReasons(t *testing.T) {
	reason := func(change func(p *solver.Problem, s *conflict.Session)) string {
		s := in("b", "h1", 9, "p")
		p := problem(in("a", "h1", 9, "p"), s)
		p.SessionIDs = []string{"b"}
		change(&p, s)
		r := solver.Solve(p)
		require.Len(t, r.Unplaced, 1)
		return r.Unplaced[0].Reason
	}
	keep := func(p *solver.Problem, _ *conflict.Session) { p.KeepTimes, p.KeepRooms = true, true }
	require.Equal(t, "No place is free: the room is taken (1 times in 1 places, for example by SESS-a).", reason(keep))
	require.Contains(t, reason(func(p *solver.Problem, s *conflict.Session) {
		p.KeepTimes, s.Room, s.Starts, s.Ends = true, "", at(10, 0), at(11, 0)
		p.Agenda.Rules = []conflict.Rule{rule("min_gap_minutes", `{"minutes":5}`)}
	}), "No place is free: a person of the session has too short a gap (2 times in 2 places, for example by SESS-a)")
	require.Contains(t, reason(func(p *solver.Problem, s *conflict.Session) {
		p.KeepTimes, s.Room, s.People = true, "h2", nil
		p.Agenda.Rules = []conflict.Rule{rule("order", `{"before_session_id":"a","after_session_id":"b"}`)}
	}), "a rule of type order is broken")
	require.Equal(t, "The session keeps times that are outside of the days or break a rule of type time_window.",
		reason(func(p *solver.Problem, s *conflict.Session) {
			p.KeepTimes, s.Starts, s.Ends = true, at(12, 0), at(13, 0)
		}))
	require.Equal(t, "The days and the rules of type time_window leave no slot of 240 minutes.",
		reason(func(_ *solver.Problem, s *conflict.Session) { s.Ends = at(13, 0) }))
	require.Equal(t, "No room that the session may have has enough seats and keeps the rules of type track_in_one_room.", reason(func(p *solver.Problem, s *conflict.Session) {
		p.RoomIDs, s.Audience = []string{"h1"}, number(101)
	}))
	require.Equal(t, "The search ended before the session had a place.", reason(func(p *solver.Problem, _ *conflict.Session) {
		p.Deadline = time.Now().Add(-time.Second)
	}))
}

// TestImportGoogleIOIsPlaced: 1,097 sessions in 17 rooms on three days of twelve hours have places without conflicts.
func TestImportGoogleIOIsPlaced(t *testing.T) {
	in, err := instance.ReadGoogleIO("../../../../shared/data/google-io-2019.json")
	require.NoError(t, err)
	require.Len(t, in.Sessions, 1097)
	p, err := in.Problem()
	require.NoError(t, err)
	begin := time.Now()
	p.Steps, p.Deadline = 1<<30, begin.Add(5*time.Second)
	r := solver.Solve(p)
	require.Less(t, time.Since(begin), 6*time.Second)
	errors, err := instance.Errors(p, r)
	require.NoError(t, err)
	require.Zero(t, errors)
	require.Empty(t, r.Unplaced)
	require.Equal(t, instance.Score(p, r.Placed), r.Score)
	t.Logf("%d moves, %+v", r.Steps, r.Score)
}

// TestASubsessionNeverHasAPlaceWithoutTheParent: another session has the only person for the time of the parent.
func TestASubsessionNeverHasAPlaceWithoutTheParent(t *testing.T) {
	parent, part, other := in("a", "", 9, "p"), talk("b"), in("c", "", 9, "p")
	parent.Audience, part.Parent = number(120), "a"
	part.Starts, part.Ends = at(9, 0), at(9, 30)
	p := problem(parent, part, other)
	p.Days[0].Ends = at(10, 0)
	p.Agenda.Rules = []conflict.Rule{rule("room_capacity", `{"level":"warning"}`)}
	r := solver.Solve(p)
	require.Len(t, r.Placed, 2, "the parent with the subsession, and not one of them beside the other session")
	require.Equal(t, "c", r.Unplaced[0].SessionID)
}

// TestFamilies: subsessions keep their times within the parent, share the time left, or follow each other; fixed
// subsessions without times or rooms are in nobody's way.
func TestFamilies(t *testing.T) {
	family := func(parts ...*conflict.Session) []*conflict.Session {
		parent := in("a", "h1", 9)
		parent.Ends = at(11, 0)
		for _, s := range parts {
			s.Parent = "a"
		}
		return append(parts, parent)
	}
	timed := func(id string, from, to int) *conflict.Session {
		s := talk(id)
		s.Starts, s.Ends = at(9, from), at(9, to)
		return s
	}
	for _, keep := range []bool{false, true} {
		p := problem(family(timed("b", 20, 40), timed("c", 50, 60))...)
		p.KeepTimes, p.KeepRooms = keep, keep
		r := solver.Solve(p)
		require.Equal(t, []time.Duration{20 * time.Minute, 50 * time.Minute},
			[]time.Duration{r.Placed[1].Starts.Sub(r.Placed[0].Starts), r.Placed[2].Starts.Sub(r.Placed[0].Starts)})
	}
	r := solver.Solve(problem(family(talk("b"), talk("c"), talk("d"), talk("e"), talk("f"))...))
	require.Len(t, r.Placed, 6)
	require.Equal(t, 24*time.Minute, r.Placed[5].Ends.Sub(r.Placed[5].Starts))
	require.Equal(t, r.Placed[0].Ends, r.Placed[5].Ends)

	one := problem(family(timed("b", 0, 30), timed("c", 0, 30))...)
	one.SessionIDs = []string{"c"}
	require.Len(t, solver.Solve(one).Placed, 3, "a subsession takes the family along")
	nowhere, another := talk("x"), in("y", "gone", 9)
	nowhere.Parent, another.Parent = "z", "z"
	fixed := problem(in("z", "h1", 9, "p"), nowhere, another, in("w", "h2", 11, "p"))
	fixed.SessionIDs = []string{"w"}
	require.Len(t, solver.Solve(fixed).Placed, 1)
}

// TestASearchEndsWhereNothingCanImprove, long before the deadline.
func TestASearchEndsWhereNothingCanImprove(t *testing.T) {
	kept := problem(in("a", "h1", 9, "p"), in("b", "h2", 10, "p"))
	kept.KeepTimes, kept.KeepRooms = true, true
	free, noRoom, noStart := problem(talk("a")), problem(talk("a")), problem(talk("a"))
	noRoom.Agenda.Rooms, noStart.Days[0].Ends = nil, at(9, 30)
	for _, p := range []solver.Problem{kept, free, noRoom, noStart, problem()} {
		begin := time.Now()
		p.Steps, p.Deadline = 1<<30, begin.Add(time.Minute)
		solver.Solve(p)
		require.Less(t, time.Since(begin), 10*time.Second)
	}
}

// TestFreePlacesAreFound by a search of one move: the only one of 968, and some of 2,420.
func TestFreePlacesAreFound(t *testing.T) {
	for rooms, free := range map[int]int{8: 60, 20: 80} {
		p := problem(talk("a"))
		p.Slot, p.Steps = time.Minute, 1
		for i := range rooms {
			room := fmt.Sprint("h", i+1)
			p.Agenda.Rooms[room] = conflict.Room{}
			s := in("in "+room, room, 9)
			if s.Ends = at(12, 0); room == "h2" {
				s.Starts = at(9, free)
			}
			p.Agenda.Sessions = append(p.Agenda.Sessions, s)
		}
		for p.Seed = range 10 {
			require.Contains(t, places(solver.Solve(p))[0], "a h2 09:", "%d rooms", rooms)
		}
	}
}

// TestFamiliesShareTheirStarts: many families in many slots beside rules of type time_window have places in time.
func TestFamiliesShareTheirStarts(t *testing.T) {
	p := problem()
	for i := range 1600 {
		parent, first, second := in(fmt.Sprint("p", i), "", 9), talk(fmt.Sprint("q", i)), talk(fmt.Sprint("r", i))
		parent.Ends, first.Parent, second.Parent = at(9, 30), parent.ID, parent.ID
		p.Agenda.Sessions = append(p.Agenda.Sessions, parent, first, second)
		p.SessionIDs = append(p.SessionIDs, parent.ID)
	}
	for i := range 20 {
		p.Agenda.Rooms[fmt.Sprint("h", i)] = conflict.Room{}
	}
	for i := range 200 {
		p.Agenda.Rules = append(p.Agenda.Rules, rule("time_window", fmt.Sprintf(`{"starts":"08:0%d","ends":"2%d:00","level":"warning"}`, i%10, i%4)))
	}
	p.Slot, p.Days, p.Steps = time.Minute, nil, 1
	for day := range 6 {
		p.Days = append(p.Days, block.Day{Starts: at(9, 0).AddDate(0, 0, day), Ends: at(21, 0).AddDate(0, 0, day)})
	}
	p.Deadline = time.Now().Add(10 * time.Second)
	r := solver.Solve(p)
	require.Len(t, r.Placed, 4800)
	require.False(t, r.Interrupted)
}

// TestFixedSessionsThatOverlapLeaveNoIdleTime that is less than none.
func TestFixedSessionsThatOverlapLeaveNoIdleTime(t *testing.T) {
	p := problem(in("a", "h1", 9), in("b", "h1", 9), in("c", "h1", 11), talk("d"))
	p.SessionIDs = []string{"d"}
	r := solver.Solve(p)
	require.Zero(t, r.Score)
	require.Equal(t, instance.Score(p, r.Placed), r.Score)
}

// TestAKeptSubsessionBesideAnotherHasNoPlace: its time is kept, so it cannot come after the other.
func TestAKeptSubsessionBesideAnotherHasNoPlace(t *testing.T) {
	parts := []*conflict.Session{in("b", "h1", 9), in("c", "h1", 9)}
	for _, s := range parts {
		s.Parent = "a"
	}
	parent := in("a", "h1", 9)
	parent.Ends = at(11, 0)
	p := problem(append(parts, parent)...)
	require.Len(t, solver.Solve(p).Placed, 3)
	p.KeepTimes = true
	const kept = "The session keeps times that do not fit into the parent session, or not beside another subsession."
	require.Equal(t, []solver.Unplaced{{SessionID: "c", Reason: kept}}, solver.Solve(p).Unplaced)
	parent.Ends = at(9, 30)
	require.Equal(t, []solver.Unplaced{{SessionID: "b", Reason: kept}, {SessionID: "c", Reason: kept}}, solver.Solve(p).Unplaced)
	parent.Starts, parent.Ends = time.Time{}, time.Time{}
	require.Len(t, solver.Solve(p).Unplaced, 2, "the parent has no time for kept times")
}

// TestATimeWindowHoldsForSubsessions in the night in which an hour comes twice: the session is in the window from
// 02:30 to 03:00, and the subsession begins at 02:00, the second time.
func TestATimeWindowHoldsForSubsessions(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	night := time.Date(2027, 10, 31, 0, 30, 0, 0, time.UTC) // 02:30, the first time
	parent, part := talk("a"), talk("b")
	parent.Starts, parent.Ends = night, night.Add(90*time.Minute)
	part.Parent, part.Starts, part.Ends = "a", night.Add(30*time.Minute), night.Add(60*time.Minute)
	p := problem(parent, part)
	p.Agenda.Zone = zone
	p.Days = []block.Day{{Starts: night, Ends: night.Add(90 * time.Minute)}}
	p.Agenda.Rules = []conflict.Rule{rule("time_window", `{"starts":"02:15","ends":"03:00"}`)}
	r := solver.Solve(p)
	require.Empty(t, r.Placed)
	require.Contains(t, r.Unplaced[0].Reason, "leave no slot of 90 minutes")
}

// TestATrackOfRuleLevelErrorLeavesARoom that a fixed session divides.
func TestATrackOfRuleLevelErrorLeavesARoom(t *testing.T) {
	var all []*conflict.Session
	for i := range 6 {
		s := talk(fmt.Sprint("s", i))
		s.Track, s.Starts, s.Ends = "t", at(9, 0), at(9, 30)
		all = append(all, s)
	}
	p := problem(append(all, in("x", "h1", 9))...)
	p.SessionIDs, p.Agenda.Rules = p.SessionIDs[:6], []conflict.Rule{rule("track_in_one_room", `{"track_id":"t"}`)}
	for seed := range 10 {
		p.Seed = uint64(seed)
		require.Empty(t, solver.Solve(p).Unplaced)
	}
}

// TestOrderInBothDirections, and days around a change of clocks in any order.
func TestOrderInBothDirections(t *testing.T) {
	p := problem(talk("a"), talk("b"))
	p.Agenda.Rules = []conflict.Rule{rule("order", `{"before_session_id":"a","after_session_id":"b"}`)}
	r := solver.Solve(p)
	require.False(t, r.Placed[1].Starts.Before(r.Placed[0].Ends))

	zone, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	p = problem(talk("a"), talk("b"), talk("c"))
	change := time.Date(2027, 3, 28, 0, 0, 0, 0, zone)
	p.Agenda.Zone = zone
	p.Days = []block.Day{{Starts: change.Add(24 * time.Hour), Ends: change.Add(26 * time.Hour)}, {Starts: change, Ends: change.Add(5 * time.Hour)}}
	p.Agenda.Rules = []conflict.Rule{rule("time_window", `{"starts":"03:00","ends":"04:00","weekdays":["sunday"]}`)}
	r = solver.Solve(p)
	require.Len(t, r.Placed, 2, "two rooms for the hour after the change")
	require.True(t, r.Placed[0].Starts.Equal(change.Add(2*time.Hour)))
}

// TestTheDeadlineHolds for a large problem, also in the middle of the first agenda.
func TestTheDeadlineHolds(t *testing.T) {
	p := problem()
	for i := range 20 {
		p.Agenda.Rooms[fmt.Sprint("h", i)] = conflict.Room{Name: "Hall"}
	}
	for i := range 5000 {
		s := in(fmt.Sprint("s", i), "", 9, fmt.Sprint("p", i%900), fmt.Sprint("p", i%700))
		s.Track = fmt.Sprint("t", i%10)
		s.Ends = s.Ends.Add(time.Duration(i%10) * 5 * time.Minute)
		p.Agenda.Sessions, p.SessionIDs = append(p.Agenda.Sessions, s), append(p.SessionIDs, s.ID)
	}
	for i := range 200 {
		config := fmt.Sprintf(`{"starts":"0%d:00","ends":"2%d:59","level":"%s"}`, i%8, i%4, []string{"warning", "error"}[i%2])
		p.Agenda.Rules = append(p.Agenda.Rules, rule("time_window", config))
	}
	p.Slot, p.Days, p.Steps = time.Minute, nil, 1<<30
	for day := range 30 {
		starts := at(9, 0).AddDate(0, 0, day)
		p.Days = append(p.Days, block.Day{Starts: starts, Ends: starts.Add(12 * time.Hour)})
	}
	for _, limit := range []time.Duration{50 * time.Millisecond, 3 * time.Second} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		begin := time.Now()
		p.Deadline = begin.Add(limit)
		r := solver.Solve(p)
		runtime.ReadMemStats(&after)
		require.Less(t, time.Since(begin), limit+2*time.Second)
		require.True(t, r.Interrupted || limit > time.Second, "50 ms are not enough")
		require.Len(t, append(r.Unplaced, make([]solver.Unplaced, len(r.Placed))...), 5000)
		t.Logf("%d placed, %d moves, %d MB", len(r.Placed), r.Steps, (after.TotalAlloc-before.TotalAlloc)>>20)
	}
}

// TestQuality: after as many moves as five seconds have on a free processor, the scores are within 5 % of the score that
// CP-SAT proves to be the best.
func TestQuality(t *testing.T) {
	for sessions, best := range map[int]int{12: 510, 20: 720, 30: 705} {
		var scores []int
		for seed := range it.Size(1, 10) {
			p, err := instance.Draw(sessions, 2).Problem()
			require.NoError(t, err)
			p.Seed, p.Steps = uint64(seed), 180_000
			r := solver.Solve(p)
			scores = append(scores, r.Score.Total())
		}
		t.Logf("%d sessions: %v, the best is %d", sessions, scores, best)
		require.GreaterOrEqual(t, slices.Min(scores), best)
		require.LessOrEqual(t, slices.Max(scores), best*105/100)
	}
}

// TestAPanicOfASearch becomes a panic of the caller. The caller can recover it.
func TestAPanicOfASearch(t *testing.T) {
	damaged := solver.Problem{Agenda: conflict.Agenda{Sessions: []*conflict.Session{nil}}}
	require.Panics(t, func() { solver.Solve(damaged) })
}
