package solver

import (
	"fmt"
	"maps"
	"slices"
	"strings"

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

// findChoices finds the starts and the rooms of a block, before any other block has a place. Subsessions are within
// the parent, so the parent decides about the starts. It returns the reason for a block without a place to choose from.
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
	top.Starts = s.startsOf(top)
	switch {
	case len(top.Starts) == 0 && s.keepsTime(top):
		return keptForbidden
	case len(top.Starts) == 0:
		return fmt.Sprintf(noStart, top.Length/board.Minute)
	case len(top.Rooms) == 0:
		return noRoom
	}
	return ""
}

// keepsTime reports whether a block keeps the present time.
func (s *search) keepsTime(top *board.Session) bool { return top.Of.TakesTime() && s.problem.KeepTimes }

// startsOf returns the starts for a block: the kept time, or else the slots. Sessions of the same length in minutes,
// rounded up, share a list.
func (s *search) startsOf(top *board.Session) (starts []int64) {
	if s.keepsTime(top) {
		return s.allowed(nil, top.Of.Starts.UnixMilli(), top.Length, top.Block)
	}
	length := (top.Length + board.Minute - 1) / board.Minute * board.Minute
	if starts, known := s.starts[length]; known && len(top.Block) == 1 {
		return starts
	}
	for _, d := range s.Days {
		for start := d.Start; start < d.End; start += max(s.problem.Slot.Milliseconds(), board.Minute) {
			starts = s.allowed(starts, start, length, top.Block)
		}
	}
	if len(top.Block) == 1 {
		s.starts[length] = starts
	}
	return starts
}

// allowed adds a start unless the block would be outside of the days, or a session of the block outside of a time_window of level
// error.
func (s *search) allowed(starts []int64, start, length int64, block []*board.Session) []int64 {
	day, when := s.DayOf(start), board.Span{Start: start, End: start + length}
	if day == board.NoDay || when.End > s.Days[day].End || s.Windows(when).Errors > 0 {
		return starts
	}
	for _, part := range block[1:] {
		if s.Windows(part.Span(board.Place{Start: start + part.Offset})).Errors > 0 {
			return starts
		}
	}
	return append(starts, start)
}

// mostJudged is how many places are judged for a reason, and mostCauses how many obstacles of each are looked at.
const mostJudged, mostCauses = 1000, 20

// explain gives a block a free place, or says why it has none.
func (s *search) explain(of *board.Session) string {
	times, by, judged := map[string]int{}, map[string]string{}, 0
	for i := 0; i < of.Choices(); i += 1 + of.Choices()/mostJudged {
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
