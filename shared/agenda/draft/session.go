// Package draft owns the places of sessions in the drafts of an agenda (gaps.md section 4). A place is a small
// record of its draft (package resource).
package draft

import (
	"encoding/json"
	"errors"

	"lectern/shared/agenda"
	"lectern/shared/apierr"
	"lectern/shared/metadata"
	"lectern/shared/record"
	"lectern/shared/resource"
	"lectern/shared/session"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Place is when and where a session takes place; nil for a part that is not known.
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
	Name: agenda.SessionsOfDraft, Title: "Draft session", Many: "draft sessions", Max: MaxSessions, Parent: agenda.Drafts,
	Unique: func(p *Session) string { return p.SessionID }, UniqueField: "session_id",
	Named: (*Session).named, Admit: admit,
}

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

// admit refuses a write in a committed draft, and a session or room that the event does not have.
// It keeps with the placement where the session is at this time: a commit refuses a session that was moved
// since.
func admit(a resource.Admission[*Session]) error {
	draft, err := record.Decode[agenda.Draft](a.Parent)
	switch {
	case err != nil:
		return err
	case draft.Status == agenda.StatusCommitted:
		return agenda.Closed()
	case a.Verb == record.Deleted:
		return nil
	}
	body, err := session.Of(a.Org, a.Event).Live(a.Found, a.Record.SessionID)
	if unknown := (*apierr.Error)(nil); errors.As(err, &unknown) {
		return apierr.Invalid("session_id", "There is no such session on this event.")
	}
	if err != nil {
		return err
	}
	if a.Record.RoomID != nil {
		if err := a.Record.checkRoom(a); err != nil {
			return err
		}
	}
	was, err := json.Marshal(PlaceOf(body))
	a.Record.Hide(was)
	return err
}

// checkRoom refuses a room that the event does not have.
func (p *Session) checkRoom(a resource.Admission[*Session]) error {
	there, err := metadata.Live(a.Found[p.roomKey(a.Owner)])
	if err == nil && !there {
		return apierr.Invalid("room_id", "There is no such room on this event.")
	}
	return err
}

// PlaceOf returns the place of a session.
func PlaceOf(b *session.Body) Place {
	p := Place{StartsAt: b.StartsAt, EndsAt: b.EndsAt}
	if session.Value(b.Location) == session.LocationRoom {
		p.RoomID = b.RoomID
	}
	return p
}

// Was returns where the session was when it was placed.
func (p *Session) Was() (was Place, err error) {
	err = json.Unmarshal(p.Hidden(), &was)
	return was, err
}
