package solver

import (
	"slices"

	"lectern/shared/agenda/block"
	"lectern/shared/agenda/board"
	"lectern/shared/agenda/conflict"
)

// Board is a board for the tests of the score.
type Board struct{ *search }

// NewBoard returns a board with the fixed sessions.
func NewBoard(p Problem) Board { return Board{newSearch(p, 0)} }

// MoveAny moves a random block to a random place or to nowhere, whatever is in the way.
func (b Board) MoveAny() {
	if len(b.movable) == 0 {
		return
	}
	of := b.movable[b.IntN(len(b.movable))]
	to := of.Choice(b.IntN(of.Choices()))
	if b.IntN(4) == 0 {
		to = block.Nowhere
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

// Cheapest takes a random block away, and reports whether the cheapest place of some comparisons is the cheapest of those that
// judgements find free, with the same points. A family may have no place where a judgement finds one.
func (b Board) Cheapest() (right bool) {
	of := b.movable[b.IntN(len(b.movable))]
	b.Move(of, block.Nowhere)
	judged, found, right := board.Forbidden, board.Forbidden, true
	pointsAt := func(at block.Place) int {
		cost, obstacles := b.Judge(of, at, 0)
		if len(obstacles) > 0 {
			return board.Forbidden
		}
		return cost.Total() - cost.Unplaced
	}
	for i := range of.Choices() {
		judged = min(judged, pointsAt(of.Choice(i)))
	}
	for range 8 {
		c := b.cheapest(of)
		if found = min(found, c.points); c.points < board.Forbidden {
			right = right && c.points == pointsAt(c.to)
		}
	}
	family := slices.ContainsFunc(b.Sessions, func(o *block.Session) bool { return o != of && conflict.Within(of.Of, o.Of) })
	return right && (found == judged || family && found > judged)
}

// Movable reports whether a block has places to choose from.
func (b Board) Movable() bool { return len(b.movable) > 0 }

// Now returns the present agenda and score.
func (b Board) Now() ([]*conflict.Session, board.Score) {
	r := b.result()
	return r.Placed, r.Score
}
