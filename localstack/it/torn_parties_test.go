package it_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	attribute "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/stacktest"
	"lectern/shared/table"
)

// memory answers an item of a batch as it once was, the next times.
type memory struct {
	table.Client
	key   table.Key
	old   map[string]attribute.AttributeValue
	times atomic.Int64
}

func (m *memory) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	out, err := m.Client.BatchGetItem(ctx, in, o...)
	if err != nil || m.times.Load() == 0 {
		return out, err
	}
	for _, items := range out.Responses {
		for i, item := range items {
			if m.is(item) && m.times.Add(-1) >= 0 {
				items[i] = m.old
			}
		}
	}
	return out, nil
}

func (m *memory) is(item map[string]attribute.AttributeValue) bool {
	pk, ok := item["PK"].(*attribute.AttributeValueMemberS)
	sk, also := item["SK"].(*attribute.AttributeValueMemberS)
	return ok && also && table.Key{PK: pk.Value, SK: sk.Value} == m.key
}

// TestAnOldAssociationIsNotShownWithANewRecord: a batch reads an association as it was
// before its last write, which the record has forgotten for later ones on other events.
// Reads take both as they stand together; an update does not rest on it; and only such
// an update pays for a condition on the association.
func TestAnOldAssociationIsNotShownWithANewRecord(t *testing.T) {
	m, log := &memory{}, &stacktest.Log{}
	d := &desk{stacktest.Start(t, stacktest.WithLog(log), stacktest.WithClient(func(inner table.Client) table.Client {
		m.Client = inner
		return m
	})), t}
	p := newTroupe(d, "Ann")
	here, id := &people{d}, p.ids["Ann"]
	seat := here.field("Seat", "text")
	session := p.create(200, object{"title": "A", "participants": []object{p.part("Ann", "speaker")}}).id()
	m.key = table.Key{PK: table.Org(d.Org) + "#C#" + id, SK: "E#" + number64(d.Event)}
	remember(t, d, m)
	here.put(200, id, object{"custom_fields": object{seat: "1A"}})
	seats := func(shown entity) any { return shown.value(seat) }

	wcu := func(at *people, body object) float64 {
		request := uuid.NewString()
		at.write(200, "PUT", "/"+id, body, "X-Request-Id", request)
		return log.Fields(t, request)["wcu"].(float64)
	}
	plain := wcu(here, object{"title": "a"})
	for range 4 {
		here.elsewhere().addressed(emailOf("Ann"))
	}
	require.Equal(t, plain+2, wcu(here, object{"title": "b"}), "the association is a condition while it may be torn")

	m.times.Store(1)
	require.Equal(t, "1A", seats(here.get(200, id)))
	m.times.Store(1)
	changed := here.put(200, id, object{"title": "c"})
	require.Equal(t, "1A", seats(changed), "planned again")
	m.times.Store(1)
	shown := p.put(200, session, object{"title": "B"}, "expand=translated_fields")
	require.Len(t, shown.list("participants"), 1)
	m.times.Store(1)
	p.get(200, session)
	require.LessOrEqual(t, m.times.Load(), int64(0))
}

// remember has the memory answer the item as it stands now.
func remember(t *testing.T, d *desk, m *memory) {
	t.Helper()
	address, name := d.Engine(t)
	client, err := table.Open(t.Context(), table.Config{Endpoint: address})
	require.NoError(t, err)
	got, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &name, Key: map[string]attribute.AttributeValue{
		"PK": &attribute.AttributeValueMemberS{Value: m.key.PK}, "SK": &attribute.AttributeValueMemberS{Value: m.key.SK},
	}})
	require.NoError(t, err)
	require.NotEmpty(t, got.Item)
	m.old = got.Item
}
