// Package solver proposes places for the sessions of an agenda (docs/decisions/0050). The package reads
// nothing, and looks at the clock only to stop. Read the files in this order:
//
//	solver.go    the problem, the result, and the two phases
//	model.go     the problem in numbers: the starts and rooms that each session may have
//	board.go     the places of sessions, and the obstacles to a place
//	score.go     the penalties, updated by difference
//	search.go    the start, and the moves of the local search
//	reason.go    why a session has no place
package solver

import (
	"slices"
	"time"

	"lectern/shared/agenda/conflict"
)

// Keep names the parts of a session's present place that stay.
type Keep string

// The values of Keep.
const (
	KeepNone  Keep = "none"
	KeepTimes Keep = "times"
	KeepRooms Keep = "rooms"
	KeepBoth  Keep = "both"
)

// Problem is an agenda with sessions to place. A session with both times keeps the length between them; any
// other session gets an hour.
type Problem struct {
	// Agenda has all sessions at their present places, all rooms and the enabled rules.
	conflict.Agenda
	// Place are the ids of the sessions to place. Every other session stays, and occupies room and people.
	Place []string
	// RoomIDs are the rooms for the sessions; empty for all. A kept room may be another room.
	RoomIDs []string
	// Days are the times in which sessions may be, without overlaps. Sessions start at a multiple of Slot after the start of a day.
	Days []Day
	Slot time.Duration
	Keep Keep
	// Seed and Steps decide the result: the same problem with the same number of moves gives the same places. The
	// search ends after Steps moves or at the Deadline; a zero Deadline never ends the search.
	Seed     uint64
	Steps    int
	Deadline time.Time
}

// Day is a span of time in which sessions may be.
type Day struct{ Starts, Ends time.Time }

// Result is a proposed agenda.
type Result struct {
	Placed   []Placement `json:"placed" doc:"The sessions with a place, in the order of their ids."`
	Unplaced []Unplaced  `json:"unplaced" doc:"The sessions without a place, in the order of their ids."`
	Score    Score       `json:"score" doc:"The penalties by part; fewer are better."`
	// Steps is the number of moves that the search tried.
	Steps int `json:"steps" doc:"The moves that the search tried."`
}

// Placement is the proposed place of a session.
type Placement struct {
	SessionID string    `json:"session_id" format:"uuid" doc:"The session."`
	StartsAt  time.Time `json:"starts_at" doc:"When the session starts."`
	EndsAt    time.Time `json:"ends_at" doc:"When the session ends."`
	RoomID    string    `json:"room_id" format:"uuid" doc:"The room."`
}

// Unplaced is a session without a place.
type Unplaced struct {
	SessionID string `json:"session_id" format:"uuid" doc:"The session."`
	Reason    string `json:"reason" doc:"Why the session has no place."`
}

// Solve proposes a place for each session to place. No proposed place overlaps another session of the room or of a
// person, leaves the days, or breaks a rule of level error.
func Solve(p Problem) Result {
	s := newSearch(newBoard(newModel(p)))
	s.construct()
	s.improve()
	return s.result()
}

// result returns the best agenda of the search.
func (s *search) result() Result {
	s.restore()
	r := Result{Placed: []Placement{}, Unplaced: []Unplaced{}, Score: s.score, Steps: s.steps}
	for i := range s.sessions {
		switch of := &s.sessions[i]; {
		case of.fixed:
		case s.at[i] == nowhere:
			r.Unplaced = append(r.Unplaced, Unplaced{of.ID, s.reason(i)})
		default:
			at := s.at[i]
			r.Placed = append(r.Placed, Placement{of.ID, time.UnixMilli(at.start).UTC(), time.UnixMilli(at.start + of.length).UTC(), s.board.rooms[at.room].id})
		}
	}
	return r
}

// Agenda returns the agenda of a problem with the proposed places. Sessions without a place have neither times nor room.
func (r *Result) Agenda(p Problem) conflict.Agenda {
	placed := map[string]Placement{}
	for _, at := range r.Placed {
		placed[at.SessionID] = at
	}
	a := p.Agenda
	a.Sessions = nil
	for _, s := range p.Sessions {
		if slices.Contains(p.Place, s.ID) {
			at := placed[s.ID]
			moved := *s
			moved.Starts, moved.Ends, moved.Room = at.StartsAt, at.EndsAt, at.RoomID
			s = &moved
		}
		a.Sessions = append(a.Sessions, s)
	}
	return a
}
