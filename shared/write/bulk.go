package write

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"lectern/shared/change"
	"lectern/shared/idempotency"
	"lectern/shared/table"
)

// Entry is an operation of a bulk request.
type Entry struct {
	// ID is the record's id, also of a record to create. Bulk replaces it if the answer
	// shows another record.
	ID string
	Op Op
	// Err is the error of an operation that was refused already; Op is then not done.
	Err error
}

// Batch is the operations of a bulk request.
type Batch struct {
	Entries []Entry
	// Prepare sets Op or Err of the entries at the indexes todo, in a single call: the
	// entries that no earlier request with the Idempotency-Key has done. An error of Prepare
	// ends the request. Nil for entries that are ready.
	Prepare func(ctx context.Context, todo []int) error
	// Again renders records that an earlier request with the Idempotency-Key has written, by
	// id, deleted records too. A missing record makes a result without an answer.
	Again func(ctx context.Context, ids []string) (map[string]any, error)
}

// Result is the result of the entry at the same index, as Run would return it. Both fields
// are nil for an operation done earlier whose record cannot be shown any more.
type Result struct {
	Answer any
	Err    error
}

// atOnce is how many sequences of packs are committed, or operations planned, in parallel.
const atOnce = 8

// Bulk does the operations as if Run had done them in order, in far fewer transactions: each
// succeeds or fails alone and sees the earlier operations that touch the same names. With an
// Idempotency-Key, operations that an earlier request has done are not done again. When an
// operation failed for a reason that may pass, the key keeps the successes only, for a
// repetition to do the rest.
//
// The error concerns the request as a whole: 409 while another request has the key,
// idempotency.ErrRaced when another request took the key over.
func Bulk(ctx context.Context, t *table.Table, batch Batch) ([]Result, error) {
	n := len(batch.Entries)
	b := &bulk{Batch: batch, table: t, key: idempotency.From(ctx), results: make([]Result, n), kept: make([]bool, n)}
	defer b.release(ctx)
	todo, err := b.begin(ctx)
	for err == nil && len(todo) > 0 {
		todo, err = b.round(ctx, todo)
	}
	if err != nil {
		return nil, err
	}
	b.settle(ctx)
	return b.results, nil
}

type bulk struct {
	Batch
	table *table.Table
	key   *idempotency.Key
	// results are filled at different indexes in parallel, and so is kept: whether a part of
	// the key has the result.
	results []Result
	kept    []bool
	// settled reports whether the key has all results.
	settled bool
}

// LastStep is the time before the end of the request in which a bulk begins no further read
// or write: a write takes table.LongestWrite at most, and then the key is given back and the
// answer rendered. So each operation has its answer before the request ends, unless two
// calls of a step in a row need seconds each.
const LastStep = table.LongestWrite + 3*time.Second

// Late reports whether the request ends too soon for another step. A request without a
// deadline does not end.
func Late(ctx context.Context) bool {
	end, ok := ctx.Deadline()
	return ok && time.Until(end) < LastStep
}

