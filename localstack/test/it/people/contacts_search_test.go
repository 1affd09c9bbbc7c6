package people_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// contactSearch is one of the two searches of contacts: the event's and the organization's.
type contactSearch struct {
	*it.Contacts
	path string
}

// levels are both searches of the caller.
func levels(p *it.Contacts) map[string]contactSearch {
	return map[string]contactSearch{"event": {p, p.EventPath("/contacts")}, "organization": {p, p.OrganizationPath("")}}
}

func (l contactSearch) found(body any, parts ...string) it.Page {
	l.T.Helper()
	return stacktest.Call[it.Page](l.Stack, 200, http.MethodPost, l.path+it.Query(parts), body)
}

// emails are the addresses that a search by filters finds, in its order.
func (l contactSearch) emails(filters object) []string {
	l.T.Helper()
	return it.Texts(l.found(object{"filters": filters}).Results, "email")
}

// row makes contacts a@x.org, b@x.org, ... each later than the one before.
func row(p *it.Contacts, n int) []entity {
	p.T.Helper()
	all := make([]entity, n)
	for i := range all {
		all[i] = p.Create(200, object{"email": string(rune('a'+i)) + "@x.org"})
		time.Sleep(2 * time.Millisecond)
	}
	return all
}

func TestContactsAreFoundByText(t *testing.T) {
	p := NewContacts(t)
	for _, body := range []object{
		{"email": "ada@engines.org", "first_name": "Ada", "last_name": "Lovelace", "company": "Analytical Engines", "title": "Countess"},
		{"email": "grace@navy.org", "first_name": "Grace", "last_name": "Hopper", "company": "Navy 100%", "about": "cobol"},
		{"email": "kurt@iAs.org", "first_name": "Kürt", "last_name": "Gödel"},
		{"email": "nobody@x.org"},
	} {
		p.Create(200, body)
	}
	for name, l := range levels(p) {
		for text, want := range map[string][]string{
			"ada": {"ada@engines.org"}, "DA LOVE": {"ada@engines.org"}, "engines": {"ada@engines.org"}, "Analytical e": {"ada@engines.org"},
			"navy 100%": {"grace@navy.org"}, "GÖDEL": {"kurt@iAs.org"}, "IAS.ORG": {"kurt@iAs.org"}, "kürt g": {"kurt@iAs.org"}, "lovelace ada": {},
			".org": {"ada@engines.org", "grace@navy.org", "kurt@iAs.org", "nobody@x.org"}, "": {"ada@engines.org", "grace@navy.org", "kurt@iAs.org", "nobody@x.org"},
			"countess": {}, "cobol": {}, "CONT-1": {}, "a.a": {}, "lovelaceada": {}, "lovelace\nada": {},
		} {
			require.Equal(t, want, l.emails(object{"search": text}), "%s: %q", name, text)
		}
	}
	id := p.Search(object{"filters": object{"search": "ada"}}).Results[0].ID()
	p.Put(200, id, object{"last_name": "King", "company": nil})
	for _, l := range levels(p) {
		require.Empty(t, l.emails(object{"search": "lovelace"}))
		require.Empty(t, l.emails(object{"search": "analytical"}))
		require.Equal(t, []string{"ada@engines.org"}, l.emails(object{"search": "ada king"}))
	}
}

func TestContactsAreFoundByTime(t *testing.T) {
	p := NewContacts(t)
	all := row(p, 4)
	all[0] = p.Put(200, all[0].ID(), object{"title": "x"})
	created := func(i int) string { return all[i].Text("created_at") }
	for name, l := range levels(p) {
		for _, c := range []struct {
			want    []string
			filters object
		}{
			{[]string{"c@x.org", "d@x.org"}, object{"createdAt": object{"after": created(1)}}},
			{[]string{"a@x.org", "b@x.org"}, object{"createdAt": object{"before": created(2)}}},
			{[]string{"b@x.org", "c@x.org"}, object{"createdAt": object{"after": created(0), "before": created(3)}}},
			{[]string{}, object{"createdAt": object{"after": created(1), "before": created(1)}}},
			{[]string{"a@x.org"}, object{"updatedAt": object{"after": created(3)}}},
			{[]string{"b@x.org", "c@x.org", "d@x.org"}, object{"updatedAt": object{"before": all[0]["updated_at"]}}},
			{[]string{"a@x.org"}, object{"createdAt": object{"before": created(1)}, "updatedAt": object{"after": created(1)}, "search": "X.ORG"}},
			{[]string{"b@x.org"}, object{"createdAt": object{"before": created(2)}, "search": "b@"}},
		} {
			require.Equal(t, c.want, l.emails(c.filters), "%s: %v", name, c.filters)
		}
	}
}

