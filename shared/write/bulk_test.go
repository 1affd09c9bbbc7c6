package write_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"lectern/localstack/local/faulty"
	"lectern/localstack/test/it"
	"lectern/localstack/test/tabletest"
	"lectern/shared/apierr"
	"lectern/shared/idempotency"
	"lectern/shared/table"
	"lectern/shared/write"
)

// someCommands are changes of few persons, addresses and parents, so that they
// get in each other's way.
func someCommands(chance *rand.Rand) []command {
	commands := make([]command, 1+chance.IntN(40))
	for i := range commands {
		c := command{
			Kind:  []string{"create", "create", "add", "rename", "rename", "delete"}[chance.IntN(6)],
			ID:    fmt.Sprint("id", chance.IntN(12)),
			Email: fmt.Sprint("mail", chance.IntN(8)),
		}
		if c.Kind == "create" && chance.IntN(2) == 0 {
			c.Parent = fmt.Sprint("id", chance.IntN(3))
		}
		if c.Parent == c.ID {
			c.Parent = ""
		}
		commands[i] = c
	}
	return commands
}

// everyKey are the keys that someCommands can write.
func everyKey(p place) (keys []table.Key) {
	for i := range 12 {
		keys = append(keys, p.record(fmt.Sprint("id", i)), p.unique(fmt.Sprint("mail", i)), table.Key{PK: string(p) + "#V", SK: strconv.Itoa(i)})
	}
	return keys
}

func entries(p place, commands []command) []write.Entry {
	all := make([]write.Entry, len(commands))
	for i, c := range commands {
		all[i] = write.Entry{ID: c.ID, Op: c.op(p)}
	}
	return all
}

// batch are entries that are ready.
func batch(all []write.Entry) write.Batch {
	return write.Batch{Entries: all, Again: func(_ context.Context, ids []string) (map[string]any, error) {
		shown := map[string]any{}
		for _, id := range ids {
			shown[id] = "again " + id
		}
		return shown, nil
	}}
}

// TestBulkIsASequenceOfSingles does random commands as one bulk and one by one:
// every result and every item must be the same.
func TestBulkIsASequenceOfSingles(t *testing.T) {
	for name, faults := range map[string]faulty.Config{
		"without faults": {},
		"all faults":     {Seed: 3, Torn: 0.1, Conflict: 0.1, Throttle: 0.03, DropBefore: 0.03, DropAfter: 0.03},
	} {
		t.Run(name, func(t *testing.T) {
			var clean *table.Table
			faultyTable := tabletest.Behind(t, func(c table.Client) table.Client {
				clean = table.New(c, "lectern")
				return faulty.New(c, faults)
			})
			for seed := range uint64(it.Size(25, 300)) {
				commands := someCommands(rand.New(rand.NewPCG(seed, seed)))
				one, many := place(fmt.Sprint("one", seed)), place(fmt.Sprint("all", seed))
				results, err := write.Bulk(t.Context(), faultyTable, batch(entries(many, commands)))
				require.NoError(t, err)
				for i, c := range commands {
					answer, err := write.Run[any](t.Context(), clean, c.op(one))
					require.Equal(t, write.Result{Answer: answer, Err: err}, results[i], "seed %d: %d of %+v", seed, i, commands)
				}
				require.Equal(t, dump(t, clean, one, everyKey(one)), dump(t, clean, many, everyKey(many)), "seed %d", seed)
			}
		})
	}
}

// transactions counts what reaches the table.
type transactions struct {
	table.Client
	made, writes atomic.Int64
}

func (c *transactions) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	c.made.Add(1)
	c.writes.Add(int64(len(in.TransactItems)))
	return c.Client.TransactWriteItems(ctx, in, o...)
}

func startCounted(t *testing.T) (*table.Table, *transactions) {
	t.Helper()
	counted := &transactions{}
	return tabletest.Behind(t, func(c table.Client) table.Client { counted.Client = c; return counted }), counted
}

func creates(n int) (commands []command) {
	for i := range n {
		commands = append(commands, command{Kind: "create", ID: fmt.Sprintf("id%02d", i), Email: fmt.Sprintf("mail%02d", i)})
	}
	return commands
}

func requireSuccess(t *testing.T, results []write.Result, n int) {
	t.Helper()
	require.Len(t, results, n)
	for i, r := range results {
		require.NoError(t, r.Err, i)
		require.NotNil(t, r.Answer, i)
	}
}

