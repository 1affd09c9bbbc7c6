package batteries_test

import (
	"net/http"
	"slices"

	"lectern/localstack/test/it"
)

// settings renames, deletes, makes or restores metadata and custom statuses.
func (w *writer) settings() {
	f := it.OneOf(w.r, append(slices.Clone(facetKinds), facet{"", "statuses"}))
	alive := w.m.alive(f.collection)
	dead := w.m.entriesWhere(func(l *label) bool { return l.collection == "statuses" && !l.live })
	switch {
	case f.collection == "statuses" && len(dead) > 0 && chance(w.r, 2):
		w.label(it.OneOf(w.r, dead), "POST", "/restore", nil, func(l *label) { l.live = true })
	case len(alive) < 3 || chance(w.r, 4):
		w.newLabel(f.collection)
	case chance(w.r, 2):
		w.label(it.OneOf(w.r, alive), "DELETE", "", nil, func(l *label) { l.live = false })
	default:
		name := w.title()
		w.label(it.OneOf(w.r, alive), "PUT", "", map[string]any{"name": name}, func(l *label) { l.name = name })
	}
}

// label changes an entry; two writers never change the same one at a time, so
// that its name is known.
func (w *writer) label(id, method, path string, body any, apply func(*label)) {
	collection, ok := w.m.take(id)
	if !ok {
		return
	}
	s := w.stack()
	a := s.TrySend(w.t, method, s.EventPath("/"+collection+"/"+id+path), body)
	switch a.Status {
	case http.StatusOK:
	case http.StatusNotFound: // Another writer was faster.
		apply = func(*label) {}
	case http.StatusServiceUnavailable:
		w.tally.doubts.Add(1)
		return // It stays under way: what it is nobody knows.
	default:
		w.t.Errorf("%s %s%s: %d %s", method, collection, path, a.Status, a.Body)
	}
	w.m.release(id, apply)
	w.tally.writes.Add(1)
}

func (w *writer) newLabel(collection string) {
	s, name, category := w.stack(), w.title(), ""
	body := map[string]any{"name": name}
	if collection == "statuses" {
		category = it.OneOf(w.r, builtIn)
		body["status"] = category
	}
	a := s.TrySend(w.t, "POST", s.EventPath("/"+collection+"/create"), body)
	id, ok := it.DecodeObject(a.Body)["id"].(string)
	if a.Status == http.StatusServiceUnavailable {
		w.tally.doubts.Add(1)
		return
	}
	if !ok {
		w.t.Errorf("create among %s: %d %s", collection, a.Status, a.Body)
		return
	}
	w.m.add(&label{collection: collection, id: id, name: name, category: category, live: true})
	w.tally.writes.Add(1)
}
