package board

import (
	"math"
	"slices"

	"lectern/shared/agenda/block"
)

// Move moves a block to a place, or to nowhere, whatever is in the way.
func (b *Board) Move(top *block.Session, to block.Place) {
	for _, s := range slices.Backward(top.Block) {
		if at := s.At; at != block.Nowhere {
			b.setOne(s, block.Nowhere)
			b.count(s, at, -1)
		}
	}
	for _, s := range top.Block {
		if to != block.Nowhere {
			b.count(s, s.In(to), 1)
			b.setOne(s, s.In(to))
		}
	}
}

// count adds the difference that a session without a place makes at a place, times a sign.
func (b *Board) count(s *block.Session, at block.Place, sign int) {
	c := Score{}
	b.found, b.enough, b.counting = b.found[:0], math.MaxInt, true
	b.judgeSession(s, at, &c)
	b.counting = false
	b.Score.add(c, sign)
}

// Put notes the place of a block without a change of the score.
func (b *Board) Put(top *block.Session, to block.Place) {
	for _, s := range top.Block {
		b.setOne(s, s.In(to))
	}
}

// setOne notes the place of a session.
func (b *Board) setOne(s *block.Session, at block.Place) {
	if r := s.At.Room; r != nil {
		i := slices.Index(r.Sessions, s)
		r.Sessions = slices.Delete(r.Sessions, i, i+1)
		countInRoom(s, r, -1)
	}
	s.Busy = s.Span(at).Minutes()
	if s.At, s.Day = at, b.DayOf(at.Start); at.Room != nil {
		at.Room.Sessions = slices.Insert(at.Room.Sessions, at.Room.First(at.Start), s)
		at.Room.Longest = max(at.Room.Longest, s.Length)
		countInRoom(s, at.Room, 1)
	}
}

// countInRoom counts a session of a track in a room, or no longer.
func countInRoom(s *block.Session, r *block.Room, sign int) {
	if s.Track != nil {
		s.Track.InRoom[r.Number] += sign
	}
}
