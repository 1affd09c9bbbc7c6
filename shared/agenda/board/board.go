// Package board has the sessions of an agenda at their places, and says what a place costs: the difference to the score, and the
// sessions in the way (docs/decisions/0050). A search moves the sessions (package solver). Read the files in this order:
//
//	board.go  the sessions, rooms and days
//	starts.go the times at which a block may start
//	judge.go  the score, and the judgement of a place
//	ban.go    the rules about time, as times in which a session should not start
//	move.go   the moves
package board

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"lectern/shared/agenda/conflict"
)

// Board has the sessions at their present places. All times are milliseconds.
type Board struct {
	agenda conflict.Agenda
	// Sessions are in the order of their ids, Days in the order of time. known has the sessions by id.
	Sessions []*Session
	known    map[string]*Session
	Days     []Span
	Rooms    []*Room
	// gaps are the rules of type min_gap_minutes, and windows those of type time_window.
	gaps    []gap
	windows []*conflict.Rule
	// mayBeSmall reports whether a room may have too few seats, with a warning.
	mayBeSmall bool
	// Score is the score of the present places. Each move adds a difference.
	Score Score
	// outside has the numbers of rules of type time_window that a span breaks.
	outside map[Span]Broken
	// found are the obstacles of the present judgement. More than enough are not noted, and none of a session that is counted.
	found    []Obstacle
	enough   int
	counting bool
	// bans, points and usage belong to the present comparison.
	bans   []ban
	points []int
	usage  []Usage
}

// gap is a rule of type min_gap_minutes: the time in milliseconds, and whether the level is error.
type gap struct {
	time int64
	hard bool
}

// Session is a session at the present place. A session to place is the top of a block, or a subsession that moves with the block.
// All other sessions are fixed.
type Session struct {
	Of    *conflict.Session
	Fixed bool
	At    Place
	// day is the number of the day at the present place, and busy the minutes there.
	day, busy int
	Length    int64
	// Top is the first session of the block, and Block the whole block; Offset is the time after the start of the top.
	Top    *Session
	Block  []*Session
	Offset int64
	// isPart reports whether the agenda has the parent.
	isPart   bool
	audience int
	People   []*group
	track    *group
	orders   []*conflict.Rule
	// Starts and Rooms are the choices of a block. The search sets them.
	Starts *Starts
	Rooms  []*Room
	// Reason says why the session has no place; empty for a subsession of a block without a place.
	Reason string
}

// group is all sessions of a person, or of a track with the rules of type track_in_one_room and the numbers of sessions by room.
type group struct {
	sessions []*Session
	inRoom   []int
	hard     bool
	warnings int
}

// Room is a room with the sessions there, in the order of their starts. The longest of all that were there takes longest.
type Room struct {
	ID            string
	number, seats int
	Sessions      []*Session
	longest       int64
}

// Place is a start and a room. The room is nil for a fixed session without a room.
type Place struct {
	Start int64
	Room  *Room
}

// Day is a time for sessions.
type Day struct{ Starts, Ends time.Time }

// never is the start of a session without times, far before all others. NoDay is the day of a time outside of the days.
const (
	never = math.MinInt64 / 2
	NoDay = -1
)

// Minute is a Minute in milliseconds.
const Minute = int64(60_000)

// Nowhere is the place of a session without a place.
var Nowhere = Place{Start: never}

// Span is a time with an end.
type Span struct{ Start, End int64 }

// Overlaps reports whether two spans overlap, or are less than gap apart.
func (s Span) Overlaps(other Span, gap int64) bool {
	return s.Start < other.End+gap && other.Start < s.End+gap
}

// with returns the span from the earlier start to the later end.
func (s Span) with(other Span) Span {
	return Span{min(s.Start, other.Start), max(s.End, other.End)}
}

// minutes returns the minutes from start to end, each rounded down.
func (s Span) minutes() int { return int(s.End/Minute - s.Start/Minute) }

// Span returns the time of the session at a place.
func (s *Session) Span(at Place) Span { return Span{at.Start, at.Start + s.Length} }

// New returns a board with all sessions of an agenda that stay at their present places, and without the sessions to place. These
// have the ids, and are parents or subsessions of such. keepTimes says that a subsession cannot leave its present time.
func New(a conflict.Agenda, days []Day, ids []string, keepTimes bool) *Board {
	b := &Board{agenda: a, known: map[string]*Session{}, outside: map[Span]Broken{}}
	for _, d := range days {
		b.Days = append(b.Days, Span{d.Starts.UnixMilli(), d.Ends.UnixMilli()})
	}
	slices.SortFunc(b.Days, func(x, y Span) int { return cmp.Compare(x.Start, y.Start) })
	for number, id := range slices.Sorted(maps.Keys(a.Rooms)) {
		b.Rooms = append(b.Rooms, &Room{ID: id, number: number, seats: valueOr(a.Rooms[id].Capacity, math.MaxInt)})
	}
	for _, of := range a.Sessions {
		b.known[of.ID] = &Session{Of: of, Fixed: true, At: Nowhere, day: NoDay, audience: valueOr(of.Audience, 0)}
	}
	groups := map[string]*group{}
	for _, id := range slices.Sorted(maps.Keys(b.known)) {
		s := b.known[id]
		if b.Sessions = append(b.Sessions, s); s.Of.TakesTime() {
			s.Length = s.Of.Ends.UnixMilli() - s.Of.Starts.UnixMilli()
		}
		if s.Of.Track != "" {
			s.track = join(groups, "track "+s.Of.Track, s)
			if s.track.inRoom == nil {
				s.track.inRoom = make([]int, len(b.Rooms))
			}
		}
		for _, person := range slices.Compact(slices.Sorted(slices.Values(s.Of.People))) {
			s.People = append(s.People, join(groups, "person "+person, s))
		}
	}
	b.readRules(groups)
	b.makeBlocks(ids, keepTimes)
	b.putFixed()
	return b
}