// TestAnEventsTimesAreItsOwn: what changes on one event alone is a change there and on
// the organization's level, and none on another event.
func TestAnEventsTimesAreItsOwn(t *testing.T) {
	p := NewContacts(t)
	there := p.InNewEvent()
	seat := there.NewField("Seat", "text")
	ids := p.WithAddresses("a@x.org", "b@x.org")
	there.WithAddresses("a@x.org", "b@x.org")
	before := p.Search(object{})
	changed := there.Put(200, ids[0], object{"custom_fields": object{seat: "1"}})
	latest := object{"sort": object{"updatedAt": object{"sort": "desc"}}, "filters": object{"updatedAt": object{"after": before.Results[1]["updated_at"]}}}
	require.Equal(t, ids[0], there.Search(latest).Results[0].ID())
	require.Equal(t, changed["updated_at"], there.Search(latest).Results[0]["updated_at"])
	require.Empty(t, p.Search(latest).Results)
	require.Equal(t, changed["updated_at"], p.SearchOrganization(latest).Results[0]["updated_at"])
	require.Equal(t, before, p.Search(object{}))
	changed = there.Put(200, ids[1], object{"title": "x"})
	for _, l := range levels(p) {
		require.Equal(t, changed["updated_at"], l.found(latest).Results[0]["updated_at"])
	}
}

func TestContactsAreSorted(t *testing.T) {
	p := NewContacts(t)
	all := row(p, 4)
	p.Put(200, all[1].ID(), object{})
	p.Put(200, all[0].ID(), object{})
	for name, l := range levels(p) {
		for body, want := range map[string]string{
			`{}`: "abcd", `{"createdAt":{"sort":"asc"}}`: "abcd", `{"createdAt":{"sort":"desc"}}`: "dcba",
			`{"updatedAt":{"sort":"asc"}}`: "cdba", `{"updatedAt":{"sort":"desc"}}`: "abdc",
			`{"updatedAt":{"sort":"desc","order":2},"createdAt":{"sort":"desc","order":1}}`: "dcba",
			`{"createdAt":{"sort":"desc"},"updatedAt":{"sort":"asc","order":9}}`:            "cdba",
		} {
			got := ""
			for _, email := range it.Texts(l.found(`{"sort":`+body+`}`).Results, "email") {
				got += email[:1]
			}
			require.Equal(t, want, got, "%s: %s", name, body)
		}
	}
}

func TestPagesOfContactsJoinToTheWhole(t *testing.T) {
	p := NewContacts(t)
	operations := make([]object, 57)
	for i := range operations {
		operations[i] = it.Creating(object{"email": fmt.Sprintf("%02d@x.org", i), "company": map[bool]string{true: "Even"}[i%2 == 0]})
	}
	p.Bulk(operations...)
	p.InNewEvent().WithAddresses("elsewhere@x.org")
	p.InOtherOrganization().WithAddresses("stranger@x.org")
	for name, total := range map[string]int{"event": 57, "organization": 58} {
		l := levels(p)[name]
		first := l.found(nil)
		require.Len(t, first.Results, 25)
		require.Equal(t, struct{ CurrentPage, PageSize, TotalPages, TotalResults int }{1, 25, 3, total}, first.Pagination)
		whole := l.found(object{}, "pageSize=100").Results
		require.Len(t, whole, total)
		require.Equal(t, whole[:25], first.Results)
		require.True(t, slices.IsSortedFunc(whole, it.OldestFirst), "ties go by id")
		var joined []entity
		for page := 1; page <= 6; page++ {
			part := l.found(object{}, "pageSize=10", fmt.Sprint("page=", page))
			require.Equal(t, struct{ CurrentPage, PageSize, TotalPages, TotalResults int }{page, 10, 6, total}, part.Pagination)
			joined = append(joined, part.Results...)
		}
		require.Equal(t, whole, joined)
		even := l.found(object{"filters": object{"search": "even"}}, "pageSize=20", "page=2")
		require.Len(t, even.Results, 9)
		require.Equal(t, 29, even.Pagination.TotalResults)
		require.Equal(t, []entity{}, l.found(object{}, "page=999").Results)
	}
}

