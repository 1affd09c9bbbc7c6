// Package webhooks_test measures how soon webhooks arrive at receivers on this machine, with good
// and bad receivers, and what a write costs with and without endpoints. `make bench` runs the
// whole sizes and prints the figures of docs/performance.md.
package webhooks_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/tools/bench/scale"
)

// patience is the longest wait for what must arrive.
const patience = 5 * time.Minute

// receiver notes when the first request for each record arrives.
type receiver struct {
	*httptest.Server
	mu      sync.Mutex
	arrived map[string]time.Time
	// requests counts all requests.
	requests int
}

// newReceiver returns a receiver that answers by a function.
func newReceiver(t *testing.T, answer http.HandlerFunc) *receiver {
	t.Helper()
	r := &receiver{arrived: map[string]time.Time{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		now := time.Now()
		var body struct {
			Data struct {
				ID string `json:"id"`
			} `json:"data"`
		}
		text, err := io.ReadAll(req.Body)
		if err == nil && json.Unmarshal(text, &body) == nil {
			r.note(body.Data.ID, now)
		}
		answer(w, req)
	}))
	t.Cleanup(func() {
		r.CloseClientConnections()
		r.Close()
	})
	return r
}

// note keeps the first arrival of a record.
func (r *receiver) note(id string, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests++
	if _, seen := r.arrived[id]; !seen {
		r.arrived[id] = now
	}
}

// count returns the number of records that have arrived.
func (r *receiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.arrived)
}

// good answers 200 at once.
func good(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }

// fails answers 500 at once.
func fails(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }

