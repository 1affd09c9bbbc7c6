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

// Entry is one operation of a bulk request.
type Entry struct {
	// ID is the record's, also of one that is created. Where the answer shows another
	// record, Bulk puts the id of that one here.
	ID string
	Op Op
	// Err is why the operation was refused already; Op is then not done.
	Err error
}

// Batch is the operations of a bulk request.
type Batch struct {
	Entries []Entry
	// Prepare sets Op or Err of the entries at the indexes todo, in one call: those
	// that no earlier request with the Idempotency-Key has done. Its error ends the
	// request. Nil for entries that are ready.
	Prepare func(ctx context.Context, todo []int) error
	// Again shows records that an earlier request with the Idempotency-Key has written,
	// by id, deleted ones too. A record that it leaves out makes a result without an
	// answer.
	Again func(ctx context.Context, ids []string) (map[string]any, error)
}

// Result is how the entry of the same index came out: what Run would have
// returned for it. Both are nil for what was done earlier and cannot be shown any
// more.
type Result struct {
	Answer any
	Err    error
}

// atOnce is how many sequences of packs are committed, or operations planned, in
// parallel.
const atOnce = 8

// Bulk does the operations as if Run had done one after the other, in far fewer
// transactions: each succeeds or fails on its own and sees the earlier ones that
// touch the same. With an Idempotency-Key, what an earlier request with the key
// has done is not done again. When an operation failed for a reason that may pass,
// the key keeps what was done only, for a repetition to do the rest.
//
// The error is for the request as a whole: 409 while another request holds the
// key, idempotency.ErrRaced when one took it over.
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
	// results are filled at different indexes in parallel, and so is kept: whether a part
	// of the key has the result.
	results []Result
	kept    []bool
	// settled is whether the key has all results.
	settled bool
}

// lastStep is the time before the end of the request in which a bulk begins no further read
// or write: one takes table.LongestWrite at most, and then the key is given back and the
// answer rendered. So each operation has its answer before the request ends, unless two
// calls of one step in a row need seconds each.
const lastStep = table.LongestWrite + 3*time.Second

// late reports whether the request ends too soon for another step. A request without a
// deadline does not end.
func late(ctx context.Context) bool {
	end, ok := ctx.Deadline()
	return ok && time.Until(end) < lastStep
}

// round does those of todo that touch nothing an earlier one of them touches, and
// gives the others: what these read and touch may be different afterwards.
func (b *bulk) round(ctx context.Context, todo []int) (later []int, err error) {
	if late(ctx) {
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

// maxKeys is how many items the operations of one round read in each of their two
// batches, but for those of a single one: of the largest, twice as many take 300 MB of
// a Lambda's memory.
const maxKeys = 1_000

// read reads what operations need, all together in two batches: of all that there is
// room for what they touch, and of those that are independent what follows. It gives
// these and, in order, the others.
func (b *bulk) read(ctx context.Context, todo []int) (now []int, got Items, later []int, err error) {
	first, n := gathered(todo, func(i int) []table.Key { return b.Entries[i].Op.Reads })
	if got, err = b.table.GetMany(ctx, first); err != nil {
		return todo[:n], nil, todo[n:], err
	}
	now, waiting := b.independent(todo[:n], got)
	second, m := gathered(now, func(i int) []table.Key { return b.Entries[i].Op.more(got) })
	later = slices.Concat(waiting, now[m:], todo[n:])
	slices.Sort(later)
	return now[:m], got, later, join(ctx, b.table, got, second)
}

// gathered are the keys of the first n operations, as many as may be read at once.
func gathered(todo []int, of func(i int) []table.Key) (keys []table.Key, n int) {
	known := map[table.Key]bool{}
	for n, i := range todo {
		its := of(i)
		for _, key := range its {
			known[key] = true
		}
		if len(known) > maxKeys && n > 0 {
			return keys, n
		}
		keys = append(keys, its...)
	}
	return keys, len(todo)
}

// independent divides todo, keeping its order.
func (b *bulk) independent(todo []int, got Items) (now, later []int) {
	touched := map[string]bool{}
	for _, i := range todo {
		touches := b.Entries[i].Op.touches(got)
		if slices.ContainsFunc(touches, func(what string) bool { return touched[what] }) {
			later = append(later, i)
		} else {
			now = append(now, i)
		}
		for _, what := range touches {
			touched[what] = true
		}
	}
	return now, later
}

func (op Op) touches(got Items) (touches []string) {
	if op.Touches != nil {
		return op.Touches(got)
	}
	for _, key := range op.Reads {
		touches = append(touches, key.PK+" "+key.SK)
	}
	return touches
}

// plan plans the operations, atOnce in parallel. It returns those that have something to
// write, and those that found what was read out of date; the others have their results.
func (b *bulk) plan(ctx context.Context, todo []int, got Items) (ops []planned, stale []int) {
	for some := range slices.Chunk(todo, atOnce) {
		plans := make([]*Plan, len(some))
		var g errgroup.Group
		for n, i := range some {
			g.Go(func() error {
				plans[n], b.results[i].Err = b.Entries[i].Op.plan(ctx, got)
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

// name notes which record the operation at index is about, by its answer, for which it
// reserves memory.
func (b *bulk) name(index int, answer any) {
	if answer, ok := answer.(Reserver); ok {
		answer.Reserve()
	}
	if shown, ok := answer.(record); ok {
		b.Entries[index].ID = shown.RecordID()
	}
}

// commitAll writes the packs of a sequence in order.
func (b *bulk) commitAll(ctx context.Context, packs []pack) error {
	for _, p := range packs {
		if err := b.commit(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// commit writes a pack and, if that is refused, its operations one by one. Its
// error is idempotency.ErrRaced; all others are results.
func (b *bulk) commit(ctx context.Context, p pack) error {
	kept, err := b.keep(ctx, p.ops)
	if err == nil {
		err = change.Commit(ctx, b.table, slices.Concat(p.writes, kept)...)
	}
	switch {
	case err == nil:
		for _, op := range p.ops {
			b.results[op.index].Answer, b.kept[op.index] = op.answer, true
		}
		return nil
	case errors.Is(err, idempotency.ErrRaced):
		return err
	case errors.Is(err, table.ErrInDoubt), ctx.Err() != nil:
		// What may have been done must not be done again.
		b.fail(p.indexes(), err)
		return nil //nolint:nilerr // the error is the operations' result
	}
	return b.oneByOne(ctx, p.indexes())
}

// oneByOne does each operation alone, while there is time for them.
func (b *bulk) oneByOne(ctx context.Context, todo []int) error {
	for n, i := range todo {
		if late(ctx) {
			b.fail(todo[n:], table.ErrBusy)
			return nil
		}
		answer, err := run(ctx, b.table, b.Entries[i].Op, func(answer any) ([]table.Write, error) {
			b.name(i, answer)
			return b.keep(ctx, []planned{{index: i, answer: answer}})
		})
		if errors.Is(err, idempotency.ErrRaced) {
			return err
		}
		b.results[i], b.kept[i] = Result{answer, err}, err == nil
	}
	return nil
}

// fail gives all of todo the same error.
func (b *bulk) fail(todo []int, err error) {
	for _, i := range todo {
		b.results[i].Err = err
	}
}
