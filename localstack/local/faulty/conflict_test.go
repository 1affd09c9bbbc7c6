package faulty_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/local/faulty"
	"lectern/shared/table"
)

// manual is a clock that stands still until a test moves it on.
type manual struct {
	mu       sync.Mutex
	now      time.Time
	sleeping int
	moved    *sync.Cond
}

func newManual() *manual {
	m := &manual{now: time.Unix(1_800_000_000, 0)}
	m.moved = sync.NewCond(&m.mu)
	return m
}

func (m *manual) clock() faulty.Clock { return faulty.Clock{Now: m.time, Sleep: m.sleep} }

func (m *manual) time() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

func (m *manual) sleep(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ends := m.now.Add(d)
	m.sleeping++
	m.moved.Broadcast()
	for m.now.Before(ends) {
		m.moved.Wait()
	}
	m.sleeping--
}

// pass moves the clock on.
func (m *manual) pass(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(d)
	m.moved.Broadcast()
}

// sleepers waits until n calls sleep.
func (m *manual) sleepers(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.sleeping < n {
		m.moved.Wait()
	}
}

func item(key table.Key) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: key.PK}, "SK": &types.AttributeValueMemberS{Value: key.SK}}
}

// puts is a transaction that writes the keys.
func puts(keys ...table.Key) *dynamodb.TransactWriteItemsInput {
	in := &dynamodb.TransactWriteItemsInput{ClientRequestToken: aws.String(uuid.NewString())}
	for _, key := range keys {
		in.TransactItems = append(in.TransactItems, types.TransactWriteItem{Put: &types.Put{TableName: &name, Item: item(key)}})
	}
	return in
}

// gets is a transaction that reads the keys.
func gets(keys ...table.Key) *dynamodb.TransactGetItemsInput {
	in := &dynamodb.TransactGetItemsInput{}
	for _, key := range keys {
		in.TransactItems = append(in.TransactItems, types.TransactGetItem{Get: &types.Get{TableName: &name, Key: item(key)}})
	}
	return in
}

// adds is an UpdateItem that counts under the key.
func adds(key table.Key) *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{TableName: &name, Key: item(key), UpdateExpression: aws.String("ADD n :n"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":n": &types.AttributeValueMemberN{Value: "1"}}}
}

// reasons are the codes of a cancellation, nil for another error.
func reasons(err error) (codes []string) {
	if cancelled := (*types.TransactionCanceledException)(nil); errors.As(err, &cancelled) {
		for _, reason := range cancelled.CancellationReasons {
			codes = append(codes, aws.ToString(reason.Code))
		}
	}
	return codes
}

// TestConflictDoorLocksUntilTheAnswer tries every kind of call beside a transaction that
// is under way, and again when its time is over.
func TestConflictDoorLocksUntilTheAnswer(t *testing.T) {
	time, pk := newManual(), uuid.NewString()
	door := faulty.NewConflictDoor(client, faulty.Conflicts{Lock: 8e6, LockItem: 1e6, Clock: time.clock()})
	a, b, c := table.Key{PK: pk, SK: "a"}, table.Key{PK: pk, SK: "b"}, table.Key{PK: pk, SK: "c"}
	checks := puts(a)
	checks.TransactItems = append(checks.TransactItems, types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: &name, Key: item(b), ConditionExpression: aws.String("attribute_not_exists(PK)")}})
	first := make(chan error, 1)
	write := func(in *dynamodb.TransactWriteItemsInput) error {
		_, err := door.TransactWriteItems(t.Context(), in)
		return err
	}
	go func() { first <- write(checks) }()
	time.sleepers(1)
	time.pass(9e6) // Of 10 ms that two items are locked for.

	require.Equal(t, []string{"None", "TransactionConflict"}, reasons(write(puts(c, b))))
	require.Equal(t, []string{"TransactionConflict", "None"}, reasons(write(puts(a, c))))
	running := (*types.TransactionInProgressException)(nil)
	require.ErrorAs(t, write(checks), &running)
	_, err := door.TransactGetItems(t.Context(), gets(c, a))
	require.Equal(t, []string{"None", "TransactionConflict"}, reasons(err))
	conflict := (*types.TransactionConflictException)(nil)
	_, err = door.UpdateItem(t.Context(), adds(b))
	require.ErrorAs(t, err, &conflict)
	_, err = door.UpdateItem(t.Context(), adds(c))
	require.NoError(t, err, "it is not of the transaction")
	got, err := door.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &name, Key: item(a)})
	require.NoError(t, err, "a plain read never conflicts")
	require.NotEmpty(t, got.Item)

	time.pass(1e6)
	require.NoError(t, <-first)
	require.NoError(t, write(checks), "the engine answers a token again")
	_, err = door.TransactGetItems(t.Context(), gets(c, a))
	require.NoError(t, err)
	_, err = door.UpdateItem(t.Context(), adds(b))
	require.NoError(t, err)
	require.Equal(t, faulty.ConflictCounts{Transactions: 3, Tries: 5, Cancelled: 2, Updates: 3, UpdatesRefused: 1, Reads: 2, ReadsCancelled: 1}, door.Counts())
}

