package resource

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"lectern/shared/change"
	"lectern/shared/table"
	"lectern/shared/write"
)

// step leads a record from a version to the next.
type step[R any, P Record[R], D Draft[P]] struct {
	in   Collection[R, P, D]
	verb Verb
	// before and was are the last version and the item; nil and empty for a new record.
	before, after P
	was           table.Item
}

// plan returns the writes of the step, and the record as the answer.
func (s step[R, P, D]) plan(ctx context.Context, got write.Items) (*write.Plan, error) {
	record := s.record(ctx)
	held, err := s.holds(ctx)
	if err != nil {
		return nil, err
	}
	stored, err := s.store()
	if err != nil {
		return nil, err
	}
	number, err := s.number(got)
	if err != nil {
		return nil, err
	}
	writes := slices.Concat(stored, held, number, s.parent(), []table.Write{record.Write()})
	return &write.Plan{Writes: writes, Answer: s.after}, nil
}

// record returns the change record. It counts a published change in the record.
func (s step[R, P, D]) record(ctx context.Context) change.Record {
	h, kind := s.after.header(), s.in.kind
	values := change.Diff(s.before, s.after)
	r := change.Record{
		At: h.UpdatedAt, Org: s.in.owner.Org, Event: s.in.owner.Event, Action: kind.Name + "." + string(s.verb),
		Type: kind.Name, RecordID: h.ID, Version: h.version, Values: values,
	}
	if name := kind.Publishes[s.verb]; name != "" {
		h.meta.Sequence++
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
func (s step[R, P, D]) store() ([]table.Write, error) {
	h := s.after.header()
	h.meta.Parent = s.in.owner.Parent
	key := s.in.key(h.ID)
	if h.DeletedAt != nil {
		key = s.in.deletedKey(h.ID)
	}
	item, err := encode(key, s.after)
	switch {
	case err != nil:
		return nil, err
	case s.verb == Created:
		return []table.Write{table.Insert(item)}, nil
	case s.verb == Updated:
		return []table.Write{table.Replace(item, s.was.Version)}, nil
	}
	return []table.Write{table.Remove(s.was.Key, s.was.Version), table.Insert(item)}, nil
}

// holds returns the writes that free the unique value of before and hold that of after. It
// refuses a value that another record holds.
func (s step[R, P, D]) holds(ctx context.Context) (writes []table.Write, err error) {
	h, kind := s.after.header(), s.in.kind
	held := ""
	if s.before != nil {
		held = s.before.header().meta.Unique
	}
	h.meta.Unique = ""
	if kind.Unique != nil && s.verb != Deleted {
		h.meta.Unique = kind.Unique(s.after)
	}
	if held == h.meta.Unique {
		return nil, nil
	}
	if held != "" {
		writes = append(writes, table.Remove(s.in.owner.HoldKey(kind.Name, held), 1))
	}
	if h.meta.Unique == "" {
		return writes, nil
	}
	hold := table.Item{Key: s.in.owner.HoldKey(kind.Name, h.meta.Unique), Version: 1, Data: fmt.Appendf(nil, `{"id":%q}`, h.ID)}
	// A hold that appears later makes the write stale, since the hold may be of this record.
	stored, err := s.in.Table.Get(ctx, hold.Key)
	switch {
	case errors.Is(err, table.ErrNotFound):
		return append(writes, table.Insert(hold)), nil
	case err != nil:
		return nil, err
	case string(stored.Data) == string(hold.Data):
		return nil, table.ErrStale
	}
	return nil, kind.taken()
}

// number returns the write that counts the record. It refuses a record too many. The
// number is exact: of two creations at a time, the second is planned again.
func (s step[R, P, D]) number(got write.Items) ([]table.Write, error) {
	by := map[Verb]int{Created: 1, Restored: 1, Deleted: -1}[s.verb]
	if by == 0 {
		return nil, nil
	}
	number, stored, err := countOf(got, s.in.countKey())
	if err != nil {
		return nil, err
	}
	most := s.in.kind.Max
	if s.in.Most > 0 {
		most = min(most, int(s.in.Most))
	}
	if by > 0 && number >= most {
		return nil, s.in.limit(most)
	}
	item := table.Item{Key: s.in.countKey(), Version: stored.Version + 1, Data: strconv.AppendInt(nil, int64(number+by), 10)}
	if stored.Version == 0 {
		return []table.Write{table.Insert(item)}, nil
	}
	return []table.Write{table.Replace(item, stored.Version)}, nil
}

// parent returns the condition that the parent is still there when a record comes into
// being below it.
func (s step[R, P, D]) parent() []table.Write {
	keys := s.in.kind.parentKeys(s.in.owner)
	if keys == nil || s.verb == Updated || s.verb == Deleted {
		return nil
	}
	return []table.Write{table.Exists(keys[0])}
}
