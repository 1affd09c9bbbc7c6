package batteries_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	attribute "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
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
	d := &it.Client{Stack: stacktest.Start(t, stacktest.WithLog(log), stacktest.WithClient(func(inner table.Client) table.Client {
		m.Client = inner
		return m
	})), T: t}
	p := it.NewPeople(d, "Ann")
	here, id := &it.Contacts{Client: d}, p.IDs["Ann"]
	seat := here.NewField("Seat", "text")
	session := p.Create(200, object{"title": "A", "participants": []object{p.Participant("Ann", "speaker")}}).ID()
	m.key = table.Key{PK: table.Org(d.Org) + "#C#" + id, SK: "E#" + it.DecimalOf(d.Event)}
	remember(t, d, m)
	here.Put(200, id, object{"custom_fields": object{seat: "1A"}})
	seats := func(shown entity) any { return shown.FieldValue(seat) }

	wcu := func(at *it.Contacts, body object) float64 {
		request := uuid.NewString()
		at.CallContacts(200, "PUT", "/"+id, body, "X-Request-Id", request)
		return log.Fields(t, request)["wcu"].(float64)
	}
	plain := wcu(here, object{"title": "a"})
	for range 4 {
		here.InNewEvent().WithAddresses(it.EmailOf("Ann"))
	}
	require.Equal(t, plain+2, wcu(here, object{"title": "b"}), "the association is a condition while it may be torn")

	m.times.Store(1)
	require.Equal(t, "1A", seats(here.Get(200, id)))
	m.times.Store(1)
	changed := here.Put(200, id, object{"title": "c"})
	require.Equal(t, "1A", seats(changed), "planned again")
	m.times.Store(1)
	shown := p.Put(200, session, object{"title": "B"}, "expand=translated_fields")
	require.Len(t, shown.List("participants"), 1)
	m.times.Store(1)
	p.Get(200, session)
	require.LessOrEqual(t, m.times.Load(), int64(0))
}

// remember has the memory answer the item as it stands now.
func remember(t *testing.T, d *it.Client, m *memory) {
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
