package draft

import (
	"cmp"
	"context"
	"slices"
	"time"

	"lectern/shared/agenda/conflict"
	"lectern/shared/agenda/live"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/resource"
	"lectern/shared/session"
	"lectern/shared/wire"
)

// Changes are the sessions that a draft would change in the live agenda, or has changed.
type Changes struct {
	DraftID     string     `json:"draft_id" format:"uuid" doc:"The draft's id."`
	Status      string     `json:"status" enum:"draft,committed" doc:"The draft's status."`
	Summary     Summary    `json:"summary" doc:"The numbers of the draft."`
	Changes     []*Change  `json:"changes" nullable:"false" doc:"The sessions that change, in the order in which they were placed."`
	CommittedAt *wire.Time `json:"committed_at" doc:"When the draft was committed; null before."`
}

// Summary has the numbers of a draft.
type Summary struct {
	Total       int  `json:"total" doc:"The sessions that the draft places."`
	Scheduled   int  `json:"scheduled" doc:"The sessions that get times."`
	Moved       int  `json:"moved" doc:"The sessions that get other times."`
	RoomChanged int  `json:"room_changed" doc:"The sessions that get another room at the same times."`
	Unscheduled int  `json:"unscheduled" doc:"The sessions that lose their times."`
	Unchanged   int  `json:"unchanged" doc:"The sessions that stay as they are."`
	Blocked     int  `json:"blocked" doc:"The sessions that a commit would be refused for; after the commit, those that stayed as they were."`
	Conflicts   *int `json:"conflicts" doc:"The conflicts of all sessions that the draft places, as the agenda would be; null after the commit."`
}

// Change is the change of a session by a draft.
type Change struct {
	DraftSessionID string  `json:"draft_session_id" format:"uuid" doc:"The placement's id."`
	SessionID      string  `json:"session_id" format:"uuid" doc:"The session's id."`
	FriendlyID     string  `json:"friendly_id" doc:"The session's number for people."`
	Title          string  `json:"title" doc:"The session's title."`
	ChangeType     string  `json:"change_type" enum:"scheduled,moved,room_changed,unscheduled" doc:"What changes."`
	From           Place   `json:"from" doc:"Where the session is now; after the commit, where it was."`
	To             Place   `json:"to" doc:"Where the draft places it."`
	Blocked        *string `json:"blocked" enum:"session_deleted,session_moved,session_too_large,room_deleted" doc:"Why a commit is refused, or why a commit left the session as it was; null otherwise."`
	// Conflicts is not kept with a placement.
	Conflicts []conflict.Conflict `json:"conflicts" nullable:"false" doc:"The conflicts that the session would have; empty after the commit."`
}

// name returns the session's number for people, or the id of a purged session.
func (c *Change) name() string { return cmp.Or(c.FriendlyID, c.SessionID) }

// The kinds of change.
const (
	scheduled   = "scheduled"
	moved       = "moved"
	roomChanged = "room_changed"
	unscheduled = "unscheduled"
)

// kindOf returns the kind of the change from a place to another; empty for the same place.
func kindOf(from, to Place) string {
	switch {
	case from.sameTimes(to) && from.sameRoom(to):
		return ""
	case from.sameTimes(to):
		return roomChanged
	case to.StartsAt == nil && to.EndsAt == nil:
		return unscheduled
	case from.StartsAt == nil && from.EndsAt == nil:
		return scheduled
	}
	return moved
}

// The reasons to refuse a commit.
const (
	sessionDeleted  = "session_deleted"
	sessionMoved    = "session_moved"
	sessionTooLarge = "session_too_large"
	roomDeleted     = "room_deleted"
)

// reasons has the fault and the advice for each reason, with a place for the session's name.
var reasons = map[string]string{
	sessionDeleted:  "Session %s is deleted. Take it out of the draft.",
	sessionMoved:    "Session %s got other times after it was placed. Place it again, or take it out of the draft.",
	sessionTooLarge: "Session %s is too large for a place. Shorten it, or take it out of the draft.",
	roomDeleted:     "The room of session %s in the draft is deleted. Give it another one, or take it out of the draft.",
}

// change returns the change of the session by the placement; nil for no change.
func (p *Session) change(t target) (*Change, error) {
	k, err := p.kept()
	if err != nil {
		return nil, err
	}
	made := &Change{DraftSessionID: p.ID, SessionID: p.SessionID, To: p.Place, Conflicts: []conflict.Conflict{}}
	if t.body != nil {
		made.FriendlyID, made.Title, made.From = t.body.FriendlyID(), t.body.Title, placeOf(t.body)
	}
	made.ChangeType = kindOf(made.From, made.To)
	reason := ""
	switch {
	case !t.exists():
		reason, made.ChangeType = sessionDeleted, cmp.Or(made.ChangeType, unscheduled)
	case made.ChangeType == "":
		return nil, nil
	case !made.From.sameTimes(k.Was) && !made.From.sameTimes(made.To):
		reason = sessionMoved
	case !t.hasRoom:
		reason = roomDeleted
	case !t.body.HasRoomFor(maxPlace):
		reason = sessionTooLarge
	}
	if reason != "" {
		made.Blocked = &reason
	}
	return made, nil
}

