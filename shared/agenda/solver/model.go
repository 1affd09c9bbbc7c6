package solver

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"lectern/shared/agenda/conflict"
)

const (
	// minute and hour are in milliseconds. A session without times takes an hour.
	minute = int64(time.Minute / time.Millisecond)
	hour   = 60 * minute
	// absent is the position of a room, day, track or parent that a session lacks.
	absent = -1
)

// model is the problem in numbers. Sessions, rooms, people and tracks have positions, and times are
// milliseconds.
type model struct {
	Problem
	sessions []session
	rooms    []room
	// people has the sessions of each person.
	people [][]int
	tracks []track
	// gap is the longest gap of the rules of level error; warnedGaps are the gaps of level warning.
	gap        int64
	warnedGaps []int64
	// mayBeSmall reports whether a room may have too few seats, with a warning.
	mayBeSmall bool
	verdicts   map[span]verdict
}

// session is a session of the agenda.
type session struct {
	*conflict.Session
	fixed, keepsTime bool
	length           int64
	audience         int
	people           []int
	track, parent    int
	children         []int
	orders           []order
	// starts and rooms are the choices for the session. A subsession has other starts (board.starts).
	starts []int64
	rooms  []int
}

// span returns the time of a session by the start.
func (s *session) span(start int64) span { return span{start, start + s.length} }

type room struct {
	id    string
	seats int
}

// track has the sessions of a track, and the rules about the room of the track.
type track struct {
	sessions []int
	hard     bool
	warnings int
}

// order is a rule: the session before ends until the session after starts.
type order struct {
	before, after int
	hard          bool
}

// span is a time with an end.
type span struct{ start, end int64 }

// contains reports whether another span lies within the span.
func (s span) contains(other span) bool { return s.start <= other.start && other.end <= s.end }

// overlaps reports whether two spans overlap, or are less than gap apart.
func (s span) overlaps(other span, gap int64) bool {
	return s.start < other.end+gap && other.start < s.end+gap
}

// verdict says how the rules of type time_window judge a span.
type verdict struct {
	forbidden bool
	warnings  int
}

// positions gives positions to ids.
type positions map[string]int

// of returns the position of an id, a new position for a new id, and absent without an id.
func (p positions) of(id string) int {
	if id == "" {
		return absent
	}
	if _, known := p[id]; !known {
		p[id] = len(p)
	}
	return p[id]
}

// newModel returns the model of a problem.
func newModel(p Problem) *model {
	m := &model{Problem: p, verdicts: map[span]verdict{}}
	for _, id := range slices.Sorted(maps.Keys(p.Rooms)) {
		m.rooms = append(m.rooms, room{id, valueOr(p.Rooms[id].Capacity, math.MaxInt)})
	}
	ids, people, tracks := positions{}, positions{}, positions{}
	for i, s := range slices.SortedFunc(slices.Values(p.Sessions), byID) {
		m.sessions = append(m.sessions, session{Session: s, fixed: true, length: hour, audience: valueOr(s.Audience, 0), track: tracks.of(s.Track)})
		added := &m.sessions[ids.of(s.ID)]
		if s.TakesTime() {
			added.length, added.keepsTime = s.Ends.UnixMilli()-s.Starts.UnixMilli(), p.Keep == KeepTimes || p.Keep == KeepBoth
		}
		m.tracks = append(m.tracks, make([]track, len(tracks)-len(m.tracks))...)
		if added.track != absent {
			m.tracks[added.track].sessions = append(m.tracks[added.track].sessions, i)
		}
		for _, id := range slices.Compact(slices.Sorted(slices.Values(s.People))) {
			added.people = append(added.people, people.of(id))
			m.people = append(m.people, make([][]int, len(people)-len(m.people))...)
			m.people[people[id]] = append(m.people[people[id]], i)
		}
	}
	for _, id := range p.Place {
		if i, known := ids[id]; known {
			m.sessions[i].fixed = false
		}
	}
	m.readRules(ids, tracks)
	for i := range m.sessions {
		s := &m.sessions[i]
		s.parent = absent
		if s.fixed && !s.TakesTime() {
			s.length = 0
		}
		if parent, known := ids[s.Parent]; known && parent != i {
			s.parent, m.sessions[parent].children = parent, append(m.sessions[parent].children, i)
		}
		s.starts, s.rooms = m.startsOf(s), m.roomsOf(s)
	}
	return m
}

