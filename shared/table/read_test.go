package table_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/shared/metering"
	"lectern/shared/table"
)

func TestItemReadsBackWhole(t *testing.T) {
	tbl := newTable(t)
	at(tbl, 1000)
	whole := table.Item{Key: key("é €"), Version: 1 << 53, Data: []byte(`{"t":"\u0000 😀 \" "}`), Settings: 9, Expires: 1001}
	bare := table.Item{Key: key("bare")}
	insert(t, tbl, whole, bare)
	for _, want := range []table.Item{whole, bare} {
		got, err := tbl.Get(t.Context(), want.Key)
		require.NoError(t, err)
		if want.Data == nil {
			require.Empty(t, got.Data)
			got.Data = nil
		}
		require.Equal(t, want, got)
	}
	_, err := tbl.Get(t.Context(), key("other"))
	require.ErrorIs(t, err, table.ErrNotFound)
}

func TestExpiredItemIsAbsentInEveryRead(t *testing.T) {
	tbl := newTable(t)
	at(tbl, 1000)
	brief := item("brief")
	brief.Expires = 2000
	insert(t, tbl, brief, item("long"))
	for second, want := range map[int64]int{1999: 2, 2000: 1, 2001: 1} {
		at(tbl, second)
		got, err := tbl.GetMany(t.Context(), []table.Key{key("brief"), key("long")})
		require.NoError(t, err)
		require.Len(t, got, want)
		require.Len(t, between(t, tbl, "", "~"), want)
		page, _, _, err := tbl.Page(t.Context(), "O#1", "a", "~")
		require.NoError(t, err)
		require.Len(t, page, want)
		_, err = tbl.Get(t.Context(), key("brief"))
		require.Equal(t, want == 1, err != nil)
	}
}

func TestGetManyTakesAnyNumberOfKeys(t *testing.T) {
	tbl := newTable(t)
	keys := fill(t, tbl, 1234, 50)
	asked := slices.Concat(keys, []table.Key{key("absent"), keys[0], keys[700]})
	got, err := tbl.GetMany(t.Context(), asked)
	require.NoError(t, err)
	require.Len(t, got, len(keys))
	for i, k := range keys {
		require.Equal(t, int64(i), got[k].Version)
	}
	none, err := tbl.GetMany(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, none)
}

// TestGetManyReadsOnAfterAFullAnswer reads 24 MB: an answer ends at 16 MB and
// names the keys it left out.
func TestGetManyReadsOnAfterAFullAnswer(t *testing.T) {
	tbl := newTable(t)
	keys := fill(t, tbl, 60, 390_000)
	ctx, meter := metering.Measured(t.Context())
	got, err := tbl.GetMany(ctx, keys)
	require.NoError(t, err)
	require.Len(t, got, len(keys))
	conforms(t, "a batch ends at 16 MB", callsOf(meter) > 1)
}

func between(t *testing.T, tbl *table.Table, from, to string) (keys []string) {
	t.Helper()
	if from == "" {
		from = " "
	}
	for one, err := range tbl.Between(t.Context(), "O#1", from, to) {
		require.NoError(t, err)
		keys = append(keys, one.SK)
	}
	return keys
}

func TestBetweenIncludesItsEndsAndNoOtherPartition(t *testing.T) {
	tbl := newTable(t)
	other := item("b")
	other.PK = "O#10"
	insert(t, tbl, item("a"), item("b"), item("b#1"), item("c"), item("B"), other)
	require.Equal(t, []string{"a", "b", "b#1", "c"}, between(t, tbl, "a", "c"))
	require.Equal(t, []string{"b", "b#1"}, between(t, tbl, "b", "b~"))
	require.Empty(t, between(t, tbl, "d", "e"))
}

func TestBetweenReadsAllPages(t *testing.T) {
	tbl := newTable(t)
	keys := fill(t, tbl, 300, 13_250) // 10 KB each as stored
	ctx, meter := metering.Measured(t.Context())
	var got []table.Key
	for one, err := range tbl.Between(ctx, "O#1", "0", "9") {
		require.NoError(t, err)
		got = append(got, one.Key)
	}
	require.Equal(t, keys, got)
	calls, roundTrips, rcu, _ := meter.Totals()
	require.Equal(t, 3, calls)
	require.Equal(t, 3, roundTrips)
	conforms(t, "a page costs by its bytes", math.Abs(740-rcu) <= 20, rcu)

	page, more, last, err := tbl.Page(t.Context(), "O#1", "0", "9")
	require.NoError(t, err)
	require.True(t, more)
	require.Equal(t, keys[len(page)-1].SK, last)
	rest := between(t, tbl, last, "9")
	require.Len(t, rest, len(keys)-len(page)+1)
	_, more, last, err = tbl.Page(t.Context(), "O#1", keys[250].SK, "9")
	require.NoError(t, err)
	require.False(t, more)
	require.Empty(t, last)

	some, more, last, err := tbl.Some(t.Context(), "O#1", keys[7].SK, "9", 5)
	require.NoError(t, err)
	require.True(t, more)
	require.Equal(t, keys[11].SK, last)
	require.Equal(t, page[7:12], some)
	some, more, last, err = tbl.Some(t.Context(), "O#1", keys[298].SK, "9", 5)
	require.NoError(t, err)
	require.False(t, more)
	require.Empty(t, last)
	require.Len(t, some, 2)
}

func TestBetweenStopsWithItsReader(t *testing.T) {
	tbl := newTable(t)
	fill(t, tbl, 300, 13_250) // 10 KB each as stored
	ctx, meter := metering.Measured(t.Context())
	for _, err := range tbl.Between(ctx, "O#1", "0", "9") {
		require.NoError(t, err)
		break
	}
	calls := callsOf(meter)
	require.Equal(t, 1, calls)
}

func TestVersionsAreReadBySortKey(t *testing.T) {
	tbl := newTable(t)
	var writes []table.Write
	want := map[string]table.Item{}
	for shard := range 64 {
		sk, id := fmt.Sprintf("session#%02d", shard), uuid.NewString()
		want[sk] = table.Item{Key: table.Key{SK: sk}, Version: int64(shard + 1), Last: id}
		writes = append(writes, table.BumpFor(key(sk), int64(shard+1), id))
	}
	require.NoError(t, tbl.Transact(t.Context(), append(writes, table.Bump(key("speaker#00"), 1))...))
	ctx, meter := metering.Measured(t.Context())
	got, err := tbl.Versions(ctx, "O#1", "session#", "session#~")
	require.NoError(t, err)
	require.Equal(t, want, got)
	calls, _, rcu, _ := meter.Totals()
	require.Equal(t, 1, calls)
	require.InDelta(t, 1, rcu, 0.1)
}
