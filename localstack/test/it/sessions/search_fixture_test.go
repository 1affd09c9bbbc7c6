package sessions_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

// grid is an event with sessions of many combinations: two entries of each kind
// of metadata, and what each session was made with.
type grid struct {
	*it.Client
	entries map[string][]string
	made    []object
	all     []entity
}

// gridStatuses are given in turn.
var gridStatuses = []string{"accepted", "accept_queue", "pending", "decline_queue", "declined"}

// newGrid makes 60 sessions, every fourth of them an abstract. Session i has
// entry i mod 3 of each kind in another rhythm, none where that is 2, and both
// tags where i is a multiple of 7.
func newGrid(t *testing.T) *grid {
	t.Helper()
	g := &grid{Client: it.NewClient(t, "sessions_2_0"), entries: map[string][]string{}}
	for _, facet := range it.MetadataFilters {
		for i := range 2 {
			g.entries[facet.Filter] = append(g.entries[facet.Filter], g.NewEntry(facet.Kind, fmt.Sprint(facet.Kind, i)).ID())
		}
	}
	operations := make([]object, 60)
	for i := range operations {
		body := object{"title": fmt.Sprintf("Session %02d", i), "status": gridStatuses[i%5], "is_abstract": i%4 == 0}
		for rhythm, facet := range it.MetadataFilters {
			if at := i / (rhythm + 1) % 3; at < 2 {
				body[facet.Sent] = g.entries[facet.Filter][at]
			}
		}
		body["tag_ids"] = tagsOf(body["tag_ids"], i%7 == 0, g.entries["tagIds"])
		operations[i] = object{"action": "create", "data": body}
		g.made = append(g.made, body)
	}
	made := g.Bulk(operations...)
	for i := range operations {
		g.all = append(g.all, made.Data(t, i))
	}
	return g
}

func tagsOf(one any, both bool, tags []string) []string {
	switch id, ok := one.(string); {
	case both:
		return tags
	case ok:
		return []string{id}
	}
	return []string{}
}

// want is the ids of the sessions that keep lets through, in the default order.
func (g *grid) want(keep func(made object) bool) []string {
	var kept []entity
	for i, r := range g.all {
		if keep(g.made[i]) {
			kept = append(kept, r)
		}
	}
	slices.SortFunc(kept, it.OldestFirst)
	return it.Texts(kept, "id")
}

// whole is the ids that a search finds on all its pages.
func (g *grid) whole(filters object) []string {
	g.T.Helper()
	answer := g.Search(object{"filters": filters}, "pageSize=100")
	require.Len(g.T, answer.Results, answer.Pagination.TotalResults)
	return it.Texts(answer.Results, "id")
}

func (g *grid) wholeList(parts ...string) []string {
	g.T.Helper()
	answer := g.List(append(parts, "page_size=100")...)
	require.Len(g.T, answer.Results, answer.Pagination.TotalResults)
	return it.Texts(answer.Results, "id")
}

// has is whether a session was made with one of the entries.
func has(made object, sent string, ids ...string) bool {
	if tags, ok := made[sent].([]string); ok {
		return slices.ContainsFunc(tags, func(id string) bool { return slices.Contains(ids, id) })
	}
	id, _ := made[sent].(string)
	return slices.Contains(ids, id)
}
