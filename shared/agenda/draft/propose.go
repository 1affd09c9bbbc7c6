package draft

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"net/http"
	"slices"
	"time"

	"lectern/shared/agenda/conflict"
	"lectern/shared/agenda/live"
	"lectern/shared/agenda/solver"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/record"
	"lectern/shared/resource"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Wanted says what a proposal places, where and how.
type Wanted struct {
	Days        []Day    `json:"days" nullable:"false" minItems:"1" maxItems:"31" doc:"The times for sessions. They do not overlap."`
	SlotMinutes int      `json:"slot_minutes" minimum:"1" maximum:"1440" doc:"Sessions start at multiples of it after the start of a day."`
	SessionIDs  []string `json:"session_ids,omitempty" format:"uuid" minItems:"1" maxItems:"5000" doc:"The sessions to place, with their parents and subsessions; without it, all sessions of the agenda."`
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

// Proposal says what a proposal has placed.
type Proposal struct {
	Placed   int               `json:"placed" doc:"How many sessions have a place."`
	Unplaced []solver.Unplaced `json:"unplaced" nullable:"false" doc:"The sessions without a place."`
	Score    solver.Score      `json:"score" doc:"The penalties of the agenda by part; less is better."`
	Seed     int64             `json:"seed" doc:"The seed of the search."`
	Steps    int               `json:"steps" doc:"How many moves the search tried."`
}

// The most starts that days have, and places: starts times rooms.
const maxStarts, maxPlaces = 5_000, 100_000

// check refuses days that are no days, that overlap, or that have too many starts.
func (w *Wanted) check() (starts int, err error) {
	slices.SortFunc(w.Days, func(a, b Day) int { return a.StartsAt.Compare(b.StartsAt.Time) })
	for i, d := range w.Days {
		length := d.EndsAt.Sub(d.StartsAt.Time)
		switch {
		case length <= 0:
			return 0, apierr.Invalid("days", "ends_at of each of the days must be after its starts_at.")
		case length > 24*time.Hour:
			return 0, apierr.Invalid("days", "Each of the days must end within 24 hours.")
		case i > 0 && d.StartsAt.Before(w.Days[i-1].EndsAt.Time):
			return 0, apierr.Invalid("days", "days must not overlap.")
		}
		starts += 1 + int(length/time.Minute)/w.SlotMinutes
	}
	if starts > maxStarts {
		return 0, apierr.Invalid("slot_minutes", "days and slot_minutes give %d starts; the most are %d.", starts, maxStarts)
	}
	return starts, nil
}

// problem returns the problem of the solver. It refuses sessions and rooms that the agenda does not have, and too many.
func (w *Wanted) problem(a live.Agenda, starts int) (p solver.Problem, err error) {
	p = solver.Problem{Agenda: a.Agenda, RoomIDs: w.RoomIDs, Slot: time.Duration(w.SlotMinutes) * time.Minute, Steps: math.MaxInt}
	p.Seed = uint64(w.Seed) //nolint:gosec // the seed is not negative
	p.KeepTimes, p.KeepRooms = w.Keep == "times" || w.Keep == "both", w.Keep == "rooms" || w.Keep == "both"
	for _, d := range w.Days {
		p.Days = append(p.Days, solver.Day{Starts: d.StartsAt.Time, Ends: d.EndsAt.Time})
	}
	for _, id := range w.RoomIDs {
		if _, known := a.Rooms[id]; !known {
			return p, apierr.Invalid("room_ids", "There is no room %s on this event.", id)
		}
	}
	if p.SessionIDs, err = w.sessions(a); err != nil {
		return p, err
	}
	rooms := cmp.Or(len(w.RoomIDs), len(a.Rooms))
	if starts*rooms > maxPlaces {
		return p, apierr.Invalid("slot_minutes", "%d starts in %d rooms are more than %d places.", starts, rooms, maxPlaces)
	}
	return p, nil
}

// sessions returns the sessions to place. It refuses a session that is not on the agenda.
func (w *Wanted) sessions(a live.Agenda) (ids []string, err error) {
	known := make(map[string]bool, len(a.Sessions))
	for _, s := range a.Sessions {
		if known[s.ID] = true; w.SessionIDs == nil {
			ids = append(ids, s.ID)
		}
	}
	for _, id := range w.SessionIDs {
		if ids = append(ids, id); !known[id] {
			return nil, apierr.Invalid("session_ids", "There is no session %s on the agenda of this event.", id)
		}
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return w.Statuses != nil && !a.HasStatus(id, w.Statuses) })
	return withFamilies(a, ids), nil
}

// withFamilies returns sessions of an agenda with their parents and subsessions.
func withFamilies(a live.Agenda, ids []string) (all []string) {
	tops := make(map[string]string, len(a.Sessions))
	for _, s := range a.Sessions {
		tops[s.ID] = cmp.Or(s.Parent, s.ID)
	}
	wanted := make(map[string]bool, len(ids))
	for _, id := range ids {
		wanted[tops[id]] = true
	}
	for _, s := range a.Sessions {
		if wanted[tops[s.ID]] {
			all = append(all, s.ID)
		}
	}
	return all
}

