package batteries_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	attribute "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lectern/localstack/test/it"
	"lectern/shared/table"
)

// snapshot reads items as they stand at one moment.
func snapshot(e it.Engine, t *testing.T, keys []table.Key) it.Dump {
	t.Helper()
	gets := make([]attribute.TransactGetItem, len(keys))
	for i, key := range keys {
		gets[i].Get = &attribute.Get{TableName: &e.Table, Key: map[string]attribute.AttributeValue{
			"PK": &attribute.AttributeValueMemberS{Value: key.PK}, "SK": &attribute.AttributeValueMemberS{Value: key.SK},
		}}
	}
	all := it.Dump{}
	got, err := e.Client.TransactGetItems(t.Context(), &dynamodb.TransactGetItemsInput{TransactItems: gets})
	if err != nil {
		t.Errorf("read %v: %v", keys, err)
		return all
	}
	for _, response := range got.Responses {
		if response.Item != nil {
			all.Add(t, response.Item)
		}
	}
	return all
}
