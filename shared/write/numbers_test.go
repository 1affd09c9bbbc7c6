package write_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/tabletest"
	"lectern/shared/table"
	"lectern/shared/write"
)

// beforeFirst calls another writer before the first transaction.
type beforeFirst struct {
	table.Client
	once  sync.Once
	other func()
}

func (b *beforeFirst) TransactWriteItems(
	ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options),
) (*dynamodb.TransactWriteItemsOutput, error) {
	b.once.Do(b.other)
	return b.Client.TransactWriteItems(ctx, in, o...)
}

// TestANumberIsRightAfterAPackThatIsRefused: another writer changes the number once, as the first pack would have, and no
// operation of the first pack succeeds alone. So the item has the version that the second pack expects, and
// another number.
func TestANumberIsRightAfterAPackThatIsRefused(t *testing.T) {
	key := table.Key{PK: "number", SK: "-"}
	door := &beforeFirst{}
	var clean *table.Table
	tab := tabletest.Behind(t, func(c table.Client) table.Client {
		clean, door.Client = table.New(c, "lectern"), c
		return door
	})
	door.other = func() { require.NoError(t, clean.Transact(t.Context(), table.Recount(table.Item{Key: key}, 0, 5))) }
	const half = table.MaxWrites * 2 / 3 // Two operations are two packs.
	adds := func(name string, onlyFirst bool) write.Entry {
		return write.Entry{ID: name, Op: funcs{
			Keys: []table.Key{key}, Touched: func(write.Items) []string { return []string{name} },
			Do: func(_ context.Context, got write.Items) (*write.Plan, error) {
				stored, number := got[key], 0
				if stored.Version > 0 {
					_, err := fmt.Sscan(string(stored.Data), &number)
					require.NoError(t, err)
				}
				if onlyFirst && number > 0 {
					return nil, errFull
				}
				stored.Key = key
				plan := &write.Plan{Answer: person{ID: name}, Writes: []table.Write{table.Recount(stored, number, 1)}}
				for i := range half {
					plan.Writes = append(plan.Writes, table.Insert(table.Item{Key: table.Key{PK: name, SK: fmt.Sprint(i)}, Version: 1, Data: []byte("{}")}))
				}
				return plan, nil
			},
		}}
	}
	results, err := write.Bulk(t.Context(), tab, batch([]write.Entry{adds("first", true), adds("second", false)}))
	require.NoError(t, err)
	require.ErrorIs(t, results[0].Err, errFull)
	require.NoError(t, results[1].Err)
	stored, err := clean.Get(t.Context(), key)
	require.NoError(t, err)
	require.Equal(t, "6", string(stored.Data))
}
