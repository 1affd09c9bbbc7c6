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
	problem Problem
	// starts are the possible starts by length.
	starts map[int64][]int64
	// The moves take place between begin and end. Some time before the deadline is left for reasons.
	begin, end time.Time
	// movable are the first sessions of the blocks with places to choose from, the most constrained first.
	movable []*board.Session
	// interrupted reports whether the time ended before each block was tried.
	interrupted bool
	// undo has the earlier places of the blocks that the present move has moved.
	undo  []change
	steps int
	// places are those that insert compares.
	places []board.Place
	// best are the places of the best agenda, and lowest the total of the score there.
	best   []board.Place
	lowest int
}

// change is the earlier place of a block.
type change struct {
	top *board.Session
	was board.Place
}

const (
	// hot is the temperature at the start of a round, cold the temperature at the end.
	hot, cold = 200.0, 4.0
	// light has the points of a session without a place at the start of a round, heavy at the end. They are fewer than
	// in the score, so a session may lose the place for some moves while others change theirs.
	light, heavy = 250.0, 2000.0
	// The fewer blocks, the more rounds: shared divided by the square of the number of blocks.
	shared = 8000
	// few is how many places of a block are all compared. Of more places, first random ones are compared for
	// the first agenda, and samples in a move.
	few, first, samples = 200, 300, 8
	// most is how many blocks a place may displace, and how many a move takes from each of two places.
	most = 4
	// One in so many of the cheapest places is overlooked.
	overlooked = 30
)

func newSearch(p Problem) *search {
	s := &search{problem: p, starts: map[int64][]int64{}, lowest: math.MaxInt}
	s.Rand = rand.New(rand.NewPCG(p.Seed, 0)) //nolint:gosec // a search must be repeatable
	if s.end = p.Deadline; !s.end.IsZero() {
		s.end = s.end.Add(-time.Until(s.end) / 10)
	}
	s.Board = board.New(p.Agenda, p.Days, p.SessionIDs, p.KeepTimes)
	for _, of := range s.Sessions {
		if of.Fixed || of.Top != of || of.Reason != "" {
			continue
		}
		if of.Reason = noTime; !s.over() {
			of.Reason = s.findChoices(of)
		}
		if of.Reason == "" {
			s.movable = append(s.movable, of)
		}
	}
	slices.SortStableFunc(s.movable, func(x, y *board.Session) int {
		return cmp.Or(cmp.Compare(x.Choices(), y.Choices()), cmp.Compare(len(y.People), len(x.People)))
	})
	return s
}

// over reports whether the time is over.
func (s *search) over() bool { return !s.end.IsZero() && time.Now().After(s.end) }

// improve makes rounds of moves, each from a new agenda. The board then has the best agenda.
func (s *search) improve() {
	s.construct()
	s.interrupted, s.begin = s.over(), time.Now()
	rounds := float64(1 + shared/(1+len(s.movable)*len(s.movable)))
	for round := 0.0; round < rounds && s.mayImprove(); round++ {
		if round > 0 {
			s.restart()
		}
		s.anneal(round/rounds, (round+1)/rounds)
	}
	for i, of := range s.movable {
		s.Move(of, s.best[i])
	}
	s.end = s.problem.Deadline
	for _, of := range s.movable {
		if of.At == board.Nowhere {
			of.Reason = s.explain(of)
		}
	}
}

// mayImprove reports whether a move is left that can improve the best agenda.
func (s *search) mayImprove() bool {
	return s.lowest > 0 && s.progress() < 1 &&
		slices.ContainsFunc(s.movable, func(of *board.Session) bool { return of.At == board.Nowhere || of.Choices() > 1 })
}

// restart makes a new agenda.
func (s *search) restart() {
	for _, of := range s.movable {
		s.Move(of, board.Nowhere)
	}
	s.construct()
}

// construct gives each block without a place the cheapest free place of some.
func (s *search) construct() {
	for _, of := range s.movable {
		if !s.over() {
			s.insert(of, first)
		}
	}
	s.keep()
}

// progress returns the part of the steps or of the time that has passed: 1 at the end.
func (s *search) progress() float64 {
	done := float64(s.steps) / float64(max(1, s.problem.Steps))
	if s.end.IsZero() {
		return done
	}
	left := time.Until(s.end)
	if left <= 0 {
		return 1
	}
	return max(done, 1-float64(left)/float64(s.end.Sub(s.begin)))
}

// anneal tries moves during a part of the search, while the temperature falls.
func (s *search) anneal(from, to float64) {
	for s.lowest > 0 && s.steps < s.problem.Steps {
		done := (s.progress() - from) / (to - from)
		if done >= 1 {
			return
		}
		temperature, weight := hot*math.Pow(cold/hot, done), light*math.Pow(heavy/light, done)
		s.steps++
		s.undo = s.undo[:0]
		before := s.Score
		if possible := s.try(); possible && s.Score.Energy(weight)-before.Energy(weight) <= temperature*s.ExpFloat64() {
			s.keep()
			continue
		}
		for _, c := range slices.Backward(s.undo) {
			s.Put(c.top, c.was)
		}
		s.Score = before
	}
}

