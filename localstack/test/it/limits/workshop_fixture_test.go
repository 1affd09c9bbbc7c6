package limits_test

import (
	"net/http"
	"testing"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// kindClient is a client of one kind of record: its operations use the routes of the kind.
type kindClient struct {
	*it.Client
	it.Kind
}

// inEveryKind does a test once on each kind of record, each time in an organization
// of its own whose event has the features.
func inEveryKind(t *testing.T, test func(t *testing.T, w *kindClient), features ...string) {
	t.Helper()
	region := stacktest.Start(t)
	for _, k := range it.Kinds {
		t.Run(k.Collection, func(t *testing.T) {
			test(t, &kindClient{&it.Client{Stack: region.NewOrganization(t, features...), T: t}, k})
		})
	}
}

func (w *kindClient) elsewhere() *kindClient {
	w.T.Helper()
	return &kindClient{w.InNewEvent(), w.Kind}
}

func (w *kindClient) create(status int, body any) entity {
	w.T.Helper()
	return w.Do(status, http.MethodPost, w.CreatePath(), body)
}

func (w *kindClient) get(status int, id string) entity {
	w.T.Helper()
	return w.Do(status, http.MethodGet, w.Path(id), nil)
}

func (w *kindClient) remove(status int, id string) entity {
	w.T.Helper()
	return w.Do(status, http.MethodDelete, w.Path(id), nil)
}

// one makes a record with the text and gives its id.
func (w *kindClient) one(text string) string {
	w.T.Helper()
	return w.create(http.StatusOK, w.Draft(text)).ID()
}

// count is how many records a search finds.
func (w *kindClient) count() int {
	w.T.Helper()
	return w.Count(w.Stack)
}

// field makes a custom field of the kind and gives its internal name.
func (w *kindClient) field(name, kind string, more ...object) string {
	w.T.Helper()
	return w.NewField(name, kind, append([]object{{"module_id": w.Module}}, more...)...)
}

// widest is the scope of a field that most share: sessions have fields of their
// event alone.
func (w *kindClient) widest() string {
	if w.Collection == "sessions" {
		return "event"
	}
	return "global"
}

// news are operations that each create a record with the text and the values.
func (w *kindClient) news(n int, text string, values ...object) []object {
	operations := make([]object, n)
	for i := range operations {
		operations[i] = it.Creating(it.Merged(w.Draft(text), values...))
	}
	return operations
}

func (w *kindClient) bulk(operations ...object) it.BulkAnswer {
	w.T.Helper()
	return w.bulkUnder("", operations...)
}

func (w *kindClient) bulkUnder(key string, operations ...object) it.BulkAnswer {
	w.T.Helper()
	return w.BulkUnder(w.BulkPath(), key, operations...)
}

// bulkAnswer is the whole answer of a bulk under an Idempotency-Key.
func (w *kindClient) bulkAnswer(key string, operations []object, header ...string) stacktest.Answer {
	w.T.Helper()
	header = append(header, it.KeyHeader, key)
	return w.Call(w.T, http.StatusOK, http.MethodPost, w.EventPath(w.BulkPath()), stacktest.WithHeaders(object{"operations": operations}, header...))
}

// refuses checks that operation i failed with the code and for the field, and gives
// its error.
func (w *kindClient) refuses(o it.BulkAnswer, i int, code, field string) entity {
	w.T.Helper()
	return w.RequireError(w.T, o, i, code, field)
}
