package catalogue_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/tabletest"
	"lectern/shared/apierr"
	"lectern/shared/catalogue"
	"lectern/shared/metering"
	"lectern/shared/table"
)

func create(t *testing.T, to *table.Table, talks ...*talk) {
	t.Helper()
	for _, b := range talks {
		require.NoError(t, to.Transact(t.Context(), writes(t, b)...))
	}
}

func titles(talks []*talk) (all []string) {
	for _, b := range talks {
		all = append(all, b.Title)
	}
	return all
}

func TestSearchFiltersOrdersAndPages(t *testing.T) {
	to := tabletest.Start(t)
	c := newCatalogue(to)
	found, total, err := c.Search(t.Context(), source, catalogue.Query[talkRow]{Limit: 25})
	require.NoError(t, err)
	require.Empty(t, found)
	require.Zero(t, total)

	create(t, to,
		&talk{ID: "b", Title: "second", Created: 1, Starts: 30, Track: "x", Version: 1},
		&talk{ID: "a", Title: "first", Created: 1, Starts: 30, Track: "x", Version: 1},
		&talk{ID: "c", Title: "third", Created: 2, Starts: 10, Track: "y", Version: 1},
		&talk{ID: "d", Title: "fourth", Created: 3, Starts: 20, Track: "x", Version: 1},
	)
	ofX := func(r *talkRow) bool { return r.Track == "x" }
	for _, test := range []struct {
		name          string
		keep          func(*talkRow) bool
		order         func(a, b *talkRow) int
		offset, limit int
		want          []string
		total         int
	}{
		{"all, ties by id", nil, nil, 0, 25, []string{"first", "second", "third", "fourth"}, 4},
		{"filtered", ofX, nil, 0, 25, []string{"first", "second", "fourth"}, 3},
		{"second page", nil, nil, 2, 2, []string{"third", "fourth"}, 4},
		{"beyond the end", nil, nil, 100, 25, nil, 4},
		{"ordered, ties in the default order", nil, byStarts, 0, 25, []string{"third", "fourth", "first", "second"}, 4},
		{"ordered and filtered page", ofX, byStarts, 1, 1, []string{"first"}, 3},
		{"ordered, beyond the end", nil, byStarts, 100, 25, nil, 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			found, total, err := c.Search(t.Context(), source, catalogue.Query[talkRow]{Keep: alone(test.keep), Order: test.order, Offset: test.offset, Limit: test.limit})
			require.NoError(t, err)
			require.Equal(t, test.want, titles(found))
			require.Equal(t, test.total, total)
		})
	}
}

func TestWarmSearchReadsTheVersionsOnly(t *testing.T) {
	to := tabletest.Start(t)
	create(t, to, &talk{ID: "a", Title: "old", Version: 1}, &talk{ID: "b", Title: "other", Version: 1})
	c := newCatalogue(to)
	search := func() (calls, roundTrips int) {
		ctx, meter := metering.Measured(t.Context())
		_, _, err := c.Search(ctx, source, catalogue.Query[talkRow]{Limit: 25})
		require.NoError(t, err)
		calls, roundTrips, _, _ = meter.Totals()
		return calls, roundTrips
	}
	calls, _ := search()
	require.Equal(t, 3, calls, "cold: versions, rows, bodies")
	calls, _ = search()
	require.Equal(t, 1, calls, "warm: versions")

	create(t, to, &talk{ID: "a", Title: "new", Version: 2})
	calls, roundTrips := search()
	require.Equal(t, 3, calls, "changed: versions, one shard, one body")
	require.Equal(t, 3, roundTrips)
}

