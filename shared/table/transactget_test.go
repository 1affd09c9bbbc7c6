package table_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/metering"
	"lectern/shared/table"
)

func TestTransactGetReadsOneMoment(t *testing.T) {
	tbl := newTable(t)
	at(tbl, 1000)
	gone := item("gone")
	gone.Expires = 1000
	insert(t, tbl, item("a"), item("b"), gone)
	ctx, meter := metering.Measured(t.Context())
	got, err := tbl.TransactGet(ctx, []table.Key{key("a"), key("b"), key("gone"), key("absent"), key("a")})
	require.NoError(t, err)
	require.Equal(t, map[table.Key]table.Item{key("a"): item("a"), key("b"): item("b")}, got)
	_, _, rcu, _ := meter.Totals()
	conforms(t, "a transaction reads for two units an item", rcu == 8)

	none, err := tbl.TransactGet(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, none)
	_, err = tbl.TransactGet(t.Context(), fill(t, tbl, 101, 50))
	require.ErrorIs(t, err, table.ErrTooBig)
}

// TestTransactGetNeverSeesHalfAWrite reads two items that every transaction gives the same
// version, while a writer writes.
func TestTransactGetNeverSeesHalfAWrite(t *testing.T) {
	tbl := newTable(t)
	insert(t, tbl, table.Item{Key: key("a")}, table.Item{Key: key("b")})
	written := make(chan error, 1)
	go func() {
		for n := range int64(50) {
			if err := tbl.Transact(t.Context(), table.Put(table.Item{Key: key("a"), Version: n}), table.Put(table.Item{Key: key("b"), Version: n})); err != nil {
				written <- err
				return
			}
		}
		written <- nil
	}()
	for range 100 {
		got, err := tbl.TransactGet(t.Context(), []table.Key{key("a"), key("b")})
		require.NoError(t, err)
		require.Equal(t, got[key("a")].Version, got[key("b")].Version)
	}
	require.NoError(t, <-written)
}