func TestBulkIsPacked(t *testing.T) {
	to, counted := startCounted(t)
	results, err := write.Bulk(t.Context(), to, batch(entries("p", creates(100))))
	require.NoError(t, err)
	requireSuccess(t, results, 100)
	// 200 writes and in each pack at most 8 bumps.
	require.LessOrEqual(t, counted.made.Load(), int64(4))
	require.LessOrEqual(t, counted.writes.Load(), int64(200+4*shards))
}

func TestBulkOfBigRecords(t *testing.T) {
	to, counted := startCounted(t)
	all := make([]write.Entry, 60)
	for i := range all {
		now := person{ID: fmt.Sprintf("id%02d", i), Padding: strings.Repeat("x", 150_000)}
		all[i].Op = funcs{Do: func(context.Context, write.Items) (*write.Plan, error) {
			return &write.Plan{Writes: place("p").store(table.Item{}, now), Answer: now.ID}, nil
		}}
	}
	results, err := write.Bulk(t.Context(), to, batch(all))
	require.NoError(t, err)
	requireSuccess(t, results, len(all))
	require.LessOrEqual(t, counted.made.Load(), int64(4), "9 MB")
}

func TestRefusedOperationsOfABulkAreAlone(t *testing.T) {
	to := tabletest.Start(t)
	commands := creates(30)
	commands[7].Email = commands[3].Email
	all := entries("p", commands)
	all[5].Err = errFull
	change(&all[9], func(op *funcs) {
		op.Do = func(context.Context, write.Items) (*write.Plan, error) { return nil, errGone }
	})
	// A condition that fails cancels its pack, which is then done one by one.
	change(&all[11], func(op *funcs) {
		op.Do = func(context.Context, write.Items) (*write.Plan, error) {
			return &write.Plan{Writes: []table.Write{table.Exists(place("p").record("none")).Or(errExists)}}, nil
		}
	})
	results, err := write.Bulk(t.Context(), to, batch(all))
	require.NoError(t, err)
	for i, want := range map[int]error{5: errFull, 7: errTaken, 9: errGone, 11: errExists} {
		require.Equal(t, want, results[i].Err)
	}
	for i, r := range results {
		if i != 5 && i != 7 && i != 9 && i != 11 {
			require.NoError(t, r.Err, i)
			mustRead(t, to, "p", commands[i].ID)
		}
	}
}

// TestABulkThatReadsMuch reads more than one round does at once: every operation gets
// what it needs, in order.
func TestABulkThatReadsMuch(t *testing.T) {
	to := tabletest.Start(t)
	mustCreate(t, to, "p", "a")
	const each = 300
	for name, first := range map[string]bool{"at first": true, "what follows": false} {
		t.Run(name, func(t *testing.T) {
			all := make([]write.Entry, 20)
			for i := range all {
				var many []table.Key
				for n := range each {
					many = append(many, place("p").record(fmt.Sprint("none", i, n)))
				}
				all[i].Op = add("p", "a")
				if first {
					change(&all[i], func(op *funcs) { op.Keys = append(op.Keys, many...) })
				} else {
					change(&all[i], func(op *funcs) {
						op.Then = func(got write.Items) []table.Key {
							require.Contains(t, got, place("p").record("a"))
							return many
						}
					})
				}
			}
			before, _ := mustRead(t, to, "p", "a")
			results, err := write.Bulk(t.Context(), to, batch(all))
			require.NoError(t, err)
			requireSuccess(t, results, len(all))
			for i, r := range results {
				require.Equal(t, before.Value+i+1, r.Answer.(person).Value)
			}
		})
	}
}

// TestAStalePlanIsMadeAgain: what one operation finds out of date keeps none of the
// others from being done.
func TestAStalePlanIsMadeAgain(t *testing.T) {
	to := tabletest.Start(t)
	all := entries("p", creates(10))
	plan, tries := all[4].Op.Plan, 0
	change(&all[4], func(op *funcs) {
		op.Do = func(ctx context.Context, got write.Items) (*write.Plan, error) {
			if tries++; tries < 3 {
				return nil, table.ErrStale
			}
			return plan(ctx, got)
		}
	})
	results, err := write.Bulk(t.Context(), to, batch(all))
	require.NoError(t, err)
	requireSuccess(t, results, len(all))
	require.Equal(t, 3, tries)
}

func TestOperationsThatTouchWhatTheyRead(t *testing.T) {
	to := tabletest.Start(t)
	mustCreate(t, to, "p", "a")
	all := make([]write.Entry, 12)
	for i := range all {
		all[i].Op = add("p", "a")
		change(&all[i], func(op *funcs) { op.Touched = nil })
	}
	results, err := write.Bulk(t.Context(), to, batch(all))
	require.NoError(t, err)
	for i, r := range results {
		require.NoError(t, r.Err)
		require.Equal(t, i+1, r.Answer.(person).Value)
	}
}

