package solver

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"lectern/shared/agenda/conflict"
)

// The reasons for a session without a place.
const (
	parentUnplaced = "The parent session has no place."
	parentFull     = "The parent session has no time for the subsession beside the other subsessions."
	keptForbidden  = "The session keeps times that are outside of the days or break a rule of type time_window."
	keptBeside     = "The session keeps times that are outside of the parent session or beside another subsession."
	noStart        = "The days and the rules of type time_window leave no slot of %d minutes."
	noRoom         = "No room that the session may have has enough seats and keeps the rules of type track_in_one_room."
	noTime         = "The search ended before the session had a place."
)

// findChoices finds the starts and the rooms of a block, before any other block has a place. Subsessions are within
// the parent, so the parent decides about the starts. It returns the reason for a block without a place to choose from.
func (b *board) findChoices(top *session) (without string) {
	keeps, ids := b.problem.KeepRooms && slices.ContainsFunc(b.rooms, top.isIn), b.problem.RoomIDs
	for _, r := range b.rooms {
		wanted := len(ids) == 0 || slices.Contains(ids, r.id)
		if keeps {
			wanted = top.isIn(r)
		}
		if wanted && b.suits(r, top.block) {
			top.rooms = append(top.rooms, r)
		}
	}
	top.starts = b.startsOf(top)
	switch {
	case len(top.starts) == 0 && b.keepsTime(top):
		return keptForbidden
	case len(top.starts) == 0:
		return fmt.Sprintf(noStart, top.length/minute)
	case len(top.rooms) == 0:
		return noRoom
	}
	return ""
}

// suits reports whether a room has enough seats for the sessions of a block, and for a rule of type track_in_one_room and level
// error most fixed sessions of the track.
func (b *board) suits(r *room, block []*session) bool {
	for _, s := range block {
		t := s.track
		if r.seats < s.audience && !b.mayBeSmall || t != nil && t.hard && t.inRoom[r.number] < slices.Max(t.inRoom) {
			return false
		}
	}
	return true
}

func (b *board) keepsTime(s *session) bool { return s.of.TakesTime() && b.problem.KeepTimes }

// startsOf returns the starts for a block: the kept time, or else the slots. Sessions of the same length in minutes,
// rounded up, share a list.
func (b *board) startsOf(top *session) (starts []int64) {
	if b.keepsTime(top) {
		return b.allowed(nil, top.of.Starts.UnixMilli(), top.length, top.block)
	}
	length := (top.length + minute - 1) / minute * minute
	if starts, known := b.starts[length]; known && len(top.block) == 1 {
		return starts
	}
	for _, d := range b.days {
		for start := d.start; start < d.end; start += max(b.problem.Slot.Milliseconds(), minute) {
			starts = b.allowed(starts, start, length, top.block)
		}
	}
	if len(top.block) == 1 {
		b.starts[length] = starts
	}
	return starts
}

// allowed adds a start unless the block would be outside of the days, or a session of the block outside of a time_window of level
// error.
func (b *board) allowed(starts []int64, start, length int64, block []*session) []int64 {
	if day := b.dayOf(start); day == noDay || start+length > b.days[day].end || b.windowsOf(span{start, start + length}).errors > 0 {
		return starts
	}
	for _, s := range block[1:] {
		if b.windowsOf(s.span(place{start: start + s.offset})).errors > 0 {
			return starts
		}
	}
	return append(starts, start)
}

// broken are the numbers of broken rules by level.
type broken struct{ errors, warnings int }

// mostKnown bounds the memory for spans.
const mostKnown = 200_000

// windowsOf returns how many rules of type time_window a span breaks.
func (b *board) windowsOf(when span) broken {
	n, known := b.outside[when]
	if known || len(b.windows) == 0 || when.start <= never {
		return n
	}
	local := conflict.LocalOf(time.UnixMilli(when.start), time.UnixMilli(when.end), b.problem.Agenda.Zone)
	for _, r := range b.windows {
		if allowed := r.Allows(local); !allowed && r.Level == conflict.Error {
			n.errors++
		} else if !allowed {
			n.warnings++
		}
	}
	if len(b.outside) == mostKnown {
		clear(b.outside)
	}
	b.outside[when] = n
	return n
}

// mostJudged is how many places are judged for a reason, and mostCauses how many obstacles of each are looked at.
const mostJudged, mostCauses = 1000, 20

// explain gives a block a free place, or says why it has none.
func (s *search) explain(of *session) string {
	times, by, judged := map[string]int{}, map[string]string{}, 0
	for i := 0; i < of.choices(); i += 1 + of.choices()/mostJudged {
		_, found := s.judge(of, of.choice(i), mostCauses)
		if len(found) == 0 {
			s.move(of, of.choice(i))
			return ""
		}
		if judged++; judged%64 == 1 && s.over() {
			return noTime
		}
		for _, o := range found {
			times[o.cause]++
			by[o.cause] = o.session.of.Name
		}
	}
	var parts []string
	for _, cause := range slices.Sorted(maps.Keys(times)) {
		parts = append(parts, fmt.Sprintf("%s (%d times in %d places, for example by %s)", cause, times[cause], judged, by[cause]))
	}
	return "No place is free: " + strings.Join(parts, "; ") + "."
}
