package bus

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lectern/shared/table"
)

// teller tells the follower of the change records that a client writes.
type teller struct {
	table.Client
	told chan<- table.Key
}

// Tell returns a client that tells the follower of each change record.
func (b *Bus) Tell(client table.Client) table.Client { return teller{client, b.told} }

// TransactWriteItems forwards the call. It also tells of a transaction without an answer, since the
// follower looks whether the record exists.
func (t teller) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput,
	o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	out, err := t.Client.TransactWriteItems(ctx, in, o...)
	for _, w := range in.TransactItems {
		if w.Put == nil || text(w.Put.Item["k"]) != table.KindChange {
			continue
		}
		select {
		case t.told <- table.Key{PK: text(w.Put.Item["PK"]), SK: text(w.Put.Item["SK"])}:
		default: // The next read of the feed finds the record.
		}
	}
	return out, err
}

// text returns the value of an attribute that is a text, or else nothing.
func text(value types.AttributeValue) string {
	if t, ok := value.(*types.AttributeValueMemberS); ok {
		return t.Value
	}
	return ""
}
