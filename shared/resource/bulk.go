package resource

import (
	"context"
	"slices"

	"lectern/shared/api/check"
	"lectern/shared/bulk"
	"lectern/shared/record"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

type bulkInput struct {
	At
	Body bulk.Request
}

// bulk does up to 100 operations on the records of the owner (gaps.md section 3). Without the parent the
// request is a 404, unless the request repeats another one under its Idempotency-Key.
func (c Collection[R, P, D]) bulk(ctx context.Context, in *bulkInput) (*bulk.Response[R, bulk.Failure], error) {
	got, err := c.Table.GetMany(ctx, c.parentKeys())
	if err != nil {
		return nil, err
	}
	if err := c.checkParent(record.Updated, got); err != nil && !write.Repeats(ctx) {
		return nil, err
	}
	return bulk.Run[R](ctx, c.Table, in.Body, bulk.Maker{
		NewID: c.NewID, Create: c.creating, Update: c.updating, Delete: c.deleting, Again: c.again,
	}, bulk.Fail)
}

func (c Collection[R, P, D]) creating(_ context.Context, id string, data bulk.Data) (write.Op, error) {
	sent, err := check.Decode[wire.Create[D]](data)
	if err != nil {
		return nil, err
	}
	return c.BulkCreating(id, sent.Draft)
}

// BulkCreating returns the operation of a bulk that creates the record of a draft under an id.
func (c Collection[R, P, D]) BulkCreating(id string, draft D) (write.Op, error) {
	op, r, err := c.creation(id, draft)
	if err != nil {
		return nil, err
	}
	return entry[R, P, D]{in: c, op: op, id: id, counts: true, made: r}, nil
}

func (c Collection[R, P, D]) updating(_ context.Context, id string, data bulk.Data) (write.Op, error) {
	sent, err := check.Decode[wire.Update[D]](data)
	if err != nil {
		return nil, err
	}
	guard := write.Guard{UpdatedAt: sent.UpdatedAt}
	if err := guard.Validate(); err != nil {
		return nil, err
	}
	return c.BulkChanging(id, Change[D]{Verb: record.Updated, Draft: &sent.Draft, Guard: guard})
}

func (c Collection[R, P, D]) deleting(_ context.Context, id string) (write.Op, error) {
	return c.BulkChanging(id, Change[D]{Verb: record.Deleted})
}

// BulkChanging returns the operation of a bulk that changes the record of an id.
func (c Collection[R, P, D]) BulkChanging(id string, ch Change[D]) (write.Op, error) {
	step, err := c.step(id, ch)
	if err != nil {
		return nil, err
	}
	op := c.records(false).Changing(id, step)
	return entry[R, P, D]{in: c, op: op, id: id, counts: countedBy(ch.Verb) != 0, edit: step.Edit}, nil
}

// again returns records by id, deleted or not.
func (c Collection[R, P, D]) again(ctx context.Context, ids []string) (map[string]any, error) {
	var keys []table.Key
	for _, id := range ids {
		keys = append(keys, c.key(id), c.owner.DeletedKey(c.kind.Name, id))
	}
	all, err := c.stored(ctx, keys)
	answers := map[string]any{}
	for i, r := range all {
		if all[i], err = c.finished(ctx, r, err); err != nil {
			return nil, err
		}
		answers[r.RecordID()] = all[i]
	}
	if err == nil {
		err = c.complete(ctx, all...)
	}
	return answers, err
}

// entry is an operation of a bulk on the record of an id.
type entry[R any, P Record[R], D Draft[P]] struct {
	in Collection[R, P, D]
	op write.Op
	id string
	// counts reports whether the operation changes the number of records.
	counts bool
	// made is the record of a creation, edit changes that of an update; otherwise nil.
	made P
	edit func(*R) error
}

func (e entry[R, P, D]) Reads() []table.Key { return e.op.Reads() }

func (e entry[R, P, D]) More(got write.Items) []table.Key { return e.op.More(got) }

// MaxOperations is how many operations a bulk may have (gaps.md section 3).
const MaxOperations = 100

// Touches returns the record and its unique values, old and new. Operations of a bulk change the number of
// records together, unless the number is near the limit: then each that changes the number waits for the earlier ones
// that change the number too.
func (e entry[R, P, D]) Touches(got write.Items) []string {
	names := []string{e.id}
	number, _, err := countOf(got, e.in.countKey())
	if e.counts && (err != nil || number+MaxOperations > e.in.Limit()) {
		names = append(names, e.in.countKey().SK)
	}
	if e.in.kind.Unique == nil {
		return names
	}
	if e.made != nil {
		names = append(names, e.in.kind.Unique(e.made))
	}
	if before, err := decode[R, P](got[e.in.key(e.id)]); err == nil {
		names = append(names, e.in.kind.Unique(before))
		if e.edit != nil && e.edit(before) == nil {
			names = append(names, e.in.kind.Unique(before))
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// Plan answers the record as a single operation does.
func (e entry[R, P, D]) Plan(ctx context.Context, got write.Items) (*write.Plan, error) {
	plan, err := e.op.Plan(ctx, got)
	if err == nil {
		err = e.in.complete(ctx, plan.Answer.(*R))
	}
	return plan, err
}
