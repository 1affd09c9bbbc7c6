package write

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"unicode/utf8"

	"lectern/shared/apierr"
	"lectern/shared/idempotency"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// begin claims the request's Idempotency-Key, if it has one, takes over what was
// done under it before, and gives the indexes of what is left to do.
func (b *bulk) begin(ctx context.Context) (todo []int, err error) {
	done := map[int]idempotency.Result{}
	if b.key != nil {
		if err := b.key.Claim(ctx); err != nil {
			return nil, err
		}
		if done, err = b.key.Done(ctx); err != nil {
			return nil, err
		}
	}
	for i := range b.Entries {
		if _, ok := done[i]; !ok {
			todo = append(todo, i)
		}
	}
	if err := b.replay(ctx, done); err != nil {
		return nil, err
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

// replay fills in the results of operations that an earlier request did.
func (b *bulk) replay(ctx context.Context, done map[int]idempotency.Result) error {
	var all []int
	for i, before := range done {
		if i < 0 || i >= len(b.results) {
			continue
		}
		if all = append(all, i); before.ID != "" {
			b.Entries[i].ID = before.ID
		}
	}
	slices.Sort(all)
	return inTurn(all, func(_, i int) (err error) {
		b.results[i], err = b.replayed(ctx, done[i])
		return err
	}, func(_, i int) (err error) {
		b.results[i].Answer, err = made(b.results[i].Answer)
		return err
	})
}

// replayed is the result of one such operation. That it was a success stays true
// when its record cannot be shown.
func (b *bulk) replayed(ctx context.Context, before idempotency.Result) (Result, error) {
	switch {
	case before.Error != nil:
		return Result{Err: decodeError(before.Error)}, nil
	case before.Answer != nil:
		return Result{Answer: before.Answer}, nil
	case b.Again == nil:
		return Result{}, errors.New("write: a bulk under an Idempotency-Key lacks Again")
	}
	answer, err := b.Again(ctx, before.ID)
	if gone := (*apierr.Error)(nil); errors.As(err, &gone) && gone.Status == http.StatusNotFound {
		return Result{}, nil
	}
	return Result{Answer: answer}, err
}

// keep gives the writes that keep the answers of ops in their own transaction.
func (b *bulk) keep(ops []planned) ([]table.Write, error) {
	if b.key == nil {
		return nil, nil
	}
	results := make([]idempotency.Result, len(ops))
	for n, op := range ops {
		kept, err := b.kept(op.index, Result{Answer: op.answer}, whole)
		if err != nil {
			return nil, err
		}
		results[n] = kept
	}
	item, err := b.key.Pack(results)
	return []table.Write{item}, err
}

// settle hands all results to the key, for a repetition of the request, unless
// one of them may come out differently then.
func (b *bulk) settle() error {
	if b.key == nil || slices.ContainsFunc(b.results, passing) {
		return nil
	}
	results, size, err := b.allKept(whole)
	if err == nil && size > maxErrors {
		results, _, err = b.allKept(short)
	}
	if err != nil {
		return err
	}
	b.key.Settle(results)
	b.settled = true
	return nil
}

// passing is whether a result is an error that says nothing about the operation:
// the service was busy, or failed.
func passing(r Result) bool {
	var refused *apierr.Error
	return r.Err != nil && (!errors.As(r.Err, &refused) || refused.Status >= http.StatusInternalServerError)
}

// release gives the key back when the bulk has not settled. What is in doubt may
// still be on its way: the lease then ends by itself, so that a repetition does
// not overtake it.
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

// inDoubt is whether nobody knows if the operation was done.
func inDoubt(r Result) bool { return errors.Is(r.Err, table.ErrInDoubt) }

// allKept are all results as the key keeps them, and the bytes of their errors.
func (b *bulk) allKept(cut func(*apierr.Error) *apierr.Error) (results []idempotency.Result, size int, err error) {
	results = make([]idempotency.Result, len(b.results))
	for i, result := range b.results {
		if results[i], err = b.kept(i, result, cut); err != nil {
			return nil, 0, err
		}
		size += len(results[i].Error)
	}
	return results, size, nil
}

// kept is a result as a key keeps it; an error is cut.
func (b *bulk) kept(index int, result Result, cut func(*apierr.Error) *apierr.Error) (kept idempotency.Result, err error) {
	kept = idempotency.Result{Index: index, ID: b.Entries[index].ID}
	if refused := (*apierr.Error)(nil); errors.As(result.Err, &refused) {
		kept.Error, err = encodeError(cut(refused))
		return kept, err
	}
	if result.Answer == nil {
		return kept, nil
	}
	if kept.Answer, err = wire.Encode(result.Answer); err != nil {
		return kept, fmt.Errorf("write: encode answer %d: %w", index, err)
	}
	return kept, nil
}

const (
	// maxErrors is how many bytes of errors a key keeps as they are; they share an
	// item with the ids of all operations.
	maxErrors = 200 << 10
	// maxShort bounds message and details of an error beyond that, in bytes: those
	// of a hundred then fit.
	maxShort = 500
)

// whole keeps an error as it is.
func whole(e *apierr.Error) *apierr.Error { return e }

// short is the error without options and without what is long.
func short(e *apierr.Error) *apierr.Error {
	cut := *e
	cut.ValidOptions = nil
	if len(cut.Message) > maxShort {
		end := maxShort
		for !utf8.RuneStart(cut.Message[end]) {
			end--
		}
		cut.Message = cut.Message[:end] + "…"
	}
	if details, err := wire.Encode(cut.Details); err != nil || len(details) > maxShort {
		cut.Details = nil
	}
	return &cut
}

// keptError is an error as a key keeps it: with what is not part of its JSON.
type keptError struct {
	Status       int           `json:"status"`
	ValidOptions []string      `json:"valid_options,omitempty"`
	Error        *apierr.Error `json:"error"`
}

func encodeError(e *apierr.Error) (json.RawMessage, error) {
	return wire.Encode(keptError{e.Status, e.ValidOptions, e})
}

func decodeError(text json.RawMessage) error {
	var kept keptError
	if err := json.Unmarshal(text, &kept); err != nil {
		return fmt.Errorf("write: decode kept error: %w", err)
	}
	kept.Error.Status, kept.Error.ValidOptions = kept.Status, kept.ValidOptions
	return kept.Error
}
