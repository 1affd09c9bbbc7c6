package board

import (
	"math"

	"lectern/shared/agenda/block"
	"lectern/shared/agenda/conflict"
)

// ban is a time in which a session should not start, whatever the room: from a time until before another, for a session.
type ban struct {
	from, until int64
	kind        kind
	with        *block.Session
}

// kind is the rule of a ban. A ban of busyPerson and the kinds after it is an obstacle.
type kind uint8

const (
	warned kind = iota
	clash
	otherDay
	busyPerson
	shortGap
	wrongOrder
)

// pointsOf has the points of a session that starts in spite of a ban, and causes the causes of obstacles.
var (
	pointsOf = [...]int{warningPoints, clashPoints, dayPoints, Forbidden, Forbidden, Forbidden}
	causes   = [...]string{
		busyPerson: "a person of the session is on another session", shortGap: "a person of the session has too short a gap",
		wrongOrder: "a rule of type order is broken",
	}
)

// Forbidden are more points than any free place has.
const Forbidden = 1 << 40

// StartPoints returns the points for each start of a block without a place, whatever the room. WindowPoints has the points of rules
// of type time_window. A start with an obstacle has Forbidden points or more. The result holds until the next call.
func (b *Board) StartPoints(top *block.Session) []int {
	b.points = append(b.points[:0], make([]int, len(top.Starts.Times)+1)...)
	for _, s := range top.Block {
		for _, ban := range b.bansOf(s) {
			first, end := top.Starts.First(ban.from-s.Offset), top.Starts.First(ban.until-s.Offset)
			b.points[first] += pointsOf[ban.kind]
			b.points[max(first, end)] -= pointsOf[ban.kind]
		}
	}
	sum := 0
	for i, change := range b.points {
		sum += change
		b.points[i] = sum
	}
	return b.points[:len(top.Starts.Times)]
}

// RoomPoints returns the points of a block without a place in a room, whatever the time, and whether the room has no
// obstacle.
func (b *Board) RoomPoints(top *block.Session, r *block.Room) (sum int, free bool) {
	c := Score{}
	b.found, b.enough = b.found[:0], 0
	for _, s := range top.Block {
		b.judgeRoom(s, r, &c)
	}
	return c.Total(), len(b.found) == 0
}

// UsageOf returns the use of a room by day. The result holds until the next call.
func (b *Board) UsageOf(r *block.Room) []Usage {
	b.usage = b.usage[:0]
	for range b.Days {
		b.usage = append(b.usage, unused)
	}
	for _, s := range r.Sessions {
		if !s.IsPart && s.Day != block.NoDay {
			b.usage[s.Day].add(s)
		}
	}
	return b.usage
}

// bansOf returns the bans of a session. They hold until the next call.
func (b *Board) bansOf(s *block.Session) []ban {
	b.bans = b.bans[:0]
	for _, p := range s.People {
		b.banPerson(s, p)
		b.banDays(p)
	}
	if s.Track != nil && !s.IsPart {
		for _, other := range s.Track.Sessions {
			if !other.IsPart && other.Top != s.Top && other.At.Start > block.Never {
				b.ban(clash, other, other.At.Start-s.Length+1, other.At.Start+other.Length)
			}
		}
	}
	for _, r := range s.Orders {
		b.banOrder(s, r)
	}
	return b.bans
}

// ban adds a ban.
func (b *Board) ban(k kind, with *block.Session, from, until int64) {
	if from < until {
		b.bans = append(b.bans, ban{from, until, k, with})
	}
}

// banPerson adds the bans of a person: the times of the other sessions of the person, with gaps.
func (b *Board) banPerson(s *block.Session, p *block.Group) {
	for _, other := range p.Sessions {
		if other.At.Start <= block.Never || conflict.Within(s.Of, other.Of) {
			continue
		}
		from, until := other.At.Start-s.Length+1, other.At.Start+other.Length
		if other.Top != s.Top {
			b.ban(busyPerson, other, from, until)
		}
		for _, gap := range b.Gaps {
			k := warned
			if gap.Hard {
				k = shortGap
			}
			if !conflict.Siblings(s.Of, other.Of) && (k == warned || other.Top != s.Top) {
				b.ban(k, other, from-gap.Time, from)
				b.ban(k, other, max(from, until), until+gap.Time)
			}
		}
	}
}

// banDays adds the bans of the days on which a person has no session, if the person has one on another day.
func (b *Board) banDays(p *block.Group) {
	days := uint64(0)
	for _, s := range p.Sessions {
		if s.Day != block.NoDay {
			days |= 1 << s.Day
		}
	}
	for i, day := range b.Days {
		if days != 0 && days&(1<<i) == 0 {
			b.ban(otherDay, nil, day.Start, day.End)
		}
	}
}

// banOrder adds the ban of a rule of type order. An order within a block is banned once.
func (b *Board) banOrder(s *block.Session, r *conflict.Rule) {
	k, before, after := warned, b.Known[r.Before], b.Known[r.After]
	if r.Level == conflict.Error {
		k = wrongOrder
	}
	switch {
	case before.Top == after.Top:
		if s == before && s.Offset+s.Length > after.Offset {
			b.ban(k, after, block.Never+1, math.MaxInt64)
		}
	case s == before && after.At.Start > block.Never:
		b.ban(k, after, after.At.Start-s.Length+1, math.MaxInt64)
	case s == after && before.At.Start > block.Never:
		b.ban(k, before, block.Never+1, before.At.Start+before.Length)
	}
}
