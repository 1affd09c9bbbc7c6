package reports_test

import (
	"fmt"
	"net/http"
	"testing"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// object is a JSON body; entity a record as the service answers it.
type (
	object = it.Object
	entity = it.Entity
)

// The properties of the records (gaps.md 5).
const (
	queryShape     = "category created_at event_id id name query updated_at"
	dashboardShape = "created_at description event_id id name updated_at"
	widgetShape    = "config created_at dashboard_id id order query title type updated_at"
)

// count is a query with one result on every event.
const count = "SELECT COUNT(session.id) AS n FROM sessions"

// desk calls the operations below a prefix.
type desk struct {
	*it.Client
	prefix string
	// event is the id of the event that owns the records; nil for an organization.
	event any
}

// desksOf returns the desks at the three prefixes: of the event, and twice of the organization.
func desksOf(c *it.Client) map[string]*desk {
	return map[string]*desk{
		"event":        {c, fmt.Sprintf("/v1/event/%d", c.Event), float64(c.Event)},
		"organization": {c, fmt.Sprintf("/v1/organization/%d", c.Org), nil},
		"own":          {c, "/v1", nil},
	}
}

// forDesks does a test at each of the three prefixes.
func forDesks(t *testing.T, at *desk, test func(t *testing.T, d *desk)) {
	t.Helper()
	for name, d := range desksOf(at.Client) {
		t.Run(name, func(t *testing.T) {
			test(t, &desk{d.ForTest(t), d.prefix, d.event})
		})
	}
}

// atEvent returns the desk of an event with a session.
func atEvent(t *testing.T) *desk {
	t.Helper()
	c := it.NewClient(t)
	it.MustCreate(t, c.Stack, "/sessions/create", object{"title": "Keynote"})
	return desksOf(c)["event"]
}

// do sends a request below the prefix and returns the answer as a record.
func (d *desk) do(status int, method, path string, body any, header ...string) entity {
	d.T.Helper()
	return d.Call(d.T, status, method, d.prefix+path, stacktest.WithHeaders(body, header...)).JSON(d.T)
}

// create sends a request that creates a record below a path.
func (d *desk) create(status int, path string, body any, header ...string) entity {
	d.T.Helper()
	return d.do(status, http.MethodPost, path+"/create", body, header...)
}

// dashboard creates a dashboard with widgets and returns its path.
func (d *desk) dashboard(widgets ...object) string {
	d.T.Helper()
	return "/dashboards/" + d.create(200, "/dashboards", object{"name": "Overview", "widgets": append([]object{}, widgets...)}).ID()
}

// widget adds a widget to a dashboard and returns its path.
func (d *desk) widget(dashboard string, body object) string {
	d.T.Helper()
	return "/widgets/" + d.create(200, dashboard+"/widgets", it.Merged(object{"type": "chart", "query": count}, body)).ID()
}

// widgets returns the widgets of a dashboard as the dashboard shows them.
func (d *desk) widgets(dashboard string) (all []entity) {
	d.T.Helper()
	var shown struct{ Widgets []entity }
	d.Call(d.T, 200, http.MethodGet, d.prefix+dashboard, nil).Into(d.T, &shown)
	return shown.Widgets
}
