package it_test

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	attribute "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/localstack/verify"
	"lectern/shared/table"
)

// The fixture: the items of a table that an earlier release wrote, a line each; and
// what that release answered. Its README says how both were made.
const (
	upgradeItems   = "testdata/upgrade/table.jsonl.gz"
	upgradeAnswers = "testdata/upgrade/answers.json.gz"
)

// farFuture is the time to live that items with one get in a dump: the fixture must
// not pass away.
const farFuture = 4_102_444_800

// attributes is an item as DynamoDB has it.
type attributes = map[string]attribute.AttributeValue

// dumpLine is an item in a dump: texts and numbers as JSON has them, bytes as an object.
type dumpLine map[string]any

type inBytes struct {
	B string `json:"b"`
}

// lineOf writes an item as a line.
func lineOf(t *testing.T, item attributes) dumpLine {
	t.Helper()
	l := dumpLine{}
	for name, value := range item {
		switch v := value.(type) {
		case *attribute.AttributeValueMemberS:
			l[name] = v.Value
		case *attribute.AttributeValueMemberN:
			l[name] = json.Number(v.Value)
		case *attribute.AttributeValueMemberB:
			l[name] = inBytes{base64.StdEncoding.EncodeToString(v.Value)}
		default:
			require.Fail(t, "an attribute of no kind that a table has", "%s: %T", name, value)
		}
	}
	if _, passes := l["ttl"]; passes {
		l["ttl"] = farFuture
	}
	return l
}

// item reads a line.
func (l dumpLine) item() (attributes, error) {
	item := attributes{}
	for name, value := range l {
		switch v := value.(type) {
		case string:
			item[name] = &attribute.AttributeValueMemberS{Value: v}
		case json.Number:
			item[name] = &attribute.AttributeValueMemberN{Value: v.String()}
		case map[string]any:
			text, _ := v["b"].(string)
			data, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				return nil, err
			}
			item[name] = &attribute.AttributeValueMemberB{Value: data}
		}
	}
	return item, nil
}

// scan reads all items of a table in the order of their keys.
func (e engine) scan(t *testing.T) (lines []dumpLine) {
	t.Helper()
	pages := dynamodb.NewScanPaginator(e.client, &dynamodb.ScanInput{TableName: &e.name, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		require.NoError(t, err)
		for _, item := range page.Items {
			lines = append(lines, lineOf(t, item))
		}
	}
	text := func(l dumpLine, name string) string { s, _ := l[name].(string); return s }
	slices.SortFunc(lines, func(a, b dumpLine) int {
		return cmp.Or(cmp.Compare(text(a, "PK"), text(b, "PK")), cmp.Compare(text(a, "SK"), text(b, "SK")))
	})
	return lines
}

// loadDump puts all items of a dump into a table past the service.
func loadDump(ctx context.Context, path, url, name string) error {
	client, err := table.Open(ctx, table.Config{Endpoint: url})
	if err != nil {
		return err
	}
	var puts []attribute.WriteRequest
	return unpackLines(path, func(l dumpLine, last bool) error {
		if !last {
			item, err := l.item()
			if err != nil {
				return err
			}
			puts = append(puts, attribute.WriteRequest{PutRequest: &attribute.PutRequest{Item: item}})
		}
		if len(puts) < 25 && !last || len(puts) == 0 {
			return nil
		}
		_, err := client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]attribute.WriteRequest{name: puts}})
		puts = nil
		return err
	})
}

// unpackLines gives each line of a packed file, and then says that it was the last.
func unpackLines(path string, give func(l dumpLine, last bool) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bufio.NewReader(unpacked))
	decoder.UseNumber()
	for {
		l := dumpLine{}
		switch err := decoder.Decode(&l); {
		case errors.Is(err, io.EOF):
			return give(nil, true)
		case err != nil:
			return err
		}
		if err := give(l, false); err != nil {
			return err
		}
	}
}

// pack writes values as lines of JSON into a packed file.
func pack[V any](t *testing.T, path string, values ...V) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
	file, err := os.Create(path)
	require.NoError(t, err)
	packed, err := gzip.NewWriterLevel(file, gzip.BestCompression)
	require.NoError(t, err)
	encoder := json.NewEncoder(packed)
	for _, value := range values {
		require.NoError(t, encoder.Encode(value))
	}
	require.NoError(t, packed.Close())
	require.NoError(t, file.Close())
}

// whole checks the table as the operator's command does.
func (e engine) whole(t *testing.T) *verify.Report {
	t.Helper()
	report, err := verify.Table(t.Context(), e.client, e.name)
	require.NoError(t, err)
	require.Empty(t, report.Problems)
	return report
}
