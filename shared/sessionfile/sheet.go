package sessionfile

import (
	"context"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/session"
	"lectern/shared/table"
	"lectern/shared/upload"
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
	now    wire.Time
	// got are the read items, with the bytes of the file that changes.
	got write.Items
	// before is the session as stored, after the session with changed files; nil without a change.
	before, after *session.Body
	open          *Open
	// opened reports whether open has changed.
	opened bool
	// also are writes of the edit beside session and open uploads.
	also []table.Write
}

// change returns the session to be changed.
func (s *sheet) change() *session.Body {
	if s.after == nil {
		s.after = s.before.Clone()
	}
	return s.after
}

// close removes the open upload of a file. The purge removes record and bytes after the end of the
// upload.
func (s *sheet) close(file string) {
	s.open.remove(file)
	s.opened = true
}

func (s *sheet) records() upload.Collection[Bytes, *Bytes] {
	return Kind.Of(s.Store.Store, s.caller, s.before.ID)
}

// keep lets the bytes of an upload stay.
func (s *sheet) keep(ctx context.Context, id string) error {
	return s.set(ctx, id, "completed", func(b *Bytes) { b.Ends = nil })
}

// discard lets the purge remove the bytes of a file after a time. The record gets the file as it was.
func (s *sheet) discard(ctx context.Context, f *session.File, verb string, after time.Duration) error {
	ends := wire.At(s.now.Add(after))
	return s.set(ctx, f.Bytes, verb, func(b *Bytes) {
		b.Ends, b.File, b.Sent = &ends, *f, nil
		b.File.Link, b.File.Digest = "", ""
	})
}

// set changes the record of bytes. A record that is missing, as after some damage, is left alone.
func (s *sheet) set(ctx context.Context, id, verb string, change func(*Bytes)) error {
	before, err := s.records().Find(s.got, id)
	if apierr.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	after := *before
	change(&after)
	writes, err := s.records().Writes(ctx, verb, before, &after)
	s.also = append(s.also, writes...)
	return err
}

// operation does an edit of a file in one transaction (write.Op).
type operation struct {
	store         *Store
	caller        *auth.Caller
	session, file string
	edit          edit
	// slide is set for an edit of a holding slide by the service, and nil for an edit by a client.
	slide *slideEdit
	// body is the session after the last Plan.
	body *session.Body
}

// run does an edit of a file and returns the file, with the session after the edit.
func (st *Store) run(ctx context.Context, c *auth.Caller, in, file string, e edit) (*session.File, *session.Body, error) {
	op := &operation{store: st, caller: c, session: in, file: file, edit: e}
	f, err := write.Run[*session.File](ctx, st.Table, op)
	return f, op.body, err
}

func (o *operation) place() session.Place { return session.At(o.caller) }

// Reads returns the keys of the session and its open uploads.
func (o *operation) Reads() []table.Key {
	return []table.Key{o.place().Body(o.session), openKey(o.place(), o.session)}
}

// More returns the keys of the bytes that the file has, and of those that an upload brings.
func (o *operation) More(got write.Items) (all []table.Key) {
	body, open, err := o.decode(got)
	if err != nil {
		return nil // Plan returns the error.
	}
	records := Kind.Of(o.store.Store, o.caller, o.session)
	if o.slide != nil && o.slide.bytes != "" {
		all = append(all, records.Key(o.slide.bytes))
	}
	if u := open.Find(o.file); u != nil {
		all = append(all, records.Key(u.Bytes))
	}
	if f := body.File(o.file); f != nil {
		all = append(all, records.Key(f.Bytes))
	}
	return all
}

// decode returns the session and its open uploads. Only an edit of a holding slide finds a deleted session.
func (o *operation) decode(got write.Items) (*session.Body, *Open, error) {
	if o.slide == nil {
		return o.store.decode(o.place(), got, o.session)
	}
	body, err := o.place().Stored(got, o.session)
	return body, &Open{}, err
}

// Touches returns nil: no bulk has these operations.
func (o *operation) Touches(write.Items) []string { return nil }

// Plan does the edit. Each write has a condition on the version of the session, so that no file begins
// beside the deletion of the session, and the numbers of files are exact.
func (o *operation) Plan(ctx context.Context, got write.Items) (*write.Plan, error) {
	body, open, err := o.decode(got)
	if err != nil {
		return nil, err
	}
	if o.slide == nil && body.IsSlide(o.file) {
		return nil, errDrawn()
	}
	s := &sheet{
		Store: o.store, caller: o.caller, got: got, before: body, open: open, now: session.Later(wire.At(o.store.Now()), body),
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

// writes returns the writes of the session, of the open uploads, and those of the edit. An edit that
// changes nothing has none.
func (s *sheet) writes(ctx context.Context) ([]table.Write, error) {
	all, place := s.also, session.At(s.caller)
	if s.after != nil {
		c := session.Change{Before: s.before, After: s.after, Action: session.KindUpdated, Kind: session.KindUpdated}
		if s.before.DeletedAt != nil { // Nobody is told of an erasure, and of a lost holding slide.
			c.Kind = ""
		}
		writes, err := session.Writer{Table: s.Table, Place: place}.Writes(ctx, s.now, c)
		if err != nil {
			return nil, err
		}
		all = append(all, writes...)
	} else if s.opened {
		all = append(all, table.Version(place.Body(s.before.ID), s.before.Version))
	}
	if !s.opened {
		return all, nil
	}
	open, err := s.open.write(openKey(place, s.before.ID), s.now)
	return append(all, open), err
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
