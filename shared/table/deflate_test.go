package table_test

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/shared/metering"
	"lectern/shared/table"
)

// TestDictionaryNeverChanges holds the text that deflated records refer to: records in
// tables cannot be read without it.
func TestDictionaryNeverChanges(t *testing.T) {
	text, err := os.ReadFile("dictionary/1.txt")
	require.NoError(t, err)
	require.Equal(t, "0455d665dc8f81c5a33e8fcbf04c43ef123a7150c2bbae218910c080ef96d374", fmt.Sprintf("%x", sha256.Sum256(text)))
}

// words returns so many bytes of JSON that can be deflated.
func words(n int) []byte {
	text := strings.Repeat(`{"title":"What was measured","description":"<p>What it means</p>"}, `, n/60+1)
	return []byte(`"` + strings.ReplaceAll(text[:n-2], `"`, "'") + `"`)
}

// TestDataIsDeflatedWhereThatSavesAUnit reads each item back in every way, and looks at
// the attribute that holds it and at the units of its write.
func TestDataIsDeflatedWhereThatSavesAUnit(t *testing.T) {
	for name, c := range map[string]struct {
		data     []byte
		deflated bool
		wcu      float64
	}{
		"short":         {words(900), false, 2},
		"long":          {words(3000), true, 2},
		"very long":     {words(350_000), true, 4},
		"random":        {random(3100), true, 6},
		"just too long": {words(1100), true, 2},
		"two units":     {random(1900), false, 4},
	} {
		t.Run(name, func(t *testing.T) {
			client, name := open(t)
			tbl := table.New(client, name)
			for way, write := range map[string]table.Write{
				"insert":  table.Insert(table.Item{Key: key("x"), Version: 1, Data: c.data}),
				"put":     table.Put(table.Item{Key: key("y"), Version: 1, Data: c.data}),
				"replace": table.Replace(table.Item{Key: key("z"), Version: 4, Data: c.data}, 3),
			} {
				if way == "replace" {
					insert(t, tbl, item("z"))
				}
				ctx, meter := metering.Measured(t.Context())
				require.NoError(t, tbl.Transact(ctx, write))
				_, _, _, wcu := meter.Totals()
				conforms(t, "a write costs by the bytes that are stored", wcu == c.wcu, wcu)
				got, err := tbl.Get(t.Context(), write.Key())
				require.NoError(t, err)
				require.Equal(t, string(c.data), string(got.Data))
				many, err := tbl.GetMany(t.Context(), []table.Key{write.Key()})
				require.NoError(t, err)
				require.Equal(t, string(c.data), string(many[write.Key()].Data))
				require.Equal(t, c.deflated, stored(t, client, name, write.Key())["z"] != nil, way)
				require.Equal(t, !c.deflated, stored(t, client, name, write.Key())["d"] != nil, way)
			}
		})
	}
}

// random returns so many bytes of JSON that deflate to about three quarters.
func random(n int) []byte {
	raw := make([]byte, n)
	_, _ = rand.Read(raw)
	return []byte(`"` + base64.StdEncoding.EncodeToString(raw)[:n-2] + `"`)
}

// stored reads the attributes of an item past the table.
func stored(t *testing.T, client table.Client, name string, key table.Key) map[string]types.AttributeValue {
	t.Helper()
	out, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &name, ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{"PK": textOf(key.PK), "SK": textOf(key.SK)}})
	require.NoError(t, err)
	return out.Item
}

// TestDataChangesItsForm stores long data over short and short over long.
func TestDataChangesItsForm(t *testing.T) {
	client, name := open(t)
	tbl := table.New(client, name)
	insert(t, tbl, table.Item{Key: key("x"), Version: 1, Data: words(3000), Expires: 1 << 40})
	for version, data := range map[int64][]byte{1: words(10)} {
		require.NoError(t, tbl.Transact(t.Context(), table.Replace(table.Item{Key: key("x"), Version: version + 1, Data: data}, version)))
	}
	all := stored(t, client, name, key("x"))
	require.Nil(t, all["z"])
	require.Nil(t, all["ttl"])
	require.NoError(t, tbl.Transact(t.Context(), table.Put(table.Item{Key: key("x"), Version: 3, Data: words(3000), Expires: 1 << 40})))
	all = stored(t, client, name, key("x"))
	require.Nil(t, all["d"])
	require.NotNil(t, all["ttl"])
	got, err := tbl.Get(t.Context(), key("x"))
	require.NoError(t, err)
	require.Equal(t, table.Item{Key: key("x"), Version: 3, Data: words(3000), Expires: 1 << 40}, got)
}

// TestDeflatedDataIsReadSideBySide has many goroutines deflate and inflate at once.
func TestDeflatedDataIsReadSideBySide(t *testing.T) {
	tbl := newTable(t)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for n := range 20 {
				one := table.Item{Key: key(fmt.Sprint(g, "-", n)), Version: 1, Data: random(1500 + 100*g + n)}
				err := tbl.Transact(t.Context(), table.Insert(one))
				got, err2 := tbl.Get(t.Context(), one.Key)
				if err != nil || err2 != nil || string(got.Data) != string(one.Data) {
					t.Errorf("item %s: %v, %v", one.SK, err, err2)
				}
			}
		})
	}
	wg.Wait()
}

// TestInflateRefusesWhatItCannotRead gives it data of no dictionary and data cut short.
func TestInflateRefusesWhatItCannotRead(t *testing.T) {
	client, name := open(t)
	insert(t, table.New(client, name), table.Item{Key: key("x"), Version: 1, Data: words(3000)})
	short := stored(t, client, name, key("x"))["z"].(*types.AttributeValueMemberB).Value
	data, err := table.Inflate(short)
	require.NoError(t, err)
	require.Equal(t, words(3000), data)
	for _, wrong := range [][]byte{nil, {}, {1}, append([]byte{2}, short[1:]...), short[:len(short)/2]} {
		_, err := table.Inflate(wrong)
		require.Error(t, err)
	}
}
