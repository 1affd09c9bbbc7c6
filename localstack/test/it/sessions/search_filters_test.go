package sessions_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

func TestSearchWithinAFilterIsOrAndBetweenIsAnd(t *testing.T) {
	g := newGrid(t)
	require.Equal(t, g.want(func(object) bool { return true }), g.whole(object{}))
	for i, facet := range it.MetadataFilters {
		a, b := g.entries[facet.Filter][0], g.entries[facet.Filter][1]
		require.Equal(t, g.want(func(made object) bool { return has(made, facet.Sent, a) }),
			g.whole(object{facet.Filter: []string{a}}), facet.Filter)
		require.Equal(t, g.want(func(made object) bool { return has(made, facet.Sent, a, b) }),
			g.whole(object{facet.Filter: []string{a, b, uuid.NewString()}}), facet.Filter)
		next := it.MetadataFilters[(i+1)%len(it.MetadataFilters)]
		c := g.entries[next.Filter][1]
		want := g.want(func(made object) bool {
			return has(made, facet.Sent, a, b) && has(made, next.Sent, c) && made["status"] == "accepted"
		})
		require.Equal(t, want, g.whole(object{facet.Filter: []string{b, a}, next.Filter: []string{c}, "status": "accepted"}))
	}
	all := object{}
	for _, facet := range it.MetadataFilters {
		all[facet.Filter] = []string{g.entries[facet.Filter][0]}
	}
	want := g.want(func(made object) bool {
		for _, facet := range it.MetadataFilters {
			if !has(made, facet.Sent, g.entries[facet.Filter][0]) {
				return false
			}
		}
		return true
	})
	require.NotEmpty(t, want)
	require.Equal(t, want, g.whole(all))
}

func TestSearchByStatusAndKind(t *testing.T) {
	g := newGrid(t)
	for _, status := range gridStatuses {
		require.Equal(t, g.want(func(made object) bool { return made["status"] == status }), g.whole(object{"status": status}))
		require.Equal(t, g.want(func(made object) bool { return made["status"] == status }), g.wholeList("status="+status))
	}
	for _, abstract := range []bool{true, false} {
		want := g.want(func(made object) bool { return made["is_abstract"] == abstract })
		require.NotEmpty(t, want)
		require.Equal(t, want, g.whole(object{"isAbstract": abstract}))
		value := map[bool]string{true: "true", false: "false"}[abstract]
		require.Equal(t, want, g.wholeList("is_abstract="+value))
	}
	want := g.want(func(made object) bool { return made["is_abstract"] == true && made["status"] == "declined" })
	require.NotEmpty(t, want)
	require.Equal(t, want, g.whole(object{"isAbstract": true, "status": "declined"}))
}

func TestListTakesSingularAndPluralParameters(t *testing.T) {
	g := newGrid(t)
	require.Equal(t, g.want(func(object) bool { return true }), g.wholeList())
	for i, facet := range it.MetadataFilters {
		a, b := g.entries[facet.Filter][0], g.entries[facet.Filter][1]
		one := g.want(func(made object) bool { return has(made, facet.Sent, a) })
		require.Equal(t, one, g.wholeList(facet.One+"="+a))
		require.Equal(t, one, g.wholeList(facet.Many+"="+a))
		require.Equal(t, one, g.wholeList(facet.One+"="+strings.ToUpper(a)), "a UUID in capitals is the same one")
		both := g.want(func(made object) bool { return has(made, facet.Sent, a, b) })
		require.Equal(t, both, g.wholeList(facet.Many+"="+a+","+b))
		require.Equal(t, both, g.wholeList(facet.Many+"="+a, facet.Many+"="+b), "repeated")
		require.Equal(t, both, g.wholeList(facet.Many+"="+a+","+uuid.NewString(), facet.Many+"="+b), "both ways")
		next := it.MetadataFilters[(i+2)%len(it.MetadataFilters)]
		c := g.entries[next.Filter][0]
		want := g.want(func(made object) bool { return has(made, facet.Sent, a, b) && has(made, next.Sent, c) })
		require.Equal(t, want, g.wholeList(facet.Many+"="+a+","+b, next.One+"="+c))
	}
}

