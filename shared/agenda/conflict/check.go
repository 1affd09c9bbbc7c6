package conflict

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Check returns the sessions with conflicts, in the order of the agenda: by start, end and id, then
// the sessions without times. Each lists overlaps of rooms, overlaps of people, the capacity of its
// room and broken rules in the order of the rules. Within these, the other sessions are in the
// order of the agenda. A conflict of two sessions is in the lists of both, and of a
// track_in_one_room in that of the session to move. Check returns
// ErrTooMany for more than Max conflicts.
func Check(a Agenda) ([]Found, error) {
	c := newCheck(a)
	c.compareRooms()
	c.comparePeople()
	c.checkCapacity()
	for i := range c.Rules {
		if c.full() {
			break
		}
		c.evaluate(i)
	}
	if c.full() {
		return nil, ErrTooMany
	}
	var found []Found
	for at, findings := range c.findings {
		if len(findings) > 0 {
			found = append(found, Found{c.sessions[at], inListOrder(findings)})
		}
	}
	return found, nil
}

// check holds the state of one check. It names sessions by their position in the order of the agenda.
type check struct {
	Agenda
	sessions []*Session
	// people are the sorted ids of the people on each session.
	people [][]string
	// findings are the conflicts found so far, by session. count is their number, where a conflict of
	// several people counts for each.
	findings [][]finding
	count    int
	// inRoom, ofPeople and tooSmall are conflicts of the types that need no rule, without their sessions.
	inRoom, ofPeople, tooSmall Conflict
	// gaps are the rules of the type min_gap_minutes, and person is the person whose sessions are
	// compared.
	gaps   []int
	person string
	// locals are the local times of the sessions; nil before the first time_window. positions are the positions of
	// the sessions by id; nil before the first order.
	locals    []Local
	positions map[string]int
}

// finding is a conflict with its place in the list of its session: by source, then by the position
// of the other session.
type finding struct {
	source, other int
	Conflict
}

// compare compares the places of two conflicts in the list of a session.
func (f finding) compare(other finding) int {
	return cmp.Or(cmp.Compare(f.source, other.source), cmp.Compare(f.other, other.other))
}

// The sources of findings. Rule i has the source firstRule+i.
const (
	fromRooms = iota
	fromPeople
	fromCapacity
	firstRule
)

// alone is the other session of a conflict of one session.
const alone = -1

func newCheck(a Agenda) *check {
	c := &check{Agenda: a, sessions: slices.SortedFunc(slices.Values(a.Sessions), ByTime)}
	c.findings = make([][]finding, len(c.sessions))
	c.inRoom, c.ofPeople = c.withoutRule(RoomOverlap, noRoomOverlap), c.withoutRule(ParticipantOverlap, noParticipantOverlap)
	c.tooSmall = c.withoutRule(RoomCapacity, roomCapacity)
	c.people = make([][]string, len(c.sessions))
	for at, s := range c.sessions {
		people := slices.Clone(s.People)
		slices.Sort(people)
		c.people[at] = slices.Compact(people)
	}
	for i, r := range c.Rules {
		if r.Type == minGapMinutes {
			c.gaps = append(c.gaps, i)
		}
	}
	return c
}

// inListOrder returns the conflicts of a session in the order of its list.
func inListOrder(findings []finding) []Conflict {
	slices.SortFunc(findings, finding.compare)
	list := make([]Conflict, len(findings))
	for i, f := range findings {
		list[i] = f.Conflict
	}
	return list
}

// full reports whether the check has found too much.
func (c *check) full() bool { return c.count > Max }

// add adds a conflict to the list of a session.
func (c *check) add(at int, f finding) {
	if f.other != alone {
		f.SessionID = c.sessions[f.other].ID
	}
	c.findings[at] = append(c.findings[at], f)
	c.count += max(1, len(f.ContactIDs))
}

// withoutRule returns a conflict of a type that needs no rule. The first rule of the kind gives it its
// id and level.
func (c *check) withoutRule(of Type, kind string) Conflict {
	r := FirstOf(c.Rules, kind)
	return Conflict{Type: of, Level: r.Level, RuleID: r.ID}
}