// maxPlace is more bytes than a place adds to a session.
const maxPlace = 512

// add counts a change.
func (s *Summary) add(c *Change) {
	switch c.ChangeType {
	case scheduled:
		s.Scheduled++
	case moved:
		s.Moved++
	case roomChanged:
		s.RoomChanged++
	case unscheduled:
		s.Unscheduled++
	}
	if s.Unchanged--; c.Blocked != nil {
		s.Blocked++
	}
}

// previews is how often Preview begins again because the draft has changed meanwhile.
const previews = 5

// Preview returns the changes of a draft of the caller's event, with the conflicts that the agenda would have. For a
// committed draft, Preview returns the changes of the commit, also of sessions that have changed again. The error is a
// 404 without the draft, conflict.ErrTooMany, or a 503 for a draft that keeps changing.
func Preview(ctx context.Context, r live.Reader, c *auth.Caller, id string) (*Changes, error) {
	o := resource.Owner{Org: c.Org.ID, Event: c.Event.ID}
	all := Drafts.Of(r.Records, o)
	d, err := all.Get(ctx, id)
	for range previews {
		if err != nil {
			return nil, err
		}
		shown, err := preview(ctx, r, c, d)
		if err != nil || d.Status == StatusCommitted {
			return shown, err
		}
		// A commit that began meanwhile has moved some sessions.
		read := d.Revision()
		if d, err = all.Get(ctx, id); err == nil && d.Revision() == read {
			return shown, nil
		}
	}
	return nil, cmp.Or(err, error(apierr.Unavailable()))
}

func preview(ctx context.Context, r live.Reader, c *auth.Caller, d *Draft) (*Changes, error) {
	all, err := Sessions.Of(r.Records, resource.Owner{Org: c.Org.ID, Event: c.Event.ID, Parent: d.ID}).List(ctx)
	if err != nil {
		return nil, err
	}
	shown := &Changes{DraftID: d.ID, Status: d.Status, Summary: Summary{Total: len(all), Unchanged: len(all)}, Changes: []*Change{}}
	if d.Status == StatusCommitted {
		err = shown.committed(d, all)
	} else {
		err = shown.planned(ctx, r, c, all)
	}
	for _, one := range shown.Changes {
		shown.Summary.add(one)
	}
	return shown, err
}

// committed adds the changes of the commit.
func (s *Changes) committed(d *Draft, all []*Session) error {
	claimed, err := d.state()
	if err != nil {
		return err
	}
	s.CommittedAt = &claimed.At
	for _, p := range all {
		k, err := p.kept()
		if err != nil {
			return err
		}
		if k.Change != nil {
			s.Changes = append(s.Changes, k.Change)
		}
	}
	return nil
}

// planned adds the changes of a commit to come.
func (s *Changes) planned(ctx context.Context, r live.Reader, c *auth.Caller, all []*Session) error {
	a, err := r.Read(ctx, c)
	if err != nil {
		return err
	}
	conflicts, err := conflictsWith(a, all)
	if err != nil {
		return err
	}
	number := 0
	for some := range slices.Chunk(all, atOnce) {
		ids := make([]string, len(some))
		for i, p := range some {
			ids[i] = p.SessionID
		}
		bodies, err := r.Bodies(ctx, c, a, ids)
		if err != nil {
			return err
		}
		for i, p := range some {
			number += len(conflicts[p.SessionID])
			_, there := a.Rooms[session.Value(p.RoomID)]
			made, err := p.change(target{bodies[i], there || p.RoomID == nil})
			if err != nil {
				return err
			}
			if made != nil {
				made.Conflicts = append(made.Conflicts, conflicts[p.SessionID]...)
				s.Changes = append(s.Changes, made)
			}
		}
	}
	s.Summary.Conflicts = &number
	return nil
}

// conflictsWith returns the conflicts of the live agenda with the placements, by session.
func conflictsWith(a live.Agenda, all []*Session) (map[string][]conflict.Conflict, error) {
	overlay(a, all)
	found, err := conflict.Check(a.Agenda)
	by := make(map[string][]conflict.Conflict, len(found))
	for _, f := range found {
		by[f.Session.ID] = f.Conflicts
	}
	return by, err
}

// overlay puts the sessions of an agenda into their placements, and returns the ids of the placements by session.
func overlay(a live.Agenda, all []*Session) map[string]string {
	placed, ids := make(map[string]*Session, len(all)), make(map[string]string, len(all))
	for _, p := range all {
		placed[p.SessionID], ids[p.SessionID] = p, p.ID
	}
	for _, s := range a.Sessions {
		if p := placed[s.ID]; p != nil {
			s.Starts, s.Ends = times(p.Place)
			s.Room = session.Value(p.RoomID)
		}
	}
	return ids
}

// times returns the times of a place; zero unless the place has both.
func times(p Place) (starts, ends time.Time) {
	if p.StartsAt == nil || p.EndsAt == nil {
		return starts, ends
	}
	return p.StartsAt.Time, p.EndsAt.Time
}
