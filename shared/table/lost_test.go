package table_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/shared/table"
)

// losing loses the first answers to transactions; between does what happens
// meanwhile.
type losing struct {
	table.Client
	answers int
	between func(in *dynamodb.TransactWriteItemsInput)
	seen    map[string]int
}

func (l *losing) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	l.seen[aws.ToString(in.ClientRequestToken)]++
	out, err := l.Client.TransactWriteItems(ctx, in, o...)
	if l.answers == 0 {
		return out, err
	}
	l.answers--
	l.between(in)
	return nil, &types.InternalServerError{}
}

func lose(t *testing.T, answers int, between func(in *dynamodb.TransactWriteItemsInput)) (*table.Table, *losing) {
	t.Helper()
	client, name := open(t)
	l := &losing{Client: client, answers: answers, between: between, seen: map[string]int{}}
	return table.New(l, name), l
}

func nothing(*dynamodb.TransactWriteItemsInput) {}

func TestLostAnswerIsASuccessDoneOnce(t *testing.T) {
	tbl, client := lose(t, 3, nothing)
	require.NoError(t, tbl.Transact(t.Context(), table.Bump(key("v"), 1), table.Insert(item("a"))))
	got, err := tbl.Get(t.Context(), key("v"))
	require.NoError(t, err)
	require.Equal(t, int64(1), got.Version)
	require.Len(t, client.seen, 1, "every try has the same token")
	for _, tries := range client.seen {
		require.Equal(t, 4, tries)
	}
}

// forget is an engine that was killed and knows no earlier token.
func forget(in *dynamodb.TransactWriteItemsInput) {
	in.ClientRequestToken = aws.String(uuid.NewString())
}

func TestLostAnswerOfAnEngineThatForgotItsToken(t *testing.T) {
	tbl, _ := lose(t, 1, forget)
	require.NoError(t, tbl.Transact(t.Context(), table.Bump(key("v"), 1), table.Insert(item("a")).Or(errMine)))
	got, err := tbl.Get(t.Context(), key("v"))
	require.NoError(t, err)
	require.Equal(t, int64(1), got.Version)
}

func TestLostAnswerDoesNotHideAnothersItem(t *testing.T) {
	for name, data := range map[string]string{"other data": `"other"`, "no data": ""} {
		t.Run(name, func(t *testing.T) {
			other := item("a")
			other.Data = []byte(data)
			tbl, client := lose(t, 0, forget)
			insert(t, tbl, other)
			client.answers = 1
			require.ErrorIs(t, tbl.Transact(t.Context(), table.Insert(item("a")).Or(errMine)), errMine)
		})
	}
}

// TestLostTryDoesNotTakeAnothersHold: a try was lost before it was done, and the
// place that one of its inserts wants is held by an item that looks the same.
func TestLostTryDoesNotTakeAnothersHold(t *testing.T) {
	client, name := open(t)
	hold := table.Insert(table.Item{Key: key("hold"), Version: 1, Data: []byte("{}")}).Or(errMine)
	require.NoError(t, table.New(client, name).Transact(t.Context(), hold))
	lost := &losing{Client: unheard{client, new(atomic.Bool)}, seen: map[string]int{}}
	err := table.New(lost, name).Transact(t.Context(), table.Insert(item("a")), hold)
	require.ErrorIs(t, err, errMine)
	_, err = table.New(client, name).Get(t.Context(), item("a").Key)
	require.ErrorIs(t, err, table.ErrNotFound)
}

// unheard loses its first transaction before it is done.
type unheard struct {
	table.Client
	passed *atomic.Bool
}

func (u unheard) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	if u.passed.CompareAndSwap(false, true) {
		return nil, &types.InternalServerError{}
	}
	return u.Client.TransactWriteItems(ctx, in, o...)
}

// TestDoneThenChangedIsASuccess: after the try whose answer was lost, another
// writer changed one of its items; what else it inserted proves that it was done.
func TestDoneThenChangedIsASuccess(t *testing.T) {
	var tbl *table.Table
	tbl, _ = lose(t, 1, func(in *dynamodb.TransactWriteItemsInput) {
		forget(in)
		changed, was := item("a"), item("a").Version
		changed.Version, changed.Data = was+1, []byte(`"changed"`)
		require.NoError(t, tbl.Transact(t.Context(), table.Replace(changed, was)))
	})
	require.NoError(t, tbl.Transact(t.Context(), table.Insert(item("a")), table.Insert(item("b"))))
}

// refusing answers every transaction that its token was used with other
// parameters.
type refusing struct{ table.Client }

func (refusing) TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	return nil, &types.IdempotentParameterMismatchException{}
}

func TestUsedTokenIsASuccessOnlyAfterALostAnswer(t *testing.T) {
	lost := &losing{Client: refusing{}, answers: 1, between: nothing, seen: map[string]int{}}
	require.NoError(t, table.New(lost, "none").Transact(t.Context(), table.Put(item("a"))))
	var mismatch *types.IdempotentParameterMismatchException
	err := table.New(refusing{}, "none").Transact(t.Context(), table.Put(item("a")))
	require.True(t, errors.As(err, &mismatch))
}
