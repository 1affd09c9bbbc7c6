package it_test

import (
	"net/http"
	"testing"

	"lectern/localstack/stacktest"
)

// workshop is a desk at work on one kind of record; its operations are those of a
// desk, on the routes of the kind.
type workshop struct {
	*desk
	recordKind
}

// inEveryKind does a test once on each kind of record, each time in an organization
// of its own whose event has the features.
func inEveryKind(t *testing.T, test func(t *testing.T, w *workshop), features ...string) {
	t.Helper()
	region := stacktest.Start(t)
	for _, k := range recordKinds {
		t.Run(k.collection, func(t *testing.T) { test(t, &workshop{&desk{region.NewOrganization(t, features...), t}, k}) })
	}
}

func (w *workshop) elsewhere() *workshop {
	w.t.Helper()
	return &workshop{w.desk.elsewhere(), w.recordKind}
}

func (w *workshop) create(status int, body any) entity {
	w.t.Helper()
	return w.send(status, http.MethodPost, w.recordKind.create(), body)
}

func (w *workshop) get(status int, id string) entity {
	w.t.Helper()
	return w.send(status, http.MethodGet, w.at(id), nil)
}

func (w *workshop) remove(status int, id string) entity {
	w.t.Helper()
	return w.send(status, http.MethodDelete, w.at(id), nil)
}

// one makes a record with the text and gives its id.
func (w *workshop) one(text string) string {
	w.t.Helper()
	return w.create(http.StatusOK, w.new(text)).id()
}

// count is how many records a search finds.
func (w *workshop) count() int {
	w.t.Helper()
	return w.recordKind.count(w.Stack)
}

// field makes a custom field of the kind and gives its internal name.
func (w *workshop) field(name, kind string, more ...object) string {
	w.t.Helper()
	return w.desk.field(name, kind, append([]object{{"module_id": w.module}}, more...)...)
}

// widest is the scope of a field that most share: sessions have fields of their
// event alone.
func (w *workshop) widest() string {
	if w.collection == "sessions" {
		return "event"
	}
	return "global"
}

// news are operations that each create a record with the text and the values.
func (w *workshop) news(n int, text string, values ...object) []object {
	operations := make([]object, n)
	for i := range operations {
		operations[i] = creating(merged(w.new(text), values...))
	}
	return operations
}

func (w *workshop) bulk(operations ...object) outcome {
	w.t.Helper()
	return w.bulkUnder("", operations...)
}

func (w *workshop) bulkUnder(key string, operations ...object) outcome {
	w.t.Helper()
	return w.desk.bulkUnder(w.recordKind.bulk(), key, operations...)
}

// bulkAnswer is the whole answer of a bulk under an Idempotency-Key.
func (w *workshop) bulkAnswer(key string, operations []object, header ...string) stacktest.Answer {
	w.t.Helper()
	header = append(header, keyHeader, key)
	return w.Call(w.t, http.StatusOK, http.MethodPost, w.EventPath(w.recordKind.bulk()), object{"operations": operations}, header...)
}

// refuses checks that operation i failed with the code and for the field, and gives
// its error.
func (w *workshop) refuses(o outcome, i int, code, field string) entity {
	w.t.Helper()
	return w.recordKind.refuses(w.t, o, i, code, field)
}
