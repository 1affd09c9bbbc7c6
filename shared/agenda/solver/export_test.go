package solver

import (
	"fmt"
	"math"
	"slices"

	"lectern/shared/agenda/board"
	"lectern/shared/agenda/conflict"
)

// Board is a board for the tests of the score.
type Board struct{ *search }

// NewBoard returns a board with the fixed sessions.
func NewBoard(p Problem) Board { return Board{newSearch(p)} }

// MoveAny moves a random block to a random place or to nowhere, whatever is in the way.
func (b Board) MoveAny() {
	if len(b.movable) == 0 {
		return
	}
	of := b.movable[b.IntN(len(b.movable))]
	to := of.Choice(b.IntN(of.Choices()))
	if b.IntN(4) == 0 {
		to = board.Nowhere
	}
	b.Move(of, to)
}

// Try tries a move, and undoes every second one.
func (b Board) Try() {
	if len(b.movable) == 0 {
		return
	}
	before := b.Score
	b.undo = b.undo[:0]
	if b.try(); b.IntN(2) == 0 {
		b.takeBack(before)
	}
}

// Free takes a random block away, and returns the choices in rooms that no other session takes: as candidates finds them, and as a
// judgement of each choice does. The judgements without a limit must be those with one.
func (b Board) Free() (found, judged []string, right bool) {
	of := b.movable[b.IntN(len(b.movable))]
	b.Move(of, board.Nowhere)
	right = true
	for _, at := range b.candidates(of, of.Choices()) {
		found = append(found, fmt.Sprint(at.Start, " ", at.Room.ID))
	}
	for i := range of.Choices() {
		at := of.Choice(i)
		cost, obstacles := b.Judge(of, at, math.MaxInt)
		taken := func(o board.Obstacle) bool { return o.Cause == "the room is taken" }
		if !slices.ContainsFunc(obstacles, taken) {
			judged = append(judged, fmt.Sprint(at.Start, " ", at.Room.ID))
		}
		free, points := len(obstacles) == 0, cost.Total()-cost.Unplaced
		_, dear := b.Cheaper(of, at, points)
		got, cheaper := b.Cheaper(of, at, points+1)
		right = right && !dear && cheaper == free && (!cheaper || got == points)
	}
	return found, judged, right
}

// Movable reports whether a block has places to choose from.
func (b Board) Movable() bool { return len(b.movable) > 0 }

// Now returns the present agenda and score.
func (b Board) Now() ([]*conflict.Session, board.Score) {
	r := b.result()
	return r.Placed, r.Score
}
