package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/shared/metering"
	"lectern/shared/table"
)

var errMine = errors.New("mine")

// TestConditions holds every kind of write against every state of an item.
func TestConditions(t *testing.T) {
	next := table.Item{Key: key("x"), Version: 4, Data: []byte(`"next"`)}
	states := map[string][]table.Item{
		"absent":   nil,
		"there":    {item("x")},
		"moved on": {{Key: key("x"), Version: 5}},
		"expired":  {{Key: key("x"), Version: 3, Expires: 999}},
	}
	writes := map[string]struct {
		write table.Write
		fine  string
	}{
		"insert":        {table.Insert(next), "absent, expired"},
		"replace":       {table.Replace(next, 3), "there"},
		"put":           {table.Put(next), "absent, there, moved on, expired"},
		"bump":          {table.Bump(key("x"), 1), "absent, there, moved on, expired"},
		"bump settings": {table.BumpSettings(key("x"), 1), "there, moved on"},
		"bump auth":     {table.BumpAuth(key("x")), "there, moved on"},
		"raising auth":  {table.Replace(next, 3).RaisingAuth(), "there"},
		"exists":        {table.Exists(key("x")), "there, moved on"},
		"version":       {table.Version(key("x"), 3), "there"},
		"remove":        {table.Remove(key("x"), 3), "there"},
	}
	for name, c := range writes {
		for state, before := range states {
			t.Run(name+", "+state, func(t *testing.T) {
				tbl := newTable(t)
				at(tbl, 900)
				insert(t, tbl, before...)
				at(tbl, 1000)
				beside := table.Put(item("beside"))
				fine := strings.Contains(c.fine, state)
				if !fine {
					require.ErrorIs(t, tbl.Transact(t.Context(), beside, c.write.Or(errMine)), errMine)
					require.ErrorIs(t, tbl.Transact(t.Context(), beside, c.write), table.ErrStale)
				} else {
					require.NoError(t, tbl.Transact(t.Context(), beside, c.write.Or(errMine)))
				}
				_, err := tbl.Get(t.Context(), key("beside"))
				require.Equal(t, fine, err == nil, "all or nothing")
			})
		}
	}
}

func TestWhatWritesLeaveBehind(t *testing.T) {
	tbl := newTable(t)
	at(tbl, 1000)
	event := table.Item{Key: key("e"), Version: 1, Data: []byte(`1`), Settings: 5}
	insert(t, tbl, event)
	steps := []struct {
		write table.Write
		want  table.Item
	}{
		{table.BumpSettings(key("e"), 2), table.Item{Version: 1, Data: []byte(`1`), Settings: 7}},
		{table.Replace(table.Item{Key: key("e"), Version: 2, Data: []byte(`2`), Settings: 1}, 1), table.Item{Version: 2, Data: []byte(`2`), Settings: 7}},
		{table.Put(table.Item{Key: key("e"), Version: 3, Data: []byte(`3`), Expires: 2000}), table.Item{Version: 3, Data: []byte(`3`), Settings: 7, Expires: 2000}},
		{table.Bump(key("e"), 10), table.Item{Version: 13, Data: []byte(`3`), Settings: 7, Expires: 2000}},
		{table.Replace(table.Item{Key: key("e"), Version: 14, Data: []byte(`4`), Expires: 3000}, 13), table.Item{Version: 14, Data: []byte(`4`), Settings: 7, Expires: 3000}},
		{table.Replace(table.Item{Key: key("e"), Version: 15, Data: []byte(`5`)}, 14), table.Item{Version: 15, Data: []byte(`5`), Settings: 7}},
		{table.BumpAuth(key("e")), table.Item{Version: 15, Data: []byte(`5`), Settings: 7, Auth: 1}},
		{table.BumpSettings(key("e"), 1), table.Item{Version: 15, Data: []byte(`5`), Settings: 8, Auth: 1}},
		{table.Replace(table.Item{Key: key("e"), Version: 16, Data: []byte(`6`)}, 15), table.Item{Version: 16, Data: []byte(`6`), Settings: 8, Auth: 1}},
		{table.Replace(table.Item{Key: key("e"), Version: 17, Data: []byte(`7`), Expires: 3000}, 16).RaisingAuth(),
			table.Item{Version: 17, Data: []byte(`7`), Settings: 8, Auth: 2, Expires: 3000}},
		{table.Replace(table.Item{Key: key("e"), Version: 18, Data: []byte(`8`)}, 17).RaisingAuth(),
			table.Item{Version: 18, Data: []byte(`8`), Settings: 8, Auth: 3}},
	}
	for _, step := range steps {
		require.NoError(t, tbl.Transact(t.Context(), step.write))
		got, err := tbl.Get(t.Context(), key("e"))
		require.NoError(t, err)
		step.want.Key = key("e")
		require.Equal(t, step.want, got)
	}
	require.NoError(t, tbl.Transact(t.Context(), table.Remove(key("e"), 18)))
	_, err := tbl.Get(t.Context(), key("e"))
	require.ErrorIs(t, err, table.ErrNotFound)
}

