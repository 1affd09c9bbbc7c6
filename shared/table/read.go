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
	// maxBatch is DynamoDB's limit of keys in a BatchGetItem or TransactGetItems.
	maxBatch = 100
	// batchesAtOnce is the number of parallel calls of one GetMany.
	batchesAtOnce = 8
)

// Get reads one item, strongly consistent. It returns ErrNotFound if there is none.
func (t *Table) Get(ctx context.Context, key Key) (Item, error) {
	out, err := call(ctx, "get", usual, t.client.GetItem, &dynamodb.GetItemInput{
		TableName: &t.name, Key: key.attributes(), ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	})
	if err != nil {
		return Item{}, err
	}
	item, ok, err := t.live(out.Item)
	if err == nil && !ok {
		return Item{}, ErrNotFound
	}
	return item, err
}

// GetMany reads any number of items, each strongly consistent, in parallel batches of 100. A
// key may be given twice. A missing item is not in the map.
func (t *Table) GetMany(ctx context.Context, keys []Key) (map[Key]Item, error) {
	m := &many{Table: t, items: make(map[Key]Item, len(keys))}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(batchesAtOnce)
	for batch := range slices.Chunk(distinct(keys), maxBatch) {
		g.Go(Safely(func() error {
			return persist(ctx, "get batch", usual, func() (err error) {
				batch, err = m.read(ctx, batch)
				return err
			})
		}))
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return m.items, nil
}

// many collects the items of parallel batches.
type many struct {
	*Table
	mu    sync.Mutex
	items map[Key]Item
}

// errUnprocessed is the error of a batch with keys that DynamoDB did not answer: an answer ends
// at 16 MB, and earlier under throttling.
var errUnprocessed = errors.New("keys of the batch were not processed")

// read reads a batch once and returns the keys without an answer, with errUnprocessed.
func (m *many) read(ctx context.Context, batch []attributes) ([]attributes, error) {
	out, err := attempt(ctx, usual.try, m.client.BatchGetItem, &dynamodb.BatchGetItemInput{
		RequestItems:           map[string]types.KeysAndAttributes{m.name: {Keys: batch, ConsistentRead: aws.Bool(true)}},
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	})
	if err != nil {
		return batch, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, found := range out.Responses[m.name] {
		if err := m.collect(m.items, found); err != nil {
			return batch, err
		}
	}
	if rest := out.UnprocessedKeys[m.name].Keys; len(rest) > 0 {
		return rest, errUnprocessed
	}
	return nil, nil
}

// TransactGet reads up to 100 items of one moment: of any transaction it returns all items or
// none. A missing item is not in the map. It costs twice the read units of GetMany, and AWS
// refuses it while a transaction writes one of the items: use it only where two items must
// come from the same write. Conflicts and throttles are retried; after the last try the error
// is ErrBusy. The error for more keys is ErrTooBig.
func (t *Table) TransactGet(ctx context.Context, keys []Key) (map[Key]Item, error) {
	asked := distinct(keys)
	if len(asked) == 0 {
		return map[Key]Item{}, nil
	}
	if len(asked) > maxBatch {
		return nil, ErrTooBig
	}
	in := &dynamodb.TransactGetItemsInput{ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal}
	for _, key := range asked {
		in.TransactItems = append(in.TransactItems, types.TransactGetItem{Get: &types.Get{TableName: &t.name, Key: key}})
	}
	out, err := call(ctx, "get together", usual, t.client.TransactGetItems, in)
	if err != nil {
		return nil, err
	}
	if len(out.Responses) != len(asked) {
		return nil, errors.New("table: get together: the answer does not fit the request")
	}
	items := make(map[Key]Item, len(asked))
	for _, response := range out.Responses {
		if err := t.collect(items, response.Item); err != nil {
			return nil, err
		}
	}
	return items, nil
}

// live decodes the answer for a key. It reports false for an item that is absent or has
// expired.
func (t *Table) live(found attributes) (item Item, ok bool, err error) {
	if item, err = decode(found); err != nil && t.lenient {
		rest := maps.Clone(found)
		delete(rest, attrDeflated)
		item, err = decode(rest)
	}
	return item, err == nil && len(found) > 0 && !item.expired(t.Now()), err
}

// collect adds the answer for a key to items.
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