func TestSearchByDates(t *testing.T) {
	d := it.NewClient(t)
	var all []entity
	for _, title := range []string{"a", "b", "c", "d"} {
		all = append(all, d.Create(200, object{"title": title}))
		time.Sleep(2 * time.Millisecond)
	}
	all[0] = d.Put(200, all[0].ID(), object{"capacity": 1})
	created := func(i int) string { return all[i].Text("created_at") }
	titles := func(filters object) []string { return it.Texts(d.Filter(filters).Results, "title") }
	require.Equal(t, []string{"c", "d"}, titles(object{"createdAt": object{"after": created(1)}}), "after is exclusive")
	require.Equal(t, []string{"a", "b"}, titles(object{"createdAt": object{"before": created(2)}}), "before is exclusive")
	require.Equal(t, []string{"b", "c"}, titles(object{"createdAt": object{"after": created(0), "before": created(3)}}))
	require.Empty(t, titles(object{"createdAt": object{"after": created(1), "before": created(1)}}))
	require.Equal(t, []string{"a", "b", "c", "d"}, titles(object{"createdAt": object{}}))
	require.Equal(t, []string{"a"}, titles(object{"updatedAt": object{"after": created(3)}}))
	require.Equal(t, []string{"b", "c", "d"}, titles(object{"updatedAt": object{"before": all[0].Text("updated_at")}}))
	require.Equal(t, []string{"a"}, titles(object{"createdAt": object{"before": created(1)}, "updatedAt": object{"after": created(1)}}))
	at, err := time.Parse(time.RFC3339, created(1))
	require.NoError(t, err)
	elsewhere := at.In(time.FixedZone("", 5*3600+1800)).Format("2006-01-02T15:04:05.000-07:00")
	require.Equal(t, []string{"c", "d"}, titles(object{"createdAt": object{"after": elsewhere}}), "an offset is the same instant")
}

func TestListSearchesText(t *testing.T) {
	d := it.NewClient(t)
	d.NewSessions("The Café in Ångström Street", "Café & Bar 100%", "a_b", "Plain")
	titles := func(text string) []string { return it.Texts(d.List("search="+text).Results, "title") }
	require.Equal(t, []string{"The Café in Ångström Street", "Café & Bar 100%"}, titles("caf%C3%A9"))
	require.Equal(t, []string{"The Café in Ångström Street"}, titles("%C3%85NGSTR%C3%96M"), "whatever the case")
	require.Equal(t, []string{"The Café in Ångström Street"}, titles("the+caf"))
	require.Equal(t, []string{"Café & Bar 100%"}, titles("%26%20bar%20100%25"))
	require.Equal(t, []string{"a_b"}, titles("a_b"))
	require.Empty(t, titles("a.b"), "the text is no pattern")
	require.Empty(t, titles("nothing"))
	require.Equal(t, []string{"a_b"}, titles("sess-3"))
	require.Equal(t, []string{"Plain"}, titles("SS-4"))
	require.Len(t, titles("SESS"), 4)
	require.Len(t, titles(""), 4)
	require.Equal(t, 1, d.List("search=plain", "page_size=1").Pagination.TotalResults)
}

func TestDeletedAndUnknownMetadataFindsNothing(t *testing.T) {
	g := newGrid(t)
	for _, facet := range it.MetadataFilters {
		a, b := g.entries[facet.Filter][0], g.entries[facet.Filter][1]
		require.Empty(t, g.whole(object{facet.Filter: []string{uuid.NewString()}}))
		before := g.whole(object{facet.Filter: []string{b}})
		require.NotEmpty(t, g.whole(object{facet.Filter: []string{a}}))
		g.DeleteRecord(facet.Kind, a)
		require.Empty(t, g.whole(object{facet.Filter: []string{a}}), facet.Kind)
		require.Empty(t, g.wholeList(facet.One+"="+a))
		require.Empty(t, g.wholeList(facet.Many+"="+a))
		require.Equal(t, before, g.whole(object{facet.Filter: []string{a, b}}))
		require.Len(t, g.whole(object{}), 60, "no session is gone")
	}
	statuses := g.SearchStatuses(object{"filters": object{"trackIds": []string{g.entries["trackIds"][0]}}})
	require.Zero(t, statuses.Pagination.TotalResults)
}
