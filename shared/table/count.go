package table

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Add adds n to the counter under key, which begins at 0, and returns its new
// value. A try whose answer is lost is repeated, so numbers may be left out but
// are never given twice. It waits for the context's gate as Transact does.
func (t *Table) Add(ctx context.Context, key Key, n int64) (int64, error) {
	if err := opened(ctx); err != nil {
		return 0, err
	}
	in := t.count(key, attributes{":by": number(n)})
	in.UpdateExpression = aws.String("ADD " + attrCount + " :by")
	now, err := t.update(ctx, in, usual)
	return now.Count, err
}

// Count is the value of the counter under key, 0 where it was never added to.
func (t *Table) Count(ctx context.Context, key Key) (int64, error) {
	item, err := t.Get(ctx, key)
	if errors.Is(err, ErrNotFound) {
		return 0, nil
	}
	return item.Count, err
}

// AddWithin adds by to the counter under key unless that passes limit. It returns
// the counter's value after that; false when nothing was added. The item expires at the Unix second expires; an expired counter is not begun
// anew, so the key must name the time it counts for. A try whose answer is lost
// is repeated and may count twice: it errs towards refusing. A throttled counter is
// ErrBusy after half a second.
func (t *Table) AddWithin(ctx context.Context, key Key, by, limit, expires int64) (count int64, ok bool, err error) {
	if limit < by {
		return 0, false, nil
	}
	in := t.count(key, attributes{":by": number(by), ":most": number(limit - by), ":expires": number(expires)})
	in.UpdateExpression = aws.String("ADD " + attrCount + " :by SET #ttl = :expires")
	in.ConditionExpression = aws.String("attribute_not_exists(" + attrCount + ") OR " + attrCount + " <= :most")
	in.ExpressionAttributeNames = map[string]string{"#ttl": attrExpires}
	in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	now, err := t.update(ctx, in, brief)
	if full := (*types.ConditionalCheckFailedException)(nil); errors.As(err, &full) {
		now, err = decode(full.Item)
		return now.Count, false, err
	}
	return now.Count, err == nil, err
}

func (t *Table) count(key Key, values attributes) *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{
		TableName:                 &t.name,
		Key:                       key.attributes(),
		ExpressionAttributeValues: values,
		ReturnValues:              types.ReturnValueUpdatedNew,
		ReturnConsumedCapacity:    types.ReturnConsumedCapacityTotal,
	}
}

// update makes one update and returns the attributes that it changed.
func (t *Table) update(ctx context.Context, in *dynamodb.UpdateItemInput, l limits) (Item, error) {
	out, err := call(ctx, "update", l,
		func(ctx context.Context) (*dynamodb.UpdateItemOutput, error) { return t.client.UpdateItem(ctx, in) },
		func(out *dynamodb.UpdateItemOutput) cost { return cost{Writes: units(out.ConsumedCapacity)} })
	if err != nil {
		return Item{}, err
	}
	return decode(out.Attributes)
}

// maxMarks is the number of keys of marks that a Table remembers.
const maxMarks = 4096

// Mark puts an item without data under key. A Table remembers the last keys of marks and
// does not put a mark again. Mark waits for the context's gate as Transact does.
func (t *Table) Mark(ctx context.Context, key Key) error {
	if _, put := t.marked.Get(key); put {
		return nil
	}
	if err := opened(ctx); err != nil {
		return err
	}
	in := t.count(key, attributes{":version": number(1)})
	in.UpdateExpression = aws.String("SET " + attrVersion + " = :version")
	if _, err := t.update(ctx, in, usual); err != nil {
		return err
	}
	t.marked.Put(key, struct{}{}, 1)
	return nil
}
