package catalogue_test

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/local/faulty"
	"lectern/localstack/test/it"
	"lectern/localstack/test/tabletest"
	"lectern/shared/catalogue"
	"lectern/shared/table"
)

// TestARowAheadDoesNotHideOneBehind has two writes of one shard become visible
// crosswise: the first shows its version and not yet its row, the second its row
// and not yet its version. Whatever is read then must not be kept.
func TestARowAheadDoesNotHideOneBehind(t *testing.T) {
	near := neighbours()
	for _, ids := range [][2]string{{near[0], near[1]}, {near[1], near[0]}} {
		to := tabletest.Start(t)
		land := func(items ...table.Write) { require.NoError(t, to.Transact(t.Context(), items...)) }
		create(t, to, &talk{ID: ids[0], Title: "old", Version: 1}, &talk{ID: ids[1], Title: "old", Version: 1})
		first := writes(t, &talk{ID: ids[0], Title: "first", Version: 2})
		second := writes(t, &talk{ID: ids[1], Title: "second", Version: 2})
		warm, cold := newCatalogue(to), newCatalogue(to)
		_, err := warm.View(t.Context(), source)
		require.NoError(t, err)

		land(first[2])
		land(second[:2]...)
		for _, c := range []*catalogue.Catalogue[talkRow, *talk]{warm, cold} {
			_, err := c.View(t.Context(), source)
			requireUnavailable(t, err)
		}
		land(first[:2]...) // and the first is answered
		for _, c := range []*catalogue.Catalogue[talkRow, *talk]{warm, cold} {
			_, err := c.View(t.Context(), source)
			requireUnavailable(t, err)
		}
		land(second[2])
		for _, c := range []*catalogue.Catalogue[talkRow, *talk]{warm, cold} {
			found, _, err := c.Search(t.Context(), source, catalogue.Query[talkRow]{Limit: 25})
			require.NoError(t, err)
			require.ElementsMatch(t, []string{"first", "second"}, titles(found))
		}
	}
}

// neighbours are ids of one shard.
func neighbours() (ids [4]string) {
	chance := rand.New(rand.NewPCG(7, 7))
	for i := range ids {
		for ids[i] == "" || catalogue.Shard(ids[0], shards) != catalogue.Shard(ids[i], shards) {
			ids[i] = someTalk(chance).ID
		}
	}
	return ids
}

// TestAShardThatIsWrittenWithoutEndIsFound has writers of one shard, each of whom
// looks for what it wrote while the others go on. All transactions are torn.
func TestAShardThatIsWrittenWithoutEndIsFound(t *testing.T) {
	to := tabletest.Behind(t, func(c table.Client) table.Client { return faulty.New(c, faulty.Config{Seed: 9, Torn: 1}) })
	c := newCatalogue(to)
	var writers sync.WaitGroup
	for _, id := range neighbours() {
		writers.Go(func() {
			for version := range int64(it.Size(40, 400)) {
				b := &talk{ID: id, Version: version + 1}
				if err := to.Transact(t.Context(), writes(t, b)...); err != nil {
					t.Errorf("write: %v", err)
					return
				}
				view, err := c.View(t.Context(), source)
				if err != nil {
					t.Errorf("view: %v", err)
					return
				}
				if row, ok := view.Get(id); !ok || row.Version != b.Version {
					t.Errorf("stored %+v, found %+v", b, row)
				}
			}
		})
	}
	writers.Wait()
}
