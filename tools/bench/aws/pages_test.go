package aws_test

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lectern/shared/table"
)

// callTime is what a call of the table takes in virtual time: about what DynamoDB needs.
const callTime = 5 * time.Millisecond

// pages stands between the doors and the engine. While it keeps pages, it answers a Query
// that it has answered before from memory, with the same units, after callTime. That is
// right only while nobody writes to the rows.
type pages struct {
	table.Client

	mu    sync.Mutex
	known map[string]*dynamodb.QueryOutput
}

// keep begins to keep pages; forget ends it.
func (p *pages) keep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known = map[string]*dynamodb.QueryOutput{}
}

func (p *pages) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known = nil
}

// Query answers a page from memory where it is kept. Callers only read what they get.
func (p *pages) Query(
	ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options),
) (*dynamodb.QueryOutput, error) {
	page := pageOf(in)
	p.mu.Lock()
	out := p.known[page]
	p.mu.Unlock()
	if out != nil {
		time.Sleep(callTime)
		return out, nil
	}
	out, err := p.Client.Query(ctx, in, o...)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil && p.known != nil {
		p.known[page] = out
	}
	return out, err
}

// pageOf names the page that a Query asks for.
func pageOf(in *dynamodb.QueryInput) string {
	values := in.ExpressionAttributeValues
	return strings.Join([]string{text(values, ":pk"), text(values, ":from"), text(values, ":to"),
		text(in.ExclusiveStartKey, "SK"), aws.ToString(in.ProjectionExpression)}, " ")
}

// text returns the text under a name, empty where there is none.
func text(all map[string]types.AttributeValue, name string) string {
	if value, ok := all[name].(*types.AttributeValueMemberS); ok {
		return value.Value
	}
	return ""
}

// counter is the client of one instance. It counts the read units of its pages, and those
// of pages of rows that it had read before. Versions are read anew for each search.
type counter struct {
	table.Client

	mu          sync.Mutex
	seen        map[string]bool
	read, twice float64
}

// Query reads a page and counts it.
func (c *counter) Query(
	ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options),
) (*dynamodb.QueryOutput, error) {
	page := pageOf(in)
	out, err := c.Client.Query(ctx, in, o...)
	if err != nil || out.ConsumedCapacity == nil || out.ConsumedCapacity.CapacityUnits == nil {
		return out, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read += *out.ConsumedCapacity.CapacityUnits
	if c.seen[page] && !strings.HasSuffix(text(in.ExpressionAttributeValues, ":pk"), "#V") {
		c.twice += *out.ConsumedCapacity.CapacityUnits
	}
	c.seen[page] = true
	return out, nil
}

// units returns the read units of pages, and those of pages read again.
func (c *counter) units() (read, twice float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read, c.twice
}
