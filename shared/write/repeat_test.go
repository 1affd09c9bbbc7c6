package write_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/tabletest"
	"lectern/shared/apierr"
	"lectern/shared/table"
	"lectern/shared/write"
)

// broken fails transactions in the way a test wants; nil lets them pass.
type broken struct {
	table.Client
	fail atomic.Pointer[func(*dynamodb.TransactWriteItemsInput) error]
}

func (c *broken) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	if fail := c.fail.Load(); fail != nil {
		if err := (*fail)(in); err != nil {
			return nil, err
		}
	}
	return c.Client.TransactWriteItems(ctx, in, o...)
}

func startBroken(t *testing.T) (*table.Table, *broken) {
	t.Helper()
	b := &broken{}
	return tabletest.Behind(t, func(c table.Client) table.Client { b.Client = c; return b }), b
}

// when fails the transactions that write an item whose partition ends so.
func (c *broken) when(pk string, err error) {
	fail := func(in *dynamodb.TransactWriteItemsInput) error {
		for _, item := range in.TransactItems {
			if item.Put == nil {
				continue
			}
			if id, ok := item.Put.Item["PK"].(*types.AttributeValueMemberS); ok && strings.HasSuffix(id.Value, pk) {
				return err
			}
		}
		return nil
	}
	c.fail.Store(&fail)
}

var (
	errConflict = &types.TransactionCanceledException{
		CancellationReasons: []types.CancellationReason{{Code: aws.String("TransactionConflict")}},
	}
	errLost = &smithyhttp.RequestSendError{Err: errors.New("connection lost")}
)

// TestAConflictOfAPackIsNotThatOfItsOperations: what surely was not written is
// tried again, one by one.
func TestAConflictOfAPackIsNotThatOfItsOperations(t *testing.T) {
	to, door := startBroken(t)
	door.when("#R#id05", errConflict)
	results, err := write.Bulk(t.Context(), to, batch(entries("p", creates(12))))
	require.NoError(t, err)
	for i, r := range results {
		if i == 5 {
			require.ErrorIs(t, r.Err, table.ErrBusy)
			continue
		}
		require.NoError(t, r.Err, i)
		mustRead(t, to, "p", fmt.Sprintf("id%02d", i))
	}
}

// TestABulkOnAHotPartitionEnds: where the table takes nothing for as long as it is asked,
// each operation is answered for before a request ends, and done when it is sent again.
func TestABulkOnAHotPartitionEnds(t *testing.T) {
	to, door := startBroken(t)
	door.when("", &types.TransactionCanceledException{CancellationReasons: []types.CancellationReason{{Code: aws.String("ThrottlingError")}}})
	ctx, cancel := context.WithTimeout(t.Context(), 28*time.Second)
	defer cancel()
	results, err := write.Bulk(ctx, to, batch(entries("p", creates(60))))
	require.NoError(t, err)
	require.NoError(t, ctx.Err(), "the request has ended")
	for i, r := range results {
		require.ErrorIs(t, r.Err, table.ErrBusy, i)
	}
	door.fail.Store(nil)
	results, err = write.Bulk(t.Context(), to, batch(entries("p", creates(60))))
	require.NoError(t, err)
	requireSuccess(t, results, 60)
}

// TestAFaultIsNotKeptUnderTheKey repeats bulks whose first try met a fault and
// finds everything done, once: at once, or where a write may still be on its way,
// when the lease has ended.
func TestAFaultIsNotKeptUnderTheKey(t *testing.T) {
	for name, fault := range map[string]error{"conflict": errConflict, "lost": errLost, "unknown": errors.New("unknown")} {
		t.Run(name, func(t *testing.T) {
			to, door := startBroken(t)
			k := newKeys(to)
			all := append(entries("p", creates(8)), write.Entry{ID: "x", Err: errFull})
			door.when("#R#id05", fault)
			ctx, key := k.begin(t)
			results, err := write.Bulk(ctx, to, batch(all))
			require.NoError(t, err)
			require.Error(t, results[5].Err)
			require.False(t, key.Replays())

			door.fail.Store(nil)
			if name == "lost" {
				_, err = k.store.Begin(t.Context(), request)
				var inUse *apierr.Error
				require.ErrorAs(t, err, &inUse)
				require.Equal(t, http.StatusConflict, inUse.Status)
				k.now = k.now.Add(time.Minute + time.Second)
			}
			ctx, key = k.begin(t)
			require.False(t, key.Replays())
			results, err = write.Bulk(ctx, to, batch(all))
			require.NoError(t, err)
			require.Equal(t, errFull, results[8].Err)
			requireSuccess(t, results[:8], 8)
			for i := range 8 {
				_, version := mustRead(t, to, "p", fmt.Sprintf("id%02d", i))
				require.EqualValues(t, 1, version)
			}
			_, key = k.begin(t)
			require.True(t, key.Replays())
		})
	}
}

