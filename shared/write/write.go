// Package write is the one way records are changed: read what a rule needs,
// decide, and commit in one transaction, again when another writer came between
// (design.md section 3). It packs the operations of a bulk request, and notes under an
// Idempotency-Key what a request wrote. Rules belong to the record
// packages, conditions and retries of a transaction to table.
package write

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/change"
	"lectern/shared/idempotency"
	"lectern/shared/table"
)

// Items are the items an operation has read, by key; what does not exist is
// missing.
type Items = map[table.Key]table.Item

// Op is one change of one record.
type Op struct {
	// Reads are the keys that Plan needs. They are read together, strongly
	// consistent.
	Reads []table.Key
	// More are keys that follow from what Reads found, such as whom a record names;
	// they are read together as well, and Plan gets both. Nil for none.
	More func(got Items) []table.Key
	// Touches names what must not change between Reads and the commit: the
	// record, its parent, its partners, unique values both old and new. In a bulk
	// an operation waits for the earlier ones that touch the same. Nil stands for
	// Reads; a single operation does not need it.
	Touches func(got Items) []string
	// Plan applies the rules to what was read. It may read more itself, and runs
	// again when the commit finds that a record has changed; in a bulk it may run
	// at the same time as the Plan of others. table.ErrStale has everything read
	// and planned again; any other error ends the operation and is returned
	// unchanged.
	Plan func(ctx context.Context, got Items) (*Plan, error)
}

// plan calls Plan. Its panic becomes an error: in a bulk it would end the
// process.
func (op Op) plan(ctx context.Context, got Items) (plan *Plan, err error) {
	err = table.Safely(func() (err error) {
		plan, err = op.Plan(ctx, got)
		return err
	})()
	return plan, err
}

// Plan is what an operation decided.
type Plan struct {
	// Writes are committed together. Bumps of one key are merged; any other key
	// may occur once.
	Writes []table.Write
	// Answer is what the operation returns once the writes are committed.
	Answer any
}

// maxTries is how often an operation is planned before it is a 503. Of sixteen
// writers of a record without a rest, a third or a quarter gets through at a time; after
// maxTries all have.
const maxTries = 60

// pauses are the times before planning again. Much longer pauses would favour new
// writers over waiting writers.
var pauses = table.Backoff{First: 5 * time.Millisecond, Max: 50 * time.Millisecond}

// Run does op and returns its answer. With an Idempotency-Key the id and version of the
// record that the answer shows are kept in the same transaction; a simultaneous request
// with that key makes it idempotency.ErrRaced. A 503 when others kept changing what op
// had read. A request whose Ref is not empty must not come here.
func Run(ctx context.Context, t *table.Table, op Op) (answer any, err error) {
	key := idempotency.From(ctx)
	if key != nil && key.Replays() {
		return nil, errors.New("write: a repeated request must be shown what was written, see Ref")
	}
	return run(ctx, t, op, func(answer any) ([]table.Write, error) {
		if key == nil {
			return nil, nil
		}
		shown, ok := answer.(record)
		if !ok {
			return nil, fmt.Errorf("write: an answer under an Idempotency-Key shows no record: %T", answer)
		}
		w, err := key.Write(shown.RecordID(), shown.Revision())
		return []table.Write{w}, err
	})
}

// Ref returns the id of the record that an earlier request under the context's
// Idempotency-Key wrote; otherwise empty. An operation by POST looks at it first, before
// rules that may have changed since: such a request shows the record, deleted or not,
// and writes nothing.
func Ref(ctx context.Context) string {
	if key := idempotency.From(ctx); key != nil {
		return key.Ref()
	}
	return ""
}

// seal returns the writes that note under an Idempotency-Key what an answer shows.
type seal func(answer any) ([]table.Write, error)

func run(ctx context.Context, t *table.Table, op Op, keep seal) (any, error) {
	for try := range maxTries {
		if err := pauses.Wait(ctx, try); err != nil {
			return nil, err
		}
		answer, err := once(ctx, t, op, keep)
		if !errors.Is(err, table.ErrStale) {
			return answer, err
		}
	}
	return nil, fmt.Errorf("write: stale after %d tries: %w", maxTries, apierr.Unavailable())
}

func once(ctx context.Context, t *table.Table, op Op, keep seal) (any, error) {
	got, err := op.read(ctx, t)
	if err != nil {
		return nil, err
	}
	plan, err := op.plan(ctx, got)
	if err != nil {
		return nil, err
	}
	kept, err := keep(plan.Answer)
	if err != nil {
		return nil, err
	}
	if err := change.Commit(ctx, t, merge(nil, slices.Concat(plan.Writes, kept))...); err != nil {
		return nil, err
	}
	return plan.Answer, nil
}

// read reads what an operation needs, in at most two batches.
func (op Op) read(ctx context.Context, t *table.Table) (Items, error) {
	got, err := t.GetMany(ctx, op.Reads)
	if err != nil {
		return nil, err
	}
	return got, join(ctx, t, got, op.more(got))
}

func (op Op) more(got Items) []table.Key {
	if op.More == nil {
		return nil
	}
	return op.More(got)
}

// join reads more items into got. What was read before stays.
func join(ctx context.Context, t *table.Table, got Items, more []table.Key) error {
	others, err := t.GetMany(ctx, more)
	for key, item := range others {
		if _, known := got[key]; !known {
			got[key] = item
		}
	}
	return err
}

// merge appends writes to merged, each bump to the one of its key if there is one.
func merge(merged, writes []table.Write) []table.Write {
	at := make(map[table.Key]int, len(merged)+len(writes))
	for i, w := range merged {
		at[w.Key()] = i
	}
	for _, w := range writes {
		if i, ok := at[w.Key()]; ok {
			if sum, ok := merged[i].Merge(w); ok {
				merged[i] = sum
				continue
			}
		}
		at[w.Key()] = len(merged)
		merged = append(merged, w)
	}
	return merged
}
