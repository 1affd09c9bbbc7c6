package it

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	attribute "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/blob"
	"lectern/shared/bus"
	"lectern/shared/change"
	"lectern/shared/table"
	"lectern/shared/write"
)

// Failing is a client that answers transactions of more than one write with Cause while On
// is set.
type Failing struct {
	table.Client
	Cause error
	On    atomic.Bool
}

// Gate is a client that calls functions of the test around the calls of the table.
// Querying and Queried get the strings of a query's key, before and after; Batched gets
// the strings of each key of a batch; Writing gets the number of a transaction's items.
// Functions may be absent.
type Gate struct {
	table.Client
	Querying, Queried, Batched atomic.Pointer[func(keys string)]
	Writing                    atomic.Pointer[func(items int)]
}

// TransactWriteItems refuses the call with the cause, or forwards it.
func (c *Failing) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput,
	o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	if c.On.Load() && len(in.TransactItems) > 1 {
		return nil, c.Cause
	}
	return c.Client.TransactWriteItems(ctx, in, o...)
}

// Query calls Querying, forwards the query, and calls Queried.
func (c *Gate) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	if do := c.Querying.Load(); do != nil {
		(*do)(StringsOf(in.ExpressionAttributeValues))
	}
	out, err := c.Client.Query(ctx, in, o...)
	if do := c.Queried.Load(); do != nil {
		(*do)(StringsOf(in.ExpressionAttributeValues))
	}
	return out, err
}

// BatchGetItem calls Batched for each key and forwards the batch.
func (c *Gate) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput,
	o ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	if do := c.Batched.Load(); do != nil {
		for _, asked := range in.RequestItems {
			for _, key := range asked.Keys {
				(*do)(StringsOf(key))
			}
		}
	}
	return c.Client.BatchGetItem(ctx, in, o...)
}

// TransactWriteItems calls Writing and forwards the transaction.
func (c *Gate) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput,
	o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	if do := c.Writing.Load(); do != nil {
		(*do)(len(in.TransactItems))
	}
	return c.Client.TransactWriteItems(ctx, in, o...)
}

// StartBehindGate starts a region that acts as AWS and whose calls of the table pass a
// gate.
func StartBehindGate(t *testing.T) (*Client, *Gate) {
	t.Helper()
	c := &Gate{}
	return &Client{stacktest.Start(t, stacktest.AsAWS(), stacktest.WithClient(func(inner table.Client) table.Client {
		c.Client = inner
		return c
	})), t}, c
}

// WithDamagedRows changes the versions of the organization's shards, so that no row can be
// proved current, as after a restore of torn transactions.
func WithDamagedRows(d *Client) *Client {
	d.T.Helper()
	BumpShards(d, 1)
	return d
}

// BumpShards adds to the versions of all shards of the organization's contacts and
// accounts.
func BumpShards(d *Client, by int64) {
	d.T.Helper()
	var writes []table.Write
	for letter, shards := range map[string]int{"C": 64, "A": 4} {
		for shard := range shards {
			writes = append(writes, table.Bump(table.Key{PK: table.Org(d.Org) + "#V", SK: fmt.Sprintf("%s#%02x", letter, shard)}, by))
		}
	}
	require.NoError(d.T, d.Table(d.T).Transact(d.T.Context(), writes...))
}

// StringsOf returns the strings among attribute values, each between spaces.
func StringsOf(values Attributes) (all string) {
	for _, value := range values {
		if text, ok := value.(*attribute.AttributeValueMemberS); ok {
			all += " " + text.Value + " "
		}
	}
	return all
}

// PutBroken puts an item with data that nobody can inflate.
func (e Engine) PutBroken(t testing.TB, item table.Item) {
	t.Helper()
	all := KeyOf(item.Key)
	all["v"] = &attribute.AttributeValueMemberN{Value: "1"}
	all["z"] = &attribute.AttributeValueMemberB{Value: []byte{9, 9}}
	if item.Kind != "" {
		all["k"] = &attribute.AttributeValueMemberS{Value: item.Kind}
	}
	_, err := e.Client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &e.Table, Item: all})
	require.NoError(t, err)
}

// ErrEnded is the error of each call after the end of a process.
var ErrEnded = errors.New("the process has ended")

// Process counts the calls of a process. Its last call is done without an answer, and no later call is done.
type Process struct {
	table.Client
	// Queue and Bucket do the calls of Send and Do.
	Queue  bus.Queue
	Bucket http.RoundTripper
	// Hook, unless nil, is called before the last call, and the process goes on.
	Hook func()
	left atomic.Int64
}

// NewProcess returns a process that ends at a call of the table.
func NewProcess(client table.Client, calls int64) *Process {
	p := &Process{Client: client}
	p.left.Store(calls)
	return p
}

