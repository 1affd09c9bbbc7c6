package it_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/stacktest"
	"lectern/shared/table"
)

// unproven is the desk of an organization of which no row of a record adds up to its
// version, as after a restore that tore transactions: instances of it do without them.
func unproven(d *desk) *desk {
	d.t.Helper()
	bump(d, 1)
	return d
}

// bump adds to the versions of all shards of the organization's records.
func bump(d *desk, by int64) {
	d.t.Helper()
	var writes []table.Write
	for letter, shards := range map[string]int{"C": 64, "A": 4} {
		for shard := range shards {
			writes = append(writes, table.Bump(table.Key{PK: table.Org(d.Org) + "#V", SK: fmt.Sprintf("%s#%02x", letter, shard)}, by))
		}
	}
	require.NoError(d.t, d.Table(d.t).Transact(d.t.Context(), writes...))
}

// fresh is the crowd as a new instance of the service serves it.
func (c *crowd) fresh() *crowd {
	c.t.Helper()
	return c.seenBy(&desk{c.Instance(c.t), c.t})
}

// TestRowsThatDoNotAddUp refuse the searches that go by them and no others, on any
// event, and these find the same as before.
func TestRowsThatDoNotAddUp(t *testing.T) {
	c := crowdOf(newDesk(t))
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
	for _, bad := range []bool{false, true} {
		if bad {
			unproven(c.desk)
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
			if bad && check.records {
				stacktest.Call[object](at.Stack, 503, http.MethodPost, at.EventPath("/"+check.what), check.body)
				continue
			}
			answer := stacktest.Call[found](at.Stack, 200, http.MethodPost, at.EventPath("/"+check.what), check.body)
			var names []string
			for _, r := range answer.Results {
				name, ok := r["first_name"].(string)
				if !ok {
					name = r.text("name")
				}
				names = append(names, name)
			}
			require.Equal(t, check.want, strings.Join(names, " "), "%s %v, bad: %t", check.what, check.body, bad)
		}
	}
}

// TestPeopleAreShownAsTheyStand whether the rows of their records are known or not.
func TestPeopleAreShownAsTheyStand(t *testing.T) {
	c := crowdOf(newDesk(t))
	unproven(c.desk)
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
	bump(c.desk, -1)
	at.find("contacts", object{"filters": object{"search": "ann"}})
	changes()
}

// TestAPageOfUnknownRowsIsWhole changes record and association in one write
// while a page has read one of them.
func TestAPageOfUnknownRowsIsWhole(t *testing.T) {
	for _, half := range []string{"B", "E#"} {
		t.Run(half, func(t *testing.T) {
			d, p := startParting(t)
			unproven(d)
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
