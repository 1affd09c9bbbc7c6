package table_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/table"
)

// TestANumberIsChangedTogether: changes of the number as it was make one change, and a later transaction
// goes on from it.
func TestANumberIsChangedTogether(t *testing.T) {
	tab, ctx := newTable(t), t.Context()
	key := table.Key{PK: "number", SK: "-"}
	number := func() (string, int64) {
		stored, err := tab.Get(ctx, key)
		require.NoError(t, err)
		return string(stored.Data), stored.Version
	}
	requireNumber := func(want string, version int64) {
		t.Helper()
		is, at := number()
		require.Equal(t, []any{want, version}, []any{is, at})
	}
	first, ok := table.Recount(table.Item{Key: key}, 0, 2).Merge(table.Recount(table.Item{Key: key}, 0, 1))
	require.True(t, ok)
	second := table.Recount(table.Item{Key: key}, 0, -1).After(first)
	require.NoError(t, tab.Transact(ctx, first))
	requireNumber("3", 1)
	require.ErrorIs(t, tab.Transact(ctx, first), table.ErrStale)
	require.NoError(t, tab.Transact(ctx, second))
	requireNumber("2", 2)

	other := table.Item{Key: table.Key{PK: "other", SK: "-"}}
	for _, w := range []table.Write{table.Recount(other, 0, 1), table.Recount(table.Item{Key: key, Version: 2}, 2, 1), table.Insert(table.Item{Key: key})} {
		_, ok = first.Merge(w)
		require.False(t, ok, "%v", w.Key())
	}
	require.Equal(t, table.Recount(other, 0, 1), table.Recount(other, 0, 1).After(first))
}

// TestEqualConditionsAreOne in a transaction, which may name an item once.
func TestEqualConditionsAreOne(t *testing.T) {
	key := table.Key{PK: "a", SK: "-"}
	for _, c := range []table.Write{table.Exists(key), table.Absent(key), table.Version(key, 3)} {
		merged, ok := c.Merge(c)
		require.True(t, ok)
		require.Equal(t, c, merged)
		for _, other := range []table.Write{table.Exists(table.Key{PK: "b", SK: "-"}), table.Version(key, 4), table.Put(table.Item{Key: key})} {
			_, ok = c.Merge(other)
			require.False(t, ok)
		}
	}
}
