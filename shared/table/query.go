package table

import (
	"context"
	"errors"
	"iter"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Between yields the items of partition pk whose sort keys lie between from and to, both
// included, in the order of the sort keys, each strongly consistent. It reads pages of 1 MB as
// the caller goes on, and stops after an error.
func (t *Table) Between(ctx context.Context, pk, from, to string) iter.Seq2[Item, error] {
	return t.items(ctx, t.between(pk, from, to), paged)
}

// Backwards yields the items of Between in the reverse order. It reads pages of atOnce items as the
// caller goes on.
func (t *Table) Backwards(ctx context.Context, pk, from, to string, atOnce int) iter.Seq2[Item, error] {
	in := t.between(pk, from, to)
	in.ScanIndexForward = aws.Bool(false)
	in.Limit = aws.Int32(int32(atOnce)) //nolint:gosec // callers want some items, not billions
	return t.items(ctx, in, paged)
}

// items yields the items of a query, page by page.
func (t *Table) items(ctx context.Context, in *dynamodb.QueryInput, l limits) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for {
			items, err := t.query(ctx, in, l)
			if err != nil {
				yield(Item{}, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if len(in.ExclusiveStartKey) == 0 {
				return
			}
		}
	}
}

// Page returns the first page of Between: up to 1 MB in one call. If there is more, last is the
// last sort key that was read.
func (t *Table) Page(ctx context.Context, pk, from, to string) (items []Item, more bool, last string, err error) {
	return t.page(ctx, t.between(pk, from, to))
}

// Some returns the first items of Between as Page does, at most limit of them.
func (t *Table) Some(ctx context.Context, pk, from, to string, limit int) (items []Item, more bool, last string, err error) {
	in := t.between(pk, from, to)
	in.Limit = aws.Int32(int32(limit)) //nolint:gosec // callers want some items, not billions
	return t.page(ctx, in)
}

// page returns the items of one call.
func (t *Table) page(ctx context.Context, in *dynamodb.QueryInput) (items []Item, more bool, last string, err error) {
	if items, err = t.query(ctx, in, paged); err != nil || len(in.ExclusiveStartKey) == 0 {
		return items, false, "", err
	}
	key, err := decode(in.ExclusiveStartKey)
	return items, true, key.SK, err
}

// Versions reads only Version, Last and Count of the items between from and to, by sort key.
func (t *Table) Versions(ctx context.Context, pk, from, to string) (map[string]Item, error) {
	in := t.between(pk, from, to)
	in.ProjectionExpression = aws.String(attrSK + ", " + attrVersion + ", " + attrLast + ", " + attrCount)
	versions := map[string]Item{}
	for item, err := range t.items(ctx, in, usual) {
		if err != nil {
			return nil, err
		}
		versions[item.SK] = item
	}
	return versions, nil
}

// valueFrom is the name of the first sort key of a Query.
const valueFrom = ":from"

// between returns a Query. begins_with would make the local engine read the whole partition.
func (t *Table) between(pk, from, to string) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		TableName:                 &t.name,
		KeyConditionExpression:    aws.String(attrPK + " = :pk AND " + attrSK + " BETWEEN " + valueFrom + " AND :to"),
		ExpressionAttributeValues: attributes{":pk": text(pk), valueFrom: text(from), ":to": text(to)},
		ConsistentRead:            aws.Bool(true),
		ReturnConsumedCapacity:    types.ReturnConsumedCapacityTotal,
	}
}

// errNoStart is the error of a Query from the empty sort key. DynamoDB refuses such a Query;
// the local engine does not.
var errNoStart = errors.New("table: a query must begin at a sort key that is not empty")

// query reads one page and sets the ExclusiveStartKey of in to the next page, or to nothing
// after the last page.
func (t *Table) query(ctx context.Context, in *dynamodb.QueryInput, l limits) ([]Item, error) {
	if from, ok := in.ExpressionAttributeValues[valueFrom].(*types.AttributeValueMemberS); !ok || from.Value == "" {
		return nil, errNoStart
	}
	out, err := call(ctx, "query", l, t.client.Query, in)
	if err != nil {
		return nil, err
	}
	items := make([]Item, 0, len(out.Items))
	for _, found := range out.Items {
		item, ok, err := t.live(found)
		if err != nil {
			return nil, err
		}
		if ok {
			items = append(items, item)
		}
	}
	in.ExclusiveStartKey = out.LastEvaluatedKey
	return items, nil
}
