package conflict_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/shared/agenda/conflict"
)

// at returns a time on a Monday.
func at(clock string) time.Time {
	t, err := time.Parse("2006-01-02 15:04", "2026-06-15 "+clock)
	if err != nil {
		panic(err)
	}
	return t
}

// talk returns a session of a room between two times of the day.
func talk(id, room, starts, ends string, people ...string) *conflict.Session {
	return &conflict.Session{ID: id, Name: "SESS-" + id, Room: room, Starts: at(starts), Ends: at(ends), People: people}
}

func number(n int) *int { return &n }

var rooms = map[string]conflict.Room{"h1": {Name: "Hall 1", Capacity: number(100)}, "h2": {Name: "Hall 2"}}

// found returns the lines of an agenda of sessions and rules.
func found(t *testing.T, sessions []*conflict.Session, rules ...plainRule) []string {
	t.Helper()
	all, err := conflict.Check(conflict.Agenda{Sessions: sessions, Rooms: rooms, Rules: parsed(rules)})
	require.NoError(t, err)
	return lines(all)
}

func TestSessionsThatTouchDoNotOverlap(t *testing.T) {
	require.Empty(t, found(t, []*conflict.Session{talk("a", "h1", "09:00", "10:00", "p"), talk("b", "h1", "10:00", "11:00", "p")}))
	require.Equal(t, []string{
		"a: room_overlap error rule= other=b people=", "a: participant_overlap error rule= other=b people=p",
		"b: room_overlap error rule= other=a people=", "b: participant_overlap error rule= other=a people=p",
	}, found(t, []*conflict.Session{talk("b", "h1", "09:59", "11:00", "p", "p"), talk("a", "h1", "09:00", "10:00", "p", "q")}))
}

func TestSessionsThatTakeNoTimeOrNoRoomOverlapNothing(t *testing.T) {
	begun, moment := talk("a", "h1", "09:00", "10:00", "p"), talk("b", "h1", "09:30", "09:30", "p")
	begun.Ends = time.Time{}
	require.Empty(t, found(t, []*conflict.Session{begun, moment, talk("c", "h1", "09:00", "10:00", "p")}))
	require.Empty(t, found(t, []*conflict.Session{talk("a", "", "09:00", "10:00"), talk("b", "", "09:00", "10:00")}))
	require.Empty(t, found(t, []*conflict.Session{talk("a", "gone", "09:00", "10:00"), talk("b", "gone", "09:00", "10:00")}))
}

func TestASubsessionTakesPlaceWithinItsParent(t *testing.T) {
	parent, first, second := talk("a", "h1", "09:00", "11:00", "p"), talk("b", "h1", "09:00", "10:00", "p"), talk("c", "h1", "10:00", "11:00", "p")
	first.Parent, second.Parent = "a", "a"
	gap := plainRule{"r", "min_gap_minutes", map[string]any{"minutes": 15}}
	require.Empty(t, found(t, []*conflict.Session{parent, first, second}, gap))
	second.Starts = at("09:30")
	require.Equal(t, []string{
		"b: room_overlap error rule= other=c people=", "b: participant_overlap error rule= other=c people=p",
		"c: room_overlap error rule= other=b people=", "c: participant_overlap error rule= other=b people=p",
	}, found(t, []*conflict.Session{parent, first, second}, gap))
}

// TestARuleGivesLevelAndIDToAnOverlap: the first of the type does; the overlap is noted once.
func TestARuleGivesLevelAndIDToAnOverlap(t *testing.T) {
	sessions := []*conflict.Session{talk("a", "h1", "09:00", "10:00"), talk("b", "h1", "09:00", "10:00")}
	warning := map[string]any{"level": "warning"}
	require.Equal(t, []string{"a: room_overlap warning rule=r1 other=b people=", "b: room_overlap warning rule=r1 other=a people="},
		found(t, sessions, plainRule{"r0", "free_text", nil}, plainRule{"r1", "no_room_overlap", warning}, plainRule{"r2", "no_room_overlap", nil}))
}

// TestPeopleInCommonAreOneConflict of the two sessions.
func TestPeopleInCommonAreOneConflict(t *testing.T) {
	sessions := []*conflict.Session{
		talk("a", "h1", "09:00", "10:00", "r", "q", "p"), talk("b", "h2", "09:30", "10:00", "o", "p", "r"), talk("c", "", "10:05", "10:20", "r"),
	}
	require.Equal(t, []string{
		"a: participant_overlap error rule= other=b people=p,r", "a: rule error rule=five other=c people=r",
		"b: participant_overlap error rule= other=a people=p,r", "b: rule error rule=five other=c people=r",
		"c: rule error rule=five other=a people=r", "c: rule error rule=five other=b people=r",
	}, found(t, sessions, plainRule{"four", "min_gap_minutes", map[string]any{"minutes": 5}}, plainRule{"five", "min_gap_minutes", map[string]any{"minutes": 6}}))
}

