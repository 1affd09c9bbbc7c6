// Package write is the one way records are changed: read what a rule needs,
// decide, and commit in one transaction, again when another writer came between
// (design.md section 3). It packs the operations of a bulk request and keeps the
// answers of requests with an Idempotency-Key. Rules belong to the record
// packages, conditions and retries of a transaction to table.
package write

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lectern/shared/apierr"
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
	// Again gives the answer for the record of id, deleted or not, when an earlier
	// request with the same Idempotency-Key did the operation and its answer was
	// too large to keep. What runs without a key does not need it; in a bulk
	// Batch.Again has its part.
	Again func(ctx context.Context, id string) (any, error)
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
	// Answer is what the operation returns once the writes are committed. It may be
	// Later.
	Answer any
}

// Later makes an answer. Those of the operations that a bulk does together are made one
// after the other and in order, so that each may look at what those before have left;
// that of an operation which is tried again is made again, beside others.
type Later func() any

// made is an answer that may be Later. As of a plan, its panic becomes an error.
func made(answer any) (any, error) {
	later, ok := answer.(Later)
	if !ok {
		return answer, nil
	}
	err := table.Safely(func() error {
		answer = later()
		return nil
	})()
	return answer, err
}

const (
	// maxTries is how often an operation is planned before it is a 503. Of sixteen
	// writers of one record who never rest, one in three or four gets through at a
	// time; by then all have.
	maxTries = 60
	// firstPause and maxPause bound the pause before planning again: a random time
	// below firstPause, doubled with every try. Much longer pauses would favour
	// those who have just come over those who wait.
	firstPause = 5 * time.Millisecond
	maxPause   = 50 * time.Millisecond
	// doublings are enough to reach maxPause.
	doublings = 4
)

// Run does op and returns its answer. With an Idempotency-Key the answer is kept
// in the same transaction; a simultaneous request with that key makes it
// idempotency.ErrRaced. A 503 when others kept changing what op had read.
func Run(ctx context.Context, t *table.Table, op Op) (answer any, err error) {
	key := idempotency.From(ctx)
	if key != nil && op.Again == nil {
		return nil, errors.New("write: an operation under an Idempotency-Key lacks Again")
	}
	if ref := Ref(ctx); ref != "" {
		return op.Again(ctx, ref)
	}
	return run(ctx, t, op, func(answer any) ([]table.Write, error) {
		if key == nil {
			return nil, nil
		}
		kept, err := key.Write(answer)
		return []table.Write{kept}, err
	})
}

// Ref is the id of the record that an earlier request under the context's
// Idempotency-Key wrote, where its answer has to be rendered again; otherwise
// empty. Run looks at it first; so should what prepares an Op by rules that may
// have changed since, or by taking a number.
func Ref(ctx context.Context) string {
	if key := idempotency.From(ctx); key != nil {
		return key.Ref()
	}
	return ""
}

// seal gives the writes that keep an answer for its Idempotency-Key.
type seal func(answer any) ([]table.Write, error)

func run(ctx context.Context, t *table.Table, op Op, keep seal) (any, error) {
	for try := range maxTries {
		if err := pause(ctx, try); err != nil {
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
	answer, err := made(plan.Answer)
	if err != nil {
		return nil, err
	}
	kept, err := keep(answer)
	if err != nil {
		return nil, err
	}
	if err := t.Transact(ctx, merge(nil, slices.Concat(plan.Writes, kept))...); err != nil {
		return nil, err
	}
	return answer, nil
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

// pause waits before try number try, counted from 0: not at all before the first.
func pause(ctx context.Context, try int) error {
	if try == 0 {
		return ctx.Err()
	}
	return table.Pause(ctx, min(firstPause<<min(try-1, doublings), maxPause))
}
