package solver

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// search improves a board by simulated annealing: a move that makes the score worse stays with a probability
// that falls with the temperature.
type search struct {
	*board
	*rand.Rand
	// movable are the sessions to place, parents before subsessions, and the most constrained first.
	movable []int
	// undo are the changes of the present move.
	undo  []change
	steps int
	// best are the places of the best agenda, and lowest the total of the score there.
	best   []place
	lowest int
}

// change is the place of a session before a change.
type change struct {
	session int
	was     place
}

// The temperatures of a round, in points, and the moves of the first round for each session.
const (
	hot, cold  = 120.0, 4.0
	firstRound = 500
	// some is how many obstacles a move removes, and samples how many places are tried for each.
	some, samples = 3, 12
)

func newSearch(b *board) *search {
	s := &search{board: b, Rand: rand.New(rand.NewPCG(b.Seed, 0))} //nolint:gosec // the search must be repeatable
	for i := range b.sessions {
		if !b.sessions[i].fixed {
			s.movable = append(s.movable, i)
		}
	}
	slices.SortStableFunc(s.movable, s.compareFreedom)
	return s
}

// compareFreedom compares sessions by the number of places, then by length and people.
func (s *search) compareFreedom(i, other int) int {
	x, y := &s.sessions[i], &s.sessions[other]
	return cmp.Or(cmp.Compare(min(x.parent, 0), min(y.parent, 0)), cmp.Compare(len(x.starts)*len(x.rooms), len(y.starts)*len(y.rooms)),
		cmp.Compare(y.length, x.length), cmp.Compare(len(y.people), len(x.people)))
}

// construct places each session at the cheapest place without obstacles.
func (s *search) construct() {
	for _, i := range s.movable {
		if s.over() {
			break
		}
		cheapest, at := math.MaxInt, nowhere
		for _, start := range s.starts(i) {
			for _, room := range s.sessions[i].rooms {
				cheapest, at = s.cheaper(i, place{start, room}, cheapest, at)
			}
		}
		s.set(i, at)
	}
	s.keep()
}

// cheaper returns the cheaper of two places of a session, with the cost.
func (s *search) cheaper(i int, at place, cheapest int, best place) (int, place) {
	if len(s.obstacles(i, at, 0)) > 0 {
		return cheapest, best
	}
	if c := s.cost(i, at); c.Total() < cheapest {
		return c.Total(), at
	}
	return cheapest, best
}

// over reports whether the time is over.
func (s *search) over() bool { return !s.Deadline.IsZero() && time.Now().After(s.Deadline) }

// improve runs rounds of annealing from the best agenda, each with twice the moves of the round before.
func (s *search) improve() {
	for moves := firstRound * len(s.movable); moves > 0; moves *= 2 {
		temperature := 0.0
		for move := range moves {
			if move%64 == 0 {
				temperature = hot * math.Pow(cold/hot, float64(move)/float64(moves))
				if s.over() {
					return
				}
			}
			if s.steps >= s.Steps {
				return
			}
			s.steps++
			s.step(temperature)
		}
		s.restore()
	}
}

// step tries a move, and takes the move back if the move is impossible or too bad for the temperature.
func (s *search) step(temperature float64) {
	before := s.score.Total()
	s.undo = s.undo[:0]
	possible := s.move()
	if worse := s.score.Total() - before; !possible || float64(worse) > temperature*s.ExpFloat64() {
		for _, c := range slices.Backward(s.undo) {
			s.set(c.session, c.was)
		}
	} else if s.score.Total() < s.lowest {
		s.keep()
	}
}

// keep notes the best agenda.
func (s *search) keep() {
	s.best, s.lowest = append(s.best[:0], s.at...), s.score.Total()
}

// restore returns to the best agenda.
func (s *search) restore() {
	for i, at := range s.best {
		if s.at[i] != at {
			s.set(i, nowhere)
		}
	}
	for i, at := range s.best {
		if s.at[i] != at {
			s.put(i, at)
		}
	}
}

// set moves a session to a place, or to nowhere.
func (s *search) set(i int, to place) {
	s.undo = append(s.undo, change{i, s.at[i]})
	if s.at[i] != nowhere {
		s.take(i)
	}
	if to != nowhere {
		s.put(i, to)
	}
}

// move changes the places of some sessions, and reports whether the change is possible.
func (s *search) move() bool {
	if s.IntN(100) == 0 {
		return s.swapRooms()
	}
	i := s.movable[s.IntN(len(s.movable))]
	starts, rooms := s.starts(i), s.sessions[i].rooms
	if len(starts) == 0 || len(rooms) == 0 {
		return false
	}
	at := place{starts[s.IntN(len(starts))], rooms[s.IntN(len(rooms))]}
	if was := s.at[i]; was != nowhere {
		switch s.IntN(4) {
		case 0: // another time in the same room
			at.room = was.room
		case 1: // another room at the same time
			at.start = was.start
		case 2: // a slot near the present
			near := slices.Index(starts, was.start) + s.IntN(9) - 4
			at = place{starts[max(0, min(near, len(starts)-1))], was.room}
		}
	}
	return at != s.at[i] && s.moveTo(i, at)
}

// moveTo moves a session to a place, and the sessions that are obstacles there to other places: if possible, to the
// former place of the session.
func (s *search) moveTo(i int, at place) bool {
	was := s.at[i]
	s.set(i, nowhere)
	obstacles := slices.Clone(s.obstacles(i, at, some))
	if len(obstacles) > some {
		return false
	}
	for _, o := range obstacles {
		if s.sessions[o.session].fixed || o.session == s.sessions[i].parent {
			return false
		}
		if s.at[o.session] != nowhere {
			s.set(o.session, nowhere)
		}
	}
	s.set(i, at)
	for _, o := range obstacles {
		if s.at[o.session] == nowhere {
			s.insert(o.session, was)
		}
	}
	return true
}

// insert puts a session at the cheapest of some places: a wanted place, and random places.
func (s *search) insert(i int, wanted place) {
	starts, rooms := s.starts(i), s.sessions[i].rooms
	cheapest, at := math.MaxInt, nowhere
	if slices.Contains(starts, wanted.start) && slices.Contains(rooms, wanted.room) {
		cheapest, at = s.cheaper(i, wanted, cheapest, at)
	}
	for range samples {
		if len(starts) > 0 && len(rooms) > 0 {
			cheapest, at = s.cheaper(i, place{starts[s.IntN(len(starts))], rooms[s.IntN(len(rooms))]}, cheapest, at)
		}
	}
	s.set(i, at)
}

// swapRooms exchanges the sessions of two rooms on a day, and reports whether each session may be in the other room.
func (s *search) swapRooms() bool {
	i, other := s.movable[s.IntN(len(s.movable))], s.movable[s.IntN(len(s.movable))]
	x, y := s.at[i].room, s.at[other].room
	if x == y || min(x, y) == absent {
		return false
	}
	day, from := s.day(s.at[i].start), len(s.undo)
	for _, room := range [2]int{x, y} {
		for _, i := range slices.Clone(s.inRoom[room]) {
			if !s.sessions[i].fixed && s.day(s.at[i].start) == day {
				s.set(i, nowhere)
			}
		}
	}
	changes := slices.Clone(s.undo[from:])
	for _, c := range changes { // parents first?
		to := place{c.was.start, x + y - c.was.room}
		if !slices.Contains(s.sessions[c.session].rooms, to.room) || len(s.obstacles(c.session, to, 0)) > 0 {
			return false
		}
		s.set(c.session, to)
	}
	return true
}
