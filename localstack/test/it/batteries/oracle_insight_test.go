package batteries_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// byQuery searches by a query of insights.
const byQuery = "query"

// asQuery makes the search one that a query can ask: of sessions or of abstracts, without tags, which would show a session more than
// once, and without an order by starts, since queries show sessions without one first.
func (q *inquiry) asQuery(abstract bool) {
	q.way, q.abstract = byQuery, &abstract
	delete(q.ids, "tag")
	delete(q.ranges, "deletedAt")
	q.sort = slices.DeleteFunc(q.sort, func(k sortKey) bool { return k.name == "startsAt" || k.name == "deletedAt" })
}

// entity is the singular of the entity that the search asks about.
func (q inquiry) entity() string {
	if *q.abstract {
		return "abstract"
	}
	return "session"
}

// columns are what a query shows, by the names of the search.
func (q inquiry) columns() map[string]string {
	columns := map[string]string{}
	for _, name := range []string{"id", "friendly_id", "title", "status", "is_abstract", "created_at", "updated_at", "starts_at", "composition_role", "custom_status_id", "custom_status"} {
		columns[name] = q.entity() + "." + name
	}
	for _, f := range facetKinds {
		if f.name != "tag" {
			columns[f.name+"_id"], columns[f.name] = f.name+".id", f.name+".name"
		}
	}
	return columns
}

// query is the text of the query.
func (q inquiry) query() string {
	columns := q.columns()
	var shown, kept []string
	for _, name := range columns {
		shown = append(shown, name)
	}
	slices.Sort(shown)
	text := "SELECT " + strings.Join(shown, ", ") + " FROM " + q.entity() + "s"
	for _, f := range facetKinds {
		if f.name != "tag" {
			text += " LEFT JOIN " + f.collection
		}
	}
	where := func(condition string) { kept = append(kept, condition) }
	if q.status != "" {
		where(columns["status"] + " = '" + q.status + "'")
	}
	if !q.linked {
		where(columns["composition_role"] + " != 'source'")
	}
	for name, ids := range q.ids {
		where(q.entity() + "." + name + "_id IN ('" + strings.Join(ids, "', '") + "')")
	}
	for name, bound := range q.ranges {
		for operator, at := range map[string]any{" > ": bound.body()["after"], " < ": bound.body()["before"]} {
			if at != nil {
				where(columns[snake(name)] + operator + "'" + at.(string) + "'")
			}
		}
	}
	if q.text != "" {
		where("(" + columns["title"] + " CONTAINS '" + q.text + "' OR " + columns["friendly_id"] + " CONTAINS '" + q.text + "')")
	}
	if len(kept) > 0 {
		text += " WHERE " + strings.Join(kept, " AND ")
	}
	return text + " ORDER BY " + strings.Join(q.keys(), ", ")
}

// keys are the keys of ORDER BY: those of the search by their priorities, or else the time of creation.
func (q inquiry) keys() (keys []string) {
	sorted := slices.Clone(q.sort)
	slices.SortStableFunc(sorted, func(x, y sortKey) int { return cmp.Compare(x.priority(), y.priority()) })
	for _, k := range sorted {
		keys = append(keys, q.entity()+"."+snake(k.name)+map[bool]string{true: " DESC", false: " ASC"}[k.desc])
	}
	if keys == nil {
		return []string{q.entity() + ".created_at"}
	}
	return keys
}

// snake is the name of a field for the name of a key.
func snake(name string) string {
	return map[string]string{"createdAt": "created_at", "updatedAt": "updated_at", "startsAt": "starts_at"}[name]
}

// queryRequest is the search as a query.
func (q inquiry) queryRequest(s *stacktest.Stack) it.Request {
	body := map[string]any{"query": q.query(), "obfuscatePii": false, "page": q.page, "limit": q.size}
	return it.Request{Method: "POST", Path: s.EventPath("/insights/execute"), Body: body}
}

// read reads an answer to the search.
func (q inquiry) read(body []byte) pageOf[*result] {
	if q.way != byQuery {
		return readPage(body)
	}
	return pageRead(body, q.readRow)
}

// readRow reads a row of a query as the session that it shows.
func (q inquiry) readRow(row map[string]any) *result {
	o := map[string]any{}
	for name, column := range q.columns() {
		o[name] = row[column]
	}
	o["composition_status"] = map[string]any{"role": o["composition_role"]}
	for _, f := range facetKinds {
		name := o[f.name]
		if delete(o, f.name); o[f.name+"_id"] != nil {
			o[f.name] = map[string]any{"id": o[f.name+"_id"], "name": name}
		}
	}
	name := o["custom_status"]
	if delete(o, "custom_status"); o["custom_status_id"] != nil {
		o["custom_status"] = map[string]any{"id": o["custom_status_id"], "name": fmt.Sprint(name)}
	}
	return rowOf(o)
}
