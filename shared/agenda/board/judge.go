package board

import (
	"math"
	"slices"
)

// Obstacle is a session that must move before another session may have a place.
type Obstacle struct {
	*Session
	cause string
}

// The causes of obstacles, as a reason names them.
const (
	roomTaken     = "the room is taken"
	personBusy    = "a person of the session is on another session"
	gapTooShort   = "a person of the session has too short a gap"
	orderBroken   = "a rule of type order is broken"
	trackMoved    = "a rule of type track_in_one_room is broken"
	parentOutside = "a subsession is not within the parent"
)

var causes = []string{roomTaken, personBusy, gapTooShort, orderBroken, trackMoved, parentOutside}

// span is a time with an end.
type span struct{ start, end int64 }

// span returns the time of a session at a place.
func (s *Session) span(at Place) span { return span{at.Start, at.Start + s.length} }

// IsStuckBeside reports whether an obstacle cannot give way to the session: a fixed session, or the parent.
func (s *Session) IsStuckBeside(o Obstacle) bool { return o.Fixed || o.Session == s.Parent }

// SameTrack returns the sessions of the track; nil without a track.
func (s *Session) SameTrack() []*Session {
	if s.track == nil {
		return nil
	}
	return s.track.sessions
}

// EndAt returns the end of the session at a place.
func (s *Session) EndAt(at Place) int64 { return s.span(at).end }

// overlaps reports whether two spans overlap, or are less than gap apart.
func (s span) overlaps(other span, gap int64) bool {
	return s.start < other.end+gap && other.start < s.end+gap
}

// minutes returns the minutes from start to end.
func (s span) minutes() int { return int(s.end/minute - s.start/minute) }

// Judge returns the difference that a place for a session without a place makes to the score, and the obstacles to the place. The
// obstacles hold until the next judgement. More obstacles in the room than enough end the judgement early.
func (b *Board) Judge(s *Session, at Place, enough int) (cost Score, obstacles []Obstacle) {
	b.obstacles = b.obstacles[:0]
	when, day := s.span(at), b.DayOf(at.Start)
	if at.Room != nil {
		if b.judgeRoom(s, at, day, &cost); len(b.obstacles) > enough {
			return cost, b.obstacles
		}
	}
	for _, p := range s.people {
		b.judgePerson(s, when, day, p, &cost)
	}
	for _, o := range s.orders {
		b.judgeOrder(s, at, o, &cost)
	}
	if s.track != nil {
		b.judgeTrack(s, at, &cost)
	}
	if s.Parent != nil && !s.within(at, s.Parent, s.Parent.At) {
		b.obstacles = append(b.obstacles, Obstacle{s.Parent, parentOutside})
	}
	for _, child := range s.children {
		if child.At != Nowhere && !child.within(child.At, s, at) {
			b.obstacles = append(b.obstacles, Obstacle{child, parentOutside})
		}
	}
	if cost.Warnings += warningPoints * b.verdict(when).warnings; !s.Fixed {
		cost.Unplaced -= UnplacedPoints
	}
	return cost, b.obstacles
}

// broken notes a broken rule: an obstacle for the level error, and otherwise a warning.
func (b *Board) broken(hard bool, o Obstacle, cost *Score) {
	if hard {
		b.obstacles = append(b.obstacles, o)
	} else {
		cost.Warnings += warningPoints
	}
}

// judgeRoom judges overlaps, seats and idle time of a room. The idle time on a day is the time from the first start to
// the last end, less the time of all sessions. A subsession has no time beside the time of the parent.
func (b *Board) judgeRoom(s *Session, at Place, day int, cost *Score) {
	when, was := s.span(at), span{math.MaxInt64, math.MinInt64}
	for _, other := range at.Room.Sessions {
		then := other.span(other.At)
		if when.overlaps(then, 0) && !related(s, other) {
			b.obstacles = append(b.obstacles, Obstacle{other, roomTaken})
		}
		if other.Parent == nil && other.Day == day {
			was.start, was.end = min(was.start, then.start), max(was.end, then.end)
		}
	}
	if s.Parent == nil && day != NoDay && was.start < was.end {
		cost.Idle = span{min(was.start, when.start), max(was.end, when.end)}.minutes() - was.minutes() - when.minutes()
	}
	if cost.Seats = max(0, s.audience-at.Room.seats); cost.Seats > 0 && b.mayBeSmall {
		cost.Warnings += warningPoints
	}
}

// related reports whether a session is a subsession of the other, or both are the same.
func related(s, other *Session) bool { return s == other || s.Parent == other || other.Parent == s }

// judgePerson judges the other sessions of a person, and the days of the person.
func (b *Board) judgePerson(s *Session, when span, day int, p *person, cost *Score) {
	elsewhere, sameDay := false, false
	for _, other := range p.sessions {
		sameDay, elsewhere = sameDay || other.Day == day, elsewhere || other.Day != NoDay
		if other.At.Start > never && !related(s, other) {
			b.judgeGap(s, when, other, cost)
		}
	}
	if elsewhere && !sameDay && day != NoDay {
		cost.Days += dayPoints
	}
}

// judgeGap judges the time between two sessions of a person. Subsessions of a parent need no gap.
func (b *Board) judgeGap(s *Session, when span, other *Session, cost *Score) {
	then := other.span(other.At)
	if when.overlaps(then, 0) {
		b.obstacles = append(b.obstacles, Obstacle{other, personBusy})
	} else if s.Session.Parent == "" || s.Session.Parent != other.Session.Parent {
		for _, g := range b.gaps {
			if when.overlaps(then, g.length) {
				b.broken(g.hard, Obstacle{other, gapTooShort}, cost)
			}
		}
	}
}

// judgeOrder judges a rule of type order.
func (b *Board) judgeOrder(s *Session, at Place, o order, cost *Score) {
	first, then, other := at.Start, o.after.At.Start, o.after
	if o.after == s {
		first, then, other = o.before.At.Start, at.Start, o.before
	}
	if min(first, then) > never && first+o.before.length > then {
		b.broken(o.hard, Obstacle{other, orderBroken}, cost)
	}
}

// judgeTrack judges the room of a track, and other sessions of the track at the same time. Subsessions are in no clash.
func (b *Board) judgeTrack(s *Session, at Place, cost *Score) {
	outside := at.Room != nil && slices.Max(s.track.inRoom) > s.track.inRoom[at.Room.number]
	if outside {
		cost.Tracks += trackPoints
		cost.Warnings += warningPoints * s.track.warnings
	}
	for _, other := range s.track.sessions {
		if elsewhere := other.At.Room != nil && other.At.Room != at.Room; s.track.hard && elsewhere && !other.Fixed {
			b.obstacles = append(b.obstacles, Obstacle{other, trackMoved})
		}
		tops := s != other && s.Parent == nil && other.Parent == nil
		if tops && s.span(at).overlaps(other.span(other.At), 0) {
			cost.Clashes += clashPoints
		}
	}
}

// within reports whether a subsession at a place is within the time and the room of the parent at a place.
func (s *Session) within(at Place, parent *Session, there Place) bool {
	when, outer := s.span(at), parent.span(there)
	return (there.Room == nil || there.Room == at.Room) && outer.start <= when.start && when.end <= outer.end
}
