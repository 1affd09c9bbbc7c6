package solver

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"lectern/shared/agenda/board"
)

// search improves a board by simulated annealing: a move to a worse score stays with a probability that falls
// with the temperature.
type search struct {
	*board.Board
	*rand.Rand
	Problem
	// movable are the sessions to place: parents before subsessions, and the most constrained first.
	movable []*board.Session
	// undo has the earlier places of the sessions that the present move has moved.
	undo  []change
	steps int
	// best are the places of the best agenda, and lowest the total of the score there.
	best   []board.Place
	lowest int
}

// change is the earlier place of a session.
type change struct {
	session *board.Session
	was     board.Place
}

const (
	// firstRound is the number of moves for each session of the first round of annealing.
	firstRound = 500
	// warm and hot are the temperatures at the start of the rounds by turns, and cold is the temperature at the end.
	warm, hot, cold = 300.0, 1000.0, 4.0
	// outPoints is the penalty of a session without a place for the duration of a search: a session may lose the place
	// for some moves.
	outPoints = 1000
	// displaced is how many sessions a move may displace, and samples how many random places each of these tries.
	displaced, samples = 3, 40
	// atOnce is how many places are compared for the first place of a session.
	atOnce = 300
)

func newSearch(p Problem) *search {
	s := &search{Board: board.New(p.Problem), Problem: p, Rand: rand.New(rand.NewPCG(p.Seed, 0))} //nolint:gosec // a search must be repeatable
	for _, of := range s.Sessions {
		if !of.Fixed {
			s.movable = append(s.movable, of)
		}
	}
	slices.SortStableFunc(s.movable, compareFreedom)
	return s
}

// compareFreedom compares sessions by the number of places, then by the number of people.
func compareFreedom(x, y *board.Session) int {
	return cmp.Or(cmp.Compare(len(x.Session.Parent), len(y.Session.Parent)), cmp.Compare(x.Choices(), y.Choices()),
		cmp.Compare(len(y.People), len(x.People)))
}

// construct gives each session the cheapest place without obstacles among the first of all places in a random order that
// have any.
func (s *search) construct() {
	for _, of := range s.movable {
		places := s.Places(of)
		s.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
		for some := range slices.Chunk(places, atOnce) {
			if of.At == board.Nowhere && !s.over() {
				s.insert(of, some)
			}
		}
	}
	s.keep()
}

// insert gives a session the cheapest of some places without obstacles, or Nowhere without such a place.
func (s *search) insert(of *board.Session, places []board.Place) {
	cheapest, to := math.MaxInt, board.Nowhere
	for _, at := range places {
		if cost, obstacles := s.Judge(of, at, 0); len(obstacles) == 0 && cost.Total() < cheapest {
			cheapest, to = cost.Total(), at
		}
	}
	s.move(of, to)
}

// over reports whether the time is over.
func (s *search) over() bool { return !s.Deadline.IsZero() && time.Now().After(s.Deadline) }

// improve runs rounds of annealing from the best agenda. Each second round has twice the moves of the rounds before.
func (s *search) improve() {
	for moves := firstRound * len(s.movable); moves > 0; moves *= 2 {
		if !s.anneal(moves, warm) || !s.anneal(moves, hot) {
			return
		}
	}
}

// anneal tries moves while the temperature falls, and reports whether time and steps are left.
func (s *search) anneal(moves int, temperature float64) bool {
	fall := math.Pow(cold/temperature, 1/float64(moves))
	for move := range moves {
		if s.steps >= s.Steps || move%64 == 0 && s.over() {
			return false
		}
		s.steps++
		s.step(temperature)
		temperature *= fall
	}
	s.restore()
	return true
}

// step tries a move, and takes back an impossible move and a move that is too bad for the temperature.
func (s *search) step(temperature float64) {
	before := s.energy()
	s.undo = s.undo[:0]
	possible := s.try()
	switch worse := s.energy() - before; {
	case !possible || float64(worse) > temperature*s.ExpFloat64():
		for _, c := range slices.Backward(s.undo) {
			s.Move(c.session, c.was)
		}
	case s.Score.Total() < s.lowest:
		s.keep()
	}
}

// energy returns the total of the score, with outPoints for each session without a place.
func (s *search) energy() int {
	return s.Score.Total() - s.Score.Unplaced + s.Score.Unplaced/board.UnplacedPoints*outPoints
}

