package resource

import (
	"context"

	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Change is a change of a record that exists.
type Change[D any] struct {
	Verb Verb
	// Draft has the properties to update; nil for other verbs.
	Draft *D
	// Guard names the version that the client has seen.
	Guard write.Guard
	// Force deletes a record although MayDelete refuses.
	Force bool
}

// Change changes the record of an id and returns its next version. It returns a 404 without
// the record or the parent, a 400 for a draft that breaks a rule, and a 409 for a guard that
// fails and for the rules of the kind. A restore adds the conflicts of Create.
func (c Collection[R, P, D]) Change(ctx context.Context, id string, ch Change[D]) (P, error) {
	if ch.Verb == Restored {
		if r, err := c.replay(ctx); r != nil || err != nil {
			return r, err
		}
	}
	op := alteration[R, P, D]{c, ch, id}
	return run[P](ctx, c.Table, write.Op{Reads: op.reads(), Plan: op.plan})
}

// alteration is the operation that updates, deletes or restores a record.
type alteration[R any, P Record[R], D Draft[P]] struct {
	in     Collection[R, P, D]
	change Change[D]
	id     string
}

func (op alteration[R, P, D]) key() table.Key {
	if op.change.Verb == Restored {
		return op.in.deletedKey(op.id)
	}
	return op.in.key(op.id)
}

func (op alteration[R, P, D]) reads() []table.Key {
	keys := append(op.in.kind.parentKeys(op.in.owner), op.key())
	if op.change.Verb != Updated {
		keys = append(keys, op.in.countKey())
	}
	if op.change.Verb == Deleted {
		keys = append(keys, op.childKeys()...)
	}
	return keys
}

// below returns the record as an owner of other records.
func (op alteration[R, P, D]) below() Owner {
	return Owner{Org: op.in.owner.Org, Event: op.in.owner.Event, Parent: op.id}
}

// childKeys returns the keys of the numbers of the record's own records.
func (op alteration[R, P, D]) childKeys() []table.Key {
	keys := make([]table.Key, len(op.in.kind.Children))
	for i, kind := range op.in.kind.Children {
		keys[i] = op.below().CountKey(kind)
	}
	return keys
}

func (op alteration[R, P, D]) plan(ctx context.Context, got write.Items) (*write.Plan, error) {
	if err := op.in.kind.checkParent(op.in.owner, op.change.Verb, got); err != nil {
		return nil, err
	}
	was, ok := got[op.key()]
	if !ok {
		return nil, op.in.kind.notFound()
	}
	before, err := decode[R, P](was)
	if err != nil {
		return nil, err
	}
	if op.hidden(before.header()) {
		return nil, op.in.kind.notFound()
	}
	after, err := op.edited(was)
	if err != nil {
		return nil, err
	}
	plan, err := step[R, P, D]{in: op.in, verb: op.change.Verb, before: before, after: after, was: was}.plan(ctx, got)
	if err != nil || op.change.Verb != Deleted {
		return plan, err
	}
	alone, err := op.mayDelete(before, got)
	if err != nil {
		return nil, err
	}
	plan.Writes = append(plan.Writes, alone...)
	return plan, nil
}

// hidden reports whether a stored record is not there for the caller. Deleted records of all
// parents stand together. After Keep a purge may have begun, and may have purged the record's
// own records first.
func (op alteration[R, P, D]) hidden(h *Header) bool {
	return h.meta.Parent != op.in.owner.Parent || h.DeletedAt != nil && op.in.Now().Sub(h.DeletedAt.Time) > Keep
}

// edited returns the next version of a stored record.
func (op alteration[R, P, D]) edited(was table.Item) (P, error) {
	r, err := decode[R, P](was)
	if err != nil {
		return nil, err
	}
	if op.change.Draft != nil {
		if err := op.in.apply(*op.change.Draft, Edit[P]{Owner: op.in.owner, Record: r}); err != nil {
			return nil, err
		}
	}
	h := r.header()
	// After the draft, since a wrong body is a 400 before a stale version is a 409.
	if err := op.change.Guard.Check(h.version, h.UpdatedAt); err != nil {
		return nil, err
	}
	h.version++
	h.UpdatedAt = wire.After(h.UpdatedAt, op.in.Now())
	h.DeletedAt = nil
	if op.change.Verb == Deleted {
		at := h.UpdatedAt
		h.DeletedAt = &at
	}
	return r, nil
}

// mayDelete asks the kind whether the record may be deleted. It returns conditions that the
// numbers of the record's own records stay as read.
func (op alteration[R, P, D]) mayDelete(r P, got write.Items) ([]table.Write, error) {
	d := Deletion[P]{Record: r, Children: map[string]int{}}
	var conditions []table.Write
	for i, key := range op.childKeys() {
		number, stored, err := countOf(got, key)
		if err != nil {
			return nil, err
		}
		d.Children[op.in.kind.Children[i]] = number
		condition := table.Absent(key)
		if stored.Version > 0 {
			condition = table.Version(key, stored.Version)
		}
		conditions = append(conditions, condition)
	}
	if op.in.kind.MayDelete == nil || op.change.Force {
		return nil, nil
	}
	return conditions, op.in.kind.MayDelete(d)
}
