package requests_test

import (
	"strings"
	"testing"

	"lectern/localstack/test/it"
)

func TestWrongSearches(t *testing.T) {
	w := newTargets(t)
	bodies := []wrongBody{
		{"filters", object{"filters": nil}}, {"filters", object{"filters": []any{}}}, {"filters", object{"filters": "x"}},
		{"filters.track", object{"filters": object{"track": w.track}}}, {"filters.trackids", object{"filters": object{"trackids": []string{w.track}}}},
		{"filters.track_ids", object{"filters": object{"track_ids": []string{w.track}}}},
		{"filters.title", object{"filters": object{"status": "pending", "title": "x"}}}, {"filters.", object{"filters": object{"": 1}}},
		{"filters.status", object{"filters": object{"status": "open"}}}, {"filters.status", object{"filters": object{"status": nil}}},
		{"filters.status", object{"filters": object{"status": []string{"pending"}}}}, {"filters.status", object{"filters": object{"status": ""}}},
		{"filters.isAbstract", object{"filters": object{"isAbstract": "true"}}}, {"filters.isAbstract", object{"filters": object{"isAbstract": nil}}},
		{"filters.createdAt", object{"filters": object{"createdAt": "2027-01-01T00:00:00Z"}}}, {"filters.createdAt", object{"filters": object{"createdAt": nil}}},
		{"filters.createdAt.since", object{"filters": object{"createdAt": object{"since": "2027-01-01T00:00:00Z"}}}},
		{"filters.createdAt.before", object{"filters": object{"createdAt": object{"before": "yesterday"}}}},
		{"filters.createdAt.after", object{"filters": object{"createdAt": object{"after": "2027-01-01T00:00:00"}}}},
		{"filters.updatedAt.after", object{"filters": object{"updatedAt": object{"after": nil}}}},
		{"filters.updatedAt.before", object{"filters": object{"updatedAt": object{"before": 1747000000}}}},
		{"sort", object{"sort": nil}}, {"sort", object{"sort": "createdAt"}}, {"sort", object{"sort": []any{}}},
		{"sort.key", `{"sort":{"key":"createdAt","order":"asc"}}`}, {"sort.sort", `{"sort":{"sort":"asc","order":1}}`}, {"sort.order", `{"sort":{"order":"createdAt","sort":"asc"}}`},
		{"sort.title", object{"sort": object{"title": object{"sort": "asc"}}}}, {"sort.created_at", object{"sort": object{"created_at": object{"sort": "asc"}}}},
		{"sort.createdAt", object{"sort": object{"createdAt": "asc"}}}, {"sort.createdAt", object{"sort": object{"createdAt": nil}}},
		{"sort.createdAt.sort", object{"sort": object{"createdAt": object{}}}}, {"sort.createdAt.sort", object{"sort": object{"createdAt": object{"sort": "up"}}}},
		{"sort.createdAt.sort", object{"sort": object{"createdAt": object{"sort": nil}}}}, {"sort.createdAt.sort", object{"sort": object{"createdAt": object{"order": 1}}}},
		{"sort.createdAt.order", object{"sort": object{"createdAt": object{"sort": "asc", "order": "1"}}}},
		{"sort.createdAt.order", object{"sort": object{"createdAt": object{"sort": "asc", "order": 1.5}}}},
		{"sort.createdAt.order", object{"sort": object{"createdAt": object{"sort": "asc", "order": nil}}}},
		{"sort.createdAt.direction", object{"sort": object{"createdAt": object{"sort": "asc", "direction": 1}}}},
		{"sort.createdAt", `{"sort":{"createdAt":{"sort":"asc"},"createdAt":{"sort":"desc"}}}`},
		{"expand", object{"expand": "composition"}}, {"expand", object{"expand": nil}}, {"expand[0]", object{"expand": []string{"everything"}}},
		{"expand[0]", object{"expand": []any{1}}}, {"expand", object{"expand": object{}}},
	}
	for _, filter := range []string{"trackIds", "tagIds", "levelIds", "formatIds", "languageIds"} {
		at := "filters." + filter
		for field, value := range map[string]any{at: []string{}, at + "[1]": []any{w.track, "x"}, at + "[0]": []any{nil}} {
			bodies = append(bodies, wrongBody{field, object{"filters": object{filter: value}}})
		}
		for _, value := range []any{w.track, nil, 1, object{}} {
			bodies = append(bodies, wrongBody{at, object{"filters": object{filter: value}}})
		}
	}
	all := append(eachOf("POST", "/sessions", bodies), eachOf("POST", "/sessions/status", bodies)...)
	for _, path := range w.peopleSearches() {
		for _, b := range bodies {
			part, _, _ := strings.Cut(b.field, ".")
			if part == "sort" || b.field == "filters" || strings.HasPrefix(b.field, "filters.createdAt") || strings.HasPrefix(b.field, "filters.updatedAt") {
				all = append(all, bad("POST", path, b.body, b.field))
			}
		}
		all = append(all, eachOf("POST", path, []wrongBody{
			{"expand[0]", object{"expand": []string{"composition"}}}, {"expand", object{"expand": nil}}, {"filters.name", object{"filters": object{"name": "x"}}},
			{"filters.search", object{"filters": object{"search": 1}}}, {"filters.search", object{"filters": object{"search": strings.Repeat("x", 256)}}},
			{"filters.status", object{"filters": object{"status": "pending"}}}, {"sort.startsAt", object{"sort": object{"startsAt": object{"sort": "asc"}}}},
		})...)
	}
	all = append(all,
		bad("POST", "/sessions", object{"filters": object{"deletedAt": object{}}}, "filters.deletedAt"),
		bad("POST", "/sessions", object{"sort": object{"deletedAt": object{"sort": "asc"}}}, "sort.deletedAt"),
		bad("POST", "/sessions/status", object{"filters": object{"deletedAt": object{"on": "x"}}}, "filters.deletedAt.on"),
	)
	w.makes(all)
}

