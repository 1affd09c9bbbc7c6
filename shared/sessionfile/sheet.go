package sessionfile

import (
	"context"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/record"
	"lectern/shared/session"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// edit changes the files and uploads of a session on a sheet, and returns the file of the answer. It
// may run several times, each time on a fresh sheet.
type edit interface {
	do(ctx context.Context, s *sheet) (*session.File, error)
}

// sheet has a session and its uploads while an edit changes them.
type sheet struct {
	*Store
	caller *auth.Caller
	place  Place
	now    wire.Time
	// before is the session as stored, after the session with changed files; nil without a change.
	before, after *session.Body
	uploads       *Uploads
	// began reports whether uploads have changed.
	began bool
	// also are writes of the edit beside session and uploads.
	also []table.Write
}

// change returns the session to be changed.
func (s *sheet) change() *session.Body {
	if s.after == nil {
		s.after = s.before.Clone()
	}
	return s.after
}

// end removes an upload from the uploads.
func (s *sheet) end(ended *Upload) {
	var left []*Upload
	for _, u := range s.uploads.All {
		if u != ended {
			left = append(left, u)
		}
	}
	s.uploads.All, s.began = left, true
}

// lookAt has a sweep look at the bytes of a file after a time.
func (s *sheet) lookAt(f *session.File, after time.Duration) {
	s.also = append(s.also, Due{s.before.ID, f.Bytes, f.ID}.Write(s.place, s.now.Add(after)))
}

// operation does an edit in one transaction (write.Op).
type operation struct {
	store   *Store
	caller  *auth.Caller
	session string
	edit    edit
	// body is the session after the last Plan.
	body *session.Body
}

// run does an edit and returns its file, with the session after the edit.
func (st *Store) run(ctx context.Context, c *auth.Caller, id string, e edit) (*session.File, *session.Body, error) {
	op := &operation{store: st, caller: c, session: id, edit: e}
	f, err := write.Run[*session.File](ctx, st.Table, op)
	return f, op.body, err
}

func (o *operation) place() Place { return At(o.caller.Org.ID, o.caller.Event.ID) }

// Reads returns the keys of the session and its uploads.
func (o *operation) Reads() []table.Key {
	return []table.Key{o.place().Body(o.session), o.place().Uploads(o.session)}
}

// More returns no keys.
func (o *operation) More(write.Items) []table.Key { return nil }

// Touches returns nil: no bulk has these operations.
func (o *operation) Touches(write.Items) []string { return nil }

// Plan does the edit. Each write has a condition on the version of the session, so that no file begins
// beside the deletion of the session, and the numbers of files are exact.
func (o *operation) Plan(ctx context.Context, got write.Items) (*write.Plan, error) {
	body, uploads, err := o.store.decode(o.place(), got, o.session)
	if err != nil {
		return nil, err
	}
	s := &sheet{
		Store: o.store, caller: o.caller, place: o.place(), before: body, uploads: uploads,
		now: session.Later(wire.At(o.store.Now()), body),
	}
	f, err := o.edit.do(ctx, s)
	if err != nil {
		return nil, err
	}
	writes, err := s.writes(ctx)
	if err != nil {
		return nil, err
	}
	if o.body = s.after; o.body == nil {
		o.body = s.before
	}
	return &write.Plan{Writes: writes, Answer: f}, nil
}

// writes returns the writes of the session, the uploads, and what the edit has added.
func (s *sheet) writes(ctx context.Context) ([]table.Write, error) {
	all := s.also
	if s.after == nil {
		all = append(all, table.Version(s.place.Body(s.before.ID), s.before.Version))
	} else {
		c := session.Change{Before: s.before, After: s.after, Action: session.KindUpdated, Kind: session.KindUpdated}
		writes, err := session.Writer{Table: s.Table, Place: s.place.Place}.Writes(ctx, s.now, c)
		if err != nil {
			return nil, err
		}
		all = append(all, writes...)
	}
	if !s.began {
		return all, nil
	}
	item, err := record.Encode(s.place.Uploads(s.before.ID), s.uploads.version+1, s.uploads)
	if err != nil {
		return nil, err
	}
	if s.uploads.version == 0 {
		return append(all, table.Insert(item)), nil
	}
	return append(all, table.Replace(item, s.uploads.version)), nil
}

// slot returns the slot of an id, and holds the write to its version; 400 that names the slot for a slot
// that is not active, does not apply to the session, or does not take the type.
func (s *sheet) slot(ctx context.Context, id, kind string) (*StoredSlot, error) {
	slot, err := s.anySlot(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case slot == nil:
		return nil, apierr.Invalid(slotField, "There is no such upload slot on this event.")
	case !slot.IsActive:
		return nil, apierr.Invalid(slotField, "The upload slot %q is archived.", slot.Name)
	case !slot.AppliesTo(s.before):
		return nil, apierr.Invalid(slotField, "The upload slot %q does not apply to the session.", slot.Name)
	}
	return slot, slot.checkType(kind)
}

// anySlot returns the slot of an id, archived or not; nil without it.
func (s *sheet) anySlot(ctx context.Context, id string) (*StoredSlot, error) {
	if !s.caller.Event.Features.ContentSlots {
		return nil, nil
	}
	slot, err := Slots.Of(s.Records, owner(s.caller)).Get(ctx, id)
	if apierr.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s.also = append(s.also, table.Version(owner(s.caller).Key(SlotKind, id), slot.Revision()))
	return slot, nil
}

// slotField is the property that names a slot.
const slotField = "content_slot_id"

// checkType returns the 400 of a type that the slot does not take.
func (s *StoredSlot) checkType(kind string) error {
	if s.takes(kind) {
		return nil
	}
	return apierr.Invalid(slotField, "The upload slot %q does not take files of the type %s.", s.Name, kind)
}
