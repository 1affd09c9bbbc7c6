package table_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
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

func (h *hanging) Query(ctx context.Context, _ *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return &dynamodb.QueryOutput{}, h.hang(ctx)
}

// TestCallThatHangsIsTriedAgain goes by a clock of its own.
func TestCallThatHangsIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &hanging{}
		tbl := table.New(client, "none")
		for name, call := range map[string]func() error{
			"transact": func() error { return tbl.Transact(t.Context(), table.Put(item("a"))) },
			"add":      func() error { _, err := tbl.Add(t.Context(), key("n"), 1); return err },
			"versions": func() error { _, err := tbl.Versions(t.Context(), "a", "b", "c"); return err },
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

// TestPageThatHangsIsTriedAgain: a page is given more time, and still a second try.
func TestPageThatHangsIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &hanging{calls: 1}
		_, _, _, err := table.New(client, "none").Page(t.Context(), "a", "b", "c")
		require.NoError(t, err)
	})
}

// TestConnectionsThatDiedTogether: after a freeze every connection of the pool is
// dead. The first call finds one out, the next try takes none of the others.
func TestConnectionsThatDiedTogether(t *testing.T) {
	var frozen atomic.Bool
	var dead sync.Map
	over := make(chan struct{})
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, died := dead.Load(r.RemoteAddr); died && frozen.Load() {
			<-over
			return
		}
		if !frozen.Load() {
			dead.Store(r.RemoteAddr, true)
			time.Sleep(50 * time.Millisecond) // So that each call has its own connection.
		}
		_, _ = w.Write([]byte("{}"))
	}))
	defer engine.Close()
	defer close(over)
	client, err := table.Open(t.Context(), table.Config{Endpoint: engine.URL})
	require.NoError(t, err)
	tbl := table.New(client, "none")
	var calls sync.WaitGroup
	for range 5 {
		calls.Go(func() { _, _ = tbl.Get(t.Context(), key("a")) })
	}
	calls.Wait()
	frozen.Store(true)
	_, err = tbl.Get(t.Context(), key("a"))
	require.ErrorIs(t, err, table.ErrNotFound)
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

// failing gives its errors one after another, the last one for ever or until a time.
type failing struct {
	table.Client
	errs  []error
	until time.Time
	tries int
}

func (*failing) UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return nil, &types.ProvisionedThroughputExceededException{}
}

func (f *failing) TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	f.tries++
	if !f.until.IsZero() && time.Now().After(f.until) {
		return &dynamodb.TransactWriteItemsOutput{}, nil
	}
	err := f.errs[0]
	if len(f.errs) > 1 {
		f.errs = f.errs[1:]
	}
	return nil, err
}

func TestInDoubtOnlyAfterALostAnswer(t *testing.T) {
	conflict := &types.TransactionCanceledException{CancellationReasons: []types.CancellationReason{{Code: aws.String("TransactionConflict")}}}
	mixed := &types.TransactionCanceledException{CancellationReasons: []types.CancellationReason{
		{Code: aws.String("ConditionalCheckFailed")}, {Code: aws.String("TransactionConflict")}}}
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
			"an answer that breaks off":     {[]error{&smithy.DeserializationError{Err: io.ErrUnexpectedEOF}}, true},
			"a lost answer, then conflicts": {[]error{server, conflict}, true},
			"a lost answer, then a failed condition beside a conflict": {[]error{server, mixed}, true},
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

// TestRefusedCallsAreRetriedForATime: a hot partition or item passes within seconds,
// however many tries that takes; a counter that its caller can do without gives up.
func TestRefusedCallsAreRetriedForATime(t *testing.T) {
	conflict := &types.TransactionCanceledException{CancellationReasons: []types.CancellationReason{{Code: aws.String("TransactionConflict")}}}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		client := &failing{errs: []error{conflict}, until: began.Add(4 * time.Second)}
		require.NoError(t, table.New(client, "none").Transact(t.Context(), table.Put(item("a"))))
		require.Greater(t, client.tries, 12)
		client.until = time.Now().Add(time.Hour)
		began = time.Now()
		require.ErrorIs(t, table.New(client, "none").Transact(t.Context(), table.Put(item("a"))), table.ErrBusy)
		require.InDelta(t, 5, time.Since(began).Seconds(), 0.5)
		began = time.Now()
		_, _, err := table.New(client, "none").AddWithin(t.Context(), key("n"), 1, 1, 1)
		require.ErrorIs(t, err, table.ErrBusy)
		require.Less(t, time.Since(began), time.Second)
	})
}

// dripping answers one key of each batch, or with hangs set no call at all.
type dripping struct {
	table.Client
	calls atomic.Int64
	hangs bool
}

func (d *dripping) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	d.calls.Add(1)
	if d.hangs {
		<-ctx.Done()
		return nil, &aws.RequestCanceledError{Err: ctx.Err()}
	}
	asked := in.RequestItems["none"]
	out := &dynamodb.BatchGetItemOutput{Responses: map[string][]map[string]types.AttributeValue{"none": asked.Keys[:1]}}
	if asked.Keys = asked.Keys[1:]; len(asked.Keys) > 0 {
		out.UnprocessedKeys = map[string]types.KeysAndAttributes{"none": asked}
	}
	return out, nil
}

// TestABatchThatIsAnsweredInPartsIsGivenTime: the rest is asked for after a pause, and no
// longer than any throttled call.
func TestABatchThatIsAnsweredInPartsIsGivenTime(t *testing.T) {
	keys := make([]table.Key, 100)
	for i := range keys {
		keys[i] = key(fmt.Sprint(i))
	}
	synctest.Test(t, func(t *testing.T) {
		client := &dripping{}
		began := time.Now()
		got, err := table.New(client, "none").GetMany(t.Context(), keys[:8])
		require.NoError(t, err)
		require.Len(t, got, 8)
		require.EqualValues(t, 8, client.calls.Load())
		require.Positive(t, time.Since(began), "a pause between calls")

		client, began = &dripping{}, time.Now()
		_, err = table.New(client, "none").GetMany(t.Context(), keys)
		require.ErrorIs(t, err, table.ErrBusy)
		require.InDelta(t, 5, time.Since(began).Seconds(), 0.5)
		require.Less(t, client.calls.Load(), int64(60))
	})
}

// TestManyBatchesThatHangEndTogether: no batch is asked for when another has failed.
func TestManyBatchesThatHangEndTogether(t *testing.T) {
	keys := make([]table.Key, 2_000)
	for i := range keys {
		keys[i] = key(fmt.Sprint(i))
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := table.New(&dripping{hangs: true}, "none").GetMany(t.Context(), keys)
		require.ErrorIs(t, err, table.ErrBusy)
		require.LessOrEqual(t, time.Since(began), table.LongestWrite)
	})
}
