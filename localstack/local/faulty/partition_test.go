package faulty_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/local/faulty"
	"lectern/shared/metering"
	"lectern/shared/table"
)

// partitioned is a table behind a door with a clock that stands still.
func partitioned(c faulty.Partitions) (*table.Table, *faulty.PartitionDoor, *manual) {
	clock := newManual()
	c.Clock = clock.clock()
	door := faulty.NewPartitionDoor(client, c)
	return table.New(door, name), door, clock
}

// filled writes items of so many bytes into a partition of its own, past any door.
func filled(t *testing.T, items, size int) (pk string) {
	t.Helper()
	pk = uuid.NewString()
	plain := table.New(client, name)
	for i := range items {
		require.NoError(t, plain.Transact(t.Context(), table.Put(table.Item{Key: table.Key{PK: pk, SK: fmt.Sprint(i)}, Data: noise(size)})))
	}
	return pk
}

func pages(pk string) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{TableName: &name, KeyConditionExpression: aws.String("PK = :pk"), ConsistentRead: aws.Bool(true),
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": &types.AttributeValueMemberS{Value: pk}}}
}

func requireThrottled(t *testing.T, err error) {
	t.Helper()
	throttled := (*types.ThrottlingException)(nil)
	require.ErrorAs(t, err, &throttled)
}

// TestPartitionServesWhatASecondAllows asks one partition for more than it serves: the
// call that empties its bucket is served whole, later ones when it is filled again.
// Another partition, and writes, have buckets of their own.
func TestPartitionServesWhatASecondAllows(t *testing.T) {
	_, door, clock := partitioned(faulty.Partitions{Reads: 20})
	pk, other := filled(t, 1, 100_000), filled(t, 1, 10) // 25 units, and 1.
	query := func(pk string) error {
		_, err := door.Query(t.Context(), pages(pk))
		return err
	}
	get := func(pk string) error {
		_, err := door.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &name, Key: item(table.Key{PK: pk, SK: "0"}), ConsistentRead: aws.Bool(true)})
		return err
	}
	require.NoError(t, query(pk))
	requireThrottled(t, query(pk))
	requireThrottled(t, get(pk))
	require.NoError(t, get(other))
	_, err := door.UpdateItem(t.Context(), adds(table.Key{PK: pk, SK: "n"}))
	require.NoError(t, err)
	clock.pass(245 * time.Millisecond) // 5 units were owed.
	requireThrottled(t, query(pk))
	clock.pass(10 * time.Millisecond)
	require.NoError(t, query(pk))
	clock.pass(time.Hour) // A bucket holds a second's units and no more.
	require.NoError(t, query(pk))
	requireThrottled(t, query(pk))
	require.Equal(t, map[string]faulty.Usage{
		pk:    {Reads: 75, Writes: 1, ReadThrottles: 4},
		other: {Reads: 1},
	}, door.Usage())
	require.Equal(t, faulty.Usage{Reads: 76, Writes: 1, ReadThrottles: 4}, door.Total())
}

// TestBatchLeavesKeysOfAHotPartition unprocessed, and charges each partition with its own
// items.
func TestBatchLeavesKeysOfAHotPartition(t *testing.T) {
	_, door, clock := partitioned(faulty.Partitions{Reads: 10})
	large, small := filled(t, 2, 40_000), filled(t, 2, 10)
	in := &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{name: {ConsistentRead: aws.Bool(true)}}}
	asked := in.RequestItems[name]
	for _, pk := range []string{large, small} {
		for _, sk := range []string{"0", "1", "none"} {
			asked.Keys = append(asked.Keys, item(table.Key{PK: pk, SK: sk}))
		}
	}
	in.RequestItems[name] = asked
	out, err := door.BatchGetItem(t.Context(), in)
	require.NoError(t, err)
	require.Len(t, out.Responses[name], 4)
	require.Empty(t, out.UnprocessedKeys)
	require.Equal(t, map[string]faulty.Usage{large: {Reads: 21}, small: {Reads: 3}}, door.Usage())

	out, err = door.BatchGetItem(t.Context(), in)
	require.NoError(t, err)
	require.Len(t, out.Responses[name], 2)
	require.Equal(t, asked.Keys[:3], out.UnprocessedKeys[name].Keys)
	asked.Keys = asked.Keys[:3]
	in.RequestItems[name] = asked
	_, err = door.BatchGetItem(t.Context(), in)
	requireThrottled(t, err)
	clock.pass(2 * time.Second)
	out, err = door.BatchGetItem(t.Context(), in)
	require.NoError(t, err)
	require.Len(t, out.Responses[name], 2)
	require.Equal(t, map[string]faulty.Usage{large: {Reads: 42, ReadThrottles: 2}, small: {Reads: 6}}, door.Usage())
}

