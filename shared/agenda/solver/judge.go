package solver

import (
	"math"
	"slices"

	"lectern/shared/agenda/conflict"
)

// The penalties in minutes of an idle room: another day for a person is as bad as two hours of an idle room.
const unplacedPoints, warningPoints, trackPoints, clashPoints, dayPoints = 1_000_000, 240, 60, 60, 120

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

// energy returns the total of the score with another weight of a session without a place.
func (s *Score) energy(weight float64) float64 {
	return float64(s.Total()-s.Unplaced) + weight*float64(s.Unplaced/unplacedPoints)
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

// obstacle is a session whose block must move before another block may have a place.
type obstacle struct {
	session *session
	cause   string
}

// judge returns the difference that a place for a block without a place makes to the score, and the obstacles, with one for
// each block. The obstacles are right for a block with a place, too, and hold until the next call. More than enough in the
// room end the judgement early.
func (b *board) judge(top *session, at place, enough int) (c Score, found []obstacle) {
	b.found, b.enough = b.found[:0], enough
	for _, s := range top.block {
		b.judgeSession(s, place{at.start + s.offset, at.room}, &c)
	}
	return c, b.found
}

// judgeSession judges a session at a place.
func (b *board) judgeSession(s *session, at place, c *Score) {
	if !s.fixed {
		c.Unplaced -= unplacedPoints
	}
	day := b.dayOf(at.start)
	if at.room != nil {
		b.judgeRoom(s, at, day, c)
	}
	if len(b.found) > b.enough {
		return
	}
	for _, p := range s.people {
		b.judgePerson(s, p, s.span(at), day, c)
	}
	for _, r := range s.orders {
		b.judgeOrder(s, r, at, c)
	}
	if s.track != nil {
		b.judgeTrack(s, at, c)
	}
	c.Warnings += warningPoints * b.windowsOf(s.span(at)).warnings
}

// note notes a session in the way, unless another session of the block is in the way, too, or enough are.
func (b *board) note(s, other *session, cause string) {
	if b.counting || len(b.found) > b.enough {
		return
	}
	for _, o := range b.found {
		if o.session.top == other.top {
			return
		}
	}
	if other.top != s.top {
		b.found = append(b.found, obstacle{other, cause})
	}
}

// judgeRoom judges overlaps, seats and idle time of a room. The idle time on a day is the time from the first start to
// the last end, less the time of all sessions. A subsession has no time beside the time of the parent.
func (b *board) judgeRoom(s *session, at place, day int, c *Score) {
	when, was, busy := s.span(at), span{math.MaxInt64, math.MinInt64}, 0
	for _, other := range at.room.sessions {
		then := other.span(other.at)
		if when.overlaps(then, 0) && !conflict.Within(s.of, other.of) {
			if b.note(s, other, "the room is taken"); len(b.found) > b.enough {
				return
			}
		}
		if !other.isPart && other.day == day {
			was, busy = was.with(then), busy+then.minutes()
		}
	}
	if !s.isPart && day != noDay {
		c.Idle += max(0, was.with(when).minutes()-busy-when.minutes()) - max(0, was.minutes()-busy)
	}
	if missing := s.audience - at.room.seats; missing > 0 {
		if c.Seats += missing; b.mayBeSmall {
			c.Warnings += warningPoints
		}
	}
}

// judgePerson judges the other sessions of a person, and the days of the person.
func (b *board) judgePerson(s *session, p *group, when span, day int, c *Score) {
	sameDay, elsewhere := false, false
	for _, other := range p.sessions {
		sameDay, elsewhere = sameDay || other.day == day, elsewhere || other.day != noDay
		if other.at.start > never && !conflict.Within(s.of, other.of) {
			b.judgeGap(s, other, when, c)
		}
	}
	if elsewhere && !sameDay && day != noDay {
		c.Days += dayPoints
	}
}

// judgeGap judges the time between two sessions of a person. Subsessions of a parent need no gap.
func (b *board) judgeGap(s, other *session, when span, c *Score) {
	then := other.span(other.at)
	if when.overlaps(then, 0) {
		b.note(s, other, "a person of the session is on another session")
	} else if !conflict.Siblings(s.of, other.of) {
		for _, r := range b.gaps {
			if near := when.overlaps(then, r.Gap().Milliseconds()); near && r.Level == conflict.Error {
				b.note(s, other, "a person of the session has too short a gap")
			} else if near {
				c.Warnings += warningPoints
			}
		}
	}
}

// judgeOrder judges a rule of type order. An order within a block is judged once.
func (b *board) judgeOrder(s *session, r *conflict.Rule, at place, c *Score) {
	before, after := b.known[r.Before], b.known[r.After]
	first, then, other := before.span(before.at), after.at.start, before
	if s == before {
		first, other = s.span(at), after
	} else {
		then = at.start
	}
	if other.top == s.top {
		first, then = before.span(place{start: before.offset}), after.offset
	}
	switch broken := min(first.start, then) > never && first.end > then; {
	case !broken || other.top == s.top && s == after:
	case r.Level == conflict.Error && other.top == s.top:
		b.found = append(b.found, obstacle{other, orderBroken}) // The block has no place.
	case r.Level == conflict.Error:
		b.note(s, other, orderBroken)
	default:
		c.Warnings += warningPoints
	}
}

// judgeTrack judges the room of a track, and other sessions of the track at the same time. Subsessions are in no clash.
func (b *board) judgeTrack(s *session, at place, c *Score) {
	if at.room != nil && slices.Max(s.track.inRoom) > s.track.inRoom[at.room.number] {
		c.Tracks += trackPoints
		c.Warnings += warningPoints * s.track.warnings
	}
	for _, other := range s.track.sessions {
		if s.track.hard && other.at.room != nil && other.at.room != at.room && !other.fixed {
			b.note(s, other, "a rule of type track_in_one_room is broken")
		}
		if !s.isPart && !other.isPart && s.clashes(other, at) {
			c.Clashes += clashPoints
		}
	}
}

// clashes reports whether another session is at the same time as the session at a place.
func (s *session) clashes(other *session, at place) bool {
	return other.top != s.top && other.at.start > never && s.span(at).overlaps(other.span(other.at), 0)
}
