package it_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/stacktest"
)

// recordKind is one of the four records that share bulk, versions and soft delete:
// what the batteries need to work on whichever it is.
type recordKind struct {
	collection string
	// module is that of its custom fields, text a property of it that takes any text,
	// long one that takes 64 KB, and needed what a create must have.
	module, text, long, needed string
	// plain is whether an error of a bulk is its message alone.
	plain bool
}

var recordKinds = []recordKind{
	{collection: "sessions", module: "session", text: "title", long: "description", needed: "title"},
	{collection: "contacts", module: "contact", text: "title", long: "about", needed: "email", plain: true},
	{collection: "sponsors", module: "account", text: "name", long: "description", needed: "name"},
	{collection: "exhibitors", module: "account", text: "name", long: "description", needed: "name"},
}

// with is a body of the text alone.
func (k recordKind) with(text string) object { return object{k.text: text} }

// new is what a create takes, with the text.
func (k recordKind) new(text string) object { return merged(specimen(k.collection), k.with(text)) }

func (k recordKind) create() string { return "/" + k.collection + "/create" }
func (k recordKind) bulk() string   { return "/" + k.collection + "/bulk" }

// at is the path of one record.
func (k recordKind) at(id string) string { return "/" + k.collection + "/" + id }

// count is how many records a search finds.
func (k recordKind) count(s *stacktest.Stack) int {
	return stacktest.Call[found](s, http.StatusOK, http.MethodPost, s.EventPath("/"+k.collection), object{}).Pagination.TotalResults
}

// mark is what find looks for: something that no update of the text changes and that
// no other record has.
func (k recordKind) mark(made entity) string {
	if k.collection == "contacts" {
		return made.text("email")
	}
	return made.text("friendly_id")
}

// find is the search for the record of a mark.
func (k recordKind) find(s *stacktest.Stack, mark string) request {
	if k.collection == "sessions" {
		return request{http.MethodGet, s.EventPath("/sessions?page_size=100&search=" + mark), nil}
	}
	return request{http.MethodPost, s.EventPath(fmt.Sprintf("/%s?pageSize=100", k.collection)), object{"filters": object{"search": mark}}}
}

// refuses checks that operation i failed with the code and for the field, and gives
// its error; of a kind whose errors are plain there is a message alone.
func (k recordKind) refuses(t *testing.T, o outcome, i int, code, field string) entity {
	t.Helper()
	if k.plain {
		message := o.plain(t, i)
		require.NotContains(t, message, "unexpected", "an error that nobody foresaw")
		require.Contains(t, message, field)
		return entity{"message": message}
	}
	return o.failed(t, i, code, field)
}
