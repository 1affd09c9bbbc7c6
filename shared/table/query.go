package table

import (
	"context"
	"errors"
	"iter"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Between yields the items of partition pk whose sort key lies between from and
// to, both included, in order of the sort key; each is strongly consistent. It
// asks for pages of 1 MB as they are consumed, and stops after an error.
func (t *Table) Between(ctx context.Context, pk, from, to string) iter.Seq2[Item, error] {
	return t.items(ctx, t.between(pk, from, to), paged)
}

// items yields what a query finds, page by page.
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

// Page is the first page of Between: up to 1 MB in one call. When there is more,
// last is the sort key up to which it was read.
func (t *Table) Page(ctx context.Context, pk, from, to string) (items []Item, more bool, last string, err error) {
	in := t.between(pk, from, to)
	if items, err = t.query(ctx, in, paged); err != nil || len(in.ExclusiveStartKey) == 0 {
		return items, false, "", err
	}
	key, err := decode(in.ExclusiveStartKey)
	return items, true, key.SK, err
}

// Versions reads Version, Last and Count of the items between from and to, by sort key. It
// transfers nothing else of them.
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

// valueFrom is the name of the sort key at which a Query begins.
const valueFrom = ":from"

// between never uses begins_with: the local engine then reads the partition
// whole.
func (t *Table) between(pk, from, to string) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		TableName:              &t.name,
		KeyConditionExpression: aws.String(attrPK + " = :pk AND " + attrSK + " BETWEEN " + valueFrom + " AND :to"),
		ExpressionAttributeValues: attributes{
			":pk": text(pk), valueFrom: text(from), ":to": text(to),
		},
		ConsistentRead:         aws.Bool(true),
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
}

// errNoStart refuses a Query from the empty sort key, which DynamoDB refuses, and the
// local engine does not.
var errNoStart = errors.New("table: a query must begin at a sort key that is not empty")

// query reads one page and sets in to the next one; without ExclusiveStartKey
// there is none.
func (t *Table) query(ctx context.Context, in *dynamodb.QueryInput, l limits) ([]Item, error) {
	if from, ok := in.ExpressionAttributeValues[valueFrom].(*types.AttributeValueMemberS); !ok || from.Value == "" {
		return nil, errNoStart
	}
	out, err := call(ctx, "query", l,
		func(ctx context.Context) (*dynamodb.QueryOutput, error) { return t.client.Query(ctx, in) },
		func(out *dynamodb.QueryOutput) cost { return cost{Reads: units(out.ConsumedCapacity)} })
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
