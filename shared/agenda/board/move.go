package board

import (
	"math"
	"slices"
	"sort"
)

// Move moves a block to a place, or to nowhere, whatever is in the way.
func (b *Board) Move(top *Session, to Place) {
	for _, s := range slices.Backward(top.Block) {
		if at := s.At; at != Nowhere {
			b.setOne(s, Nowhere)
			b.count(s, at, -1)
		}
	}
	for _, s := range top.Block {
		if to != Nowhere {
			b.count(s, s.in(to), 1)
			b.setOne(s, s.in(to))
		}
	}
}

// count adds the difference that a session without a place makes at a place, times a sign.
func (b *Board) count(s *Session, at Place, sign int) {
	c := Score{}
	b.found, b.enough, b.counting = b.found[:0], math.MaxInt, true
	b.judgeSession(s, at, &c)
	b.counting = false
	b.Score.add(c, sign)
}

// Put notes the place of a block without a change of the score.
func (b *Board) Put(top *Session, to Place) {
	for _, s := range top.Block {
		b.setOne(s, s.in(to))
	}
}

// setOne notes the place of a session.
func (b *Board) setOne(s *Session, at Place) {
	if r := s.At.Room; r != nil {
		i := slices.Index(r.Sessions, s)
		r.Sessions = slices.Delete(r.Sessions, i, i+1)
		s.countInRoom(r, -1)
	}
	s.busy = s.Span(at).minutes()
	if s.At, s.day = at, b.DayOf(at.Start); at.Room != nil {
		at.Room.Sessions = slices.Insert(at.Room.Sessions, at.Room.first(at.Start), s)
		at.Room.longest = max(at.Room.longest, s.Length)
		s.countInRoom(at.Room, 1)
	}
}

// first returns the number of the first session that starts at a time or later.
func (r *Room) first(start int64) int {
	return sort.Search(len(r.Sessions), func(i int) bool { return r.Sessions[i].At.Start >= start })
}

func (s *Session) countInRoom(r *Room, sign int) {
	if s.track != nil {
		s.track.inRoom[r.number] += sign
	}
}
