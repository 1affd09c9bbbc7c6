package session

import (
	"context"
	"slices"

	"lectern/shared/catalogue"
	"lectern/shared/change"
	"lectern/shared/field"
	"lectern/shared/person"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Published kinds of change of a session (gaps.md section 10).
const (
	KindCreated = "session.created"
	KindUpdated = "session.updated"
	KindDeleted = "session.deleted"
	// A contact got a role on the session, or lost a role.
	kindAttached = "session.speaker.attached"
	kindDetached = "session.speaker.detached"
)

// Change is the change of a session. Before is nil for a new session.
type Change struct {
	Before, After *Body
	// Action is for the audit trail, Kind is published; an empty Kind is not.
	Action, Kind string
	// Fields are the internal names of the custom fields that changed.
	Fields []string
}

// Updated returns an update of a session. After is a copy to be changed.
func Updated(before *Body) Change {
	return Change{Before: before, After: before.Clone(), Action: KindUpdated, Kind: KindUpdated}
}

// Later returns now, or a later time if a body with a clock ahead was written before.
func Later(now wire.Time, before *Body) wire.Time {
	if before == nil {
		return now
	}
	return wire.After(before.UpdatedAt, now.Time)
}

// Writer turns changes of an event's sessions into items.
type Writer struct {
	Table  *table.Table
	Place  Place
	Fields *field.Set
}

// Writes completes the body of a change and returns its items: body, row, version of the
// row's shard, items of the contacts whose roles change, change record. Announcements for more
// than 80 contacts are written at once, before the transaction.
func (w Writer) Writes(ctx context.Context, now wire.Time, c Change) ([]table.Write, error) {
	b, version := c.After, int64(0)
	b.UpdatedAt = Later(now, c.Before)
	if c.Before == nil {
		b.CreatedAt = b.UpdatedAt
	} else {
		version = c.Before.Version
	}
	b.Version = version + 1
	b.Sequence += int64(len(c.published()))
	body, err := encode(b)
	if err != nil {
		return nil, err
	}
	row, err := encodeRow(b)
	if err != nil {
		return nil, err
	}
	people, err := w.peopleOrAnnounce(ctx, c)
	if err != nil {
		return nil, err
	}
	item := table.Item{Key: w.Place.Body(b.ID), Version: b.Version, Data: body}
	return append(append(catalogue.Write(w.Place.Rows(), b.ID, item, version, row), people...), w.record(ctx, c).Write()), nil
}

// peopleOrAnnounce returns the writes of the items of contacts whose roles change. If the
// transaction has no room for all of them, it writes announcements for the others at once.
func (w Writer) peopleOrAnnounce(ctx context.Context, c Change) ([]table.Write, error) {
	before := person.Roles{}
	if c.Before != nil {
		before = c.Before.Roles()
	}
	ahead, together, err := w.Place.PersonSession(c.After).Changes(before, c.After.Roles())
	if err != nil {
		return nil, err
	}
	for chunk := range slices.Chunk(ahead, table.MaxWrites) {
		if err := w.Table.Transact(ctx, chunk...); err != nil {
			return nil, err
		}
	}
	return together, nil
}

// unpublished are the properties that a change record does not list: properties that change
// with every write, custom fields, listed one by one, and the withdrawal, because a person is
// named in it: the action tells of it.
var unpublished = []string{"updated_at", "created_at", "sequence", "last_number", "custom_fields", "withdrawn"}

// record returns the change record. People are ids there, as in the body.
func (w Writer) record(ctx context.Context, c Change) change.Record {
	var before any
	if c.Before != nil {
		before = c.Before.withoutWords()
	}
	values := change.Diff(before, c.After.withoutWords(), unpublished...)
	for _, name := range c.Fields {
		values = append(values, w.fieldValue(c, name))
	}
	fields := make([]string, len(values))
	for i, v := range values {
		fields[i] = v.Field
	}
	published := c.published()
	kinds := make([]change.Kind, len(published))
	for i, name := range published {
		kinds[i] = change.Kind{Name: name, Sequence: c.After.Sequence - int64(len(published)-1-i), Fields: fields}
		if i > 0 {
			kinds[i].Fields = []string{"participants"}
		}
	}
	return change.New(ctx, change.Record{
		At: c.After.UpdatedAt, Org: w.Place.Org, Event: w.Place.Event, Action: c.Action, Type: "session",
		RecordID: c.After.ID, Version: c.After.Version, Values: values, Kinds: kinds,
	})
}

// fieldValue returns the old and new value of a custom field. Bodies keep custom fields by id.
func (w Writer) fieldValue(c Change, name string) change.Value {
	v := change.Value{Field: "custom_fields." + name}
	def, ok := w.Fields.Named(field.Session, name)
	if !ok {
		return v
	}
	if c.Before != nil {
		v.Old = c.Before.CustomFields[def.ID].V
	}
	v.New = c.After.CustomFields[def.ID].V
	return v
}

// published returns the kinds of the change: Kind, and kinds for roles given or taken.
func (c Change) published() []string {
	var before []Participant
	if c.Before != nil {
		before = c.Before.Participants
	}
	var kinds []string
	if c.Kind != "" {
		kinds = append(kinds, c.Kind)
	}
	if anyMissing(c.After.Participants, before) {
		kinds = append(kinds, kindAttached)
	}
	if anyMissing(before, c.After.Participants) {
		kinds = append(kinds, kindDetached)
	}
	return kinds
}

// anyMissing reports whether a participant of list is not in others with the same role.
func anyMissing(list, others []Participant) bool {
	return slices.ContainsFunc(list, func(p Participant) bool { return !slices.ContainsFunc(others, p.same) })
}
