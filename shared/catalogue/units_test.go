package catalogue_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/tabletest"
	"lectern/shared/catalogue"
	"lectern/shared/metering"
	"lectern/shared/table"
)

type memory = catalogue.Catalogue[talkRow, *talk]

// cost is the calls and read units of a View.
func cost(t *testing.T, c *memory) (view *catalogue.View[talkRow], calls int, units float64) {
	t.Helper()
	ctx, meter := metering.Measured(t.Context())
	view, err := c.View(ctx, source)
	require.NoError(t, err)
	calls, _, units, _ = meter.Totals()
	return view, calls, units
}

// TestUnitsOfAViewAfterWrites: a reader that is one record behind in a shard reads one
// row, whatever the size of the shard, and all such shards with one batch.
func TestUnitsOfAViewAfterWrites(t *testing.T) {
	to := tabletest.Start(t)
	talks := seed(t, to, 1000)
	c := newCatalogue(to)
	_, calls, units := cost(t, c)
	require.LessOrEqual(t, calls, 2, "versions and one page")
	t.Logf("cold: %v units", units)
	_, calls, warm := cost(t, c)
	require.Equal(t, 1, calls)
	write := func(b *talk) {
		b.Version++
		b.Title = "version " + strconv.FormatInt(b.Version, 10)
		require.NoError(t, to.Transact(t.Context(), writes(t, b)...))
	}
	after := func(extra float64, calls int, what string) {
		t.Helper()
		view, called, units := cost(t, c)
		require.InDelta(t, warm+extra, units, 0.1, what)
		require.Equal(t, calls, called, what)
		for _, b := range talks {
			row, ok := view.Get(b.ID)
			require.True(t, ok)
			require.Equal(t, rowOf(b), *row)
		}
		require.Len(t, view.All(), len(talks))
		require.True(t, slices.IsSortedFunc(view.All(), byCreated))
	}
	write(talks[0])
	after(1, 2, "one write")
	for range 3 {
		write(talks[1])
	}
	after(1, 2, "several writes of one record")
	added := someTalk(rand.New(rand.NewPCG(8, 8)))
	require.NoError(t, to.Transact(t.Context(), writes(t, added)...))
	talks = append(talks, added)
	after(1, 2, "a new record")
	apart := map[int]bool{}
	for _, b := range talks {
		if shard := catalogue.Shard(b.ID, shards); len(apart) < 10 && !apart[shard] {
			apart[shard] = true
			write(b)
		}
	}
	after(10, 2, "writes of ten shards")
	first, second := talks[0], talks[0]
	for _, b := range talks[1:] {
		if catalogue.Shard(b.ID, shards) == catalogue.Shard(first.ID, shards) {
			second = b
		}
	}
	write(first)
	write(second)
	after(1, 2, "two records of one shard, which is read whole: 16 rows")
}

// TestMergedBumpsAreReadAsAShard: a pack names no last id, or that of its only record.
func TestMergedBumpsAreReadAsAShard(t *testing.T) {
	to := tabletest.Start(t)
	near := neighbours()
	create(t, to, &talk{ID: near[0], Version: 1}, &talk{ID: near[1], Version: 1})
	c := newCatalogue(to)
	cost(t, c)
	a, b := writes(t, &talk{ID: near[0], Title: "a", Version: 2}), writes(t, &talk{ID: near[1], Title: "b", Version: 2})
	both, ok := a[2].Merge(b[2])
	require.True(t, ok)
	require.NoError(t, to.Transact(t.Context(), append(slices.Concat(a[:2], b[:2]), both)...))
	view, calls, _ := cost(t, c)
	require.Equal(t, 2, calls)
	for i, title := range []string{"a", "b"} {
		row, _ := view.Get(near[i])
		require.Equal(t, title, row.Title)
	}
}

