package conflict

import (
	"fmt"
	"time"
)

// evaluate finds what breaks rule i. Rooms and people are compared before.
func (c *check) evaluate(i int) {
	switch c.Rules[i].Type {
	case TimeWindow:
		c.checkWindow(i)
	case trackInOneRoom:
		c.checkTrack(i)
	case inOrder:
		c.checkOrder(i)
	}
}

// checkCapacity finds the sessions whose room is smaller than the expected audience.
func (c *check) checkCapacity() {
	for at, s := range c.sessions {
		room, known := c.roomOf(at)
		if !known || room.Capacity == nil || s.Audience == nil || *s.Audience <= *room.Capacity {
			continue
		}
		f := finding{fromCapacity, alone, c.tooSmall}
		f.Message = fmt.Sprintf("The session expects %d people, and room %s takes %d.", *s.Audience, room.Name, *room.Capacity)
		c.add(at, f)
	}
}

// addGap notes that people have too short a gap between two sessions.
func (c *check) addGap(i int, sessions pair, gap time.Duration, people []string) {
	for _, p := range bothWays(sessions.at, sessions.other) {
		f := finding{firstRule + i, p.other, c.broken(i, "%s on this session and on %s with %d minutes between them, less than %d.",
			peopleAre(people), c.sessions[p.other].Name, int(gap.Minutes()), c.Rules[i].minutes)}
		f.ContactIDs = people
		c.add(p.at, f)
	}
}

// checkWindow finds the sessions outside of a time_window, in the zone of the event.
func (c *check) checkWindow(i int) {
	if c.locals == nil { // The first of these rules.
		for _, s := range c.sessions {
			c.locals = append(c.locals, LocalOf(s.Starts, s.Ends, c.Zone))
		}
	}
	for at, s := range c.sessions {
		if s.TakesTime() && !c.Rules[i].Allows(c.locals[at]) {
			c.add(at, finding{firstRule + i, alone, c.broken(i, "The session is not %s.", c.Rules[i].window())})
		}
	}
}

// checkTrack finds the sessions of a track that are not in the room of the track: the room with
// most of the track's sessions, of several the room that is used first. The other session of the
// conflict is the first session in the room of the track.
func (c *check) checkTrack(i int) {
	count, first := map[string]int{}, map[string]int{}
	home := ""
	for at, s := range c.sessions {
		if !c.onTrack(i, at) {
			continue
		}
		if count[s.Room]++; count[s.Room] == 1 {
			first[s.Room] = at
		}
		if more := count[s.Room] - count[home]; more > 0 || more == 0 && first[s.Room] < first[home] {
			home = s.Room
		}
	}
	for at, s := range c.sessions {
		if c.onTrack(i, at) && s.Room != home {
			c.add(at, finding{firstRule + i, first[home], c.broken(i, "The room of the track is %s.", c.Rooms[home].Name)})
		}
	}
}

// onTrack reports whether a session is on the track of rule i and in a room.
func (c *check) onTrack(i, at int) bool {
	if c.sessions[at].Track == "" || c.sessions[at].Track != c.Rules[i].Track {
		return false
	}
	_, known := c.roomOf(at)
	return known
}

// checkOrder finds whether a session begins before the session that must come before it has ended.
func (c *check) checkOrder(i int) {
	before, isThere := c.position(c.Rules[i].Before)
	after, isToo := c.position(c.Rules[i].After)
	if !isThere || !isToo {
		return
	}
	first, then := c.sessions[before], c.sessions[after]
	if first.TakesTime() && then.TakesTime() && first.Ends.After(then.Starts) {
		c.add(before, finding{firstRule + i, after, c.broken(i, "The session must end before %s starts.", then.Name)})
		c.add(after, finding{firstRule + i, before, c.broken(i, "The session must start after %s has ended.", first.Name)})
	}
}

// position returns the position of a session, if the agenda has it.
func (c *check) position(id string) (at int, known bool) {
	if c.positions == nil { // The first rule of an order.
		c.positions = map[string]int{}
		for at, s := range c.sessions {
			c.positions[s.ID] = at
		}
	}
	at, known = c.positions[id]
	return at, known
}

// peopleAre begins a sentence about people.
func peopleAre(people []string) string {
	if len(people) == 1 {
		return "1 person is"
	}
	return fmt.Sprintf("%d people are", len(people))
}
