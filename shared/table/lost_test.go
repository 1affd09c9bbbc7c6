package table_test

import (
	"context"
	"errors"
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
