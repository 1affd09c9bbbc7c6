package solver

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// search improves a board by simulated annealing: a move to a worse score stays with a probability that falls
// with the temperature.
type search struct {
	*board
	*rand.Rand
	// end is the end of the search, before the deadline. Some time is left for reasons.
	end time.Time
	// movable are the first sessions of the blocks with places to choose from, the most constrained first. freedom
	// is the number of places to choose from, beside the first of each block.
	movable []*session
	freedom int
	// interrupted reports whether the time ended before each block was tried.
	interrupted bool
	// undo has the earlier places of the blocks that the present move has moved.
	undo  []change
	steps int
	// light has the points of a session without a place at the present move.
	light float64
	// best are the places of the best agenda, and lowest the total of the score there.
	best   []place
	lowest int
}

// change is the earlier place of a block.
type change struct {
	top *session
	was place
}

const (
	// A first round has forEach moves for each block, and forAll divided by the number of blocks.
	forEach, forAll = 20, 7_000_000
	// hot is the temperature at the start of a round, cold the temperature at the end.
	hot, cold = 200.0, 4.0
	// tried is how many random places are compared for the first place of a block.
	tried = 300
	// displaced is how many blocks a move may displace, and samples how many random places each of these tries.
	displaced, samples = 3, 8
)

// weight has the points of a session without a place at the start of a round and at the end. They are fewer than in the score, so a
// session may lose the place for some moves. A round of the weight is so many times as long as the first.
type weight struct {
	start, end float64
	times      int
}

// weights are those of the rounds, by turns. With few points many sessions change places together; with many points
// a full agenda has places for all.
var weights = []weight{{150, 600, 1}, {150, 600, 1}, {250, 2000, 2}}

func newSearch(p Problem) *search {
	s := &search{Rand: rand.New(rand.NewPCG(p.Seed, 0)), lowest: math.MaxInt} //nolint:gosec // a search must be repeatable
	if s.end = p.Deadline; !s.end.IsZero() {
		s.end = s.end.Add(-time.Until(s.end) / 10)
	}
	s.board = newBoard(p)
	for _, of := range s.sessions {
		if of.fixed || of.top != of || of.withoutChoice != "" {
			continue
		}
		if of.withoutChoice = noTime; !s.over() {
			of.withoutChoice = ""
			s.findChoices(of)
		}
		if of.withoutChoice == "" {
			s.movable, s.freedom = append(s.movable, of), s.freedom+of.choices()-1
		}
	}
	slices.SortStableFunc(s.movable, func(x, y *session) int {
		return cmp.Or(cmp.Compare(x.choices(), y.choices()), cmp.Compare(len(y.people), len(x.people)))
	})
	return s
}

// choices returns the number of places that a block may have.
func (s *session) choices() int { return len(s.starts) * len(s.rooms) }

// choice returns a place that a block may have.
func (s *session) choice(i int) place {
	return place{s.starts[i/len(s.rooms)], s.rooms[i%len(s.rooms)]}
}

// over reports whether the time is over.
func (s *search) over() bool { return !s.end.IsZero() && time.Now().After(s.end) }

// improve makes rounds of moves, each from a new agenda. After a round with each weight the rounds are twice as long, so
// neither the time nor the number of moves must be known. The board then has the best agenda.
func (s *search) improve() {
	s.construct()
	s.interrupted = s.over()
	again := s.freedom > 0 || slices.ContainsFunc(s.movable, func(of *session) bool { return of.at == nowhere })
	for moves := s.firstRound(); again && len(s.movable) > 0; moves *= 2 {
		for _, w := range weights {
			if again = s.anneal(moves*w.times, w); !again {
				break
			}
			for _, of := range s.movable {
				s.move(of, nowhere)
			}
			s.construct()
		}
	}
	s.restore()
	s.end = s.problem.Deadline
}

// firstRound returns the number of moves of the first rounds: long rounds for small agendas, and few moves for each
// block of large agendas, whose moves take longer. A search of few moves is one round.
func (s *search) firstRound() int {
	return max(1, min(forEach*len(s.movable)+forAll/max(1, len(s.movable)), s.problem.Steps))
}

// construct gives each block without a place the cheapest free place of some.
func (s *search) construct() {
	for _, of := range s.movable {
		if !s.over() {
			s.insert(of, s.anyPlaces(of, tried))
		}
	}
	s.keep()
}

// anneal tries moves while the temperature falls, and reports whether time and steps are left.
func (s *search) anneal(moves int, w weight) bool {
	temperature, fall := hot, math.Pow(cold/hot, 1/float64(moves))
	rise := math.Pow(w.end/w.start, 1/float64(moves))
	s.light = w.start
	for move := range moves {
		if s.steps >= s.problem.Steps || s.lowest == 0 || move%64 == 0 && s.over() {
			return false
		}
		s.steps++
		s.undo = s.undo[:0]
		before := s.energy()
		if possible := s.try(); possible && s.energy()-before <= temperature*s.ExpFloat64() {
			s.keep()
		} else {
			for _, c := range slices.Backward(s.undo) {
				s.move(c.top, c.was)
			}
		}
		temperature, s.light = temperature*fall, s.light*rise
	}
	return true
}

// energy returns the total of the score, with less weight on sessions without a place.
func (s *search) energy() float64 {
	return float64(s.score.Total()-s.score.Unplaced) + s.light*float64(s.score.Unplaced/unplacedPoints)
}

