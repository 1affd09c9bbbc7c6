// Package table is the one DynamoDB table of a region: keys, items, strongly
// consistent reads, counters and transactions, with one policy for retries. It
// is the only package that imports the DynamoDB SDK. What an item means, and
// every key below an organization or an event, belongs to the record packages.
package table

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lectern/shared/lru"
)

var (
	// ErrNotFound is returned by Get for a key under which nothing stands.
	ErrNotFound = errors.New("table: not found")
	// ErrStale is returned by Transact when the condition of a write failed
	// that has no error of its own: read again, decide again, write again.
	ErrStale = errors.New("table: stale")
	// ErrBusy is returned when the table did not serve a call within the tries
	// it is given. A transaction is then surely not done, unless the error is
	// ErrInDoubt too; a counter may have counted.
	ErrBusy = errors.New("table: busy")
	// ErrInDoubt is the ErrBusy of a transaction that may have been done: the
	// answer to one of its tries was lost, or its caller did not wait for it.
	ErrInDoubt = fmt.Errorf("%w: a write may have been done", ErrBusy)
	// ErrTooBig is returned by Transact, before anything is sent, for more than
	// MaxWrites writes or more than MaxBytes bytes.
	ErrTooBig = errors.New("table: transaction too big")
)

// Client is what Table needs of DynamoDB: *dynamodb.Client, or a door in front
// of it that makes faults.
type Client interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	TransactGetItems(context.Context, *dynamodb.TransactGetItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactGetItemsOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// Table reads and writes the items of one table. It is safe for concurrent use.
type Table struct {
	// Now tells which items have expired; time.Now unless it is replaced
	// before the first use.
	Now func() time.Time
	// Log is told of items that disagree for longer than a write takes to be visible;
	// nil tells nobody. It is set before the first use.
	Log *slog.Logger

	client Client
	name   string
	// lenient has reads return an item whose data cannot be inflated without its data.
	lenient bool
	// marked has the keys under which this process has put a mark.
	marked *lru.Cache[Key, struct{}]
}

// New makes a Table of the DynamoDB table called name.
func New(c Client, name string) *Table {
	return &Table{Now: time.Now, client: c, name: name, marked: lru.New[Key, struct{}](maxMarks)}
}

// Lenient returns the Table for a reader that judges damaged items: data that cannot be
// inflated is missing from its items and is no error.
func (t *Table) Lenient() *Table {
	lenient := *t
	lenient.lenient = true
	return &lenient
}

// Config says where DynamoDB is.
type Config struct {
	// Endpoint is the address of a local engine. Empty, and with https, it is
	// AWS or an emulator of it, with what the environment says.
	Endpoint string
	// Region is the AWS region, such as us-east-1; empty means the environment's.
	// Most local engines do not look at it.
	Region string
}

// localConnections is how many idle connections a client of a local engine
// keeps: more than the parallel calls of 16 callers, so that none is reopened.
const localConnections = 64

// Open makes a client. Its own retries are off since Table retries, once, for
// every client and the same for all.
func Open(ctx context.Context, c Config) (*dynamodb.Client, error) {
	if strings.HasPrefix(c.Endpoint, "http://") {
		return openLocal(c), nil
	}
	var options []func(*config.LoadOptions) error
	if c.Region != "" {
		options = append(options, config.WithRegion(c.Region))
	}
	cfg, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("table: load AWS configuration: %w", err)
	}
	return dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.Retryer = aws.NopRetryer{}
		o.HTTPClient = wholeBody{ours(o.HTTPClient)}
		if c.Endpoint != "" {
			o.BaseEndpoint = &c.Endpoint
		}
	}), nil
}

// ours is the client that the SDK was configured with, as one whose idle
// connections can be closed.
func ours(configured dynamodb.HTTPClient) *http.Client {
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if b, ok := configured.(*awshttp.BuildableClient); ok {
		client.Transport, client.Timeout = b.GetTransport(), b.GetTimeout()
	}
	return client
}

// openLocal builds the client by hand: the default configuration would read a
// developer's own profile, proxy and AWS_CA_BUNDLE.
func openLocal(c Config) *dynamodb.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil
	transport.MaxIdleConns = localConnections
	transport.MaxIdleConnsPerHost = localConnections
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: &c.Endpoint,
		Region:       cmp.Or(c.Region, "local"),
		Credentials:  localCredentials(os.Getenv),
		HTTPClient:   wholeBody{&http.Client{Transport: transport}},
		Retryer:      aws.NopRetryer{},
	})
}

// localCredentials are the role's where a function runs: Lambda, and what stands
// for it, puts them into its environment, and an emulator checks them. Everywhere
// else an environment may hold a developer's own, which no engine needs.
func localCredentials(getenv func(string) string) aws.CredentialsProvider {
	if getenv("AWS_LAMBDA_FUNCTION_NAME") == "" {
		return credentials.NewStaticCredentialsProvider("local", "local", "")
	}
	return credentials.NewStaticCredentialsProvider(
		getenv("AWS_ACCESS_KEY_ID"), getenv("AWS_SECRET_ACCESS_KEY"), getenv("AWS_SESSION_TOKEN"))
}

// wholeBody sends the body of a request as bytes in memory. The SDK's own reader
// may be closed while net/http still asks it for its end, when the answer comes
// quickly; net/http then closes the connection, below an answer not yet read.
type wholeBody struct{ *http.Client }

// Do sends a request. When it has had no answer in its time, the connections that
// lie idle may have died with its own, while the process was frozen: the next try
// opens a new one.
func (w wholeBody) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		body := bytes.NewBuffer(make([]byte, 0, max(r.ContentLength, 0)+bytes.MinRead))
		if _, err := body.ReadFrom(r.Body); err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(body)
	}
	answer, err := w.Client.Do(r) //nolint:gosec // the address is the configured table's
	if err != nil && errors.Is(context.Cause(r.Context()), errSlow) {
		w.CloseIdleConnections()
	}
	return answer, err
}

// Create makes the table if it is not there and waits until it serves: for
// local engines and tests; on AWS the stack makes it.
func Create(ctx context.Context, client *dynamodb.Client, name string) error {
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:   &name,
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String(attrPK), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String(attrSK), AttributeType: types.ScalarAttributeTypeS},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String(attrPK), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String(attrSK), KeyType: types.KeyTypeRange},
		},
	})
	if exists := (*types.ResourceInUseException)(nil); err != nil && !errors.As(err, &exists) {
		return fmt.Errorf("table: create %s: %w", name, err)
	}
	waiter := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 20*time.Millisecond, time.Second
	})
	if err := waiter.Wait(ctx, &dynamodb.DescribeTableInput{TableName: &name}, time.Minute); err != nil {
		return fmt.Errorf("table: create %s: wait: %w", name, err)
	}
	return nil
}

// Org is the partition key of an organization, and the beginning of every key
// that belongs to it (design.md section 3).
func Org(org int64) string { return "O#" + strconv.FormatInt(org, 10) }

// Event is the partition key of an event, and the beginning of every key that
// belongs to it.
func Event(org, event int64) string { return Org(org) + "#E#" + strconv.FormatInt(event, 10) }
