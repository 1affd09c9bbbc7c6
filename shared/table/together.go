package table

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Together reads up to 100 items as they stand at one moment: of any transaction it
// returns all items or none. A missing item is not in the map. It costs twice the read
// units of GetMany, and AWS refuses it while a transaction writes one of the items, so
// use it only where two items must come from the same write. Conflicts and throttles
// are retried; when that is not enough the error is ErrBusy. More keys are ErrTooBig.
func (t *Table) Together(ctx context.Context, keys []Key) (map[Key]Item, error) {
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
	var out *dynamodb.TransactGetItemsOutput
	err := persist(ctx, "get together", usual, isPassing, func() (err error) {
		out, err = attempt(ctx, tryTime,
			func(ctx context.Context) (*dynamodb.TransactGetItemsOutput, error) {
				return t.client.TransactGetItems(ctx, in)
			},
			func(out *dynamodb.TransactGetItemsOutput) (c cost) {
				for i := range out.ConsumedCapacity {
					c.rcu += aws.ToFloat64(out.ConsumedCapacity[i].CapacityUnits)
				}
				return c
			})
		return err
	})
	if err != nil {
		return nil, err
	}
	return t.answered(out, len(asked))
}

// answered decodes the items of a TransactGetItems answer, and leaves out expired ones.
func (t *Table) answered(out *dynamodb.TransactGetItemsOutput, asked int) (map[Key]Item, error) {
	if len(out.Responses) != asked {
		return nil, errors.New("table: get together: the answer does not fit the request")
	}
	now := t.Now()
	items := make(map[Key]Item, asked)
	for _, response := range out.Responses {
		if len(response.Item) == 0 {
			continue
		}
		item, err := decode(response.Item)
		if err != nil {
			return nil, err
		}
		if !item.expired(now) {
			items[item.Key] = item
		}
	}
	return items, nil
}
