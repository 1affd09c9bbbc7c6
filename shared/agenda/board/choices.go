package board

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lectern/shared/agenda/conflict"
)

// Starts returns the times when a session may start at present.
func (b *Board) Starts(s *Session) []int64 {
	if s.Parent != nil {
		return b.startsOf(s)
	}
	return s.starts
}

// startsOf returns the times when a session may start: the kept time; for a subsession the start of the parent and the
// ends of the other subsessions; otherwise the slots of each day.
func (b *Board) startsOf(s *Session) (starts []int64) {
	switch {
	case s.keepsTime:
		starts = append(starts, s.Starts.UnixMilli())
	case s.Parent != nil:
		starts = append(starts, s.Parent.At.Start)
		for _, other := range s.Parent.children {
			starts = append(starts, other.span(other.At).end)
		}
	default:
		for _, d := range b.days {
			for start := d.start; start < d.end; start += max(b.Slot.Milliseconds(), minute) {
				starts = append(starts, start)
			}
		}
	}
	return slices.DeleteFunc(starts, func(start int64) bool { return b.forbidden(s.span(Place{Start: start})) })
}

// forbidden reports whether no session may take a span: outside of the days, or of a time_window of level error.
func (b *Board) forbidden(when span) bool {
	day := b.DayOf(when.start)
	return day == NoDay || when.end > b.days[day].end || b.verdict(when).forbidden
}

// DayOf returns the number of the day of a time.
func (b *Board) DayOf(start int64) int {
	for i, d := range b.days {
		if d.start <= start && start < d.end {
			return i
		}
	}
	return NoDay
}

// verdict says how the rules of type time_window judge a span.
type verdict struct {
	forbidden bool
	warnings  int
}

// verdict returns how the rules of type time_window judge a span.
func (b *Board) verdict(when span) verdict {
	v, known := b.verdicts[when]
	if known {
		return v
	}
	s := &conflict.Session{Starts: time.UnixMilli(when.start), Ends: time.UnixMilli(when.end)}
	for i := range b.Rules {
		if r := &b.Rules[i]; !r.Allows(s, b.Zone) && r.Level == conflict.Error {
			v.forbidden = true
		} else if !r.Allows(s, b.Zone) {
			v.warnings++
		}
	}
	b.verdicts[when] = v
	return v
}

// roomsOf returns the rooms for a session: the kept room, or the rooms of the problem, with enough seats. A rule of type
// track_in_one_room and level error asks for the room with most fixed sessions of the track.
func (b *Board) roomsOf(s *Session) (rooms []*Room) {
	keeps := (b.Keep == KeepRooms || b.Keep == KeepBoth) && slices.ContainsFunc(b.rooms, s.isIn)
	for _, r := range b.rooms {
		wanted := keeps && s.isIn(r) || !keeps && (len(b.RoomIDs) == 0 || slices.Contains(b.RoomIDs, r.ID))
		if wanted && !s.mustNotUse(r) && (b.mayBeSmall || r.seats >= s.audience) {
			rooms = append(rooms, r)
		}
	}
	return rooms
}

// mustNotUse reports whether a rule of level error asks for another room for the track, by the fixed sessions.
func (s *Session) mustNotUse(r *Room) bool {
	return s.track != nil && s.track.hard && slices.Max(s.track.inRoom) > s.track.inRoom[r.number]
}

// isIn reports whether a room is the room of the session outside of the board.
func (s *Session) isIn(r *Room) bool { return s.Room == r.ID }

// Places returns all places for a session at present, with obstacles or without.
func (b *Board) Places(s *Session) (places []Place) {
	for _, start := range b.Starts(s) {
		for _, room := range s.Rooms {
			places = append(places, Place{start, room})
		}
	}
	return places
}

// Choices returns the number of places for a session that is no subsession.
func (s *Session) Choices() int { return len(s.starts) * len(s.Rooms) }

// Reason says why a session has no place.
func (b *Board) Reason(s *Session) string {
	starts := b.Starts(s)
	switch {
	case s.Parent != nil && s.Parent.At.Start <= never:
		return "The parent session has no place."
	case len(starts) == 0 && s.keepsTime:
		return "The session keeps times that are outside of the days or break a rule of type time_window."
	case len(starts) == 0:
		return fmt.Sprintf("The days and the rules of type time_window leave no slot of %d minutes.", s.span(Place{}).minutes())
	case len(s.Rooms) == 0:
		return fmt.Sprintf("No room that the session may have has %d seats and keeps the rules of type track_in_one_room.", s.audience)
	}
	times, by := map[string]int{}, map[string]string{}
	for _, at := range b.Places(s) {
		_, obstacles := b.Judge(s, at, len(b.Sessions))
		if len(obstacles) == 0 {
			return "The time was over before the session had a place."
		}
		for _, o := range obstacles {
			times[o.cause]++
			by[o.cause] = o.Name
		}
	}
	var parts []string
	for _, cause := range causes {
		if n := times[cause]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s (%d times, for example by %s)", cause, n, by[cause]))
		}
	}
	return "No place is free: " + strings.Join(parts, "; ") + "."
}
