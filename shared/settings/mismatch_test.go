package settings

import (
	"bytes"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/shared/apierr"
	"lectern/shared/metering"
	"lectern/shared/settings/item"
	"lectern/shared/table"
)

// TestATornVersionIsNotReadAgainAndAgain: settings that do not add up are logged, refused
// without a read until their pause is over or their version changes, and then read twice.
// Another event is served meanwhile.
func TestATornVersionIsNotReadAgainAndAgain(t *testing.T) {
	sc := newFixture(t)
	log := &bytes.Buffer{}
	sc.table.Log = slog.New(slog.NewJSONHandler(log, nil))
	torn := item.Place{Org: 1, Event: 2}
	sc.put(item.Place{Org: 1, Event: 3}, 0)
	sc.land(table.Put(stored("a", 1)))
	sc.land(table.BumpSettings(torn.Owner(), table.Weight("a")+5))
	cache := NewCache(sc.table)
	refused := func() (took int) {
		t.Helper()
		caller := sc.caller(2)
		ctx, meter := metering.Measured(t.Context())
		_, err := cache.Load(ctx, caller)
		var says *apierr.Error
		require.ErrorAs(t, err, &says)
		require.Equal(t, http.StatusServiceUnavailable, says.Status)
		return calls(meter)
	}
	require.Equal(t, 2*reads.Tries, refused())
	require.Contains(t, log.String(), `"metric":"shard_mismatch","partition":"`+torn.Partition()+`","family":"settings"`)
	for range 3 {
		require.Zero(t, refused())
	}
	sc.load(cache, 3)

	cache.owner(torn).mismatch.until = time.Now() // The pause is over.
	require.Equal(t, 3, refused(), "two reads and one of the version")
	require.Zero(t, refused())
	sc.land(table.CorrectSettings(torn.Owner(), table.Weight("a")+5, table.Weight("a")))
	sc.load(cache, 2)
}

// TestAChangeThatBecomesVisibleIsNoMismatch: only settings that stay the same are refused
// without a read.
func TestAChangeThatBecomesVisibleIsNoMismatch(t *testing.T) {
	cache, at, noted := NewCache(&table.Table{}), item.Place{Org: 1}, mismatch{}
	cache.note(t.Context(), at, &noted, mismatch{version: 3, sum: 2}, sureTries-1)
	require.Zero(t, noted)
	cache.note(t.Context(), at, &noted, mismatch{version: 3, sum: 2}, sureTries)
	require.True(t, noted.is(3, 2))
	require.True(t, noted.until.After(time.Now()))
}
