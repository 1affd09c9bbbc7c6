package board

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"lectern/shared/agenda/block"
)

// The reasons for a block without a place to choose from.
const (
	keptForbidden = "The session keeps times that are outside of the days or break a rule of type time_window."
	noStart       = "The days and the rules of type time_window leave no slot of %d minutes."
	noRoom        = "No room that the session may have has enough seats and keeps the rules of type track_in_one_room."
)

// Choose finds the starts and the rooms of a block, before any other block has a place. It returns the reason for a
// block without a place to choose from.
func (b *Board) Choose(top *block.Session) (without string) {
	keeps, ids := b.limits.KeepRooms && slices.ContainsFunc(b.Rooms, top.IsIn), b.limits.RoomIDs
	for _, r := range b.Rooms {
		wanted := len(ids) == 0 || slices.Contains(ids, r.ID)
		if keeps {
			wanted = top.IsIn(r)
		}
		if wanted && b.suits(r, top.Block) {
			top.Rooms = append(top.Rooms, r)
		}
	}
	top.Starts = b.allowedParts(top, b.startsOf(top))
	switch none := len(top.Starts.Times) == 0; {
	case none && b.keepsTime(top):
		return keptForbidden
	case none:
		return fmt.Sprintf(noStart, top.Length/block.Minute)
	case len(top.Rooms) == 0:
		return noRoom
	}
	return ""
}

// keepsTime reports whether a block keeps the present time.
func (b *Board) keepsTime(top *block.Session) bool { return top.Of.TakesTime() && b.limits.KeepTimes }

// startsOf returns the starts for a block: the kept time, or else the slots. Blocks of the same length in minutes, rounded
// up, share a list.
func (b *Board) startsOf(top *block.Session) *block.Starts {
	if b.keepsTime(top) {
		return block.NewStarts(b.allowed(nil, top.Of.Starts.UnixMilli(), top.Length))
	}
	length := (top.Length + block.Minute - 1) / block.Minute * block.Minute
	if b.starts[length] == nil {
		var times []int64
		for _, d := range b.Days {
			for start := d.Start; start < d.End; start += max(b.limits.Slot.Milliseconds(), block.Minute) {
				times = b.allowed(times, start, length)
			}
		}
		b.starts[length] = block.NewStarts(times)
	}
	return b.starts[length]
}

// allowed adds a start unless a block of the length would be outside of the days or of a time_window of level error.
func (b *Board) allowed(starts []int64, start, length int64) []int64 {
	day, when := b.DayOf(start), block.Span{Start: start, End: start + length}
	if day == block.NoDay || when.End > b.Days[day].End || b.Outside(when).Errors > 0 {
		return starts
	}
	return append(starts, start)
}

// clocksChange reports whether clocks change between the start and the end of a day. On all other days a session within a
// span that a time_window allows is allowed.
func clocksChange(zone *time.Location, days []block.Day) bool {
	zone = cmp.Or(zone, time.UTC)
	for _, d := range days {
		if d.Starts.In(zone).Format("-0700") != d.Ends.In(zone).Format("-0700") {
			return true
		}
	}
	return false
}

// allowedParts returns the starts of a block with each session of the block within each time_window of level error.
func (b *Board) allowedParts(top *block.Session, of *block.Starts) *block.Starts {
	if !b.clocksChange || len(top.Block) == 1 && top.Length%block.Minute == 0 {
		return of
	}
	var starts []int64
	for _, start := range of.Times {
		broken := 0
		for _, part := range top.Block {
			broken += b.Outside(part.Span(block.Place{Start: start + part.Offset})).Errors
		}
		if broken == 0 {
			starts = append(starts, start)
		}
	}
	return block.NewStarts(starts)
}

// suits reports whether a room has enough seats for the sessions of a block, and for a rule of type track_in_one_room and level
// error most fixed sessions of the track.
func (b *Board) suits(r *block.Room, parts []*block.Session) bool {
	for _, s := range parts {
		t := s.Track
		if r.Seats < s.Audience && !b.MayBeSmall || t != nil && t.Hard && !s.Roomless && t.InRoom[r.Number] < slices.Max(t.InRoom) {
			return false
		}
	}
	return true
}
