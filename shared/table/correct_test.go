package table_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/tabletest"
	"lectern/shared/table"
)

// TestCorrectionsAreConditional: each sets its number where that is what was read, and
// is stale where it is not.
func TestCorrectionsAreConditional(t *testing.T) {
	tbl, ctx := tabletest.Start(t), t.Context()
	key, owner, counter := table.Key{PK: "v", SK: "S#00"}, table.Key{PK: "o", SK: "-"}, table.Key{PK: "n", SK: "-"}
	done := func(w table.Write) { t.Helper(); require.NoError(t, tbl.Transact(ctx, w)) }
	stale := func(w table.Write) { t.Helper(); require.ErrorIs(t, tbl.Transact(ctx, w), table.ErrStale) }

	stale(table.CorrectShard(key, 3, 4, 1))
	done(table.CorrectShard(key, 0, 5, 3))
	stale(table.CorrectShard(key, 0, 5, 1))
	stale(table.CorrectShard(key, 4, 6, 1))
	done(table.CorrectShard(key, 5, 2, 0))
	done(table.Bump(key, 4).Adding(2))
	done(table.BumpFor(key, 1, "6f0e7b0a-6f1c-4e0e-9a55-0d7a1c3f8b21").Adding(-3))
	done(table.Bump(key, -5))
	got, err := tbl.Get(ctx, key)
	require.NoError(t, err)
	require.EqualValues(t, 2, got.Version)
	require.EqualValues(t, -1, got.Count)

	stale(table.CorrectSettings(owner, 0, 7))
	done(table.Insert(table.Item{Key: owner, Version: 1, Data: []byte("{}")}))
	done(table.CorrectSettings(owner, 0, 7))
	stale(table.CorrectSettings(owner, 0, 8))
	stale(table.CorrectSettings(owner, 6, 8))
	done(table.CorrectSettings(owner, 7, 3))
	got, err = tbl.Get(ctx, owner)
	require.NoError(t, err)
	require.EqualValues(t, 3, got.Settings)
	require.EqualValues(t, 1, got.Version)

	done(table.CorrectCount(counter, 0, 9))
	stale(table.CorrectCount(counter, 0, 9))
	stale(table.CorrectCount(counter, 8, 12))
	done(table.CorrectCount(counter, 9, 12))
	n, err := tbl.Count(ctx, counter)
	require.NoError(t, err)
	require.EqualValues(t, 12, n)

	stale(table.Absent(owner))
	done(table.Absent(table.Key{PK: "none", SK: "-"}))
}
