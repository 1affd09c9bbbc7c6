package insight

import (
	"context"

	"lectern/shared/field"
	"lectern/shared/metadata"
	"lectern/shared/session"
)

// readList reads a list of the event's settings: rooms, tracks and so on.
func (v *visit) readList(_ context.Context, w *wanted) error {
	for _, e := range v.at.set.Metadata[metadata.Kind(w.Name)].List() {
		shape := listShape{v.inEvent(e.ID), e.Name, float64(e.Order), times{e.CreatedAt, e.UpdatedAt}}
		r := row{id: e.ID, shape: &shape}
		switch metadata.Kind(w.Name) {
		case metadata.Rooms:
			r.shape = &roomShape{shape, e.Capacity}
		case metadata.Tracks:
			r.shape = &trackShape{shape, e.Color}
		}
		if err := v.put(w, r); err != nil {
			return err
		}
	}
	return nil
}

// readFiles reads the files of the sessions that are not deleted.
func (v *visit) readFiles(ctx context.Context, w *wanted) error {
	rows, err := v.standingRows(ctx, w)
	if err != nil {
		return err
	}
	if err := v.loadAssociations(ctx, w); err != nil {
		return err
	}
	return v.eachBody(ctx, rows, false, func(_ *session.Row, b *session.Body) error {
		for _, f := range b.Content {
			if err := v.putFile(w, b, f); err != nil {
				return err
			}
		}
		return nil
	})
}

// putFile adds a file of a session. The contact of a file is shown as long as the contact is on the session and on the event.
func (v *visit) putFile(w *wanted, b *session.Body, f session.File) error {
	s := &fileShape{
		inEvent: v.inEvent(f.ID), SessionID: b.ID, Title: f.Title, Filename: f.Filename, Size: float64(f.Size), MIMEType: f.MIMEType,
		Type: f.Type, ScanStatus: f.ScanStatus(), times: times{f.CreatedAt, f.UpdatedAt},
	}
	if v.at.caller.Event.Features.ContentSlots {
		s.ContentSlotID = f.SlotID
	}
	var to []string
	if f.AssignedTo != nil && b.HasContact(*f.AssignedTo) && v.isOnEvent(*f.AssignedTo) {
		s.AssignedID, to = f.AssignedTo, []string{*f.AssignedTo}
	}
	return v.put(w, row{id: f.ID, shape: s, refers: refers{contacts: to}})
}

// readEvent reads the event itself.
func (v *visit) readEvent(_ context.Context, w *wanted) error {
	e, custom := v.at.caller.Event, map[string]field.Value{}
	for _, f := range e.CustomFields {
		custom[f.ID] = field.Value{V: f.Value}
	}
	return v.put(w, row{custom: custom, shape: &eventShape{
		ID: float64(e.ID), Name: e.Name, Timezone: e.Timezone, StartsAt: e.StartsAt, StartDate: v.dayOf(&e.StartsAt), EndsAt: e.EndsAt,
		times: times{e.CreatedAt, e.UpdatedAt},
	}})
}
