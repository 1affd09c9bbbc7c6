// Package table reads and writes the DynamoDB table of a region: keys, items, strongly
// consistent reads, counters and transactions, with one policy for retries. Of the service, only
// this package imports the DynamoDB SDK. The meaning of an item, and every key below an
// organization or an event, belongs to the record packages.
//
// Read table.go, item.go, read.go, query.go, write.go, transact.go, retry.go; then count.go,
// numbers.go and deflate.go.
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
	// ErrNotFound is the error of Get for a key without an item.
	ErrNotFound = errors.New("table: not found")
	// ErrStale is the error of Transact for a failed condition of a write without an error
	// of its own. The caller should read, decide and write again.
	ErrStale = errors.New("table: stale")
	// ErrBusy is the error of a call that the table did not serve in all tries. The
	// transaction is not done, unless the error is ErrInDoubt too. A counter may have counted.
	ErrBusy = errors.New("table: busy")
	// ErrInDoubt is the ErrBusy of a transaction that may have been done: the answer to a
	// try was lost, or the caller did not wait.
	ErrInDoubt = fmt.Errorf("%w: a write may have been done", ErrBusy)
	// ErrTooBig is the error of Transact for more than MaxWrites writes or MaxBytes bytes.
	// Nothing was sent.
	ErrTooBig = errors.New("table: transaction too big")
)

// Client is the part of DynamoDB that Table uses: *dynamodb.Client, or a door of
// localstack/local/faulty.
type Client interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	TransactGetItems(context.Context, *dynamodb.TransactGetItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactGetItemsOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput,
		...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// Table reads and writes the items of a table. It is safe for concurrent use.
type Table struct {
	// Now decides which items have expired; time.Now unless it is replaced before the first
	// use.
	Now func() time.Time
	// Log, unless nil, gets items that disagree for longer than a write takes to become
	// visible. It is set before the first use.
	Log *slog.Logger

	client Client
	name   string
	// lenient makes reads return an item with damaged data without the data.
	lenient bool
	// marked has the keys of the marks that this process has put.
	marked *lru.Cache[Key, struct{}]
	// reserves has numbers of counters that this process has taken ahead.
	reserves *lru.Cache[Key, *reserve]
}

// New returns the Table of the DynamoDB table called name.
func New(c Client, name string) *Table {
	return &Table{
		Now: time.Now, client: c, name: name,
		marked: lru.New[Key, struct{}](maxMarks), reserves: lru.New[Key, *reserve](maxReserves),
	}
}

// Lenient returns the Table for a reader that judges damaged items. An item whose data cannot
// be inflated has no data and is no error.
func (t *Table) Lenient() *Table {
	lenient := *t
	lenient.lenient = true
	return &lenient
}

// Config is the address of DynamoDB.
type Config struct {
	// Endpoint is the address of a local engine, with http. With https or empty it is AWS or
	// an emulator of AWS, configured by the environment.
	Endpoint string
	// Region is the AWS region, such as us-east-1; empty means the environment's. Most local
	// engines ignore the region.
	Region string
}

// localConnections is the number of idle connections to a local engine: more than the
// parallel calls of 16 callers, so that no connection is opened again.
const localConnections = 64

// Open returns a client without retries of its own: Table retries.
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
		o.HTTPClient = wholeBody{closable(o.HTTPClient)}
		if c.Endpoint != "" {
			o.BaseEndpoint = &c.Endpoint
		}
	}), nil
}

// closable returns the SDK's configured client as a client whose idle connections can be
// closed.
func closable(configured dynamodb.HTTPClient) *http.Client {
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if b, ok := configured.(*awshttp.BuildableClient); ok {
		client.Transport, client.Timeout = b.GetTransport(), b.GetTimeout()
	}
	return client
}

// HTTPClient returns the client that a client of another service sends its calls with: the
// SDK's configured client, or for nil a client for an engine on one machine. See wholeBody.
func HTTPClient(configured aws.HTTPClient) aws.HTTPClient {
	if configured == nil {
		return localHTTP()
	}
	return wholeBody{closable(configured)}
}

// openLocal returns a client that does not read a developer's own profile, proxy and
// AWS_CA_BUNDLE, as the default configuration would.
func openLocal(c Config) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: &c.Endpoint,
		Region:       cmp.Or(c.Region, "local"),
		Credentials:  localCredentials(os.Getenv),
		HTTPClient:   localHTTP(),
		Retryer:      aws.NopRetryer{},
	})
}

// localHTTP returns a client without a proxy for an engine on one machine.
func localHTTP() wholeBody {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil
	transport.MaxIdleConns = localConnections
	transport.MaxIdleConnsPerHost = localConnections
	return wholeBody{&http.Client{Transport: transport}}
}

// localCredentials returns the credentials of the role in a function's environment, where
// Lambda puts them and an emulator checks them. Any other environment may have a developer's
// own credentials; no engine needs those.
func localCredentials(getenv func(string) string) aws.CredentialsProvider {
	if getenv("AWS_LAMBDA_FUNCTION_NAME") == "" {
		return credentials.NewStaticCredentialsProvider("local", "local", "")
	}
	return credentials.NewStaticCredentialsProvider(
		getenv("AWS_ACCESS_KEY_ID"), getenv("AWS_SECRET_ACCESS_KEY"), getenv("AWS_SESSION_TOKEN"))
}

// maxCopied is the length of the longest body that wholeBody copies. Parts of forms are longer.
const maxCopied = 4 << 20

// wholeBody sends the body of a request from memory of its own. After a quick answer the SDK closes its own
// reader, while net/http still looks for the end of the body. net/http then closes the connection before the
// answer is read. A longer body is not copied, and net/http finds its end without a look at the reader.
type wholeBody struct{ *http.Client }

// limitedBody is a body that ends after its length.
type limitedBody struct {
	io.Reader
	io.Closer
}

// Do sends a request. After a request without an answer in time it closes the idle connections, since
// all may have died while the process was frozen. The next try opens a new connection.
func (w wholeBody) Do(r *http.Request) (*http.Response, error) {
	switch {
	case r.Body == nil:
	case r.ContentLength > maxCopied:
		// The SDK closes the reader after Do, so that no byte is read any more once the memory is used again.
		r.Body = limitedBody{io.LimitReader(r.Body, r.ContentLength), r.Body}
	default:
		body := bytes.NewBuffer(make([]byte, 0, max(r.ContentLength, 0)+bytes.MinRead))
		if _, err := body.ReadFrom(r.Body); err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(body)
	}
	answer, err := w.Client.Do(r) //nolint:gosec // the address is the configured table's
	if err != nil && errors.Is(r.Context().Err(), context.DeadlineExceeded) {
		w.CloseIdleConnections()
	}
	return answer, err
}

// Create creates the table of a local engine, if the table does not exist, and waits until
// the table serves. On AWS the stack creates the table.
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

// Org returns the partition key of an organization. Every key that belongs to the
// organization begins with it.
func Org(org int64) string { return "O#" + strconv.FormatInt(org, 10) }

// Event returns the partition key of an event. Every key that belongs to the event begins
// with it.
func Event(org, event int64) string { return Org(org) + "#E#" + strconv.FormatInt(event, 10) }