// TestALastIdThatIsNotYetVisible has the version of a write become visible before its
// row: the row that the last id names proves nothing then.
func TestALastIdThatIsNotYetVisible(t *testing.T) {
	to := tabletest.Start(t)
	id := neighbours()[0]
	create(t, to, &talk{ID: id, Title: "old", Version: 1})
	c := newCatalogue(to)
	cost(t, c)
	torn := writes(t, &talk{ID: id, Title: "new", Version: 2})
	require.NoError(t, to.Transact(t.Context(), torn[2]))
	_, err := c.View(t.Context(), source)
	requireUnavailable(t, err)
	visible := make(chan error, 1)
	go func() {
		time.Sleep(2 * time.Millisecond)
		visible <- to.Transact(context.WithoutCancel(t.Context()), torn[:2]...)
	}()
	view, err := newCatalogue(to).View(t.Context(), source)
	require.NoError(t, <-visible)
	require.NoError(t, err)
	row, _ := view.Get(id)
	require.Equal(t, "new", row.Title)
}

// short refuses Queries of rows after so many.
type short struct {
	table.Client
	left atomic.Int64
}

func (s *short) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	if pk, ok := in.ExpressionAttributeValues[":pk"].(*types.AttributeValueMemberS); ok && pk.Value == source.Rows && s.left.Add(-1) < 0 {
		return nil, context.DeadlineExceeded // not tried again
	}
	return s.Client.Query(ctx, in, o...)
}

// big stores rows of more than a page, which hardly deflate.
func big(t *testing.T, to *table.Table) {
	t.Helper()
	chance := rand.New(rand.NewPCG(4, 4))
	for i := range 300 {
		b := someTalk(chance)
		text := make([]byte, 5000)
		for at := range text {
			text[at] = byte(chance.Uint32())
		}
		b.Title = hex.EncodeToString(text) + strconv.Itoa(i)
		create(t, to, b)
	}
}

// TestALoadThatFailsIsContinued: no shard is read twice, and none's version.
func TestALoadThatFailsIsContinued(t *testing.T) {
	door := &short{}
	to := tabletest.Behind(t, func(c table.Client) table.Client { door.Client = c; return door })
	big(t, to)
	door.left.Store(1 << 30)
	_, _, whole := cost(t, newCatalogue(to))
	c := newCatalogue(to)
	var total float64
	tries := 0
	for ; ; tries++ {
		door.left.Store(9)
		ctx, meter := metering.Measured(t.Context())
		view, err := c.View(ctx, source)
		_, _, units, _ := meter.Totals()
		total += units
		if err == nil {
			require.Len(t, view.All(), 300)
			break
		}
		require.Less(t, tries, 10)
	}
	require.Positive(t, tries)
	require.InDelta(t, whole+2*float64(tries), total, 2*float64(tries), "once each, and the versions at each try")
}

// TestKnownRowsGrow: each call reads a page of rows at most, and later ones continue.
func TestKnownRowsGrow(t *testing.T) {
	to := tabletest.Start(t)
	big(t, to)
	c := newCatalogue(to)
	all, err := newCatalogue(to).View(t.Context(), source)
	require.NoError(t, err)
	known, least := 0, 0
	for range 20 {
		ctx, meter := metering.Measured(t.Context())
		view, err := c.PartialView(ctx, source)
		require.NoError(t, err)
		_, _, units, _ := meter.Totals()
		require.Less(t, units, 300.0)
		known = 0
		for _, row := range all.All() {
			if got, ok := view.Get(row.ID); ok {
				known++
				require.Equal(t, row, got)
			}
		}
		require.GreaterOrEqual(t, known, least)
		least = known
	}
	require.Equal(t, 300, known)
	_, calls, _ := cost(t, c)
	require.Equal(t, 1, calls, "a view is made of what is known")
}

// TestRowsBehindTheLastShardCountNowhere, such as of a source that had more shards.
func TestRowsBehindTheLastShardCountNowhere(t *testing.T) {
	to := tabletest.Start(t)
	big(t, to)
	few := source
	few.Shards = 4
	view, err := newCatalogue(to).View(t.Context(), few)
	require.NoError(t, err)
	require.NotEmpty(t, view.All())
	for _, row := range view.All() {
		require.Less(t, catalogue.Shard(row.ID, shards), few.Shards)
	}
}

