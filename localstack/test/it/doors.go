package it

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	attribute "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/stacktest"
	"lectern/shared/table"
)

// Failing is a client that answers transactions of more than one write with Cause while On
// is set.
type Failing struct {
	table.Client
	Cause error
	On    atomic.Bool
}

// Gate is a client that calls functions of the test around the calls of the table.
// Querying and Queried get the strings of a query's key, before and after; Batched gets
// the strings of each key of a batch; Writing gets the number of a transaction's items.
// Functions may be absent.
type Gate struct {
	table.Client
	Querying, Queried, Batched atomic.Pointer[func(keys string)]
	Writing                    atomic.Pointer[func(items int)]
}

// TransactWriteItems refuses the call with the cause, or forwards it.
func (c *Failing) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput,
	o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	if c.On.Load() && len(in.TransactItems) > 1 {
		return nil, c.Cause
	}
	return c.Client.TransactWriteItems(ctx, in, o...)
}

// Query calls Querying, forwards the query, and calls Queried.
func (c *Gate) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	if do := c.Querying.Load(); do != nil {
		(*do)(StringsOf(in.ExpressionAttributeValues))
	}
	out, err := c.Client.Query(ctx, in, o...)
	if do := c.Queried.Load(); do != nil {
		(*do)(StringsOf(in.ExpressionAttributeValues))
	}
	return out, err
}

// BatchGetItem calls Batched for each key and forwards the batch.
func (c *Gate) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput,
	o ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	if do := c.Batched.Load(); do != nil {
		for _, asked := range in.RequestItems {
			for _, key := range asked.Keys {
				(*do)(StringsOf(key))
			}
		}
	}
	return c.Client.BatchGetItem(ctx, in, o...)
}

// TransactWriteItems calls Writing and forwards the transaction.
func (c *Gate) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput,
	o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	if do := c.Writing.Load(); do != nil {
		(*do)(len(in.TransactItems))
	}
	return c.Client.TransactWriteItems(ctx, in, o...)
}

// StartBehindGate starts a region that acts as AWS and whose calls of the table pass a
// gate.
func StartBehindGate(t *testing.T) (*Client, *Gate) {
	t.Helper()
	c := &Gate{}
	return &Client{stacktest.Start(t, stacktest.AsAWS(), stacktest.WithClient(func(inner table.Client) table.Client {
		c.Client = inner
		return c
	})), t}, c
}

// WithDamagedRows changes the versions of the organization's shards, so that no row can be
// proved current, as after a restore of torn transactions.
func WithDamagedRows(d *Client) *Client {
	d.T.Helper()
	BumpShards(d, 1)
	return d
}

// BumpShards adds to the versions of all shards of the organization's contacts and
// accounts.
func BumpShards(d *Client, by int64) {
	d.T.Helper()
	var writes []table.Write
	for letter, shards := range map[string]int{"C": 64, "A": 4} {
		for shard := range shards {
			writes = append(writes, table.Bump(table.Key{PK: table.Org(d.Org) + "#V", SK: fmt.Sprintf("%s#%02x", letter, shard)}, by))
		}
	}
	require.NoError(d.T, d.Table(d.T).Transact(d.T.Context(), writes...))
}

// StringsOf returns the strings among attribute values, each between spaces.
func StringsOf(values Attributes) (all string) {
	for _, value := range values {
		if text, ok := value.(*attribute.AttributeValueMemberS); ok {
			all += " " + text.Value + " "
		}
	}
	return all
}
