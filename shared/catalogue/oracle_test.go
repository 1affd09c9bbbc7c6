package catalogue_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/local/faulty"
	"lectern/localstack/test/it"
	"lectern/localstack/test/tabletest"
	"lectern/shared/catalogue"
	"lectern/shared/table"
)

// query is one of the searches of the oracle test.
type query struct {
	name  string
	keep  func(*talkRow) bool
	order func(a, b *talkRow) int
}

func live(r *talkRow) bool { return !r.Deleted }

var searches = []query{
	{"all", nil, nil},
	{"live", live, nil},
	{"track", func(r *talkRow) bool { return r.Track == trackName(0) && live(r) }, nil},
	{"tag by start", func(r *talkRow) bool { return len(r.Tags) > 0 && live(r) }, byStarts},
}

func trackName(n int) string { return fmt.Sprintf("%08x-0000-4000-8000-000000000000", n) }

// world is what the writers know to be stored, beside the table itself.
type world struct {
	table *table.Table
	mu    sync.Mutex
	known map[string]known
	ids   []string
}

// known is one record: busy while it is being written, with a stamp that every
// write changes, so that who has seen the same stamp twice knows that nobody
// wrote in between.
type known struct {
	talk  talk
	busy  bool
	stamp int
}

// take gives a record to write: one that nobody else writes, or a new one, the
// seldomer the more there are.
func (w *world) take(chance *rand.Rand) talk {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := len(w.ids); n > 20 && chance.IntN(n) > 10 {
		id := w.ids[chance.IntN(len(w.ids))]
		if k := w.known[id]; !k.busy {
			k.busy, k.stamp = true, k.stamp+1
			w.known[id] = k
			return changed(k.talk, chance)
		}
	}
	b := *someTalk(chance)
	w.known[b.ID] = known{busy: true}
	return b
}

func changed(b talk, chance *rand.Rand) talk {
	other := someTalk(chance)
	b.Version++
	b.Title, b.Starts, b.Track, b.Tags, b.Deleted = other.Title, other.Starts, other.Track, other.Tags, chance.IntN(5) == 0
	return b
}

