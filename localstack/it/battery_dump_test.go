package it_test

import (
	"context"
	"maps"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	attribute "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/localstack/stacktest"
	"lectern/shared/table"
)

// dumped is an item as the engine has it, without its key.
type dumped struct {
	version, settings, count, expires int64
	data                              string
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

func (d dump) add(t *testing.T, item map[string]attribute.AttributeValue) {
	t.Helper()
	d[table.Key{PK: text(item["PK"]), SK: text(item["SK"])}] = dumped{
		version: number(t, item["v"]), settings: number(t, item["sv"]), count: number(t, item["n"]),
		expires: number(t, item["ttl"]), data: text(item["d"]),
	}
}

func text(value attribute.AttributeValue) string {
	if s, ok := value.(*attribute.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

func number(t *testing.T, value attribute.AttributeValue) int64 {
	t.Helper()
	n, ok := value.(*attribute.AttributeValueMemberN)
	if !ok {
		return 0
	}
	read, err := strconv.ParseInt(n.Value, 10, 64)
	require.NoError(t, err)
	return read
}

// below is the part of the dump in the partition prefix and those below it.
func (d dump) below(prefix string) dump {
	part := maps.Clone(d)
	maps.DeleteFunc(part, func(key table.Key, _ dumped) bool {
		return key.PK != prefix && !strings.HasPrefix(key.PK, prefix+"#")
	})
	return part
}

// peephole lets a test read the table that the service is given.
type peephole struct {
	table.Client
	name atomic.Pointer[string]
}

// BatchGetItem notes the name of the table; every request reads its caller by it.
func (p *peephole) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	for name := range in.RequestItems {
		p.name.Store(&name)
	}
	return p.Client.BatchGetItem(ctx, in, o...)
}

// startOpen starts a region whose table can be read past the service. wrap, if
// any, stands between the two.
func startOpen(t *testing.T, wrap func(table.Client) table.Client, options ...stacktest.Option) (*stacktest.Stack, engine) {
	t.Helper()
	hole := &peephole{}
	var client *dynamodb.Client
	s := stacktest.Start(t, append(options, stacktest.WithClient(func(inner table.Client) table.Client {
		client, hole.Client = inner.(*dynamodb.Client), inner
		if wrap != nil {
			hole.Client = wrap(inner)
		}
		return hole
	}))...)
	s.Call(t, 200, "GET", "/v1/events", nil)
	return s, engine{client, *hole.name.Load()}
}