func TestTheWindowIsInTheZoneOfTheEvent(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	window := func(starts, ends string, weekdays ...string) []plainRule {
		return []plainRule{{"r", "time_window", map[string]any{"starts": starts, "ends": ends, "weekdays": weekdays}}}
	}
	check := func(s *conflict.Session, rules []plainRule) int {
		all, err := conflict.Check(conflict.Agenda{Sessions: []*conflict.Session{s}, Rules: parsed(rules), Zone: zone})
		require.NoError(t, err)
		return len(all)
	}
	morning := talk("a", "", "07:00", "08:00") // From 09:00 to 10:00 in Berlin.
	require.Zero(t, check(morning, window("09:00", "10:00")))
	require.Zero(t, check(morning, window("09:00", "10:00", "tuesday", "monday")))
	require.Equal(t, 1, check(morning, window("09:01", "10:00")))
	require.Equal(t, 1, check(morning, window("09:00", "09:59")))
	require.Equal(t, 1, check(morning, window("09:00", "10:00", "sunday")))
	night := talk("a", "", "21:30", "22:30") // Until 00:30 of the next day.
	require.Equal(t, 1, check(night, window("00:00", "23:59")))
	night.Ends = at("22:00")
	require.Equal(t, 1, check(night, window("00:00", "23:59")), "midnight belongs to the next day")
	back := talk("a", "", "00:50", "01:25")                                             // From 02:50 to 02:25, since the clocks are set back at 03:00.
	back.Starts, back.Ends = back.Starts.AddDate(0, 4, 10), back.Ends.AddDate(0, 4, 10) // 25 October 2026.
	require.Zero(t, check(back, window("02:20", "02:55")))
	require.Equal(t, 1, check(back, window("02:48", "11:24")), "the end is before the window")
	require.Equal(t, 1, check(back, window("02:00", "02:40")), "the start is after the window")
}

// TestAnOrderedSessionMayStartWhenTheOtherEnds: the order says nothing about the time between them, nor about
// sessions without times.
func TestAnOrderedSessionMayStartWhenTheOtherEnds(t *testing.T) {
	first, then := talk("a", "", "09:00", "10:00"), talk("b", "", "10:00", "11:00")
	rule := plainRule{"r", "order", map[string]any{"before_session_id": "a", "after_session_id": "b", "level": "warning"}}
	require.Empty(t, found(t, []*conflict.Session{first, then}, rule))
	then.Starts = at("09:59")
	require.Equal(t, []string{"a: rule warning rule=r other=b people=", "b: rule warning rule=r other=a people="},
		found(t, []*conflict.Session{then, first}, rule))
	require.Empty(t, found(t, []*conflict.Session{then}, rule))
	first.Starts = time.Time{}
	require.Empty(t, found(t, []*conflict.Session{then, first}, rule))
}

// TestATrackIsWhereMostOfItsSessionsAre, with or without times; of two such rooms where it begins.
func TestATrackIsWhereMostOfItsSessionsAre(t *testing.T) {
	a, b, c := talk("a", "h2", "09:00", "10:00"), talk("b", "h1", "10:00", "11:00"), talk("c", "h1", "11:00", "12:00")
	rule := plainRule{"r", "track_in_one_room", map[string]any{"track_id": "t"}}
	a.Track, b.Track = "t", "t"
	require.Equal(t, []string{"b: rule error rule=r other=a people="}, found(t, []*conflict.Session{c, b, a}, rule))
	c.Track, c.Starts = "t", time.Time{}
	require.Equal(t, []string{"a: rule error rule=r other=b people="}, found(t, []*conflict.Session{c, b, a}, rule))
}

