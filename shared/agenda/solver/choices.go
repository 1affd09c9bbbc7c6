package solver

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"lectern/shared/agenda/board"
)

// The reasons for a session without a place.
const (
	parentUnplaced = "The parent session has no place."
	keptForbidden  = "The session keeps times that are outside of the days or break a rule of type time_window."
	noStart        = "The days and the rules of type time_window leave no slot of %d minutes."
	noRoom         = "No room that the session may have has enough seats and keeps the rules of type track_in_one_room."
	noTime         = "The search ended before the session had a place."
)

// findChoices finds the starts and the rooms of a block, before any other block has a place. It returns the reason for a
// block without a place to choose from.
func (s *search) findChoices(top *board.Session) (without string) {
	keeps, ids := s.problem.KeepRooms && slices.ContainsFunc(s.Rooms, top.IsIn), s.problem.RoomIDs
	for _, r := range s.Rooms {
		wanted := len(ids) == 0 || slices.Contains(ids, r.ID)
		if keeps {
			wanted = top.IsIn(r)
		}
		if wanted && s.Suits(r, top.Block) {
			top.Rooms = append(top.Rooms, r)
		}
	}
	top.Starts = s.allowedParts(top, s.startsOf(top))
	switch none := len(top.Starts.Times) == 0; {
	case none && s.keepsTime(top):
		return keptForbidden
	case none:
		return fmt.Sprintf(noStart, top.Length/board.Minute)
	case len(top.Rooms) == 0:
		return noRoom
	}
	return ""
}

// keepsTime reports whether a block keeps the present time.
func (s *search) keepsTime(top *board.Session) bool { return top.Of.TakesTime() && s.problem.KeepTimes }

// startsOf returns the starts for a block: the kept time, or else the slots. Blocks of the same length in minutes, rounded
// up, share a list.
func (s *search) startsOf(top *board.Session) *board.Starts {
	if s.keepsTime(top) {
		return board.NewStarts(s.allowed(nil, top.Of.Starts.UnixMilli(), top.Length))
	}
	length := (top.Length + board.Minute - 1) / board.Minute * board.Minute
	if s.starts[length] == nil {
		var times []int64
		for _, d := range s.Days {
			for start := d.Start; start < d.End; start += max(s.problem.Slot.Milliseconds(), board.Minute) {
				times = s.allowed(times, start, length)
			}
		}
		s.starts[length] = board.NewStarts(times)
	}
	return s.starts[length]
}

// allowed adds a start unless a block of the length would be outside of the days or of a time_window of level error.
func (s *search) allowed(starts []int64, start, length int64) []int64 {
	day, when := s.DayOf(start), board.Span{Start: start, End: start + length}
	if day == board.NoDay || when.End > s.Days[day].End || s.Windows(when).Errors > 0 {
		return starts
	}
	return append(starts, start)
}

// clocksChange reports whether clocks change between the start and the end of a day. On all other days a session within a
// span that a time_window allows is allowed.
func clocksChange(p Problem) bool {
	zone := cmp.Or(p.Agenda.Zone, time.UTC)
	for _, d := range p.Days {
		if d.Starts.In(zone).Format("-0700") != d.Ends.In(zone).Format("-0700") {
			return true
		}
	}
	return false
}

// allowedParts returns the starts of a block with each session of the block within each time_window of level error.
func (s *search) allowedParts(top *board.Session, of *board.Starts) *board.Starts {
	if !s.clocksChange || len(top.Block) == 1 && top.Length%board.Minute == 0 {
		return of
	}
	var starts []int64
	for _, start := range of.Times {
		broken := 0
		for _, part := range top.Block {
			broken += s.Windows(part.Span(board.Place{Start: start + part.Offset})).Errors
		}
		if broken == 0 {
			starts = append(starts, start)
		}
	}
	return board.NewStarts(starts)
}

// mostJudged is how many places are judged for a reason, and mostCauses how many obstacles of each are looked at.
const mostJudged, mostCauses = 1000, 20

// explain gives a block a free place, or says why none of its places is free. Of more than mostJudged places it looks at
// random ones.
func (s *search) explain(of *board.Session) string {
	times, by, judged := map[string]int{}, map[string]string{}, 0
	for i := range min(of.Choices(), mostJudged) {
		if of.Choices() > mostJudged {
			i = s.IntN(of.Choices())
		}
		_, found := s.Judge(of, of.Choice(i), mostCauses)
		if len(found) == 0 {
			s.Move(of, of.Choice(i))
			return ""
		}
		if judged++; judged%64 == 1 && s.over() {
			return noTime
		}
		for _, o := range found {
			times[o.Cause]++
			by[o.Cause] = o.Session.Of.Name
		}
	}
	var parts []string
	for _, cause := range slices.Sorted(maps.Keys(times)) {
		parts = append(parts, fmt.Sprintf("%s (%d times in %d places, for example by %s)", cause, times[cause], judged, by[cause]))
	}
	return "No place is free: " + strings.Join(parts, "; ") + "."
}
