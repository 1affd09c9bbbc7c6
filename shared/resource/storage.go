package resource

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"lectern/shared/apierr"
	"lectern/shared/change"
	"lectern/shared/record"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/write"
)

// storage is the record.Storage of a collection.
type storage[R any, P Record[R], D Draft[P]] struct {
	Collection[R, P, D]
	// force deletes a record although MayDelete refuses.
	force bool
}

func (s storage[R, P, D]) Head(r *R) record.Head {
	h := P(r).header()
	return record.Head{ID: &h.ID, Version: &h.version, CreatedAt: &h.CreatedAt, UpdatedAt: &h.UpdatedAt, DeletedAt: &h.DeletedAt}
}

func (s storage[R, P, D]) Key(id string, deleted bool) table.Key {
	if deleted {
		return s.owner.DeletedKey(s.kind.Name, id)
	}
	return s.key(id)
}

func (s storage[R, P, D]) Decode(from table.Item) (*R, error) { return decode[R, P](from) }

func (s storage[R, P, D]) NotFound() error { return s.kind.notFound() }

func (s storage[R, P, D]) Beside(verb record.Verb, id string) []table.Key {
	keys := s.parentKeys()
	if countedBy(verb) != 0 || s.kind.Watched {
		keys = append(keys, s.countKey())
	}
	if verb == record.Deleted {
		keys = append(keys, s.numberKeys(id)...)
	}
	return keys
}

// Check refuses an owner without the parent, and a record that is not there for the caller:
// the deleted records of all parents stand together, and a purge may have begun after Keep,
// and may have purged the record's own records first.
func (s storage[R, P, D]) Check(step record.Step[R], got write.Items) error {
	if err := s.checkParent(step.Verb, got); err != nil || step.Before == nil {
		return err
	}
	h := P(step.Before).header()
	if s.outside(step.Before) || h.meta.Parent != s.owner.Parent || h.DeletedAt != nil && s.Now().Sub(h.DeletedAt.Time) > Keep {
		return s.kind.notFound()
	}
	return nil
}

// Named returns the key that holds the unique value of the next version, unless the last version has the
// same, and the keys of what the record names.
func (s storage[R, P, D]) Named(r *R) (keys []table.Key) {
	if s.kind.Unique != nil {
		if value := s.kind.Unique(r); value != "" && value != P(r).header().meta.Unique {
			keys = append(keys, s.owner.HoldKey(s.kind.Name, value))
		}
	}
	if s.kind.Named != nil {
		keys = append(keys, s.kind.Named(r, s.owner)...)
	}
	if s.kind.Serial != nil && P(r).Revision() <= 1 {
		keys = append(keys, s.owner.SerialKey(s.kind.Serial(r, 0)))
	}
	return append(keys, s.sumKeys(r)...)
}

func (s storage[R, P, D]) Admit(step record.Step[R], got write.Items) error {
	if s.kind.Admit == nil {
		return nil
	}
	a := Admission[P]{Owner: s.owner, Verb: step.Verb, Record: step.After, Now: s.Now(), Found: got}
	if keys := s.parentKeys(); keys != nil {
		a.Parent = got[keys[0]]
	}
	var err error
	if a.Count, _, err = countOf(got, s.countKey()); err != nil {
		return err
	}
	return s.kind.Admit(a)
}

// Writes returns the writes of the record, the unique value, the number of records, the
// parent's condition and the change record.
func (s storage[R, P, D]) Writes(ctx context.Context, step record.Step[R], got write.Items) ([]table.Write, error) {
	if err := s.finish(ctx, step); err != nil {
		return nil, err
	}
	writes, err := s.serial(step, got)
	if err != nil {
		return nil, err
	}
	noted := s.noted(ctx, step)
	for _, part := range []func(record.Step[R], write.Items) ([]table.Write, error){
		s.holds, s.sums, s.number, s.mayDelete,
	} {
		some, err := part(step, got)
		if err != nil {
			return nil, err
		}
		writes = append(writes, some...)
	}
	stored, err := s.store(step)
	if err != nil {
		return nil, err
	}
	writes = slices.Concat(stored, writes, s.parent(step, got), []table.Write{noted.Write()})
	if s.kind.Security != nil {
		writes = append(writes, tenancy.SecurityWrites(noted, s.kind.Security(P(step.Before), P(step.After)))...)
	}
	return writes, nil
}

// fits returns the 400 of a new version that has more bytes than the kind allows.
func (s storage[R, P, D]) fits(step record.Step[R]) error {
	if s.kind.Bytes == 0 || step.Verb != record.Created && step.Verb != record.Updated {
		return nil
	}
	return s.bound(step.After, s.kind.Bytes)
}

// finish finishes the stored record. It returns table.ErrStale if the record has changed by that.
func (s storage[R, P, D]) finish(ctx context.Context, step record.Step[R]) error {
	if s.kind.Finish == nil || step.Before == nil {
		return nil
	}
	finished, err := s.kind.Finish(ctx, s.Collection, step.Before)
	if err == nil && finished != P(step.Before) {
		err = table.ErrStale
	}
	return err
}

