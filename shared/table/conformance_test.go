package table_test

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/shared/table"
)

// What stands here is asked of the engine itself: what Table takes for granted of AWS, and
// what AWS refuses, so that a mistake of ours shows itself on this machine already.

type attributes = map[string]types.AttributeValue

func textOf(s string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: s} }
func numberOf(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }

func keyOf(pk, sk string) attributes { return attributes{"PK": textOf(pk), "SK": textOf(sk)} }

// raw is an engine without Table.
type raw struct {
	table.Client
	t    *testing.T
	name string
}

func newRaw(t *testing.T) raw {
	t.Helper()
	client, name := open(t)
	return raw{client, t, name}
}

// put is a write of a transaction; with is what the item has beside its key.
func (r raw) put(pk, sk string, with attributes) types.TransactWriteItem {
	all := keyOf(pk, sk)
	for name, value := range with {
		all[name] = value
	}
	return types.TransactWriteItem{Put: &types.Put{TableName: &r.name, Item: all}}
}

func (r raw) transact(token string, writes ...types.TransactWriteItem) error {
	in := &dynamodb.TransactWriteItemsInput{TransactItems: writes}
	if token != "" {
		in.ClientRequestToken = &token
	}
	_, err := r.TransactWriteItems(r.t.Context(), in)
	return err
}

func (r raw) query(condition string, values attributes) ([]string, error) {
	out, err := r.Query(r.t.Context(), &dynamodb.QueryInput{TableName: &r.name, ConsistentRead: aws.Bool(true),
		KeyConditionExpression: &condition, ExpressionAttributeValues: values})
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, one := range out.Items {
		keys = append(keys, one["SK"].(*types.AttributeValueMemberS).Value)
	}
	return keys, nil
}

func (r raw) batch(count int, keys func(i int) attributes) error {
	in := types.KeysAndAttributes{ConsistentRead: aws.Bool(true)}
	for i := range count {
		in.Keys = append(in.Keys, keys(i))
	}
	_, err := r.BatchGetItem(r.t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{r.name: in}})
	return err
}

func (r raw) update(expression string, names map[string]string, values attributes) error {
	_, err := r.UpdateItem(r.t.Context(), &dynamodb.UpdateItemInput{TableName: &r.name, Key: keyOf("p", "u"),
		UpdateExpression: &expression, ExpressionAttributeNames: names, ExpressionAttributeValues: values})
	return err
}

// TestReasonsOfACancellationStandInTheOrderOfTheWrites: Transact gives the error of the
// write that failed, by its place, and judges a lost answer by the items.
func TestReasonsOfACancellationStandInTheOrderOfTheWrites(t *testing.T) {
	r := newRaw(t)
	old := r.put("p", "b", attributes{"v": numberOf("7"), "d": textOf("old")})
	require.NoError(t, r.transact("", old))
	free := func(sk string) types.TransactWriteItem {
		w := r.put("p", sk, attributes{"v": numberOf("1")})
		w.Put.ConditionExpression = aws.String("attribute_not_exists(PK)")
		w.Put.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
		return w
	}
	there := types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: &r.name, Key: keyOf("p", "none"),
		ConditionExpression: aws.String("attribute_exists(PK)")}}
	for _, c := range []struct {
		writes []types.TransactWriteItem
		codes  []string
	}{
		{[]types.TransactWriteItem{free("a"), free("b"), free("c"), there}, []string{"None", "ConditionalCheckFailed", "None", "ConditionalCheckFailed"}},
		{[]types.TransactWriteItem{there, free("c"), free("b")}, []string{"ConditionalCheckFailed", "None", "ConditionalCheckFailed"}},
	} {
		var cancelled *types.TransactionCanceledException
		require.ErrorAs(t, r.transact("", c.writes...), &cancelled)
		var codes []string
		for i, reason := range cancelled.CancellationReasons {
			codes = append(codes, aws.ToString(reason.Code))
			held := c.writes[i].Put != nil && aws.ToString(reason.Code) != "None"
			require.Equal(t, held, len(reason.Item) > 0)
			if held {
				require.Equal(t, old.Put.Item, reason.Item)
			}
		}
		require.Equal(t, c.codes, codes)
	}
}

func TestATokenIsDoneOnceAndForOneTransactionAlone(t *testing.T) {
	r := newRaw(t)
	add := func(by string) types.TransactWriteItem {
		return types.TransactWriteItem{Update: &types.Update{TableName: &r.name, Key: keyOf("p", "n"),
			UpdateExpression: aws.String("ADD n :by"), ExpressionAttributeValues: attributes{":by": numberOf(by)}}}
	}
	token := uuid.NewString()
	require.NoError(t, r.transact(token, add("1")))
	require.NoError(t, r.transact(token, add("1")))
	var mismatch *types.IdempotentParameterMismatchException
	require.ErrorAs(t, r.transact(token, add("2")), &mismatch)
	n, err := table.New(r, r.name).Count(t.Context(), table.Key{PK: "p", SK: "n"})
	require.NoError(t, err)
	require.Equal(t, int64(1), n)
}

