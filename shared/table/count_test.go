package table_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/table"
)

func TestAddGivesEachNumberOnce(t *testing.T) {
	tbl := newTable(t)
	const workers, rounds = 16, 20
	var mu sync.Mutex
	var got []int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for range rounds {
				n, err := tbl.Add(t.Context(), key("n"), 1)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				got = append(got, n)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	slices.Sort(got)
	for i, n := range got {
		require.Equal(t, int64(i+1), n)
	}
	block, err := tbl.Add(t.Context(), key("n"), 100)
	require.NoError(t, err)
	require.Equal(t, int64(workers*rounds+100), block)
}

// numbered returns the numbers that a Table gives, one at a time.
func numbered(t *testing.T, tbl *table.Table, count int) (all []int64) {
	t.Helper()
	for range count {
		n, err := tbl.Numbers(t.Context(), key("n"), 1)
		require.NoError(t, err)
		all = append(all, n)
	}
	return all
}

// TestNumbersAreTakenAhead: a busy Table gives one number after the other and writes the counter
// seldom; after a pause it begins where the counter is.
func TestNumbersAreTakenAhead(t *testing.T) {
	tbl := newTable(t)
	at(tbl, 1000)
	require.Equal(t, []int64{1, 2, 3, 4, 5, 6, 7, 8}, numbered(t, tbl, 8))
	counted, err := tbl.Count(t.Context(), key("n"))
	require.NoError(t, err)
	require.EqualValues(t, 15, counted, "1, 2, 4 and 8 were taken")

	at(tbl, 1009)
	require.Equal(t, []int64{9}, numbered(t, tbl, 1))
	block, err := tbl.Numbers(t.Context(), key("n"), 100)
	require.NoError(t, err)
	require.EqualValues(t, 16, block, "the rest is too short and is left out")
	at(tbl, 1019)
	require.Equal(t, []int64{116}, numbered(t, tbl, 1), "nothing is left of the block")
	at(tbl, 1029)
	require.Equal(t, []int64{117}, numbered(t, tbl, 1), "after a pause one number is taken, not two")
	counted, err = tbl.Count(t.Context(), key("n"))
	require.NoError(t, err)
	require.EqualValues(t, 117, counted)
}

// TestNumbersAheadGrowToALimit: no more than 64 numbers are taken ahead.
func TestNumbersAheadGrowToALimit(t *testing.T) {
	tbl := newTable(t)
	at(tbl, 1000)
	require.Len(t, numbered(t, tbl, 200), 200)
	counted, err := tbl.Count(t.Context(), key("n"))
	require.NoError(t, err)
	require.EqualValues(t, 1+2+4+8+16+32+64+64+64, counted)
}

// TestNoTwoTablesGiveANumber: Tables of two processes, with parallel callers and blocks.
func TestNoTwoTablesGiveANumber(t *testing.T) {
	client, name := open(t)
	tables := []*table.Table{table.New(client, name), table.New(client, name)}
	const workers, rounds = 8, 30
	var mu sync.Mutex
	given := map[int64]bool{}
	var all sync.WaitGroup
	for i := range 2 * workers {
		all.Go(func() {
			tbl, n := tables[i%2], int64(1+i%3)
			for range rounds {
				from, err := tbl.Numbers(t.Context(), key("n"), n)
				mu.Lock()
				if err != nil {
					t.Error(err)
				}
				for number := from; number < from+n; number++ {
					if given[number] {
						t.Errorf("%d was given twice", number)
					}
					given[number] = true
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	require.Len(t, given, rounds*(6*1+5*2+5*3))
}

// TestACallerThatIsGoneTakesNoNumber, and leaves the counter to the next caller.
func TestACallerThatIsGoneTakesNoNumber(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	tbl := newTable(t)
	_, err := tbl.Numbers(gone, key("n"), 1)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, []int64{1}, numbered(t, tbl, 1))
}

func TestAddWithinAdmitsExactlyTheLimit(t *testing.T) {
	tbl := newTable(t)
	at(tbl, 1000)
	const workers, rounds, limit = 16, 20, 100
	var mu sync.Mutex
	var admitted []int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for range rounds {
				n, ok, err := tbl.AddWithin(t.Context(), key("limit"), 1, limit, 2000)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				if ok {
					admitted = append(admitted, n)
				} else if n != limit {
					t.Errorf("a refusal at %d", n)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	slices.Sort(admitted)
	require.Len(t, admitted, limit)
	for i, n := range admitted {
		require.Equal(t, int64(i+1), n)
	}
	counter, err := tbl.Get(t.Context(), key("limit"))
	require.NoError(t, err)
	require.Equal(t, int64(2000), counter.Expires)
}

func TestAddWithinNothingRefuses(t *testing.T) {
	n, ok, err := newTable(t).AddWithin(t.Context(), key("limit"), 1, 0, 2000)
	require.NoError(t, err)
	require.False(t, ok)
	require.Zero(t, n)
}

// TestAddWithinAddsAllOrNothing: several at once stay within the limit too.
func TestAddWithinAddsAllOrNothing(t *testing.T) {
	tbl := newTable(t)
	for _, c := range []struct {
		by, count int64
		ok        bool
	}{{11, 0, false}, {7, 7, true}, {4, 7, false}, {3, 10, true}, {1, 10, false}} {
		n, ok, err := tbl.AddWithin(t.Context(), key("limit"), c.by, 10, 2000)
		require.NoError(t, err)
		require.Equal(t, c.ok, ok)
		require.Equal(t, c.count, n)
	}
}
