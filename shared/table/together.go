package table

import (
	"context"
	"errors"

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
	out, err := call(ctx, "get together", usual,
		func(ctx context.Context) (*dynamodb.TransactGetItemsOutput, error) {
			return t.client.TransactGetItems(ctx, in)
		},
		func(out *dynamodb.TransactGetItemsOutput) cost { return reads(out.ConsumedCapacity...) })
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
