package draft

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"lectern/shared/agenda/board"
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

// Proposal says what a proposal has placed.
type Proposal struct {
	Placed   int               `json:"placed" doc:"How many sessions have a place."`
	Unplaced []solver.Unplaced `json:"unplaced" nullable:"false" doc:"The sessions without a place."`
	Score    board.Score       `json:"score" doc:"The penalties of the agenda by part; less is better."`
	Seed     int64             `json:"seed" doc:"The seed of the search."`
	Steps    int               `json:"steps" doc:"How many moves the search tried; of two searches, those of the better."`
}

// Propose fills a draft of the caller's event with a proposed agenda. The present place of a session is that of the
// placement in the draft, else the live one. Propose returns a 404 without the draft, a 409 for a draft that is committed
// or that others write to, and a 400 that names the property. After another error the draft may have a part of the
// placements; a repetition proposes again.
func Propose(ctx context.Context, r live.Reader, c *auth.Caller, id string, w Wanted) (*Proposal, error) {
	starts, err := w.starts()
	if err != nil {
		return nil, err
	}
	l, all, err := newLock(ctx, r.Records, resource.Owner{Org: c.Org.ID, Event: c.Event.ID}, id)
	if err != nil {
		return nil, err
	}
	a, err := r.Read(ctx, c)
	if err != nil {
		return nil, err
	}
	ids := overlay(a, all)
	p, err := w.problem(ctx, a, ids, starts)
	if err != nil {
		return nil, err
	}
	if n, most := len(all)+missing(ids, p.SessionIDs), l.placements.Limit(); n > most {
		return nil, apierr.Invalid("session_ids", "The draft would place %d sessions; the most are %d. Name fewer.", n, most)
	}
	result := solver.Solve(p)
	if result.Interrupted {
		return nil, apierr.Invalid("time_limit_ms", "The search had no time to try each session. "+
			"Raise time_limit_ms if it is less than 20000, or name fewer sessions in session_ids.")
	}
	made := &Proposal{
		Placed: len(result.Placed), Unplaced: append([]solver.Unplaced{}, result.Unplaced...),
		Score: result.Score, Seed: w.Seed, Steps: result.Steps,
	}
	places := slices.Concat(result.Placed, withoutPlaces(a, result.Unplaced))
	if len(places) == 0 {
		return made, nil
	}
	defer l.release(ctx) // Also after an error of take, which may be a lost answer.
	if err := l.take(ctx); err != nil {
		return nil, err
	}
	return made, made.write(ctx, l.placements, ids, places)
}

// missing returns how many sessions have no placement among ids.
func missing(ids map[string]string, sessions []string) (n int) {
	for _, session := range sessions {
		if ids[session] == "" {
			n++
		}
	}
	return n
}

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

// write writes the placements as a bulk does. A session of ids has a placement already. A session whose place is
// refused loses the place: the room or the session was deleted meanwhile.
func (p *Proposal) write(ctx context.Context, in placements, ids map[string]string, all []*conflict.Session) error {
	entries := make([]write.Entry, len(all))
	for i, s := range all {
		entries[i] = placing(in, ids[s.ID], s)
	}
	var lost []*conflict.Session
	for i, r := range inBulks(ctx, in.Table, entries) {
		s, refused := all[i], (*apierr.Error)(nil)
		switch {
		case r.Err == nil:
		case !errors.As(r.Err, &refused) || refused.Status != http.StatusBadRequest:
			return r.Err
		case s.TakesTime():
			p.Placed--
			p.Unplaced = append(p.Unplaced, solver.Unplaced{SessionID: s.ID, Reason: refused.Message})
			lost = append(lost, &conflict.Session{ID: s.ID})
		}
	}
	if lost == nil {
		return nil
	}
	return p.write(ctx, in, ids, lost)
}

// placing returns the operation that places a session: by the placement of an id, or by a new one without an id. A
// session without times gets no place, and a subsession at another location no room.
func placing(in placements, id string, s *conflict.Session) (e write.Entry) {
	never := wire.Null[wire.Time]()
	d := SessionDraft{SessionID: wire.Some(s.ID), StartsAt: never, EndsAt: never, RoomID: wire.Null[string]()}
	if s.TakesTime() {
		d.StartsAt, d.EndsAt = wire.Some(wire.At(s.Starts)), wire.Some(wire.At(s.Ends))
	}
	if s.Room != "" {
		d.RoomID = wire.Some(s.Room)
	}
	if e.ID = id; id == "" {
		e.ID = in.NewID()
		e.Op, e.Err = in.BulkCreating(e.ID, d)
	} else {
		e.Op, e.Err = in.BulkChanging(id, resource.Change[SessionDraft]{Verb: record.Updated, Draft: &d})
	}
	return e
}