// keep notes the best agenda.
func (s *search) keep() {
	s.best, s.lowest = s.best[:0], s.Score.Total()
	for _, of := range s.Sessions {
		s.best = append(s.best, of.At)
	}
}

// restore returns to the best agenda.
func (s *search) restore() {
	for i, of := range s.Sessions {
		s.move(of, s.best[i])
	}
}

// move moves a session, and notes the earlier place.
func (s *search) move(of *board.Session, to board.Place) {
	if of.At != to {
		s.undo = append(s.undo, change{of, of.At})
		s.Move(of, to)
	}
}

// try changes the places of some sessions at random, and reports whether the change is possible.
func (s *search) try() bool {
	of := s.movable[s.IntN(len(s.movable))]
	starts := s.Starts(of)
	if len(starts) == 0 || len(of.Rooms) == 0 {
		return false
	}
	at, was := s.anyPlace(of, starts), of.At
	if was != board.Nowhere {
		switch s.IntN(4) {
		case 0: // another time in the same room
			at.Room = was.Room
		case 1: // another room at the same time, rarely for all sessions of the day
			if s.IntN(30) == 0 {
				return s.swapRooms(was.Room, at.Room, of.Day)
			}
			at.Start = was.Start
		case 2: // a near slot in the same room
			near := slices.Index(starts, was.Start) + s.IntN(9) - 4
			at = board.Place{Start: starts[max(0, min(near, len(starts)-1))], Room: was.Room}
		case 3: // rarely all sessions of the track
			if s.IntN(30) == 0 {
				return s.gather(of.SameTrack(), at.Room)
			}
		}
	}
	return at != was && s.displace(of, at)
}

// anyPlace returns a random place for a session.
func (s *search) anyPlace(of *board.Session, starts []int64) board.Place {
	return board.Place{Start: starts[s.IntN(len(starts))], Room: of.Rooms[s.IntN(len(of.Rooms))]}
}

// displace moves a session to a place, and the sessions in the way to the earlier place of the session or to random
// places. A displaced session without a free place stays without a place.
func (s *search) displace(of *board.Session, at board.Place) bool {
	was := of.At
	s.move(of, board.Nowhere)
	_, found := s.Judge(of, at, displaced)
	obstacles := slices.Clone(found)
	if len(obstacles) > displaced || slices.ContainsFunc(obstacles, of.IsStuckBeside) {
		s.move(of, was)
		return false
	}
	for _, o := range obstacles {
		s.move(o.Session, board.Nowhere)
	}
	s.move(of, at)
	for _, o := range obstacles {
		if starts := s.Starts(o.Session); o.At == board.Nowhere && len(starts) > 0 {
			s.insert(o.Session, s.somePlaces(o.Session, starts, of, was))
		}
	}
	return true
}

// somePlaces returns random places for a session, and first the places in the gap that another session has left.
func (s *search) somePlaces(of *board.Session, starts []int64, left *board.Session, was board.Place) (places []board.Place) {
	if was != board.Nowhere && slices.Contains(of.Rooms, was.Room) {
		from, _ := slices.BinarySearch(starts, was.Start)
		for ; from < len(starts) && starts[from] < left.EndAt(was); from++ {
			places = append(places, board.Place{Start: starts[from], Room: was.Room})
		}
	}
	for range samples {
		places = append(places, s.anyPlace(of, starts))
	}
	return places
}

// gather moves the sessions of a track to a room at the same times, as far as possible.
func (s *search) gather(track []*board.Session, room *board.Room) bool {
	for _, of := range track {
		if !of.Fixed && of.At != board.Nowhere && slices.Contains(of.Rooms, room) {
			s.displace(of, board.Place{Start: of.At.Start, Room: room})
		}
	}
	return len(s.undo) > 0
}

// swapRooms exchanges the sessions of two rooms on a day or on all days, and reports whether the exchange is possible.
func (s *search) swapRooms(x, y *board.Room, day int) bool {
	always := s.IntN(2) == 0
	for _, of := range slices.Concat(x.Sessions, y.Sessions) {
		to := board.Place{Start: of.At.Start, Room: x}
		if of.At.Room == x {
			to.Room = y
		}
		if !of.Fixed && (always || of.Day == day) {
			s.move(of, to)
		}
	}
	for _, c := range s.undo {
		_, obstacles := s.Judge(c.session, c.session.At, 0)
		if len(obstacles) > 0 || !slices.Contains(c.session.Rooms, c.session.At.Room) {
			return false
		}
	}
	return x != y
}
