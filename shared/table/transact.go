package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
)

const (
	// MaxWrites is DynamoDB's limit of writes and conditions in a transaction.
	MaxWrites = 100
	// MaxBytes limits the sum of Write.Size in a transaction. DynamoDB's limit is 4 MiB and
	// also counts names and conditions.
	MaxBytes = 4_000_000
)

// The codes of DynamoDB's cancellation reasons.
const (
	reasonNone      = "None"
	reasonCondition = "ConditionalCheckFailed"
	reasonConflict  = "TransactionConflict"
)

// passing are the reasons after which the same transaction may succeed.
var passing = map[string]bool{
	reasonNone:                      true,
	reasonConflict:                  true,
	"ThrottlingError":               true,
	"ProvisionedThroughputExceeded": true,
}

type gateKey struct{}

// Gated returns a context under which writes call open first. They return the error of open
// and write nothing. Reads do not wait. Many goroutines call open.
func Gated(ctx context.Context, open func() error) context.Context {
	return context.WithValue(ctx, gateKey{}, open)
}

// opened waits for the gate of a context, if the context has a gate.
func opened(ctx context.Context) error {
	if open, ok := ctx.Value(gateKey{}).(func() error); ok {
		return open()
	}
	return nil
}

// Transact does all writes or none of them, and returns when all can be read.
//
// When conditions fail, Transact returns the error (Or) of the first such write with an error
// of its own, otherwise ErrStale. It retries conflicts, throttles and lost answers; after the
// last try the error is ErrBusy, and ErrInDoubt if an answer was lost. It returns ErrTooBig,
// and the error of the context's gate (Gated), before it sends anything.
func (t *Table) Transact(ctx context.Context, writes ...Write) error {
	if len(writes) == 0 {
		return nil
	}
	in, err := t.transaction(writes)
	if err == nil {
		err = opened(ctx)
	}
	if err != nil {
		return err
	}
	p := &progress{writes: writes}
	err = persist(ctx, "transact", usual, func() error {
		_, err := attempt(ctx, tryTime, t.client.TransactWriteItems, in)
		return p.outcome(err)
	})
	if refused := (*refusal)(nil); errors.As(err, &refused) {
		return refused.cause
	}
	if err != nil && p.lost {
		return fmt.Errorf("%w: %w", ErrInDoubt, err)
	}
	return err
}

// transaction builds the input of all tries. Each try sends the same bytes under the same
// token, so DynamoDB does not repeat a try whose answer was lost.
func (t *Table) transaction(writes []Write) (*dynamodb.TransactWriteItemsInput, error) {
	size := 0
	for _, w := range writes {
		size += w.Size()
	}
	if len(writes) > MaxWrites || size > MaxBytes {
		return nil, fmt.Errorf("%w: %d writes, %d bytes", ErrTooBig, len(writes), size)
	}
	in := &dynamodb.TransactWriteItemsInput{
		ClientRequestToken:     aws.String(uuid.NewString()),
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		TransactItems:          make([]types.TransactWriteItem, len(writes)),
	}
	now := t.Now()
	for i, w := range writes {
		in.TransactItems[i] = w.action(t.name, now)
	}
	return in, nil
}

// progress is the state of a transaction between its tries.
type progress struct {
	writes []Write
	// lost reports whether a try without an answer may have been done.
	lost bool
}

// refusal is the error of a transaction that DynamoDB cancelled for a failed condition.
type refusal struct{ cause error }

func (r *refusal) Error() string { return r.cause.Error() }

// outcome returns the result of a try from its error: nil if the transaction is done.
func (p *progress) outcome(err error) error {
	var cancelled *types.TransactionCanceledException
	var reused *types.IdempotentParameterMismatchException
	switch {
	case err == nil:
		return nil
	case errors.As(err, &reused) && p.lost:
		// Nobody else has the token: an earlier try is done.
		return nil
	case errors.As(err, &cancelled):
		return p.cancelled(cancelled)
	}
	p.lost = p.lost || isLost(err)
	return err
}

// errUndecided is the error of a cancellation after a lost answer. Another transaction has one
// of the items, so the reasons do not show whether the lost try was done.
var errUndecided = errors.New("cancelled while others are at work")

// cancelled returns the error for the reasons of a cancellation, or nil if they show that an
// earlier try was done.
func (p *progress) cancelled(err *types.TransactionCanceledException) error {
	switch {
	case p.lost && p.done(err.CancellationReasons):
		return nil
	case p.lost && slices.ContainsFunc(err.CancellationReasons, isConflict):
		return fmt.Errorf("%w: %w", errUndecided, err)
	}
	if cause := p.cause(err.CancellationReasons); cause != nil {
		return &refusal{cause}
	}
	return err
}

// cause returns the error of the write whose condition failed: the write's own error before
// ErrStale. Nil where no condition failed.
func (p *progress) cause(reasons []types.CancellationReason) (cause error) {
	for i, reason := range reasons {
		if aws.ToString(reason.Code) != reasonCondition || i >= len(p.writes) {
			continue
		}
		if failed := p.writes[i].err; failed != nil && (cause == nil || errors.Is(cause, ErrStale)) {
			cause = failed
		} else if cause == nil {
			cause = ErrStale
		}
	}
	return cause
}

// isConflict reports whether a write failed for a conflict or a throttle.
func isConflict(reason types.CancellationReason) bool {
	code := aws.ToString(reason.Code)
	return code != reasonNone && passing[code]
}

// done reports whether the reasons show that an earlier try was done: each insert found an
// item, and one insert found the same item. Other items may have changed since. DynamoDB
// remembers a token for ten minutes, but a killed engine forgets the token.
func (p *progress) done(reasons []types.CancellationReason) bool {
	same := false
	for i, w := range p.writes {
		if w.kind != insert {
			continue
		}
		if i >= len(reasons) || len(reasons[i].Item) == 0 {
			return false
		}
		found, err := decode(reasons[i].Item)
		same = same || err == nil && found.Version == w.item.Version && len(found.Data) > 0 && bytes.Equal(found.Data, w.item.Data)
	}
	return same
}

// isPassing reports whether the same call may succeed later.
func isPassing(err error) bool {
	var cancelled *types.TransactionCanceledException
	switch {
	case errors.Is(err, errUndecided):
		return true
	case !errors.As(err, &cancelled):
		return isTransient(err)
	}
	return !slices.ContainsFunc(cancelled.CancellationReasons, func(reason types.CancellationReason) bool {
		return !passing[aws.ToString(reason.Code)]
	})
}
