package people_test

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

func TestAccountSearchByText(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		ann := s.NewContact("ann@example.org").ID()
		s.create(200, object{"name": "Café Ångström", "description": "hidden", "address_city": "Bonn", "contacts": []object{{"contact_id": ann}}})
		other := s.create(200, object{"name": "100% a_b"})
		elsewhere := s.other().create(200, object{"name": "Café Elsewhere"})
		plain := s.create(200, object{"name": "Plain"})
		for text, want := range map[string][]string{
			"caf": {"Café Ångström"}, "ÅNGSTRÖM": {"Café Ångström"}, "É å": {"Café Ångström"}, "% A": {"100% a_b"}, "a.b": nil,
			strings.ToLower(other.Text("friendly_id")): {"100% a_b"}, plain.Text("friendly_id")[2:]: {"Plain"},
			"ACCT": {"Café Ångström", "100% a_b", "Plain"}, elsewhere.Text("friendly_id"): nil,
			"hidden": nil, "bonn": nil, "ann@example.org": nil, "": {"Café Ångström", "100% a_b", "Plain"},
		} {
			require.ElementsMatch(t, want, s.names(object{"filters": object{"search": text}}), text)
		}
		id := s.search(object{"filters": object{"search": "plain"}}).Results[0].ID()
		s.put(200, id, object{"name": "Fancy"})
		require.Empty(t, s.names(object{"filters": object{"search": "plain"}}))
		require.Equal(t, []string{"Fancy"}, s.names(object{"filters": object{"search": "FANCY"}}))
	})
}

// apart are accounts made at different times, of which the first was changed last.
func (s *accountClient) apart(names ...string) []entity {
	s.T.Helper()
	all := make([]entity, len(names))
	for i, name := range names {
		all[i] = s.create(200, object{"name": name})
		time.Sleep(2 * time.Millisecond)
	}
	all[0] = s.put(200, all[0].ID(), object{"phone": "123456"})
	return all
}

func TestAccountSearchByDates(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		all := s.apart("a", "b", "c", "d")
		at := func(i int) string { return all[i].Text("created_at") }
		for _, c := range []struct {
			filters object
			want    []string
		}{
			{object{"createdAt": object{"after": at(1)}}, []string{"c", "d"}}, {object{"createdAt": object{"before": at(2)}}, []string{"a", "b"}},
			{object{"createdAt": object{"after": at(0), "before": at(3)}}, []string{"b", "c"}}, {object{"createdAt": object{}}, []string{"a", "b", "c", "d"}},
			{object{"createdAt": object{"after": at(1), "before": at(1)}}, []string{}}, {object{"updatedAt": object{"after": at(3)}}, []string{"a"}},
			{object{"updatedAt": object{"before": all[0]["updated_at"]}}, []string{"b", "c", "d"}},
			{object{"createdAt": object{"before": at(1)}, "updatedAt": object{"after": at(1)}}, []string{"a"}},
			{object{"updatedAt": object{"after": at(1)}, "search": "C"}, []string{"a", "c", "d"}},
			{object{"createdAt": object{"after": at(1)}, "search": strings.ToLower(all[2].Text("friendly_id"))}, []string{"c"}},
		} {
			require.Equal(t, c.want, s.names(object{"filters": c.filters}), "%v", c.filters)
		}
	})
}

// An account's time on an event is that of the record or of its part in the event,
// whichever changed last.
func TestAccountSearchGoesByWhatTheEventShows(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		all, there := s.apart("a", "b"), s.elsewhere()
		taken := there.takes(200, all[1].ID())
		newest := object{"updatedAt": object{"sort": "desc"}}
		require.Equal(t, []string{"a", "b"}, s.names(object{"sort": newest}), "the other event's part changes nothing here")
		require.Equal(t, []entity{taken}, there.search(object{"filters": object{"updatedAt": object{"after": all[1]["updated_at"]}}}).Results)
		time.Sleep(2 * time.Millisecond)
		there.put(200, all[1].ID(), object{"name": "b2"})
		require.Equal(t, []string{"b2", "a"}, s.names(object{"sort": newest}))
		require.Equal(t, []string{"b2"}, s.names(object{"filters": object{"updatedAt": object{"after": taken["updated_at"]}}}))
	})
}

func TestAccountSearchSorts(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		s.apart("a", "b", "c")
		for sort, want := range map[string][]string{
			`{}`: {"a", "b", "c"}, `{"createdAt":{"sort":"asc"}}`: {"a", "b", "c"}, `{"createdAt":{"sort":"desc"}}`: {"c", "b", "a"},
			`{"updatedAt":{"sort":"asc"}}`: {"b", "c", "a"}, `{"updatedAt":{"sort":"desc"}}`: {"a", "c", "b"},
			`{"createdAt":{"sort":"desc"},"updatedAt":{"sort":"asc","order":1}}`:           {"b", "c", "a"},
			`{"updatedAt":{"sort":"asc","order":2},"createdAt":{"sort":"desc","order":1}}`: {"c", "b", "a"},
		} {
			require.Equal(t, want, it.Texts(s.search(`{"sort":`+sort+`}`).Results, "name"), sort)
		}
	})
}

