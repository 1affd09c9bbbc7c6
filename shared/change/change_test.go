package change_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/tabletest"
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
	r := record(2, noon)
	r.Values = []change.Value{{Field: "description", Old: "short", New: long}}
	got := change.New(t.Context(), r).Values[0]

	require.Equal(t, json.RawMessage(`"short"`), got.Old)
	cut, ok := got.New.(change.Cut)
	require.True(t, ok)
	require.Equal(t, len(long)+len(`""`), cut.Bytes)
	require.Equal(t, `"`+long[:(8<<10)-2], cut.Text, "cut between characters, never within one")
	require.Len(t, cut.SHA256, 64)
}

// TestAFirstVersionHasNoValues: the record says them, its kinds name the fields.
func TestAFirstVersionHasNoValues(t *testing.T) {
	r := record(1, noon)
	r.Values = []change.Value{{Field: "title", New: "A"}}
	r.Kinds = []change.Kind{{Name: "session.created", Sequence: 1, Fields: []string{"title"}}}
	got := change.New(t.Context(), r)
	require.Empty(t, got.Values)
	require.Equal(t, r.Kinds, got.Kinds)
	r.Version = 2
	require.Len(t, change.New(t.Context(), r).Values, 1)
}

// TestNoTwoTriesWriteTheSame: two writers of the same version at the same time get the same id.
// A writer must not take the other writer's change record for its own, in the feed or beside
// the record.
func TestNoTwoTriesWriteTheSame(t *testing.T) {
	first, second := change.New(t.Context(), record(2, noon)), change.New(t.Context(), record(2, noon))
	require.Equal(t, first.ID, second.ID)
	require.Len(t, first.Nonce, 16)
	require.NotEqual(t, first.Nonce, second.Nonce)
	tab := tabletest.Start(t)
	require.NoError(t, tab.Transact(t.Context(), first.Write()))
	require.ErrorIs(t, tab.Transact(t.Context(), second.Write()), table.ErrStale)
}

// TestValuesOfAPersonStandBesideIt: the feed has no values, and no hashes of cut values.
func TestValuesOfAPersonStandBesideIt(t *testing.T) {
	tab := tabletest.Start(t)
	r := record(2, noon)
	r.Type, r.Values = "contact", []change.Value{{Field: "about", New: strings.Repeat("x", 9<<10)}}
	r = change.New(t.Context(), r)
	require.NoError(t, change.Commit(t.Context(), tab, r.PersonalWrites("O#7#C#s")...))
	feed, err := tab.Get(t.Context(), r.Key())
	require.NoError(t, err)
	require.Equal(t, table.KindChange, feed.Kind)
	require.NotContains(t, string(feed.Data), "sha256")
	whole, err := tab.Get(t.Context(), change.PersonalKey("O#7#C#s", r.ID))
	require.NoError(t, err)
	require.Empty(t, whole.Kind)
	require.Contains(t, string(whole.Data), "sha256")
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
