// Package solver proposes places for the sessions of an agenda (docs/decisions/0050): a search tries places on a board (package
// board). The package reads nothing but the clock. Read the files in this order:
//
//	solver.go  the problem and the result
//	search.go  the first agenda, and the rounds that improve the agenda
//	moves.go   the moves of a round
//	places.go  the free places of a block, the cheapest, and the reason for a session without a place
package solver

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"lectern/shared/agenda/block"
	"lectern/shared/agenda/board"
	"lectern/shared/agenda/conflict"
)

// Problem is an agenda with sessions to place. A session with both times keeps the length between them; any other session takes
// its Length, or else an hour, a subsession an equal share of the time of the parent.
type Problem struct {
	// Agenda has all sessions at their present places, all rooms and the enabled rules.
	Agenda conflict.Agenda
	board.Limits
	// Seed and Steps decide the result: the same problem with the same number of moves gives the same places.
	// The search ends after Steps moves, or before the Deadline unless that is zero.
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
	// Steps is the number of moves that the search tried. Interrupted reports whether the time ended before each
	// session was tried.
	Steps       int
	Interrupted bool
}

// Unplaced is a session without a place.
type Unplaced struct {
	SessionID string `json:"session_id" format:"uuid" doc:"The session."`
	Reason    string `json:"reason" doc:"Why the session has no place."`
}

// Solve proposes a place for each session to place. No proposed place is in conflict with another session or
// breaks a rule of level error. For up to manySessions sessions two searches make an agenda each, side by side, and the better one
// is the result.
func Solve(p Problem) Result {
	streams := []uint64{0, 1} // of random numbers
	if len(p.SessionIDs) > manySessions {
		streams = streams[:1]
	}
	results, panics := make([]Result, len(streams)), make([]any, len(streams))
	var running sync.WaitGroup
	for i, stream := range streams {
		running.Go(func() {
			defer func() {
				if cause := recover(); cause != nil {
					panics[i] = fmt.Sprintf("%v\n%s", cause, debug.Stack())
				}
			}()
			s := newSearch(p, stream)
			s.improve()
			results[i] = s.result()
		})
	}
	running.Wait()
	for _, cause := range panics {
		if cause != nil {
			panic(cause) // The caller can recover this panic, and no panic of another goroutine.
		}
	}
	return slices.MinFunc(results, compare)
}

// compare compares results: whole searches come first, then few points.
func compare(x, y Result) int {
	switch {
	case x.Interrupted == y.Interrupted:
		return cmp.Compare(x.Score.Total(), y.Score.Total())
	case x.Interrupted:
		return 1
	default:
		return -1
	}
}

// result returns the present agenda.
func (s *search) result() Result {
	r := Result{Score: s.Score, Steps: s.steps, Interrupted: s.interrupted}
	for _, of := range s.Sessions {
		if !of.Fixed && of.At == block.Nowhere {
			r.Unplaced = append(r.Unplaced, Unplaced{of.Of.ID, cmp.Or(of.Reason, parentUnplaced)})
		} else if !of.Fixed {
			placed, when := *of.Of, of.Span(of.At)
			placed.Starts, placed.Ends = time.UnixMilli(when.Start).UTC(), time.UnixMilli(when.End).UTC()
			if of.At.Room != nil {
				placed.Room = of.At.Room.ID
			}
			r.Placed = append(r.Placed, &placed)
		}
	}
	return r
}
