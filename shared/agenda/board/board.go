// Package board moves the blocks of an agenda (package block) to places, and says what a place costs: the difference to the score,
// and the sessions in the way (docs/decisions/0050). A search chooses among the places (package solver). Read the files in this order:
//
//	board.go   the board
//	judge.go   the score, and the judgement of a place
//	ban.go     the rules about time, as times in which a session should not start
//	move.go    the moves
//	choices.go the places that a block may have
package board

import (
	"slices"
	"time"

	"lectern/shared/agenda/block"
	"lectern/shared/agenda/conflict"
)

// Board has the blocks of an agenda at their present places.
type Board struct {
	*block.Program
	// Score is the score of the present places. Each move adds a difference.
	Score Score
	// outside has the numbers of rules of type time_window that a span breaks.
	outside map[block.Span]Broken
	// found are the obstacles of the present judgement. More than enough are not noted, and none of a session that is counted.
	found    []Obstacle
	enough   int
	counting bool
	// bans, points and usage belong to the present comparison.
	bans   []ban
	points []int
	usage  []Usage
	// limits say which places blocks may have. starts has the possible starts by length, and clocksChange reports whether clocks
	// change on one of the days.
	limits       Limits
	starts       map[int64]*block.Starts
	clocksChange bool
}

// Limits say which sessions are placed, where and when.
type Limits struct {
	// SessionIDs are the sessions to place. Parents and subsessions of these go along. All other sessions stay.
	SessionIDs []string
	// RoomIDs are the rooms that may be used; empty for all. A kept room may be another room.
	RoomIDs []string
	// Days are at most 64, and do not overlap. A session starts at a multiple of Slot after the start of a day, and ends on that
	// day. The shortest Slot is a minute.
	Days []block.Day
	Slot time.Duration
	// KeepTimes and KeepRooms say which parts of the present places stay.
	KeepTimes, KeepRooms bool
}

// New returns a board with all sessions of an agenda that stay at their present places, and without the sessions to place.
func New(a conflict.Agenda, in Limits) *Board {
	b := &Board{
		Program: block.New(a, in.Days, in.SessionIDs, in.KeepTimes), outside: map[block.Span]Broken{},
		limits: in, starts: map[int64]*block.Starts{}, clocksChange: clocksChange(a.Zone, in.Days),
	}
	for _, s := range b.Sessions {
		if s.Fixed {
			b.putFixed(s)
		} else {
			b.Score.Unplaced += UnplacedPoints
		}
	}
	return b
}

// putFixed puts a fixed session at its place in the agenda.
func (b *Board) putFixed(s *block.Session) {
	at := block.Nowhere
	if s.Of.TakesTime() {
		at.Start = s.Of.Starts.UnixMilli()
	}
	if i := slices.IndexFunc(b.Rooms, s.IsIn); i >= 0 {
		at.Room = b.Rooms[i]
	}
	b.Move(s, at)
}
