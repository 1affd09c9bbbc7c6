package table

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"lectern/shared/metering"
)

const (
	// maxTries limits the tries of a call that got no answer, before ErrBusy.
	maxTries = 8
	// tryTime bounds one try: much longer than a call takes, and short enough to
	// try again on another connection when this one died while its process was
	// frozen. A page of a Query, a megabyte, has pageTime: a local engine that
	// reads a cold disk for several of them at once needs seconds for each.
	tryTime  = 4 * time.Second
	pageTime = 12 * time.Second
	// grace is how long after the time of its first try the last try of a call may
	// begin: a call that hangs once is tried again.
	grace = time.Second
	// patience is how long a call is retried that DynamoDB throttles or refuses for a
	// conflict: a partition that is short of units, or an item with many writers, needs
	// seconds, not a number of tries.
	patience = 5 * time.Second
	// maxPause is the longest pause between two tries.
	maxPause = 400 * time.Millisecond
	// LongestWrite is how long a write takes at most, with all its tries: the last one
	// begins after patience and a pause. Leases count on it.
	LongestWrite = patience + maxPause + tryTime
)

// pauses are those between the tries of a call.
var pauses = Backoff{10 * time.Millisecond, maxPause}

// limits are the times of a call: of one try, and of all tries that DynamoDB refuses.
type limits struct{ try, refused time.Duration }

var (
	usual = limits{tryTime, patience}
	paged = limits{pageTime, patience}
	// brief is for a counter that its caller can do without.
	brief = limits{tryTime, patience / 10}
)

// errSlow is a try that was given up after its time.
var errSlow = errors.New("no answer in time")

// transient tells the errors that may pass: throttling, a lost connection, a
// failing server, an answer that breaks off, an item that a transaction holds.
// After some of them the call may have been done all the same.
var transient = append(retry.IsErrorRetryables{
	retry.RetryableErrorCode{Codes: map[string]struct{}{
		"InternalServerError":          {},
		"TransactionConflictException": {},
	}},
}, retry.DefaultRetryables...)

func isTransient(err error) bool {
	if broken := (*smithy.DeserializationError)(nil); errors.As(err, &broken) {
		return true
	}
	return errors.Is(err, errSlow) || errors.Is(err, errUnprocessed) || transient.IsErrorRetryable(err) == aws.TrueTernary
}

// isLost is whether the call that failed so may have been done all the same: the
// connection or the server failed, the answer broke off, or the caller went away.
// What DynamoDB refused is not done, nor what found no connection.
func isLost(err error) bool {
	if broken := (*net.OpError)(nil); errors.As(err, &broken) && broken.Op == "dial" {
		return false
	}
	if refused := smithy.APIError(nil); errors.As(err, &refused) && refused.ErrorFault() == smithy.FaultClient {
		return false
	}
	gone := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	return gone || isTransient(err)
}

// isRefused reports whether DynamoDB answered that it did not do the call: for a
// throttle, or a transaction that holds the item.
func isRefused(err error) bool {
	refused := smithy.APIError(nil)
	return errors.Is(err, errUnprocessed) || errors.As(err, &refused) && refused.ErrorFault() != smithy.FaultServer
}

// persist repeats try while its error is passing: for as long as l says where DynamoDB
// refuses the call, else maxTries times. It wraps errors with what was being done; after
// the last try the error is ErrBusy as well. Nothing is tried for a caller who is gone.
func persist(ctx context.Context, doing string, l limits, try func() error) error {
	err := ctx.Err()
	if err != nil {
		return fmt.Errorf("table: %s: %w", doing, err)
	}
	began, lost := time.Now(), 0
	for n := 0; ; n++ {
		if err = try(); err == nil {
			return nil
		}
		if ctx.Err() != nil || !isPassing(err) {
			return fmt.Errorf("table: %s: %w", doing, err)
		}
		last := l.refused
		if !isRefused(err) {
			lost, last = lost+1, l.try+grace
		}
		if lost == maxTries || time.Since(began) > last {
			return fmt.Errorf("table: %s: %w: %w", doing, ErrBusy, err)
		}
		if err := pauses.Wait(ctx, n+1); err != nil {
			return fmt.Errorf("table: %s: %w", doing, err)
		}
	}
}

// Backoff limits the pauses between tries: a random time below First, doubled with each
// try up to Max.
type Backoff struct{ First, Max time.Duration }

// doublings are enough to reach the Max of any Backoff.
const doublings = 10

// Wait pauses before try number try, counted from 0: not at all before the first.
func (b Backoff) Wait(ctx context.Context, try int) error {
	if try == 0 {
		return ctx.Err()
	}
	return Pause(ctx, min(b.First<<min(try-1, doublings), b.Max))
}

// Pause waits for a random time below longest, before something is read or
// written again. It ends early, with the context's error, for a caller who is
// gone.
func Pause(ctx context.Context, longest time.Duration) error {
	return Sleep(ctx, rand.N(longest)) //nolint:gosec // a pause is no secret
}

// Sleep waits for the whole time. It ends early, with the context's error, for a caller
// who is gone.
func Sleep(ctx context.Context, whole time.Duration) error {
	timer := time.NewTimer(whole)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// call makes one call to DynamoDB, tried again while its error is passing.
func call[O any](ctx context.Context, doing string, l limits, send func(context.Context) (*O, error), price func(*O) cost) (out *O, err error) {
	err = persist(ctx, doing, l, func() (err error) {
		out, err = attempt(ctx, l.try, send, price)
		return err
	})
	return out, err
}

// cost is what a call consumed.
type cost = metering.Cost

// attempt makes one call and adds it to the meter of ctx, if there is one. It
// gives up after limit, with errSlow.
func attempt[O any](ctx context.Context, limit time.Duration, send func(context.Context) (*O, error), price func(*O) cost) (*O, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errSlow)
	defer cancel()
	start := time.Now()
	out, err := send(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errSlow) {
		err = fmt.Errorf("%w: %w", errSlow, err)
	}
	var c cost
	if err == nil {
		c = price(out)
	}
	metering.Add(ctx, start, c)
	return out, err
}

// units is the capacity of a call that only reads or only writes.
func units(c *types.ConsumedCapacity) float64 {
	if c == nil || c.CapacityUnits == nil {
		return 0
	}
	return *c.CapacityUnits
}

// reads sums up what a call consumed that only reads.
func reads(all ...types.ConsumedCapacity) (c cost) {
	for i := range all {
		c.Reads += units(&all[i])
	}
	return c
}
