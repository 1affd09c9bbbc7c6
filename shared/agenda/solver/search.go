package solver

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"lectern/shared/agenda/block"
	"lectern/shared/agenda/board"
)

// search improves a board by simulated annealing: a move to a worse score stays with a probability that falls
// with the temperature.
type search struct {
	*board.Board
	*rand.Rand
	problem Problem
	// The moves take place between begin and end. Some time before the deadline is left for reasons.
	begin, end time.Time
	// movable are the first sessions of the blocks with places to choose from, the most constrained first.
	movable []*block.Session
	// interrupted reports whether the time ended before each block was tried.
	interrupted bool
	// undo has the earlier places of the blocks that the present move has moved.
	undo  []change
	steps int
	// planned is the part of the search until the end of the present round.
	planned float64
	// The present move is refused if its energy is above limit; weight has the points of a session without a place in the energy,
	// and unplacedLeast the least points of all blocks without a place.
	limit, weight float64
	unplacedLeast int
	// gaps are the free times for the present block in a room.
	gaps []gap
	// best are the places of the best agenda, and lowest the total of the score there.
	best   []block.Place
	lowest int
}

// change is the earlier place of a block.
type change struct {
	top *block.Session
	was block.Place
}

const (
	// The first rounds of a search begin with new agendas, at the temperature hot, and take the part firstPart of the search
	// together: newAgendas of them, or one for more than manySessions blocks. The last rounds, lastRounds of them, begin with the
	// best agenda, at the temperature warm. Each round ends at the temperature cold.
	newAgendas, manySessions, firstPart, lastRounds = 4, 300, 0.4, 3
	hot, warm, cold                                 = 60.0, 40.0, 8.0
	// light has the points of a session without a place at the start of a round, heavy at the end. They are fewer than
	// in the score, so a session may lose the place for some moves while others change theirs.
	light, heavy = 250.0, 2000.0
	// A block with more than mostPlaces places compares some of them.
	mostPlaces = 2000
	// mostAway is how many blocks a place may displace, and how many blocks a move takes away at random.
	mostAway = 4
	// A comparison leaves out one place in so many.
	overlooked = 30
)

// newSearch returns a search with the blocks that have places to choose from, and with a stream of random numbers.
func newSearch(p Problem, stream uint64) *search {
	s := &search{Board: board.New(p.Agenda, p.Limits), problem: p, lowest: math.MaxInt}
	s.Rand = rand.New(rand.NewPCG(p.Seed, stream)) //nolint:gosec // a search must be repeatable
	if s.end = p.Deadline; !s.end.IsZero() {
		s.end = s.end.Add(-time.Until(s.end) / 10)
	}
	for _, of := range s.Sessions {
		if of.Fixed || of.Top != of || of.Reason != "" {
			continue
		}
		if of.Reason = noTime; s.over() {
			s.interrupted = true
		} else {
			of.Reason = s.Choose(of)
		}
		if of.Reason == "" {
			s.movable, of.Least = append(s.movable, of), s.least(of)
			s.unplacedLeast += of.Least
		}
	}
	slices.SortStableFunc(s.movable, byFreedom)
	return s
}

// byFreedom compares blocks: few places come first, then many people.
func byFreedom(x, y *block.Session) int {
	return cmp.Or(cmp.Compare(x.Choices(), y.Choices()), cmp.Compare(len(y.People), len(x.People)))
}

// over reports whether the time is over.
func (s *search) over() bool { return !s.end.IsZero() && time.Now().After(s.end) }

// improve makes rounds of moves: the first from new agendas, the others from the best one. The board then has the best agenda.
func (s *search) improve() {
	s.interrupted = !s.construct() || s.interrupted
	s.begin = time.Now()
	agendas := newAgendas
	if len(s.movable) > manySessions {
		agendas = 1
	}
	for round := 0; round < agendas && s.mayImprove(); round++ {
		if round > 0 {
			s.construct()
		}
		s.anneal(hot, firstPart/float64(agendas))
	}
	for round := 0; round < lastRounds && s.mayImprove(); round++ {
		s.restoreBest()
		s.anneal(warm, (1-firstPart)/lastRounds)
	}
	s.restoreBest()
	s.end = s.problem.Deadline
	for _, of := range s.movable {
		if of.At == block.Nowhere {
			of.Reason = s.explain(of)
		}
	}
}

// mayImprove reports whether a move is left that can improve the best agenda.
func (s *search) mayImprove() bool {
	return s.lowest > 0 && s.progress() < 1 && slices.ContainsFunc(s.movable, func(of *block.Session) bool {
		return of.At == block.Nowhere || of.Choices() > 1
	})
}

// construct makes a new agenda: each block gets the cheapest free place of some. It reports whether the time was enough for
// each block.
func (s *search) construct() (whole bool) {
	for _, of := range s.movable {
		s.move(of, block.Nowhere)
	}
	whole = true
	for _, of := range s.movable {
		if whole = whole && !s.over(); whole {
			s.undo = s.undo[:0]
			s.insert(of)
		}
	}
	s.noteBest()
	return whole
}

// progress returns the part of the steps or of the time that has passed: 1 at the end.
func (s *search) progress() float64 {
	if s.steps >= s.problem.Steps || s.over() {
		return 1
	}
	done := float64(s.steps) / float64(s.problem.Steps)
	if s.end.IsZero() {
		return done
	}
	return max(done, float64(time.Since(s.begin))/float64(s.end.Sub(s.begin)))
}

// anneal tries moves during a part of the search, while the temperature falls from hot to cold. A refused move is taken back.
func (s *search) anneal(hot, part float64) {
	from := s.planned
	s.planned = min(s.planned+part, 1)
	for s.lowest > 0 {
		now := s.progress()
		if now >= s.planned {
			return
		}
		done := (now - from) / part
		s.steps++
		s.undo = s.undo[:0]
		before := s.Score
		s.weight = light * math.Pow(heavy/light, done)
		s.limit = s.energy() + hot*math.Pow(cold/hot, done)*s.ExpFloat64()
		if s.try() && s.energy() <= s.limit {
			s.noteBest()
			continue
		}
		s.takeBack(before)
	}
}

// takeBack restores the places and the score before the present move.
func (s *search) takeBack(before board.Score) {
	for _, c := range slices.Backward(s.undo) {
		s.countLeast(c.top, c.was)
		s.Put(c.top, c.was)
	}
	s.Score = before
}

// noteBest notes the agenda if it is the best.
func (s *search) noteBest() {
	if total := s.Score.Total(); total < s.lowest {
		s.best, s.lowest = s.best[:0], total
		for _, of := range s.movable {
			s.best = append(s.best, of.At)
		}
	}
}

// restoreBest puts the blocks at the places of the best agenda.
func (s *search) restoreBest() {
	for i, of := range s.movable {
		s.move(of, s.best[i])
	}
}
