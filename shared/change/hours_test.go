package change_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/tabletest"
	"lectern/shared/change"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// updating counts UpdateItem calls and fails them while broken is set.
type updating struct {
	table.Client
	calls  atomic.Int64
	broken atomic.Pointer[error]
}

func (u *updating) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	u.calls.Add(1)
	if err := u.broken.Load(); err != nil {
		return nil, *err
	}
	return u.Client.UpdateItem(ctx, in, o...)
}

func startUpdating(t *testing.T) (*table.Table, *updating) {
	t.Helper()
	u := &updating{}
	return tabletest.Behind(t, func(c table.Client) table.Client {
		u.Client = c
		return u
	}), u
}

// hours returns the hours of organization 7 with an item.
func hours(t *testing.T, tab *table.Table) (all []string) {
	t.Helper()
	for item, err := range tab.Between(t.Context(), change.Hour(7, noon.Time).PK, "0", "~") {
		require.NoError(t, err)
		all = append(all, item.SK)
	}
	return all
}

// TestCommitPutsTheItemsOfHours: once for each hour, also if a transaction crosses the border of
// an hour.
func TestCommitPutsTheItemsOfHours(t *testing.T) {
	tab, u := startUpdating(t)
	border := wire.At(noon.Add(time.Hour))
	for version := range int64(5) {
		before := change.New(t.Context(), record(10+version, wire.At(border.Add(-time.Millisecond))))
		after := change.New(t.Context(), record(20+version, border))
		require.NoError(t, change.Commit(t.Context(), tab, before.Write(), after.Write(), table.Bump(table.Key{PK: "v", SK: "-"}, 1)))
	}
	require.Equal(t, []string{"2026112112", "2026112113"}, hours(t, tab))
	require.EqualValues(t, 2, u.calls.Load())
	require.NoError(t, change.Commit(t.Context(), tab, table.Bump(table.Key{PK: "v", SK: "-"}, 1)))
	require.EqualValues(t, 2, u.calls.Load(), "no change record, no hour")
}

// TestNoChangeRecordWithoutItsHour: where the item of the hour cannot be put, or must
// not, nothing is written.
func TestNoChangeRecordWithoutItsHour(t *testing.T) {
	tab, u := startUpdating(t)
	r := change.New(t.Context(), record(2, noon))
	commit := func(ctx context.Context) error {
		err := change.Commit(ctx, tab, r.Write())
		if err != nil {
			_, missing := tab.Get(t.Context(), r.Key())
			require.ErrorIs(t, missing, table.ErrNotFound)
		}
		return err
	}
	var broken error = &types.ProvisionedThroughputExceededException{}
	u.broken.Store(&broken)
	err := commit(t.Context())
	require.ErrorIs(t, err, table.ErrBusy)
	require.NotErrorIs(t, err, table.ErrInDoubt)
	u.broken.Store(nil)
	shut := errors.New("429")
	require.ErrorIs(t, commit(table.Gated(t.Context(), func() error { return shut })), shut)
	require.Empty(t, hours(t, tab))
	require.NoError(t, commit(t.Context()))
	require.Equal(t, []string{"2026112112"}, hours(t, tab))
}

// TestMarksAreForgottenNotGrown: more hours than are remembered are put again.
func TestMarksAreForgottenNotGrown(t *testing.T) {
	tab, u := startUpdating(t)
	keys := make([]table.Key, 5000)
	for i := range keys {
		keys[i] = change.Hour(7, noon.Add(time.Duration(i)*time.Hour))
		require.NoError(t, tab.Mark(t.Context(), keys[i]))
	}
	require.NoError(t, tab.Mark(t.Context(), keys[4999]))
	require.EqualValues(t, 5000, u.calls.Load())
	require.NoError(t, tab.Mark(t.Context(), keys[0]))
	require.EqualValues(t, 5001, u.calls.Load())
}