// peopleSearches are the searches of people and companies.
func (w *targets) peopleSearches() []string {
	return []string{"/contacts", "/speakers", "/participants", "/sponsors", "/exhibitors", (&it.Contacts{Client: w.Client}).OrganizationPath("")}
}

func TestWrongPages(t *testing.T) {
	w := newTargets(t)
	var all []mistake
	searches := []string{"/sessions", "/sessions/status", "/fields", "/rooms", "/tracks", "/tags", "/formats", "/levels", "/languages", "/session-statuses"}
	for _, search := range append(searches, w.peopleSearches()...) {
		for _, query := range []string{"page=0", "page=1000", "page=-1", "page=x", "page=1.5", "page=", "page=1&page=2", "page=99999999999999999999"} {
			all = append(all, bad("POST", search+"?"+query, object{}, "page"))
		}
		for _, query := range []string{"pageSize=0", "pageSize=101", "pageSize=ten", "pageSize=1&pageSize=1"} {
			all = append(all, bad("POST", search+"?"+query, object{}, "pageSize"))
		}
	}
	for query, field := range map[string]string{
		"page=0": "page", "page=1000": "page", "page_size=0": "page_size", "page_size=101": "page_size", "page_size=x": "page_size",
		"page=1&page=1": "page",
	} {
		all = append(all, bad("GET", "/sessions?"+query, nil, field))
	}
	for query, field := range map[string]string{
		"page=0": "page", "page=1000": "page", "pageSize=0": "pageSize", "pageSize=101": "pageSize", "expand=everything": "expand",
		"expand=custom_fields,x": "expand", "expand=custom_fields&expand=x": "expand", "page=%00": "page",
	} {
		all = append(all, bad("GET", "/v1/events?"+query, nil, field))
	}
	w.makes(all)
}

func TestWrongListParameters(t *testing.T) {
	w := newTargets(t)
	queries := map[string]string{
		"is_abstract=yes": "is_abstract", "is_abstract=1": "is_abstract", "is_abstract=": "is_abstract", "is_abstract=true&is_abstract=false": "is_abstract",
		"status=open": "status", "status=": "status", "status=pending&status=accepted": "status", "status=pending,accepted": "status",
		"expand=everything": "expand", "expand=composition,x": "expand", "expand=composition&expand=x": "expand", "expand=Composition": "expand",
		"search=" + strings.Repeat("x", 256): "search", "search=%00": "search", "search=%ff": "search", "search=a&search=b": "search",
	}
	for _, facet := range it.MetadataFilters {
		queries[facet.One+"=x"], queries[facet.One+"="] = facet.One, facet.One
		queries[facet.One+"="+w.track+","+w.track], queries[facet.One+"="+w.track+"&"+facet.One+"="+w.track] = facet.One, facet.One
		queries[facet.Many+"=x"], queries[facet.Many+"="] = facet.Many, facet.Many
		queries[facet.Many+"="+w.track+","], queries[facet.Many+"="+w.track+"&"+facet.Many+"=x"] = facet.Many, facet.Many
	}
	var all []mistake
	for query, field := range queries {
		all = append(all, bad("GET", "/sessions?"+query, nil, field))
	}
	for query, field := range map[string]string{"expand=x": "expand", "expand=": "expand"} {
		all = append(all, bad("GET", "/sessions/"+w.session+"?"+query, nil, field))
		for _, kind := range []string{"rooms", "statuses"} {
			all = append(all, bad("GET", "/"+kind+"?"+query, nil, field))
		}
	}
	w.makes(all)
}
