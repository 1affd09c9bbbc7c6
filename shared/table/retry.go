package table

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
)

const (
	// maxTries is how often a call is tried before ErrBusy.
	maxTries = 8
	// firstPause and maxPause bound the pause after a try: a random time below
	// firstPause, doubled with each try. All pauses of a call come to half a
	// second on average, much longer than a transaction holds its items.
	firstPause = 10 * time.Millisecond
	maxPause   = 400 * time.Millisecond
)

// transient tells the errors that may pass: throttling, a lost connection, a
// failing server, an item that a transaction holds. After some of them the call
// may have been done all the same.
var transient = append(retry.IsErrorRetryables{
	retry.RetryableErrorCode{Codes: map[string]struct{}{
		"InternalServerError":          {},
		"TransactionConflictException": {},
	}},
}, retry.DefaultRetryables...)

func isTransient(err error) bool { return transient.IsErrorRetryable(err) == aws.TrueTernary }

// persist repeats try while its error is one that again takes for passing. It
// wraps errors with what was being done; out of tries it is ErrBusy as well.
func persist(ctx context.Context, doing string, again func(error) bool, try func() error) error {
	var err error
	for n := range maxTries {
		if err = try(); err == nil {
			return nil
		}
		if ctx.Err() != nil || !again(err) {
			return fmt.Errorf("table: %s: %w", doing, err)
		}
		if n == maxTries-1 {
			break
		}
		if err := pause(ctx, n); err != nil {
			return fmt.Errorf("table: %s: %w", doing, err)
		}
	}
	return fmt.Errorf("table: %s: %w: %w", doing, ErrBusy, err)
}

// pause waits after try n, with full jitter.
func pause(ctx context.Context, n int) error {
	timer := time.NewTimer(rand.N(min(firstPause<<n, maxPause))) //nolint:gosec // a pause is no secret
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// call makes one call to DynamoDB, tried again while its error is transient.
func call[O any](ctx context.Context, doing string, send func() (*O, error), price func(*O) cost) (out *O, err error) {
	err = persist(ctx, doing, isTransient, func() (err error) {
		out, err = attempt(ctx, send, price)
		return err
	})
	return out, err
}
