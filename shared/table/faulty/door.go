// Package faulty is a door in front of DynamoDB for tests: it makes the faults
// that a local engine never shows and AWS may show at any time. It changes no
// data, and owns no rule of what the callers should do about a fault.
package faulty

import (
	"context"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"lectern/shared/table"
)

// TornFor is the longest that a torn transaction hides an item.
const TornFor = 8 * time.Millisecond

// Config has the chance of each fault, from 0 to 1.
type Config struct {
	// Seed begins the random source. The faults are the same for the same calls
	// one after another; callers side by side share them out by chance.
	Seed uint64
	// Conflict cancels a transaction as if another one held one of its items.
	Conflict float64
	// Throttle refuses a call; of a BatchGetItem it leaves keys unprocessed.
	Throttle float64
	// DropBefore loses a call before it is done, DropAfter its answer.
	DropBefore, DropAfter float64
	// Torn lets the items of a transaction become visible at different times:
	// the version items (partition keys ending in #V) first or last, the others
	// one by one, all within TornFor. The call is answered when all are visible,
	// and until then no other write gets at the hidden ones.
	Torn float64
	// VersionsLast is the chance that a torn transaction shows its version items
	// last. 0 stands for a half, a chance below 0 for never.
	VersionsLast float64
}

// Counts is how often each fault was made, and how many reads met an item that
// was hidden.
type Counts struct {
	Conflicts, Throttles, DroppedBefore, DroppedAfter int
	// VersionsLast are part of Torn.
	Torn, VersionsLast, TornReads int
}

// Door implements table.Client. All callers of a table must go through the same
// Door: what it hides, it hides from its own callers.
type Door struct {
	inner  table.Client
	config Config

	mu     sync.Mutex
	random *rand.Rand
	counts Counts
	held   map[table.Key]*hold
	// freed is signaled when a key is no longer held.
	freed *sync.Cond
}

// New puts a door in front of inner.
func New(inner table.Client, c Config) *Door {
	if c.VersionsLast == 0 {
		c.VersionsLast = 0.5
	}
	d := &Door{inner: inner, config: c, held: map[table.Key]*hold{}}
	d.random = rand.New(rand.NewPCG(c.Seed, c.Seed)) //nolint:gosec // faults need a seed, not secrecy
	d.freed = sync.NewCond(&d.mu)
	return d
}

// Counts tells which faults were made so far.
func (d *Door) Counts() Counts {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.counts
}

// happens draws whether a fault of this chance is made now, and counts it.
func (d *Door) happens(chance float64, count *int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.random.Float64() >= chance {
		return false
	}
	*count++
	return true
}

// lossy sends a call and loses it or its answer by chance.
func lossy[O any](d *Door, send func() (*O, error)) (*O, error) {
	if d.happens(d.config.DropBefore, &d.counts.DroppedBefore) {
		return nil, unsent()
	}
	out, err := send()
	if d.happens(d.config.DropAfter, &d.counts.DroppedAfter) {
		return nil, d.cut()
	}
	return out, err
}

// unsent is what the SDK reports for a connection that broke before its answer.
func unsent() error { return &smithyhttp.RequestSendError{Err: io.ErrUnexpectedEOF} }

// cut is what the SDK reports for one that broke before its answer or, every
// second time, within it.
func (d *Door) cut() error {
	var within int
	if d.happens(0.5, &within) {
		return &smithy.DeserializationError{Err: io.ErrUnexpectedEOF}
	}
	return unsent()
}

func throttled() error {
	return &types.ProvisionedThroughputExceededException{Message: aws.String("throttled by the fault door")}
}

// throttling sends a call or refuses it by chance.
func throttling[O any](d *Door, send func() (*O, error)) (*O, error) {
	if d.happens(d.config.Throttle, &d.counts.Throttles) {
		return nil, throttled()
	}
	return lossy(d, send)
}

// GetItem reads an item, or what it was while it is hidden.
func (d *Door) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return throttling(d, func() (*dynamodb.GetItemOutput, error) {
		out, err := d.inner.GetItem(ctx, in, o...)
		if err == nil {
			d.hideOne(in, out)
		}
		return out, err
	})
}

