package transcriptions_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/local/faulty"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/table"
)

// TestReadersBesideWriters: while long fragments come into the middle of full segments, and the items
// of a transaction become visible one by one, each page has as many fragments as its total says, each
// once and in order, and the total has all that were stored before.
func TestReadersBesideWriters(t *testing.T) {
	var door *faulty.Door
	d := newDesk(t, stacktest.WithClient(func(inner table.Client) table.Client {
		door = faulty.New(inner, faulty.Mixed(it.Seed(t)))
		return door
	}))
	const size = 50
	var stored atomic.Int64
	n := it.Size(150, 2_000)
	long := strings.Repeat("x", 3_000_000/n) // All together less than a session may hold.
	it.Concurrently(4, func(reader int) {
		if reader == 0 {
			defer stored.Store(-1)
			for i := range n {
				body := object{"type": "fragment", "start_time": (i * 37) % n, "transcription": long}
				answer := d.TrySend(t, http.MethodPost, d.EventPath(d.path()), body)
				if answer.Status != http.StatusCreated {
					t.Errorf("%d %s", answer.Status, answer.Body)
					return
				}
				stored.Add(1)
			}
			return
		}
		for before := int(stored.Load()); before >= 0; before = int(stored.Load()) {
			path := fmt.Sprintf("%s?pageSize=%d&page=%d", d.path(), size, reader)
			answer := d.TrySend(t, http.MethodGet, d.EventPath(path), nil)
			if answer.Status != http.StatusOK {
				t.Errorf("%d %s", answer.Status, answer.Body)
				return
			}
			var l listing
			answer.Into(t, &l)
			var starts []float64
			for _, one := range l.Data {
				starts = append(starts, one["start_time"].(float64))
			}
			total := l.Pagination.TotalResults
			inOrder := slices.IsSorted(starts) && len(slices.Compact(slices.Clone(starts))) == len(starts)
			if total < before || !inOrder || len(starts) != max(0, min(size, total-(reader-1)*size)) {
				t.Errorf("%d stored: page %d has %v of %d", before, reader, starts, total)
				return
			}
		}
	})
	require.Positive(t, door.Counts().TornReads)
	require.Equal(t, n, d.list("pageSize=1").Pagination.TotalResults)
	it.EngineOf(t, d.Stack).RequireWhole(t)
}