// number returns how many sessions a draft places after a proposal. ids are those of the present placements.
func number(ids map[string]string, proposed []string) int {
	all := maps.Clone(ids)
	for _, id := range proposed {
		all[id] = ""
	}
	return len(all)
}

// Propose fills a draft of the caller's event with a proposed agenda. The present place of a session is that of the placement in
// the draft, else the live one. Propose returns a 404 without the draft, a 409 for a committed draft, and a 400 that names the
// property. After an error the draft may have a part of the placements; a repetition proposes again.
func Propose(ctx context.Context, r live.Reader, c *auth.Caller, id string, w Wanted) (*Proposal, error) {
	starts, err := w.check()
	if err != nil {
		return nil, err
	}
	o := resource.Owner{Org: c.Org.ID, Event: c.Event.ID}
	d, err := Drafts.Of(r.Records, o).Get(ctx, id)
	if err == nil && d.Status == StatusCommitted {
		err = closed()
	}
	if err != nil {
		return nil, err
	}
	o.Parent = id
	in := Sessions.Of(r.Records, o)
	all, err := in.List(ctx)
	if err != nil {
		return nil, err
	}
	a, err := r.Read(ctx, c)
	if err != nil {
		return nil, err
	}
	ids := overlay(a, all)
	p, err := w.problem(a, starts)
	if err != nil {
		return nil, err
	}
	if n := number(ids, p.SessionIDs); n > MaxSessions {
		return nil, apierr.Invalid("session_ids", "The draft would place %d sessions; the most are %d. Name fewer.", n, MaxSessions)
	}
	p.Deadline = time.Now().Add(time.Duration(w.TimeLimit) * time.Millisecond)
	if end, ok := ctx.Deadline(); ok {
		end = end.Add(-write.LastStep - time.Duration(len(p.SessionIDs))*timeToWrite)
		p.Deadline = slices.MinFunc([]time.Time{p.Deadline, end}, time.Time.Compare)
	}
	result := solver.Solve(p)
	if result.Interrupted {
		const message = "The search had no time to try each session. Raise time_limit_ms, or name fewer sessions in session_ids."
		return nil, apierr.Invalid("time_limit_ms", message)
	}
	made := &Proposal{Unplaced: append([]solver.Unplaced{}, result.Unplaced...), Score: result.Score, Seed: w.Seed, Steps: result.Steps}
	return made, made.write(ctx, in, ids, append(result.Placed, withoutPlaces(a, result.Unplaced)...))
}

// timeToWrite is the time that the write of a placement takes beside others.
const timeToWrite = 2 * time.Millisecond

// withoutPlaces returns the sessions that lose their places, so that no other session is in conflict with them.
func withoutPlaces(a live.Agenda, unplaced []solver.Unplaced) (all []*conflict.Session) {
	without := make(map[string]bool, len(unplaced))
	for _, u := range unplaced {
		without[u.SessionID] = true
	}
	for _, s := range a.Sessions {
		if without[s.ID] && (s.TakesTime() || s.Room != "") {
			all = append(all, &conflict.Session{ID: s.ID})
		}
	}
	return all
}

// write writes the placements as a bulk does, those of ids again. A session whose place is refused loses the place.
func (p *Proposal) write(ctx context.Context, in placements, ids map[string]string, all []*conflict.Session) error {
	entries := make([]write.Entry, len(all))
	for i, s := range all {
		e := write.Entry{ID: ids[s.ID]}
		if placement := placementOf(s); e.ID == "" {
			e.ID = in.NewID()
			e.Op, e.Err = in.BulkCreating(e.ID, placement)
		} else {
			e.Op, e.Err = in.BulkChanging(e.ID, resource.Change[SessionDraft]{Verb: record.Updated, Draft: &placement})
		}
		entries[i] = e
	}
	var again []*conflict.Session
	written := 0
	for _, err := range inBulks(ctx, in.Table, entries) {
		s := all[written]
		written++
		lost, err := p.note(s, err)
		if err != nil {
			return err
		}
		if lost {
			again = append(again, &conflict.Session{ID: s.ID})
		}
	}
	if again != nil {
		return p.write(ctx, in, ids, again)
	}
	return nil
}

// note notes the result of the write of a session, and reports whether the session has lost the place. It returns the
// error that ends the proposal.
func (p *Proposal) note(s *conflict.Session, err error) (lost bool, ends error) {
	refused := (*apierr.Error)(nil)
	switch gone := errors.As(err, &refused) && refused.Status == http.StatusBadRequest; {
	case err != nil && !gone:
		return false, err
	case !s.TakesTime():
		return false, nil
	case gone:
		p.Unplaced = append(p.Unplaced, solver.Unplaced{SessionID: s.ID, Reason: refused.Message})
		return true, nil
	}
	p.Placed++
	return false, nil
}

// placementOf returns the placement of a session, without a place for a session without times.
func placementOf(s *conflict.Session) (d SessionDraft) {
	d = SessionDraft{SessionID: wire.Some(s.ID), StartsAt: wire.Null[wire.Time](), EndsAt: wire.Null[wire.Time](), RoomID: wire.Null[string]()}
	if s.TakesTime() {
		d.StartsAt, d.EndsAt, d.RoomID = wire.Some(wire.At(s.Starts)), wire.Some(wire.At(s.Ends)), wire.Some(s.Room)
	}
	return d
}