// TestUndeclaredTouchesAreSafe has operations that write one item and do not say
// so.
func TestUndeclaredTouchesAreSafe(t *testing.T) {
	to := tabletest.Start(t)
	mustCreate(t, to, "p", "a")
	all := make([]write.Entry, 12)
	for i := range all {
		all[i].Op = add("p", "a")
		change(&all[i], func(op *funcs) { op.Touched = func(write.Items) []string { return []string{} } })
	}
	results, err := write.Bulk(t.Context(), to, batch(all))
	require.NoError(t, err)
	requireSuccess(t, results, len(all))
	a, _ := mustRead(t, to, "p", "a")
	require.Equal(t, len(all), a.Value)
}

// TestKeyedBulkGoesOn breaks a bulk off after its first rounds and repeats it.
func TestKeyedBulkGoesOn(t *testing.T) {
	to := tabletest.Start(t)
	mustCreate(t, to, "p", "a")
	k := newKeys(to)
	const n, broken = 10, 4
	bulk := func(breakOff func()) []write.Entry {
		all := make([]write.Entry, n)
		for i := range all {
			op := add("p", "a")
			plan := op.Do
			op.Do = func(ctx context.Context, got write.Items) (*write.Plan, error) {
				if i == broken {
					breakOff()
				}
				return plan(ctx, got)
			}
			all[i] = write.Entry{ID: "a", Op: op}
		}
		return all
	}
	ctx, _ := k.begin(t)
	ctx, cancel := context.WithCancel(ctx)
	results, err := write.Bulk(ctx, to, batch(bulk(cancel)))
	require.NoError(t, err)
	for i, r := range results {
		require.Equal(t, i >= broken, r.Err != nil, i)
	}

	ctx, key := k.begin(t)
	require.False(t, key.Replays())
	results, err = write.Bulk(ctx, to, batch(bulk(func() {})))
	require.NoError(t, err)
	requireSuccess(t, results, n)
	for i, r := range results[broken:] {
		require.Equal(t, broken+i+1, r.Answer.(person).Value)
	}
	for range 2 {
		a, _ := mustRead(t, to, "p", "a")
		require.Equal(t, n, a.Value)
		again, key := k.begin(t)
		require.True(t, key.Replays())
		results, err = write.Bulk(again, to, batch(bulk(func() {})))
		require.NoError(t, err)
		for _, r := range results {
			require.Equal(t, write.Result{Answer: "again a"}, r)
		}
	}
}

// TestARepeatedBulkIsShownAsItIs: records by their ids, and errors as they were.
func TestARepeatedBulkIsShownAsItIs(t *testing.T) {
	to := tabletest.Start(t)
	mustCreate(t, to, "p", "a")
	k := newKeys(to)
	refused := apierr.TypeMismatch("size", "No such size.", "S", "M")
	all := []write.Entry{{ID: "a", Op: add("p", "a")}, {ID: "b", Err: refused}, {ID: "a", Op: command{Kind: "rename", ID: "a", Email: "a@x"}.op("p")}}
	ctx, _ := k.begin(t)
	_, err := write.Bulk(ctx, to, batch(all))
	require.NoError(t, err)

	ctx, _ = k.begin(t)
	results, err := write.Bulk(ctx, to, batch(all))
	require.NoError(t, err)
	require.Equal(t, []write.Result{{Answer: "again a"}, {Err: refused}, {Answer: "again a"}}, results)
	a, _ := mustRead(t, to, "p", "a")
	require.Equal(t, 1, a.Value)
}

// TestKeyedBulkIsDoneOnce has two requests with one key.
func TestKeyedBulkIsDoneOnce(t *testing.T) {
	to := tabletest.Start(t)
	k := newKeys(to)
	first, _ := k.begin(t)
	second, _ := k.begin(t)
	results, err := write.Bulk(first, to, batch(entries("p", creates(50))))
	require.NoError(t, err)
	requireSuccess(t, results, 50)
	_, err = write.Bulk(second, to, batch(entries("p", creates(50))))
	require.Error(t, err)
	require.True(t, errors.Is(err, idempotency.ErrRaced) || errors.As(err, new(*apierr.Error)))
}

func TestEmptyBulk(t *testing.T) {
	results, err := write.Bulk(t.Context(), tabletest.Start(t), batch(nil))
	require.NoError(t, err)
	require.Empty(t, results)
}
