package sessions_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	attribute "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
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
	s := it.NewPeople(&it.Client{Stack: stacktest.Start(t, stacktest.WithClient(func(inner table.Client) table.Client {
		c.Client = inner
		return c
	})), T: t}, "Ann", "Bob", "Cem")
	s.AddAccount("sponsor", "Acme")
	bare := s.NewSessions("Bare")[0]
	id := s.Create(200, object{"title": "A", "participants": []object{s.Participant("Ann", "speaker")}, "sponsor_ids": s.AccountIDs("Acme")}).ID()
	s.NewSubsession(id, "S", object{"participants": []object{s.Participant("Bob", "speaker")}})
	same := object{"participants": []object{s.Participant("Ann", "speaker"), s.Participant("Bob", "speaker")}, "sponsor_ids": s.AccountIDs("Acme")}
	for _, check := range []struct {
		name          string
		calls, people int
		do            func()
	}{
		{"status search", 2, 0, func() { s.SearchStatuses(object{}) }},
		{"get without people", 2, 0, func() { s.Get(200, bare) }},
		{"update without people", 2, 0, func() { s.Put(200, bare, object{"capacity": 1}) }},
		{"get with a subsession", 5, 2, func() { s.Get(200, id) }},
		{"update", 4, 2, func() { s.Put(200, id, object{"capacity": 1}) }},
		{"update of people", 3, 1, func() { s.Put(200, id, same) }},
		{"bulk update of people", 3, 1, func() { s.Bulk(it.Updating(id, same), it.Updating(bare, same)) }},
	} {
		calls, people := c.during(check.do)
		require.Equal(t, check.people, people, check.name)
		require.Equal(t, check.calls, calls, check.name)
	}
	page := func(at *it.Client, want int) {
		_, people := c.during(func() { require.Len(t, at.Search(object{}).Results, 2) })
		require.Equal(t, want, people)
	}
	page(s.Client, 4)
	page(s.Client, 0)
	page(it.WithDamagedRows(&it.Client{Stack: s.Instance(t), T: t}), 2)
}