// Query reads a page in which hidden items are what they were.
func (d *Door) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return throttling(d, func() (*dynamodb.QueryOutput, error) {
		out, err := d.inner.Query(ctx, in, o...)
		if err == nil {
			d.hidePage(in, out)
		}
		return out, err
	})
}

// BatchGetItem reads items; hidden ones are what they were. Throttled, it
// answers only a part.
func (d *Door) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return lossy(d, func() (*dynamodb.BatchGetItemOutput, error) {
		left := map[string]types.KeysAndAttributes{}
		if d.happens(d.config.Throttle, &d.counts.Throttles) {
			if in, left = split(in); len(in.RequestItems) == 0 {
				return nil, throttled()
			}
		}
		out, err := d.inner.BatchGetItem(ctx, in, o...)
		if err != nil {
			return nil, err
		}
		for name, keys := range in.RequestItems {
			out.Responses[name] = d.hideMany(keys.Keys, out.UnprocessedKeys[name].Keys, out.Responses[name])
		}
		leave(out, left)
		return out, nil
	})
}

// split takes the second half of each table's keys out of in.
func split(in *dynamodb.BatchGetItemInput) (asked *dynamodb.BatchGetItemInput, left map[string]types.KeysAndAttributes) {
	half := *in
	half.RequestItems, left = map[string]types.KeysAndAttributes{}, map[string]types.KeysAndAttributes{}
	for name, all := range in.RequestItems {
		first, second := all, all
		first.Keys, second.Keys = all.Keys[:len(all.Keys)/2], all.Keys[len(all.Keys)/2:]
		left[name] = second
		if len(first.Keys) > 0 {
			half.RequestItems[name] = first
		}
	}
	return &half, left
}

// leave adds keys to those that out has left unprocessed.
func leave(out *dynamodb.BatchGetItemOutput, left map[string]types.KeysAndAttributes) {
	for name, keys := range left {
		keys.Keys = append(keys.Keys[:len(keys.Keys):len(keys.Keys)], out.UnprocessedKeys[name].Keys...)
		if out.UnprocessedKeys == nil {
			out.UnprocessedKeys = map[string]types.KeysAndAttributes{}
		}
		out.UnprocessedKeys[name] = keys
	}
}

// UpdateItem changes an item, after a transaction that holds it.
func (d *Door) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return throttling(d, func() (*dynamodb.UpdateItemOutput, error) {
		keys := []table.Key{keyOf(in.Key)}
		d.hold(keys)
		defer d.free(keys)
		return d.inner.UpdateItem(ctx, in, o...)
	})
}

// TransactWriteItems does a transaction, with every fault of Config.
func (d *Door) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	return lossy(d, func() (*dynamodb.TransactWriteItemsOutput, error) {
		if d.happens(d.config.Conflict, &d.counts.Conflicts) {
			return nil, d.cancelled(len(in.TransactItems), "TransactionConflict")
		}
		if d.happens(d.config.Throttle, &d.counts.Throttles) {
			return nil, d.cancelled(len(in.TransactItems), "ThrottlingError")
		}
		return d.transact(ctx, in, o...)
	})
}

// TransactGetItems reads items of one moment. A write that holds one of them cancels it.
func (d *Door) TransactGetItems(ctx context.Context, in *dynamodb.TransactGetItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactGetItemsOutput, error) {
	return throttling(d, func() (*dynamodb.TransactGetItemsOutput, error) {
		keys := make([]table.Key, len(in.TransactItems))
		for i, part := range in.TransactItems {
			keys[i] = keyOf(part.Get.Key)
		}
		if !d.holdFree(keys) {
			return nil, d.cancelled(len(keys), "TransactionConflict")
		}
		defer d.free(keys)
		return d.inner.TransactGetItems(ctx, in, o...)
	})
}

// cancelled is the cancellation of a transaction of so many parts for the sake of one.
func (d *Door) cancelled(parts int, code string) error {
	reasons := make([]types.CancellationReason, parts)
	for i := range reasons {
		reasons[i].Code = aws.String("None")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	reasons[d.random.IntN(len(reasons))].Code = &code
	return &types.TransactionCanceledException{Message: aws.String(code), CancellationReasons: reasons}
}
