package solver

import "math"

// The penalties in minutes of an idle room: another day for a speaker is as bad as two hours of an idle room.
const (
	unplacedPoints = 1_000_000
	warningPoints  = 240
	trackPoints    = 60
	clashPoints    = 60
	dayPoints      = 120
)

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

// cost returns the difference to the score that a session without a place makes at a place. Subsessions have neither
// clashes nor idle time of their own.
func (b *board) cost(i int, at place) (c Score) {
	s, when, day := &b.sessions[i], b.sessions[i].span(at.start), b.day(at.start)
	if !s.fixed {
		c.Unplaced = -unplacedPoints
	}
	warnings := b.verdict(when).warnings + b.broken(i, at)
	for _, person := range s.people {
		warnings += b.shortGaps(i, when, b.people[person])
		c.Days += dayPoints * b.moreDays(day, b.people[person])
	}
	if s.track != absent && at.room != absent && b.outside(s.track, at.room) {
		c.Tracks = trackPoints
		warnings += b.tracks[s.track].warnings
	}
	if at.room != absent && s.audience > b.rooms[at.room].seats {
		c.Seats = s.audience - b.rooms[at.room].seats
		if b.mayBeSmall {
			warnings++
		}
	}
	if s.parent == absent && s.track != absent {
		c.Clashes = clashPoints * b.clashes(when, b.tracks[s.track].sessions)
	}
	if s.parent == absent && at.room != absent && day != absent {
		c.Idle = b.moreIdle(when, day, b.inRoom[at.room])
	}
	c.Warnings = warningPoints * warnings
	return c
}

// broken counts the orders of level warning that a session breaks at a place.
func (b *board) broken(i int, at place) (n int) {
	for _, o := range b.sessions[i].orders {
		if !o.hard && b.breaks(o, i, at) {
			n++
		}
	}
	return n
}

// shortGaps counts the gaps to other sessions that are shorter than a rule of level warning asks for.
func (b *board) shortGaps(i int, when span, others []int) (n int) {
	for _, gap := range b.warnedGaps {
		for _, other := range others {
			then := b.span(other)
			if b.at[other] != nowhere && when.overlaps(then, gap) && !when.overlaps(then, 0) && !b.siblings(i, other) && !b.family(i, other) {
				n++
			}
		}
	}
	return n
}

// moreDays returns 1 for a day without sessions of a person who has sessions on other days.
func (b *board) moreDays(day int, others []int) (n int) {
	for _, other := range others {
		if on := b.day(b.at[other].start); on == day {
			return 0
		} else if on != absent {
			n = 1
		}
	}
	return n
}

// outside reports whether another room has more sessions of a track.
func (b *board) outside(track, room int) bool {
	for _, count := range b.count[track] {
		if count > b.count[track][room] {
			return true
		}
	}
	return false
}

// clashes counts the sessions of a track that overlap a span.
func (b *board) clashes(when span, others []int) (n int) {
	for _, other := range others {
		if b.at[other] != nowhere && b.sessions[other].parent == absent && when.overlaps(b.span(other), 0) {
			n++
		}
	}
	return n
}

// moreIdle returns the difference to the idle minutes of a room that one more session makes on a day: the time from
// the first to the last session grows, less the time of the session.
func (b *board) moreIdle(when span, day int, others []int) int {
	was := span{math.MaxInt64, math.MinInt64}
	for _, other := range others {
		if b.sessions[other].parent == absent && b.day(b.at[other].start) == day {
			was.start, was.end = min(was.start, b.span(other).start), max(was.end, b.span(other).end)
		}
	}
	if was.end < was.start {
		return 0
	}
	is := span{min(was.start, when.start), max(was.end, when.end)}
	return is.minutes() - was.minutes() - when.minutes()
}

// minutes returns the length between the minutes of start and end.
func (s span) minutes() int { return int(s.end/minute - s.start/minute) }
