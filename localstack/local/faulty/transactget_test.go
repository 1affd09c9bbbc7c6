package faulty_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/local/faulty"
	"lectern/shared/table"
)

// TestTransactGetSeesATornTransactionWhole reads a row and its version while they become
// visible apart.
func TestTransactGetSeesATornTransactionWhole(t *testing.T) {
	tbl, door, pk := behind(t, faulty.Config{Torn: 1})
	row, version := table.Key{PK: pk, SK: "0"}, table.Key{PK: pk + "#V", SK: "0"}
	done := make(chan error, 1)
	go func() {
		for n := range int64(20) {
			if err := tbl.Transact(t.Context(), table.Put(table.Item{Key: row, Version: n + 1}), table.Bump(version, 1)); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for range 100 {
		got, err := tbl.TransactGet(t.Context(), []table.Key{row, version})
		require.NoError(t, err)
		require.Equal(t, got[row].Version, got[version].Version)
	}
	require.NoError(t, <-done)
	require.NotZero(t, door.Counts().Torn)
}
