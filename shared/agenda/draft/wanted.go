package draft

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"lectern/shared/agenda/block"
	"lectern/shared/agenda/board"
	"lectern/shared/agenda/conflict"
	"lectern/shared/agenda/live"
	"lectern/shared/agenda/solver"
	"lectern/shared/apierr"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Wanted says what a proposal places, where and how.
type Wanted struct {
	Days        []Day    `json:"days" nullable:"false" minItems:"1" maxItems:"31" doc:"The times for sessions. They do not overlap."`
	SlotMinutes int      `json:"slot_minutes" minimum:"1" maximum:"1440" doc:"Sessions start at multiples of it after the start of a day."`
	SessionIDs  []string `json:"session_ids,omitempty" format:"uuid" minItems:"1" maxItems:"5000" doc:"The sessions to place, with their parents and subsessions; without it, all sessions of the agenda but those with the location virtual or other that the draft has in no room, and their subsessions."`
	RoomIDs     []string `json:"room_ids,omitempty" format:"uuid" minItems:"1" maxItems:"1000" doc:"The rooms to use; without it, all rooms of the event."`
	Statuses    []string `json:"statuses,omitempty" minItems:"1" maxItems:"4" enum:"accepted,accept_queue,pending,decline_queue" doc:"Places only sessions with these statuses, with their parents and subsessions."`
	Keep        string   `json:"keep,omitempty" enum:"none,times,rooms,both" default:"none" doc:"The parts of the present places that stay."`
	Seed        int64    `json:"seed,omitempty" minimum:"0" default:"0" doc:"Another seed gives another agenda."`
	TimeLimit   int64    `json:"time_limit_ms,omitempty" minimum:"1" maximum:"20000" default:"5000" doc:"The longest time of the search. It is shorter where the draft needs the time to be written."`
}

// Day is a time for sessions.
type Day struct {
	StartsAt wire.Time `json:"starts_at" doc:"When the first session may start."`
	EndsAt   wire.Time `json:"ends_at" doc:"When the last session must end: within 24 hours."`
}

// The most starts that days have, and places: starts times rooms.
const maxStarts, maxPlaces = 5_000, 100_000

// starts returns how many starts the days have. It refuses too many, and days that are no days or overlap.
func (w *Wanted) starts() (n int, err error) {
	slices.SortFunc(w.Days, func(a, b Day) int { return a.StartsAt.Compare(b.StartsAt.Time) })
	for i, d := range w.Days {
		length := d.EndsAt.Sub(d.StartsAt.Time)
		if length <= 0 || length > 24*time.Hour || i > 0 && d.StartsAt.Before(w.Days[i-1].EndsAt.Time) {
			return 0, apierr.Invalid("days", "Each of the days must end after its starts_at and within 24 hours. "+
				"Days must not overlap.")
		}
		n += 1 + int(length/time.Minute)/w.SlotMinutes
	}
	if n > maxStarts {
		return 0, apierr.Invalid("slot_minutes", "days and slot_minutes give %d starts; the most are %d.", n, maxStarts)
	}
	return n, nil
}

// problem returns the problem for the solver. Its deadline leaves time to write the placements. ids has the placements' ids by
// session. The error names sessions and rooms that the agenda does not have, or too many places.
func (w *Wanted) problem(ctx context.Context, a live.Agenda, ids map[string]string, starts int) (p solver.Problem, err error) {
	p = solver.Problem{
		Agenda: a.Agenda,
		Limits: board.Limits{
			RoomIDs: slices.Compact(slices.Sorted(slices.Values(w.RoomIDs))), Slot: time.Duration(w.SlotMinutes) * time.Minute,
			KeepTimes: w.Keep == "times" || w.Keep == "both", KeepRooms: w.Keep == "rooms" || w.Keep == "both",
		},
		Seed: uint64(w.Seed), Steps: math.MaxInt, //nolint:gosec // the seed is not negative
	}
	for _, d := range w.Days {
		p.Days = append(p.Days, block.Day{Starts: d.StartsAt.Time, Ends: d.EndsAt.Time})
	}
	for _, id := range w.RoomIDs {
		if _, known := a.Rooms[id]; !known {
			return p, apierr.Invalid("room_ids", "There is no room %s on this event.", id)
		}
	}
	if rooms := cmp.Or(len(p.RoomIDs), len(a.Rooms)); starts*rooms > maxPlaces {
		return p, apierr.Invalid("slot_minutes", "%d starts in %d rooms are more than %d places.", starts, rooms, maxPlaces)
	}
	if p.SessionIDs, err = w.sessions(a, ids); err != nil {
		return p, err
	}
	p.Deadline = time.Now().Add(time.Duration(w.TimeLimit) * time.Millisecond)
	if end, ok := ctx.Deadline(); ok {
		end = end.Add(-write.LastStep - timeToLock - time.Duration(len(p.SessionIDs))*timeToWrite)
		p.Deadline = slices.MinFunc([]time.Time{p.Deadline, end}, time.Time.Compare)
	}
	return p, nil
}

// timeToLock is the time that the lock takes, timeToWrite that of the write of a placement beside others.
const (
	timeToLock  = 200 * time.Millisecond
	timeToWrite = 2 * time.Millisecond
)

// sessions returns the sessions to place, with their parents and subsessions: the named sessions, or else all but those that stay
// at another location. placed has the ids of the placements by session. The error names a session outside of the agenda.
func (w *Wanted) sessions(a live.Agenda, placed map[string]string) (ids []string, err error) {
	tops, elsewhere, wanted := make(map[string]string, len(a.Sessions)), map[string]bool{}, map[string]bool{}
	for _, s := range a.Sessions {
		tops[s.ID], elsewhere[s.ID] = cmp.Or(s.Parent, s.ID), staysElsewhere(s, placed[s.ID] != "")
	}
	named := w.SessionIDs
	for _, s := range a.Sessions {
		if w.SessionIDs == nil && !elsewhere[tops[s.ID]] {
			named = append(named, s.ID)
		}
	}
	for _, id := range named {
		if tops[id] == "" {
			return nil, apierr.Invalid("session_ids", "There is no session %s on the agenda of this event.", id)
		}
		if w.Statuses == nil || a.HasStatus(id, w.Statuses) {
			wanted[tops[id]] = true
		}
	}
	for _, s := range a.Sessions {
		if wanted[tops[s.ID]] {
			ids = append(ids, s.ID)
		}
	}
	return ids, nil
}

// staysElsewhere reports whether a session is at another location than a room, and stays there. A placement without times says that
// an earlier proposal has found no room for the session.
func staysElsewhere(s *conflict.Session, placed bool) bool {
	return s.Elsewhere && s.Room == "" && (!placed || s.TakesTime())
}
