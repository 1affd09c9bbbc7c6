package write_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/tabletest"
	"lectern/shared/table"
	"lectern/shared/write"
)

// conflicts cancels a transaction that touches an item which another transaction holds,
// as AWS does, and counts. A transaction holds its items for a few milliseconds.
type conflicts struct {
	table.Client
	mu   sync.Mutex
	held map[string]bool
	// made and cancelled count transactions, running those that hold items now.
	made, cancelled, running, most int
}

func (c *conflicts) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	keys := transactionKeys(in)
	if err := c.hold(keys); err != nil {
		return nil, err
	}
	defer c.free(keys)
	time.Sleep(10 * time.Millisecond)
	return c.Client.TransactWriteItems(ctx, in, o...)
}

func (c *conflicts) hold(keys []string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made++
	reasons, conflict := make([]types.CancellationReason, len(keys)), false
	for i, key := range keys {
		reasons[i].Code = aws.String("None")
		if c.held[key] {
			reasons[i].Code, conflict = aws.String("TransactionConflict"), true
		}
	}
	if conflict {
		c.cancelled++
		return &types.TransactionCanceledException{CancellationReasons: reasons}
	}
	for _, key := range keys {
		c.held[key] = true
	}
	c.running++
	c.most = max(c.most, c.running)
	return nil
}

func (c *conflicts) free(keys []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running--
	for _, key := range keys {
		delete(c.held, key)
	}
}

func transactionKeys(in *dynamodb.TransactWriteItemsInput) []string {
	keys := make([]string, len(in.TransactItems))
	for i, item := range in.TransactItems {
		var key map[string]types.AttributeValue
		switch {
		case item.Put != nil:
			key = item.Put.Item
		case item.Update != nil:
			key = item.Update.Key
		case item.Delete != nil:
			key = item.Delete.Key
		default:
			key = item.ConditionCheck.Key
		}
		keys[i] = key["PK"].(*types.AttributeValueMemberS).Value + "|" + key["SK"].(*types.AttributeValueMemberS).Value
	}
	return keys
}

func startWithConflicts(t *testing.T) (*table.Table, *conflicts) {
	t.Helper()
	c := &conflicts{held: map[string]bool{}}
	return tabletest.Behind(t, func(client table.Client) table.Client { c.Client = client; return c }), c
}

// bumping is an operation that inserts an item, and some more, and bumps shards.
func bumping(id string, inserts int, bumped ...int) write.Entry {
	return write.Entry{ID: id, Op: funcs{
		Touched: func(write.Items) []string { return []string{id} },
		Do: func(context.Context, write.Items) (*write.Plan, error) {
			plan := &write.Plan{Answer: id}
			for i := range inserts {
				key := table.Key{PK: "p#R#" + id, SK: strconv.Itoa(i)}
				plan.Writes = append(plan.Writes, table.Insert(table.Item{Key: key, Version: 1, Data: []byte(`{}`)}))
			}
			for _, shard := range bumped {
				plan.Writes = append(plan.Writes, table.Bump(table.Key{PK: "p#V", SK: strconv.Itoa(shard)}, 1))
			}
			return plan, nil
		},
	}}
}

// TestALoneBulkCancelsNothing writes operations that bump one shard, two or three, and
// operations of one shard that are too many for a transaction.
func TestALoneBulkCancelsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		shards     func(i int) []int
		inserts    int
		made, most int // transactions at most, and in parallel at least
	}{
		"64 shards, as sessions":           {func(i int) []int { return []int{i * 7 % 64} }, 3, 5, 3},
		"64 shards of two, as contacts":    {func(i int) []int { return []int{i * 7 % 64, 64 + i*7%64} }, 5, 9, 6},
		"4 shards and 4 more, as accounts": {func(i int) []int { return []int{i % 4, 4 + i%4} }, 5, 8, 4},
		"one shard, as settings":           {func(int) []int { return []int{0} }, 3, 4, 1},
		"pairs of shards in a chain":       {func(i int) []int { return []int{i, i + 1} }, 2, 4, 1},
		"the shard of a parent, now and then": {func(i int) []int {
			if i%10 == 0 {
				return []int{i % 64, (i + 13) % 64, (i + 30) % 64}
			}
			return []int{i % 64}
		}, 3, 6, 2},
	} {
		t.Run(name, func(t *testing.T) {
			to, door := startWithConflicts(t)
			all := make([]write.Entry, 100)
			bumps := map[int]int{}
			for i := range all {
				all[i] = bumping(fmt.Sprintf("id%02d", i), c.inserts, c.shards(i)...)
				for _, shard := range c.shards(i) {
					bumps[shard]++
				}
			}
			results, err := write.Bulk(t.Context(), to, batch(all))
			require.NoError(t, err)
			requireSuccess(t, results, len(all))
			require.Zero(t, door.cancelled)
			require.LessOrEqual(t, door.made, c.made)
			require.GreaterOrEqual(t, door.most, c.most)
			for shard, want := range bumps {
				item, err := to.Get(t.Context(), table.Key{PK: "p#V", SK: strconv.Itoa(shard)})
				require.NoError(t, err)
				require.EqualValues(t, want, item.Version)
			}
		})
	}
}