// noted returns the change record. It counts a published change in the record.
func (s storage[R, P, D]) noted(ctx context.Context, step record.Step[R]) change.Record {
	h, kind := P(step.After).header(), s.kind
	values := change.Diff(step.Before, step.After)
	if kind.Redact != nil {
		kind.Redact(values)
	}
	r := change.Record{
		At: h.UpdatedAt, Org: s.owner.Org, Event: s.owner.Event, Action: kind.Name + "." + string(step.Verb),
		Type: kind.Name, RecordID: h.ID, Version: h.version, Values: values,
	}
	if name := kind.Publishes[step.Verb]; name != "" {
		h.meta.Sequence = 1
		if step.Before != nil {
			h.meta.Sequence += P(step.Before).header().meta.Sequence
		}
		fields := make([]string, len(values))
		for i, v := range values {
			fields[i] = v.Field
		}
		r.Kinds = []change.Kind{{Name: name, Sequence: h.meta.Sequence, Fields: fields}}
	}
	return change.New(ctx, r)
}

// store returns the writes of the record itself. A deletion and a restore move the record to
// another key.
func (s storage[R, P, D]) store(step record.Step[R]) ([]table.Write, error) {
	if err := s.fits(step); err != nil {
		return nil, err
	}
	h := P(step.After).header()
	h.meta.Parent = s.owner.Parent
	item, err := encode(s.Key(h.ID, h.DeletedAt != nil), P(step.After))
	switch {
	case err != nil:
		return nil, err
	case step.Verb == record.Created:
		return []table.Write{table.Insert(item)}, nil
	case step.Was.Key == item.Key:
		return []table.Write{table.Replace(item, step.Was.Version)}, nil
	}
	return []table.Write{table.Remove(step.Was.Key, step.Was.Version), table.Insert(item)}, nil
}

// holds returns the writes that free the unique value of the last version and hold that of the
// next. It refuses a value that another record holds.
func (s storage[R, P, D]) holds(step record.Step[R], got write.Items) (writes []table.Write, err error) {
	h, kind := P(step.After).header(), s.kind
	held := ""
	if step.Before != nil {
		held = P(step.Before).header().meta.Unique
	}
	h.meta.Unique = ""
	if kind.Unique != nil && step.Verb != record.Deleted {
		h.meta.Unique = kind.Unique(step.After)
	}
	if held == h.meta.Unique {
		return nil, nil
	}
	if held != "" {
		writes = append(writes, table.Remove(s.owner.HoldKey(kind.Name, held), 1))
	}
	if h.meta.Unique == "" {
		return writes, nil
	}
	hold := table.Item{Key: s.owner.HoldKey(kind.Name, h.meta.Unique), Version: 1, Data: fmt.Appendf(nil, `{"id":%q}`, h.ID)}
	if stored, held := got[hold.Key]; held && string(stored.Data) != string(hold.Data) {
		return nil, kind.taken()
	}
	// A hold of this record was read later than the record, so the write is stale.
	return append(writes, table.Insert(hold)), nil
}

// countedBy returns the number that a step adds to the number of records.
func countedBy(verb record.Verb) int {
	switch verb {
	case record.Created, record.Restored:
		return 1
	case record.Deleted:
		return -1
	}
	return 0
}

// number returns the write that counts the record. It refuses a record too many. The
// number is exact: of two creations at a time, the second is planned again. An update of a kind that is Watched
// writes the same number again.
func (s storage[R, P, D]) number(step record.Step[R], got write.Items) ([]table.Write, error) {
	by := countedBy(step.Verb)
	if by == 0 && !s.kind.Watched {
		return nil, nil
	}
	number, stored, err := countOf(got, s.countKey())
	if err != nil {
		return nil, err
	}
	if most := s.Limit(); by > 0 && number >= most && !s.Unlimited {
		return nil, apierr.TooMany(s.kind.Many, number, most, cmp.Or(s.kind.Advice, apierr.DeleteSome))
	}
	stored.Key = s.countKey()
	return []table.Write{table.Recount(stored, number, by)}, nil
}

// parent returns the condition that the parent is still there when a record comes into
// being below it, and that the parent has not changed if Admit has read it.
func (s storage[R, P, D]) parent(step record.Step[R], got write.Items) []table.Write {
	keys := s.parentKeys()
	switch {
	case keys == nil:
		return nil
	case s.kind.ReadsParent != nil && s.kind.ReadsParent(step.After):
		return []table.Write{table.Version(keys[0], got[keys[0]].Version)}
	case countedBy(step.Verb) > 0:
		return []table.Write{table.Exists(keys[0])}
	}
	return nil
}

// mayDelete asks the kind whether a record may be deleted. It returns conditions that the
// numbers of the record's own records and of the sums stay as read.
func (s storage[R, P, D]) mayDelete(step record.Step[R], got write.Items) (conditions []table.Write, err error) {
	if step.Verb != record.Deleted || s.kind.MayDelete == nil || s.force && s.kind.Above == nil {
		return nil, nil
	}
	d := Deletion[P]{Record: step.Before, Force: s.force}
	id := P(step.Before).RecordID()
	if d.Children, err = s.numbers(id, got); err != nil {
		return nil, err
	}
	for _, key := range s.numberKeys(id) {
		condition := table.Absent(key)
		if stored, found := got[key]; found {
			condition = table.Version(key, stored.Version)
		}
		conditions = append(conditions, condition)
	}
	d.Below = len(below(d.Children))
	return conditions, s.kind.MayDelete(d)
}
