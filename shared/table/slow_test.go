package table_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/shared/table"
)

// hanging never answers its first calls, like a connection that died while its
// process was frozen.
type hanging struct {
	table.Client
	calls int
}

func (h *hanging) hang(ctx context.Context) error {
	if h.calls == 0 {
		return nil
	}
	h.calls--
	<-ctx.Done()
	return &aws.RequestCanceledError{Err: ctx.Err()}
}

func (h *hanging) GetItem(ctx context.Context, _ *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return &dynamodb.GetItemOutput{}, h.hang(ctx)
}

func (h *hanging) UpdateItem(ctx context.Context, _ *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return &dynamodb.UpdateItemOutput{Attributes: map[string]types.AttributeValue{"n": &types.AttributeValueMemberN{Value: "1"}}}, h.hang(ctx)
}

func (h *hanging) TransactWriteItems(ctx context.Context, _ *dynamodb.TransactWriteItemsInput, _ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	return &dynamodb.TransactWriteItemsOutput{}, h.hang(ctx)
}

// TestCallThatHangsIsTriedAgain goes by a clock of its own.
func TestCallThatHangsIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &hanging{}
		tbl := table.New(client, "none")
		for name, call := range map[string]func() error{
			"transact": func() error { return tbl.Transact(t.Context(), table.Put(item("a"))) },
			"add":      func() error { _, err := tbl.Add(t.Context(), key("n"), 1); return err },
			"get":      func() error { _, err := tbl.Get(t.Context(), key("a")); return err },
		} {
			client.calls = 1
			if err := call(); name == "get" {
				require.ErrorIs(t, err, table.ErrNotFound)
			} else {
				require.NoError(t, err, name)
			}
			client.calls = 100
			began := time.Now()
			err := call()
			require.ErrorIs(t, err, table.ErrBusy, name)
			require.Equal(t, name == "transact", errors.Is(err, table.ErrInDoubt), name)
			require.Less(t, time.Since(began), 10*time.Second, name)
		}
	})
}

// TestCallerWhoLeavesAHangingWrite: the caller's own end is not tried again, and
// what was sent may have been done.
func TestCallerWhoLeavesAHangingWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &hanging{calls: 2}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := table.New(client, "none").Transact(ctx, table.Put(item("a")))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, table.ErrInDoubt)
		require.Equal(t, 1, client.calls)
		err = table.New(client, "none").Transact(ctx, table.Put(item("a")))
		require.NotErrorIs(t, err, table.ErrInDoubt, "nothing was sent")
	})
}

// failing gives its errors one after another, the last one for ever.
type failing struct {
	table.Client
	errs []error
}

func (f *failing) TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	err := f.errs[0]
	if len(f.errs) > 1 {
		f.errs = f.errs[1:]
	}
	return nil, err
}

func TestInDoubtOnlyAfterALostAnswer(t *testing.T) {
	conflict := &types.TransactionCanceledException{CancellationReasons: []types.CancellationReason{{Code: aws.String("TransactionConflict")}}}
	throttle, server := &types.ProvisionedThroughputExceededException{}, &types.InternalServerError{}
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			errs  []error
			doubt bool
		}{
			"conflicts":                     {[]error{conflict}, false},
			"throttles":                     {[]error{throttle}, false},
			"conflicts and throttles":       {[]error{conflict, throttle, conflict}, false},
			"a failing server":              {[]error{server}, true},
			"a lost answer, then conflicts": {[]error{server, conflict}, true},
		} {
			err := table.New(&failing{errs: c.errs}, "none").Transact(t.Context(), table.Put(item("a")))
			require.ErrorIs(t, err, table.ErrBusy, name)
			require.Equal(t, c.doubt, errors.Is(err, table.ErrInDoubt), name)
		}
	})
}

func TestPauseEndsWithItsCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, table.Pause(ctx, time.Hour), context.Canceled)
	require.NoError(t, table.Pause(t.Context(), time.Nanosecond))
}
