package solver

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"lectern/shared/agenda/conflict"
)

// board has the sessions at their present places. All times are milliseconds.
type board struct {
	problem Problem
	// sessions are in the order of their ids, days in the order of time. known has the sessions by id.
	sessions []*session
	known    map[string]*session
	days     []span
	rooms    []*room
	// gaps and windows are the rules of type min_gap_minutes and time_window.
	gaps, windows []*conflict.Rule
	// mayBeSmall reports whether a room may have too few seats, with a warning.
	mayBeSmall bool
	// score is the score of the present places. Each change of a place adds a difference.
	score Score
	// starts are the possible starts by length, outside the numbers of windows that a span breaks.
	starts  map[int64][]int64
	outside map[span]broken
	// found are the obstacles of the present judgement. More than enough are not noted, and none of a session that is counted.
	found    []obstacle
	enough   int
	counting bool
}

// session is a session at the present place. A session to place is the top of a block, or a subsession that moves with the block.
type session struct {
	of     *conflict.Session
	fixed  bool
	at     place
	day    int
	length int64
	// top is the first session of the block, and block the whole block; offset is the time after the start of the top.
	top    *session
	block  []*session
	offset int64
	// isPart reports whether the agenda has the parent.
	isPart   bool
	audience int
	people   []*group
	track    *group
	orders   []*conflict.Rule
	starts   []int64
	rooms    []*room
	// reason says why the session has no place; empty for a subsession of a block without a place.
	reason string
}

// group is all sessions of a person, or of a track with the rules of type track_in_one_room and the numbers of sessions by room.
type group struct {
	sessions []*session
	inRoom   []int
	hard     bool
	warnings int
}

// room is a room with the sessions there.
type room struct {
	id            string
	number, seats int
	sessions      []*session
}

// place is a start and a room. The room is nil for a fixed session without a room.
type place struct {
	start int64
	room  *room
}

// never is the start of a session without times, far before all others. noDay is the day of a time outside of the days.
const (
	never  = math.MinInt64 / 2
	noDay  = -1
	minute = int64(60_000)
)

// nowhere is the place of a session without a place.
var nowhere = place{start: never}

// span is a time with an end.
type span struct{ start, end int64 }

// overlaps reports whether two spans overlap, or are less than gap apart.
func (s span) overlaps(other span, gap int64) bool {
	return s.start < other.end+gap && other.start < s.end+gap
}

// with returns the span from the earlier start to the later end.
func (s span) with(other span) span {
	return span{min(s.start, other.start), max(s.end, other.end)}
}

// minutes returns the minutes from start to end, each rounded down.
func (s span) minutes() int { return int(s.end/minute - s.start/minute) }

// span returns the time of the session at a place.
func (s *session) span(at place) span { return span{at.start, at.start + s.length} }

// newBoard returns the board with the fixed sessions.
func newBoard(p Problem) *board {
	b := &board{problem: p, known: map[string]*session{}, starts: map[int64][]int64{}, outside: map[span]broken{}}
	for _, d := range p.Days {
		b.days = append(b.days, span{d.Starts.UnixMilli(), d.Ends.UnixMilli()})
	}
	slices.SortFunc(b.days, func(x, y span) int { return cmp.Compare(x.start, y.start) })
	for number, id := range slices.Sorted(maps.Keys(p.Agenda.Rooms)) {
		b.rooms = append(b.rooms, &room{id: id, number: number, seats: valueOr(p.Agenda.Rooms[id].Capacity, math.MaxInt)})
	}
	for _, of := range p.Agenda.Sessions {
		b.known[of.ID] = &session{of: of, fixed: true, at: nowhere, day: noDay, audience: valueOr(of.Audience, 0)}
	}
	groups := map[string]*group{}
	for _, id := range slices.Sorted(maps.Keys(b.known)) {
		s := b.known[id]
		if b.sessions = append(b.sessions, s); s.of.TakesTime() {
			s.length = s.of.Ends.UnixMilli() - s.of.Starts.UnixMilli()
		}
		if s.of.Track != "" {
			s.track = join(groups, "track "+s.of.Track, s)
			if s.track.inRoom == nil {
				s.track.inRoom = make([]int, len(b.rooms))
			}
		}
		for _, person := range slices.Compact(slices.Sorted(slices.Values(s.of.People))) {
			s.people = append(s.people, join(groups, "person "+person, s))
		}
	}
	b.readRules(groups)
	b.makeBlocks()
	b.putFixed()
	return b
}

