package change_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/tabletest"
	"lectern/shared/change"
	"lectern/shared/table"
	"lectern/shared/wire"
)

var noon = wire.At(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))

func record(version int64, at wire.Time) change.Record {
	return change.Record{At: at, Org: 7, Event: 9, Action: "session.updated", Type: "session", RecordID: "s", Version: version}
}

func TestNewTakesActorRequestAndSourceFromTheContext(t *testing.T) {
	ctx := change.WithActor(context.Background(), change.Actor{Type: change.ActorToken, ID: 3, Token: 4}, change.SourceAPI)
	ctx = change.WithRequest(ctx, "req-1")
	got := change.New(ctx, record(1, noon))
	require.Equal(t, change.Actor{Type: "api_token", ID: 3, Token: 4}, got.Actor)
	require.Equal(t, "req-1", got.RequestID)
	require.Equal(t, "public_api", got.Source)
}

func TestIDsAreTimeOrderedUUIDsOfWhatWasWritten(t *testing.T) {
	ctx := context.Background()
	first, again := change.New(ctx, record(1, noon)), change.New(ctx, record(1, noon))
	require.Equal(t, first.ID, again.ID, "the same version at the same time")
	require.NotEqual(t, first.ID, change.New(ctx, record(2, noon)).ID, "another version")

	parsed, err := uuid.Parse(first.ID)
	require.NoError(t, err)
	require.Equal(t, uuid.Version(7), parsed.Version())
	seconds, nanos := parsed.Time().UnixTime()
	require.True(t, noon.Equal(time.Unix(seconds, nanos)))

	later := change.New(ctx, record(1, wire.At(noon.Add(time.Millisecond))))
	require.Less(t, first.ID, later.ID)
}

func TestWriteStoresTheRecordInItsHour(t *testing.T) {
	tab := tabletest.Start(t)
	r := change.New(t.Context(), record(1, noon))
	require.NoError(t, tab.Transact(t.Context(), r.Write()))

	var found []change.Record
	for bucket := range change.Buckets {
		for item, err := range tab.Between(t.Context(), change.Partition(7, noon.Time, bucket), "0", "~") {
			require.NoError(t, err)
			require.Equal(t, r.Key(), item.Key)
			found = append(found, change.Record{})
			require.NoError(t, json.Unmarshal(item.Data, &found[0]))
		}
	}
	require.Equal(t, []change.Record{r}, found)
	require.ErrorIs(t, tab.Transact(t.Context(), r.Write()), table.ErrStale, "a version is written once")
}

func TestChangesOfAnHourAreSpread(t *testing.T) {
	partitions := map[string]bool{}
	for version := range int64(200) {
		partitions[change.New(t.Context(), record(version, noon)).Key().PK] = true
	}
	require.Len(t, partitions, change.Buckets)
}

func TestLongValuesAreCut(t *testing.T) {
	long := strings.Repeat("ä", 8<<10)
	r := record(1, noon)
	r.Values = []change.Value{{Field: "description", Old: "short", New: long}}
	got := change.New(t.Context(), r).Values[0]

	require.Equal(t, json.RawMessage(`"short"`), got.Old)
	cut, ok := got.New.(change.Cut)
	require.True(t, ok)
	require.Equal(t, len(long)+len(`""`), cut.Bytes)
	require.Equal(t, `"`+long[:(8<<10)-2], cut.Text, "cut between characters, never within one")
	require.Len(t, cut.SHA256, 64)
}

func TestDiff(t *testing.T) {
	type pair struct {
		A         int    `json:"a"`
		B         string `json:"b,omitempty"`
		Secret    string `json:"secret"`
		UpdatedAt int    `json:"updated_at"`
	}
	before, after := &pair{1, "x", "old", 1}, &pair{2, "", "new", 2}
	got := change.Diff(before, after, "secret")
	require.Equal(t, []change.Value{
		{Field: "a", Old: json.RawMessage("1"), New: json.RawMessage("2")},
		{Field: "b", Old: json.RawMessage(`"x"`), New: json.RawMessage(nil)},
	}, got)
	require.Empty(t, change.Diff(before, before))
	require.Len(t, change.Diff((*pair)(nil), after), 2, "of a new record every value, times of a change apart")
}
