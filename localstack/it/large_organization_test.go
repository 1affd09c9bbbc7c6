package it_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/stacktest"
	"lectern/shared/table"
)

// enlarged is the desk of an organization that has given so many numbers to contacts
// and accounts that the rows of all are not read for a page of them.
func enlarged(d *desk) *desk {
	d.t.Helper()
	for _, kind := range []string{"contact", "account"} {
		_, err := d.Table(d.t).Add(d.t.Context(), table.Key{PK: table.Org(d.Org) + "#N#" + kind, SK: "-"}, 30_000)
		require.NoError(d.t, err)
	}
	return d
}

// startWatched starts a region and counts the queries of the rows of its records of
// people and accounts.
func startWatched(t *testing.T) (*crowd, *atomic.Int64) {
	t.Helper()
	d, point := startCheckpoint(t)
	c, rows := crowdOf(d), &atomic.Int64{}
	count := func(keys string) {
		if org := " " + table.Org(c.Org); strings.Contains(keys, org+"#RC ") || strings.Contains(keys, org+"#RA ") {
			rows.Add(1)
		}
	}
	point.queried.Store(&count)
	return c, rows
}

// fresh is the crowd as a new instance of the service serves it.
func (c *crowd) fresh() *crowd {
	c.t.Helper()
	return c.seenBy(&desk{c.Instance(c.t), c.t})
}

// TestSearchesOfALargeOrganization read the rows of its records only where they go by
// them, and find the same as those of a small one.
func TestSearchesOfALargeOrganization(t *testing.T) {
	c, rows := startWatched(t)
	c.meet("Ann", "Bob", "Cem")
	c.fire("contacts", "Cem")
	for _, name := range []string{"Acme", "Bolt"} {
		c.sign("sponsor", name)
		c.sign("exhibitor", name)
	}
	c.hold("A", nil, "Bob speaker", "Ann moderator")
	long, past := object{"before": "2099-01-01T00:00:00Z"}, object{"before": "2001-01-01T00:00:00Z"}
	by := func(key string) object { return object{"sort": object{key: object{"sort": "desc"}}} }
	only := func(name string, value any) object { return object{"filters": object{name: value}} }
	for _, large := range []bool{false, true} {
		if large {
			enlarged(c.desk)
		}
		for _, check := range []struct {
			what    string
			body    object
			want    string
			records bool
		}{
			{"contacts", object{}, "Ann Bob", false},
			{"contacts", by("createdAt"), "Bob Ann", false},
			{"contacts", only("createdAt", long), "Ann Bob", false},
			{"contacts", only("createdAt", past), "", false},
			{"contacts", by("updatedAt"), "Bob Ann", true},
			{"contacts", only("updatedAt", long), "Ann Bob", true},
			{"contacts", only("updatedAt", past), "", true},
			{"contacts", only("search", "ann"), "Ann", true},
			{"participants", object{}, "Ann Bob", false},
			{"participants", only("email", emailOf("Ann")), "Ann", false},
			{"participants", only("search", "bob"), "Bob", true},
			{"speakers", object{}, "Bob", false},
			{"speakers", by("updatedAt"), "Bob", true},
			{"sponsors", object{}, "Acme Bolt", false},
			{"exhibitors", by("createdAt"), "Bolt Acme", false},
			{"exhibitors", only("search", "bolt"), "Bolt", true},
		} {
			at := c.fresh()
			rows.Store(0)
			answer := stacktest.Call[found](at.Stack, 200, http.MethodPost, at.EventPath("/"+check.what), check.body)
			var names []string
			for _, r := range answer.Results {
				name, ok := r["first_name"].(string)
				if !ok {
					name = r.text("name")
				}
				names = append(names, name)
			}
			require.Equal(t, check.want, strings.Join(names, " "), "%s %v, large: %t", check.what, check.body, large)
			require.Equal(t, check.records || !large, rows.Load() > 0, "%s %v, large: %t", check.what, check.body, large)
		}
	}
}

// TestALargeOrganizationIsSearchedAsItStands whether the rows of its records are in
// memory or not.
func TestALargeOrganizationIsSearchedAsItStands(t *testing.T) {
	c, rows := startWatched(t)
	enlarged(c.desk)
	c.meet("Ann", "Bob")
	c.hold("A", nil, "Ann speaker", "Bob speaker")
	at := c.fresh()
	changes := func() {
		for _, step := range []struct {
			do   func()
			want string
		}{
			{func() { c.send(200, http.MethodPut, "/contacts/"+c.id("Ann"), object{"last_name": "Zoe"}) }, "Ann Zoe Bob"},
			{func() { c.fire("contacts", "Ann") }, "Bob"},
			{func() { c.rehire("contacts", "Ann") }, "Ann Zoe Bob"},
			{func() { c.send(200, http.MethodPut, "/contacts/"+c.id("Ann"), object{"last_name": nil}) }, "Ann Bob"},
		} {
			step.do()
			for _, what := range []string{"contacts", "speakers", "participants"} {
				answer := stacktest.Call[found](at.Stack, 200, http.MethodPost, at.EventPath("/"+what), object{})
				require.Equal(t, step.want, strings.Join(texts(answer.Results, "full_name"), " "), what)
			}
			people := at.search(object{}).Results[0].list("participants")
			require.Equal(t, step.want, strings.Join(texts(people, "full_name"), " "), "on sessions")
		}
	}
	changes()
	require.Zero(t, rows.Load(), "no row of a record is read")
	at.find("contacts", object{"filters": object{"search": "ann"}})
	require.Positive(t, rows.Load())
	changes()
}

// TestAPageOfALargeOrganizationIsWhole changes record and association in one write
// while a page has read one of them.
func TestAPageOfALargeOrganizationIsWhole(t *testing.T) {
	for _, half := range []string{"B", "E#"} {
		t.Run(half, func(t *testing.T) {
			d, p := startParting(t)
			enlarged(d)
			name := d.define(200, object{"name": "Size", "type": "text", "module_id": "contact"})["internal_name"].(string)
			values := func(v string) object { return object{"title": v, "custom_fields": object{name: v}} }
			id := d.contact(200, http.MethodPost, "/create", merged(values("old"), object{"email": "a@example.org"})).id()
			at := &desk{d.Instance(t), t}
			p.between = func() { d.contact(200, http.MethodPut, "/"+id, values("new")) }
			p.part = func(key string) bool { return strings.Contains(key, "#C#"+id+" "+half) }
			shown := stacktest.Call[found](at.Stack, 200, http.MethodPost, at.EventPath("/contacts"), object{}).Results[0]
			require.True(t, p.done.Load())
			require.Equal(t, "new", shown["title"])
			require.Equal(t, "new", shown.list("custom_fields")[0]["value"])
		})
	}
}
