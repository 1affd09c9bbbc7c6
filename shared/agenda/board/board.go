// Package board has the places of an agenda's sessions, and judges other places for them: the sessions in the way, and the
// difference to the score (docs/decisions/0050). The package reads nothing and knows no clock. Read the files in this order:
//
//	board.go     the problem, and the board with the sessions at their present places
//	choices.go   the starts and rooms for a session, and the reason for a session without a place
//	judge.go     the obstacles to a place
//	score.go     the penalties
package board

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"lectern/shared/agenda/conflict"
)

// Keep names the parts of the present places that stay.
type Keep string

// The values of Keep.
const (
	KeepNone  Keep = "none"
	KeepTimes Keep = "times"
	KeepRooms Keep = "rooms"
	KeepBoth  Keep = "both"
)

// Problem is an agenda with sessions to place. A session with both times keeps the length between them; any
// other session takes an hour.
type Problem struct {
	// Agenda has all sessions at their present places, all rooms and the enabled rules.
	conflict.Agenda
	// Place has the ids of the sessions to place. All other sessions stay.
	Place []string
	// RoomIDs are the rooms that may be used; empty for all. A kept room may be another room.
	RoomIDs []string
	// Days do not overlap. A session starts at a multiple of Slot after the start of a day, and ends on that
	// day. The shortest Slot is a minute.
	Days []Day
	Slot time.Duration
	Keep Keep
}

// Day is a time for sessions.
type Day struct{ Starts, Ends time.Time }

// Board has the sessions at their present places. All times are milliseconds.
type Board struct {
	Problem
	// Sessions are in the order of their ids.
	Sessions []*Session
	// Score is the score of the present places. Each change of a place adds a difference.
	Score Score

	days  []span
	rooms []*Room
	gaps  []gap
	// mayBeSmall reports whether a room may have too few seats, with a warning.
	mayBeSmall bool
	// verdicts has the verdicts known so far.
	verdicts  map[span]verdict
	obstacles []Obstacle
}

// Session is a session at the present place, or Nowhere.
type Session struct {
	*conflict.Session
	// Fixed reports whether the session stays.
	Fixed bool
	At    Place
	// Day is the number of the day of the present place; NoDay for a time outside of the days.
	Day    int
	Parent *Session
	// Rooms are the rooms for a session to place.
	Rooms []*Room

	starts    []int64
	keepsTime bool
	length    int64
	audience  int
	children  []*Session
	people    []*person
	track     *track
	orders    []order
}

// Place is a start and a room; the room is nil for a fixed session without a room.
type Place struct {
	Start int64
	Room  *Room
}

// Nowhere is the place of a session without a place, and never the start of a fixed session without times.
var Nowhere = Place{Start: math.MinInt64}

// NoDay is the number of the day of a time outside of the days.
const NoDay = -1

const (
	never  = math.MinInt64 / 2
	minute = int64(time.Minute / time.Millisecond)
)

// Room is a room with the sessions there.
type Room struct {
	ID       string
	Sessions []*Session

	number, seats int
}

// person has all sessions of a person.
type person struct{ sessions []*Session }

// track has all sessions of a track, and the numbers of sessions on the board by room.
type track struct {
	sessions []*Session
	inRoom   []int
	hard     bool
	warnings int
}

// gap is a rule: the shortest time between two sessions of a person.
type gap struct {
	length int64
	hard   bool
}

// order is a rule: the session after starts when the session before has ended.
type order struct {
	before, after *Session
	hard          bool
}

// New returns the board with the fixed sessions.
func New(p Problem) *Board {
	b := &Board{Problem: p, verdicts: map[span]verdict{}}
	for number, id := range slices.Sorted(maps.Keys(p.Rooms)) {
		b.rooms = append(b.rooms, &Room{ID: id, number: number, seats: valueOr(p.Rooms[id].Capacity, math.MaxInt)})
	}
	for _, d := range p.Days {
		b.days = append(b.days, span{d.Starts.UnixMilli(), d.Ends.UnixMilli()})
	}
	byID, tracks, people := map[string]*Session{}, map[string]*track{}, map[string]*person{}
	for _, of := range slices.SortedFunc(slices.Values(p.Sessions), compareIDs) {
		s := b.newSession(of, tracks, people)
		byID[of.ID], b.Sessions = s, append(b.Sessions, s)
	}
	for _, id := range p.Place {
		if s := byID[id]; s != nil && s.Fixed {
			s.Fixed, s.length = false, cmp.Or(s.length, 60*minute)
			b.Score.Unplaced += UnplacedPoints
		}
	}
	b.readRules(byID, tracks)
	b.connect(byID)
	for _, s := range b.Sessions {
		s.starts, s.Rooms = b.startsOf(s), b.roomsOf(s)
	}
	return b
}

