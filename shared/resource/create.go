package resource

import (
	"context"

	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Create stores a new record of the draft. It returns a 400 for a draft that breaks a rule,
// a 404 without the parent, and a 409 for a deleted parent, a unique value that is taken, or
// a record too many.
func (c Collection[R, P, D]) Create(ctx context.Context, draft D) (P, error) {
	if r, err := c.replay(ctx); r != nil || err != nil {
		return r, err
	}
	op := creation[R, P, D]{c, draft, c.NewID()}
	return run[P](ctx, c.Table, write.Op{Reads: op.reads(), Plan: op.plan})
}

// creation is the operation that creates a record.
type creation[R any, P Record[R], D Draft[P]] struct {
	in    Collection[R, P, D]
	draft D
	id    string
}

func (op creation[R, P, D]) reads() []table.Key {
	return append(op.in.kind.parentKeys(op.in.owner), op.in.countKey())
}

func (op creation[R, P, D]) plan(ctx context.Context, got write.Items) (*write.Plan, error) {
	r := P(new(R))
	h := r.header()
	h.ID, h.version = op.id, 1
	h.CreatedAt = wire.At(op.in.Now())
	h.UpdatedAt = h.CreatedAt
	if err := op.in.apply(op.draft, Edit[P]{Owner: op.in.owner, Record: r, New: true}); err != nil {
		return nil, err
	}
	if err := op.in.kind.checkParent(op.in.owner, Created, got); err != nil {
		return nil, err
	}
	return step[R, P, D]{in: op.in, verb: Created, after: r}.plan(ctx, got)
}
