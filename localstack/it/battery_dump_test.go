package it_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	attribute "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/localstack/stacktest"
	"lectern/localstack/verify"
	"lectern/shared/table"
)

// dumped is an item as the engine has it, without its key.
type dumped struct {
	version, settings, auth, count, expires int64
	data, kind                              string
}

// dump is a table, or a part of it, as it stood at one moment.
type dump map[table.Key]dumped

// engine reads a table past the service.
type engine struct {
	client *dynamodb.Client
	name   string
}

// dump reads the whole table.
func (e engine) dump(t *testing.T) dump {
	t.Helper()
	all := dump{}
	pages := dynamodb.NewScanPaginator(e.client, &dynamodb.ScanInput{TableName: &e.name, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		require.NoError(t, err)
		for _, item := range page.Items {
			all.add(t, item)
		}
	}
	return all
}

// snapshot reads items as they stand at one moment.
func (e engine) snapshot(t *testing.T, keys []table.Key) dump {
	t.Helper()
	gets := make([]attribute.TransactGetItem, len(keys))
	for i, key := range keys {
		gets[i].Get = &attribute.Get{TableName: &e.name, Key: map[string]attribute.AttributeValue{
			"PK": &attribute.AttributeValueMemberS{Value: key.PK}, "SK": &attribute.AttributeValueMemberS{Value: key.SK},
		}}
	}
	all := dump{}
	got, err := e.client.TransactGetItems(t.Context(), &dynamodb.TransactGetItemsInput{TransactItems: gets})
	if err != nil {
		t.Errorf("read %v: %v", keys, err)
		return all
	}
	for _, response := range got.Responses {
		if response.Item != nil {
			all.add(t, response.Item)
		}
	}
	return all
}

func (d dump) add(t *testing.T, all map[string]attribute.AttributeValue) {
	t.Helper()
	item, err := verify.Read(all)
	require.NoError(t, err)
	d[item.Key] = dumped{item.Version, item.Settings, item.Auth, item.Count, item.Expires, item.Data, item.Kind}
}

// below is the part of the dump in the partition prefix and those below it.
func (d dump) below(prefix string) dump {
	part := maps.Clone(d)
	maps.DeleteFunc(part, func(key table.Key, _ dumped) bool {
		return key.PK != prefix && !strings.HasPrefix(key.PK, prefix+"#")
	})
	return part
}

// startOpen starts a region whose table can be read past the service. wrap, if
// any, stands between the two.
func startOpen(t *testing.T, wrap func(table.Client) table.Client, options ...stacktest.Option) (*stacktest.Stack, engine) {
	t.Helper()
	if wrap != nil {
		options = append(options, stacktest.WithClient(wrap))
	}
	s := stacktest.Start(t, options...)
	url, name := s.Engine(t)
	client, err := table.Open(t.Context(), table.Config{Endpoint: url})
	require.NoError(t, err)
	return s, engine{client, name}
}
