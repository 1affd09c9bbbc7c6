package faulty_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/local/engine"
	"lectern/localstack/local/faulty"
	"lectern/shared/table"
)

var (
	client table.Client
	name   = "test-" + uuid.NewString()
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctx := context.Background()
	e, err := engine.Start(ctx, engine.Config{InMemory: true})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = e.Stop() }() // it was only for the tests
	db, err := table.Open(ctx, table.Config{Endpoint: e.URL, Region: "us-east-1"})
	if err == nil {
		err = table.Create(ctx, db, name)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	client = db
	return m.Run()
}

// behind gives a table behind a door, and a partition key that nothing else has.
func behind(t *testing.T, c faulty.Config) (*table.Table, *faulty.Door, string) {
	t.Helper()
	door := faulty.New(client, c)
	return table.New(door, name), door, uuid.NewString()
}

// TestEveryOperationGetsOverFaults makes single calls, one after another, so that
// the seed decides everything.
func TestEveryOperationGetsOverFaults(t *testing.T) {
	for fault, c := range map[string]faulty.Config{
		"conflict":    {Conflict: 0.4},
		"throttle":    {Throttle: 0.4},
		"drop before": {DropBefore: 0.4},
		"drop after":  {DropAfter: 0.4},
		"torn":        {Torn: 1},
		"all":         {Conflict: 0.1, Throttle: 0.1, DropBefore: 0.1, DropAfter: 0.1, Torn: 0.5},
		"none":        {},
	} {
		t.Run(fault, func(t *testing.T) {
			c.Seed = 1
			tbl, door, pk := behind(t, c)
			const rounds = 20
			var numbers []int64
			for i := range rounds {
				row := table.Item{Key: table.Key{PK: pk, SK: fmt.Sprintf("%02d", i)}, Version: 1, Data: []byte("1")}
				require.NoError(t, tbl.Transact(t.Context(), table.Insert(row).Or(errors.New("done twice")), table.Bump(table.Key{PK: pk + "#V", SK: "0"}, 1)))
				got, err := tbl.Get(t.Context(), row.Key)
				require.NoError(t, err)
				require.Equal(t, row, got)
				both, err := tbl.TransactGet(t.Context(), []table.Key{row.Key, {PK: pk + "#V", SK: "0"}})
				require.NoError(t, err)
				require.Len(t, both, 2)
				n, err := tbl.Add(t.Context(), table.Key{PK: pk + "#N", SK: "-"}, 1)
				require.NoError(t, err)
				numbers = append(numbers, n)
				require.Equal(t, i+1, len(rows(t, tbl, pk)))
				versions, err := tbl.Versions(t.Context(), pk+"#V", "0", "9")
				require.NoError(t, err)
				require.Equal(t, map[string]table.Item{"0": {Key: table.Key{SK: "0"}, Version: int64(i + 1)}}, versions)
			}
			require.True(t, slices.IsSorted(numbers))
			require.Len(t, slices.Compact(numbers), rounds)
			require.Equal(t, c == faulty.Config{Seed: 1}, door.Counts() == faulty.Counts{})
		})
	}
}

// ordered reads the keys of a partition, which must come in order.
func ordered(t *testing.T, tbl *table.Table, pk string) (keys []table.Key) {
	t.Helper()
	for item, err := range tbl.Between(t.Context(), pk, " ", "~") {
		require.NoError(t, err)
		keys = append(keys, item.Key)
	}
	require.True(t, slices.IsSortedFunc(keys, func(a, b table.Key) int { return strings.Compare(a.SK, b.SK) }))
	return keys
}

// rows reads the items of a partition that nobody writes to.
func rows(t *testing.T, tbl *table.Table, pk string) map[table.Key]table.Item {
	t.Helper()
	keys := ordered(t, tbl, pk)
	many, err := tbl.GetMany(t.Context(), keys)
	require.NoError(t, err)
	require.Len(t, many, len(keys))
	return many
}

