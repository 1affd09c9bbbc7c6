package solver

import (
	"math"
	"slices"

	"lectern/shared/agenda/board"
)

// insert gives a block without a place the cheapest free place of its candidates. It leaves a few of these out, so that the
// cheapest is not always the same. Equal places that are near each other do not follow each other.
func (s *search) insert(of *board.Session, n int) {
	all, cheapest, to := s.candidates(of, n), math.MaxInt, board.Nowhere
	from := s.IntN(len(all) + 1)
	for i := range all {
		if s.IntN(overlooked) == 0 {
			continue
		}
		at := all[(from+i*stride)%len(all)]
		if points, cheaper := s.Cheaper(of, at, cheapest); cheaper {
			cheapest, to = points, at
		}
	}
	s.shift(of, to)
}

// candidates returns the places that insert compares: all free places of a block, or n random ones and those in the gaps
// that the move has left.
func (s *search) candidates(of *board.Session, n int) []board.Place {
	s.places = s.places[:0]
	for _, r := range of.Rooms {
		s.addFree(of, r)
	}
	all := len(s.places)
	if all <= max(mostPlaces, n) {
		return s.places
	}
	for i := range n {
		j := i + s.IntN(all-i)
		s.places[i], s.places[j] = s.places[j], s.places[i]
	}
	s.places = s.places[:n]
	for _, c := range s.undo {
		i, _ := slices.BinarySearch(of.Starts, c.was.Start)
		for ; slices.Contains(of.Rooms, c.was.Room) && i < len(of.Starts) && of.Starts[i] < c.was.Start+c.top.Length; i++ {
			s.places = append(s.places, board.Place{Start: of.Starts[i], Room: c.was.Room})
		}
	}
	return s.places
}

// addFree adds to places the choices of a block in a room that are free of other sessions.
func (s *search) addFree(of *board.Session, r *board.Room) {
	free := board.Nowhere.Start // the end of the sessions so far
	for i := 0; i <= len(r.Sessions); i++ {
		next := int64(math.MaxInt64)
		if i < len(r.Sessions) {
			next = r.Sessions[i].At.Start
		}
		if latest := next - of.Length; latest >= free {
			at, _ := slices.BinarySearch(of.Starts, free)
			for ; at < len(of.Starts) && of.Starts[at] <= latest; at++ {
				s.places = append(s.places, board.Place{Start: of.Starts[at], Room: r})
			}
		}
		if i < len(r.Sessions) {
			free = max(free, next+r.Sessions[i].Length)
		}
	}
}