// TestWhatAWSRefuses is a ValidationException each.
func TestWhatAWSRefuses(t *testing.T) {
	r := newRaw(t)
	long := func(bytes int) string { return strings.Repeat("x", bytes) }
	many := func(count int, write func(i int) types.TransactWriteItem) (all []types.TransactWriteItem) {
		for i := range count {
			all = append(all, write(i))
		}
		return all
	}
	values := attributes{":pk": textOf("p"), ":a": textOf("a"), ":b": textOf("b")}
	for name, ask := range map[string]func() error{
		"a transaction of 101 writes is refused": func() error {
			return r.transact("", many(101, func(i int) types.TransactWriteItem { return r.put("p", strconv.Itoa(i), nil) })...)
		},
		"a transaction of over 4 MB is refused": func() error {
			data := textOf(long(400_000))
			return r.transact("", many(11, func(i int) types.TransactWriteItem { return r.put("p", strconv.Itoa(i), attributes{"d": data}) })...)
		},
		"two writes of one key are refused": func() error {
			return r.transact("", r.put("p", "a", nil), r.put("p", "a", nil))
		},
		"an item of over 400 KB is refused": func() error {
			return r.transact("", r.put("p", "a", attributes{"d": textOf(long(400 << 10))}))
		},
		"a partition key of over 2,048 bytes is refused": func() error { return r.transact("", r.put(long(2049), "a", nil)) },
		"a sort key of over 1,024 bytes is refused":      func() error { return r.transact("", r.put("p", long(1025), nil)) },
		"an empty key is refused":                        func() error { return r.transact("", r.put("p", "", nil)) },
		"a batch of 101 keys is refused": func() error {
			return r.batch(101, func(i int) attributes { return keyOf("p", strconv.Itoa(i)) })
		},
		"a key twice in a batch is refused": func() error { return r.batch(2, func(int) attributes { return keyOf("p", "a") }) },
		"an unused value is refused": func() error {
			return r.update("SET v = :a", nil, attributes{":a": numberOf("1"), ":b": numberOf("2")})
		},
		"an unused name is refused": func() error {
			return r.update("SET v = :a", map[string]string{"#ttl": "ttl"}, attributes{":a": numberOf("1")})
		},
		"a reserved word is refused":       func() error { return r.update("SET ttl = :a", nil, attributes{":a": numberOf("1")}) },
		"adding to a text is refused":      func() error { return r.update("ADD d :a", nil, attributes{":a": numberOf("1")}) },
		"a number of 39 digits is refused": func() error { return r.update("SET v = :a", nil, attributes{":a": numberOf(strings.Repeat("1", 39))}) },
		"a range that ends before it begins is refused": func() error {
			_, err := r.query("PK = :pk AND SK BETWEEN :b AND :a", values)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, r.transact("", r.put("p", "u", attributes{"d": textOf("text")})))
			err := ask()
			var refused smithy.APIError
			conforms(t, name, errors.As(err, &refused) && slices.Contains([]string{"ValidationException", "TransactionCanceledException"}, refused.ErrorCode()), err)
		})
	}
}

// TestWhatAWSTakes is what stands just inside its limits.
func TestWhatAWSTakes(t *testing.T) {
	r := newRaw(t)
	full := 400<<10 - len("PK"+"p"+"SK"+"full"+"d")
	for name, with := range map[string]attributes{
		"full": {"d": textOf(strings.Repeat("x", full))}, "empty text": {"d": textOf("")},
		strings.Repeat("k", 1024): {}, "38 digits": {"n": numberOf(strings.Repeat("1", 38))},
	} {
		require.NoError(t, r.transact("", r.put("p", name, with)))
		out, err := r.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &r.name, Key: keyOf("p", name), ConsistentRead: aws.Bool(true)})
		require.NoError(t, err)
		for attribute, value := range with {
			require.Equal(t, value, out.Item[attribute], name)
		}
	}
}

// TestNumbersAreExact: versions of shards are sums of weights.
func TestNumbersAreExact(t *testing.T) {
	tbl := newTable(t)
	require.NoError(t, tbl.Transact(t.Context(), table.Bump(key("v"), math.MaxInt64-1)))
	require.NoError(t, tbl.Transact(t.Context(), table.Bump(key("v"), 1)))
	got, err := tbl.Get(t.Context(), key("v"))
	require.NoError(t, err)
	require.Equal(t, int64(math.MaxInt64), got.Version)
	require.NoError(t, tbl.Transact(t.Context(), table.Version(key("v"), math.MaxInt64)))
	require.ErrorIs(t, tbl.Transact(t.Context(), table.Version(key("v"), math.MaxInt64-1)), table.ErrStale)
}

// TestSortKeysAreInTheOrderOfTheirBytes: of UTF-8, as Go compares texts.
func TestSortKeysAreInTheOrderOfTheirBytes(t *testing.T) {
	r := newRaw(t)
	want := []string{" ", "#", "0", "Z", "a", "a#", "aa", "~", "é", "\uFFFD", "😀"}
	for _, sk := range slices.Backward(want) {
		require.NoError(t, r.transact("", r.put("p", sk, nil)))
	}
	got, err := r.query("PK = :pk AND SK BETWEEN :a AND :b", attributes{":pk": textOf("p"), ":a": textOf(" "), ":b": textOf("😀")})
	require.NoError(t, err)
	conforms(t, "sort keys are in the order of their bytes", slices.Equal(want, got), got)
}
