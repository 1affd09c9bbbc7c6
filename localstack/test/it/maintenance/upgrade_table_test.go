package maintenance_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	attribute "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/shared/table"
)

// The fixture: the items of a table that an earlier release wrote, a line each; and
// what that release answered. Its README says how both were made.
const (
	upgradeItems   = "testdata/upgrade/table.jsonl.gz"
	upgradeAnswers = "testdata/upgrade/answers.json.gz"
)

// loadDump puts all items of a dump into a table past the service.
func loadDump(ctx context.Context, path, url, name string) error {
	client, err := table.Open(ctx, table.Config{Endpoint: url})
	if err != nil {
		return err
	}
	var puts []attribute.WriteRequest
	return unpackLines(path, func(l it.DumpLine, last bool) error {
		if !last {
			item, err := l.Item()
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
func unpackLines(path string, give func(l it.DumpLine, last bool) error) error {
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
		l := it.DumpLine{}
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