// keep notes the agenda if it is the best.
func (s *search) keep() {
	if total := s.Score.Total(); total < s.lowest {
		s.best, s.lowest = s.best[:0], total
		for _, of := range s.movable {
			s.best = append(s.best, of.At)
		}
	}
}

// try moves some blocks at random, and reports whether the move is possible. Most moves take blocks away from two places,
// and give each the cheapest place in turn.
func (s *search) try() bool {
	switch of, kind := s.any(), s.IntN(10); {
	case kind < 4 || of.At == board.Nowhere:
		return s.displace(of, s.anyPlace(of))
	case kind < 8:
		s.takeNear(of)
		s.takeNear(s.any())
	default:
		for range 1 + s.IntN(most) {
			s.shift(s.any(), board.Nowhere)
		}
	}
	s.insertAll()
	return true
}

// any returns a random block.
func (s *search) any() *board.Session { return s.movable[s.IntN(len(s.movable))] }

// anyPlace returns a random place for a block, half of the time with the present room or start.
func (s *search) anyPlace(of *board.Session) board.Place {
	at := of.Choice(s.IntN(of.Choices()))
	switch kind := s.IntN(4); {
	case of.At == board.Nowhere:
	case kind == 0:
		at.Room = of.At.Room
	case kind == 1:
		at.Start = of.At.Start
	}
	return at
}

// shift moves a block, and notes the earlier place.
func (s *search) shift(of *board.Session, to board.Place) {
	if of.At != to {
		s.undo = append(s.undo, change{of, of.At})
		s.Move(of, to)
	}
}

// displace moves a block to a place, and the blocks in the way to other places.
func (s *search) displace(of *board.Session, at board.Place) bool {
	_, found := s.Judge(of, at, most)
	away := slices.Clone(found)
	for _, o := range away {
		if o.Session.Fixed || o.Session.Top == of || len(away) > most {
			return false
		}
	}
	for _, o := range away {
		s.shift(o.Session.Top, board.Nowhere)
	}
	s.shift(of, at)
	s.insertAll()
	return true
}

// takeNear takes a block and blocks that are near in the same room from their places.
func (s *search) takeNear(of *board.Session) {
	if of.At == board.Nowhere {
		return
	}
	when, reach := of.Span(of.At), int64(s.IntN(120))*board.Minute
	for _, near := range slices.Clone(of.At.Room.Sessions) {
		if near.Top == near && !near.Fixed && when.Overlaps(near.Span(near.At), reach) {
			s.shift(near, board.Nowhere)
		}
	}
}

// insertAll gives the blocks that the move has taken away, and some others without a place, the cheapest free place of
// some each, in a random order or the longest first.
func (s *search) insertAll() {
	var away []*board.Session
	for _, c := range s.undo {
		if c.top.At == board.Nowhere {
			away = append(away, c.top)
		}
	}
	if s.Score.Unplaced/board.UnplacedPoints > len(away) {
		for range most {
			if of := s.any(); of.At == board.Nowhere && !slices.Contains(away, of) {
				away = append(away, of)
			}
		}
	}
	s.Shuffle(len(away), func(i, j int) { away[i], away[j] = away[j], away[i] })
	if s.IntN(2) == 0 {
		slices.SortStableFunc(away, func(x, y *board.Session) int { return cmp.Compare(y.Length, x.Length) })
	}
	for _, of := range away {
		s.insert(of, samples)
	}
}

// insert gives a block without a place the cheapest free place of some. It overlooks a few, so that the cheapest is not always
// the same.
func (s *search) insert(of *board.Session, n int) {
	cheapest, to := 0, board.Nowhere
	for _, at := range s.candidates(of, n) {
		if s.IntN(overlooked) == 0 {
			continue
		}
		c, found := s.Judge(of, at, 0)
		if cost := c.Total(); len(found) == 0 && (to == board.Nowhere || cost < cheapest) {
			cheapest, to = cost, at
		}
	}
	s.shift(of, to)
}

// candidates returns all places of a block if they are few, or else n random places, and those in the gaps that the
// move has left.
func (s *search) candidates(of *board.Session, n int) []board.Place {
	s.places = s.places[:0]
	all, from := of.Choices(), s.IntN(of.Choices())
	for i := 0; i < all && all <= few; i++ {
		s.places = append(s.places, of.Choice((from+i)%all))
	}
	for i := 0; i < n && all > few; i++ {
		s.places = append(s.places, of.Choice(s.IntN(all)))
	}
	for _, c := range s.undo {
		i, _ := slices.BinarySearch(of.Starts, c.was.Start)
		for ; all > few && slices.Contains(of.Rooms, c.was.Room) && i < len(of.Starts) && of.Starts[i] < c.was.Start+c.top.Length; i++ {
			s.places = append(s.places, board.Place{Start: of.Starts[i], Room: c.was.Room})
		}
	}
	return s.places
}
