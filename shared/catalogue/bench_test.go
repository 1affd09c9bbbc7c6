package catalogue_test

import (
	"context"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"lectern/localstack/test/tabletest"
	"lectern/shared/catalogue"
	"lectern/shared/table"
)

// seed stores n talks, many to a transaction, and gives them back.
func seed(tb testing.TB, to *table.Table, n int) []*talk {
	tb.Helper()
	const perPack = 20
	chance := rand.New(rand.NewPCG(1, uint64(n)))
	talks := make([]*talk, n)
	for i := range talks {
		talks[i] = someTalk(chance)
	}
	var g errgroup.Group
	g.SetLimit(8)
	for first := 0; first < n; first += perPack {
		g.Go(func() error {
			bumps := map[table.Key]table.Write{}
			var all []table.Write
			for _, b := range talks[first:min(first+perPack, n)] {
				all = append(all, writes(tb, b)[:2]...)
				bump := catalogue.Bump(source, b.ID)
				if both, ok := bump.Merge(bumps[bump.Key()]); ok {
					bump = both
				}
				bumps[bump.Key()] = bump
			}
			all = slices.AppendSeq(all, maps.Values(bumps))
			return to.Transact(context.Background(), all...)
		})
	}
	require.NoError(tb, g.Wait())
	return talks
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkCatalogue measures, at three sizes, a cold load, scans of a view, a
// warm search and a search after a write. The cold load reports what a row takes
// in memory.
func BenchmarkCatalogue(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) { benchmarkSize(b, n) })
	}
}

func benchmarkSize(b *testing.B, n int) {
	b.Helper()
	to := tabletest.Start(b)
	talks := seed(b, to, n)
	ctx := context.Background()
	track := talks[0].Track
	ofTrack := func(r *talkRow) bool { return r.Track == track && !r.Deleted }
	c := newCatalogue(to)
	before := heap()
	view, err := c.View(ctx, source)
	require.NoError(b, err)
	perRow := float64(heap()-before) / float64(n)

	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			_, err := newCatalogue(to).View(ctx, source)
			require.NoError(b, err)
		}
		b.ReportMetric(perRow, "B/row")
	})
	b.Run("scan", func(b *testing.B) {
		for b.Loop() {
			view.Select(catalogue.Query[talkRow]{Keep: alone(ofTrack), Limit: 25})
		}
	})
	b.Run("scan-deep", func(b *testing.B) {
		for b.Loop() {
			view.Select(catalogue.Query[talkRow]{Offset: 99_900, Limit: 100})
		}
	})
	b.Run("sort-track", func(b *testing.B) {
		for b.Loop() {
			view.Select(catalogue.Query[talkRow]{Keep: alone(ofTrack), Order: byStarts, Offset: 0, Limit: 25})
		}
	})
	b.Run("sort-all", func(b *testing.B) {
		for b.Loop() {
			view.Select(catalogue.Query[talkRow]{Order: byStarts, Offset: 0, Limit: 25})
		}
	})
	b.Run("sort-deep", func(b *testing.B) {
		for b.Loop() {
			view.Select(catalogue.Query[talkRow]{Order: byStarts, Offset: 99_900, Limit: 100})
		}
	})
	b.Run("with", func(b *testing.B) {
		changed := *view.All()[n/2]
		for b.Loop() {
			view.With([]*talkRow{&changed})
		}
	})
	b.Run("search", func(b *testing.B) {
		for b.Loop() {
			_, _, err := c.Search(ctx, source, catalogue.Query[talkRow]{Keep: alone(ofTrack), Limit: 25})
			require.NoError(b, err)
		}
	})
	b.Run("search-after-write", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			b.StopTimer()
			changed := talks[i%n]
			changed.Version++
			require.NoError(b, to.Transact(ctx, writes(b, changed)...))
			b.StartTimer()
			_, _, err := c.Search(ctx, source, catalogue.Query[talkRow]{Keep: alone(ofTrack), Limit: 25})
			require.NoError(b, err)
		}
	})
}