// round does the operations of todo that touch nothing that an earlier operation touches,
// and returns the others: their items may be different afterwards.
func (b *bulk) round(ctx context.Context, todo []int) (later []int, err error) {
	if Late(ctx) {
		b.fail(todo, table.ErrBusy)
		return nil, nil
	}
	now, got, later, err := b.read(ctx, todo)
	if err != nil {
		b.fail(now, err)
		return later, nil
	}
	made, stale := b.plan(ctx, now, got)
	var g errgroup.Group
	g.SetLimit(atOnce)
	for _, packs := range sequences(made) {
		g.Go(table.Safely(func() error { return b.commitAll(ctx, packs) }))
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return later, b.oneByOne(ctx, stale)
}

// maxKeys is how many items the operations of a round read in each of their two batches,
// except the items of a single operation: of the largest items, twice as many take 300 MB of
// a Lambda's memory.
const maxKeys = 1_000

// read reads the items of operations in two batches: the first batch for as many operations
// as there is room, the second for the independent operations among them. It returns these
// and, in order, the others.
func (b *bulk) read(ctx context.Context, todo []int) (now []int, got Items, later []int, err error) {
	var first, second keyBatch
	for _, i := range todo {
		if !first.add(b.Entries[i].Op.Reads()) {
			break
		}
	}
	if got, err = b.table.GetMany(ctx, first.keys); err != nil {
		return todo[:first.ops], nil, todo[first.ops:], err
	}
	now, waiting := b.independent(todo[:first.ops], got)
	for _, i := range now {
		if !second.add(b.Entries[i].Op.More(got)) {
			break
		}
	}
	later = slices.Concat(waiting, now[second.ops:], todo[first.ops:])
	slices.Sort(later)
	return now[:second.ops], got, later, join(ctx, b.table, got, second.keys)
}

// keyBatch has the keys of the first operations, which are read together.
type keyBatch struct {
	ops   int
	keys  []table.Key
	known map[table.Key]bool
}

// add adds the keys of the next operation. It reports whether there was room; the first
// operation always has room.
func (k *keyBatch) add(keys []table.Key) bool {
	if k.known == nil {
		k.known = map[table.Key]bool{}
	}
	for _, key := range keys {
		k.known[key] = true
	}
	if len(k.known) > maxKeys && k.ops > 0 {
		return false
	}
	k.ops, k.keys = k.ops+1, append(k.keys, keys...)
	return true
}

// independent divides todo in order: later has the operations that touch a name of an
// earlier operation.
func (b *bulk) independent(todo []int, got Items) (now, later []int) {
	touched := map[string]bool{}
	for _, i := range todo {
		names := touches(b.Entries[i].Op, got)
		if slices.ContainsFunc(names, func(name string) bool { return touched[name] }) {
			later = append(later, i)
		} else {
			now = append(now, i)
		}
		for _, name := range names {
			touched[name] = true
		}
	}
	return now, later
}

// touches returns the names that the operation touches; by default the keys of Reads.
func touches(op Op, got Items) []string {
	names := op.Touches(got)
	if names != nil {
		return names
	}
	for _, key := range op.Reads() {
		names = append(names, key.PK+" "+key.SK)
	}
	return names
}

// plan plans the operations, atOnce in parallel. It returns the operations with writes, and
// the operations with outdated items; the others have their results.
func (b *bulk) plan(ctx context.Context, todo []int, got Items) (ops []planned, stale []int) {
	for some := range slices.Chunk(todo, atOnce) {
		plans := make([]*Plan, len(some))
		var g errgroup.Group
		for n, i := range some {
			g.Go(func() error {
				plans[n], b.results[i].Err = safePlan(ctx, b.Entries[i].Op, got)
				return nil // The error is the operation's result.
			})
		}
		_ = g.Wait()
		for n, i := range some {
			r := &b.results[i]
			switch {
			case errors.Is(r.Err, table.ErrStale):
				stale = append(stale, i)
			case r.Err != nil:
			case len(plans[n].Writes) == 0:
				r.Answer = plans[n].Answer
				b.name(i, r.Answer)
			default:
				ops = append(ops, planned{i, merge(nil, plans[n].Writes), plans[n].Answer})
				b.name(i, plans[n].Answer)
			}
		}
	}
	return ops, stale
}

// Reserver is an answer that needs memory until all operations of a bulk are done. Reserve
// is called in the order of the operations.
type Reserver interface{ Reserve() }

// name notes the id of the record that the answer of an operation shows, and reserves memory
// for the answer.
func (b *bulk) name(index int, answer any) {
	if answer, ok := answer.(Reserver); ok {
		answer.Reserve()
	}
	if shown, ok := answer.(record); ok {
		b.Entries[index].ID = shown.RecordID()
	}
}

// commitAll writes the packs of a sequence in order. After a pack that was not written as planned, packs whose numbers
// go on from it are no longer right: their operations are planned again.
func (b *bulk) commitAll(ctx context.Context, packs []pack) error {
	for i, p := range packs {
		whole, err := b.commit(ctx, p)
		if err != nil {
			return err
		}
		if whole || !slices.ContainsFunc(p.writes, table.Write.Recounts) {
			continue
		}
		for _, later := range packs[i+1:] {
			if err := b.oneByOne(ctx, later.indexes()); err != nil {
				return err
			}
		}
		return nil
	}
	return nil
}

// commit writes a pack and, if that is refused, the operations of the pack alone. It reports whether the pack was
// written as a whole. It returns only idempotency.ErrRaced; other errors are results.
func (b *bulk) commit(ctx context.Context, p pack) (whole bool, err error) {
	kept, err := b.keep(ctx, p.ops)
	if err == nil {
		err = change.Commit(ctx, b.table, slices.Concat(p.writes, kept)...)
	}
	switch {
	case err == nil:
		for _, op := range p.ops {
			b.results[op.index].Answer, b.kept[op.index] = op.answer, true
		}
		return true, nil
	case errors.Is(err, idempotency.ErrRaced):
		return false, err
	case errors.Is(err, table.ErrInDoubt), ctx.Err() != nil:
		// What may have been done must not be done again.
		b.fail(p.indexes(), err)
		return false, nil //nolint:nilerr // the error is the operations' result
	}
	return false, b.oneByOne(ctx, p.indexes())
}

// oneByOne does each operation alone, while there is time.
func (b *bulk) oneByOne(ctx context.Context, todo []int) error {
	for n, i := range todo {
		if Late(ctx) {
			b.fail(todo[n:], table.ErrBusy)
			return nil
		}
		answer, err := run(ctx, b.table, b.Entries[i].Op, entryOf{b, i})
		if errors.Is(err, idempotency.ErrRaced) {
			return err
		}
		b.results[i], b.kept[i] = Result{answer, err}, err == nil
	}
	return nil
}

// entryOf is the operation of a bulk at an index.
type entryOf struct {
	bulk  *bulk
	index int
}

func (e entryOf) keep(ctx context.Context, answer any) ([]table.Write, error) {
	e.bulk.name(e.index, answer)
	return e.bulk.keep(ctx, []planned{{index: e.index, answer: answer}})
}

// fail gives all of todo the same error.
func (b *bulk) fail(todo []int, err error) {
	for _, i := range todo {
		b.results[i].Err = err
	}
}