// connect finds the parents, and then puts the fixed sessions.
func (b *Board) connect(byID map[string]*Session) {
	for _, s := range b.Sessions {
		if parent := byID[s.Session.Parent]; parent != nil && parent != s {
			s.Parent, parent.children = parent, append(parent.children, s)
		}
	}
	for _, s := range b.Sessions {
		if s.Fixed {
			b.put(s, b.present(s))
		}
	}
}

// newSession returns a fixed session of the agenda, and notes the track and the people.
func (b *Board) newSession(of *conflict.Session, tracks map[string]*track, people map[string]*person) *Session {
	s := &Session{Session: of, At: Nowhere, Day: NoDay, Fixed: true, audience: valueOr(of.Audience, 0)}
	if s.TakesTime() {
		s.length, s.keepsTime = of.Ends.UnixMilli()-of.Starts.UnixMilli(), b.Keep == KeepTimes || b.Keep == KeepBoth
	}
	if of.Track != "" {
		s.track = cmp.Or(tracks[of.Track], &track{inRoom: make([]int, len(b.rooms))})
		s.track.sessions, tracks[of.Track] = append(s.track.sessions, s), s.track
	}
	for _, id := range slices.Compact(slices.Sorted(slices.Values(of.People))) {
		people[id] = cmp.Or(people[id], &person{})
		people[id].sessions, s.people = append(people[id].sessions, s), append(s.people, people[id])
	}
	return s
}

func compareIDs(a, b *conflict.Session) int { return cmp.Compare(a.ID, b.ID) }

// valueOr returns a number, or another number instead of nil.
func valueOr(n *int, without int) int {
	if n == nil {
		return without
	}
	return *n
}

// readRules notes the rules, except for the rules of type time_window.
func (b *Board) readRules(byID map[string]*Session, tracks map[string]*track) {
	capacityKnown := false
	for i := range b.Rules {
		r := &b.Rules[i]
		hard := r.Level == conflict.Error
		if r.Type == string(conflict.RoomCapacity) && !capacityKnown {
			capacityKnown, b.mayBeSmall = true, !hard
		}
		if length := r.Gap().Milliseconds(); length > 0 {
			b.gaps = append(b.gaps, gap{length, hard})
		}
		if t := tracks[r.Track()]; t != nil && hard {
			t.hard = true
		} else if t != nil {
			t.warnings++
		}
		first, then := r.Order()
		if o := (order{byID[first], byID[then], hard}); o.before != nil && o.after != nil {
			o.before.orders, o.after.orders = append(o.before.orders, o), append(o.after.orders, o)
		}
	}
}

// present returns the place of a fixed session.
func (b *Board) present(s *Session) Place {
	at := Place{Start: never}
	if s.TakesTime() {
		at.Start = s.Starts.UnixMilli()
	}
	if i := slices.IndexFunc(b.rooms, s.isIn); i >= 0 {
		at.Room = b.rooms[i]
	}
	return at
}

// Move moves a session to a place, or to Nowhere, whatever is in the way.
func (b *Board) Move(s *Session, to Place) {
	if s.At != Nowhere {
		b.take(s)
	}
	if to != Nowhere {
		b.put(s, to)
	}
}

// put gives a session without a place a place.
func (b *Board) put(s *Session, at Place) {
	cost, _ := b.Judge(s, at, math.MaxInt)
	b.Score.add(cost, 1)
	s.At, s.Day = at, b.DayOf(at.Start)
	if at.Room != nil {
		at.Room.Sessions = append(at.Room.Sessions, s)
		s.count(at.Room, 1)
	}
}

// take takes the place from a session.
func (b *Board) take(s *Session) {
	at := s.At
	s.At, s.Day = Nowhere, NoDay
	if at.Room != nil {
		i := slices.Index(at.Room.Sessions, s)
		at.Room.Sessions = slices.Delete(at.Room.Sessions, i, i+1)
		s.count(at.Room, -1)
	}
	cost, _ := b.Judge(s, at, math.MaxInt)
	b.Score.add(cost, -1)
}

// count counts the session in a room for the track.
func (s *Session) count(r *Room, sign int) {
	if s.track != nil {
		s.track.inRoom[r.number] += sign
	}
}