func TestInsertOverAnExpiredItemTakesNothingFromIt(t *testing.T) {
	tbl := newTable(t)
	at(tbl, 900)
	insert(t, tbl, table.Item{Key: key("x"), Version: 8, Data: []byte(`"old"`), Settings: 4, Expires: 1000})
	at(tbl, 1000)
	insert(t, tbl, item("x"))
	got, err := tbl.Get(t.Context(), key("x"))
	require.NoError(t, err)
	require.Equal(t, item("x"), got)
}

// TestErrorOfSeveralFailedConditions: an error that was given wins over ErrStale,
// and of two given ones the first.
func TestErrorOfSeveralFailedConditions(t *testing.T) {
	tbl := newTable(t)
	stale, mine, other := table.Version(key("a"), 1), table.Version(key("b"), 1).Or(errMine), table.Version(key("c"), 1).Or(errors.New("other"))
	fine := table.Put(item("d"))
	require.ErrorIs(t, tbl.Transact(t.Context(), fine, stale, mine, other), errMine)
	require.ErrorIs(t, tbl.Transact(t.Context(), mine, stale, fine), errMine)
	require.Equal(t, table.ErrStale, tbl.Transact(t.Context(), fine, stale))
}

func TestNothingToWriteIsDone(t *testing.T) {
	ctx, meter := metering.Measured(t.Context())
	require.NoError(t, newTable(t).Transact(ctx))
	calls := callsOf(meter)
	require.Zero(t, calls)
}

func TestTwoWritesOfOneKeyAreRefused(t *testing.T) {
	tbl := newTable(t)
	err := tbl.Transact(t.Context(), table.Put(item("a")), table.Bump(key("a"), 1))
	require.Error(t, err)
	require.NotErrorIs(t, err, table.ErrStale)
	require.NotErrorIs(t, err, table.ErrBusy)
}

func TestMergeJoinsBumpsOfOneVersion(t *testing.T) {
	tbl := newTable(t)
	merged, ok := table.Bump(key("a"), 2).Merge(table.Bump(key("a"), 3))
	require.True(t, ok)
	require.Equal(t, key("a"), merged.Key())
	require.NoError(t, tbl.Transact(t.Context(), merged))
	settings, ok := table.BumpSettings(key("a"), 1).Merge(table.BumpSettings(key("a"), 1))
	require.True(t, ok)
	require.NoError(t, tbl.Transact(t.Context(), settings))
	got, err := tbl.Get(t.Context(), key("a"))
	require.NoError(t, err)
	require.Equal(t, table.Item{Key: key("a"), Version: 5, Settings: 2}, got)
	for _, other := range []table.Write{table.Bump(key("b"), 1), table.BumpSettings(key("a"), 1), table.Put(item("a"))} {
		_, ok = table.Bump(key("a"), 1).Merge(other)
		require.False(t, ok)
	}
	_, ok = table.Put(item("a")).Merge(table.Put(item("a")))
	require.False(t, ok)
}

// TestBumpKeepsTheIdItWasForLast: until a bump for several, or for an id that is no UUID.
func TestBumpKeepsTheIdItWasForLast(t *testing.T) {
	tbl := newTable(t)
	one, other := uuid.NewString(), uuid.NewString()
	merged := func(a, b table.Write) table.Write {
		both, ok := a.Merge(b)
		require.True(t, ok)
		return both
	}
	bump := func(id string) table.Write { return table.BumpFor(key("a"), 1, id) }
	for i, step := range []struct {
		write table.Write
		by    int64
		want  string
	}{
		{bump(one), 1, one}, {bump(other), 1, other}, {merged(bump(one), bump(one)), 2, one}, {merged(bump(one), bump(other)), 2, ""},
		{bump(one), 1, one}, {table.Bump(key("a"), 1), 1, ""}, {bump(one), 1, one}, {merged(bump(one), table.Bump(key("a"), 1)), 2, ""},
		{bump(one), 1, one}, {bump(strings.ToUpper(one)), 1, ""}, {bump("a"), 1, ""},
	} {
		before, _ := tbl.Get(t.Context(), key("a"))
		require.NoError(t, tbl.Transact(t.Context(), step.write))
		got, err := tbl.Get(t.Context(), key("a"))
		require.NoError(t, err)
		require.Equal(t, table.Item{Key: key("a"), Version: before.Version + step.by, Last: step.want}, got, i)
	}
}

