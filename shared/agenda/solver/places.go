package solver

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"lectern/shared/agenda/block"
	"lectern/shared/agenda/board"
)

// gap is a time in a room that is free for a block: the starts from number first to number last.
type gap struct{ first, last int }

// least returns the points of a block beside the fixed sessions in the cheapest room, and those of the start if it is the only one.
func (s *search) least(of *block.Session) int {
	points := board.Forbidden
	for _, r := range of.Rooms {
		inRoom, _ := s.RoomPoints(of, r)
		points = min(points, inRoom)
	}
	if len(of.Starts.Times) > 1 {
		return points
	}
	atStart := s.StartPoints(of)[0]
	if atStart >= board.Forbidden { // The block never has a place.
		return points
	}
	return points + atStart + s.WindowPoints(of, of.Choice(0))
}

// insert gives a block without a place the cheapest free place.
func (s *search) insert(of *block.Session) { s.shift(of, s.cheapest(of).to) }

// cheapest returns the cheapest free place for a block without a place, and a random place of several such. The comparison leaves out
// a few places, so that the cheapest is not always the same.
func (s *search) cheapest(of *block.Session) choice {
	c := choice{search: s, of: of, byStart: s.StartPoints(of), points: board.Forbidden, to: block.Nowhere}
	for _, r := range of.Rooms {
		if inRoom, free := s.RoomPoints(of, r); free && inRoom-mostIdle(of) <= c.points {
			c.compare(r, inRoom)
		}
	}
	return c
}

// choice is the cheapest place so far. equal is the number of such places.
type choice struct {
	*search
	of            *block.Session
	byStart       []int
	points, equal int
	to            block.Place
}

// compare compares the places in the gaps of a room: all places, or the first and the last of each gap and some between.
func (c *choice) compare(r *block.Room, inRoom int) {
	starts, usage, day, step := c.of.Starts.Times, c.UsageOf(r), 0, 1+c.IntN(1+(c.of.Choices()-1)/mostPlaces)
	for _, g := range c.gapsIn(r, c.of) {
		for i := g.first; i <= g.last; i = max(i+1, min(i+step, g.last)) {
			points := inRoom + c.byStart[i]
			if c.byStart[i] >= board.Forbidden || points-mostIdle(c.of) > c.points {
				continue
			}
			for starts[i] >= c.Days[day].End {
				day++
			}
			at := block.Place{Start: starts[i], Room: r}
			if points += usage[day].Idle(c.of.Span(at)); points <= c.points {
				c.take(at, points)
			}
		}
	}
}

// mostIdle returns the most idle minutes that a block can fill. Starts and ends are rounded to minutes.
func mostIdle(of *block.Session) int { return int(of.Length/block.Minute) + 1 }

// take notes a place that is not dearer than the cheapest so far, unless rules of type time_window make it so.
func (c *choice) take(at block.Place, points int) {
	if c.IntN(overlooked) == 0 {
		return
	}
	if points += c.WindowPoints(c.of, at); points > c.points {
		return
	}
	if points < c.points {
		c.points, c.equal = points, 0
	}
	if c.equal++; c.IntN(c.equal) == 0 {
		c.to = at
	}
}

// gapsIn returns the gaps in a room between all sessions but the block. They hold until the next call.
func (s *search) gapsIn(r *block.Room, of *block.Session) []gap {
	s.gaps = s.gaps[:0]
	free := block.Nowhere.Start // the end of the sessions so far
	for i := 0; i <= len(r.Sessions); i++ {
		next := int64(math.MaxInt64)
		if i < len(r.Sessions) {
			next = r.Sessions[i].At.Start
		}
		if latest := next - of.Length; latest >= free {
			if first, end := of.Starts.First(free), of.Starts.First(latest+1); first < end {
				s.gaps = append(s.gaps, gap{first, end - 1})
			}
		}
		if i < len(r.Sessions) {
			free = max(free, next+r.Sessions[i].Length)
		}
	}
	return s.gaps
}

// The reasons for a session without a place.
const (
	parentUnplaced = "The parent session has no place."
	noTime         = "The search ended before the session had a place."
)

// mostJudged is how many places are judged for a reason, and mostCauses how many obstacles of each are looked at.
const mostJudged, mostCauses = 1000, 20

// explain gives a block a free place, or says why none of its places is free. Of more than mostJudged places it looks at
// random ones.
func (s *search) explain(of *block.Session) string {
	times, by, judged := map[string]int{}, map[string]string{}, 0
	for i := range min(of.Choices(), mostJudged) {
		if of.Choices() > mostJudged {
			i = s.IntN(of.Choices())
		}
		_, found := s.Judge(of, of.Choice(i), mostCauses)
		if len(found) == 0 {
			s.Move(of, of.Choice(i))
			return ""
		}
		if judged++; judged%64 == 1 && s.over() {
			return noTime
		}
		for _, o := range found {
			times[o.Cause]++
			by[o.Cause] = o.Session.Of.Name
		}
	}
	var parts []string
	for _, cause := range slices.Sorted(maps.Keys(times)) {
		parts = append(parts, fmt.Sprintf("%s (%d times in %d places, for example by %s)", cause, times[cause], judged, by[cause]))
	}
	return "No place is free: " + strings.Join(parts, "; ") + "."
}
