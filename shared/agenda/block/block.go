// Package block has the sessions of an agenda in blocks: a session to place and its subsessions, which move together. It knows what
// never changes during a search: lengths, people, tracks, rules by type. Package board moves the blocks. Read the files in this order:
//
//	block.go  the sessions, rooms, days and places
//	starts.go the times at which a block may start
//	make.go   how the blocks are made from an agenda
package block

import (
	"math"
	"slices"
	"sort"
	"time"

	"lectern/shared/agenda/conflict"
)

// Session is a session at the present place. A session to place is the top of a block, or a subsession that moves with the block.
// All other sessions are fixed. All times are milliseconds.
type Session struct {
	Of    *conflict.Session
	Fixed bool
	// At is the present place, Day the number of its day, and Busy the minutes there.
	At        Place
	Day, Busy int
	Length    int64
	// Top is the first session of the block, and Block the whole block; Offset is the time after the start of the top.
	Top    *Session
	Block  []*Session
	Offset int64
	// IsPart reports whether the agenda has the parent. Roomless reports whether such a subsession has no room: it is elsewhere.
	IsPart   bool
	Roomless bool
	Audience int
	People   []*Group
	Track    *Group
	Orders   []*conflict.Rule
	// Starts and Rooms are the choices of a block. Least has the points of the cheapest beside the fixed sessions.
	Starts *Starts
	Rooms  []*Room
	Least  int
	// Reason says why the session has no place; empty for a subsession of a block without a place.
	Reason string
}

// Group is all sessions of a person, or of a track with the rules of type track_in_one_room and the present numbers of sessions by
// room.
type Group struct {
	Sessions []*Session
	InRoom   []int
	Hard     bool
	Warnings int
}

// HeldToOneRoom returns the sessions of a track with a rule of level error; none without such a rule.
func (g *Group) HeldToOneRoom() []*Session {
	if !g.Hard {
		return nil
	}
	return g.Sessions
}

// Room is a room with the sessions there, in the order of their starts. The longest of all that were there takes Longest.
type Room struct {
	ID            string
	Number, Seats int
	Sessions      []*Session
	Longest       int64
}

// First returns the number of the first session that starts at a time or later.
func (r *Room) First(start int64) int {
	return sort.Search(len(r.Sessions), func(i int) bool { return r.Sessions[i].At.Start >= start })
}

// Place is a start and a room. The room is nil for a fixed session without a room, and for a roomless subsession.
type Place struct {
	Start int64
	Room  *Room
}

// Day is a time for sessions.
type Day struct{ Starts, Ends time.Time }

// Never is the start of a session without times, far before all others. NoDay is the day of a time outside of the days.
const (
	Never = math.MinInt64 / 2
	NoDay = -1
)

// Minute is a minute in milliseconds.
const Minute = int64(60_000)

// Nowhere is the place of a session without a place.
var Nowhere = Place{Start: Never}

// Span is a time with an end.
type Span struct{ Start, End int64 }

// Overlaps reports whether two spans overlap, or are less than gap apart.
func (s Span) Overlaps(other Span, gap int64) bool {
	return s.Start < other.End+gap && other.Start < s.End+gap
}

// With returns the span from the earlier start to the later end.
func (s Span) With(other Span) Span {
	return Span{min(s.Start, other.Start), max(s.End, other.End)}
}

// Minutes returns the minutes from start to end, each rounded down.
func (s Span) Minutes() int { return int(s.End/Minute - s.Start/Minute) }

// Span returns the time of the session at a place.
func (s *Session) Span(at Place) Span { return Span{at.Start, at.Start + s.Length} }

// IsIn reports whether a room is the room of the session in the agenda.
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

// In returns the place of the session if the block has a place.
func (s *Session) In(top Place) Place {
	if top == Nowhere {
		return Nowhere
	}
	if s.Roomless {
		top.Room = nil
	}
	return Place{top.Start + s.Offset, top.Room}
}
