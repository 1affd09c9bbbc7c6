// Package solver proposes places for the sessions of an agenda (docs/decisions/0050). The package reads
// nothing, and looks at the clock only to stop. Read package board first, then the files in this order:
//
//	solver.go    the problem and the result
//	search.go    the first agenda, and the moves that improve the agenda
package solver

import (
	"time"

	"lectern/shared/agenda/board"
	"lectern/shared/agenda/conflict"
)

// Problem is an agenda with sessions to place, and the end of the search.
type Problem struct {
	board.Problem
	// Seed and Steps decide the result: the same problem with the same number of moves gives the same places.
	// The search ends after Steps moves, or at the Deadline unless that is zero.
	Seed     uint64
	Steps    int
	Deadline time.Time
}

// Result is a proposed agenda.
type Result struct {
	// Placed are copies of the sessions with the proposed times and rooms, in the order of their ids.
	Placed   []*conflict.Session
	Unplaced []Unplaced
	Score    board.Score
	// Steps is the number of moves that the search tried.
	Steps int
}

// Unplaced is a session without a place.
type Unplaced struct {
	SessionID string `json:"session_id" format:"uuid" doc:"The session."`
	Reason    string `json:"reason" doc:"Why the session has no place."`
}

// Solve proposes a place for each session to place. No proposed place is in conflict with another session or
// breaks a rule of level error.
func Solve(p Problem) (r Result) {
	s := newSearch(p)
	s.construct()
	s.improve()
	s.restore()
	r.Score, r.Steps = s.Score, s.steps
	for _, of := range s.Sessions {
		if of.At == board.Nowhere {
			r.Unplaced = append(r.Unplaced, Unplaced{of.ID, s.Reason(of)})
		} else if !of.Fixed {
			placed := *of.Session
			placed.Starts, placed.Ends = time.UnixMilli(of.At.Start).UTC(), time.UnixMilli(of.EndAt(of.At)).UTC()
			placed.Room = of.At.Room.ID
			r.Placed = append(r.Placed, &placed)
		}
	}
	return r
}
