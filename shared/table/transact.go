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
	// MaxBytes bounds the sum of Write.Size in a transaction. DynamoDB's limit
	// is 4 MiB; the rest is room for what it counts beside keys and data.
	MaxBytes = 4_000_000
)

// The codes of DynamoDB's cancellation reasons that are decided on here.
const (
	reasonNone      = "None"
	reasonCondition = "ConditionalCheckFailed"
)

// passing are the reasons for which the same transaction may succeed later.
var passing = map[string]bool{
	reasonNone:                      true,
	"TransactionConflict":           true,
	"ThrottlingError":               true,
	"ProvisionedThroughputExceeded": true,
}

type gateKey struct{}

// Gated is a context whose writes wait for open and are not begun where that is an
// error, which they then return. Reads do not wait. open is called by many
// goroutines.
func Gated(ctx context.Context, open func() error) context.Context {
	return context.WithValue(ctx, gateKey{}, open)
}

// opened waits for the gate of a context, if it has one.
func opened(ctx context.Context) error {
	if open, ok := ctx.Value(gateKey{}).(func() error); ok {
		return open()
	}
	return nil
}

// Transact does all writes or none of them, and returns when all can be read.
//
// When conditions fail it returns the error (Or) of the first such write that
// has one, otherwise ErrStale. Conflicts, throttles and lost answers are tried
// again; when that was not enough the error is ErrBusy, and if an answer was
// lost ErrInDoubt. ErrTooBig, and the error of the context's gate (Gated), are
// returned before anything is sent.
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
		_, err := attempt(ctx, tryTime,
			func(ctx context.Context) (*dynamodb.TransactWriteItemsOutput, error) {
				return t.client.TransactWriteItems(ctx, in)
			},
			func(out *dynamodb.TransactWriteItemsOutput) cost { return transacted(out.ConsumedCapacity) })
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

// transaction builds the input once: every try sends the same bytes under the
// same token, so that a try whose answer was lost is not done twice.
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

// progress is what is known of a transaction between its tries.
type progress struct {
	writes []Write
	// lost is whether a try may have been done without an answer.
	lost bool
}

// refusal is a transaction that was cancelled for a failed condition.
type refusal struct{ cause error }

func (r *refusal) Error() string { return r.cause.Error() }

// outcome is what the answer err of one try means: nil for done.
func (p *progress) outcome(err error) error {
	var cancelled *types.TransactionCanceledException
	var reused *types.IdempotentParameterMismatchException
	switch {
	case err == nil:
		return nil
	case errors.As(err, &reused) && p.lost:
		// The token is our own and was taken by an earlier try: that one is done.
		return nil
	case errors.As(err, &cancelled):
		return p.cancelled(cancelled)
	}
	p.lost = p.lost || isLost(err)
	return err
}

// cancelled decides on the reasons of a cancellation.
func (p *progress) cancelled(err *types.TransactionCanceledException) error {
	switch {
	case p.lost && p.done(err.CancellationReasons):
		return nil
	case p.lost && slices.ContainsFunc(err.CancellationReasons, isHeldUp):
		return fmt.Errorf("%w: %w", errUndecided, err)
	}
	var cause error
	for i, reason := range err.CancellationReasons {
		if aws.ToString(reason.Code) != reasonCondition || i >= len(p.writes) {
			continue
		}
		if cause == nil || errors.Is(cause, ErrStale) {
			cause = p.writes[i].failed()
		}
	}
	if cause != nil {
		return &refusal{cause}
	}
	return err
}

// failed is the error for the write's failed condition.
func (w Write) failed() error {
	if w.err != nil {
		return w.err
	}
	return ErrStale
}

// errUndecided is a cancellation after a lost answer that does not show what of the
// transaction stands: another one holds an item of it.
var errUndecided = errors.New("cancelled while others are at work")

func isHeldUp(reason types.CancellationReason) bool {
	code := aws.ToString(reason.Code)
	return code != reasonNone && passing[code]
}

// done is whether the reasons show that an earlier try was done, whose answer was
// lost: no insert found its place free, and one of them the very same item, while
// others may have changed since. DynamoDB remembers a token for ten minutes, but
// an engine that is killed forgets it.
func (p *progress) done(reasons []types.CancellationReason) bool {
	same := false
	for i, w := range p.writes {
		if w.kind != insert {
			continue
		}
		if i >= len(reasons) || len(reasons[i].Item) == 0 {
			return false
		}
		same = same || w.stands(reasons[i].Item)
	}
	return same
}

// stands is whether an insert was refused because the very same item stands there.
func (w Write) stands(old attributes) bool {
	item, err := decode(old)
	return err == nil && item.Version == w.item.Version && len(item.Data) > 0 && bytes.Equal(item.Data, w.item.Data)
}

// isPassing reports whether the call may succeed when it is sent again.
func isPassing(err error) bool {
	var cancelled *types.TransactionCanceledException
	switch {
	case errors.Is(err, errUndecided):
		return true
	case !errors.As(err, &cancelled):
		return isTransient(err)
	}
	for _, reason := range cancelled.CancellationReasons {
		if !passing[aws.ToString(reason.Code)] {
			return false
		}
	}
	return true
}

// transacted is what a transaction consumed: a repeated token is answered by
// reading.
func transacted(all []types.ConsumedCapacity) (c cost) {
	for _, one := range all {
		c.Reads += aws.ToFloat64(one.ReadCapacityUnits)
		c.Writes += aws.ToFloat64(one.WriteCapacityUnits)
	}
	return c
}
