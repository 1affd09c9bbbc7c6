package table

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"
)

const (
	// maxBatch is DynamoDB's limit of keys in one BatchGetItem.
	maxBatch = 100
	// width is how many calls of one GetMany are made at a time.
	width = 8
)

// Get reads one item, strongly consistent. ErrNotFound when nothing stands
// under the key.
func (t *Table) Get(ctx context.Context, key Key) (Item, error) {
	in := &dynamodb.GetItemInput{
		TableName:              &t.name,
		Key:                    key.attributes(),
		ConsistentRead:         aws.Bool(true),
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
	out, err := call(ctx, "get", usual,
		func(ctx context.Context) (*dynamodb.GetItemOutput, error) { return t.client.GetItem(ctx, in) },
		func(out *dynamodb.GetItemOutput) cost { return cost{Reads: units(out.ConsumedCapacity)} })
	if err != nil {
		return Item{}, err
	}
	item, ok, err := t.live(out.Item)
	if err == nil && !ok {
		return Item{}, ErrNotFound
	}
	return item, err
}

// GetMany reads any number of items, each strongly consistent, in parallel
// batches of 100. A key may be given twice; one under which nothing stands is
// not in the map.
func (t *Table) GetMany(ctx context.Context, keys []Key) (map[Key]Item, error) {
	items := make(map[Key]Item, len(keys))
	var mu sync.Mutex
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(width)
	for batch := range slices.Chunk(distinct(keys), maxBatch) {
		g.Go(Safely(func() error {
			return t.getBatch(ctx, batch, func(found attributes) error {
				mu.Lock()
				defer mu.Unlock()
				return t.collect(items, found)
			})
		}))
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return items, nil
}

// live decodes what was found under a key. It reports false for an item that is absent
// or has expired.
func (t *Table) live(found attributes) (item Item, ok bool, err error) {
	if item, err = decode(found); err != nil && t.lenient {
		rest := maps.Clone(found)
		delete(rest, attrDeflated)
		item, err = decode(rest)
	}
	return item, err == nil && len(found) > 0 && !item.expired(t.Now()), err
}

// collect adds what was found under a key to items.
func (t *Table) collect(items map[Key]Item, found attributes) error {
	item, ok, err := t.live(found)
	if ok {
		items[item.Key] = item
	}
	return err
}

func distinct(keys []Key) []attributes {
	seen := make(map[Key]struct{}, len(keys))
	all := make([]attributes, 0, len(keys))
	for _, key := range keys {
		if _, ok := seen[key]; !ok {
			seen[key] = struct{}{}
			all = append(all, key.attributes())
		}
	}
	return all
}

// errUnprocessed is a batch of which DynamoDB left keys unanswered.
var errUnprocessed = errors.New("keys of the batch were not processed")

// getBatch asks until DynamoDB has answered every key: an answer ends at 16 MB, and under
// throttling earlier. Keys without an answer are asked for again as a throttled call is.
func (t *Table) getBatch(ctx context.Context, keys []attributes, add func(attributes) error) error {
	return persist(ctx, "get batch", usual, func() error {
		in := &dynamodb.BatchGetItemInput{
			RequestItems:           map[string]types.KeysAndAttributes{t.name: {Keys: keys, ConsistentRead: aws.Bool(true)}},
			ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		}
		out, err := attempt(ctx, usual.try,
			func(ctx context.Context) (*dynamodb.BatchGetItemOutput, error) { return t.client.BatchGetItem(ctx, in) },
			func(out *dynamodb.BatchGetItemOutput) cost { return reads(out.ConsumedCapacity...) })
		if err != nil {
			return err
		}
		for _, found := range out.Responses[t.name] {
			if err := add(found); err != nil {
				return err
			}
		}
		if keys = out.UnprocessedKeys[t.name].Keys; len(keys) > 0 {
			return errUnprocessed
		}
		return nil
	})
}
