package table

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Add adds n to the counter under key, which begins at 0, and returns the new value. Add
// repeats a try without an answer, so a number may be left out, but is never given twice. It
// waits for the context's gate (Gated).
func (t *Table) Add(ctx context.Context, key Key, n int64) (int64, error) {
	if err := opened(ctx); err != nil {
		return 0, err
	}
	now, err := t.update(ctx, usual, t.count(key, "ADD "+attrCount+" :by", attributes{":by": number(n)}))
	return now.Count, err
}

// Count returns the value of the counter under key; 0 for a counter that does not exist.
func (t *Table) Count(ctx context.Context, key Key) (int64, error) {
	item, err := t.Get(ctx, key)
	if errors.Is(err, ErrNotFound) {
		return 0, nil
	}
	return item.Count, err
}

// AddWithin adds by to the counter under key, unless the sum passes limit. It returns the
// counter's value afterwards, and false if nothing was added. The counter expires at the Unix
// second expires and does not begin anew, so the key must name the time that it counts.
// AddWithin repeats a try without an answer, which may count twice: it rather refuses too
// much. For a throttled counter it returns ErrBusy after half a second.
func (t *Table) AddWithin(ctx context.Context, key Key, by, limit, expires int64) (count int64, ok bool, err error) {
	if limit < by {
		return 0, false, nil
	}
	in := t.count(key, "ADD "+attrCount+" :by SET #ttl = :expires",
		attributes{":by": number(by), ":most": number(limit - by), ":expires": number(expires)})
	in.ConditionExpression = aws.String("attribute_not_exists(" + attrCount + ") OR " + attrCount + " <= :most")
	in.ExpressionAttributeNames = map[string]string{"#ttl": attrExpires}
	in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	now, err := t.update(ctx, brief, in)
	if full := (*types.ConditionalCheckFailedException)(nil); errors.As(err, &full) {
		now, err = decode(full.Item)
		return now.Count, false, err
	}
	return now.Count, err == nil, err
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
	if _, err := t.update(ctx, usual, t.count(key, "SET "+attrVersion+" = :version", attributes{":version": number(1)})); err != nil {
		return err
	}
	t.marked.Put(key, struct{}{}, 1)
	return nil
}

func (t *Table) count(key Key, update string, values attributes) *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{
		TableName: &t.name, Key: key.attributes(), UpdateExpression: &update, ExpressionAttributeValues: values,
		ReturnValues: types.ReturnValueUpdatedNew, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
}

// update makes one update and returns the changed attributes.
func (t *Table) update(ctx context.Context, l limits, in *dynamodb.UpdateItemInput) (Item, error) {
	out, err := call(ctx, "update", l, t.client.UpdateItem, in)
	if err != nil {
		return Item{}, err
	}
	return decode(out.Attributes)
}
