package events_test

import (
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/content/demo"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// wholeDemo is what a Fill of an empty event makes.
var wholeDemo = demo.Made{Sessions: 174, Contacts: 220, Sponsors: 15, Exhibitors: 16, Transcriptions: 14}

// newDemo makes the demo conference on an event with its custom role.
func newDemo(t *testing.T) (*it.Client, func() demo.Made) {
	t.Helper()
	d := it.NewClient(t, demo.Features...)
	d.Command("participant-role-create", demo.Role)
	fill := func() demo.Made {
		t.Helper()
		made, err := demo.Fill(t.Context(), demo.Target{URL: d.URL, Token: d.Token, Event: d.Event})
		require.NoError(t, err)
		return made
	}
	require.Equal(t, wholeDemo, fill(), "150 sessions and abstracts, and 24 subsessions")
	return d, fill
}

// TestDemo makes the demo conference, a part of it again, and looks at what it
// promises to have.
func TestDemo(t *testing.T) {
	stacktest.Everywhere(t)
	d, fill := newDemo(t)
	require.Zero(t, fill(), "it is all there")
	require.Len(t, d.SearchAllPages("/sessions", object{}), 150)
	require.Len(t, d.SearchAllPages("/sessions", object{"isAbstract": true}), 18)
	for kind, want := range map[string]int{"rooms": 10, "tracks": 8, "tags": 16, "levels": 3, "formats": 5, "languages": 3, "rules": 5, "personas": 3 + 2} {
		require.Len(t, stacktest.Call[[]entity](d.Stack, http.StatusOK, http.MethodGet, d.EventPath("/"+kind), nil), want, kind)
	}

	// What was deleted comes back, and nothing else.
	d.Delete(200, d.Filter(object{"isAbstract": true}).Results[0].ID())
	require.Equal(t, demo.Made{Sessions: 1}, fill())
	person := d.SearchAllPages("/contacts", object{})[7]
	d.Do(200, http.MethodDelete, "/contacts/"+person.ID(), nil)
	require.Equal(t, demo.Made{Contacts: 1}, fill())
	again := d.Do(200, http.MethodGet, "/contacts/"+person.ID(), nil)
	require.Equal(t, person.Text("email"), again.Text("email"))
	require.Len(t, d.SearchAllPages("/contacts", object{}), 220)
	both := inBoth(d.SearchAllPages("/sponsors", object{}), d.SearchAllPages("/exhibitors", object{}))[0]
	d.Do(200, http.MethodDelete, "/sponsors/"+both, nil)
	require.Equal(t, demo.Made{Sponsors: 1}, fill())
	require.Contains(t, inBoth(d.SearchAllPages("/sponsors", object{}), d.SearchAllPages("/exhibitors", object{})), both)
	require.Len(t, d.SearchAllPages("/exhibitors", object{}), 16)
}

// inBoth are the ids that are in both lists.
func inBoth(a, b []entity) (both []string) {
	ids := it.Texts(b, "id")
	for _, id := range it.Texts(a, "id") {
		if slices.Contains(ids, id) {
			both = append(both, id)
		}
	}
	return both
}

// TestDemoPeople looks at who is on the demo's sessions.
func TestDemoPeople(t *testing.T) {
	d, _ := newDemo(t)
	people := d.SearchAllPages("/contacts", object{})
	require.Len(t, people, 220)
	names := map[string]bool{}
	for _, p := range people {
		names[p.Text("full_name")] = true
		require.Regexp(t, `^[a-z]+\.[a-z]+@speakers\.example$`, p.Text("email"))
		require.Regexp(t, `^\d{3}$`, p.Text("address_country"))
	}
	require.Len(t, names, 220)
	require.ElementsMatch(t, it.Texts(people, "id"), it.Texts(d.SearchAllPages("/participants", object{}), "id"), "all have a role")
	require.Len(t, d.SearchAllPages("/participants", object{"roleSlugs": []string{"workshop_host"}}), 24)

	busy := map[[2]string]string{}
	roles := map[string]map[string]int{}
	for _, s := range d.SearchAllPages("/sessions", object{}) {
		format, _ := s.At("format.name").(string)
		if roles[format] == nil {
			roles[format] = map[string]int{}
		}
		require.NotEmpty(t, s.List("participants"), "%s", s["title"])
		for _, p := range s.List("participants") {
			slug, _ := p.At("participant_role.slug").(string)
			roles[format][slug]++
			require.Contains(t, p, "acceptance_status")
			if start := s.Text("starts_at"); start != "" {
				at := [2]string{p.ID(), start}
				require.Empty(t, busy[at], "%s is on two sessions at %s", p["full_name"], start)
				busy[at] = s.Text("title")
			}
		}
	}
	require.Equal(t, map[string]map[string]int{
		"Keynote": {"speaker": 6, "chairperson": 6}, "Talk": {"speaker": 108}, "Panel": {"speaker": 72, "moderator": 24},
		"Workshop": {"speaker": 48, "workshop_host": 24}, "Lightning talks": {"moderator": 6}, "": {"speaker": 18},
	}, roles)
}

// TestDemoAccounts looks at the demo's sponsors and exhibitors.
func TestDemoAccounts(t *testing.T) {
	d, _ := newDemo(t)
	sponsors, exhibitors := d.SearchAllPages("/sponsors", object{}), d.SearchAllPages("/exhibitors", object{})
	require.Len(t, inBoth(sponsors, exhibitors), 6)
	accounts := map[string]entity{}
	for _, a := range slices.Concat(sponsors, exhibitors) {
		accounts[a.Text("name")] = a
	}
	require.Len(t, accounts, 25)
	contacts := map[int]int{}
	for _, a := range accounts {
		people := a.List("contacts")
		contacts[len(people)]++
		for i, p := range people {
			require.Equal(t, i == 0, p["is_primary"])
			require.Equal(t, a["name"], p["company_name"])
		}
	}
	require.Equal(t, map[int]int{0: 9, 2: 8, 3: 8}, contacts)

	supported := map[string]int{}
	for _, s := range d.SearchAllPages("/sessions", object{}) {
		for _, role := range []string{"sponsors", "exhibitors"} {
			for _, a := range s.List(role) {
				format, _ := s.At("format.name").(string)
				supported[format+" "+role]++
				require.Contains(t, accounts, a.Text("name"))
			}
		}
	}
	require.Equal(t, map[string]int{"Keynote sponsors": 6, "Workshop exhibitors": 24}, supported)
	require.Contains(t, slices.Collect(maps.Keys(accounts)), "Example Ropeworks")
}

func TestDemoRefusesAnEventItCannotFill(t *testing.T) {
	s := stacktest.Start(t)
	_, err := demo.Fill(t.Context(), demo.Target{URL: s.URL, Token: s.Token, Event: s.Event})
	require.ErrorContains(t, err, "demo: creating session demo-abstract-1", "the event has no Sessions 2.0")
	_, err = demo.Fill(t.Context(), demo.Target{URL: s.URL, Token: s.Token, Event: s.Event + 1000})
	require.ErrorContains(t, err, "sees no event")
	_, err = demo.Fill(t.Context(), demo.Target{URL: s.URL, Token: "wrong", Event: s.Event})
	require.ErrorContains(t, err, "answered 401")
}
