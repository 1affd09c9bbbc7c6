package upload

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lectern/shared/blob"
)

// CompletionTime limits a completion with all its calls. The gateway gives up after 29 seconds.
const CompletionTime = 24 * time.Second

// Complete runs a completion. It returns what the completion returns, and a 503 after CompletionTime.
func Complete[T any](ctx context.Context, completion func(context.Context) (T, error)) (T, error) {
	limited, cancel := context.WithTimeout(ctx, CompletionTime)
	defer cancel()
	shown, err := completion(limited)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return shown, fmt.Errorf("%w: complete an upload: %w", blob.ErrBusy, err)
	}
	return shown, err
}
