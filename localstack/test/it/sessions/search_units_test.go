package sessions_test

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/table"
)

// TestHowOftenASearchReads beside authentication: a warm one the versions of the event
// and of the organization, one after a write the row and the body too.
func TestHowOftenASearchReads(t *testing.T) {
	c := &calls{}
	s := it.NewPeople(&it.Client{Stack: stacktest.Start(t, stacktest.WithClient(func(inner table.Client) table.Client {
		c.Client = inner
		return c
	})), T: t}, "Ann", "Bob")
	during := func(do func()) (queries, batches int64) {
		c.queries.Store(0)
		c.batches.Store(0)
		do()
		return c.queries.Load(), c.batches.Load()
	}
	for i := range 3 {
		s.Create(200, object{"title": fmt.Sprint("S", i), "participants": []object{s.Participant("Ann", "speaker"), s.Participant("Bob", "speaker")}})
	}
	for _, check := range []struct {
		name string
		do   func()
	}{
		{"sessions", func() { s.Search(object{}) }},
		{"speakers", func() { s.Do(200, http.MethodPost, "/speakers", object{}) }},
		{"contacts", func() { s.Do(200, http.MethodPost, "/contacts", object{}) }},
	} {
		check.do()
		queries, own := during(check.do)
		require.EqualValues(t, 2, queries, check.name)
		s.Do(200, http.MethodPut, "/contacts/"+s.IDs["Ann"], object{"first_name": check.name})
		queries, batches := during(check.do)
		require.EqualValues(t, 2, queries, check.name)
		require.Equal(t, own+2, batches, "%s: the row, the body", check.name)
	}
}

// calls counts the calls that read many items.
type calls struct {
	table.Client
	queries, batches atomic.Int64
}

func (c *calls) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	c.queries.Add(1)
	return c.Client.Query(ctx, in, o...)
}

func (c *calls) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	c.batches.Add(1)
	return c.Client.BatchGetItem(ctx, in, o...)
}
