package write

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"lectern/shared/apierr"
	"lectern/shared/idempotency"
	"lectern/shared/table"
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
	for i, entry := range b.entries {
		before, ok := done[i]
		switch {
		case ok:
			b.results[i] = replayed(ctx, entry.Op, before)
		case entry.Err != nil:
			b.results[i].Err = entry.Err
		default:
			todo = append(todo, i)
		}
	}
	return todo, nil
}

// replayed is the result of an operation that an earlier request did.
func replayed(ctx context.Context, op Op, before idempotency.Result) Result {
	if before.Error != nil {
		return Result{Err: decodeError(before.Error)}
	}
	if before.Answer == nil {
		answer, err := op.Again(ctx, before.ID)
		return Result{answer, err}
	}
	return Result{Answer: before.Answer}
}

// keep gives the writes that keep the answers of ops in their own transaction.
func (b *bulk) keep(ops []planned) ([]table.Write, error) {
	if b.key == nil {
		return nil, nil
	}
	results := make([]idempotency.Result, len(ops))
	for n, op := range ops {
		kept, err := b.kept(op.index, Result{Answer: op.answer})
		if err != nil {
			return nil, err
		}
		results[n] = kept
	}
	item, err := b.key.Pack(results)
	return []table.Write{item}, err
}

// settle hands all results to the key, for a repetition of the request.
func (b *bulk) settle() (err error) {
	if b.key == nil {
		return nil
	}
	results := make([]idempotency.Result, len(b.results))
	for i, result := range b.results {
		if results[i], err = b.kept(i, result); err != nil {
			return err
		}
	}
	b.key.Settle(results)
	return nil
}

// kept is a result as a key keeps it.
func (b *bulk) kept(index int, result Result) (kept idempotency.Result, err error) {
	kept = idempotency.Result{Index: index, ID: b.entries[index].ID}
	if result.Err != nil {
		kept.Error, err = encodeError(result.Err)
		return kept, err
	}
	if kept.Answer, err = json.Marshal(result.Answer); err != nil {
		return kept, fmt.Errorf("write: encode answer %d: %w", index, err)
	}
	return kept, nil
}

// keptError is an error as a key keeps it: with what is not part of its JSON.
type keptError struct {
	Status       int           `json:"status"`
	ValidOptions []string      `json:"valid_options,omitempty"`
	Error        *apierr.Error `json:"error"`
}

func encodeError(err error) (json.RawMessage, error) {
	shown := apierr.Internal()
	if errors.Is(err, table.ErrBusy) {
		shown = apierr.Unavailable()
	}
	errors.As(err, &shown)
	return json.Marshal(keptError{shown.Status, shown.ValidOptions, shown})
}

func decodeError(text json.RawMessage) error {
	var kept keptError
	if err := json.Unmarshal(text, &kept); err != nil {
		return fmt.Errorf("write: decode kept error: %w", err)
	}
	kept.Error.Status, kept.Error.ValidOptions = kept.Status, kept.ValidOptions
	return kept.Error
}
