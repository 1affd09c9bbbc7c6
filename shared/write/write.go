// Package write is the way records are changed: read the items, decide, and commit in a
// transaction, again when another write came between (design.md section 3). It packs the
// operations of a bulk request, and notes under an Idempotency-Key which records a request
// wrote. Rules belong to the record packages, conditions and retries of a transaction to
// table.
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

// Items are the items that an operation has read, by key; without the items that do not
// exist.
type Items = map[table.Key]table.Item

// Op is one change of one record. Run calls Reads, More and Plan, and calls them again when a
// record that they have read changed before the commit. Bulk also calls Touches, after Reads.
type Op interface {
	// Reads returns the keys that Plan needs. They are read together, strongly
	// consistent.
	Reads() []table.Key
	// More returns the keys that follow from the items of Reads, such as the people
	// that a record names. They are read together, and Plan gets both.
	More(got Items) []table.Key
	// Touches returns names of everything that must not change between Reads and the
	// commit: the record, its parent, its partners, unique values both old and new. In a
	// bulk, an operation waits for the earlier operations that touch the same. Nil stands
	// for the keys of Reads.
	Touches(got Items) []string
	// Plan applies the rules to the items. It may read more itself, and announce a large write
	// beforehand. In a bulk it may run at the same time as the Plan of other operations. After
	// table.ErrStale everything is read and planned again; any other error ends the operation
	// and is returned unchanged.
	Plan(ctx context.Context, got Items) (*Plan, error)
}

// safePlan calls op's Plan and turns a panic into an error: in a bulk a panic would end the
// process.
func safePlan(ctx context.Context, op Op, got Items) (plan *Plan, err error) {
	err = table.Safely(func() (err error) {
		plan, err = op.Plan(ctx, got)
		return err
	})()
	return plan, err
}

// Plan is the decision of an operation.
type Plan struct {
	// Writes are committed together. Bumps, changes of a number and equal conditions of one key are merged; any
	// other key may occur once.
	Writes []table.Write
	// Answer is the operation's answer once the writes are committed.
	Answer any
}

// replans are the tries of an operation. Of sixteen concurrent writers of a record, a
// quarter to a third succeed at a time; after these tries all have. Much longer pauses would
// favour new writers over waiting writers.
var replans = table.Retry{Tries: 60, First: 5 * time.Millisecond, Max: 50 * time.Millisecond}

// Run does op, whose answer is a T, and returns the answer. With an Idempotency-Key the same
// transaction keeps the id and version of the record shown; a simultaneous request with the
// key makes Run return idempotency.ErrRaced. Run returns a 503 when other requests kept
// changing the items. A request with a Ref must not call Run.
func Run[T any](ctx context.Context, t *table.Table, op Op) (shown T, err error) {
	key := idempotency.From(ctx)
	if key != nil && key.Replays() {
		return shown, errors.New("write: a repeated request must be shown what was written, see Ref")
	}
	answer, err := run(ctx, t, op, alone[T]{key})
	shown, _ = answer.(T) // keep has refused any other type.
	return shown, err
}

// alone is the only operation of a request, with the request's key or nil. Its answer is a T.
type alone[T any] struct{ key *idempotency.Key }

func (a alone[T]) keep(_ context.Context, answer any) ([]table.Write, error) {
	if _, ok := answer.(T); !ok {
		return nil, fmt.Errorf("write: an operation answered %T, not %T", answer, *new(T))
	}
	if a.key == nil {
		return nil, nil
	}
	shown, ok := answer.(record)
	if !ok {
		return nil, fmt.Errorf("write: an answer under an Idempotency-Key shows no record: %T", answer)
	}
	w, err := a.key.Write(shown.RecordID(), shown.Revision())
	return []table.Write{w}, err
}

// Ref returns the id of the record that an earlier request under the context's
// Idempotency-Key wrote; otherwise empty. An operation by POST calls Ref first, before rules
// that may have changed since: a repeated request shows the record, deleted or not, and
// writes nothing.
func Ref(ctx context.Context) string {
	if key := idempotency.From(ctx); key != nil {
		return key.Ref()
	}
	return ""
}

// Repeats reports whether an earlier request was done under the context's Idempotency-Key.
func Repeats(ctx context.Context) bool {
	key := idempotency.From(ctx)
	return key != nil && key.Replays()
}

// keeper returns the writes that note under an Idempotency-Key the record of an answer.
type keeper interface {
	keep(ctx context.Context, answer any) ([]table.Write, error)
}

func run(ctx context.Context, t *table.Table, op Op, k keeper) (any, error) {
	for try, err := range replans.Each(ctx) {
		if err == nil && try > 0 && Late(ctx) {
			err = table.ErrBusy
		}
		if err != nil {
			return nil, err
		}
		answer, err := once(ctx, t, op, k)
		if !errors.Is(err, table.ErrStale) {
			return answer, err
		}
	}
	return nil, fmt.Errorf("write: stale after %d tries: %w", replans.Tries, apierr.Unavailable())
}

func once(ctx context.Context, t *table.Table, op Op, k keeper) (any, error) {
	got, err := read(ctx, t, op)
	if err != nil {
		return nil, err
	}
	plan, err := safePlan(ctx, op, got)
	if err != nil {
		return nil, err
	}
	kept, err := k.keep(ctx, plan.Answer)
	if err != nil {
		return nil, err
	}
	if err := change.Commit(ctx, t, merge(nil, slices.Concat(plan.Writes, kept))...); err != nil {
		return nil, err
	}
	return plan.Answer, nil
}

// read reads the items of an operation, in at most two batches.
func read(ctx context.Context, t *table.Table, op Op) (Items, error) {
	got, err := t.GetMany(ctx, op.Reads())
	if err != nil {
		return nil, err
	}
	return got, join(ctx, t, got, op.More(got))
}

// join reads more items into got. Items that were read before stay.
func join(ctx context.Context, t *table.Table, got Items, more []table.Key) error {
	others, err := t.GetMany(ctx, more)
	for key, item := range others {
		if _, known := got[key]; !known {
			got[key] = item
		}
	}
	return err
}

// merge appends writes to merged. Writes of a key become a single one if table.Write.Merge can join them.
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