// join adds a session to the group of a name.
func join(groups map[string]*group, name string, s *session) *group {
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
func (b *board) readRules(groups map[string]*group) {
	b.mayBeSmall = conflict.FirstOf(b.problem.Agenda.Rules, string(conflict.RoomCapacity)).Level == conflict.Warning
	for i := range b.problem.Agenda.Rules {
		r := &b.problem.Agenda.Rules[i]
		if r.Gap() > 0 {
			b.gaps = append(b.gaps, r)
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

// makeBlocks makes the blocks of the sessions to place. Each fixed session is a block of its own.
func (b *board) makeBlocks() {
	parts := map[*session][]*session{}
	for _, s := range b.sessions {
		s.top, s.block = s, []*session{s}
		if parent := b.known[s.of.Parent]; parent != nil && b.known[parent.of.Parent] == nil {
			s.isPart, parts[parent] = true, append(parts[parent], s)
		}
	}
	for _, id := range b.problem.SessionIDs {
		s := b.known[id]
		if s != nil && s.isPart {
			s = b.known[s.of.Parent]
		}
		if s != nil && s.fixed {
			b.layOut(s, parts[s])
		}
	}
}

// putFixed puts the fixed sessions.
func (b *board) putFixed() {
	for _, s := range b.sessions {
		if !s.fixed {
			continue
		}
		at := place{start: never}
		if s.of.TakesTime() {
			at.start = s.of.Starts.UnixMilli()
		}
		if i := slices.IndexFunc(b.rooms, s.isIn); i >= 0 {
			at.room = b.rooms[i]
		}
		b.move(s, at)
	}
}

// layOut makes the block of a session to place: the subsessions at their present times if the times follow each other
// within the parent, or else one after another. Subsessions without times have equal shares of the time of the parent.
func (b *board) layOut(top *session, parts []*session) {
	slices.SortFunc(parts, func(x, y *session) int { return conflict.ByTime(x.of, y.of) })
	top.fixed, top.length = false, cmp.Or(top.length, 60*minute)
	end := int64(0)
	for _, s := range parts {
		s.fixed, s.offset = false, end
		s.length = cmp.Or(s.length, top.length/int64(len(parts))/minute*minute)
		timed, present := top.of.TakesTime() && s.of.TakesTime(), s.of.Starts.Sub(top.of.Starts).Milliseconds()
		if timed && present >= end && present+s.length <= top.length {
			s.offset = present
		}
		switch {
		case timed && b.problem.KeepTimes && s.offset != present:
			s.reason = keptBeside
		case s.length <= 0 || s.offset+s.length > top.length:
			s.reason = parentFull
		default:
			end, s.top, top.block = s.offset+s.length, top, append(top.block, s)
		}
	}
	b.score.Unplaced += unplacedPoints * (1 + len(parts))
}

// isIn reports whether a room is the room of the session outside of the board.
func (s *session) isIn(r *room) bool { return s.of.Room == r.id }

// in returns the place of a session whose block has a place.
func (s *session) in(top place) place {
	if top == nowhere {
		return nowhere
	}
	return place{top.start + s.offset, top.room}
}

// move moves a block to a place, or to nowhere, whatever is in the way.
func (b *board) move(top *session, to place) {
	for _, s := range slices.Backward(top.block) {
		if at := s.at; at != nowhere {
			b.setOne(s, nowhere)
			b.count(s, at, -1)
		}
	}
	for _, s := range top.block {
		if to != nowhere {
			b.count(s, s.in(to), 1)
			b.setOne(s, s.in(to))
		}
	}
}

// count adds the difference that a session without a place makes at a place, times a sign.
func (b *board) count(s *session, at place, sign int) {
	c := Score{}
	b.found, b.enough, b.counting = b.found[:0], 0, true
	b.judgeSession(s, at, &c)
	b.counting = false
	b.score.add(c, sign)
}

// set notes the place of a block without a change of the score.
func (b *board) set(top *session, to place) {
	for _, s := range top.block {
		b.setOne(s, s.in(to))
	}
}

// setOne notes the place of a session.
func (b *board) setOne(s *session, at place) {
	if r := s.at.room; r != nil {
		i, last := slices.Index(r.sessions, s), len(r.sessions)-1
		r.sessions[i], r.sessions = r.sessions[last], r.sessions[:last]
		s.countInRoom(r, -1)
	}
	if s.at, s.day = at, b.dayOf(at.start); at.room != nil {
		at.room.sessions = append(at.room.sessions, s)
		s.countInRoom(at.room, 1)
	}
}

func (s *session) countInRoom(r *room, sign int) {
	if s.track != nil {
		s.track.inRoom[r.number] += sign
	}
}

// dayOf returns the number of the day of a time.
func (b *board) dayOf(start int64) int {
	for i, d := range b.days {
		if d.start <= start && start < d.end {
			return i
		}
	}
	return noDay
}