func TestLimitsAreCheckedBeforeSending(t *testing.T) {
	tbl := newTable(t)
	ctx, meter := metering.Measured(t.Context())
	var writes []table.Write
	for i := range table.MaxWrites + 1 {
		writes = append(writes, table.Put(item(strconv.Itoa(i))))
	}
	require.ErrorIs(t, tbl.Transact(ctx, writes...), table.ErrTooBig)
	big := bytes.Repeat([]byte("x"), 380_000)
	for i := range 11 {
		writes[i] = table.Put(table.Item{Key: key(strconv.Itoa(i)), Data: big})
	}
	require.ErrorIs(t, tbl.Transact(ctx, writes[:11]...), table.ErrTooBig)
	calls := callsOf(meter)
	require.Zero(t, calls)
	require.NoError(t, tbl.Transact(ctx, writes[:10]...))
	require.NoError(t, tbl.Transact(ctx, writes[11:]...))
}

// TestFullTransactionsAreAccepted shows that what the limits let through is taken,
// also over items that stand there.
func TestFullTransactionsAreAccepted(t *testing.T) {
	tbl := newTable(t)
	for version := range int64(2) {
		writes, size := []table.Write(nil), 0
		for i := range table.MaxWrites {
			write := table.Put(table.Item{Key: key(fmt.Sprintf("%03d", i)), Version: version, Data: bytes.Repeat([]byte("x"), table.MaxBytes/table.MaxWrites-table.Put(item("0")).Size())})
			writes, size = append(writes, write), size+write.Size()
		}
		require.Greater(t, size, table.MaxBytes*99/100)
		require.NoError(t, tbl.Transact(t.Context(), writes...))
	}
}

// TestReplaceNeverLosesASettingsBump lets both go on at once on one item.
func TestReplaceNeverLosesASettingsBump(t *testing.T) {
	tbl := newTable(t)
	insert(t, tbl, table.Item{Key: key("e"), Settings: 1})
	const workers, rounds = 4, 25
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for range rounds {
				if err := tbl.Transact(t.Context(), table.BumpSettings(key("e"), 1)); err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			for done := 0; done < rounds; {
				old, err := tbl.Get(t.Context(), key("e"))
				if err == nil {
					was := old.Version
					old.Version++
					err = tbl.Transact(t.Context(), table.Replace(old, was))
				}
				switch {
				case err == nil:
					done++
				case !errors.Is(err, table.ErrStale):
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	got, err := tbl.Get(t.Context(), key("e"))
	require.NoError(t, err)
	require.Equal(t, int64(1+workers*rounds), got.Settings)
	require.Equal(t, int64(workers*rounds), got.Version)
}

func TestNothingIsWrittenBeforeTheGateOpens(t *testing.T) {
	tbl := newTable(t)
	closed := errors.New("closed")
	shut := table.Gated(t.Context(), func() error { return closed })
	require.ErrorIs(t, tbl.Transact(shut, table.Insert(item("a"))), closed)
	_, err := tbl.Add(shut, key("n"), 1)
	require.ErrorIs(t, err, closed)
	_, err = tbl.Get(shut, key("a"))
	require.ErrorIs(t, err, table.ErrNotFound, "a read does not wait, and nothing was written")

	asked := make(chan struct{})
	waiting := table.Gated(t.Context(), func() error { <-asked; return nil })
	done := make(chan error)
	go func() { done <- tbl.Transact(waiting, table.Insert(item("a"))) }()
	_, err = tbl.Get(t.Context(), key("a"))
	require.ErrorIs(t, err, table.ErrNotFound)
	close(asked)
	require.NoError(t, <-done)
	_, err = tbl.Get(t.Context(), key("a"))
	require.NoError(t, err)
	first, err := tbl.Add(waiting, key("n"), 1)
	require.NoError(t, err)
	require.EqualValues(t, 1, first)
}
