package requests_test

import (
	"strings"
	"testing"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// nested is a property x of arrays, so deep with the object around it.
func nestedTo(depth int) string {
	return `{"title":"x","name":"x","values":{},"x":` + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1) + `}`
}

// TestWrongBytes sends what is no JSON object of ours to routes of every group
// that takes a body.
func TestWrongBytes(t *testing.T) {
	stacktest.Everywhere(t)
	w := newTargets(t)
	rule := w.NewEntry("rules", "Rule", object{"type": "room_capacity"}).ID()
	routes := []struct{ method, path, name string }{
		{"POST", "/rules/create", "name"}, {"PUT", "/rules/" + rule, "name"}, {"POST", "/personas/create", "name"},
		{"POST", "/sessions", "filters"}, {"POST", "/sessions/status", "filters"}, {"POST", "/sessions/create", "title"},
		{"PUT", "/sessions/" + w.session, "title"}, {"PUT", "/sessions/" + w.session + "/fields", "values"},
		{"POST", "/sessions/bulk", "operations"}, {"POST", "/fields/create", "name"}, {"PUT", "/fields/" + w.noteID, "name"},
		{"POST", "/tracks/create", "name"}, {"PUT", "/tracks/" + w.track, "name"}, {"POST", "/statuses/create", "name"},
		{"POST", "/fields", "filters"}, {"POST", "/rooms", "filters"}, {"POST", "/session-statuses", "filters"},
		{"POST", "/contacts/create", "email"}, {"PUT", "/contacts/" + w.contact, "title"}, {"POST", "/contacts/bulk", "operations"},
		{"POST", "/sponsors/create", "name"}, {"PUT", "/sponsors/" + w.sponsor, "name"}, {"POST", "/exhibitors/bulk", "operations"},
	}
	for _, path := range w.peopleSearches() {
		routes = append(routes, struct{ method, path, name string }{"POST", path, "filters"})
	}
	var all []mistake
	for _, r := range routes {
		for field, bodies := range map[string][]string{
			"": {
				"{", `{"title":}`, `{"title":"x",}`, "[]", `"x"`, "null", "1", "{} {}", "{}x", "{'title':'x'}", "\xef\xbb\xbf{}",
				`{"title":"` + "\xff\xfe" + `"}`, "{\"title\":\"a\nb\"}", `{"title":NaN}`,
			},
			r.name:                          {`{"` + r.name + `":null,"` + r.name + `":null}`, `{"` + r.name + `":"a\u0000"}`, `{"` + r.name + `":"\ud800"}`},
			"x" + strings.Repeat("[0]", 31): {nestedTo(33), nestedTo(5000)},
			r.name + ".a.b":                 {`{"` + r.name + `":{"a":{"b":1,"c":2,"b":3}}}`},
		} {
			for _, body := range bodies {
				all = append(all, bad(r.method, r.path, body, field))
			}
		}
		all = append(all,
			mistake{r.method, r.path, "{}", 415, "", "", []string{"Content-Type", "text/plain"}},
			mistake{r.method, r.path, "title=x", 415, "", "", []string{"Content-Type", "application/x-www-form-urlencoded"}},
			mistake{r.method, r.path, "{}", 415, "", "", []string{"Content-Type", ""}},
		)
	}
	w.makes(all)
}

func TestHugeBodies(t *testing.T) {
	w := newTargets(t)
	huge := func(bytes int) string { return `{"title":"x","x":"` + strings.Repeat("y", bytes) + `"}` }
	var all []mistake
	taking := []string{"/sessions", "/sessions/status", "/sessions/create", "/tracks/create", "/fields/create", "/rooms", "/fields", "/contacts/create", "/sponsors/create", "/rules/create", "/personas/create"}
	for _, path := range append(taking, w.peopleSearches()...) {
		all = append(all, mistake{"POST", path, huge(1 << 20), 413, "", "", nil})
	}
	all = append(all,
		mistake{"PUT", "/sessions/" + w.session, huge(1 << 20), 413, "", "", nil},
		mistake{"POST", "/sessions/bulk", huge(5 << 20), 413, "", "", nil},
		mistake{"POST", "/sessions/bulk", huge(9 << 20), 413, "", "", nil},
		mistake{"PUT", "/contacts/" + w.contact, huge(1 << 20), 413, "", "", nil},
		mistake{"PUT", "/sponsors/" + w.sponsor, huge(1 << 20), 413, "", "", nil},
		mistake{"POST", "/contacts/bulk", huge(5 << 20), 413, "", "", nil},
		mistake{"POST", "/sponsors/bulk", huge(5 << 20), 413, "", "", nil},
		bad("POST", "/contacts/bulk", huge(4<<20), "operations"),
		bad("POST", "/exhibitors/bulk", huge(4<<20), "operations"),
		mistake{"POST", "/sessions/create", huge(1 << 20), 413, "", "", []string{"Content-Type", "text/plain"}},
		bad("POST", "/sessions/bulk", huge(4<<20), "operations"),
		bad("PUT", "/sessions/"+w.session, object{"title": "x", "description": strings.Repeat("y", 1<<20-1000)}, "description"),
	)
	w.makes(all)
}

func TestADeepBodyOfThirtyTwoLevelsIsTaken(t *testing.T) {
	d := it.NewClient(t)
	d.Create(200, nestedTo(32))
	d.Create(200, `{"title":"\ud83d\ude00 `+"\u2028"+`"}`)
}
