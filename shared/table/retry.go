package table

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"net"
	"runtime/debug"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"lectern/shared/metering"
)

const (
	// maxTries limits the tries of a call without an answer, before ErrBusy.
	maxTries = 8
	// tryTime limits one try: much longer than a call takes, and short enough for another
	// try after a connection died while its process was frozen. A page of a Query, up to a
	// megabyte, has pageTime: a local engine that reads a cold disk needs seconds.
	tryTime  = 4 * time.Second
	pageTime = 12 * time.Second
	// grace is added to the time of the first try: the last try of a call without an answer
	// begins before both are over.
	grace = time.Second
	// refusedTime limits the tries of a call that DynamoDB throttles or refuses for a
	// conflict: a partition without units, or an item with many writers, needs seconds.
	refusedTime = 5 * time.Second
	// maxPause is the longest pause between two tries. After a conflict it is shorter: with
	// long pauses, a writer of an item with many writers waits while new writers are served.
	maxPause      = 400 * time.Millisecond
	conflictPause = 100 * time.Millisecond
	// LongestWrite is the longest time of a write with all its tries. Leases count on
	// LongestWrite.
	LongestWrite = refusedTime + maxPause + tryTime
)

// calls are the tries of a call. persist ends them.
var calls = Retry{First: 10 * time.Millisecond, Max: maxPause}

// longest returns the longest pause before a try, after the error of the try before.
func longest(try int, before error) time.Duration {
	if isTransactionConflict(before) {
		return min(calls.longest(try), conflictPause)
	}
	return calls.longest(try)
}

// isTransactionConflict reports whether DynamoDB refused a call for a transaction with the same
// item, and not for a throttle.
func isTransactionConflict(err error) bool {
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) {
		conflict := (*types.TransactionConflictException)(nil)
		return errors.As(err, &conflict)
	}
	return !slices.ContainsFunc(cancelled.CancellationReasons, isOther)
}

// isOther reports whether a write failed for another reason than a conflict.
func isOther(reason types.CancellationReason) bool {
	code := aws.ToString(reason.Code)
	return code != reasonNone && code != reasonConflict
}

// limits are the times of a call: of one try, and of all tries that DynamoDB refuses.
type limits struct{ try, refused time.Duration }

var (
	usual = limits{tryTime, refusedTime}
	paged = limits{pageTime, refusedTime}
	// brief is for a counter that the caller can do without.
	brief = limits{tryTime, refusedTime / 10}
)

// errSlow is the error of a try that took longer than its time.
var errSlow = errors.New("no answer in time")

// transient finds the errors that may pass: throttling, a lost connection, a failing server,
// an item in a transaction. The call may have been done after some of these errors.
var transient = append(retry.IsErrorRetryables{
	retry.RetryableErrorCode{Codes: map[string]struct{}{
		"InternalServerError":          {},
		"TransactionConflictException": {},
	}},
}, retry.DefaultRetryables...)

// isTransient reports whether an error may pass, including an answer that breaks off.
func isTransient(err error) bool {
	if broken := (*smithy.DeserializationError)(nil); errors.As(err, &broken) {
		return true
	}
	return errors.Is(err, errSlow) || errors.Is(err, errUnprocessed) || transient.IsErrorRetryable(err) == aws.TrueTernary
}

// isLost reports whether a failed call may have been done: the connection or the server
// failed, the answer broke off, or the caller went away. DynamoDB did not do a call that it
// refused, or that found no connection.
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

// isRefused reports whether DynamoDB answered that it did not do the call, because of a
// throttle or of a transaction with the same item.
func isRefused(err error) bool {
	refused := smithy.APIError(nil)
	return errors.Is(err, errUnprocessed) || errors.As(err, &refused) && refused.ErrorFault() != smithy.FaultServer
}

