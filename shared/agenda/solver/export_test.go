package solver

import "lectern/shared/agenda/conflict"

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
	to := of.choice(b.IntN(of.choices()))
	if b.IntN(4) == 0 {
		to = nowhere
	}
	b.move(of, to)
}

// Now returns the present agenda and score.
func (b Board) Now() ([]*conflict.Session, Score) {
	r := b.result()
	return r.Placed, r.Score
}