func TestSearchesOfContactsAreStrict(t *testing.T) {
	p := NewContacts(t)
	for _, l := range levels(p) {
		for field, body := range map[string]object{
			"filters.trackIds":         {"filters": object{"trackIds": []string{uuid.NewString()}}},
			"filters.tagIds":           {"filters": object{"tagIds": []string{uuid.NewString()}}},
			"filters.levelIds":         {"filters": object{"levelIds": []string{uuid.NewString()}}},
			"filters.formatIds":        {"filters": object{"formatIds": []string{}}},
			"filters.languageIds":      {"filters": object{"languageIds": nil}},
			"filters.roleIds":          {"filters": object{"roleIds": []string{uuid.NewString()}}},
			"filters.roleSlugs":        {"filters": object{"roleSlugs": []string{"speaker"}}},
			"filters.email":            {"filters": object{"email": "ada@example.org"}},
			"filters.status":           {"filters": object{"status": "accepted"}},
			"filters.Search":           {"filters": object{"Search": "x"}},
			"filters.search":           {"filters": object{"search": 1}},
			"filters.createdAt.since":  {"filters": object{"createdAt": object{"since": "2026-01-01T00:00:00Z"}}},
			"filters.createdAt.after":  {"filters": object{"createdAt": object{"after": "2026-01-01T00:00:00"}}},
			"filters.updatedAt.before": {"filters": object{"updatedAt": object{"before": nil}}},
			"filters.deletedAt":        {"filters": object{"deletedAt": object{}}},
			"filters":                  {"filters": []any{}},
			"sort.startsAt":            {"sort": object{"startsAt": object{"sort": "asc"}}},
			"sort.email":               {"sort": object{"email": object{"sort": "asc"}}},
			"sort.createdAt":           {"sort": object{"createdAt": "asc"}},
			"sort.updatedAt.sort":      {"sort": object{"updatedAt": object{"sort": "up"}}},
			"sort.key":                 {"sort": object{"key": "createdAt"}},
			"expand[0]":                {"expand": []string{"composition"}},
			"expand":                   {"expand": 1},
		} {
			it.RequireInvalid(t, l.Call(t, 400, http.MethodPost, l.path, body).JSON(t), field)
		}
		for name, values := range map[string][]string{"page": {"0", "1000", "x", "1.5"}, "pageSize": {"0", "101", ""}} {
			for _, value := range values {
				it.RequireInvalid(t, l.Call(t, 400, http.MethodPost, l.path+"?"+name+"="+value, object{}).JSON(t), name)
			}
		}
		require.Empty(t, l.found(object{"unknown": 1, "filters": object{}, "sort": object{}, "expand": []string{}}).Results)
		require.Empty(t, l.found("").Results)
	}
}

// TestSearchesOfContactsSeeEveryWrite of every instance, at once.
func TestSearchesOfContactsSeeEveryWrite(t *testing.T) {
	p := NewContacts(t)
	second := &it.Contacts{Client: &it.Client{Stack: p.Instance(t), T: t}}
	there := second.InNewEvent()
	seen := func(want ...string) {
		t.Helper()
		for range 2 {
			for _, l := range levels(p) {
				require.ElementsMatch(t, want, l.emails(object{}))
			}
		}
	}
	seen()
	id := second.WithAddresses("a@x.org")[0]
	seen("a@x.org")
	second.Put(200, id, object{"email": "b@x.org"})
	seen("b@x.org")
	require.Equal(t, id, there.WithAddresses("B@x.org")[0])
	seen("B@x.org")
	second.Delete(200, id)
	require.Empty(t, p.Search(object{}).Results)
	require.Equal(t, []string{"B@x.org"}, it.Texts(p.SearchOrganization(object{}).Results, "email"))
	second.Restore(200, id)
	seen("B@x.org")
}
