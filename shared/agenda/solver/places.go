package solver

import (
	"math"
	"slices"
	"sort"

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

// gap is a time in a room that is free for a block: the starts from number first to number end. upTo is the number of such
// starts in this gap and those before.
type gap struct {
	room             *board.Room
	first, end, upTo int
}

// candidates returns the places that insert compares: all free places of a block, or n random ones and those in the gaps
// that the move has left.
func (s *search) candidates(of *board.Session, n int) []board.Place {
	s.findGaps(of)
	s.places = s.places[:0]
	all := 0
	if len(s.gaps) > 0 {
		all = s.gaps[len(s.gaps)-1].upTo
	}
	if all <= max(mostPlaces, n) {
		for _, g := range s.gaps {
			for _, start := range of.Starts[g.first:g.end] {
				s.places = append(s.places, board.Place{Start: start, Room: g.room})
			}
		}
		return s.places
	}
	for range n {
		i := s.IntN(all)
		g := s.gaps[sort.Search(len(s.gaps), func(j int) bool { return s.gaps[j].upTo > i })]
		s.places = append(s.places, board.Place{Start: of.Starts[g.end-(g.upTo-i)], Room: g.room})
	}
	for _, c := range s.undo {
		if !slices.Contains(of.Rooms, c.was.Room) {
			continue
		}
		i, _ := slices.BinarySearch(of.Starts, c.was.Start)
		for ; i < len(of.Starts) && of.Starts[i] < c.was.Start+c.top.Length; i++ {
			s.places = append(s.places, board.Place{Start: of.Starts[i], Room: c.was.Room})
		}
	}
	return s.places
}

// findGaps notes the gaps in the rooms that a block may have, between all other sessions.
func (s *search) findGaps(of *board.Session) {
	s.gaps = s.gaps[:0]
	all := 0
	for _, r := range of.Rooms {
		free := board.Nowhere.Start // the end of the sessions so far
		for i := 0; i <= len(r.Sessions); i++ {
			next := int64(math.MaxInt64)
			if i < len(r.Sessions) {
				next = r.Sessions[i].At.Start
			}
			if latest := next - of.Length; latest >= free {
				first, _ := slices.BinarySearch(of.Starts, free)
				end, _ := slices.BinarySearch(of.Starts, latest+1)
				if first < end {
					all += end - first
					s.gaps = append(s.gaps, gap{r, first, end, all})
				}
			}
			if i < len(r.Sessions) {
				free = max(free, next+r.Sessions[i].Length)
			}
		}
	}
}
