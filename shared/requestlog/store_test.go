package requestlog_test

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/stacktest"
	"lectern/localstack/test/tabletest"
	"lectern/shared/requestlog"
	"lectern/shared/table"
	"lectern/shared/wire"
)

const org = 7

var at = time.Date(2027, 5, 1, 9, 59, 59, 999_400_000, time.UTC)

// batch has one request.
func batch(number uint16, id string) requestlog.Batch {
	e := requestlog.Entry{RequestID: id, At: wire.At(at), Method: "GET", Status: 200}
	return requestlog.Batch{Org: org, Entries: []requestlog.Entry{e}, Hash: sha256.Sum256([]byte(id)), Number: number}
}

// TestPacksAreInTheOrderOfIngestion: by the clock, and within a millisecond by the number.
func TestPacksAreInTheOrderOfIngestion(t *testing.T) {
	log := tabletest.Start(t)
	log.Now = func() time.Time { return at }
	var want []string
	for i := range uint16(60) {
		id := fmt.Sprint("request-", i)
		stored, err := requestlog.Store(t.Context(), log, batch(i%20, id), at.Add(time.Duration(i/20)*time.Millisecond))
		require.NoError(t, err)
		require.True(t, stored)
		want = append(want, id)
	}
	var got []string
	partitions := map[string]bool{}
	for _, p := range stacktest.Packs(t, log, org) {
		id, err := uuid.Parse(p.ID)
		require.NoError(t, err)
		require.Equal(t, []any{uuid.Version(7), uuid.RFC4122}, []any{id.Version(), id.Variant()})
		p.Org, p.At = org, time.Unix(id.Time().UnixTime())
		require.Contains(t, []int64{at.UnixMilli(), at.UnixMilli() + 1, at.UnixMilli() + 2}, p.At.UnixMilli())
		partitions[p.Key().PK] = true
		got = append(got, p.Entries[0].RequestID)
	}
	require.Equal(t, want, got)
	require.Greater(t, len(partitions), 10, "of two hours, 8 for each")
}

// TestABatchIsStoredOnce: the mark and the pack have their times to live.
func TestABatchIsStoredOnce(t *testing.T) {
	log := tabletest.Start(t)
	log.Now = func() time.Time { return at }
	b := batch(0, "request")
	for _, want := range []bool{true, false, false} {
		stored, err := requestlog.Store(t.Context(), log, b, at)
		require.NoError(t, err)
		require.Equal(t, want, stored)
	}
	packs := stacktest.Packs(t, log, org)
	require.Len(t, packs, 1)
	packs[0].Org, packs[0].At = org, at
	item, err := log.Get(t.Context(), packs[0].Key())
	require.NoError(t, err)
	require.Equal(t, at.Add(365*24*time.Hour).Unix(), item.Expires)
	mark, err := log.Get(t.Context(), table.Key{PK: fmt.Sprintf("O#%d#Y#%x", org, b.Hash), SK: "-"})
	require.NoError(t, err)
	require.Equal(t, at.Add(15*24*time.Hour).Unix(), mark.Expires)
}

// TestReservationsOfAMinuteAddUpToTheLimit, with many ingesters at once.
func TestReservationsOfAMinuteAddUpToTheLimit(t *testing.T) {
	log := tabletest.Start(t)
	minute := at.Truncate(time.Minute)
	var sum atomic.Int64
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			n, _, err := requestlog.ReserveWrongSecrets(t.Context(), log, org, minute, 7)
			if err != nil {
				t.Error(err)
			}
			sum.Add(n)
		})
	}
	all.Wait()
	require.EqualValues(t, requestlog.MostWrongSecrets, sum.Load())
	for _, c := range []struct {
		org    int64
		minute time.Time
		n      int64
		want   int64
		more   bool
	}{
		{org, minute, 1, 0, false}, {org, minute.Add(time.Minute), 100, 60, false}, {org + 1, minute, 59, 59, true},
		{org + 1, minute, 5, 1, false}, {org + 1, minute, 5, 0, false},
	} {
		n, more, err := requestlog.ReserveWrongSecrets(t.Context(), log, c.org, c.minute, c.n)
		require.NoError(t, err)
		require.Equal(t, []any{c.want, c.more}, []any{n, more}, c)
	}
}