// slow is a client whose writes and transactional reads call back while they are made.
type slow struct {
	table.Client
	within func()
}

func (s *slow) UpdateItem(
	ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.UpdateItemOutput, error) {
	s.within()
	return s.Client.UpdateItem(ctx, in, o...)
}

func (s *slow) TransactGetItems(
	ctx context.Context, in *dynamodb.TransactGetItemsInput, o ...func(*dynamodb.Options),
) (*dynamodb.TransactGetItemsOutput, error) {
	out, err := s.Client.TransactGetItems(ctx, in, o...)
	s.within()
	return out, err
}

// TestReadingTransactionMeetsWrites that begin before it or within it.
func TestReadingTransactionMeetsWrites(t *testing.T) {
	inner := &slow{Client: client}
	door := faulty.NewConflictDoor(inner, faulty.Conflicts{Lock: -1, LockItem: -1})
	a, b := table.Key{PK: uuid.NewString(), SK: "a"}, table.Key{PK: uuid.NewString(), SK: "b"}
	read := func() error {
		_, err := door.TransactGetItems(t.Context(), gets(a, b))
		return err
	}
	inner.within = func() { require.Equal(t, []string{"None", "TransactionConflict"}, reasons(read())) }
	_, err := door.UpdateItem(t.Context(), adds(b))
	require.NoError(t, err)

	clock, done := newManual(), make(chan error, 1)
	door = faulty.NewConflictDoor(inner, faulty.Conflicts{Clock: clock.clock()})
	inner.within = func() {
		go func() {
			_, err := door.TransactWriteItems(t.Context(), puts(a))
			done <- err
		}()
		clock.sleepers(1)
	}
	require.Equal(t, []string{"TransactionConflict", "None"}, reasons(read()))
	clock.pass(time.Second)
	require.NoError(t, <-done)
}

// TestConflictDoorUnlocksWhatFails at once, and takes the same token for a new try.
func TestConflictDoorUnlocksWhatFails(t *testing.T) {
	clock, key := newManual(), table.Key{PK: uuid.NewString(), SK: "a"}
	door := faulty.NewConflictDoor(client, faulty.Conflicts{Clock: clock.clock()})
	in := puts(key)
	in.TransactItems[0].Put.ConditionExpression = aws.String("attribute_exists(PK)")
	for range 2 {
		_, err := door.TransactWriteItems(t.Context(), in)
		require.Equal(t, []string{"ConditionalCheckFailed"}, reasons(err))
	}
	require.Equal(t, faulty.ConflictCounts{Transactions: 1, Tries: 2}, door.Counts())
}

// TestTableGetsOverConflicts has many writers of one item behind the door, each with a
// table of its own. All are served, and none is done twice.
func TestTableGetsOverConflicts(t *testing.T) {
	door := faulty.NewConflictDoor(client, faulty.Conflicts{Lock: 1e6})
	key := table.Key{PK: uuid.NewString() + "#V", SK: "0"}
	errs := make(chan error)
	for range 4 {
		go func() {
			own := table.New(door, name)
			for range 5 {
				errs <- own.Transact(t.Context(), table.Bump(key, 1), table.Insert(table.Item{Key: table.Key{PK: uuid.NewString(), SK: "-"}}))
			}
		}()
	}
	var all []error
	for range 20 {
		all = append(all, <-errs)
	}
	require.NoError(t, errors.Join(all...))
	got, err := table.New(client, name).Get(t.Context(), key)
	require.NoError(t, err)
	require.EqualValues(t, 20, got.Version)
	counts := door.Counts()
	require.Equal(t, 20, counts.Transactions)
	require.Equal(t, counts.Tries, counts.Transactions+counts.Cancelled)
	require.Positive(t, counts.Cancelled)
}