func TestViewIsNeverChanged(t *testing.T) {
	to := tabletest.Start(t)
	create(t, to, &talk{ID: "a", Title: "old", Version: 1})
	c := newCatalogue(to)
	before, err := c.View(t.Context(), source)
	require.NoError(t, err)
	create(t, to, &talk{ID: "a", Title: "new", Version: 2}, &talk{ID: "b", Title: "added", Version: 1})
	after, err := c.View(t.Context(), source)
	require.NoError(t, err)

	row, ok := before.Get("a")
	require.True(t, ok)
	require.Equal(t, "old", row.Title)
	require.Len(t, before.All(), 1)
	row, ok = after.Get("a")
	require.True(t, ok)
	require.Equal(t, "new", row.Title)
	require.Len(t, after.All(), 2)
	_, ok = after.Get("none")
	require.False(t, ok)

	patched := after.With([]*talkRow{{ID: "a", Title: "newer", Created: 9, Version: 3}})
	row, _ = patched.Get("a")
	require.Equal(t, "newer", row.Title)
	require.Equal(t, "newer", patched.All()[1].Title)
	row, _ = after.Get("a")
	require.Equal(t, "new", row.Title)
}

// TestRowsOverOnePage loads rows that no single Query holds: 3 MB.
func TestRowsOverOnePage(t *testing.T) {
	to := tabletest.Start(t)
	chance := rand.New(rand.NewPCG(3, 3))
	var want []string
	for range 300 {
		b := someTalk(chance)
		b.Title += strings.Repeat(" and on", 1500)
		create(t, to, b)
		want = append(want, b.ID)
	}
	view, err := newCatalogue(to).View(t.Context(), source)
	require.NoError(t, err)
	var got []string
	for _, row := range view.All() {
		got = append(got, row.ID)
	}
	require.True(t, slices.IsSortedFunc(view.All(), byCreated))
	require.ElementsMatch(t, want, got)
	for _, id := range want {
		row, ok := view.Get(id)
		require.True(t, ok)
		require.Equal(t, id, row.ID)
	}
}

func TestForgottenBumpOrLostRowIsA503(t *testing.T) {
	to := tabletest.Start(t)
	create(t, to, &talk{ID: "a", Version: 1})
	require.NoError(t, to.Transact(t.Context(), catalogue.Bump(source, "a")))
	_, _, err := newCatalogue(to).Search(t.Context(), source, catalogue.Query[talkRow]{Limit: 25})
	requireUnavailable(t, err)
}

func requireUnavailable(t *testing.T, err error) {
	t.Helper()
	var shown *apierr.Error
	require.ErrorAs(t, err, &shown)
	require.Equal(t, http.StatusServiceUnavailable, shown.Status)
}

func TestBodyOlderThanItsRowIsA503(t *testing.T) {
	to := tabletest.Start(t)
	create(t, to, &talk{ID: "a", Version: 1})
	rowAndVersion := writes(t, &talk{ID: "a", Version: 2})[1:]
	require.NoError(t, to.Transact(t.Context(), rowAndVersion...))
	_, _, err := newCatalogue(to).Search(t.Context(), source, catalogue.Query[talkRow]{Limit: 25})
	requireUnavailable(t, err)
}

// lateBodies answers the first reads of bodies without items.
type lateBodies struct {
	table.Client
	reads, late int
}

func (l *lateBodies) BatchGetItem(
	ctx context.Context, in *dynamodb.BatchGetItemInput, o ...func(*dynamodb.Options),
) (*dynamodb.BatchGetItemOutput, error) {
	out, err := l.Client.BatchGetItem(ctx, in, o...)
	if l.reads++; err == nil && l.reads <= l.late {
		out.Responses = nil
	}
	return out, err
}

// TestABodyOfTheLastReadIsShown has a body that a search sees in the last read of its twelve.
func TestABodyOfTheLastReadIsShown(t *testing.T) {
	late := &lateBodies{}
	to := tabletest.Behind(t, func(c table.Client) table.Client { late.Client = c; return late })
	create(t, to, &talk{ID: "a", Title: "one", Version: 1})
	late.reads, late.late = 0, 11
	got, err := newCatalogue(to).Bodies(t.Context(), source, []catalogue.Want{{ID: "a", Version: 1}})
	require.NoError(t, err)
	require.Equal(t, "one", got[0].Value.Title)
	require.Equal(t, 12, late.reads)
	late.reads, late.late = 0, 12
	_, err = newCatalogue(to).Bodies(t.Context(), source, []catalogue.Want{{ID: "a", Version: 1}})
	requireUnavailable(t, err)
}