// TestARefusalWithRetryAfterIsNotKept: a repetition does the operation, and only this one.
func TestARefusalWithRetryAfterIsNotKept(t *testing.T) {
	to := tabletest.Start(t)
	k := newKeys(to)
	all := entries("p", creates(3))
	refused := slices.Clone(all)
	refused[1].Err = apierr.Conflict("BUSY", "Try again.").RetryAfter(time.Second)
	ctx, key := k.begin(t)
	results, err := write.Bulk(ctx, to, batch(refused))
	require.NoError(t, err)
	require.Equal(t, refused[1].Err, results[1].Err)
	require.False(t, key.Replays())
	ctx, _ = k.begin(t)
	results, err = write.Bulk(ctx, to, batch(all))
	require.NoError(t, err)
	requireSuccess(t, results, 3)
	_, key = k.begin(t)
	require.True(t, key.Replays())
}

// TestAFailureToPrepareGivesTheKeyBack also for a panic.
func TestAFailureToPrepareGivesTheKeyBack(t *testing.T) {
	to := tabletest.Start(t)
	k := newKeys(to)
	failing := batch(entries("p", creates(2)))
	failing.Prepare = func(context.Context, []int) error { return table.ErrBusy }
	ctx, _ := k.begin(t)
	_, err := write.Bulk(ctx, to, failing)
	require.ErrorIs(t, err, table.ErrBusy)
	failing.Prepare = func(context.Context, []int) error { panic("prepare") }
	ctx, _ = k.begin(t)
	require.Panics(t, func() { _, _ = write.Bulk(ctx, to, failing) })
	ctx, _ = k.begin(t)
	results, err := write.Bulk(ctx, to, batch(entries("p", creates(2))))
	require.NoError(t, err)
	requireSuccess(t, results, 2)
}

// TestOnlyWhatIsMissingIsPrepared: what was done keeps its result though it could
// not be done any more, and though its record is gone.
func TestOnlyWhatIsMissingIsPrepared(t *testing.T) {
	to := tabletest.Start(t)
	k := newKeys(to)
	all := append(entries("p", creates(3)), write.Entry{ID: "x", Err: errFull})
	ctx, _ := k.begin(t)
	_, err := write.Bulk(ctx, to, batch(all))
	require.NoError(t, err)

	ctx, key := k.begin(t)
	require.True(t, key.Replays())
	again := write.Batch{
		Entries: make([]write.Entry, len(all)),
		Prepare: func(context.Context, []int) error { panic("nothing is left to prepare") },
		Again: func(_ context.Context, ids []string) (map[string]any, error) {
			require.Equal(t, []string{"id00", "id01", "id02"}, ids)
			return map[string]any{"id00": "id00", "id02": "id02"}, nil
		},
	}
	results, err := write.Bulk(ctx, to, again)
	require.NoError(t, err)
	require.Equal(t, []write.Result{{Answer: "id00"}, {}, {Answer: "id02"}, {Err: errFull}}, results)

	again.Again = func(context.Context, []string) (map[string]any, error) { return nil, table.ErrBusy }
	repeated, _ := k.begin(t)
	_, err = write.Bulk(repeated, to, again)
	require.ErrorIs(t, err, table.ErrBusy)
}

// TestLongErrorsAreKeptShort has a hundred errors that would not fit an item.
func TestLongErrorsAreKeptShort(t *testing.T) {
	to := tabletest.Start(t)
	k := newKeys(to)
	options := make([]string, 250)
	for i := range options {
		options[i] = strings.Repeat("ä", 120) + fmt.Sprint(i)
	}
	all := make([]write.Entry, 100)
	for i := range all {
		all[i].Err = apierr.TypeMismatch("size", strings.Repeat("ö", 2_000), options...).With("long", strings.Repeat("x", 3_000))
	}
	ctx, _ := k.begin(t)
	_, err := write.Bulk(ctx, to, batch(all))
	require.NoError(t, err)

	ctx, _ = k.begin(t)
	results, err := write.Bulk(ctx, to, batch(all))
	require.NoError(t, err)
	for _, r := range results {
		var kept *apierr.Error
		require.ErrorAs(t, r.Err, &kept)
		require.Equal(t, http.StatusBadRequest, kept.Status)
		require.Equal(t, "TYPE_MISMATCH", kept.Code)
		require.Equal(t, strings.Repeat("ö", 250)+"…", kept.Message)
		require.Empty(t, kept.ValidOptions)
	}
}

func TestAPanickingPlanIsAnError(t *testing.T) {
	to := tabletest.Start(t)
	all := entries("p", creates(2))
	change(&all[0], func(op *funcs) {
		op.Do = func(context.Context, write.Items) (*write.Plan, error) { panic("plan") }
	})
	results, err := write.Bulk(t.Context(), to, batch(all))
	require.NoError(t, err)
	require.ErrorContains(t, results[0].Err, "panic: plan")
	require.NoError(t, results[1].Err)
}
