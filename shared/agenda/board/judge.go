package board

import (
	"math"
	"slices"
	"time"

	"lectern/shared/agenda/conflict"
)

// UnplacedPoints is the penalty for a session without a place.
const UnplacedPoints = 1_000_000

// The other penalties in minutes of an idle room: another day for a person is as bad as two hours of an idle room.
const warningPoints, trackPoints, clashPoints, dayPoints = 240, 60, 60, 120

// Score has the penalties of an agenda by part, fixed sessions included.
type Score struct {
	Unplaced int `json:"unplaced" doc:"1,000,000 for each session without a place."`
	Warnings int `json:"warnings" doc:"240 for each broken rule of level warning; a short gap counts for each person."`
	Tracks   int `json:"tracks" doc:"60 for each session outside of the room with most sessions of the track."`
	Clashes  int `json:"clashes" doc:"60 for each two sessions of a track at one time."`
	Seats    int `json:"seats" doc:"1 for each seat that a room lacks."`
	Idle     int `json:"idle" doc:"1 for each minute that a room is idle between two sessions of a day."`
	Days     int `json:"days" doc:"120 for each day of a person after the first."`
}

// Total returns the sum of the parts.
func (s *Score) Total() int {
	return s.Unplaced + s.Warnings + s.Tracks + s.Clashes + s.Seats + s.Idle + s.Days
}

// Energy returns the total of the score with another weight of a session without a place.
func (s *Score) Energy(weight float64) float64 {
	return float64(s.Total()-s.Unplaced) + weight*float64(s.Unplaced/UnplacedPoints)
}

// add adds another score, times a sign.
func (s *Score) add(other Score, sign int) {
	s.Unplaced += sign * other.Unplaced
	s.Warnings += sign * other.Warnings
	s.Tracks += sign * other.Tracks
	s.Clashes += sign * other.Clashes
	s.Seats += sign * other.Seats
	s.Idle += sign * other.Idle
	s.Days += sign * other.Days
}

const orderBroken = "a rule of type order is broken"

// Obstacle is a session whose block must move before another block may have a place.
type Obstacle struct {
	Session *Session
	Cause   string
}

// Judge returns the difference that a place for a block without a place makes to the score, and the obstacles, with one for
// each block. The difference is an estimate for a block with subsessions, which are judged without each other. The obstacles are
// right for a block with a place, too, and hold until the next call. More than enough end the judgement early.
func (b *Board) Judge(top *Session, at Place, enough int) (c Score, found []Obstacle) {
	b.found, b.enough = b.found[:0], enough
	for _, s := range top.Block {
		b.judgeSession(s, s.in(at), &c)
	}
	return c, b.found
}

// Cheaper returns the points that a place for a block without a place adds, and reports whether the place is free and adds
// fewer points than the limit. Only then are the points right.
func (b *Board) Cheaper(top *Session, at Place, limit int) (points int, cheaper bool) {
	b.limit = limit
	c, found := b.Judge(top, at, 0)
	b.limit = math.MaxInt
	points = c.Total() - c.Unplaced
	return points, len(found) == 0 && points < limit
}

// judgeSession judges a session at a place. The cheap judgements come first.
func (b *Board) judgeSession(s *Session, at Place, c *Score) {
	if !s.Fixed {
		c.Unplaced -= UnplacedPoints
	}
	day := b.DayOf(at.Start)
	if at.Room != nil {
		b.judgeRoom(s, at, day, c)
	}
	if s.track != nil {
		b.judgeTrack(s, at, c)
	}
	if b.isDecided(c) {
		return
	}
	for _, p := range s.People {
		b.judgePerson(s, p, s.Span(at), day, c)
	}
	for _, r := range s.orders {
		b.judgeOrder(s, r, at, c)
	}
	if !b.isDecided(c) {
		c.Warnings += warningPoints * b.Windows(s.Span(at)).Warnings
	}
}

// isDecided reports whether more than enough obstacles are found, or the limit of points is reached. Judgements after that of
// the room only add points.
func (b *Board) isDecided(c *Score) bool {
	return len(b.found) > b.enough || c.Total()-c.Unplaced >= b.limit
}

// note notes a session in the way, unless another session of the block is in the way, too, or enough are.
func (b *Board) note(s, other *Session, cause string) {
	if b.counting || len(b.found) > b.enough {
		return
	}
	for _, o := range b.found {
		if o.Session.Top == other.Top {
			return
		}
	}
	if other.Top != s.Top {
		b.found = append(b.found, Obstacle{other, cause})
	}
}

// judgeRoom judges overlaps, seats and idle time of a room. The idle time on a day is the time from the first start to
// the last end, less the time of all sessions. A subsession has no time beside the time of the parent.
func (b *Board) judgeRoom(s *Session, at Place, day int, c *Score) {
	when, was, busy := s.Span(at), Span{math.MaxInt64, math.MinInt64}, 0
	for _, other := range b.near(at.Room, when, day) {
		then := other.Span(other.At)
		if when.Overlaps(then, 0) && !conflict.Within(s.Of, other.Of) {
			if b.note(s, other, "the room is taken"); len(b.found) > b.enough {
				return
			}
		}
		if !other.isPart && other.day == day {
			was, busy = was.with(then), busy+other.busy
		}
	}
	if !s.isPart && day != NoDay {
		c.Idle += max(0, was.with(when).minutes()-busy-when.minutes()) - max(0, was.minutes()-busy)
	}
	if missing := s.audience - at.Room.seats; missing > 0 {
		if c.Seats += missing; b.mayBeSmall {
			c.Warnings += warningPoints
		}
	}
}

