package solver_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/agenda/conflict"
	"lectern/shared/agenda/solver"
)

// packed returns a problem of eight rooms of 1,000 seats that are full for twelve hours by sessions of one to three hours that keep
// their times. The first agenda of a search lacks some sessions.
func packed() solver.Problem {
	p, source := problem(), rand.New(rand.NewPCG(1, 1))
	p.Days[0].Ends, p.KeepTimes, p.Steps = at(21, 0), true, 20_000
	names := source.Perm(100)
	for room := range 8 {
		p.Agenda.Rooms[fmt.Sprint("h", room+1)] = conflict.Room{Capacity: number(1_000)}
		for hour := 9; hour < 21; {
			s := in(fmt.Sprintf("s%02d", names[len(p.SessionIDs)]), "", hour)
			hour = min(21, hour+1+source.IntN(3))
			s.Ends = at(hour, 0)
			p.Agenda.Sessions, p.SessionIDs = append(p.Agenda.Sessions, s), append(p.SessionIDs, s.ID)
		}
	}
	return p
}

// TestSessionsThatAreDearAtEachPlace: each session gets a place, although the place costs more than a session without a place.
func TestSessionsThatAreDearAtEachPlace(t *testing.T) {
	crowded := packed()
	for _, s := range crowded.Agenda.Sessions {
		s.Audience = number(5_000)
	}
	crowded.Agenda.Rules = []conflict.Rule{rule("room_capacity", `{"level":"warning"}`)}
	outside := packed()
	for range 10 {
		outside.Agenda.Rules = append(outside.Agenda.Rules, rule("time_window", `{"starts":"01:00","ends":"02:00","level":"warning"}`))
	}
	for name, p := range map[string]solver.Problem{"no warnings": packed(), "seats": crowded, "times": outside} {
		for p.Seed = range 3 {
			require.Empty(t, solver.Solve(p).Unplaced, name)
		}
	}
}
