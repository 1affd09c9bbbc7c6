// Package logs_test measures how fast an organization's logs are exported. `make bench` runs the
// whole sizes and prints the figures of docs/performance.md.
package logs_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/functions/logexport"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/requestlog"
	"lectern/shared/wire"
	"lectern/tools/bench/scale"
)

// inPack is the number of requests that a busy region's subscription delivers at a time for an
// organization.
const inPack = 100

// storeRequests stores n requests of the last six hours, as the ingester does.
func storeRequests(c *it.Client, n int) {
	c.T.Helper()
	began := time.Now().Add(-6 * time.Hour)
	for first := 0; first < n; first += inPack {
		at := began.Add(time.Duration(first) * 6 * time.Hour / time.Duration(n))
		b := requestlog.Batch{Org: c.Org, Hash: sha256.Sum256(fmt.Append(nil, first)), Entries: make([]requestlog.Entry, inPack)}
		for i := range b.Entries {
			b.Entries[i] = requestlog.Entry{
				RequestID: fmt.Sprint("request-", first+i), At: wire.At(at), Method: http.MethodGet, Status: http.StatusOK, Milliseconds: 4,
				Path: c.EventPath("/sessions/018f9f6e-7c1a-7b51-9c39-6a5b8d1f2e30"), Event: 1, Token: 1, IP: "203.0.113.9", UserAgent: "curl/8.14.1",
			}
		}
		stored, err := requestlog.Store(c.T.Context(), c.Table(c.T), b, at)
		require.NoError(c.T, err)
		require.True(c.T, stored)
	}
}

// export reads a whole log in pages of 1,000 events by log export tokens in turn, since each may send
// 60 requests a minute. It returns the number of events and of pages.
func export(c *it.Client, log string) (events, pages int) {
	c.T.Helper()
	served := c.ServeGroup(logexport.Group, func(env *api.Env) {
		env.Now = func() time.Time { return time.Now().Add(2 * time.Minute) } // The last minute is not exported yet.
	}).WithToken("")
	var readers []*it.Client
	for range 4 {
		readers = append(readers, &it.Client{Stack: served.As(c.TokenWith(c.T, it.Object{"kind": "log_export"})), T: c.T})
	}
	for path := "/v1/logs/" + log + "?limit=1000"; ; pages++ {
		var page struct {
			Results    []json.RawMessage `json:"results"`
			NextCursor string            `json:"next_cursor"`
			HasMore    bool              `json:"has_more"`
		}
		readers[pages%len(readers)].Call(c.T, http.StatusOK, http.MethodGet, path, nil).Into(c.T, &page)
		events += len(page.Results)
		if !page.HasMore {
			return events, pages + 1
		}
		path = "/v1/logs/" + log + "?limit=1000&cursor=" + page.NextCursor
	}
}

// measure exports a log, which has n events at least, and prints how long that took.
func measure(c *it.Client, log string, n int) {
	c.T.Helper()
	began := time.Now()
	events, pages := export(c, log)
	require.GreaterOrEqual(c.T, events, n)
	took := time.Since(began)
	c.T.Logf("%s: %d events in %d pages in %.1f s, %.0f a second", log, events, pages, took.Seconds(), float64(events)/took.Seconds())
}

// TestExportOfRequests reads 100,000 requests.
func TestExportOfRequests(t *testing.T) {
	c := &it.Client{Stack: stacktest.Start(t), T: t}
	n := scale.Size(200, 100_000)
	storeRequests(c, n)
	measure(c, "api-requests", n)
}

// TestExportOfTheAuditTrail reads 100,000 changes of sessions.
func TestExportOfTheAuditTrail(t *testing.T) {
	c := &it.Client{Stack: stacktest.Start(t), T: t}
	n := scale.Size(200, 100_000)
	operations := make([]any, 100)
	for i := range operations {
		made := c.Call(t, http.StatusOK, http.MethodPost, c.EventPath("/sessions/create"), it.Object{"title": fmt.Sprint("Talk ", i)})
		operations[i] = it.Object{"action": "update", "id": made.JSON(t)["id"], "data": it.Object{"capacity": 1}}
	}
	for written := 0; written < n; written += len(operations) {
		for _, o := range operations {
			o.(it.Object)["data"] = it.Object{"capacity": written + 1}
		}
		c.Call(t, http.StatusOK, http.MethodPost, c.EventPath("/sessions/bulk"), it.Object{"operations": operations})
	}
	measure(c, "audit-trail", n)
}