// keep notes the agenda if it is the best.
func (s *search) keep() {
	if total := s.score.Total(); total < s.lowest {
		s.best, s.lowest = s.best[:0], total
		for _, of := range s.movable {
			s.best = append(s.best, of.at)
		}
	}
}

// restore returns to the best agenda.
func (s *search) restore() {
	for i, of := range s.movable {
		s.move(of, s.best[i])
	}
}

// try changes the places of some blocks at random, and reports whether the change is possible.
func (s *search) try() bool {
	of := s.movable[s.IntN(len(s.movable))]
	at, was, one := s.anyPlaces(of, 1)[0], of.at, of.block[s.IntN(len(of.block))]
	switch kind := s.IntN(120); {
	case was == nowhere:
	case kind < 1 && one.track != nil:
		return s.gather(one.track, at.room, noDay)
	case kind < 12 && len(one.people) > 0:
		return s.gather(one.people[s.IntN(len(one.people))], nil, s.IntN(len(s.days)))
	case kind < 35: // another time in the same room
		at.room = was.room
	case kind < 55: // another room at the same time
		at.start = was.start
	case kind < 80: // before another block
		return s.slide(of, s.movable[s.IntN(len(s.movable))])
	case kind < 100: // a near slot in the same room
		i, _ := slices.BinarySearch(of.starts, was.start)
		at = place{of.starts[max(0, min(i+s.IntN(9)-4, len(of.starts)-1))], was.room}
	}
	return at != was && s.displace(of, at)
}

// anyPlaces returns some random places for a block.
func (s *search) anyPlaces(of *session, n int) []place {
	places := make([]place, n)
	for i := range places {
		places[i] = of.choice(s.IntN(of.choices()))
	}
	return places
}

// shift moves a block, and notes the earlier place.
func (s *search) shift(of *session, to place) {
	if of.at != to {
		s.undo = append(s.undo, change{of, of.at})
		s.move(of, to)
	}
}

// insert gives a block without a place the cheapest free place of some.
func (s *search) insert(of *session, places []place) {
	cheapest, to := 0, nowhere
	for _, at := range places {
		c, found := s.judge(of, at, 0)
		if cost := c.Total(); len(found) == 0 && (to == nowhere || cost < cheapest) {
			cheapest, to = cost, at
		}
	}
	s.shift(of, to)
}

// displace moves a block to a place, and the blocks in the way to the gap that the block leaves or to random
// places. A displaced block without a free place stays without a place.
func (s *search) displace(of *session, at place) bool {
	was := of.at
	_, found := s.judge(of, at, displaced)
	away := slices.Clone(found)
	for _, o := range away {
		if o.session.fixed || o.session.top == of || len(away) > displaced {
			return false
		}
	}
	for _, o := range away {
		s.shift(o.session.top, nowhere)
	}
	s.shift(of, at)
	for _, o := range away {
		other := o.session.top
		places := s.anyPlaces(other, samples)
		for i, _ := slices.BinarySearch(other.starts, was.start); i < len(other.starts) && other.starts[i] < of.span(was).end; i++ {
			if slices.Contains(other.rooms, was.room) {
				places = append(places, place{other.starts[i], was.room})
			}
		}
		s.insert(other, places)
	}
	return true
}

// slide moves a block before another: the later blocks of that room and day start later, and the blocks after the gap that the
// block leaves start earlier, by the length of the block.
func (s *search) slide(of, before *session) bool {
	if of == before || before.at == nowhere || !slices.Contains(of.rooms, before.at.room) {
		return false
	}
	was, slot := of.at, s.problem.Slot.Milliseconds()
	length := (of.length + slot - 1) / slot * slot
	s.shift(of, nowhere)
	s.shiftAll(was, -length)
	at := before.at
	s.shiftAll(at, length)
	s.shift(of, at)
	for _, c := range s.undo {
		_, found := s.judge(c.top, c.top.at, 0)
		if _, known := slices.BinarySearch(c.top.starts, c.top.at.start); !known || len(found) > 0 {
			return false
		}
	}
	return true
}

// shiftAll moves the blocks to place of a room that start at a time or later on the same day.
func (s *search) shiftAll(from place, by int64) {
	for _, other := range slices.Clone(from.room.sessions) {
		if !other.fixed && other.top == other && other.day == s.dayOf(from.start) && other.at.start >= from.start {
			s.shift(other, place{other.at.start + by, other.at.room})
		}
	}
}

// gather moves the sessions of a track to a room, at the same times if possible, or those of a person to a day.
func (s *search) gather(g *group, room *room, day int) bool {
	for _, other := range g.sessions {
		if of := other.top; !of.fixed && of.at != nowhere && (room == nil || slices.Contains(of.rooms, room)) {
			s.shift(of, nowhere)
		}
	}
	for _, c := range slices.Clone(s.undo) {
		if room != nil && s.displace(c.top, place{c.was.start, room}) {
			continue
		}
		places := s.anyPlaces(c.top, samples*len(s.days))
		for i := range places {
			places[i].room = cmp.Or(room, places[i].room)
		}
		s.insert(c.top, slices.DeleteFunc(places, func(at place) bool { return room == nil && s.dayOf(at.start) != day }))
	}
	return true
}
