package write_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/shared/table"
	"lectern/shared/write"
)

// stuck is an empty table. It does some transactions and answers none of the others. With
// throttled set, it refuses every read.
type stuck struct {
	table.Client
	does      atomic.Int64
	throttled bool
}

func (s *stuck) BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	if s.throttled {
		return nil, &types.ProvisionedThroughputExceededException{}
	}
	return &dynamodb.BatchGetItemOutput{}, nil
}

func (s *stuck) TransactWriteItems(ctx context.Context, _ *dynamodb.TransactWriteItemsInput, _ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	if s.does.Add(-1) >= 0 {
		return &dynamodb.TransactWriteItemsOutput{}, nil
	}
	<-ctx.Done()
	return nil, &aws.RequestCanceledError{Err: ctx.Err()}
}

// storing returns operations that each store a new person with a padding. All of them
// touch the same, if chained.
func storing(n, padding int, chained bool) []write.Entry {
	all := make([]write.Entry, n)
	for i := range all {
		now := person{ID: fmt.Sprintf("id%02d", i), Padding: strings.Repeat("x", padding)}
		change(&all[i], func(op *funcs) {
			op.Touched = func(write.Items) []string {
				if chained {
					return []string{"parent"}
				}
				return []string{now.ID}
			}
		})
		change(&all[i], func(op *funcs) {
			op.Do = func(context.Context, write.Items) (*write.Plan, error) {
				return &write.Plan{Writes: place("p").store(table.Item{}, now), Answer: now}, nil
			}
		})
	}
	return all
}

// reading returns operations of which a round reads three.
func reading(n int) []write.Entry {
	all := storing(n, 0, false)
	for i := range all {
		for k := range 300 {
			change(&all[i], func(op *funcs) { op.Keys = append(op.Keys, place("p").record(fmt.Sprint(i, " ", k))) })
		}
	}
	return all
}

// TestABulkEndsBeforeItsRequest goes by a clock of its own: where the table answers nothing
// in time, each operation has its result before the function is ended.
func TestABulkEndsBeforeItsRequest(t *testing.T) {
	for name, c := range map[string]struct {
		client *stuck
		all    []write.Entry
		does   int64
		done   int
	}{
		"packs that hang":        {client: &stuck{}, all: storing(100, 1_000_000, false)},
		"rounds that hang":       {client: &stuck{}, all: storing(20, 0, true), does: 3, done: 3},
		"reads that are refused": {client: &stuck{throttled: true}, all: reading(30)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.client.does.Store(c.does)
				ctx, cancel := context.WithTimeout(t.Context(), 28*time.Second)
				defer cancel()
				results, err := write.Bulk(ctx, table.New(c.client, "none"), batch(c.all))
				require.NoError(t, err)
				require.NoError(t, ctx.Err(), "the request has ended")
				doubts, refused := 0, 0
				for i, r := range results {
					switch {
					case i < c.done:
						require.NoError(t, r.Err, i)
						require.NotNil(t, r.Answer)
					case errors.Is(r.Err, table.ErrInDoubt):
						doubts++
					default:
						require.ErrorIs(t, r.Err, table.ErrBusy, i)
						refused++
					}
				}
				require.Positive(t, refused, "operations that were not begun")
				require.Equal(t, !c.client.throttled, doubts > 0)
			})
		})
	}
}