// TestBodyNewerThanItsRow has a body that became visible before its row.
func TestBodyNewerThanItsRow(t *testing.T) {
	to := tabletest.Start(t)
	create(t, to,
		&talk{ID: "a", Title: "one", Created: 1, Track: "x", Version: 1},
		&talk{ID: "b", Title: "two", Created: 2, Track: "x", Version: 1},
		&talk{ID: "c", Title: "three", Created: 3, Track: "x", Version: 1},
	)
	ofX := func(r *talkRow) bool { return r.Track == "x" }
	bodyOnly := func(b *talk) {
		require.NoError(t, to.Transact(t.Context(), writes(t, b)[0]))
	}
	bodyOnly(&talk{ID: "a", Title: "moved", Created: 1, Track: "y", Version: 2})
	found, total, err := newCatalogue(to).Search(t.Context(), source, catalogue.Query[talkRow]{Keep: alone(ofX), Limit: 2})
	require.NoError(t, err)
	require.Equal(t, []string{"two", "three"}, titles(found), "it no longer matches, so the page is refilled")
	require.Equal(t, 2, total)

	bodyOnly(&talk{ID: "a", Title: "last", Created: 9, Track: "x", Version: 3})
	found, total, err = newCatalogue(to).Search(t.Context(), source, catalogue.Query[talkRow]{Keep: alone(ofX), Limit: 2})
	require.NoError(t, err)
	require.Equal(t, []string{"two", "three"}, titles(found), "it has another place now")
	require.Equal(t, 3, total)
}

func TestBodies(t *testing.T) {
	to := tabletest.Start(t)
	create(t, to, &talk{ID: "a", Title: "old", Version: 1}, &talk{ID: "b", Title: "other", Version: 1})
	c := newCatalogue(to)
	want := []catalogue.Want{{ID: "b", Version: 1}, {ID: "a"}, {ID: "none"}, {ID: "b", Version: 1}}
	got, err := c.Bodies(t.Context(), source, want)
	require.NoError(t, err)
	require.Equal(t, "other", got[0].Value.Title)
	require.Equal(t, "old", got[1].Value.Title)
	require.Equal(t, catalogue.Body[*talk]{}, got[2])
	require.Equal(t, got[0], got[3])

	create(t, to, &talk{ID: "a", Title: "new", Version: 2})
	got, err = c.Bodies(t.Context(), source, []catalogue.Want{{ID: "a"}})
	require.NoError(t, err)
	require.Equal(t, "new", got[0].Value.Title, "without a version memory proves nothing")
	require.EqualValues(t, 2, got[0].Version)
	got, err = c.Bodies(t.Context(), source, []catalogue.Want{{ID: "a", Version: 1}})
	require.NoError(t, err)
	require.EqualValues(t, 2, got[0].Version, "a newer one is given as it is")
}

// queries counts the Queries of rows that reach the table.
type queries struct {
	table.Client
	ofRows atomic.Int64
}

func (q *queries) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	if pk, ok := in.ExpressionAttributeValues[":pk"].(*types.AttributeValueMemberS); ok && pk.Value == source.Rows {
		q.ofRows.Add(1)
	}
	return q.Client.Query(ctx, in, o...)
}

func TestSimultaneousCallersLoadOnce(t *testing.T) {
	counted := &queries{}
	to := tabletest.Behind(t, func(c table.Client) table.Client { counted.Client = c; return counted })
	create(t, to, &talk{ID: "a", Version: 1})
	c := newCatalogue(to)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			view, err := c.View(t.Context(), source)
			if err != nil || len(view.All()) != 1 {
				t.Errorf("view: %v", err)
			}
		})
	}
	all.Wait()
	require.EqualValues(t, 1, counted.ofRows.Load())
}

func TestCallerWhoLeavesDoesNotStopTheOthers(t *testing.T) {
	to := tabletest.Start(t)
	create(t, to, &talk{ID: "a", Version: 1})
	c := newCatalogue(to)
	gone, leave := context.WithCancel(t.Context())
	leave()
	_, err := c.View(gone, source)
	require.ErrorIs(t, err, context.Canceled)
	view, err := c.View(t.Context(), source)
	require.NoError(t, err)
	require.Len(t, view.All(), 1)
}