func byID(a, b *conflict.Session) int { return cmp.Compare(a.ID, b.ID) }

func valueOr(n *int, without int) int {
	if n == nil {
		return without
	}
	return *n
}

// readRules notes the rules, except for the rules of type time_window.
func (m *model) readRules(ids, tracks positions) {
	capacityKnown := false
	for i := range m.Rules {
		r := &m.Rules[i]
		hard := r.Level == conflict.Error
		if r.Type == string(conflict.RoomCapacity) && !capacityKnown {
			capacityKnown, m.mayBeSmall = true, !hard
		}
		if gap := r.Gap().Milliseconds(); hard {
			m.gap = max(m.gap, gap)
		} else {
			m.warnedGaps = append(m.warnedGaps, gap)
		}
		if t, known := tracks[r.Track()]; known && hard {
			m.tracks[t].hard = true
		} else if known {
			m.tracks[t].warnings++
		}
		first, then := r.Order()
		before, known := ids[first]
		if after, isToo := ids[then]; known && isToo && before != after {
			m.sessions[before].orders = append(m.sessions[before].orders, order{before, after, hard})
			m.sessions[after].orders = append(m.sessions[after].orders, order{before, after, hard})
		}
	}
}

// startsOf returns the times when a session may start: the kept time, or the slots of each day.
func (m *model) startsOf(s *session) (starts []int64) {
	if s.keepsTime {
		return m.allowed(s, []int64{s.Starts.UnixMilli()})
	}
	for _, d := range m.Days {
		for start := d.Starts.UnixMilli(); start < d.Ends.UnixMilli(); start += max(m.Slot.Milliseconds(), minute) {
			starts = append(starts, start)
		}
	}
	return m.allowed(s, starts)
}

// allowed returns the starts with the session within a day and within each time_window of level error.
func (m *model) allowed(s *session, starts []int64) (allowed []int64) {
	for _, start := range starts {
		day, when := m.day(start), s.span(start)
		if day != absent && when.end <= m.Days[day].Ends.UnixMilli() && !m.verdict(when).forbidden {
			allowed = append(allowed, start)
		}
	}
	return allowed
}

// day returns the day of a time.
func (m *model) day(start int64) int {
	for i, d := range m.Days {
		if d.Starts.UnixMilli() <= start && start < d.Ends.UnixMilli() {
			return i
		}
	}
	return absent
}

// verdict returns how the rules of type time_window judge a span.
func (m *model) verdict(when span) verdict {
	v, known := m.verdicts[when]
	if known {
		return v
	}
	s := &conflict.Session{Starts: time.UnixMilli(when.start), Ends: time.UnixMilli(when.end)}
	for i := range m.Rules {
		if r := &m.Rules[i]; !r.Allows(s, m.Zone) && r.Level == conflict.Error {
			v.forbidden = true
		} else if !r.Allows(s, m.Zone) {
			v.warnings++
		}
	}
	m.verdicts[when] = v
	return v
}

// roomsOf returns the rooms for a session: the kept room, or the rooms of the problem with enough seats.
func (m *model) roomsOf(s *session) (rooms []int) {
	_, keeps := m.Problem.Rooms[s.Room]
	keeps = keeps && (m.Keep == KeepRooms || m.Keep == KeepBoth)
	for i, r := range m.rooms {
		wanted := keeps && r.id == s.Room || !keeps && (len(m.RoomIDs) == 0 || slices.Contains(m.RoomIDs, r.id))
		if wanted && (m.mayBeSmall || s.audience <= r.seats) {
			rooms = append(rooms, i)
		}
	}
	return rooms
}
