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
	return []table.Key{o.place.Body(o.session), o.key(o.id)}
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
	before, err := o.find(got, o.id)
	if err != nil {
		return nil, err
	}
	after, err := o.find(got, o.id)
	if err != nil {
		return nil, err
	}
	verb, err := o.edit.Apply(after)
	if err != nil || verb == "" {
		return &write.Plan{Answer: before}, err
	}
	u := after.upload()
	u.version, u.UpdatedAt = u.version+1, wire.After(u.UpdatedAt, o.Now())
	return o.plan(ctx, verb, before, after)
}

// inner are the properties of a record that no answer shows.
var inner = []string{"object", "multipart", "ends", "published"}

// plan returns the writes of the next version; before is nil for a new record.
func (o *operation[R, P]) plan(ctx context.Context, verb string, before, after P) (*write.Plan, error) {
	u := after.upload()
	item, err := record.Encode(o.key(u.ID), u.version, after)
	if err != nil {
		return nil, err
	}
	stored := table.Insert(item)
	if before != nil {
		stored = table.Replace(item, before.upload().version)
	}
	noted := change.New(ctx, change.Record{
		At: u.UpdatedAt, Org: o.place.Org, Event: o.place.Event, Action: o.kind.Name + "." + verb, Type: o.kind.Name, RecordID: u.ID,
		Version: u.version, Parent: "session " + o.session, Values: change.Diff((*R)(before), (*R)(after), inner...),
		Kinds: o.published(before, after),
	})
	return &write.Plan{Writes: []table.Write{stored, noted.Write()}, Answer: after}, nil
}

// published returns the published kind of a change that takes the record's next number; no kind for any
// other change.
func (o *operation[R, P]) published(before, after P) []change.Kind {
	number := after.upload().Published
	if before == nil || number == before.upload().Published {
		return nil
	}
	return []change.Kind{{Name: o.kind.Publishes, Sequence: number}}
}
