package solver

import (
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

// Now returns the present agenda and score.
func (b Board) Now() ([]*conflict.Session, board.Score) {
	r := b.result()
	return r.Placed, r.Score
}