// TestTransactionsOfAHotPartition are cancelled with a reason for each of its items.
func TestTransactionsOfAHotPartition(t *testing.T) {
	_, door, clock := partitioned(faulty.Partitions{Reads: 10, Writes: 10})
	hot, cold := filled(t, 1, 50_000), filled(t, 1, 10)
	a, b := table.Key{PK: hot, SK: "0"}, table.Key{PK: cold, SK: "0"}
	read := func() error {
		_, err := door.TransactGetItems(t.Context(), gets(b, a))
		return err
	}
	require.NoError(t, read())
	require.Equal(t, []string{"None", "ThrottlingError"}, reasons(read()))

	in := puts(a, b)
	in.TransactItems[0].Put.Item["d"] = &types.AttributeValueMemberS{Value: strings.Repeat("x", 10_000)}
	out, err := door.TransactWriteItems(t.Context(), in)
	require.NoError(t, err)
	_, err = door.TransactWriteItems(t.Context(), puts(b, a))
	require.Equal(t, []string{"None", "ThrottlingError"}, reasons(err))
	units, usage := *out.ConsumedCapacity[0].WriteCapacityUnits, door.Usage()
	require.InDelta(t, units*10/11, usage[hot].Writes, 1e-6, "ten of eleven kilobytes")
	require.InDelta(t, units/11, usage[cold].Writes, 1e-6)
	require.Equal(t, [2]int{1, 1}, [2]int{usage[hot].ReadThrottles, usage[hot].WriteThrottles})
	require.Zero(t, usage[cold].ReadThrottles+usage[cold].WriteThrottles)
	require.InDelta(t, 13, usage[hot].Reads/usage[cold].Reads, 1e-6, "50 KB against 1")

	clock.pass(time.Hour)
	fails := puts(a, b)
	fails.TransactItems[1].Put.ConditionExpression = aws.String("attribute_not_exists(PK)")
	_, err = door.TransactWriteItems(t.Context(), fails)
	require.Equal(t, []string{"None", "ConditionalCheckFailed"}, reasons(err))
	require.InDelta(t, 2, door.Usage()[cold].Writes-usage[cold].Writes, 1e-6)
}

// TestFailedConditionCosts as much as its write does.
func TestFailedConditionCosts(t *testing.T) {
	tbl, door, _ := partitioned(faulty.Partitions{})
	key := table.Key{PK: uuid.NewString(), SK: "n"}
	for range 3 {
		_, _, err := tbl.AddWithin(t.Context(), key, 1, 1, 2_000_000_000)
		require.NoError(t, err)
	}
	require.Equal(t, map[string]faulty.Usage{key.PK: {Writes: 3}}, door.Usage())
}

// TestWholeUnitsAreCharged adds up what the engine reports of every kind of call, and
// holds the door's sum of all partitions to it.
func TestWholeUnitsAreCharged(t *testing.T) {
	tbl, door, _ := partitioned(faulty.Partitions{})
	ctx, meter := metering.Measured(t.Context())
	pks := []string{filled(t, 3, 9000), filled(t, 5, 100)}
	require.NoError(t, tbl.Transact(ctx, table.Put(table.Item{Key: table.Key{PK: pks[0], SK: "9"}, Data: noise(3000)}),
		table.Bump(table.Key{PK: pks[1] + "#V", SK: "0"}, 1), table.Exists(table.Key{PK: pks[1], SK: "0"})))
	var keys []table.Key
	for _, pk := range pks {
		for item, err := range tbl.Between(ctx, pk, " ", "~") {
			require.NoError(t, err)
			keys = append(keys, item.Key)
		}
	}
	_, err := tbl.GetMany(ctx, append(keys, table.Key{PK: pks[0], SK: "none"}))
	require.NoError(t, err)
	_, err = tbl.TransactGet(ctx, keys[:3])
	require.NoError(t, err)
	_, err = tbl.Add(ctx, table.Key{PK: pks[0], SK: "n"}, 1)
	require.NoError(t, err)
	_, _, reads, writes := meter.Totals()
	total := door.Total()
	require.InDelta(t, reads, total.Reads, 1e-6)
	require.InDelta(t, writes, total.Writes, 1e-6)
	require.Greater(t, door.Usage()[pks[0]].Reads, door.Usage()[pks[1]].Reads)
}

// TestManyTablesShareAPartition: what several instances read of one partition comes to
// what it serves, and each gets all of it in the end.
func TestManyTablesShareAPartition(t *testing.T) {
	const rate, readers, rounds = 400, 5, 10
	door := faulty.NewPartitionDoor(client, faulty.Partitions{Reads: rate})
	pk := filled(t, 4, 20_000) // 20 units a read.
	began, errs := time.Now(), make(chan error)
	for range readers {
		go func() {
			own, done := table.New(door, name), 0
			for done < rounds {
				items, _, _, err := own.Page(t.Context(), pk, " ", "~")
				if err == nil && len(items) == 4 {
					done++
				} else if !errors.Is(err, table.ErrBusy) {
					errs <- fmt.Errorf("%d items, %w", len(items), err)
					return
				}
			}
			errs <- nil
		}()
	}
	var all []error
	for range readers {
		all = append(all, <-errs)
	}
	require.NoError(t, errors.Join(all...))
	usage := door.Usage()[pk]
	require.InDelta(t, 20*readers*rounds, usage.Reads, 1)
	require.Positive(t, usage.ReadThrottles)
	require.LessOrEqual(t, usage.Reads, rate*(1+time.Since(began).Seconds())+20*readers)
}

// noise returns text that takes so many bytes as the table stores it: deflated.
func noise(n int) []byte {
	const symbols, bits = 94, 6.57
	text := make([]byte, int(float64(n)*8/bits))
	_, _ = rand.Read(text)
	for i := range text {
		text[i] = '!' + text[i]%symbols
	}
	return text
}
