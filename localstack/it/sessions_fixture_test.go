package it_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/stacktest"
)

// object is a body, and entity a record as answered, with numbers as float64.
type (
	object = map[string]any
	entity map[string]any
)

// desk is a caller at work on one event: the operations on its sessions, each
// with the expected status first.
type desk struct {
	*stacktest.Stack
	t *testing.T
}

// newDesk starts a region with an event that has the features.
func newDesk(t *testing.T, features ...string) *desk {
	t.Helper()
	return &desk{stacktest.Start(t, stacktest.Features(features...)), t}
}

// in is the same desk within a subtest.
func (d *desk) in(t *testing.T) *desk { return &desk{d.Stack, t} }

// elsewhere is the caller at another event of the organization.
func (d *desk) elsewhere(features ...string) *desk {
	return &desk{d.In(d.NewEvent(d.t, features...)), d.t}
}

// as is the same desk with another token.
func (d *desk) as(token string) *desk { return &desk{d.As(token), d.t} }

func (d *desk) send(status int, method, path string, body any, header ...string) entity {
	d.t.Helper()
	return d.Call(d.t, status, method, d.EventPath(path), body, header...).JSON(d.t)
}

// write makes a request on a session and gives its whole answer.
func (d *desk) write(status int, method, path string, body any, header ...string) stacktest.Answer {
	d.t.Helper()
	return d.Call(d.t, status, method, d.EventPath("/sessions/"+path), body, header...)
}

// query writes a query string of the parts, such as expand=composition.
func query(parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	return "?" + strings.Join(parts, "&")
}

func (d *desk) create(status int, body any, parts ...string) entity {
	d.t.Helper()
	return d.send(status, http.MethodPost, "/sessions/create"+query(parts), body)
}

func (d *desk) get(status int, id string, parts ...string) entity {
	d.t.Helper()
	return d.send(status, http.MethodGet, "/sessions/"+id+query(parts), nil)
}

func (d *desk) put(status int, id string, body any, parts ...string) entity {
	d.t.Helper()
	return d.send(status, http.MethodPut, "/sessions/"+id+query(parts), body)
}

func (d *desk) fields(status int, id string, values object) entity {
	d.t.Helper()
	return d.send(status, http.MethodPut, "/sessions/"+id+"/fields", object{"values": values})
}

func (d *desk) remove(status int, id string, header ...string) entity {
	d.t.Helper()
	return d.send(status, http.MethodDelete, "/sessions/"+id, nil, header...)
}

func (d *desk) restore(status int, id string, header ...string) entity {
	d.t.Helper()
	return d.send(status, http.MethodPost, "/sessions/"+id+"/restore", nil, header...)
}

// found is a page of a search or list.
type found struct {
	Results    []entity
	Pagination struct{ CurrentPage, PageSize, TotalPages, TotalResults int }
}

// search is POST /sessions; body may be a string, for the order of its keys.
func (d *desk) search(body any, parts ...string) found {
	d.t.Helper()
	return stacktest.Call[found](d.Stack, 200, http.MethodPost, d.EventPath("/sessions"+query(parts)), body)
}

// filtered is a search by filters alone.
func (d *desk) filtered(filters object) found {
	d.t.Helper()
	return d.search(object{"filters": filters})
}

func (d *desk) list(parts ...string) found {
	d.t.Helper()
	return stacktest.Call[found](d.Stack, 200, http.MethodGet, d.EventPath("/sessions"+query(parts)), nil)
}

func (d *desk) statuses(body any, parts ...string) found {
	d.t.Helper()
	return stacktest.Call[found](d.Stack, 200, http.MethodPost, d.EventPath("/sessions/status"+query(parts)), body)
}

// entry makes an entry of metadata: of rooms, tracks, ..., statuses.
func (d *desk) entry(kind, name string, more ...object) entity {
	d.t.Helper()
	return d.send(200, http.MethodPost, "/"+kind+"/create", merged(object{"name": name}, more...))
}

