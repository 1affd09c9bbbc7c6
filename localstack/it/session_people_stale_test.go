package it_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	attribute "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/localstack/stacktest"
	"lectern/shared/table"
)

// checkpoint stands between the service and the engine and tells a test where its
// calls are.
type checkpoint struct {
	table.Client
	// querying is called before a query of a partition and queried after it, batched
	// before a batch is read and writing before a transaction; nil for nothing to do.
	querying, queried, batched atomic.Pointer[func(keys string)]
	writing                    atomic.Pointer[func(items int)]
}

func (c *checkpoint) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	if do := c.querying.Load(); do != nil {
		(*do)(textsOf(in.ExpressionAttributeValues))
	}
	out, err := c.Client.Query(ctx, in, o...)
	if do := c.queried.Load(); do != nil {
		(*do)(textsOf(in.ExpressionAttributeValues))
	}
	return out, err
}

func (c *checkpoint) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	if do := c.batched.Load(); do != nil {
		for _, asked := range in.RequestItems {
			for _, key := range asked.Keys {
				(*do)(textsOf(key))
			}
		}
	}
	return c.Client.BatchGetItem(ctx, in, o...)
}

func (c *checkpoint) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	if do := c.writing.Load(); do != nil {
		(*do)(len(in.TransactItems))
	}
	return c.Client.TransactWriteItems(ctx, in, o...)
}

// startCheckpoint starts a region behind a checkpoint.
func startCheckpoint(t *testing.T) (*desk, *checkpoint) {
	t.Helper()
	c := &checkpoint{}
	return &desk{stacktest.Start(t, stacktest.AsAWS(), stacktest.WithClient(func(inner table.Client) table.Client {
		c.Client = inner
		return c
	})), t}, c
}

func textsOf(values map[string]attribute.AttributeValue) (all string) {
	for _, value := range values {
		if text, ok := value.(*attribute.AttributeValueMemberS); ok {
			all += " " + text.Value + " "
		}
	}
	return all
}

// TestASearchTrustsOnlyWhatItValidated: a search of contacts that began before a
// change, and ends while sessions are searched after it, leaves rows in memory that
// say nothing about the change.
func TestASearchTrustsOnlyWhatItValidated(t *testing.T) {
	d, c := startCheckpoint(t)
	s := newTroupe(d, "Ann")
	s.create(200, object{"title": "A", "participants": []object{s.part("Ann", "speaker")}})
	elsewhere := s.elsewhere()
	elsewhere.person(emailOf("Ann"))
	there := &desk{s.Instance(t), t}
	found := (&desk{there.In(elsewhere.Event), t}).send(200, http.MethodPost, "/contacts", object{"filters": object{"search": "ann"}})
	require.Equal(t, []string{"Ann"}, texts(found.list("results"), "first_name"), "the record is in memory, as it was")

	event := fmt.Sprintf("#E#%d#", s.Event)
	reads, resume, searched := make(chan string, 10), make(chan struct{}), make(chan struct{})
	hold := func(keys string) {
		reads <- keys
		if strings.Contains(keys, event+"RC ") {
			<-resume
		}
	}
	c.queried.Store(&hold)
	go func() {
		defer close(searched)
		attempt(t, there.Stack, http.MethodPost, there.EventPath("/contacts"), object{"filters": object{"search": "nobody"}})
	}()
	for range 3 { // The versions of the records, and the associations with theirs.
		<-reads
	}
	c.queried.Store(nil)
	s.send(200, http.MethodPut, "/contacts/"+s.ids["Ann"], object{"first_name": "Zoe"})

	open := sync.OnceFunc(func() { close(resume) })
	release := func(keys string) {
		if strings.Contains(keys, event+"S#") {
			open()
			<-searched
		}
	}
	c.batched.Store(&release)
	require.Equal(t, []string{"Zoe speaker"}, billed(there.search(object{}).Results[0]))
}