// broken returns a conflict with rule i.
func (c *check) broken(i int, format string, values ...any) Conflict {
	r := c.Rules[i]
	return Conflict{Type: BrokenRule, Level: r.Level, RuleID: r.ID, Message: fmt.Sprintf(format, values...)}
}

// roomOf returns the room of a session, if the event has it.
func (c *check) roomOf(at int) (Room, bool) {
	room, known := c.Rooms[c.sessions[at].Room]
	return room, known
}

// compareRooms finds the overlaps of sessions in each room.
func (c *check) compareRooms() {
	inRoom := map[string][]int{}
	for at, s := range c.sessions {
		if _, known := c.roomOf(at); known && s.TakesTime() {
			inRoom[s.Room] = append(inRoom[s.Room], at)
		}
	}
	for _, list := range inRoom {
		c.sweep(list, 0, c.shareRoom)
	}
}

// comparePeople finds the overlaps of each person's sessions, and the gaps that are too short.
func (c *check) comparePeople() {
	longest := time.Duration(0)
	for _, i := range c.gaps {
		longest = max(longest, c.Rules[i].Gap())
	}
	of := map[string][]int{}
	for at, s := range c.sessions {
		if !s.TakesTime() {
			break
		}
		for _, id := range c.people[at] {
			of[id] = append(of[id], at)
		}
	}
	for id, list := range of {
		c.person = id
		c.sweep(list, longest, c.sharePerson)
	}
}

// sweep calls compare for every two sessions of a list in the order of the agenda that overlap or
// are less than gap apart, until the check is full. A session is open while a later session can be so near.
func (c *check) sweep(list []int, gap time.Duration, compare func(earlier, later int)) {
	var open []int
	for _, later := range list {
		kept := 0
		for _, earlier := range open {
			if c.full() {
				return
			}
			if c.sessions[earlier].Ends.Add(gap).After(c.sessions[later].Starts) {
				open[kept] = earlier
				kept++
				compare(earlier, later)
			}
		}
		open = append(open[:kept], later)
	}
}

// shareRoom notes that two sessions are in one room at one time. A subsession takes place within
// its parent.
func (c *check) shareRoom(earlier, later int) {
	if Within(c.sessions[earlier], c.sessions[later]) {
		return
	}
	room, _ := c.roomOf(earlier)
	for _, pair := range bothWays(earlier, later) {
		f := finding{fromRooms, pair.other, c.inRoom}
		f.Message = "This session and " + c.sessions[pair.other].Name + " are in room " + room.Name + " at the same time."
		c.add(pair.at, f)
	}
}

// sharePerson notes that people are on two sessions at one time, or with too short a gap. Sessions
// with several people in common are compared for each of them, and noted for the first alone.
func (c *check) sharePerson(earlier, later int) {
	if Within(c.sessions[earlier], c.sessions[later]) || !firstShared(c.person, c.people[earlier], c.people[later]) {
		return
	}
	both := slices.Collect(shared(c.people[earlier], c.people[later]))
	gap := c.sessions[later].Starts.Sub(c.sessions[earlier].Ends)
	if gap < 0 {
		c.addOverlap(earlier, later, both)
		return
	}
	if Siblings(c.sessions[earlier], c.sessions[later]) {
		return
	}
	for _, i := range c.gaps {
		if gap < c.Rules[i].Gap() {
			c.addGap(i, pair{earlier, later}, gap, both)
		}
	}
}

// addOverlap notes that people are on two sessions at one time.
func (c *check) addOverlap(earlier, later int, people []string) {
	for _, pair := range bothWays(earlier, later) {
		f := finding{fromPeople, pair.other, c.ofPeople}
		f.ContactIDs = people
		f.Message = peopleAre(people) + " on this session and on " + c.sessions[pair.other].Name + " at the same time."
		c.add(pair.at, f)
	}
}

// pair is a session with another.
type pair struct{ at, other int }

func bothWays(a, b int) [2]pair { return [2]pair{{a, b}, {b, a}} }
