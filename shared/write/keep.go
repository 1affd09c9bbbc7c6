package write

import (
	"context"
	"errors"
	"slices"

	"lectern/shared/apierr"
	"lectern/shared/idempotency"
	"lectern/shared/table"
)

// record is an answer that shows a version of a record.
type record interface {
	RecordID() string
	Revision() int64
}

// begin claims the request's Idempotency-Key, if there is a key, fills in the results of
// earlier requests, and returns the indexes left to do.
func (b *bulk) begin(ctx context.Context) (todo []int, err error) {
	if b.key != nil {
		if err := b.key.Claim(ctx); err != nil {
			return nil, err
		}
		if err := b.replay(ctx); err != nil || b.key.Replays() {
			return nil, err
		}
	}
	for i := range b.Entries {
		if !b.kept[i] {
			todo = append(todo, i)
		}
	}
	if b.Prepare != nil && len(todo) > 0 {
		if err := b.Prepare(ctx, todo); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(todo, func(i int) bool {
		b.results[i].Err = b.Entries[i].Err
		return b.Entries[i].Err != nil
	}), nil
}

// replay fills in the results of operations that an earlier request did. An operation stays
// a success when its record cannot be shown.
func (b *bulk) replay(ctx context.Context) error {
	done, err := b.key.Done(ctx)
	if err != nil {
		return err
	}
	var ids []string
	for i := range b.Entries {
		before, ok := done[i]
		switch b.kept[i] = ok; {
		case before.Error != nil:
			b.results[i].Err = idempotency.DecodeError(before.Error)
		case ok:
			b.Entries[i].ID = before.ID
			ids = append(ids, before.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	shown, err := b.Again(ctx, distinct(ids))
	if err != nil {
		return err
	}
	for i := range b.Entries {
		if b.kept[i] && b.results[i].Err == nil {
			b.results[i].Answer = shown[b.Entries[i].ID]
		}
	}
	return nil
}

// distinct returns the ids in their order, each once.
func distinct(ids []string) (once []string) {
	for _, id := range ids {
		if !slices.Contains(once, id) {
			once = append(once, id)
		}
	}
	return once
}

// keep returns the write that notes the results of ops in their own transaction. It
// returns table.ErrBusy when it is too late for that transaction.
func (b *bulk) keep(ctx context.Context, ops []planned) ([]table.Write, error) {
	switch {
	case Late(ctx):
		return nil, table.ErrBusy
	case b.key == nil:
		return nil, nil
	}
	results := make([]idempotency.Result, len(ops))
	for n, op := range ops {
		results[n] = b.result(op.index, op.answer)
	}
	w, err := b.key.Pack(results)
	return []table.Write{w}, err
}

// result returns a success as the key keeps it.
func (b *bulk) result(index int, answer any) idempotency.Result {
	kept := idempotency.Result{Index: index, ID: b.Entries[index].ID}
	if shown, ok := answer.(record); ok {
		kept.Version = shown.Revision()
	}
	return kept
}

// settle finishes the key with the results that no transaction noted, so that a repetition
// does nothing, unless an operation may come out differently then. If settle fails, a
// repetition does the operations that are not noted, after the lease.
func (b *bulk) settle(ctx context.Context) {
	if b.key == nil || b.key.Replays() || slices.ContainsFunc(b.results, mayPass) {
		return
	}
	var rest []idempotency.Result
	for i, r := range b.results {
		if b.kept[i] {
			continue
		}
		kept, err := b.result(i, r.Answer), error(nil)
		if refused := (*apierr.Error)(nil); errors.As(r.Err, &refused) {
			kept = idempotency.Result{Index: i}
			kept.Error, err = idempotency.EncodeError(refused)
		}
		if err != nil {
			return
		}
		rest = append(rest, kept)
	}
	b.settled = b.key.Finish(ctx, rest) == nil
}

// mayPass reports whether a result is an error that another try may avoid: an error of the service, or a refusal with
// Retry-After.
func mayPass(r Result) bool {
	var refused *apierr.Error
	return r.Err != nil && (!errors.As(r.Err, &refused) || refused.Status >= 500 ||
		refused.Header.Get(apierr.HeaderRetryAfter) != "")
}

// release gives the key back when the bulk has not settled. A transaction in doubt may still
// be on the way: then the lease must end, so that a repetition does not overtake the
// transaction.
func (b *bulk) release(ctx context.Context) {
	switch {
	case b.key == nil, b.settled:
	case slices.ContainsFunc(b.results, inDoubt):
		b.key.Leave()
	default:
		// Where that fails, the lease ends by itself too.
		_ = b.key.Release(ctx)
	}
}

// inDoubt reports whether the operation may or may not have been done.
func inDoubt(r Result) bool { return errors.Is(r.Err, table.ErrInDoubt) }