// join adds a session to the group of a name.
func join(groups map[string]*group, name string, s *Session) *group {
	g := groups[name]
	if g == nil {
		g = &group{}
		groups[name] = g
	}
	g.sessions = append(g.sessions, s)
	return g
}

// valueOr returns a number, or another number instead of nil.
func valueOr(n *int, without int) int {
	if n == nil {
		return without
	}
	return *n
}

// readRules notes the rules by type.
func (b *Board) readRules(groups map[string]*group) {
	b.mayBeSmall = conflict.FirstOf(b.agenda.Rules, string(conflict.RoomCapacity)).Level == conflict.Warning
	for i := range b.agenda.Rules {
		r := &b.agenda.Rules[i]
		if r.Gap() > 0 {
			b.gaps = append(b.gaps, gap{r.Gap().Milliseconds(), r.Level == conflict.Error})
		} else if r.Type == conflict.TimeWindow {
			b.windows = append(b.windows, r)
		}
		if t := groups["track "+r.Track]; t != nil && r.Level == conflict.Error {
			t.hard = true
		} else if t != nil {
			t.warnings++
		}
		if before, after := b.known[r.Before], b.known[r.After]; before != nil && after != nil {
			before.orders, after.orders = append(before.orders, r), append(after.orders, r)
		}
	}
}

// The reasons for a subsession without a place in the block.
const (
	parentFull = "The parent session has no time for the subsession beside the other subsessions."
	keptBeside = "The session keeps times that do not fit into the parent session, or not beside another subsession."
)

// makeBlocks makes the blocks of the sessions to place. Each fixed session is a block of its own.
func (b *Board) makeBlocks(ids []string, keepTimes bool) {
	parts := map[*Session][]*Session{}
	for _, s := range b.Sessions {
		s.Top, s.Block = s, []*Session{s}
		if parent := b.known[s.Of.Parent]; parent != nil && b.known[parent.Of.Parent] == nil {
			s.isPart, parts[parent] = true, append(parts[parent], s)
		}
	}
	for _, id := range ids {
		s := b.known[id]
		if s != nil && s.isPart {
			s = b.known[s.Of.Parent]
		}
		if s != nil && s.Fixed {
			b.layOut(s, parts[s], keepTimes)
		}
	}
}

// putFixed puts the fixed sessions.
func (b *Board) putFixed() {
	for _, s := range b.Sessions {
		if !s.Fixed {
			continue
		}
		at := Place{Start: never}
		if s.Of.TakesTime() {
			at.Start = s.Of.Starts.UnixMilli()
		}
		if i := slices.IndexFunc(b.Rooms, s.IsIn); i >= 0 {
			at.Room = b.Rooms[i]
		}
		b.Move(s, at)
	}
}

// layOut makes the block of a session to place: the subsessions at their present times if the times follow each other
// within the parent, or else one after another. Subsessions without times and length have equal shares of the time of the parent.
func (b *Board) layOut(top *Session, parts []*Session, keepTimes bool) {
	slices.SortFunc(parts, func(x, y *Session) int { return conflict.ByTime(x.Of, y.Of) })
	top.Fixed, top.Length = false, cmp.Or(top.Length, top.Of.Length.Milliseconds(), 60*Minute)
	end := int64(0)
	for _, s := range parts {
		s.Fixed, s.Offset = false, end
		s.Length = cmp.Or(s.Length, s.Of.Length.Milliseconds(), top.Length/int64(len(parts))/Minute*Minute)
		timed, present := s.Of.TakesTime(), s.Of.Starts.Sub(top.Of.Starts).Milliseconds()
		fits := timed && top.Of.TakesTime() && present >= end && present+s.Length <= top.Length
		if fits {
			s.Offset = present
		}
		switch {
		case timed && keepTimes && !fits:
			s.Reason = keptBeside
		case s.Length <= 0 || s.Offset+s.Length > top.Length:
			s.Reason = parentFull
		default:
			end, s.Top, top.Block = s.Offset+s.Length, top, append(top.Block, s)
		}
	}
	b.Score.Unplaced += UnplacedPoints * (1 + len(parts))
}

// IsIn reports whether a room is the room of the session outside of the board.
func (s *Session) IsIn(r *Room) bool { return s.Of.Room == r.ID }

// Choices returns the number of places that a block may have.
func (s *Session) Choices() int { return len(s.Starts.Times) * len(s.Rooms) }

// Choice returns a place that a block may have.
func (s *Session) Choice(i int) Place {
	return Place{s.Starts.Times[i/len(s.Rooms)], s.Rooms[i%len(s.Rooms)]}
}

// MayBe reports whether a block may have a place, whatever is in the way.
func (s *Session) MayBe(at Place) bool {
	i := s.Starts.First(at.Start)
	return i < len(s.Starts.Times) && s.Starts.Times[i] == at.Start && slices.Contains(s.Rooms, at.Room)
}

// in returns the place of a session whose block has a place.
func (s *Session) in(top Place) Place {
	if top == Nowhere {
		return Nowhere
	}
	return Place{top.Start + s.Offset, top.Room}
}

// DayOf returns the number of the day of a time.
func (b *Board) DayOf(start int64) int {
	for i, d := range b.Days {
		if d.Start <= start && start < d.End {
			return i
		}
	}
	return NoDay
}