// TestABadShardRefusesOnlyWhatNeedsIt, cheaply, and is named in the log until it is mended.
func TestABadShardRefusesOnlyWhatNeedsIt(t *testing.T) {
	to := tabletest.Start(t)
	var log bytes.Buffer
	to.Log = slog.New(slog.NewJSONHandler(&log, nil))
	near := neighbours()
	other := someTalk(rand.New(rand.NewPCG(6, 6)))
	create(t, to, &talk{ID: near[0], Version: 1}, other)
	key := catalogue.VersionKey(source, catalogue.Shard(near[0], shards))
	require.NoError(t, to.Transact(t.Context(), table.Bump(key, 1)))
	c := newCatalogue(to)
	for range 3 {
		view, err := c.PartialView(t.Context(), source)
		require.NoError(t, err)
		_, ok := view.Get(near[0])
		require.False(t, ok)
		_, ok = view.Get(other.ID)
		require.True(t, ok)
	}
	require.Empty(t, log.String(), "it may be a write that becomes visible")
	_, err := c.View(t.Context(), source)
	requireUnavailable(t, err)
	require.Contains(t, log.String(), `"metric":"shard_mismatch","partition":"e#R","versions":"e#V","family":"S","shard":"`+key.SK[2:]+`"`)
	ctx, meter := metering.Measured(t.Context())
	_, err = c.View(ctx, source)
	requireUnavailable(t, err)
	require.Equal(t, 1, callsOf(meter), "it is remembered to be bad")
	require.NoError(t, to.Transact(t.Context(), table.Bump(key, -1)))
	_, err = c.View(t.Context(), source)
	require.NoError(t, err)
}

// TestShareVersionsReadsAPartitionOnce for all families, and sees what was written before it.
func TestShareVersionsReadsAPartitionOnce(t *testing.T) {
	to := tabletest.Start(t)
	b := someTalk(rand.New(rand.NewPCG(2, 2)))
	create(t, to, b)
	other := source
	other.Rows, other.Family = "e#T", "T"
	c := newCatalogue(to)
	for _, src := range []catalogue.Source{source, other} {
		_, err := c.View(t.Context(), src)
		require.NoError(t, err)
	}
	b.Version, b.Title = 2, "new"
	require.NoError(t, to.Transact(t.Context(), writes(t, b)...))
	ctx, meter := metering.Measured(t.Context())
	ctx = catalogue.ShareVersions(ctx, other, source)
	for range 2 {
		view, err := c.View(ctx, source)
		require.NoError(t, err)
		row, _ := view.Get(b.ID)
		require.Equal(t, "new", row.Title)
		_, err = c.View(ctx, other)
		require.NoError(t, err)
	}
	require.Equal(t, 2, callsOf(meter), "the versions, the row")
	b.Version, b.Title = 3, "newer"
	require.NoError(t, to.Transact(t.Context(), writes(t, b)...))
	view, err := c.View(catalogue.RenewVersions(ctx), source)
	require.NoError(t, err)
	row, _ := view.Get(b.ID)
	require.Equal(t, "newer", row.Title)
}

// TestACallerWhoWaitsCanLeave while another one reads.
func TestACallerWhoWaitsCanLeave(t *testing.T) {
	held, reading := make(chan struct{}), make(chan struct{}, 2)
	client := &hung{rows: func() { reading <- struct{}{}; <-held }}
	c := newCatalogue(table.New(client, "none"))
	done := make(chan error, 1)
	go func() {
		_, err := c.View(context.WithoutCancel(t.Context()), source)
		done <- err
	}()
	<-reading
	gone, leave := context.WithTimeout(t.Context(), time.Millisecond)
	defer leave()
	_, err := c.View(gone, source)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	close(held)
	require.NoError(t, <-done)
}

// hung is an empty table whose rows wait.
type hung struct {
	table.Client
	rows func()
}

func (h *hung) Query(_ context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	if pk, ok := in.ExpressionAttributeValues[":pk"].(*types.AttributeValueMemberS); ok && pk.Value == source.Rows {
		h.rows()
	}
	return &dynamodb.QueryOutput{}, nil
}
