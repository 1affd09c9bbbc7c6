package instance

import (
	"slices"
	"time"

	"lectern/shared/agenda/block"
	"lectern/shared/agenda/board"
	"lectern/shared/agenda/conflict"
	"lectern/shared/agenda/solver"
)

// Score returns the score of a problem with places for some sessions, counted from the beginning by comparing all pairs.
func Score(p solver.Problem, placed []*conflict.Session) board.Score {
	c := counter{Problem: p, all: fixed(p)}
	c.score.Unplaced = 1_000_000 * (len(p.Agenda.Sessions) - len(c.all) - len(placed))
	c.all = append(c.all, placed...)
	for i, s := range c.all {
		c.alone(s)
		for _, other := range c.all[:i] {
			c.pair(s, other)
		}
	}
	c.tracks()
	c.personDays()
	c.idle()
	return c.score
}

// counter counts the score of an agenda.
type counter struct {
	solver.Problem
	all   []*conflict.Session
	score board.Score
}

// fixed returns the sessions that stay: all but the sessions to place, their parents and the subsessions of both.
func fixed(p solver.Problem) (all []*conflict.Session) {
	top := func(s *conflict.Session) string {
		if parent := ParentOf(p, s); parent != nil {
			return parent.ID
		}
		return s.ID
	}
	moved := map[string]bool{}
	for _, s := range p.Agenda.Sessions {
		moved[top(s)] = moved[top(s)] || slices.Contains(p.SessionIDs, s.ID)
	}
	for _, s := range p.Agenda.Sessions {
		if !moved[top(s)] {
			all = append(all, s)
		}
	}
	return all
}

// ParentOf returns the parent of a subsession; nil for a parent that is not on the agenda or is a subsession.
func ParentOf(p solver.Problem, s *conflict.Session) *conflict.Session {
	parent := byID(p, s.Parent)
	if parent == nil || byID(p, parent.Parent) != nil {
		return nil
	}
	return parent
}

func byID(p solver.Problem, id string) *conflict.Session {
	for _, s := range p.Agenda.Sessions {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// warn counts warnings of the rules of level warning.
func (c *counter) warn(r *conflict.Rule, broken bool) {
	if broken && r.Level == conflict.Warning {
		c.score.Warnings += 240
	}
}

// alone counts the windows and the seats of a session.
func (c *counter) alone(s *conflict.Session) {
	capacity := (*conflict.Rule)(nil)
	for i := range c.Agenda.Rules {
		r := &c.Agenda.Rules[i]
		c.warn(r, r.Type == "time_window" && s.TakesTime() && !r.Allows(conflict.LocalOf(s.Starts, s.Ends, c.Agenda.Zone)))
		if r.Type == "room_capacity" && capacity == nil {
			capacity = r
		}
	}
	room := c.Agenda.Rooms[s.Room]
	if room.Capacity != nil && s.Audience != nil && *s.Audience > *room.Capacity {
		c.score.Seats += *s.Audience - *room.Capacity
		if capacity != nil {
			c.warn(capacity, true)
		}
	}
}

// pair counts the order, the clash and the gaps of two sessions.
func (c *counter) pair(a, b *conflict.Session) {
	if !a.TakesTime() || !b.TakesTime() {
		return
	}
	for i := range c.Agenda.Rules {
		r := &c.Agenda.Rules[i]
		c.warn(r, breaks(r, a, b) || breaks(r, b, a))
	}
	if !a.Starts.Before(b.Ends) || !b.Starts.Before(a.Ends) {
		c.gaps(a, b)
	} else if a.Track != "" && a.Track == b.Track && !c.isPart(a) && !c.isPart(b) {
		c.score.Clashes += 60
	}
}

// breaks reports whether two sessions in an order break the order.
func breaks(r *conflict.Rule, first, then *conflict.Session) bool {
	return first.ID == r.Before && then.ID == r.After && first.Ends.After(then.Starts)
}

// gaps counts the gaps of people between two sessions.
func (c *counter) gaps(a, b *conflict.Session) {
	if a.Parent == b.ID || b.Parent == a.ID || a.Parent != "" && a.Parent == b.Parent {
		return
	}
	between := max(a.Starts.Sub(b.Ends), b.Starts.Sub(a.Ends))
	for _, person := range slices.Compact(slices.Sorted(slices.Values(a.People))) {
		for i := range c.Agenda.Rules {
			c.warn(&c.Agenda.Rules[i], slices.Contains(b.People, person) && between < c.Agenda.Rules[i].Gap())
		}
	}
}

// isPart reports whether a session is a subsession of the agenda.
func (c *counter) isPart(s *conflict.Session) bool { return ParentOf(c.Problem, s) != nil }

// tracks counts the sessions of each track outside of the room of most.
func (c *counter) tracks() {
	count := map[string]map[string]int{}
	for _, s := range c.all {
		if _, known := c.Agenda.Rooms[s.Room]; known && s.Track != "" {
			if count[s.Track] == nil {
				count[s.Track] = map[string]int{}
			}
			count[s.Track][s.Room]++
		}
	}
	for track, rooms := range count {
		all, most := 0, 0
		for _, n := range rooms {
			all, most = all+n, max(most, n)
		}
		for range all - most {
			c.score.Tracks += 60
			for i := range c.Agenda.Rules {
				c.warn(&c.Agenda.Rules[i], c.Agenda.Rules[i].Track == track)
			}
		}
	}
}

// dayOf returns the day of a session; absent for a session on another day.
func (c *counter) dayOf(s *conflict.Session) int {
	return slices.IndexFunc(c.Days, func(d block.Day) bool {
		return s.TakesTime() && !s.Starts.Before(d.Starts) && s.Starts.Before(d.Ends)
	})
}

// personDays counts the days of each person after the first.
func (c *counter) personDays() {
	days := map[string]map[int]bool{}
	for _, s := range c.all {
		for _, person := range s.People {
			if days[person] == nil {
				days[person] = map[int]bool{}
			}
			if day := c.dayOf(s); day >= 0 {
				days[person][day] = true
			}
		}
	}
	for _, on := range days {
		c.score.Days += 120 * max(0, len(on)-1)
	}
}

// idle counts the minutes of each room and day between the first start and the last end, less the minutes of sessions; none
// where sessions that stay overlap more than that.
func (c *counter) idle() {
	type key struct {
		room string
		day  int
	}
	in := map[key][]*conflict.Session{}
	for _, s := range c.all {
		if _, known := c.Agenda.Rooms[s.Room]; known && c.dayOf(s) >= 0 && !c.isPart(s) {
			in[key{s.Room, c.dayOf(s)}] = append(in[key{s.Room, c.dayOf(s)}], s)
		}
	}
	for _, sessions := range in {
		first, last, busy := sessions[0].Starts, sessions[0].Ends, 0
		for _, s := range sessions {
			if s.Starts.Before(first) {
				first = s.Starts
			}
			if s.Ends.After(last) {
				last = s.Ends
			}
			busy += minutes(s.Starts, s.Ends)
		}
		c.score.Idle += max(0, minutes(first, last)-busy)
	}
}

// minutes returns the minutes from a start to an end, each rounded down.
func minutes(from, to time.Time) int { return int(to.Unix()/60 - from.Unix()/60) }
