package settings_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// TestConcurrentReadsOfSettings meet a change between the reading of the caller and
// that of the settings, again and again, and see one of the states, whole, never an
// older one than before.
func TestConcurrentReadsOfSettings(t *testing.T) {
	d := it.NewClient(t)
	path := d.EventPath("/tracks/" + d.NewEntry("tracks", "0").ID())
	var written atomic.Int64
	var done atomic.Bool
	it.Concurrently(4, func(client int) {
		if client > 0 {
			for seen := int64(0); !done.Load() && !t.Failed(); {
				seen = trackAfter(t, d.Stack, max(seen, written.Load()))
			}
			return
		}
		defer done.Store(true)
		for n := range int64(it.Size(150, 3000)) {
			if a := d.TrySend(t, http.MethodPut, path, object{"name": fmt.Sprint(n)}); a.Status != http.StatusOK {
				t.Errorf("write %d answered %d %s", n, a.Status, a.Body)
				return
			}
			written.Store(n)
		}
	})
}

// trackAfter reads the number that the event's one track is named, which may not be
// less than the one that was seen.
func trackAfter(t *testing.T, s *stacktest.Stack, seen int64) int64 {
	t.Helper()
	a := s.TrySend(t, http.MethodGet, s.EventPath("/tracks"), nil)
	var tracks []struct{ Name string }
	if err := json.Unmarshal(a.Body, &tracks); err != nil || len(tracks) != 1 {
		t.Errorf("a read answered %d %s", a.Status, a.Body)
		return seen
	}
	n, err := strconv.ParseInt(tracks[0].Name, 10, 64)
	if err != nil || n < seen {
		t.Errorf("the track is named %q after %d", tracks[0].Name, seen)
	}
	return n
}