// TestMessages name the other session, the room and the numbers, and no person.
func TestMessages(t *testing.T) {
	a, b := talk("1", "h1", "09:00", "10:00", "p", "q"), talk("2", "h1", "09:30", "10:30", "p", "q")
	c, d := talk("3", "h2", "10:35", "11:00", "q"), talk("4", "h1", "12:00", "13:00")
	a.Audience, a.Track, c.Track, d.Track = number(101), "t", "t", "t"
	all, err := conflict.Check(conflict.Agenda{Sessions: []*conflict.Session{a, b, c, d}, Rooms: rooms, Rules: parsed([]plainRule{
		{"gap", "min_gap_minutes", map[string]any{"minutes": 10}}, {"track", "track_in_one_room", map[string]any{"track_id": "t"}},
		{"order", "order", map[string]any{"before_session_id": "2", "after_session_id": "1"}},
		{"window", "time_window", map[string]any{"starts": "09:00", "ends": "12:30", "weekdays": []string{"monday", "friday"}}},
	})})
	require.NoError(t, err)
	var said []string
	for _, f := range all {
		for _, c := range f.Conflicts {
			said = append(said, f.Session.ID+": "+c.Message)
		}
	}
	require.Equal(t, []string{
		"1: This session and SESS-2 are in room Hall 1 at the same time.", "1: 2 people are on this session and on SESS-2 at the same time.",
		"1: The session expects 101 people, and room Hall 1 takes 100.", "1: The session must start after SESS-2 has ended.",
		"2: This session and SESS-1 are in room Hall 1 at the same time.", "2: 2 people are on this session and on SESS-1 at the same time.",
		"2: 1 person is on this session and on SESS-3 with 5 minutes between them, less than 10.", "2: The session must end before SESS-1 starts.",
		"3: 1 person is on this session and on SESS-2 with 5 minutes between them, less than 10.", "3: The room of the track is Hall 1.",
		"4: The session is not between 09:00 and 12:30 on monday, friday.",
	}, said)
}

// TestRulesThatDoNotFitAreNotEvaluated: a rule may be older than the checks of its parameters.
func TestRulesThatDoNotFitAreNotEvaluated(t *testing.T) {
	a, b := talk("a", "h1", "09:00", "10:00", "p"), talk("b", "h2", "10:00", "11:00", "p")
	var rules []conflict.Rule
	for kind, config := range map[string]string{
		"min_gap_minutes": `{"minutes":"15"}`, "time_window": `{"starts":"9 am","ends":"10:00"}`, "track_in_one_room": `[]`,
		"order": `{"before_session_id":1}`, "free_text": `{"text":"x"}`, "of_my_own": `{"minutes":15}`, "": `{}`,
	} {
		rules = append(rules, conflict.Parse("r", kind, []byte(config)))
	}
	rules = append(rules, conflict.Parse("r", "min_gap_minutes", []byte(`{"minutes":1,"Minutes":30}`)))
	rules = append(rules, conflict.Parse("r", "track_in_one_room", []byte(`{}`)), conflict.Parse("r", "order", []byte(`{}`)))
	b.Starts = b.Starts.Add(time.Minute)
	all, err := conflict.Check(conflict.Agenda{Sessions: []*conflict.Session{a, b}, Rooms: rooms, Rules: rules})
	require.NoError(t, err)
	require.Empty(t, all)
}

// TestARuleMayNameASessionInCapitals, as every id of a request.
func TestARuleMayNameASessionInCapitals(t *testing.T) {
	require.Len(t, found(t, []*conflict.Session{talk("a", "", "09:00", "10:00"), talk("b", "", "08:00", "09:00")},
		plainRule{"r", "order", map[string]any{"before_session_id": "A", "after_session_id": "B"}}), 2)
}

// TestACheckIsBounded: sessions at one time in one room, with all people on each and many rules.
func TestACheckIsBounded(t *testing.T) {
	var people []string
	for i := range 100 {
		people = append(people, fmt.Sprint("p", i))
	}
	a := conflict.Agenda{Rooms: rooms}
	for i := range 10_000 {
		a.Sessions = append(a.Sessions, talk(fmt.Sprint(i), "h1", "09:00", "10:00", people...))
	}
	for i := range 200 {
		a.Rules = append(a.Rules, conflict.Parse(fmt.Sprint(i), "min_gap_minutes", []byte(`{"minutes":1440}`)))
	}
	begin := time.Now()
	_, err := conflict.Check(a)
	require.ErrorIs(t, err, conflict.ErrTooMany)
	require.Less(t, time.Since(begin), 5*time.Second)
	for i, s := range a.Sessions {
		s.Room, s.Starts, s.Ends = "", s.Starts.Add(time.Duration(i)*time.Hour), s.Ends.Add(time.Duration(i)*time.Hour)
	}
	_, err = conflict.Check(a)
	require.ErrorIs(t, err, conflict.ErrTooMany)
	a.Sessions, a.Rules = a.Sessions[:100], a.Rules[:1]
	_, err = conflict.Check(a)
	require.ErrorIs(t, err, conflict.ErrTooMany, "a conflict of several people counts for each")
	for _, s := range a.Sessions {
		s.People = s.People[:10]
	}
	all, err := conflict.Check(a)
	require.NoError(t, err)
	require.Len(t, all, 100)
	require.Less(t, time.Since(begin), 10*time.Second)
}

