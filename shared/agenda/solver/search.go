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
	// starts are the possible starts by length. clocksChange reports whether clocks change on one of the days.
	starts       map[int64][]int64
	clocksChange bool
	// The moves take place between begin and end. Some time before the deadline is left for reasons.
	begin, end time.Time
	// movable are the first sessions of the blocks with places to choose from, the most constrained first.
	movable []*board.Session
	// interrupted reports whether the time ended before each block was tried.
	interrupted bool
	// undo has the earlier places of the blocks that the present move has moved.
	undo  []change
	steps int
	// places are the candidates for the present block.
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
	// A search has more rounds for fewer blocks: oneMore divided by the square of their number, and one more.
	oneMore = 8000
	// A block with at most mostPlaces compares all its places. Any other compares random places: startSamples for a new agenda,
	// and moveSamples in a move.
	mostPlaces, startSamples, moveSamples = 200, 300, 8
	// mostAway is how many blocks a place may displace, and how many blocks a move takes away at random.
	mostAway = 4
	// A comparison leaves out one place in so many.
	overlooked = 30
)

// newSearch returns a search with the blocks that have places to choose from.
func newSearch(p Problem) *search {
	s := &search{problem: p, starts: map[int64][]int64{}, clocksChange: clocksChange(p), lowest: math.MaxInt}
	s.Rand = rand.New(rand.NewPCG(p.Seed, 0)) //nolint:gosec // a search must be repeatable
	if s.end = p.Deadline; !s.end.IsZero() {
		s.end = s.end.Add(-time.Until(s.end) / 10)
	}
	s.Board = board.New(p.Agenda, p.Days, p.SessionIDs, p.KeepTimes)
	for _, of := range s.Sessions {
		if of.Fixed || of.Top != of || of.Reason != "" {
			continue
		}
		if of.Reason = noTime; s.over() {
			s.interrupted = true
		} else {
			of.Reason = s.findChoices(of)
		}
		if of.Reason == "" {
			s.movable = append(s.movable, of)
		}
	}
	slices.SortStableFunc(s.movable, byFreedom)
	return s
}

// byFreedom compares blocks: few places come first, then many people.
func byFreedom(x, y *board.Session) int {
	return cmp.Or(cmp.Compare(x.Choices(), y.Choices()), cmp.Compare(len(y.People), len(x.People)))
}

// over reports whether the time is over.
func (s *search) over() bool { return !s.end.IsZero() && time.Now().After(s.end) }

// improve makes rounds of moves, each from a new agenda. The board then has the best agenda.
func (s *search) improve() {
	s.interrupted = !s.construct() || s.interrupted
	s.begin = time.Now()
	rounds := float64(1 + oneMore/(1+len(s.movable)*len(s.movable)))
	for round := 0.0; round < rounds && s.mayImprove(); round++ {
		if round > 0 {
			s.construct()
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
	return s.lowest > 0 && s.progress() < 1 && slices.ContainsFunc(s.movable, func(of *board.Session) bool {
		return of.At == board.Nowhere || of.Choices() > 1
	})
}

// construct makes a new agenda: each block gets the cheapest free place of some. It reports whether the time was enough for
// each block.
func (s *search) construct() (whole bool) {
	for _, of := range s.movable {
		s.Move(of, board.Nowhere)
	}
	whole = true
	for _, of := range s.movable {
		if whole = whole && !s.over(); whole {
			s.undo = s.undo[:0]
			s.insert(of, startSamples)
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

// anneal tries moves during a part of the search, while the temperature falls.
func (s *search) anneal(from, to float64) {
	for s.lowest > 0 {
		done := (s.progress() - from) / (to - from)
		if done >= 1 {
			return
		}
		temperature, weight := hot*math.Pow(cold/hot, done), light*math.Pow(heavy/light, done)
		s.steps++
		s.undo = s.undo[:0]
		before := s.Score
		if possible := s.try(); possible && s.Score.Energy(weight)-before.Energy(weight) <= temperature*s.ExpFloat64() {
			s.noteBest()
			continue
		}
		s.takeBack(before)
	}
}

// takeBack restores the places and the score before the present move.
func (s *search) takeBack(before board.Score) {
	for _, c := range slices.Backward(s.undo) {
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

// try moves some blocks at random, and reports whether the move is possible. Most moves take blocks away from two places,
// and give each the cheapest place in turn.
func (s *search) try() bool {
	switch of, kind := s.pick(), s.IntN(10); {
	case kind < 4 || of.At == board.Nowhere:
		return s.displace(of, s.anyPlace(of))
	case kind < 8:
		s.takeNear(of)
		s.takeNear(s.pick())
	default:
		for range 1 + s.IntN(mostAway) {
			s.shift(s.pick(), board.Nowhere)
		}
	}
	s.insertAll()
	return true
}

// pick returns a random block.
func (s *search) pick() *board.Session { return s.movable[s.IntN(len(s.movable))] }

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
	_, found := s.Judge(of, at, mostAway)
	away := slices.Clone(found)
	for _, o := range away {
		if o.Session.Fixed || o.Session.Top == of || len(away) > mostAway {
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

// takeNear takes blocks that are near a block in its room from their places.
func (s *search) takeNear(of *board.Session) {
	if of.At == board.Nowhere {
		return
	}
	when, reach, taken := of.Span(of.At), int64(s.IntN(120))*board.Minute, len(s.undo)
	for _, near := range slices.Clone(of.At.Room.Sessions) {
		if near.Top == near && !near.Fixed && when.Overlaps(near.Span(near.At), reach) && len(s.undo)-taken < 2*mostAway {
			s.shift(near, board.Nowhere)
		}
	}
}

// insertAll gives a place to the blocks that the move has taken away, and to some others that have none: in a random
// order, or the longest first.
func (s *search) insertAll() {
	var away []*board.Session
	for _, c := range s.undo {
		if c.top.At == board.Nowhere {
			away = append(away, c.top)
		}
	}
	if s.Score.Unplaced/board.UnplacedPoints > len(away) {
		for range mostAway {
			if of := s.pick(); of.At == board.Nowhere && !slices.Contains(away, of) {
				away = append(away, of)
			}
		}
	}
	s.Shuffle(len(away), func(i, j int) { away[i], away[j] = away[j], away[i] })
	if s.IntN(2) == 0 {
		slices.SortStableFunc(away, func(x, y *board.Session) int { return cmp.Compare(y.Length, x.Length) })
	}
	for _, of := range away {
		s.insert(of, moveSamples)
	}
}

// insert gives a block without a place the cheapest free place of its candidates. It leaves a few of these out, so that the
// cheapest is not always the same.
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

// candidates returns the places that insert compares: all places of a block, or n random places and those in the gaps that
// the move has left.
func (s *search) candidates(of *board.Session, n int) []board.Place {
	s.places = s.places[:0]
	all, from := of.Choices(), s.IntN(of.Choices())
	if all <= mostPlaces {
		for i := range all {
			s.places = append(s.places, of.Choice((from+i)%all))
		}
		return s.places
	}
	for range n {
		s.places = append(s.places, of.Choice(s.IntN(all)))
	}
	for _, c := range s.undo {
		i, _ := slices.BinarySearch(of.Starts, c.was.Start)
		for ; slices.Contains(of.Rooms, c.was.Room) && i < len(of.Starts) && of.Starts[i] < c.was.Start+c.top.Length; i++ {
			s.places = append(s.places, board.Place{Start: of.Starts[i], Room: c.was.Room})
		}
	}
	return s.places
}
