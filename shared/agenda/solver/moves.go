package solver

import (
	"cmp"
	"slices"

	"lectern/shared/agenda/block"
	"lectern/shared/agenda/board"
)

// try moves some blocks at random, and reports whether the move is possible. Most moves take blocks away from two places, or those
// of a person and others, and give each the cheapest place in turn.
func (s *search) try() bool {
	switch of, kind := s.pick(), s.IntN(10); {
	case kind < 4 || of.At == block.Nowhere:
		return s.displace(of, s.target(of))
	case kind < 5:
		s.takePerson(of)
		s.takeNear(s.pick())
	case kind < 8:
		s.takeNear(of)
		s.takeNear(s.pick())
	default:
		for range 1 + s.IntN(mostAway) {
			s.shift(s.pick(), block.Nowhere)
		}
	}
	return s.insertAll()
}

// pick returns a random block.
func (s *search) pick() *block.Session { return s.movable[s.IntN(len(s.movable))] }

// target returns a place to displace others from: mostly beginning or ending as another block does, half of the time in the
// present room.
func (s *search) target(of *block.Session) block.Place {
	if other := s.pick(); other.At != block.Nowhere && s.IntN(10) > 0 {
		at := other.At
		if of.At != block.Nowhere && s.IntN(2) == 0 {
			at.Room = of.At.Room
		}
		if s.IntN(2) == 0 {
			at.Start += other.Length - of.Length
		}
		if of.MayBe(at) {
			return at
		}
	}
	return of.Choice(s.IntN(of.Choices()))
}

// shift moves a block, and notes the earlier place.
func (s *search) shift(of *block.Session, to block.Place) {
	if of.At != to {
		s.undo = append(s.undo, change{of, of.At})
		s.move(of, to)
	}
}

// move moves a block.
func (s *search) move(of *block.Session, to block.Place) {
	s.countLeast(of, to)
	s.Move(of, to)
}

// countLeast counts the least points of a block that loses or gets a place, before the block moves.
func (s *search) countLeast(of *block.Session, to block.Place) {
	if of.At == block.Nowhere {
		s.unplacedLeast -= of.Least
	}
	if to == block.Nowhere {
		s.unplacedLeast += of.Least
	}
}

// energy returns the score with the present weight. A block without a place has the least points of a place as well: otherwise a
// block that is expensive at each place would lose the place for good.
func (s *search) energy() float64 { return s.Score.Energy(s.weight) + float64(s.unplacedLeast) }

// displace moves a block to a place, and the blocks in the way to other places.
func (s *search) displace(of *block.Session, at block.Place) bool {
	_, found := s.Judge(of, at, mostAway)
	away := slices.Clone(found)
	for _, o := range away {
		if o.Session.Fixed || o.Session.Top == of || len(away) > mostAway {
			return false
		}
	}
	for _, o := range away {
		s.shift(o.Session.Top, block.Nowhere)
	}
	s.shift(of, at)
	return s.insertAll()
}

// takeNear takes blocks that are near a block in its room from their places.
func (s *search) takeNear(of *block.Session) {
	if of.At == block.Nowhere {
		return
	}
	when, reach, taken := of.Span(of.At), int64(s.IntN(120))*block.Minute, len(s.undo)
	for _, near := range slices.Clone(of.At.Room.Sessions) {
		if near.Top == near && !near.Fixed && when.Overlaps(near.Span(near.At), reach) && len(s.undo)-taken < 2*mostAway {
			s.shift(near, block.Nowhere)
		}
	}
}

// takePerson takes the blocks of a person of a block from their places, at most 2*mostAway of them: together they may find places on
// fewer days.
func (s *search) takePerson(of *block.Session) {
	if len(of.People) == 0 {
		return
	}
	all := of.People[s.IntN(len(of.People))].Sessions
	first, taken := s.IntN(len(all)), len(s.undo)
	for i := range all {
		top := all[(first+i)%len(all)].Top
		if !top.Fixed && top.At != block.Nowhere && len(s.undo)-taken < 2*mostAway {
			s.shift(top, block.Nowhere)
		}
	}
}

// insertAll gives a place to the blocks that the move has taken away, and to some others that have none: in a random
// order, or the longest first. It reports false as soon as the move must end above the limit.
func (s *search) insertAll() bool {
	var away []*block.Session
	for _, c := range s.undo {
		if c.top.At == block.Nowhere {
			away = append(away, c.top)
		}
	}
	if s.Score.Unplaced/board.UnplacedPoints > len(away) {
		for range mostAway {
			if of := s.pick(); of.At == block.Nowhere && !slices.Contains(away, of) {
				away = append(away, of)
			}
		}
	}
	s.Shuffle(len(away), func(i, j int) { away[i], away[j] = away[j], away[i] })
	if s.IntN(2) == 0 {
		slices.SortStableFunc(away, func(x, y *block.Session) int { return cmp.Compare(y.Length, x.Length) })
	}
	gain := 0.0 // how much the blocks that are left can lower the energy: each gets a place, and may fill idle time
	for _, of := range away {
		gain += s.mostGain(of)
	}
	for _, of := range away {
		s.insert(of)
		if gain -= s.mostGain(of); s.energy()-gain > s.limit {
			return false
		}
	}
	return true
}

// mostGain returns by how much a place for a block can lower the energy.
func (s *search) mostGain(of *block.Session) float64 {
	return s.weight*float64(len(of.Block)) + float64(mostIdle(of)+of.Least)
}