// hangs answers nothing until the service gives up.
func hangs(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// slow answers 200 after ten seconds.
func slow(w http.ResponseWriter, r *http.Request) {
	select {
	case <-time.After(10 * time.Second):
		w.WriteHeader(http.StatusOK)
	case <-r.Context().Done():
	}
}

// start returns a client of a region that publishes, whose data is on the disk.
func start(t *testing.T) *it.Client {
	t.Helper()
	return &it.Client{Stack: stacktest.Start(t, stacktest.Publishing()), T: t}
}

// endpoint creates an endpoint for new sessions.
func endpoint(c *it.Client, url string) {
	c.T.Helper()
	c.Call(c.T, http.StatusOK, http.MethodPost, "/v1/webhooks/create", it.Object{"url": url, "events": []any{"session.created"}})
}

// create creates n sessions by some clients at once, and returns when each was answered and how long
// each took.
func create(c *it.Client, n, clients int) (answered map[string]time.Time, took []time.Duration) {
	c.T.Helper()
	answered = map[string]time.Time{}
	var mu sync.Mutex
	var all sync.WaitGroup
	next := make(chan int, n)
	for i := range n {
		next <- i
	}
	close(next)
	for range clients {
		all.Go(func() {
			for i := range next {
				began := time.Now()
				made := c.Call(c.T, http.StatusOK, http.MethodPost, c.EventPath("/sessions/create"), it.Object{"title": fmt.Sprint("Talk ", i)})
				now := time.Now()
				mu.Lock()
				answered[it.Entity(made.JSON(c.T)).ID()] = now
				took = append(took, now.Sub(began))
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return answered, took
}

// late returns the time from the answer of each write to the arrival at a receiver, in order.
func (r *receiver) late(answered map[string]time.Time) (all []time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, at := range answered {
		all = append(all, max(0, r.arrived[id].Sub(at)))
	}
	slices.Sort(all)
	return all
}

// quantile returns a quantile of ordered times, in milliseconds.
func quantile(all []time.Duration, q float64) float64 {
	return float64(all[int(q*float64(len(all)-1))].Microseconds()) / 1000
}

// await waits until the receivers have n records.
func await(t *testing.T, n int, receivers ...*receiver) {
	t.Helper()
	require.Eventually(t, func() bool {
		return !slices.ContainsFunc(receivers, func(r *receiver) bool { return r.count() < n })
	}, patience, 10*time.Millisecond)
}

// TestOneClient: from the answer of a write to the receiver's request.
func TestOneClient(t *testing.T) {
	c, r := start(t), newReceiver(t, good)
	endpoint(c, r.URL)
	n := scale.Size(20, 1_000)
	answered, _ := create(c, n, 1)
	await(t, n, r)
	all := r.late(answered)
	t.Logf("%d webhooks, one client: p50 %.1f ms, p99 %.1f ms after the answer", n, quantile(all, 0.5), quantile(all, 0.99))
}

// TestBadReceivers: two good receivers beside one that hangs, one that fails and one that is slow, and
// the two alone.
func TestBadReceivers(t *testing.T) {
	n := scale.Size(20, 10_000)
	for _, bad := range [][]http.HandlerFunc{{}, {hangs, fails, slow}} {
		c := start(t)
		one, two := newReceiver(t, good), newReceiver(t, good)
		for _, r := range []*receiver{one, two} {
			endpoint(c, r.URL)
		}
		for _, answer := range bad {
			endpoint(c, newReceiver(t, answer).URL)
		}
		began := time.Now()
		answered, _ := create(c, n, 8)
		wrote := time.Now()
		await(t, n, one, two)
		all := slices.Concat(one.late(answered), two.late(answered))
		slices.Sort(all)
		t.Logf("%d changes in %.1f s, two good receivers beside %d bad ones: p50 %.0f ms, p99 %.0f ms after the answer, all %.1f s after "+
			"the last write", n, wrote.Sub(began).Seconds(), len(bad), quantile(all, 0.5), quantile(all, 0.99), time.Since(wrote).Seconds())
	}
}

// writeOne creates a session and returns the time and the write units of the request.
func writeOne(c *it.Client, log *stacktest.Log, n int) (took time.Duration, units float64) {
	c.T.Helper()
	id := fmt.Sprint("write-", n)
	began := time.Now()
	c.Call(c.T, http.StatusOK, http.MethodPost, c.EventPath("/sessions/create"),
		stacktest.WithHeaders(it.Object{"title": fmt.Sprint("Talk ", n)}, "X-Request-Id", id))
	took = time.Since(began)
	return took, log.Fields(c.T, id)["wcu"].(float64)
}

// TestAWriteBesideEndpoints: the time and the units of a write with 0 and with 20 endpoints. Each write
// follows when the webhooks of the one before have arrived, as on AWS they take no processor from the
// writes; on this machine, writes without a pause share two cores with the deliveries.
func TestAWriteBesideEndpoints(t *testing.T) {
	n := scale.Size(10, 500)
	all := map[int]float64{}
	for _, endpoints := range []int{0, 20} {
		log := &stacktest.Log{}
		c := &it.Client{Stack: stacktest.Start(t, stacktest.Publishing(), stacktest.WithLog(log)), T: t}
		r := newReceiver(t, good)
		for range endpoints {
			endpoint(c, r.URL)
		}
		took := make([]time.Duration, n)
		for i := range took {
			var units float64
			took[i], units = writeOne(c, log, i)
			all[endpoints] += units
			r.awaitRequests(c.T, (i+1)*endpoints)
			time.Sleep(10 * time.Millisecond) // For the outcomes of the deliveries, and the same without endpoints.
		}
		slices.Sort(took)
		t.Logf("%d writes with %d endpoints: p50 %.1f ms, p99 %.1f ms, %.2f units each", n, endpoints, quantile(took, 0.5), quantile(took, 0.99),
			all[endpoints]/float64(n))
	}
	require.InDelta(t, all[0], all[20], float64(n)/10, "endpoints cost a write nothing")
}

// awaitRequests waits until n requests have come.
func (r *receiver) awaitRequests(t *testing.T, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.requests >= n
	}, patience, time.Millisecond)
}

// TestWritesBesideDeliveries: the time of a write with 0 and with 20 endpoints, without a pause.
func TestWritesBesideDeliveries(t *testing.T) {
	n := scale.Size(10, 500)
	for _, endpoints := range []int{0, 20} {
		c, r := start(t), newReceiver(t, good)
		for range endpoints {
			endpoint(c, r.URL)
		}
		_, took := create(c, n, 1)
		if endpoints > 0 {
			await(t, n, r)
		}
		slices.Sort(took)
		t.Logf("%d writes without a pause with %d endpoints: p50 %.1f ms, p99 %.1f ms", n, endpoints, quantile(took, 0.5), quantile(took, 0.99))
	}
}
