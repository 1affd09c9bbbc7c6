package draft

import (
	"encoding/json"
	"fmt"

	"lectern/shared/apierr"
	"lectern/shared/metadata"
	"lectern/shared/record"
	"lectern/shared/resource"
	"lectern/shared/session"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Place is the time and the room of a session; nil for a part that is not known.
type Place struct {
	StartsAt *wire.Time `json:"starts_at" doc:"When the session starts; null for a session that is not scheduled."`
	EndsAt   *wire.Time `json:"ends_at" doc:"When the session ends."`
	RoomID   *string    `json:"room_id" format:"uuid" doc:"The room of the event."`
}

// Session is the place of a session in a draft.
type Session struct {
	resource.Header
	DraftID   string `json:"draft_id" format:"uuid" doc:"The draft's id."`
	SessionID string `json:"session_id" format:"uuid" doc:"The session's id; it cannot change."`
	Place
}

// SessionDraft has the properties of a placement that a client may write.
type SessionDraft struct {
	SessionID wire.Opt[string]    `json:"session_id,omitzero" create:"required" format:"uuid" nullable:"false" doc:"A session of the event."`
	StartsAt  wire.Opt[wire.Time] `json:"starts_at,omitzero" doc:"When the session starts."`
	EndsAt    wire.Opt[wire.Time] `json:"ends_at,omitzero" doc:"When the session ends, after it starts."`
	RoomID    wire.Opt[string]    `json:"room_id,omitzero" format:"uuid" doc:"A room of the event."`
}

// MaxSessions is how many sessions a draft places.
const MaxSessions = 5000

// Sessions is the kind of the placements of a draft.
var Sessions = &resource.Kind[Session, *Session, SessionDraft]{
	Name: "draft_session", Title: "Draft session", Many: "draft sessions", Max: MaxSessions, Parent: names,
	Unique: func(p *Session) string { return p.SessionID }, UniqueField: "session_id",
	Named: (*Session).named, Admit: noProposal.admit,
	ReadsParent: func(*Session) bool { return true }, Watched: true,
}

// placements are the placements of a draft.
type placements = resource.Collection[Session, *Session, SessionDraft]

// Apply writes the draft's properties into the placement.
func (d SessionDraft) Apply(e resource.Edit[*Session]) error {
	p := e.Record
	if e.New {
		p.DraftID, p.SessionID = e.Parent, d.SessionID.Value
	}
	if d.SessionID.Sent && d.SessionID.Value != p.SessionID {
		return apierr.Invalid("session_id", "session_id of a draft session cannot change; it is %q.", p.SessionID)
	}
	d.StartsAt.IntoPointer(&p.StartsAt)
	d.EndsAt.IntoPointer(&p.EndsAt)
	d.RoomID.IntoPointer(&p.RoomID)
	if p.StartsAt == nil || p.EndsAt == nil || p.EndsAt.After(p.StartsAt.Time) {
		return nil
	}
	if !d.EndsAt.Sent {
		return apierr.Invalid("starts_at", "starts_at must be before ends_at.")
	}
	return apierr.Invalid("ends_at", "ends_at must be after starts_at.")
}

// kept is the hidden part of a placement.
type kept struct {
	// Was is the place of the session at the time of the last write of the placement.
	Was Place `json:"was"`
	// Done says that a commit has done the placement. Change is the change of the session, or the blocked change
	// that was not done; nil for no change.
	Done   bool    `json:"done,omitempty"`
	Change *Change `json:"change,omitempty"`
}

// applied reports whether a commit has changed the session.
func (k kept) applied() bool { return k.Change != nil && k.Change.Blocked == nil }

// kept returns the hidden part of the placement.
func (p *Session) kept() (k kept, err error) {
	if err = json.Unmarshal(p.Hidden(), &k); err != nil {
		err = fmt.Errorf("draft: decode what placement %s keeps: %w", p.ID, err)
	}
	return k, err
}

// keep replaces the hidden part of the placement.
func (p *Session) keep(k kept) error {
	text, err := wire.Encode(k)
	p.Hide(text)
	return err
}

// named returns the keys of the session and the room.
func (p *Session) named(o resource.Owner) []table.Key {
	keys := []table.Key{session.Of(o.Org, o.Event).Body(p.SessionID)}
	if p.RoomID != nil {
		keys = append(keys, p.roomKey(o))
	}
	return keys
}

func (p *Session) roomKey(o resource.Owner) table.Key {
	return metadata.Key(o.Org, o.Event, metadata.Rooms, *p.RoomID)
}

// target is the session of a placement at this time.
type target struct {
	// body may be deleted; nil if nothing of the session is left.
	body *session.Body
	// hasRoom reports whether the room of the placement exists, or the placement has none.
	hasRoom bool
}

// target returns the target of the placement among the items of named.
func (p *Session) target(o resource.Owner, found map[table.Key]table.Item) (t target, err error) {
	if item, there := found[session.Of(o.Org, o.Event).Body(p.SessionID)]; there {
		if t.body, err = session.Decode(item); err != nil {
			return t, err
		}
	}
	if t.hasRoom = true; p.RoomID != nil {
		t.hasRoom, err = metadata.Live(found[p.roomKey(o)])
	}
	return t, err
}

// exists reports whether the session is there and not deleted.
func (t target) exists() bool { return t.body != nil && t.body.DeletedAt == nil }

// storedDraft has what admit reads of a draft. Drafts.Decode would be an initialization cycle of Drafts and Sessions.
type storedDraft struct {
	Status string        `json:"status"`
	Meta   resource.Meta `json:"_"`
}

// admit refuses a write that mayWrite refuses, and a session or room that the event does not have. The placement keeps
// the place of the session at this time.
func (id proposalID) admit(a resource.Admission[*Session]) error {
	of, err := record.Decode[storedDraft](a.Parent)
	if err == nil {
		err = id.mayWrite(of.Status, of.Meta.Hidden, a.Now)
	}
	if err != nil || a.Verb == record.Deleted {
		return err
	}
	t, err := a.Record.target(a.Owner, a.Found)
	switch {
	case err != nil:
		return err
	case !t.exists():
		return apierr.Invalid("session_id", "There is no such session on this event.")
	case !t.hasRoom:
		return apierr.Invalid("room_id", "There is no such room on this event.")
	}
	return a.Record.keep(kept{Was: placeOf(t.body)})
}

// placeOf returns the place of a session.
func placeOf(b *session.Body) Place {
	return Place{StartsAt: b.StartsAt, EndsAt: b.EndsAt, RoomID: b.Room()}
}

// into puts a session into the place. A session without a room before and after keeps the location.
func (p Place) into(b *session.Body) {
	was := placeOf(b)
	b.StartsAt, b.EndsAt = p.StartsAt, p.EndsAt
	if was.sameRoom(p) {
		return
	}
	room := session.LocationRoom
	if b.RoomID, b.Location = p.RoomID, &room; p.RoomID == nil {
		b.Location = nil
	}
}

func (p Place) sameRoom(other Place) bool {
	return session.Value(p.RoomID) == session.Value(other.RoomID)
}

func (p Place) sameTimes(other Place) bool {
	return sameTime(p.StartsAt, other.StartsAt) && sameTime(p.EndsAt, other.EndsAt)
}

func sameTime(a, b *wire.Time) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(b.Time)
}
