package record

import (
	"context"

	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// operation creates the record made, or changes the record of an id.
type operation[R any] struct {
	in     Records[R]
	change Change[R]
	made   *R
	id     string
}

func (op operation[R]) key() table.Key { return op.in.Key(op.id, op.change.Verb == Restored) }

// Reads returns the keys beside the record, the key of a record that exists, and what a new record
// names.
func (op operation[R]) Reads() []table.Key {
	keys := op.in.Beside(op.change.Verb, op.id)
	if op.made != nil {
		return append(keys, op.in.Named(op.made)...)
	}
	return append(keys, op.key())
}

// More returns the keys of what the next version of a stored record names. Plan returns the errors.
func (op operation[R]) More(got write.Items) []table.Key {
	stored, found := got[op.key()]
	if op.made != nil || !found {
		return nil
	}
	r, err := op.in.Decode(stored)
	if err == nil && op.change.Edit != nil {
		err = op.change.Edit(r)
	}
	if err != nil {
		return nil
	}
	return op.in.Named(r)
}

// Touches returns nil, so that the operation waits for others that read the same.
func (op operation[R]) Touches(write.Items) []string { return nil }

// Plan checks the step, edits the record and collects the writes.
func (op operation[R]) Plan(ctx context.Context, got write.Items) (plan *write.Plan, err error) {
	s := Step[R]{Verb: op.change.Verb}
	if op.made == nil {
		s.Was = got[op.key()]
	} else {
		fresh := *op.made // Each plan completes a record of its own.
		s.After = &fresh
	}
	if s.Was.Version > 0 {
		if s.Before, err = op.in.Decode(s.Was); err != nil {
			return nil, err
		}
	}
	if err := op.in.Check(s, got); err != nil {
		return nil, err
	}
	if op.made == nil {
		s.After, err = op.edited(s, got)
	} else {
		err = op.in.Admit(s, got)
	}
	if err != nil {
		return nil, err
	}
	writes, err := op.in.Writes(ctx, s, got)
	if err != nil {
		return nil, err
	}
	return &write.Plan{Writes: writes, Answer: s.After}, nil
}

// edited returns the next version of a stored record.
func (op operation[R]) edited(s Step[R], got write.Items) (*R, error) {
	if s.Before == nil || op.in.Head(s.Before).Deleted() != (s.Verb == Restored) {
		return nil, op.in.NotFound()
	}
	r, err := op.in.Decode(s.Was)
	if err != nil {
		return nil, err
	}
	if op.change.Edit != nil {
		if err := op.change.Edit(r); err != nil {
			return nil, err
		}
	}
	s.After = r
	if err := op.in.Admit(s, got); err != nil {
		return nil, err
	}
	h := op.in.Head(r)
	// After the edit, since a wrong body is a 400 before a stale version is a 409.
	if err := op.change.Guard.Check(*h.Version, *h.UpdatedAt); err != nil {
		return nil, err
	}
	*h.Version++
	*h.UpdatedAt = wire.After(*h.UpdatedAt, op.in.Now())
	if h.DeletedAt != nil {
		*h.DeletedAt = nil
	}
	if op.change.Verb == Deleted {
		at := *h.UpdatedAt
		*h.DeletedAt = &at
	}
	return r, nil
}
