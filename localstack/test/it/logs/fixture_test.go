package logs_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/functions/logexport"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/change"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// The logs as paths name them.
const (
	requests = "api-requests"
	security = "security-events"
	audit    = "audit-trail"
)

// paths lists all logs.
var paths = []string{requests, security, audit}

// streams has the stream of each log.
var streams = map[string]string{requests: "api_request", security: "security_event", audit: "audit"}

// clock is the clock of a service; unless it is set, it is two minutes ahead.
type clock struct {
	read atomic.Pointer[func() time.Time]
}

func (c *clock) now() time.Time {
	if read := c.read.Load(); read != nil {
		return (*read)()
	}
	return time.Now().Add(2 * time.Minute)
}

func (c *clock) set(at time.Time) { c.follow(func() time.Time { return at }) }

// follow makes the clock show the time of another.
func (c *clock) follow(read func() time.Time) { c.read.Store(&read) }

// exporter reads the logs of an organization from a service with its own clock.
type exporter struct {
	*it.Client
	clock *clock
	// tokens are log export tokens. The limit of each is 60 requests in a minute.
	tokens []string
	calls  int
}

// page is a page of a log.
type page struct {
	Results    []entity `json:"results"`
	NextCursor string   `json:"next_cursor"`
	HasMore    bool     `json:"has_more"`
}

// newExporter returns a client of the logs of d's organization, at a service with its own clock.
func newExporter(d *it.Client) *exporter {
	d.T.Helper()
	c := &clock{}
	served := d.ServeGroup(logexport.Group, func(env *api.Env) { env.Now = c.now })
	e := &exporter{Client: served.WithToken(""), clock: c}
	for range 5 {
		e.tokens = append(e.tokens, d.TokenWith(d.T, object{"kind": "log_export"}))
	}
	return e
}

// call reads a page with a query such as limit=1 and since=..., with the next token.
func (e *exporter) call(status int, log string, query ...string) stacktest.Answer {
	e.T.Helper()
	e.calls++
	return e.As(e.tokens[e.calls%len(e.tokens)]).Call(e.T, status, http.MethodGet, "/v1/logs/"+log+it.Query(query), nil)
}

// page reads a page and checks what holds for every page.
func (e *exporter) page(log string, query ...string) (p page) {
	e.T.Helper()
	answer := e.call(http.StatusOK, log, query...)
	require.Equal(e.T, "has_more next_cursor results", it.KeysOf(answer.JSON(e.T)))
	answer.Into(e.T, &p)
	require.NotNil(e.T, p.Results)
	require.NotEmpty(e.T, p.NextCursor)
	for _, event := range p.Results {
		require.Equal(e.T, streams[log], event["stream"])
		require.EqualValues(e.T, e.Org, event["organization_id"])
	}
	return p
}

// all reads a log from its begin to its end by pages.
func (e *exporter) all(log string, limit int, query ...string) (events []entity) {
	e.T.Helper()
	query = append(query, fmt.Sprint("limit=", limit))
	for at := query; ; {
		p := e.page(log, at...)
		require.LessOrEqual(e.T, len(p.Results), limit)
		events = append(events, p.Results...)
		if !p.HasMore {
			return events
		}
		require.Len(e.T, p.Results, limit, "a page of a short log is full")
		at = append(slices.Clone(query), "cursor="+p.NextCursor)
	}
}

// invalid reads a page that must be refused for the parameter.
func (e *exporter) invalid(field, log string, query ...string) {
	e.T.Helper()
	it.RequireInvalid(e.T, e.call(http.StatusBadRequest, log, query...).JSON(e.T), field)
}

// instant returns a time as a parameter.
func instant(at time.Time) string { return wire.At(at).String() }

// commit stores changes of sessions at the times, one for each.
func commit(d *it.Client, times ...time.Time) (ids []string) {
	d.T.Helper()
	var writes []table.Write
	for i, at := range times {
		r := change.New(d.T.Context(), change.Record{
			At: wire.At(at), Org: d.Org, Event: d.Event, Action: "session.updated", Type: "session",
			RecordID: fmt.Sprint("s", i), Version: 2, Values: []change.Value{{Field: "title", Old: "A", New: fmt.Sprint("B", i)}},
		})
		ids = append(ids, r.ID)
		writes = append(writes, r.Write())
	}
	for some := range slices.Chunk(writes, 100) {
		require.NoError(d.T, change.Commit(d.T.Context(), d.Table(d.T), some...))
	}
	return ids
}

// trail returns the events of all changes of the organization within an hour of now, from the
// stored change records.
func trail(t *testing.T, s *stacktest.Stack) (events []entity) {
	t.Helper()
	for _, c := range it.ChangesOf(t, s) {
		for n := range max(1, len(c.Values)) {
			e := entity{"id": fmt.Sprintf("%s-%04d", c.ID, n), "occurred_at": c.At.String(), "action": c.Action, "type": c.Type, "record": c.RecordID,
				"event_id": nil, "field": nil, "new_value": nil}
			if c.Event != 0 {
				e["event_id"] = float64(c.Event)
			}
			if len(c.Values) > 0 {
				e["field"], e["new_value"] = c.Values[n].Field, c.Values[n].New
			}
			if cut, ok := e["new_value"].(map[string]any); ok && cut["sha256"] != nil {
				e["new_value"] = cut["cut"]
			}
			events = append(events, e)
		}
	}
	return events
}

// brief returns the part of events that trail has.
func brief(events []entity) []entity {
	all := make([]entity, len(events))
	for i, e := range events {
		all[i] = entity{"type": e.At("target.type"), "record": e.At("target.id"), "field": e.At("target.field"), "new_value": e.At("target.new_value")}
		for _, name := range []string{"id", "occurred_at", "action", "event_id"} {
			all[i][name] = e[name]
		}
	}
	return all
}

// inOrder compares events by time and id.
func inOrder(a, b entity) int {
	return cmp.Or(strings.Compare(a.Text("occurred_at"), b.Text("occurred_at")), strings.Compare(a.ID(), b.ID()))
}

// encode returns a value as JSON.
func encode(t *testing.T, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return text
}