func TestMemoryIsCapped(t *testing.T) {
	to := tabletest.Start(t)
	create(t, to, &talk{ID: "a", Title: "one", Version: 1}, &talk{ID: "b", Title: "two", Version: 1})
	c := catalogue.New(to, catalogue.Options[talkRow, *talk]{
		Row: readRow, ID: func(r *talkRow) string { return r.ID }, Version: func(r *talkRow) int64 { return r.Version },
		Order: byCreated, Body: readTalk, BodyKey: bodyKey, RowOf: rowOf, MaxBytes: 1,
	})
	other := catalogue.Source{Rows: "f#R", Versions: "f#V", Family: "S", Shards: 4}
	for range 2 {
		found, _, err := c.Search(t.Context(), source, catalogue.Query[talkRow]{Limit: 25})
		require.NoError(t, err)
		require.Equal(t, []string{"one", "two"}, titles(found))
		ctx, meter := metering.Measured(t.Context())
		_, err = c.View(ctx, source)
		require.NoError(t, err)
		require.Equal(t, 1, callsOf(meter), "what was used last stays")
		_, err = c.View(t.Context(), other)
		require.NoError(t, err)
		_, err = c.View(ctx, source)
		require.NoError(t, err)
		require.Equal(t, 3, callsOf(meter), "it was forgotten and is loaded again")
	}
}

// TestASourceWithoutRowsTakesItsPart of the memory: there are as many as events.
func TestASourceWithoutRowsTakesItsPart(t *testing.T) {
	to := tabletest.Start(t)
	c := catalogue.New(to, catalogue.Options[talkRow, *talk]{
		Row: readRow, ID: func(r *talkRow) string { return r.ID }, Version: func(r *talkRow) int64 { return r.Version },
		Order: byCreated, Body: readTalk, BodyKey: bodyKey, RowOf: rowOf, MaxBytes: 64 << 10,
	})
	view := func(i int) {
		pk := strconv.Itoa(i)
		_, err := c.View(t.Context(), catalogue.Source{Rows: pk + "#R", Versions: pk + "#V", Family: "S", Shards: shards})
		require.NoError(t, err)
	}
	const sources = 300
	view(sources)
	before := heap()
	for i := range sources {
		view(i)
	}
	grown := int64(heap()) - int64(before)
	require.Less(t, grown, int64(sources*2_000), "each takes 7 KB, and few of them stay")
	runtime.KeepAlive(c)
}

// callsOf is how many calls a meter has seen.
func callsOf(m *metering.Meter) int {
	calls, _, _, _ := m.Totals() //nolint:dogsled // the other figures are of no interest here
	return calls
}

func TestErrorsOfDecodingAreNotShown(t *testing.T) {
	to := tabletest.Start(t)
	bad := table.Item{Key: catalogue.RowKey(source, "a"), Version: 1, Data: []byte("no JSON")}
	require.NoError(t, to.Transact(t.Context(), table.Insert(bad)))
	_, _, err := newCatalogue(to).Search(t.Context(), source, catalogue.Query[talkRow]{Limit: 25})
	require.Error(t, err)
	var shown *apierr.Error
	require.False(t, errors.As(err, &shown))
}

func TestShardsAreEvenAndFixed(t *testing.T) {
	chance := rand.New(rand.NewPCG(5, 5))
	filled := make([]int, shards)
	for range 64_000 {
		filled[catalogue.Shard(someTalk(chance).ID, shards)]++
	}
	require.Less(t, slices.Max(filled), 1200)
	require.Greater(t, slices.Min(filled), 800)
	require.Equal(t, table.Key{PK: "e#R", SK: "2c#a"}, catalogue.RowKey(catalogue.Source{Rows: "e#R", Shards: 64}, "a")) // stored rows depend on it
	require.Equal(t, table.Key{PK: "e#V", SK: "S#0f"}, catalogue.VersionKey(source, 15))
}