// TestAFullCheckFindsNoMore: the people whose sessions are compared after the last conflict that counts need
// no memory. Each person of this agenda is on two sessions and breaks 200 rules there.
func TestAFullCheckFindsNoMore(t *testing.T) {
	a := conflict.Agenda{}
	for i := range 10_000 {
		s := talk(fmt.Sprint(i), "", "09:00", "10:00", fmt.Sprint("p", i), fmt.Sprint("p", i+1))
		s.Starts, s.Ends = s.Starts.Add(time.Duration(i)*time.Hour), s.Ends.Add(time.Duration(i)*time.Hour)
		a.Sessions = append(a.Sessions, s)
	}
	for i := range 200 {
		a.Rules = append(a.Rules, conflict.Parse(fmt.Sprint(i), "min_gap_minutes", []byte(`{"minutes":60}`)))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := conflict.Check(a)
	runtime.ReadMemStats(&after)
	require.ErrorIs(t, err, conflict.ErrTooMany)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100<<20), "bytes")
}

// BenchmarkCheck checks 10,000 sessions of five days in 60 rooms, with a rule of each type.
func BenchmarkCheck(b *testing.B) { benchmark(b, largeAgenda()) }

// BenchmarkCheckWith200Rules checks the same sessions with as many rules as an event may have.
func BenchmarkCheckWith200Rules(b *testing.B) {
	a := largeAgenda()
	for i := len(a.Rules); i < 200; i++ {
		kind, config := "time_window", `{"starts":"00:00","ends":"23:59"}`
		switch i % 3 {
		case 1:
			kind, config = "track_in_one_room", fmt.Sprintf(`{"track_id":"none%d"}`, i)
		case 2:
			kind, config = "order", fmt.Sprintf(`{"before_session_id":"%036d","after_session_id":"%036d"}`, i, 10_000)
		}
		a.Rules = append(a.Rules, conflict.Parse(fmt.Sprint("r", i), kind, []byte(config)))
	}
	benchmark(b, a)
}

// largeAgenda returns an agenda of 10,000 sessions with a rule of each type.
func largeAgenda() conflict.Agenda {
	d := newDraw(1, 1)
	a := conflict.Agenda{Rooms: map[string]conflict.Room{}, Zone: time.UTC}
	for i := range 60 {
		a.Rooms[fmt.Sprint("h", i)] = conflict.Room{Name: fmt.Sprint("Hall ", i), Capacity: number(100)}
	}
	for i := range 10_000 {
		starts := at("08:00").Add(time.Duration(d.IntN(5))*24*time.Hour + time.Duration(d.IntN(20))*30*time.Minute)
		s := &conflict.Session{ID: fmt.Sprintf("%036d", i), Name: fmt.Sprint("SESS-", i), Room: fmt.Sprint("h", i%60), Starts: starts,
			Ends: starts.Add(30 * time.Minute), Track: fmt.Sprint("t", i%40), Audience: number(d.IntN(110))}
		for range 3 {
			s.People = append(s.People, fmt.Sprintf("%036d", d.IntN(12_000)))
		}
		a.Sessions = append(a.Sessions, s)
	}
	for kind, config := range map[string]string{
		"no_room_overlap": `{}`, "no_participant_overlap": `{}`, "room_capacity": `{"level":"warning"}`, "min_gap_minutes": `{"minutes":15}`,
		"time_window": `{"starts":"08:30","ends":"18:00"}`, "track_in_one_room": `{"track_id":"t7"}`,
		"order": fmt.Sprintf(`{"before_session_id":"%036d","after_session_id":"%036d"}`, 17, 4711),
	} {
		a.Rules = append(a.Rules, conflict.Parse(kind, kind, []byte(config)))
	}
	return a
}

// benchmark checks an agenda.
func benchmark(b *testing.B, a conflict.Agenda) {
	b.Helper()
	conflicts := 0
	for b.Loop() {
		all, err := conflict.Check(a)
		require.NoError(b, err)
		conflicts = 0
		for _, f := range all {
			conflicts += len(f.Conflicts)
		}
	}
	b.ReportMetric(float64(conflicts), "conflicts")
}