func TestFaultThatStaysIsBusy(t *testing.T) {
	for fault, c := range map[string]faulty.Config{"throttle": {Throttle: 1}, "drop before": {DropBefore: 1}, "drop after": {DropAfter: 1}} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			tbl, _, pk := behind(t, c)
			key := table.Key{PK: pk, SK: "-"}
			require.ErrorIs(t, tbl.Transact(t.Context(), table.Put(table.Item{Key: key})), table.ErrBusy)
			_, err := tbl.GetMany(t.Context(), []table.Key{key})
			require.ErrorIs(t, err, table.ErrBusy)
			_, _, err = tbl.AddWithin(t.Context(), key, 1, 10, 0)
			require.ErrorIs(t, err, table.ErrBusy)
		})
	}
	t.Run("conflict", func(t *testing.T) {
		t.Parallel()
		tbl, door, pk := behind(t, faulty.Config{Conflict: 1})
		require.ErrorIs(t, tbl.Transact(t.Context(), table.Put(table.Item{Key: table.Key{PK: pk, SK: "-"}})), table.ErrBusy)
		require.Greater(t, door.Counts().Conflicts, 8, "for a time, not for a number of tries")
	})
}

// TestTornTransaction has writers and readers side by side. A reader may see a
// shard's version ahead of its rows, never behind what was acknowledged before.
func TestTornTransaction(t *testing.T) {
	tbl, door, pk := behind(t, faulty.Config{Seed: 7, Torn: 0.8, Conflict: 0.05, DropAfter: 0.05})
	shard := table.Key{PK: pk + "#V", SK: "0"}
	var acknowledged [8]atomic.Int64
	var writers, readers sync.WaitGroup
	var torn atomic.Int64
	stop := make(chan struct{})
	for w := range acknowledged {
		writers.Go(func() {
			row := table.Item{Key: table.Key{PK: pk, SK: strconv.Itoa(w)}}
			// On a busy machine the readers may get too little time for 15 versions.
			for version := int64(1); version <= 15 || torn.Load() == 0 && version <= 300; version++ {
				row.Version = version
				write := table.Replace(row, version-1)
				if version == 1 {
					write = table.Insert(row)
				}
				if err := tbl.Transact(t.Context(), write, table.Bump(shard, 1)); err != nil {
					t.Error(err)
					return
				}
				acknowledged[w].Store(version)
			}
		})
	}
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if look(t, tbl, pk, &acknowledged) {
					torn.Add(1)
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	require.Positive(t, torn.Load(), "no reader saw a transaction in pieces")
	require.Positive(t, door.Counts().TornReads)
	require.False(t, look(t, tbl, pk, &acknowledged))
	got, err := tbl.Get(t.Context(), shard)
	require.NoError(t, err)
	all := int64(0)
	for w := range acknowledged {
		all += acknowledged[w].Load()
	}
	require.Equal(t, all, got.Version)
}

// TestVersionsAreShownLastWhereAsked looks on while torn transactions raise a row
// and its shard's version: what is shown last is never ahead.
func TestVersionsAreShownLastWhereAsked(t *testing.T) {
	for name, last := range map[string]float64{"first": -1, "last": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tbl, door, pk := behind(t, faulty.Config{Seed: 3, Torn: 1, VersionsLast: last})
			row, shard := table.Key{PK: pk, SK: "0"}, table.Key{PK: pk + "#V", SK: "0"}
			done := make(chan error, 1)
			go func() {
				for version := range int64(20) {
					if err := tbl.Transact(t.Context(), table.Put(table.Item{Key: row, Version: version + 1}), table.Bump(shard, 1)); err != nil {
						done <- err
						return
					}
				}
				done <- nil
			}()
			for running := true; running; {
				select {
				case err := <-done:
					require.NoError(t, err)
					running = false
				default:
					early, late := shard, row
					if last > 0 {
						early, late = row, shard
					}
					require.LessOrEqual(t, versionOf(t, tbl, late), versionOf(t, tbl, early))
				}
			}
			counts := door.Counts()
			require.Equal(t, 20, counts.Torn)
			require.Equal(t, last > 0, counts.VersionsLast == counts.Torn)
			require.Positive(t, counts.TornReads)
		})
	}
}

// versionOf is 0 for an item that is not there.
func versionOf(t *testing.T, tbl *table.Table, key table.Key) int64 {
	t.Helper()
	got, err := tbl.GetMany(t.Context(), []table.Key{key})
	require.NoError(t, err)
	return got[key].Version
}

