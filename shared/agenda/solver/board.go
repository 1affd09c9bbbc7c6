package solver

import (
	"math"
	"slices"
)

// place is the start and the room of a session.
type place struct {
	start int64
	room  int
}

// nowhere is the place of a session without a place, and longAgo the start of a fixed session without times.
var nowhere = place{math.MinInt64, absent}

const longAgo = math.MinInt64 / 2

// board has the places of all sessions. Between the moves of the search, no session to place has an obstacle.
type board struct {
	*model
	at []place
	// inRoom are the sessions in each room, and count the numbers of sessions of each track in each room.
	inRoom, count [][]int
	score         Score
	found         []obstacle
}

// newBoard returns the board with the fixed sessions.
func newBoard(m *model) *board {
	b := &board{model: m, at: slices.Repeat([]place{nowhere}, len(m.sessions)), inRoom: make([][]int, len(m.rooms))}
	for range m.tracks {
		b.count = append(b.count, make([]int, len(m.rooms)))
	}
	for i := range m.sessions {
		s := &m.sessions[i]
		if !s.fixed {
			b.score.Unplaced += unplacedPoints
			continue
		}
		at := place{longAgo, slices.IndexFunc(m.rooms, func(r room) bool { return r.id == s.Room })}
		if s.TakesTime() {
			at.start = s.Starts.UnixMilli()
		}
		b.put(i, at)
	}
	return b
}

// put gives a session without a place a place, and adds the difference to the score.
func (b *board) put(i int, at place) {
	b.score.add(b.cost(i, at), 1)
	b.at[i] = at
	b.tally(i, at.room, 1)
	if at.room != absent {
		b.inRoom[at.room] = append(b.inRoom[at.room], i)
	}
}

// take removes a session from the board, and the same difference from the score.
func (b *board) take(i int) {
	at := b.at[i]
	b.at[i] = nowhere
	b.tally(i, at.room, -1)
	if at.room != absent {
		last, others := len(b.inRoom[at.room])-1, b.inRoom[at.room]
		others[slices.Index(others, i)] = others[last]
		b.inRoom[at.room] = others[:last]
	}
	b.score.add(b.cost(i, at), -1)
}

// tally counts a session in the room for the track.
func (b *board) tally(i, room, sign int) {
	if track := b.sessions[i].track; track != absent && room != absent {
		b.count[track][room] += sign
	}
}

// span returns the time of a session on the board.
func (b *board) span(i int) span { return b.sessions[i].span(b.at[i].start) }

// starts returns the times when a session may start now. A subsession starts with the parent, or after another
// subsession.
func (b *board) starts(i int) []int64 {
	s := &b.sessions[i]
	if s.parent == absent || s.keepsTime {
		return s.starts
	}
	starts := []int64{b.at[s.parent].start}
	for _, other := range b.sessions[s.parent].children {
		if b.at[other] != nowhere {
			starts = append(starts, b.span(other).end)
		}
	}
	return b.allowed(s, starts)
}

// obstacle is a session that must move before another session may have a place.
type obstacle struct {
	session int
	cause   string
}

// The causes of obstacles, as a reason names them.
const (
	roomTaken  = "the room is taken"
	personBusy = "a person of the session is on another session"
	outOfOrder = "a rule of type order is broken"
	otherRoom  = "the track is in another room"
	notWithin  = "a subsession is not within the parent"
)

// obstacles returns the obstacles to a place of a session without a place. After some sessions in the room,
// the others may be missing.
func (b *board) obstacles(i int, at place, some int) []obstacle {
	s := &b.sessions[i]
	b.found = b.found[:0]
	b.compare(i, at, b.inRoom[at.room], 0, roomTaken)
	if len(b.found) > some {
		return b.found
	}
	for _, person := range s.people {
		b.compare(i, at, b.people[person], b.gap, personBusy)
	}
	for _, o := range s.orders {
		if o.hard && b.breaks(o, i, at) {
			b.found = append(b.found, obstacle{o.before + o.after - i, outOfOrder})
		}
	}
	if s.parent != absent && !b.within(i, at, b.at[s.parent]) {
		b.found = append(b.found, obstacle{s.parent, notWithin})
	}
	for _, child := range s.children {
		if b.at[child] != nowhere && !b.within(child, b.at[child], at) {
			b.found = append(b.found, obstacle{child, notWithin})
		}
	}
	if s.track != absent && b.tracks[s.track].hard && b.outside(s.track, at.room) {
		for _, other := range b.tracks[s.track].sessions {
			if b.at[other].room != absent && b.at[other].room != at.room {
				b.found = append(b.found, obstacle{other, otherRoom})
			}
		}
	}
	return b.found
}

// compare notes the sessions of a list that overlap a session at a place, or are less than gap apart.
// Subsessions of one parent need no gap.
func (b *board) compare(i int, at place, others []int, gap int64, cause string) {
	when := b.sessions[i].span(at.start)
	for _, other := range others {
		if b.at[other] == nowhere || !when.overlaps(b.span(other), gap) || b.family(i, other) {
			continue
		}
		if !b.siblings(i, other) || when.overlaps(b.span(other), 0) {
			b.found = append(b.found, obstacle{other, cause})
		}
	}
}

// family reports whether a session is a subsession of the other, or both are the same.
func (b *board) family(i, other int) bool {
	return i == other || b.sessions[i].parent == other || b.sessions[other].parent == i
}

// siblings reports whether two sessions are subsessions of one parent.
func (b *board) siblings(i, other int) bool {
	return b.sessions[i].Parent != "" && b.sessions[i].Parent == b.sessions[other].Parent
}

// breaks reports whether a session at a place breaks an order with the other session.
func (b *board) breaks(o order, i int, at place) bool {
	first, then := b.at[o.before].start, b.at[o.after].start
	if o.before == i {
		first = at.start
	} else {
		then = at.start
	}
	return min(first, then) > longAgo && first+b.sessions[o.before].length > then
}

// within reports whether a subsession at a place is within the time and the room of the parent at a place.
func (b *board) within(child int, at, parent place) bool {
	s := &b.sessions[child]
	return (parent.room == absent || parent.room == at.room) && b.sessions[s.parent].span(parent.start).contains(s.span(at.start))
}