// write stores a change and notes what stands then: what was answered, or, where
// no answer came, what is read.
func (w *world) write(t *testing.T, b talk) error {
	t.Helper()
	err := w.table.Transact(t.Context(), writes(t, &b)...)
	if err != nil && !errors.Is(err, table.ErrBusy) {
		return err
	}
	if err != nil {
		if b, err = w.read(t.Context(), b.ID); err != nil {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if b.Version == 0 {
		delete(w.known, b.ID)
		return nil
	}
	if b.Version == 1 {
		w.ids = append(w.ids, b.ID)
	}
	w.known[b.ID] = known{talk: b, stamp: w.known[b.ID].stamp}
	return nil
}

func (w *world) read(ctx context.Context, id string) (talk, error) {
	item, err := w.table.Get(ctx, bodyKey(source, id))
	if errors.Is(err, table.ErrNotFound) {
		return talk{ID: id}, nil
	}
	if err != nil {
		return talk{}, err
	}
	b, err := readTalk(item)
	return *b, err
}

func (w *world) snapshot() map[string]known {
	w.mu.Lock()
	defer w.mu.Unlock()
	idle := map[string]known{}
	for id, k := range w.known {
		if !k.busy {
			idle[id] = k
		}
	}
	return idle
}

// matches is whether the query finds a record.
func (q query) matches(r *talkRow) bool { return q.keep == nil || q.keep(r) }

// compare is the order of the query.
func (q query) compare(a, b *talkRow) int {
	if q.order == nil {
		return byCreated(a, b)
	}
	return cmp.Or(q.order(a, b), byCreated(a, b))
}

// check looks at a search that was made between two snapshots: it must show what
// matches, in order and no older than before, and each record that nobody wrote in
// between just as it is, or not at all.
func (q query) check(found []*talk, total int, before, after map[string]known) error {
	rows := make([]*talkRow, len(found))
	at := map[string]*talkRow{}
	for i, b := range found {
		row := rowOf(b)
		rows[i], at[b.ID] = &row, &row
		if !q.matches(&row) || row.Version < before[b.ID].talk.Version {
			return fmt.Errorf("found %+v, stored %+v", row, before[b.ID])
		}
	}
	if total != len(found) || len(at) != len(found) || !slices.IsSortedFunc(rows, q.compare) {
		return fmt.Errorf("%d found of %d, %d distinct, or not in order", len(found), total, len(at))
	}
	return q.checkUnchanged(at, before, after)
}

// checkUnchanged looks at the records that nobody wrote in between.
func (q query) checkUnchanged(found map[string]*talkRow, before, after map[string]known) error {
	for id, k := range before {
		if now, ok := after[id]; !ok || now.stamp != k.stamp {
			continue
		}
		row, ok := found[id]
		if stored := rowOf(&k.talk); q.matches(&stored) != ok || ok && row.Version != stored.Version {
			return fmt.Errorf("stored %+v, found %v", stored, row)
		}
	}
	return nil
}

// TestSearchAgreesWithTheTable writes and searches at random, from several
// goroutines and two catalogues, with and without faults. While writers run every
// search must hold what was answered before it began; when they rest, every page
// must be the one that a full read of the bodies gives.
func TestSearchAgreesWithTheTable(t *testing.T) {
	for name, faults := range map[string]faulty.Config{
		"without faults": {},
		"torn":           {Seed: 1, Torn: 0.5},
		"versions last":  {Seed: 3, Torn: 0.8, VersionsLast: 1},
		"all faults":     {Seed: 2, Torn: 0.3, Conflict: 0.1, Throttle: 0.03, DropBefore: 0.03, DropAfter: 0.03},
	} {
		t.Run(name, func(t *testing.T) {
			door := &faulty.Door{}
			to := tabletest.Behind(t, func(c table.Client) table.Client { door = faulty.New(c, faults); return door })
			w := &world{table: to, known: map[string]known{}}
			instances := []*catalogue.Catalogue[talkRow, *talk]{newCatalogue(to), newCatalogue(to)}
			for round := range it.Size(4, 20) {
				w.run(t, instances, uint64(round), it.Size(150, 500))
				rows, bodies := w.full(t)
				for _, c := range instances {
					compare(t, c, rows, bodies)
				}
			}
			t.Logf("faults: %+v, records: %d", door.Counts(), len(w.ids))
		})
	}
}

// run makes n writes by four writers, and searches as long as they write.
func (w *world) run(t *testing.T, instances []*catalogue.Catalogue[talkRow, *talk], seed uint64, n int) {
	t.Helper()
	const writers = 4
	var writing, searching sync.WaitGroup
	done := make(chan struct{})
	for i := range uint64(writers) {
		writing.Go(func() {
			chance := rand.New(rand.NewPCG(seed, i))
			for range n / writers {
				if err := w.write(t, w.take(chance)); err != nil {
					t.Errorf("write: %v", err)
					return
				}
			}
		})
	}
	for i, c := range slices.Concat(instances, instances) {
		searching.Go(func() {
			for n := i; ; n++ {
				q := searches[n%len(searches)]
				before := w.snapshot()
				found, total, err := c.Search(t.Context(), source, catalogue.Query[talkRow]{Keep: alone(q.keep), Order: q.order, Offset: 0, Limit: 1_000_000})
				if err == nil {
					err = q.check(found, total, before, w.snapshot())
				}
				if err != nil {
					t.Errorf("search %s: %v", q.name, err)
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	writing.Wait()
	close(done)
	searching.Wait()
}

// compare searches by page and compares with a full read.
func compare(t *testing.T, c *catalogue.Catalogue[talkRow, *talk], rows []*talkRow, bodies map[string]*talk) {
	t.Helper()
	const size = 25
	for _, q := range searches {
		want := q.naive(rows)
		for offset := 0; offset <= len(want); offset += size {
			found, total, err := c.Search(t.Context(), source, catalogue.Query[talkRow]{Keep: alone(q.keep), Order: q.order, Offset: offset, Limit: size})
			require.NoError(t, err)
			require.Equal(t, len(want), total, q.name)
			require.Len(t, found, min(size, len(want)-offset), q.name)
			for i, b := range found {
				require.Equal(t, bodies[want[offset+i].ID], b, q.name)
			}
		}
	}
}

// naive answers a query from all rows there are.
func (q query) naive(rows []*talkRow) []*talkRow {
	found := slices.DeleteFunc(slices.Clone(rows), func(r *talkRow) bool { return !q.matches(r) })
	slices.SortFunc(found, q.compare)
	return found
}

// full reads every row and body there is, and checks that they agree with each
// other and with the versions of the shards.
func (w *world) full(t *testing.T) (rows []*talkRow, bodies map[string]*talk) {
	t.Helper()
	var keys []table.Key
	sums := map[table.Key]int64{}
	for item, err := range w.table.Between(t.Context(), source.Rows, "0", "~") {
		require.NoError(t, err)
		row, err := readRow(item)
		require.NoError(t, err)
		rows, keys = append(rows, &row), append(keys, bodyKey(source, row.ID))
		sums[catalogue.VersionKey(source, catalogue.Shard(row.ID, shards))] += row.Version * table.Weight(row.ID)
	}
	items, err := w.table.GetMany(t.Context(), append(keys, slices.Collect(maps.Keys(sums))...))
	require.NoError(t, err)
	for key, sum := range sums {
		require.Equal(t, items[key].Version, sum)
	}
	bodies = map[string]*talk{}
	for i, row := range rows {
		bodies[row.ID], err = readTalk(items[keys[i]])
		require.NoError(t, err)
		require.Equal(t, rowOf(bodies[row.ID]), *row)
	}
	return rows, bodies
}
