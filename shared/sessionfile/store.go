// Package sessionfile owns the upload slots of an event (spec.md section 4.6). A slot is a small
// record of the event that only an operator writes.
//
// Read slot.go, store.go.
package sessionfile

import (
	"context"
	"slices"

	"lectern/shared/auth"
	"lectern/shared/resource"
	"lectern/shared/session"
)

// Store reads the slots of the caller's event.
type Store struct{ Records resource.Store }

// Query selects slots.
type Query struct {
	// Archived adds slots that are not active.
	Archived bool
	// Session selects the active slots that apply to a session; empty for the slots of all sessions.
	Session string
}

// Slots returns the selected slots in the order in which speakers see them; 404 without the
// session. An event without the feature has none.
func (st *Store) Slots(ctx context.Context, c *auth.Caller, q Query) ([]*Slot, error) {
	var body *session.Body
	if q.Session != "" {
		var err error
		if body, err = st.session(ctx, c, q.Session); err != nil {
			return nil, err
		}
	}
	all := []*Slot{}
	if !c.Event.Features.ContentSlots {
		return all, nil
	}
	stored, err := Slots.Of(st.Records, owner(c)).List(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(stored, BySpeakerOrder)
	for _, s := range stored {
		if q.selects(s, body) {
			all = append(all, &s.Slot)
		}
	}
	return all, nil
}

// selects reports whether the query selects a slot. body is the session of the query; nil without one.
func (q Query) selects(s *StoredSlot, body *session.Body) bool {
	if body == nil {
		return s.IsActive || q.Archived
	}
	return s.IsActive && s.AppliesTo(body)
}

// session reads a session; 404 without it.
func (st *Store) session(ctx context.Context, c *auth.Caller, id string) (*session.Body, error) {
	p := session.At(c)
	got, err := st.Records.Table.GetMany(ctx, p.Bodies([]string{id}))
	if err != nil {
		return nil, err
	}
	return p.Live(got, id)
}

// owner returns the caller's event as the owner of slots.
func owner(c *auth.Caller) resource.Owner { return resource.Owner{Org: c.Org.ID, Event: c.Event.ID} }
