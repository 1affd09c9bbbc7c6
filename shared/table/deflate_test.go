package table_test

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/shared/table"
)

// TestDictionaryNeverChanges holds the text that deflated records refer to: records in
// tables cannot be read without it.
func TestDictionaryNeverChanges(t *testing.T) {
	text, err := os.ReadFile("dictionary/1.txt")
	require.NoError(t, err)
	require.Equal(t, "0455d665dc8f81c5a33e8fcbf04c43ef123a7150c2bbae218910c080ef96d374", fmt.Sprintf("%x", sha256.Sum256(text)))
}

// deflate returns the data as the next release stores it.
func deflate(t *testing.T, data string) []byte {
	t.Helper()
	text, err := os.ReadFile("dictionary/1.txt")
	require.NoError(t, err)
	out := bytes.NewBuffer([]byte{1})
	w, err := flate.NewWriterDict(out, flate.DefaultCompression, text)
	require.NoError(t, err)
	_, err = w.Write([]byte(data))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

// TestDeflatedDataIsRead reads an item that was stored past the table, and replaces it
// by one that stays and by one that expires.
func TestDeflatedDataIsRead(t *testing.T) {
	t.Run("stays", func(t *testing.T) { readsDeflated(t, 0) })
	t.Run("expires", func(t *testing.T) { readsDeflated(t, 1<<40) })
}

func readsDeflated(t *testing.T, expires int64) {
	t.Helper()
	client, name := open(t)
	tbl := table.New(client, name)
	insert(t, tbl, item("x"))
	data := `"` + strings.Repeat("What was measured. ", 200) + `"`
	_, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: &name, Key: keyOf(key("x").PK, "x"),
		UpdateExpression: aws.String("SET z = :z REMOVE d"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":z": &types.AttributeValueMemberB{Value: deflate(t, data)}}})
	require.NoError(t, err)
	got, err := tbl.Get(t.Context(), key("x"))
	require.NoError(t, err)
	require.Equal(t, data, string(got.Data))
	many, err := tbl.GetMany(t.Context(), []table.Key{key("x")})
	require.NoError(t, err)
	require.Equal(t, data, string(many[key("x")].Data))
	next := table.Item{Key: key("x"), Version: got.Version + 1, Data: []byte(`"short"`), Expires: expires}
	require.NoError(t, tbl.Transact(t.Context(), table.Replace(next, got.Version)))
	got, err = tbl.Get(t.Context(), key("x"))
	require.NoError(t, err)
	require.Equal(t, `"short"`, string(got.Data))
	out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &name, Key: keyOf(key("x").PK, "x")})
	require.NoError(t, err)
	require.NotContains(t, out.Item, "z")
}

// TestInflateRefusesWhatItCannotRead gives it data of no dictionary and data cut short.
func TestInflateRefusesWhatItCannotRead(t *testing.T) {
	short := deflate(t, strings.Repeat("What was measured. ", 200))
	for _, wrong := range [][]byte{nil, {}, {1}, append([]byte{2}, short[1:]...), short[:len(short)/2]} {
		_, err := table.Inflate(wrong)
		require.Error(t, err)
	}
}
