package block

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"lectern/shared/agenda/conflict"
)

// Program is an agenda in blocks.
type Program struct {
	// Sessions are in the order of their ids, Days in the order of time. Known has the sessions by id.
	Sessions []*Session
	Known    map[string]*Session
	Days     []Span
	Rooms    []*Room
	// Gaps are the rules of type min_gap_minutes, and Windows those of type time_window, which are about times in the Zone.
	Gaps    []Gap
	Windows []*conflict.Rule
	Zone    *time.Location
	// MayBeSmall reports whether a room may have too few seats, with a warning.
	MayBeSmall bool
	groups     map[string]*Group
}

// Gap is a rule of type min_gap_minutes: the time in milliseconds, and whether the level is error.
type Gap struct {
	Time int64
	Hard bool
}

// New returns the blocks of an agenda, all without a place. The sessions to place have the ids, and are parents or subsessions of
// such. keepTimes says that a subsession cannot leave its present time.
func New(a conflict.Agenda, days []Day, ids []string, keepTimes bool) *Program {
	p := &Program{Zone: a.Zone, Known: map[string]*Session{}, groups: map[string]*Group{}}
	for _, d := range days {
		p.Days = append(p.Days, Span{d.Starts.UnixMilli(), d.Ends.UnixMilli()})
	}
	slices.SortFunc(p.Days, func(x, y Span) int { return cmp.Compare(x.Start, y.Start) })
	for number, id := range slices.Sorted(maps.Keys(a.Rooms)) {
		p.Rooms = append(p.Rooms, &Room{ID: id, Number: number, Seats: valueOr(a.Rooms[id].Capacity, math.MaxInt)})
	}
	for _, of := range a.Sessions {
		p.Known[of.ID] = &Session{Of: of, Fixed: true, At: Nowhere, Day: NoDay, Audience: valueOr(of.Audience, 0)}
	}
	for _, id := range slices.Sorted(maps.Keys(p.Known)) {
		s := p.Known[id]
		if p.Sessions = append(p.Sessions, s); s.Of.TakesTime() {
			s.Length = s.Of.Ends.UnixMilli() - s.Of.Starts.UnixMilli()
		}
		p.group(s)
	}
	p.readRules(a.Rules)
	p.makeBlocks(ids, keepTimes)
	return p
}

// valueOr returns a number, or another number instead of nil.
func valueOr(n *int, without int) int {
	if n == nil {
		return without
	}
	return *n
}

// group adds a session to the groups of its track and its people.
func (p *Program) group(s *Session) {
	if s.Of.Track != "" {
		s.Track = p.join("track "+s.Of.Track, s)
		if s.Track.InRoom == nil {
			s.Track.InRoom = make([]int, len(p.Rooms))
		}
	}
	for _, person := range slices.Compact(slices.Sorted(slices.Values(s.Of.People))) {
		s.People = append(s.People, p.join("person "+person, s))
	}
}

// join adds a session to the group of a name.
func (p *Program) join(name string, s *Session) *Group {
	g := p.groups[name]
	if g == nil {
		g = &Group{}
		p.groups[name] = g
	}
	g.Sessions = append(g.Sessions, s)
	return g
}

// readRules notes the rules by type.
func (p *Program) readRules(rules []conflict.Rule) {
	p.MayBeSmall = conflict.FirstOf(rules, string(conflict.RoomCapacity)).Level == conflict.Warning
	for i := range rules {
		r := &rules[i]
		if r.Gap() > 0 {
			p.Gaps = append(p.Gaps, Gap{r.Gap().Milliseconds(), r.Level == conflict.Error})
		} else if r.Type == conflict.TimeWindow {
			p.Windows = append(p.Windows, r)
		}
		if t := p.groups["track "+r.Track]; t != nil && r.Level == conflict.Error {
			t.Hard = true
		} else if t != nil {
			t.Warnings++
		}
		if before, after := p.Known[r.Before], p.Known[r.After]; before != nil && after != nil {
			before.Orders, after.Orders = append(before.Orders, r), append(after.Orders, r)
		}
	}
}

// The reasons for a subsession without a place in the block.
const (
	parentFull = "The parent session has no time for the subsession beside the other subsessions."
	keptBeside = "The session keeps times that do not fit into the parent session, or not beside another subsession."
)

// makeBlocks makes the blocks of the sessions to place. Each fixed session is a block of its own. A subsession at another location
// without a room needs no seats.
func (p *Program) makeBlocks(ids []string, keepTimes bool) {
	parts := map[*Session][]*Session{}
	for _, s := range p.Sessions {
		s.Top, s.Block = s, []*Session{s}
		if parent := p.Known[s.Of.Parent]; parent != nil && p.Known[parent.Of.Parent] == nil {
			s.IsPart, parts[parent] = true, append(parts[parent], s)
			if s.Roomless = s.Of.Elsewhere && s.Of.Room == ""; s.Roomless {
				s.Audience = 0
			}
		}
	}
	for _, id := range ids {
		s := p.Known[id]
		if s != nil && s.IsPart {
			s = p.Known[s.Of.Parent]
		}
		if s != nil && s.Fixed {
			s.layOut(parts[s], keepTimes)
		}
	}
}

// layOut makes the block of a session to place: the subsessions at their present times if the times follow each other
// within the parent, or else one after another. Subsessions without times and length have equal shares of the time of the parent.
func (s *Session) layOut(parts []*Session, keepTimes bool) {
	slices.SortFunc(parts, func(x, y *Session) int { return conflict.ByTime(x.Of, y.Of) })
	s.Fixed, s.Length = false, cmp.Or(s.Length, s.Of.Length.Milliseconds(), 60*Minute)
	end := int64(0)
	for _, part := range parts {
		part.Fixed, part.Offset = false, end
		part.Length = cmp.Or(part.Length, part.Of.Length.Milliseconds(), s.Length/int64(len(parts))/Minute*Minute)
		timed, present := part.Of.TakesTime(), part.Of.Starts.Sub(s.Of.Starts).Milliseconds()
		fits := timed && s.Of.TakesTime() && present >= end && present+part.Length <= s.Length
		if fits {
			part.Offset = present
		}
		switch {
		case timed && keepTimes && !fits:
			part.Reason = keptBeside
		case part.Length <= 0 || part.Offset+part.Length > s.Length:
			part.Reason = parentFull
		default:
			end, part.Top, s.Block = part.Offset+part.Length, s, append(s.Block, part)
		}
	}
}

// DayOf returns the number of the day of a time.
func (p *Program) DayOf(start int64) int {
	for i, d := range p.Days {
		if d.Start <= start && start < d.End {
			return i
		}
	}
	return NoDay
}
