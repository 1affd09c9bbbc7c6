package table_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
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