// drop deletes a record of the kind, such as tracks or contacts, and revive restores
// it.
func (d *desk) drop(kind, id string) {
	d.t.Helper()
	d.send(200, http.MethodDelete, "/"+kind+"/"+id, nil)
}

func (d *desk) revive(kind, id string) {
	d.t.Helper()
	d.send(200, http.MethodPost, "/"+kind+"/"+id+"/restore", nil)
}

// field makes a custom field of sessions and gives its internal name.
func (d *desk) field(name, kind string, more ...object) string {
	d.t.Helper()
	body := merged(object{"name": name, "type": kind, "module_id": "session"}, more...)
	internal, _ := d.send(200, http.MethodPost, "/fields/create", body)["internal_name"].(string)
	require.NotEmpty(d.t, internal)
	return internal
}

// titled makes sessions with these titles and gives their ids.
func (d *desk) titled(titles ...string) []string {
	d.t.Helper()
	ids := make([]string, len(titles))
	for i, title := range titles {
		ids[i] = d.create(200, object{"title": title}).id()
	}
	return ids
}

// sub makes a subsession of the parent.
func (d *desk) sub(parent, title string, more ...object) entity {
	d.t.Helper()
	return d.create(200, merged(object{"title": title, "parent_session_id": parent}, more...))
}

func merged(body object, more ...object) object {
	all := object{}
	for _, part := range append([]object{body}, more...) {
		for name, value := range part {
			all[name] = value
		}
	}
	return all
}

func (r entity) id() string { return r.text("id") }

// text is a property that must be a string.
func (r entity) text(name string) string {
	s, _ := r[name].(string)
	return s
}

// at is the property at a path such as track.name; nil where there is none.
func (r entity) at(path string) any {
	var value any = object(r)
	for name := range strings.SplitSeq(path, ".") {
		inner, ok := value.(object)
		if !ok {
			return nil
		}
		value = inner[name]
	}
	return value
}

// list is a property that is an array of objects.
func (r entity) list(name string) []entity {
	items, _ := r[name].([]any)
	all := make([]entity, len(items))
	for i, item := range items {
		inner, _ := item.(object)
		all[i] = inner
	}
	return all
}

// keys are the names of the properties.
func (r entity) keys() []string {
	names := make([]string, 0, len(r))
	for name := range r {
		names = append(names, name)
	}
	return names
}

// column is one property of all records.
func column(records []entity, path string) []any {
	values := make([]any, len(records))
	for i, r := range records {
		values[i] = r.at(path)
	}
	return values
}

// texts is column for strings.
func texts(records []entity, path string) []string {
	values := make([]string, len(records))
	for i, r := range records {
		values[i], _ = r.at(path).(string)
	}
	return values
}

// byID finds a record by its id.
func byID(t *testing.T, records []entity, id string) entity {
	t.Helper()
	for _, r := range records {
		if r.id() == id {
			return r
		}
	}
	require.Fail(t, "not among the records", id)
	return nil
}

// refused checks the shape of an error and what it says: its code and the field
// in its details; an empty one must be absent.
func isRefused(t *testing.T, answer entity, code, field string) {
	t.Helper()
	require.NotEmpty(t, answer["name"], "%v", answer)
	require.Equal(t, answer["name"], answer["error"])
	require.NotEmpty(t, answer["message"])
	require.Equal(t, code, answer.text("code"), "%v", answer)
	got, _ := answer.at("details.field").(string)
	require.Equal(t, field, got, "%v", answer)
	require.NotContains(t, answer, "valid_options", "those belong to bulk answers")
}

// invalid checks a 400 for a rule of shape or meaning.
func isInvalid(t *testing.T, answer entity, field string) {
	t.Helper()
	isRefused(t, answer, "VALIDATION_ERROR", field)
	require.Equal(t, "ValidationError", answer["name"])
}
