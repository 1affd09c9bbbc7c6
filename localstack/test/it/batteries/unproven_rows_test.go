package batteries_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// fresh returns the programme at a new instance of the service.
func fresh(c *it.Programme) *it.Programme {
	c.T.Helper()
	return c.SeenBy(&it.Client{Stack: c.Instance(c.T), T: c.T})
}

// TestRowsThatDoNotAddUp refuse the searches that go by them and no others, on any
// event, and these find the same as before.
func TestRowsThatDoNotAddUp(t *testing.T) {
	c := it.ProgrammeOf(it.NewClient(t))
	c.AddPeople("Ann", "Bob", "Cem")
	c.DeletePerson("contacts", "Cem")
	for _, name := range []string{"Acme", "Bolt"} {
		c.AddAccount("sponsor", name)
		c.AddAccount("exhibitor", name)
	}
	c.AddSession("A", nil, "Bob speaker", "Ann moderator")
	long, past := object{"before": "2099-01-01T00:00:00Z"}, object{"before": "2001-01-01T00:00:00Z"}
	by := func(key string) object { return object{"sort": object{key: object{"sort": "desc"}}} }
	only := func(name string, value any) object { return object{"filters": object{name: value}} }
	for _, bad := range []bool{false, true} {
		if bad {
			it.WithDamagedRows(c.Client)
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
			{"participants", only("email", it.EmailOf("Ann")), "Ann", false},
			{"participants", only("search", "bob"), "Bob", true},
			{"speakers", object{}, "Bob", false},
			{"speakers", by("updatedAt"), "Bob", true},
			{"sponsors", object{}, "Acme Bolt", false},
			{"exhibitors", by("createdAt"), "Bolt Acme", false},
			{"exhibitors", only("search", "bolt"), "Bolt", true},
		} {
			at := fresh(c)
			if bad && check.records {
				stacktest.Call[object](at.Stack, 503, http.MethodPost, at.EventPath("/"+check.what), check.body)
				continue
			}
			answer := stacktest.Call[it.Page](at.Stack, 200, http.MethodPost, at.EventPath("/"+check.what), check.body)
			var names []string
			for _, r := range answer.Results {
				name, ok := r["first_name"].(string)
				if !ok {
					name = r.Text("name")
				}
				names = append(names, name)
			}
			require.Equal(t, check.want, strings.Join(names, " "), "%s %v, bad: %t", check.what, check.body, bad)
		}
	}
}

// TestPeopleAreShownAsTheyStand whether the rows of their records are known or not.
func TestPeopleAreShownAsTheyStand(t *testing.T) {
	c := it.ProgrammeOf(it.NewClient(t))
	it.WithDamagedRows(c.Client)
	c.AddPeople("Ann", "Bob")
	c.AddSession("A", nil, "Ann speaker", "Bob speaker")
	at := fresh(c)
	changes := func() {
		for _, step := range []struct {
			do   func()
			want string
		}{
			{func() { c.Do(200, http.MethodPut, "/contacts/"+c.ContactID("Ann"), object{"last_name": "Zoe"}) }, "Ann Zoe Bob"},
			{func() { c.DeletePerson("contacts", "Ann") }, "Bob"},
			{func() { c.RestorePerson("contacts", "Ann") }, "Ann Zoe Bob"},
			{func() { c.Do(200, http.MethodPut, "/contacts/"+c.ContactID("Ann"), object{"last_name": nil}) }, "Ann Bob"},
		} {
			step.do()
			for _, what := range []string{"contacts", "speakers", "participants"} {
				answer := stacktest.Call[it.Page](at.Stack, 200, http.MethodPost, at.EventPath("/"+what), object{})
				require.Equal(t, step.want, strings.Join(it.Texts(answer.Results, "full_name"), " "), what)
			}
			people := at.Search(object{}).Results[0].List("participants")
			require.Equal(t, step.want, strings.Join(it.Texts(people, "full_name"), " "), "on sessions")
		}
	}
	changes()
	it.BumpShards(c.Client, -1)
	at.Find("contacts", object{"filters": object{"search": "ann"}})
	changes()
}

// TestAPageOfUnknownRowsIsWhole changes record and association in one write
// while a page has read one of them.
func TestAPageOfUnknownRowsIsWhole(t *testing.T) {
	for _, half := range []string{"B", "E#"} {
		t.Run(half, func(t *testing.T) {
			d, p := startParting(t)
			it.WithDamagedRows(d)
			name := d.DefineField(200, object{"name": "Size", "type": "text", "module_id": "contact"})["internal_name"].(string)
			values := func(v string) object { return object{"title": v, "custom_fields": object{name: v}} }
			id := contact(d, 200, http.MethodPost, "/create", it.Merged(values("old"), object{"email": "a@example.org"})).ID()
			at := &it.Client{Stack: d.Instance(t), T: t}
			p.between = func() { contact(d, 200, http.MethodPut, "/"+id, values("new")) }
			p.part = func(key string) bool { return strings.Contains(key, "#C#"+id+" "+half) }
			shown := stacktest.Call[it.Page](at.Stack, 200, http.MethodPost, at.EventPath("/contacts"), object{}).Results[0]
			require.True(t, p.done.Load())
			require.Equal(t, "new", shown["title"])
			require.Equal(t, "new", shown.List("custom_fields")[0]["value"])
		})
	}
}