// near returns the sessions of a room that a span may overlap, and those of its day.
func (b *Board) near(r *Room, when Span, day int) []*Session {
	if day != NoDay {
		when = when.with(b.Days[day])
	}
	return r.Sessions[r.first(when.Start-r.longest):r.first(when.End)]
}

// judgePerson judges the other sessions of a person, and the days of the person.
func (b *Board) judgePerson(s *Session, p *group, when Span, day int, c *Score) {
	sameDay, elsewhere := false, false
	for _, other := range p.sessions {
		sameDay, elsewhere = sameDay || other.day == day, elsewhere || other.day != NoDay
		if other.At.Start > never && !conflict.Within(s.Of, other.Of) {
			b.judgeGap(s, other, when, c)
		}
	}
	if elsewhere && !sameDay && day != NoDay {
		c.Days += dayPoints
	}
}

// judgeGap judges the time between two sessions of a person. Subsessions of a parent need no gap.
func (b *Board) judgeGap(s, other *Session, when Span, c *Score) {
	then := other.Span(other.At)
	if when.Overlaps(then, 0) {
		b.note(s, other, "a person of the session is on another session")
	} else if !conflict.Siblings(s.Of, other.Of) {
		for _, gap := range b.gaps {
			if near := when.Overlaps(then, gap.time); near && gap.hard {
				b.note(s, other, "a person of the session has too short a gap")
			} else if near {
				c.Warnings += warningPoints
			}
		}
	}
}

// judgeOrder judges a rule of type order. An order within a block is judged once.
func (b *Board) judgeOrder(s *Session, r *conflict.Rule, at Place, c *Score) {
	before, after := b.known[r.Before], b.known[r.After]
	first, then, other := before.Span(before.At), after.At.Start, before
	if s == before {
		first, other = s.Span(at), after
	} else {
		then = at.Start
	}
	if other.Top == s.Top {
		first, then = before.Span(Place{Start: before.Offset}), after.Offset
	}
	switch broken := min(first.Start, then) > never && first.End > then; {
	case !broken || other.Top == s.Top && s == after:
	case r.Level == conflict.Error && other.Top == s.Top:
		b.found = append(b.found, Obstacle{other, orderBroken}) // The block has no place.
	case r.Level == conflict.Error:
		b.note(s, other, orderBroken)
	default:
		c.Warnings += warningPoints
	}
}

// judgeTrack judges the room of a track, and other sessions of the track at the same time. Subsessions are in no clash.
func (b *Board) judgeTrack(s *Session, at Place, c *Score) {
	if at.Room != nil && slices.Max(s.track.inRoom) > s.track.inRoom[at.Room.number] {
		c.Tracks += trackPoints
		c.Warnings += warningPoints * s.track.warnings
	}
	if b.isDecided(c) {
		return
	}
	for _, other := range s.track.sessions {
		if s.track.hard && other.At.Room != nil && other.At.Room != at.Room && !other.Fixed {
			b.note(s, other, "a rule of type track_in_one_room is broken")
		}
		if !s.isPart && !other.isPart && s.clashes(other, at) {
			c.Clashes += clashPoints
		}
	}
}

// clashes reports whether another session is at the same time as the session at a place.
func (s *Session) clashes(other *Session, at Place) bool {
	return other.Top != s.Top && other.At.Start > never && s.Span(at).Overlaps(other.Span(other.At), 0)
}

// Suits reports whether a room has enough seats for the sessions of a block, and for a rule of type track_in_one_room and level
// error most fixed sessions of the track.
func (b *Board) Suits(r *Room, block []*Session) bool {
	for _, s := range block {
		t := s.track
		if r.seats < s.audience && !b.mayBeSmall || t != nil && t.hard && t.inRoom[r.number] < slices.Max(t.inRoom) {
			return false
		}
	}
	return true
}

// Broken are the numbers of broken rules by level.
type Broken struct{ Errors, Warnings int }

// mostKnown bounds the memory for spans.
const mostKnown = 200_000

// Windows returns how many rules of type time_window a span breaks.
func (b *Board) Windows(when Span) Broken {
	n, known := b.outside[when]
	if known || len(b.windows) == 0 || when.Start <= never {
		return n
	}
	local := conflict.LocalOf(time.UnixMilli(when.Start), time.UnixMilli(when.End), b.agenda.Zone)
	for _, r := range b.windows {
		if allowed := r.Allows(local); !allowed && r.Level == conflict.Error {
			n.Errors++
		} else if !allowed {
			n.Warnings++
		}
	}
	if len(b.outside) == mostKnown {
		clear(b.outside)
	}
	b.outside[when] = n
	return n
}