func TestAccountSearchPages(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		empty := s.search(object{})
		require.NotNil(t, empty.Results)
		require.Zero(t, empty.Pagination.TotalPages)
		operations := make([]object, 27)
		for i := range operations {
			operations[i] = it.Creating(object{"name": fmt.Sprint(i)})
		}
		o := s.bulk(operations...)
		all := make([]entity, len(operations))
		for i := range all {
			all[i] = o.Data(t, i)
		}
		slices.SortFunc(all, func(a, b entity) int {
			return cmp.Or(cmp.Compare(a.Text("created_at"), b.Text("created_at")), cmp.Compare(a.ID(), b.ID()))
		})
		first := s.search(object{})
		require.Equal(t, it.Page{Results: all[:25], Pagination: struct{ CurrentPage, PageSize, TotalPages, TotalResults int }{1, 25, 2, 27}}, first)
		last := s.search(object{}, "page=4", "pageSize=8")
		require.Equal(t, it.Page{Results: all[24:], Pagination: struct{ CurrentPage, PageSize, TotalPages, TotalResults int }{4, 8, 4, 27}}, last)
		beyond := s.search(object{}, "page=999", "pageSize=100")
		require.Empty(t, beyond.Results)
		require.Equal(t, 1, beyond.Pagination.TotalPages)
		for wrong, field := range map[string]string{
			"page=0": "page", "page=1000": "page", "page=x": "page", "pageSize=0": "pageSize", "pageSize=101": "pageSize",
		} {
			it.RequireInvalid(t, s.call(400, http.MethodPost, "?"+wrong, object{}).JSON(t), field)
		}
	})
}

func TestWrongAccountSearches(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		track := []string{s.NewEntry("tracks", "T").ID()}
		filters := object{
			"name": "A", "status": "accepted", "email": "a@example.org", "roleIds": track, "roleSlugs": []string{"speaker"}, "trackIds": track,
			"tagIds": track, "levelIds": track, "formatIds": track, "languageIds": track, "deletedAt": object{}, "isAbstract": true,
		}
		for name, value := range filters {
			it.RequireInvalid(t, s.call(400, http.MethodPost, "", object{"filters": object{name: value}}).JSON(t), "filters."+name)
		}
		for _, c := range []struct {
			field string
			body  any
		}{
			{"filters", object{"filters": nil}}, {"filters", object{"filters": "x"}}, {"filters.search", object{"filters": object{"search": 1}}},
			{"filters.createdAt", object{"filters": object{"createdAt": "2027-01-01T00:00:00Z"}}},
			{"filters.createdAt.since", object{"filters": object{"createdAt": object{"since": "2027-01-01T00:00:00Z"}}}},
			{"filters.updatedAt.after", object{"filters": object{"updatedAt": object{"after": "2027-01-01T00:00:00"}}}},
			{"sort", object{"sort": "createdAt"}}, {"sort.name", object{"sort": object{"name": object{"sort": "asc"}}}},
			{"sort.startsAt", object{"sort": object{"startsAt": object{"sort": "asc"}}}}, {"sort.createdAt.sort", object{"sort": object{"createdAt": object{"sort": "up"}}}},
			{"sort.sort", `{"sort":{"sort":"asc","order":1}}`}, {"expand[0]", object{"expand": []string{"composition"}}}, {"expand", object{"expand": "translated_fields"}},
		} {
			it.RequireInvalid(t, s.call(400, http.MethodPost, "", c.body).JSON(t), c.field)
		}
		id := s.named("A")[0]
		it.RequireInvalid(t, s.get(400, id, "expand=composition"), "expand")
		it.RequireInvalid(t, s.put(400, id, object{}, "expand=composition"), "expand")
		require.Equal(t, []string{"A"}, s.names(object{"filter": 1, "page": "x"}), "unknown top-level keys are ignored")
		require.Len(t, s.call(200, http.MethodPost, "", nil).JSON(t)["results"], 1, "without a body")
	})
}

// Wrong paths and bodies are refused alike on every route of a role.
func TestWrongAccountPathsAndBodies(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		id := s.named("A")[0]
		for _, wrong := range []string{"x", "1", id + "0", "ACCT-1"} {
			it.RequireInvalid(t, s.get(400, wrong), s.role+"Id")
			it.RequireInvalid(t, s.put(400, wrong, object{}), s.role+"Id")
			it.RequireInvalid(t, s.remove(400, wrong), s.role+"Id")
			it.RequireInvalid(t, s.restore(400, wrong), s.role+"Id")
		}
		for _, body := range []string{"", "{", "[]", `"x"`, "null", `{"name":"A","name":"B"}`, "{\"name\":\"\xff\"}", `{"name":"\u0000"}`} {
			for method, path := range map[string]string{http.MethodPost: "/create", http.MethodPut: "/" + id} {
				require.Equal(t, "VALIDATION_ERROR", s.call(400, method, path, body).JSON(t)["code"], body)
			}
		}
		s.call(415, http.MethodPost, "/create", "name=A", "Content-Type", "text/plain")
		s.call(405, http.MethodPatch, "/"+id, object{})
		nowhere := &accountClient{&it.Client{Stack: s.In(it.UnknownEvent), T: t}, s.role}
		for _, answer := range []entity{
			nowhere.get(404, id), nowhere.put(404, id, object{}), nowhere.remove(404, id), nowhere.restore(404, id), nowhere.create(404, object{"name": "A"}),
			nowhere.call(404, http.MethodPost, "", object{}).JSON(t), nowhere.call(404, http.MethodPost, "/bulk", object{"operations": []object{it.Deleting(uuid.NewString())}}).JSON(t),
		} {
			require.Equal(t, "Event not found", answer["message"])
		}
		require.Equal(t, []string{"A"}, s.names(object{}))
	})
}
