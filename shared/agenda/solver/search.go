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
	// The moves take place between begin and end. Some time before the deadline is left for reasons.
	begin, end time.Time
	// movable are the first sessions of the blocks with places to choose from, the most constrained first.
	movable []*session
	// interrupted reports whether the time ended before each block was tried.
	interrupted bool
	// undo has the earlier places of the blocks that the present move has moved.
	undo  []change
	steps int
	// places are those that insert compares.
	places []place
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
	s := &search{Rand: rand.New(rand.NewPCG(p.Seed, 0)), lowest: math.MaxInt} //nolint:gosec // a search must be repeatable
	if s.end = p.Deadline; !s.end.IsZero() {
		s.end = s.end.Add(-time.Until(s.end) / 10)
	}
	s.board = newBoard(p)
	for _, of := range s.sessions {
		if of.fixed || of.top != of || of.reason != "" {
			continue
		}
		if of.reason = noTime; !s.over() {
			of.reason = s.findChoices(of)
		}
		if of.reason == "" {
			s.movable = append(s.movable, of)
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
		s.move(of, s.best[i])
	}
	s.end = s.problem.Deadline
	for _, of := range s.movable {
		if of.at == nowhere {
			of.reason = s.explain(of)
		}
	}
}

// mayImprove reports whether a move is left that can improve the best agenda.
func (s *search) mayImprove() bool {
	return s.lowest > 0 && s.progress() < 1 &&
		slices.ContainsFunc(s.movable, func(of *session) bool { return of.at == nowhere || of.choices() > 1 })
}

// restart makes a new agenda.
func (s *search) restart() {
	for _, of := range s.movable {
		s.move(of, nowhere)
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
		before := s.score
		if possible := s.try(); possible && s.score.energy(weight)-before.energy(weight) <= temperature*s.ExpFloat64() {
			s.keep()
			continue
		}
		for _, c := range slices.Backward(s.undo) {
			s.set(c.top, c.was)
		}
		s.score = before
	}
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

// try moves some blocks at random, and reports whether the move is possible. Most moves take blocks away from two places,
// and give each the cheapest place in turn.
func (s *search) try() bool {
	switch of, kind := s.any(), s.IntN(10); {
	case kind < 4 || of.at == nowhere:
		return s.displace(of, s.anyPlace(of))
	case kind < 8:
		s.takeNear(of)
		s.takeNear(s.any())
	default:
		for range 1 + s.IntN(most) {
			s.shift(s.any(), nowhere)
		}
	}
	s.insertAll()
	return true
}

// any returns a random block.
func (s *search) any() *session { return s.movable[s.IntN(len(s.movable))] }

// anyPlace returns a random place for a block, half of the time with the present room or start.
func (s *search) anyPlace(of *session) place {
	at := of.choice(s.IntN(of.choices()))
	switch kind := s.IntN(4); {
	case of.at == nowhere:
	case kind == 0:
		at.room = of.at.room
	case kind == 1:
		at.start = of.at.start
	}
	return at
}

// shift moves a block, and notes the earlier place.
func (s *search) shift(of *session, to place) {
	if of.at != to {
		s.undo = append(s.undo, change{of, of.at})
		s.move(of, to)
	}
}

// displace moves a block to a place, and the blocks in the way to other places.
func (s *search) displace(of *session, at place) bool {
	_, found := s.judge(of, at, most)
	away := slices.Clone(found)
	for _, o := range away {
		if o.session.fixed || o.session.top == of || len(away) > most {
			return false
		}
	}
	for _, o := range away {
		s.shift(o.session.top, nowhere)
	}
	s.shift(of, at)
	s.insertAll()
	return true
}

// takeNear takes a block and blocks that are near in the same room from their places.
func (s *search) takeNear(of *session) {
	if of.at == nowhere {
		return
	}
	when, reach := of.span(of.at), int64(s.IntN(120))*minute
	for _, near := range slices.Clone(of.at.room.sessions) {
		if near.top == near && !near.fixed && when.overlaps(near.span(near.at), reach) {
			s.shift(near, nowhere)
		}
	}
}

// insertAll gives the blocks that the move has taken away, and some others without a place, the cheapest free place of
// some each, in a random order or the longest first.
func (s *search) insertAll() {
	var away []*session
	for _, c := range s.undo {
		if c.top.at == nowhere {
			away = append(away, c.top)
		}
	}
	if s.score.Unplaced/unplacedPoints > len(away) {
		for range most {
			if of := s.any(); of.at == nowhere && !slices.Contains(away, of) {
				away = append(away, of)
			}
		}
	}
	s.Shuffle(len(away), func(i, j int) { away[i], away[j] = away[j], away[i] })
	if s.IntN(2) == 0 {
		slices.SortStableFunc(away, func(x, y *session) int { return cmp.Compare(y.length, x.length) })
	}
	for _, of := range away {
		s.insert(of, samples)
	}
}

// insert gives a block without a place the cheapest free place of some. It overlooks a few, so that the cheapest is not always
// the same.
func (s *search) insert(of *session, n int) {
	cheapest, to := 0, nowhere
	for _, at := range s.candidates(of, n) {
		if s.IntN(overlooked) == 0 {
			continue
		}
		c, found := s.judge(of, at, 0)
		if cost := c.Total(); len(found) == 0 && (to == nowhere || cost < cheapest) {
			cheapest, to = cost, at
		}
	}
	s.shift(of, to)
}

// candidates returns all places of a block if they are few, or else n random places, and those in the gaps that the
// move has left.
func (s *search) candidates(of *session, n int) []place {
	s.places = s.places[:0]
	all, from := of.choices(), s.IntN(of.choices())
	for i := 0; i < all && all <= few; i++ {
		s.places = append(s.places, of.choice((from+i)%all))
	}
	for i := 0; i < n && all > few; i++ {
		s.places = append(s.places, of.choice(s.IntN(all)))
	}
	for _, c := range s.undo {
		i, _ := slices.BinarySearch(of.starts, c.was.start)
		for ; all > few && slices.Contains(of.rooms, c.was.room) && i < len(of.starts) && of.starts[i] < c.was.start+c.top.length; i++ {
			s.places = append(s.places, place{of.starts[i], c.was.room})
		}
	}
	return s.places
}
