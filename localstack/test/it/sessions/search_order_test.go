package sessions_test

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

// timed is an event with sessions whose times are all in different orders: five
// that start, two of them at once, and three that do not.
func timed(t *testing.T) (*it.Client, []entity) {
	t.Helper()
	d := it.NewClient(t)
	var all []entity
	for i, starts := range []any{
		"2027-05-12T09:00:00Z", nil, "2027-05-11T09:00:00Z", "2027-05-12T09:00:00Z", nil,
		"2027-05-13T09:00:00+09:00", nil, "2027-05-11T08:59:59.999Z",
	} {
		all = append(all, d.Create(200, object{"title": fmt.Sprint(i), "starts_at": starts}))
	}
	for _, i := range []int{4, 0, 6, 2} {
		all[i] = d.Put(200, all[i].ID(), object{"capacity": i})
	}
	return d, all
}

func then(first, second func(a, b entity) int) func(a, b entity) int {
	return func(a, b entity) int { return cmp.Or(first(a, b), second(a, b)) }
}

func TestSortByEachKeyInBothDirections(t *testing.T) {
	d, all := timed(t)
	for key, name := range map[string]string{"createdAt": "created_at", "updatedAt": "updated_at", "startsAt": "starts_at"} {
		for direction, desc := range map[string]bool{"asc": false, "desc": true} {
			answer := d.Search(object{"sort": object{key: object{"sort": direction}}})
			require.Equal(t, it.SortedIDs(all, it.ByTime(name, desc)), it.Texts(answer.Results, "id"), "%s %s", key, direction)
		}
	}
	last := it.Texts(d.Search(object{"sort": object{"startsAt": object{"sort": "desc"}}}).Results[5:], "starts_at")
	require.Equal(t, []string{"", "", ""}, last, "those without a start are last")
}

func TestAStartAtTheEpochIsAStart(t *testing.T) {
	d := it.NewClient(t)
	for title, starts := range map[string]any{"none": nil, "epoch": "1970-01-01T00:00:00Z", "before": "1969-12-31T23:59:59Z", "after": "2027-05-11T00:00:00Z"} {
		d.Create(200, object{"title": title, "starts_at": starts})
	}
	for direction, want := range map[string][]string{"asc": {"before", "epoch", "after", "none"}, "desc": {"after", "epoch", "before", "none"}} {
		sorted := d.Search(object{"sort": object{"startsAt": object{"sort": direction}}})
		require.Equal(t, want, it.Texts(sorted.Results, "title"))
	}
}

func TestSortByMoreKeys(t *testing.T) {
	d, all := timed(t)
	starts, updated := it.ByTime("starts_at", false), it.ByTime("updated_at", true)
	for body, want := range map[string]func(a, b entity) int{
		`{"startsAt":{"sort":"asc","order":1},"updatedAt":{"sort":"desc","order":2}}`:                             then(starts, updated),
		`{"updatedAt":{"sort":"desc","order":2},"startsAt":{"sort":"asc","order":1}}`:                             then(starts, updated),
		`{"startsAt":{"sort":"asc"},"updatedAt":{"sort":"desc"}}`:                                                 then(starts, updated),
		`{"updatedAt":{"sort":"desc"},"startsAt":{"sort":"asc"}}`:                                                 updated,
		`{"updatedAt":{"sort":"desc"},"startsAt":{"sort":"asc","order":900}}`:                                     then(starts, updated),
		`{"createdAt":{"sort":"asc"},"updatedAt":{"sort":"desc","order":0},"startsAt":{"sort":"asc","order":-1}}`: then(starts, updated),
		`{"updatedAt":{"sort":"desc","order":3},"startsAt":{"sort":"asc","order":3}}`:                             updated,
		`{}`: it.ByTime("created_at", false),
	} {
		answer := d.Search(`{"sort":` + body + `}`)
		require.Equal(t, it.SortedIDs(all, want), it.Texts(answer.Results, "id"), body)
	}
}

func TestEveryOrderEndsWithTheID(t *testing.T) {
	g := newGrid(t)
	for _, body := range []object{{}, {"sort": object{"createdAt": object{"sort": "asc"}}}} {
		answer := g.Search(body, "pageSize=100")
		require.Equal(t, it.SortedIDs(g.all, it.ByTime("created_at", false)), it.Texts(answer.Results, "id"))
	}
	answer := g.Search(object{"sort": object{"startsAt": object{"sort": "desc"}}}, "pageSize=100")
	require.Equal(t, it.SortedIDs(g.all, it.ByTime("starts_at", true)), it.Texts(answer.Results, "id"), "none starts, so the ids alone decide")
}

func TestPagesJoinToTheWhole(t *testing.T) {
	g := newGrid(t)
	whole := g.want(func(object) bool { return true })
	for _, size := range []int{1, 7, 25, 59, 60, 100} {
		var joined, listed []string
		pages := (60 + size - 1) / size
		for page := 1; page <= pages; page++ {
			part := g.Search(object{}, fmt.Sprint("page=", page), fmt.Sprint("pageSize=", size))
			require.Equal(t, page, part.Pagination.CurrentPage)
			require.Equal(t, size, part.Pagination.PageSize)
			require.Equal(t, pages, part.Pagination.TotalPages)
			require.Equal(t, 60, part.Pagination.TotalResults)
			joined = append(joined, it.Texts(part.Results, "id")...)
			if size > 1 {
				part = g.List(fmt.Sprint("page=", page), fmt.Sprint("page_size=", size))
				require.Equal(t, size, part.Pagination.PageSize)
				listed = append(listed, it.Texts(part.Results, "id")...)
			}
		}
		require.Equal(t, whole, joined)
		if size > 1 {
			require.Equal(t, whole, listed)
		}
	}
	for _, page := range []string{"4", "999"} {
		beyond := g.Search(object{}, "page="+page)
		require.Empty(t, beyond.Results)
		require.Equal(t, 60, beyond.Pagination.TotalResults)
		require.Equal(t, 3, beyond.Pagination.TotalPages)
	}
}

func TestSearchDefaultsAndEmptyEvents(t *testing.T) {
	g := newGrid(t)
	first := g.Search(object{})
	require.Len(t, first.Results, 25)
	require.Equal(t, 1, first.Pagination.CurrentPage)
	require.Equal(t, 25, first.Pagination.PageSize)
	require.Len(t, g.List().Results, 25)
	require.Len(t, g.List("pageSize=3").Results, 25, "the list takes page_size, and ignores what it does not know")
	other := g.InNewEvent()
	for _, empty := range []it.Page{other.Search(object{}), other.List(), other.SearchStatuses(object{})} {
		require.NotNil(t, empty.Results)
		require.Empty(t, empty.Results)
		require.Zero(t, empty.Pagination.TotalPages)
		require.Zero(t, empty.Pagination.TotalResults)
		require.Equal(t, 1, empty.Pagination.CurrentPage)
	}
}

func TestSearchIsNotKeptAndIgnoresUnknownTopLevelKeys(t *testing.T) {
	d := it.NewClient(t)
	d.NewSessions("A")
	answer := d.Call(t, 200, "POST", d.EventPath("/sessions"), object{"filter": 1, "page": "x", "filters": object{}})
	require.Equal(t, "no-store", answer.Header.Get("Cache-Control"))
	require.Empty(t, answer.Header.Get("RateLimit-Limit"), "a search is not limited")
	require.Len(t, answer.JSON(t)["results"], 1)
}
