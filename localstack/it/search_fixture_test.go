package it_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// byMetadata are the filters by metadata: the filter of a search, the parameters of
// the list, the property of a write.
var byMetadata = []struct{ filter, one, many, kind, sent string }{
	{"trackIds", "track_id", "track_ids", "tracks", "track_id"},
	{"tagIds", "tag_id", "tag_ids", "tags", "tag_ids"},
	{"levelIds", "level_id", "level_ids", "levels", "level_id"},
	{"formatIds", "format_id", "format_ids", "formats", "format_id"},
	{"languageIds", "language_id", "language_ids", "languages", "language_id"},
}

// grid is an event with sessions of many combinations: two entries of each kind
// of metadata, and what each session was made with.
type grid struct {
	*desk
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
	g := &grid{desk: newDesk(t, "sessions_2_0"), entries: map[string][]string{}}
	for _, facet := range byMetadata {
		for i := range 2 {
			g.entries[facet.filter] = append(g.entries[facet.filter], g.entry(facet.kind, fmt.Sprint(facet.kind, i)).id())
		}
	}
	operations := make([]object, 60)
	for i := range operations {
		body := object{"title": fmt.Sprintf("Session %02d", i), "status": gridStatuses[i%5], "is_abstract": i%4 == 0}
		for rhythm, facet := range byMetadata {
			if at := i / (rhythm + 1) % 3; at < 2 {
				body[facet.sent] = g.entries[facet.filter][at]
			}
		}
		body["tag_ids"] = tagsOf(body["tag_ids"], i%7 == 0, g.entries["tagIds"])
		operations[i] = object{"action": "create", "data": body}
		g.made = append(g.made, body)
	}
	made := g.bulk(operations...)
	for i := range operations {
		g.all = append(g.all, made.data(t, i))
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
	slices.SortFunc(kept, oldestFirst)
	return texts(kept, "id")
}

func oldestFirst(a, b entity) int {
	return cmp.Or(cmp.Compare(a.text("created_at"), b.text("created_at")), cmp.Compare(a.id(), b.id()))
}

// whole is the ids that a search finds on all its pages.
func (g *grid) whole(filters object) []string {
	g.t.Helper()
	answer := g.search(object{"filters": filters}, "pageSize=100")
	require.Len(g.t, answer.Results, answer.Pagination.TotalResults)
	return texts(answer.Results, "id")
}

func (g *grid) wholeList(parts ...string) []string {
	g.t.Helper()
	answer := g.list(append(parts, "page_size=100")...)
	require.Len(g.t, answer.Results, answer.Pagination.TotalResults)
	return texts(answer.Results, "id")
}

// has is whether a session was made with one of the entries.
func has(made object, sent string, ids ...string) bool {
	if tags, ok := made[sent].([]string); ok {
		return slices.ContainsFunc(tags, func(id string) bool { return slices.Contains(ids, id) })
	}
	id, _ := made[sent].(string)
	return slices.Contains(ids, id)
}
