package events_test

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"lectern/localstack/local/faulty"
	"lectern/shared/table"
)

// errCrash is the end of a process.
var errCrash = errors.New("the process ends")

// crashes ends invocations at any of their steps: a call of the table before or after it is done, a
// message to a queue, a request to a receiver.
type crashes struct {
	mu   sync.Mutex
	left int
	end  context.CancelFunc
	seen int
	// armed is the number of invocations so far, and made counts the calls of the table since the last one
	// began or ended, by what they ask.
	armed int
	made  map[string]int
}

// arm has the invocation of a context end after so many steps; never for 0.
func (c *crashes) arm(ctx context.Context, steps int) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left, c.end, c.made = steps, nil, nil
	c.armed++
	if steps == 0 {
		return ctx
	}
	ctx, c.end = context.WithCancel(ctx)
	return ctx
}

// disarm ends an invocation. It reports whether the invocation crashed.
func (c *crashes) disarm() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made = nil
	c.armed++
	crashed := c.end != nil && c.left <= 0
	if c.end != nil {
		c.end()
		c.end = nil
	}
	if crashed {
		c.seen++
	}
	return crashed
}

// step is a step of an invocation.
func (c *crashes) step() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end == nil {
		return nil
	}
	if c.left--; c.left > 0 {
		return nil
	}
	c.end()
	return errCrash
}

// seedOf returns the seed of the faults of a call of the table. It depends on the seed, the invocation, what
// the call asks and how often the invocation asked the same before. It does not depend on other calls: the
// sweeper reads partitions side by side, in another order in each run.
func (c *crashes) seedOf(seed, asked string) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.made == nil {
		c.made = map[string]int{}
	}
	c.made[asked]++
	return hashed(seed, strconv.Itoa(c.armed), asked, strconv.Itoa(c.made[asked]))
}

// crashing is a client of the table whose calls are steps, some of which fail.
type crashing struct {
	table.Client
	*crashes
	seed   string
	stream *stream
}

// chances are the chances of the faults of a call.
var chances = faulty.Config{Conflict: 0.004, Throttle: 0.004, DropBefore: 0.002, DropAfter: 0.002}

// door returns a door with the faults of a call.
func (c crashing) door(asked string) *faulty.Door {
	faults := chances
	faults.Seed = c.seedOf(c.seed, asked)
	return faulty.New(c.Client, faults)
}

// reading returns a door with the faults of a call that reads.
func (c crashing) reading(in any) *faulty.Door {
	asked, err := json.Marshal(in)
	if err != nil {
		panic(err) // inputs of the SDK are plain
	}
	return c.door(string(asked))
}

func around[I, O any](ctx context.Context, c crashing, do func(context.Context, *I, ...func(*dynamodb.Options)) (*O, error), in *I) (*O, error) {
	if err := c.step(); err != nil {
		return nil, context.Canceled
	}
	out, err := do(context.WithoutCancel(ctx), in)
	if c.step() != nil {
		return nil, context.Canceled
	}
	return out, err
}

func (c crashing) GetItem(ctx context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return around(ctx, c, c.reading(in).GetItem, in)
}

func (c crashing) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return around(ctx, c, c.reading(in).BatchGetItem, in)
}

func (c crashing) Query(ctx context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return around(ctx, c, c.reading(in).Query, in)
}

// TransactWriteItems writes. The writes of an invocation come one after another; their bodies and tokens
// are others in each run.
func (c crashing) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, _ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	c.stream.note(in)
	return around(ctx, c, c.door("write").TransactWriteItems, in)
}
