// Package faulty provides doors in front of DynamoDB for tests. A door makes the faults
// that a local engine never shows and that AWS may show at any time. Doors change no data,
// and have no rules about the callers' reactions to a fault.
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

// TornFor is the longest time for which a torn transaction hides an item.
const TornFor = 8 * time.Millisecond

// Config has the chance of each fault, from 0 to 1.
type Config struct {
	// Seed begins the random source. The same calls in the same order get the same faults;
	// concurrent callers get the faults in a random distribution.
	Seed uint64
	// Conflict cancels a transaction as if another transaction held one of the items.
	Conflict float64
	// Throttle refuses a call. For a BatchGetItem, it leaves keys unprocessed.
	Throttle float64
	// DropBefore loses a call before the call is done, DropAfter loses the answer.
	DropBefore, DropAfter float64
	// Torn makes the items of a transaction visible at different times: the version items
	// (partition keys ending in #V) first or last, the others one by one, all within
	// TornFor. The call is answered when all items are visible. Until then, no other write
	// reaches the hidden items.
	Torn float64
	// VersionsLast is the chance that a torn transaction shows the version items last. 0
	// means a half, and a chance below 0 means never.
	VersionsLast float64
}

// Counts is the number of faults of each kind, and the number of reads that asked for a
// hidden item.
type Counts struct {
	Conflicts, Throttles, DroppedBefore, DroppedAfter int
	// VersionsLast are part of Torn.
	Torn, VersionsLast, TornReads int
}

// Door implements table.Client. All callers of a table must go through the same Door,
// because a Door hides items only from its own callers.
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

// Mixed returns faults of each kind, each of them now and then.
func Mixed(seed uint64) Config {
	return Config{Seed: seed, Conflict: 0.03, Throttle: 0.02, DropBefore: 0.01, DropAfter: 0.01, Torn: 0.5}
}

// New returns a door in front of inner.
func New(inner table.Client, c Config) *Door {
	if c.VersionsLast == 0 {
		c.VersionsLast = 0.5
	}
	d := &Door{inner: inner, config: c, held: map[table.Key]*hold{}}
	d.random = rand.New(rand.NewPCG(c.Seed, c.Seed)) //nolint:gosec // faults need a seed, not secrecy
	d.freed = sync.NewCond(&d.mu)
	return d
}

// Counts returns the numbers of faults so far.
func (d *Door) Counts() Counts {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.counts
}

// happens decides at random whether to make a fault of this chance now, and counts the
// fault.
func (d *Door) happens(chance float64, count *int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.random.Float64() >= chance {
		return false
	}
	*count++
	return true
}

// options are the options of a call.
type options = []func(*dynamodb.Options)

// lossy sends a call, and loses the call or the answer by chance.
func lossy[I, O any](ctx context.Context, d *Door, send func(context.Context, *I, options) (*O, error), in *I, o options) (*O, error) {
	if d.happens(d.config.DropBefore, &d.counts.DroppedBefore) {
		return nil, unsent()
	}
	out, err := send(ctx, in, o)
	if d.happens(d.config.DropAfter, &d.counts.DroppedAfter) {
		return nil, d.cut()
	}
	return out, err
}

// unsent returns the error of the SDK for a connection that broke before the answer.
func unsent() error { return &smithyhttp.RequestSendError{Err: io.ErrUnexpectedEOF} }

// cut returns the error of the SDK for a connection that broke before the answer or, with a
// chance of a half, within the answer.
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

// throttling sends a call, or refuses the call by chance.
func throttling[I, O any](ctx context.Context, d *Door, send func(context.Context, *I, options) (*O, error), in *I, o options) (*O, error) {
	if d.happens(d.config.Throttle, &d.counts.Throttles) {
		return nil, throttled()
	}
	return lossy(ctx, d, send, in, o)
}

// GetItem reads an item. For a hidden item, it returns the old item.
func (d *Door) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return throttling(ctx, d, d.getItem, in, o)
}

func (d *Door) getItem(ctx context.Context, in *dynamodb.GetItemInput, o options) (*dynamodb.GetItemOutput, error) {
	out, err := d.inner.GetItem(ctx, in, o...)
	if err == nil {
		d.hideOne(in, out)
	}
	return out, err
}

// Query reads a page, with old items in place of hidden items.
func (d *Door) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return throttling(ctx, d, d.query, in, o)
}

func (d *Door) query(ctx context.Context, in *dynamodb.QueryInput, o options) (*dynamodb.QueryOutput, error) {
	out, err := d.inner.Query(ctx, in, o...)
	if err == nil {
		d.hidePage(in, out)
	}
	return out, err
}

// BatchGetItem reads items, with old items in place of hidden items. A throttled call
// answers only the first half of the keys, and is refused if that half is empty.
func (d *Door) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput,
	o ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return lossy(ctx, d, d.batchGetItem, in, o)
}

func (d *Door) batchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, o options) (*dynamodb.BatchGetItemOutput, error) {
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

// leave adds keys to the unprocessed keys of out.
func leave(out *dynamodb.BatchGetItemOutput, left map[string]types.KeysAndAttributes) {
	for name, keys := range left {
		keys.Keys = append(keys.Keys[:len(keys.Keys):len(keys.Keys)], out.UnprocessedKeys[name].Keys...)
		if out.UnprocessedKeys == nil {
			out.UnprocessedKeys = map[string]types.KeysAndAttributes{}
		}
		out.UnprocessedKeys[name] = keys
	}
}

// UpdateItem changes an item, after the end of any other call that holds the item.
func (d *Door) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput,
	o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return throttling(ctx, d, d.updateItem, in, o)
}

func (d *Door) updateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o options) (*dynamodb.UpdateItemOutput, error) {
	keys := []table.Key{keyOf(in.Key)}
	d.hold(keys)
	defer d.free(keys)
	return d.inner.UpdateItem(ctx, in, o...)
}

// TransactWriteItems does a transaction, with every fault of Config.
func (d *Door) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput,
	o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	return lossy(ctx, d, d.transactWriteItems, in, o)
}

func (d *Door) transactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput,
	o options) (*dynamodb.TransactWriteItemsOutput, error) {
	if d.happens(d.config.Conflict, &d.counts.Conflicts) {
		return nil, d.cancelled(len(in.TransactItems), "TransactionConflict")
	}
	if d.happens(d.config.Throttle, &d.counts.Throttles) {
		return nil, d.cancelled(len(in.TransactItems), "ThrottlingError")
	}
	return d.transact(ctx, in, o...)
}

// TransactGetItems reads items of one moment. A write or another reading transaction that
// holds one of the items cancels the call.
func (d *Door) TransactGetItems(ctx context.Context, in *dynamodb.TransactGetItemsInput,
	o ...func(*dynamodb.Options)) (*dynamodb.TransactGetItemsOutput, error) {
	return throttling(ctx, d, d.transactGetItems, in, o)
}

func (d *Door) transactGetItems(ctx context.Context, in *dynamodb.TransactGetItemsInput,
	o options) (*dynamodb.TransactGetItemsOutput, error) {
	keys := make([]table.Key, len(in.TransactItems))
	for i, part := range in.TransactItems {
		keys[i] = keyOf(part.Get.Key)
	}
	if !d.holdFree(keys) {
		return nil, d.cancelled(len(keys), "TransactionConflict")
	}
	defer d.free(keys)
	return d.inner.TransactGetItems(ctx, in, o...)
}

// cancelled returns the cancellation of a transaction of so many parts, with the code as
// the reason of one random part.
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
