package upload

import (
	"context"

	"lectern/shared/change"
	"lectern/shared/record"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// operation creates or changes the record of an id.
type operation[R any, P Record[R]] struct {
	Collection[R, P]
	id string
	// fresh is a new record; nil for a change.
	fresh P
	edit  Edit[P]
}

// Reads returns the keys of the session and of a record that changes.
func (o *operation[R, P]) Reads() []table.Key {
	if o.fresh != nil {
		return []table.Key{o.place.Body(o.session)}
	}
	return []table.Key{o.place.Body(o.session), o.Key(o.id)}
}

// More returns no keys.
func (o *operation[R, P]) More(write.Items) []table.Key { return nil }

// Touches returns nil: no bulk has these operations.
func (o *operation[R, P]) Touches(write.Items) []string { return nil }

// Plan writes the record and the change record. The session may be deleted meanwhile: the record is
// hidden then, and removed after the session.
func (o *operation[R, P]) Plan(ctx context.Context, got write.Items) (*write.Plan, error) {
	if err := o.there(got); err != nil {
		return nil, err
	}
	if o.fresh != nil {
		return o.plan(ctx, "created", nil, o.fresh)
	}
	before, err := o.Find(got, o.id)
	if err != nil {
		return nil, err
	}
	after, err := o.Find(got, o.id)
	if err != nil {
		return nil, err
	}
	verb, err := o.edit.Apply(after)
	if err != nil || verb == "" {
		return &write.Plan{Answer: before}, err
	}
	return o.plan(ctx, verb, before, after)
}

// inner are the properties of a record that a change record does not list: no answer shows them, or an
// erasure removes them.
var inner = []string{"object", "multipart", "ends", "name", "file", "published", "source"}

// plan returns the writes of the next version; before is nil for a new record.
func (o *operation[R, P]) plan(ctx context.Context, verb string, before, after P) (*write.Plan, error) {
	writes, err := o.Writes(ctx, verb, before, after)
	if err != nil {
		return nil, err
	}
	return &write.Plan{Writes: writes, Answer: after}, nil
}

// Writes returns the writes of a new record, or of the next version of a record: the record and its
// change record. before is nil for a new record. An operation of another package has them in its own
// transaction.
func (c Collection[R, P]) Writes(ctx context.Context, verb string, before, after P) ([]table.Write, error) {
	u, stored := after.upload(), table.Insert
	if before != nil {
		was := before.upload()
		u.version, u.UpdatedAt = was.version+1, wire.After(was.UpdatedAt, c.Now())
		stored = func(item table.Item) table.Write { return table.Replace(item, was.version) }
	}
	item, err := record.Encode(c.Key(u.ID), u.version, after)
	if err != nil {
		return nil, err
	}
	noted := change.New(ctx, change.Record{
		At: u.UpdatedAt, Org: c.place.Org, Event: c.place.Event, Action: c.kind.Name + "." + verb, Type: c.kind.Name, RecordID: u.ID,
		Version: u.version, Parent: "session " + c.session, Values: change.Diff((*R)(before), (*R)(after), inner...),
		Kinds: c.published(before, after),
	})
	return []table.Write{stored(item), noted.Write()}, nil
}

// published returns the published kind of a change that takes the record's next number; no kind for any
// other change.
func (c Collection[R, P]) published(before, after P) []change.Kind {
	number := after.upload().Published
	if before == nil || number == before.upload().Published {
		return nil
	}
	return []change.Kind{{Name: c.kind.Publishes, Sequence: number}}
}