// StartProcess returns a process that ends at a call of the table, the bucket or the queue, and an environment of a
// region whose table and bucket it calls.
func StartProcess(t testing.TB, s *stacktest.Stack, queue bus.Queue, calls int64) (*Process, api.Env) {
	t.Helper()
	url, name := s.Engine(t)
	client, err := table.Open(t.Context(), table.Config{Endpoint: url})
	require.NoError(t, err)
	p, env := NewProcess(client, calls), s.Env(t)
	p.Queue, p.Bucket = queue, http.DefaultTransport
	place, err := env.Blobs.Find(t.Context())
	require.NoError(t, err)
	place.Config.HTTPClient = p
	env.Blobs = &blob.Store{Find: func(context.Context) (blob.Place, error) { return place, nil }}
	env.Table = table.New(p, name)
	return p, env
}

// Left returns the number of calls before the end; less than 0 after it.
func (p *Process) Left() int64 { return p.left.Load() }

// Begin counts a call. After the end of the process it returns ErrEnded, and the call is not to be done.
func (p *Process) Begin() (Counted, error) {
	left := p.left.Add(-1)
	switch {
	case p.Hook == nil && left < -1:
		return Counted{}, ErrEnded
	case p.Hook != nil && left == 0:
		p.Hook()
	}
	return Counted{p.Hook == nil && left < 0}, nil
}

// Counted is a call that is to be done.
type Counted struct{ last bool }

// Answer returns the error of the call once it is done, and ErrEnded for the last call of the process.
func (c Counted) Answer(err error) error {
	if c.last {
		return ErrEnded
	}
	return err
}

// GetItem forwards the call.
func (p *Process) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return through(ctx, p, p.Client.GetItem, in, o)
}

// BatchGetItem forwards the call.
func (p *Process) BatchGetItem(
	ctx context.Context, in *dynamodb.BatchGetItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.BatchGetItemOutput, error) {
	return through(ctx, p, p.Client.BatchGetItem, in, o)
}

// Query forwards the call.
func (p *Process) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return through(ctx, p, p.Client.Query, in, o)
}

// TransactWriteItems forwards the call.
func (p *Process) TransactWriteItems(
	ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options),
) (*dynamodb.TransactWriteItemsOutput, error) {
	return through(ctx, p, p.Client.TransactWriteItems, in, o)
}

// TransactGetItems forwards the call.
func (p *Process) TransactGetItems(
	ctx context.Context, in *dynamodb.TransactGetItemsInput, o ...func(*dynamodb.Options),
) (*dynamodb.TransactGetItemsOutput, error) {
	return through(ctx, p, p.Client.TransactGetItems, in, o)
}

// UpdateItem forwards the call.
func (p *Process) UpdateItem(
	ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.UpdateItemOutput, error) {
	return through(ctx, p, p.Client.UpdateItem, in, o)
}

// call is a call of the table.
type call[I, O any] func(context.Context, *I, ...func(*dynamodb.Options)) (*O, error)

// through does a call of the table.
func through[I, O any](ctx context.Context, p *Process, do call[I, O], in *I, o []func(*dynamodb.Options)) (*O, error) {
	c, err := p.Begin()
	if err != nil {
		return nil, err
	}
	out, err := do(ctx, in, o...)
	return out, c.Answer(err)
}

// Send forwards the call (bus.Queue).
func (p *Process) Send(ctx context.Context, posts ...bus.Post) error {
	c, err := p.Begin()
	if err != nil {
		return err
	}
	return c.Answer(p.Queue.Send(ctx, posts...))
}

// Do calls the bucket.
func (p *Process) Do(r *http.Request) (*http.Response, error) {
	c, err := p.Begin()
	if err != nil {
		return nil, err
	}
	answer, err := p.Bucket.RoundTrip(r)
	if ended := c.Answer(nil); ended != nil && answer != nil {
		return nil, errors.Join(ended, answer.Body.Close())
	}
	return answer, c.Answer(err)
}

// UntilDone lets workers handle a message, each of which ends one call later than the one before, until the message
// of one does not fail. failures returns the number of messages that fail. UntilDone returns the number of workers
// that ended.
func UntilDone(failures func(calls int64) int) (ended int) {
	for failures(int64(ended+1)) > 0 {
		ended++
	}
	return ended
}

// Published returns the first message of a kind about a record, of the last hour.
func Published(t *testing.T, s *stacktest.Stack, kind, id string) []byte {
	t.Helper()
	for _, c := range ChangesOf(t, s) {
		if body := MessageOf(t, c, kind, id); body != nil {
			return body
		}
	}
	require.Fail(t, "nothing is published", "%s of %s", kind, id)
	return nil
}

// MessageOf returns the message of a kind about a record by which a change is published; nil without one.
func MessageOf(t *testing.T, c change.Record, kind, id string) []byte {
	t.Helper()
	for _, m := range bus.Messages(c) {
		if m.RecordID == id && m.Kind == kind {
			return Encode(t, map[string]any{"source": bus.Source, "detail": m})
		}
	}
	return nil
}

// Ending is the context of a request whose time ends once Late is set: then it has no time for another step of a write.
type Ending struct {
	context.Context
	Late *atomic.Bool
}

// Deadline implements context.Context.
func (c Ending) Deadline() (time.Time, bool) {
	if c.Late.Load() {
		return time.Now().Add(write.LastStep - time.Second), true
	}
	return time.Now().Add(time.Hour), true
}