// persist repeats try while isPassing holds for its error: for l.refused while DynamoDB
// refuses the call, otherwise maxTries times. It adds doing to the error, and ErrBusy after
// the last try.
func persist(ctx context.Context, doing string, l limits, try func() error) error {
	began, lost := time.Now(), 0
	var before error
	for n := 0; ; n++ {
		err := ctx.Err()
		if n > 0 {
			err = Pause(ctx, longest(n, before))
		}
		if err == nil {
			err = try()
		}
		if err == nil {
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
		before = err
	}
}

// Retry limits the tries of a read or write that meets concurrent writes. Before each try
// but the first there is a pause: a random time below First, doubled with each try up to Max.
type Retry struct {
	// Tries is the number of tries; 0 means without end.
	Tries      int
	First, Max time.Duration
}

// doublings is the number of doublings that reach the Max of any Retry.
const doublings = 10

// longest returns the longest pause before a try.
func (r Retry) longest(try int) time.Duration { return min(r.First<<min(try-1, doublings), r.Max) }

// Each yields the number of each try, from 0, after the pause. It ends with the context's
// error after the caller is gone.
func (r Retry) Each(ctx context.Context) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for try := 0; r.Tries == 0 || try < r.Tries; try++ {
			err := ctx.Err()
			if try > 0 {
				err = Pause(ctx, r.longest(try))
			}
			if !yield(try, err) || err != nil {
				return
			}
		}
	}
}

// Pause waits for a random time below longest, or until the context ends, and then returns
// the context's error.
func Pause(ctx context.Context, longest time.Duration) error {
	return Sleep(ctx, rand.N(longest)) //nolint:gosec // a pause is no secret
}

// Sleep waits for the whole time, or until the context ends, and then returns the context's
// error.
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

// Safely returns do with a panic as its error. Every goroutine of a request runs under
// Safely: a panic there would end the process and the requests of others.
func Safely(do func() error) func() error {
	return func() (err error) {
		defer func() {
			if cause := recover(); cause != nil {
				err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
			}
		}()
		return do()
	}
}

// operation is a call of the Client.
type operation[I, O any] func(context.Context, *I, ...func(*dynamodb.Options)) (*O, error)

// call makes a call with all its tries.
func call[I, O any](ctx context.Context, doing string, l limits, do operation[I, O], in *I) (out *O, err error) {
	err = persist(ctx, doing, l, func() (err error) {
		out, err = attempt(ctx, l.try, do, in)
		return err
	})
	return out, err
}

// attempt makes a call once and adds it to the meter of ctx, if ctx has a meter. It returns
// errSlow after the time limit.
func attempt[I, O any](ctx context.Context, limit time.Duration, do operation[I, O], in *I) (*O, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errSlow)
	defer cancel()
	start := time.Now()
	out, err := do(ctx, in)
	if err != nil && errors.Is(context.Cause(ctx), errSlow) {
		err = fmt.Errorf("%w: %w", errSlow, err)
	}
	var c metering.Cost
	if err == nil {
		c = consumed(out)
	}
	metering.Add(ctx, start, c)
	return out, err
}

// consumed returns the units that a call took. DynamoDB answers a repeated transaction by
// reading.
func consumed(answer any) (c metering.Cost) {
	var all []types.ConsumedCapacity
	switch out := answer.(type) {
	case *dynamodb.GetItemOutput:
		c.Reads = units(out.ConsumedCapacity)
	case *dynamodb.QueryOutput:
		c.Reads = units(out.ConsumedCapacity)
	case *dynamodb.BatchGetItemOutput:
		all = out.ConsumedCapacity
	case *dynamodb.TransactGetItemsOutput:
		all = out.ConsumedCapacity
	case *dynamodb.UpdateItemOutput:
		c.Writes = units(out.ConsumedCapacity)
	case *dynamodb.TransactWriteItemsOutput:
		for _, part := range out.ConsumedCapacity {
			c.Reads += aws.ToFloat64(part.ReadCapacityUnits)
			c.Writes += aws.ToFloat64(part.WriteCapacityUnits)
		}
	}
	for i := range all {
		c.Reads += units(&all[i])
	}
	return c
}

// units returns the units of a call that only reads or only writes.
func units(c *types.ConsumedCapacity) float64 {
	if c == nil {
		return 0
	}
	return aws.ToFloat64(c.CapacityUnits)
}
