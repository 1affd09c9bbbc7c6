package it_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	attribute "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/localstack/stacktest"
	"lectern/shared/table"
)

// counter counts the calls that read, and of these the ones for people or accounts.
type counter struct {
	table.Client
	mu            sync.Mutex
	calls, people int
}

func (c *counter) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	person := false
	for _, keys := range in.RequestItems {
		for _, key := range keys.Keys {
			for _, value := range key {
				text, _ := value.(*attribute.AttributeValueMemberS)
				person = person || text != nil && (strings.Contains(text.Value, "#C#") || strings.Contains(text.Value, "#A#"))
			}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls++; person {
		c.people++
	}
	return c.Client.BatchGetItem(ctx, in, o...)
}

// during counts the calls that do makes.
func (c *counter) during(do func()) (calls, people int) {
	c.mu.Lock()
	c.calls, c.people = 0, 0
	c.mu.Unlock()
	do()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls, c.people
}

// TestHowOftenPeopleAreRead: never where nobody is named, on a read once for people and
// once for accounts otherwise, whatever they stand in, and on a write with what the
// draft names or with what the record names; those of subsessions follow these. A page
// of a small organization has them in memory, where it brings records and associations.
func TestHowOftenPeopleAreRead(t *testing.T) {
	c := &counter{}
	s := newTroupe(&desk{stacktest.Start(t, stacktest.WithClient(func(inner table.Client) table.Client {
		c.Client = inner
		return c
	})), t}, "Ann", "Bob", "Cem")
	s.sign("sponsor", "Acme")
	bare := s.titled("Bare")[0]
	id := s.create(200, object{"title": "A", "participants": []object{s.part("Ann", "speaker")}, "sponsor_ids": s.accounts("Acme")}).id()
	s.sub(id, "S", object{"participants": []object{s.part("Bob", "speaker")}})
	same := object{"participants": []object{s.part("Ann", "speaker"), s.part("Bob", "speaker")}, "sponsor_ids": s.accounts("Acme")}
	for _, check := range []struct {
		name          string
		calls, people int
		do            func()
	}{
		{"status search", 2, 0, func() { s.statuses(object{}) }},
		{"get without people", 2, 0, func() { s.get(200, bare) }},
		{"update without people", 2, 0, func() { s.put(200, bare, object{"capacity": 1}) }},
		{"get with a subsession", 5, 2, func() { s.get(200, id) }},
		{"update", 4, 2, func() { s.put(200, id, object{"capacity": 1}) }},
		{"update of people", 3, 1, func() { s.put(200, id, same) }},
		{"bulk update of people", 3, 1, func() { s.bulk(updating(id, same), updating(bare, same)) }},
	} {
		calls, people := c.during(check.do)
		require.Equal(t, check.people, people, check.name)
		require.Equal(t, check.calls, calls, check.name)
	}
	page := func(at *desk, want int) {
		_, people := c.during(func() { require.Len(t, at.search(object{}).Results, 2) })
		require.Equal(t, want, people)
	}
	page(s.desk, 4)
	page(s.desk, 0)
	page(unproven(&desk{s.Instance(t), t}), 2)
}
