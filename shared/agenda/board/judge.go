package board

import (
	"math"
	"slices"
	"time"

	"lectern/shared/agenda/block"
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

// Obstacle is a session whose block must move before another block may have a place.
type Obstacle struct {
	Session *block.Session
	Cause   string
}

// Judge returns the difference that a place for a block without a place makes to the score, and the obstacles, with one for
// each block. The difference is an estimate for a block with subsessions, which are judged without each other. The obstacles are
// right for a block with a place, too, and hold until the next call. More than enough end the judgement early.
func (b *Board) Judge(top *block.Session, at block.Place, enough int) (c Score, found []Obstacle) {
	b.found, b.enough = b.found[:0], enough
	for _, s := range top.Block {
		b.judgeSession(s, s.In(at), &c)
	}
	return c, b.found
}

// judgeSession judges a session at a place. The cheap judgements come first.
func (b *Board) judgeSession(s *block.Session, at block.Place, c *Score) {
	if !s.Fixed {
		c.Unplaced -= UnplacedPoints
	}
	if at.Room != nil {
		b.judgeTime(s, at, c)
		b.judgeRoom(s, at.Room, c)
	}
	if len(b.found) > b.enough {
		return
	}
	for _, ban := range b.bansOf(s) {
		if ban.from > at.Start || at.Start >= ban.until {
			continue
		}
		switch ban.kind {
		case warned:
			c.Warnings += warningPoints
		case clash:
			c.Clashes += clashPoints
		case otherDay:
			c.Days += dayPoints
		default:
			b.note(ban.with, causes[ban.kind])
		}
	}
	c.Warnings += warningPoints * b.Outside(s.Span(at)).Warnings
}

// WindowPoints returns the points of rules of type time_window for a block at a place.
func (b *Board) WindowPoints(top *block.Session, at block.Place) (sum int) {
	for _, s := range top.Block {
		sum += warningPoints * b.Outside(s.Span(s.In(at))).Warnings
	}
	return sum
}

// note notes a session in the way, unless another session of its block is in the way, too, or enough are.
func (b *Board) note(other *block.Session, cause string) {
	if b.counting || len(b.found) > b.enough {
		return
	}
	for _, o := range b.found {
		if o.Session.Top == other.Top {
			return
		}
	}
	b.found = append(b.found, Obstacle{other, cause})
}

// judgeTime judges overlaps and idle time in a room.
func (b *Board) judgeTime(s *block.Session, at block.Place, c *Score) {
	when, day, used := s.Span(at), b.DayOf(at.Start), unused
	for _, other := range b.near(at.Room, when, day) {
		then := other.Span(other.At)
		if when.Overlaps(then, 0) && other.Top != s.Top && !conflict.Within(s.Of, other.Of) {
			if b.note(other, "the room is taken"); len(b.found) > b.enough {
				return
			}
		}
		if !other.IsPart && other.Day == day {
			used.add(other)
		}
	}
	if !s.IsPart && day != block.NoDay {
		c.Idle += used.Idle(when)
	}
}

// near returns the sessions of a room that a span may overlap, and those of its day.
func (b *Board) near(r *block.Room, when block.Span, day int) []*block.Session {
	if day != block.NoDay {
		when = when.With(b.Days[day])
	}
	return r.Sessions[r.First(when.Start-r.Longest):r.First(when.End)]
}

// Usage is the use of a room on a day: the time from the first start to the last end, and the minutes of all sessions. A
// subsession has no time beside the time of the parent.
type Usage struct {
	when block.Span
	busy int
}

var unused = Usage{when: block.Span{Start: math.MaxInt64, End: math.MinInt64}}

// add adds a session.
func (u *Usage) add(s *block.Session) { u.when, u.busy = u.when.With(s.Span(s.At)), u.busy+s.Busy }

// Idle returns the idle minutes that one more session makes.
func (u *Usage) Idle(when block.Span) int {
	return max(0, u.when.With(when).Minutes()-u.busy-when.Minutes()) - max(0, u.when.Minutes()-u.busy)
}

// judgeRoom judges the seats of a room, and the track of a session there.
func (b *Board) judgeRoom(s *block.Session, r *block.Room, c *Score) {
	if missing := s.Audience - r.Seats; missing > 0 {
		if c.Seats += missing; b.MayBeSmall {
			c.Warnings += warningPoints
		}
	}
	if s.Track == nil || s.Roomless {
		return
	}
	if slices.Max(s.Track.InRoom) > s.Track.InRoom[r.Number] {
		c.Tracks += trackPoints
		c.Warnings += warningPoints * s.Track.Warnings
	}
	for _, other := range s.Track.HeldToOneRoom() {
		if other.At.Room != nil && other.At.Room != r && !other.Fixed && other.Top != s.Top {
			b.note(other, "a rule of type track_in_one_room is broken")
		}
	}
}

// Broken are the numbers of broken rules by level.
type Broken struct{ Errors, Warnings int }

// mostKnown bounds the memory for spans.
const mostKnown = 200_000

// Outside returns how many rules of type time_window a span breaks.
func (b *Board) Outside(when block.Span) (n Broken) {
	if len(b.Windows) == 0 || when.Start <= block.Never {
		return n
	}
	n, known := b.outside[when]
	if known {
		return n
	}
	local := conflict.LocalOf(time.UnixMilli(when.Start), time.UnixMilli(when.End), b.Zone)
	for _, r := range b.Windows {
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
