// Package conflict finds the conflicts of an agenda: sessions that share a room or a person at
// one time, rooms that are too small, and sessions that break a rule of the event
// (docs/decisions/0048). It reads nothing and knows no clock. Read the files in this order:
//
//	conflict.go  the agenda that is checked, and the conflicts that are found
//	rule.go      the rules, as read from their parameters
//	check.go     the check, and the sweeps that compare sessions of a room or of a person
//	evaluate.go  what each rule asks of the agenda
package conflict

import (
	"cmp"
	"errors"
	"iter"
	"slices"
	"time"
)

// Max is the largest number of conflicts that a check lists, where a conflict of several people counts
// for each person. Max bounds the memory of a check: a thousand sessions in one room at one time are
// a million conflicts.
const Max = 50_000

// ErrTooMany is the error of a check that found more than Max conflicts.
var ErrTooMany = errors.New("conflict: the agenda has too many conflicts")

// Agenda is what a check looks at.
type Agenda struct {
	// Sessions are the sessions that take place, in any order and without duplicates.
	Sessions []*Session
	// Rooms are the rooms of the event, by id. A session in another room is in no room.
	Rooms map[string]Room
	// Rules are the enabled rules in the order of their priority, the highest first.
	Rules []Rule
	// Zone is the event's time zone; nil means UTC.
	Zone *time.Location
}

// Session is the part of a session that a check needs.
type Session struct {
	ID string
	// Name is the short name in messages. The check does not read Title.
	Name, Title string
	// Parent is the id of a subsession's parent.
	Parent string
	// Starts and Ends are zero for a session without times.
	Starts, Ends time.Time
	// Length is the length of a session that takes no time at present; zero if it is unknown. The check does not read Length.
	Length time.Duration
	// Elsewhere reports whether the location is virtual or other. The check does not read Elsewhere.
	Elsewhere bool
	// Room and Track are ids; empty for none.
	Room, Track string
	// People are the ids of the contacts on the session, in any order. A contact with several
	// roles may be there several times.
	People []string
	// Audience is the expected number of people; nil if it is unknown.
	Audience *int
}

// TakesTime reports whether the session has a start and a later end.
func (s *Session) TakesTime() bool { return !s.Starts.IsZero() && s.Ends.After(s.Starts) }

// Within reports whether one of two sessions is a subsession of the other. A subsession shares the room and the
// people of the parent.
func Within(a, b *Session) bool { return a.Parent == b.ID || b.Parent == a.ID }

// Siblings reports whether two sessions are subsessions of one parent. Siblings need no gap.
func Siblings(a, b *Session) bool { return a.Parent != "" && a.Parent == b.Parent }

// Room is a room of the event.
type Room struct {
	Name string
	// Capacity is how many people the room takes; nil if it is unknown.
	Capacity *int
}

// Type names the kind of a conflict.
type Type string

// The types.
const (
	RoomOverlap        Type = "room_overlap"
	ParticipantOverlap Type = "participant_overlap"
	RoomCapacity       Type = "room_capacity"
	BrokenRule         Type = "rule"
)

// Level says how bad a conflict is.
type Level string

// The levels.
const (
	Error   Level = "error"
	Warning Level = "warning"
)

// Conflict is a conflict of a session.
type Conflict struct {
	Type       Type     `json:"type" enum:"room_overlap,participant_overlap,room_capacity,rule" doc:"The kind of conflict; rule for every other rule of the event."`
	Level      Level    `json:"level" enum:"error,warning" doc:"The level of the rule; error without a rule."`
	RuleID     string   `json:"rule_id,omitempty" format:"uuid" doc:"The rule; absent for a conflict that no rule of the event is about."`
	SessionID  string   `json:"session_id,omitempty" format:"uuid" doc:"The other session; absent for a conflict of one session."`
	ContactIDs []string `json:"contact_ids,omitempty" format:"uuid" doc:"The people of the conflict, in the order of their ids."`
	Message    string   `json:"message" doc:"The conflict in words."`
}

// Found has the conflicts of a session.
type Found struct {
	Session   *Session
	Conflicts []Conflict
}

// ByTime compares sessions in the order of the agenda: by start, end and id. Sessions without
// times come last.
func ByTime(a, b *Session) int {
	switch {
	case a.TakesTime() && b.TakesTime():
		return cmp.Or(a.Starts.Compare(b.Starts), a.Ends.Compare(b.Ends), cmp.Compare(a.ID, b.ID))
	case a.TakesTime():
		return -1
	case b.TakesTime():
		return 1
	}
	return cmp.Compare(a.ID, b.ID)
}

// shared yields the people in both of two sorted lists.
func shared(a, b []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, id := range a {
			at, found := slices.BinarySearch(b, id)
			if found && !yield(id) {
				return
			}
			b = b[at:]
		}
	}
}

// firstShared reports whether a person is the first in both of two sorted lists.
func firstShared(person string, a, b []string) bool {
	for id := range shared(a, b) {
		return id == person
	}
	return false
}