// look checks one read of all against what was acknowledged before it, and tells
// whether the shard's version was ahead of the rows read after it.
func look(t *testing.T, tbl *table.Table, pk string, acknowledged *[8]atomic.Int64) bool {
	t.Helper()
	var before [8]int64
	for w := range acknowledged {
		before[w] = acknowledged[w].Load()
	}
	versions, err := tbl.Versions(t.Context(), pk+"#V", "0", "9")
	if err != nil {
		t.Error(err)
	}
	var sum int64
	found := map[string]int64{}
	for item, err := range tbl.Between(t.Context(), pk, "0", "9") {
		if err != nil {
			t.Error(err)
		}
		found[item.SK] = item.Version
		sum += item.Version
	}
	for w, least := range before {
		if got := found[strconv.Itoa(w)]; got < least {
			t.Errorf("row %d: version %d after %d was acknowledged", w, got, least)
		}
	}
	return versions["0"].Version > sum
}

// TestHiddenItemsAreWhatTheyWere looks at every way to read while one torn
// transaction inserts, changes and removes.
func TestHiddenItemsAreWhatTheyWere(t *testing.T) {
	plain := table.New(client, name)
	tbl, door, pk := behind(t, faulty.Config{Torn: 1})
	key := func(sk string) table.Key { return table.Key{PK: pk, SK: sk} }
	for round := range 20 {
		changed, removed, fresh := key("1"), key("2"), key(fmt.Sprintf("3-%02d", round))
		require.NoError(t, plain.Transact(t.Context(), table.Put(table.Item{Key: changed, Version: 1}), table.Put(table.Item{Key: removed, Version: 1})))
		done := make(chan error, 1)
		go func() {
			done <- tbl.Transact(t.Context(), table.Replace(table.Item{Key: changed, Version: 2}, 1),
				table.Remove(removed, 1), table.Insert(table.Item{Key: fresh, Version: 2}))
		}()
		for running := true; running; {
			select {
			case err := <-done:
				require.NoError(t, err)
				running = false
			default:
				mayBe(t, tbl, changed, removed, fresh)
			}
		}
		got := rows(t, tbl, pk)
		require.Equal(t, int64(2), got[changed].Version)
		require.NotContains(t, got, removed)
		require.Contains(t, got, fresh)
	}
	require.Positive(t, door.Counts().TornReads)
}

// mayBe reads the three items in each way; each is as before or as after.
func mayBe(t *testing.T, tbl *table.Table, changed, removed, fresh table.Key) {
	t.Helper()
	many, err := tbl.GetMany(t.Context(), []table.Key{changed, removed, fresh})
	require.NoError(t, err)
	queried := map[table.Key]table.Item{}
	for item, err := range tbl.Between(t.Context(), changed.PK, " ", "~") {
		require.NoError(t, err)
		queried[item.Key] = item
	}
	for _, got := range []map[table.Key]table.Item{many, queried} {
		require.Contains(t, []int64{1, 2}, got[changed].Version)
		require.Contains(t, []int64{0, 1}, got[removed].Version)
		require.Contains(t, []int64{0, 2}, got[fresh].Version)
	}
}

func TestPagesWithHiddenItemsStayWhole(t *testing.T) {
	plain := table.New(client, name)
	tbl, _, pk := behind(t, faulty.Config{Torn: 1})
	data := bytes.Repeat([]byte("x"), 60_000)
	const count = 60
	for i := range count {
		require.NoError(t, plain.Transact(t.Context(), table.Put(table.Item{Key: table.Key{PK: pk, SK: fmt.Sprintf("%02d", i)}, Version: 1, Data: data})))
	}
	done := make(chan error, 1)
	go func() {
		for round := range int64(10) {
			var writes []table.Write
			for i := range count {
				writes = append(writes, table.Replace(table.Item{Key: table.Key{PK: pk, SK: fmt.Sprintf("%02d", i)}, Version: round + 2, Data: data}, round+1))
			}
			if err := tbl.Transact(t.Context(), writes...); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for {
		require.Len(t, ordered(t, tbl, pk), count)
		select {
		case err := <-done:
			require.NoError(t, err)
			return
		default:
		}
	}
}
