package table

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
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
	all, err := t.get(ctx, key)
	if err != nil {
		return Item{}, err
	}
	item, err := decode(all)
	if err == nil && item.expired(t.Now()) {
		return Item{}, ErrNotFound
	}
	return item, err
}

// get is Get of an item as it stands, expired or not.
func (t *Table) get(ctx context.Context, key Key) (attributes, error) {
	in := &dynamodb.GetItemInput{
		TableName:              &t.name,
		Key:                    key.attributes(),
		ConsistentRead:         aws.Bool(true),
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
	out, err := call(ctx, "get", usual,
		func(ctx context.Context) (*dynamodb.GetItemOutput, error) { return t.client.GetItem(ctx, in) },
		func(out *dynamodb.GetItemOutput) cost { return cost{rcu: units(out.ConsumedCapacity)} })
	if err == nil && len(out.Item) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

// GetMany reads any number of items, each strongly consistent, in parallel
// batches of 100. A key may be given twice; one under which nothing stands is
// not in the map.
func (t *Table) GetMany(ctx context.Context, keys []Key) (map[Key]Item, error) {
	items := make(map[Key]Item, len(keys))
	var mu sync.Mutex
	add := func(item Item) {
		mu.Lock()
		defer mu.Unlock()
		items[item.Key] = item
	}
	batches := slices.Collect(slices.Chunk(distinct(keys), maxBatch))
	err := inParallel(batches, func(batch []attributes) error { return t.getBatch(ctx, batch, add) })
	if err != nil {
		return nil, err
	}
	return items, nil
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

// inParallel does the parts, width at a time, and returns their errors; a panic is
// one too, since beside the request's own goroutine it would end the process.
func inParallel[T any](parts []T, do func(T) error) error {
	if len(parts) == 1 {
		return do(parts[0])
	}
	errs := make([]error, len(parts))
	free := make(chan struct{}, width)
	var wg sync.WaitGroup
	for i, part := range parts {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			errs[i] = Safely(func() error { return do(part) })()
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// errUnprocessed is a batch of which DynamoDB answered nothing.
var errUnprocessed = errors.New("no key of the batch was processed")

// getBatch asks until DynamoDB has answered every key: an answer ends at 16 MB,
// and under throttling earlier.
func (t *Table) getBatch(ctx context.Context, keys []attributes, add func(Item)) error {
	for len(keys) > 0 {
		err := persist(ctx, "get batch", usual, func(err error) bool { return isTransient(err) || errors.Is(err, errUnprocessed) },
			func() error {
				rest, err := t.getSome(ctx, keys, add)
				if err == nil && len(rest) == len(keys) {
					err = errUnprocessed
				}
				if err == nil {
					keys = rest
				}
				return err
			})
		if err != nil {
			return err
		}
	}
	return nil
}

// getSome makes one call and returns the keys it left unprocessed.
func (t *Table) getSome(ctx context.Context, keys []attributes, add func(Item)) ([]attributes, error) {
	in := &dynamodb.BatchGetItemInput{
		RequestItems:           map[string]types.KeysAndAttributes{t.name: {Keys: keys, ConsistentRead: aws.Bool(true)}},
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
	out, err := attempt(ctx, tryTime,
		func(ctx context.Context) (*dynamodb.BatchGetItemOutput, error) { return t.client.BatchGetItem(ctx, in) },
		func(out *dynamodb.BatchGetItemOutput) (c cost) {
			for i := range out.ConsumedCapacity {
				c.rcu += units(&out.ConsumedCapacity[i])
			}
			return c
		})
	if err != nil {
		return nil, err
	}
	now := t.Now()
	for _, found := range out.Responses[t.name] {
		item, err := decode(found)
		if err != nil {
			return nil, err
		}
		if !item.expired(now) {
			add(item)
		}
	}
	return out.UnprocessedKeys[t.name].Keys, nil
}
