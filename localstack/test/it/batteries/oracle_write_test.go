package batteries_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// words are what titles are made of, so that texts are found in several.
var words = []string{"Alpha", "beta", "GAMMA", "Delta", "épsilon", "zeta 7", "SESS-1", "%_*"}

// clockwork is when sessions start: few moments, so that many start at once.
var clockwork = []string{"2027-05-11T14:00:00Z", "2027-05-11T15:30:00Z", "2027-05-12T14:00:00Z", "2027-05-13T09:00:00.001Z"}

var builtIn = []string{"accepted", "accept_queue", "pending", "decline_queue", "declined"}

// writer does random writes and keeps the model.
type writer struct {
	t     *testing.T
	m     *model
	r     *rand.Rand
	name  int
	at    []*stacktest.Stack
	most  int // records of each family, deleted ones too
	tally *counts
	made  int
}

// counts are what all callers together have done.
type counts struct{ writes, refused, doubts, searches, unstable atomic.Int64 }

func (w *writer) stack() *stacktest.Stack { return it.OneOf(w.r, w.at) }

// title is one that no other write gives.
func (w *writer) title() string {
	w.made++
	return fmt.Sprintf("%s %s, written %d-%d", it.OneOf(w.r, words), it.OneOf(w.r, words), w.name, w.made)
}

// step does one random write.
func (w *writer) step() {
	if chance(w.r, 3) {
		w.person()
		return
	}
	top := w.m.sessions.some(func(s *state) bool { return s.deleted == 0 && s.parent == "" })
	live := w.m.sessions.some(func(s *state) bool { return s.deleted == 0 })
	all := w.m.sessions.some(func(*state) bool { return true })
	gone := w.m.sessions.some(func(s *state) bool { return s.deleted != 0 })
	full := len(all) >= w.most
	switch n := w.r.IntN(100); {
	case len(top) < 10, n < 12 && !full:
		w.create("")
	case n < 22 && !full:
		w.create(it.OneOf(w.r, top))
	case n < 56:
		w.update(it.OneOf(w.r, live))
	case n < 58 && !full:
		w.create(it.OneOf(w.r, all)) // Mostly refused.
	case n < 60:
		w.update(it.OneOf(w.r, all))
	case n < 70:
		w.turn(it.OneOf(w.r, live), "DELETE", "")
	case n < 80 && len(gone) > 0:
		w.turn(it.OneOf(w.r, gone), "POST", "/restore")
	case n < 88:
		w.bulk(live, top, full)
	case n < 94:
		w.compose(top)
	default:
		w.settings()
	}
}

// draft is what is written of a session: its title, and a part of the rest.
func (w *writer) draft() map[string]any {
	d := map[string]any{"title": w.title()}
	some := func(name string, value func() any) {
		if chance(w.r, 3) {
			d[name] = value()
		}
	}
	maybe := func(values []string) any {
		if len(values) == 0 || chance(w.r, 4) {
			return nil
		}
		return it.OneOf(w.r, values)
	}
	for _, f := range facetKinds[:4] {
		some(f.name+"_id", func() any { return maybe(w.m.alive(f.collection)) })
	}
	some("tag_ids", func() any {
		tags := w.m.alive("tags")
		return slices.DeleteFunc(tags, func(string) bool { return chance(w.r, 2) })
	})
	some("starts_at", func() any { return maybe(clockwork) })
	if chance(w.r, 3) {
		d["status"] = it.OneOf(w.r, builtIn)
	} else if custom, ok := maybe(w.m.alive("statuses")).(string); ok && chance(w.r, 2) {
		d["custom_status_id"] = custom
	}
	w.addParticipants(d)
	return d
}

// write sends a request that is about records of a family, and tells the model. made
// reads the answer of a success: what it changed, new records among it.
func write[S versioned](w *writer, f *family[S], j job, do func() (status int, body map[string]any), made func(body map[string]any) map[string]int64) {
	slices.Sort(j.touched)
	j.touched = slices.Compact(j.touched)
	f.begin(j)
	status, body := do()
	changed := map[string]int64{}
	doubt := status >= 500 || status == 0
	switch {
	case doubt:
		w.tally.doubts.Add(1)
	case status == http.StatusOK:
		changed = made(body)
	default:
		w.tally.refused.Add(1)
		w.checkRefused(status, body)
	}
	var read []S
	for id := range changed {
		if !slices.Contains(j.touched, id) {
			read = append(read, f.read(id))
		}
	}
	for _, id := range j.touched {
		read = append(read, f.read(id))
	}
	f.end(j, read, changed, doubt)
	w.tally.writes.Add(1)
}

// checkRefused: a write is refused for the state that another writer has brought
// about, and for nothing else.
func (w *writer) checkRefused(status int, body map[string]any) {
	code, _ := body["code"].(string)
	details, _ := body["details"].(map[string]any)
	named, _ := details["field"].(string)
	field := strings.TrimRight(named, "[]0123456789")
	_, place, _ := strings.Cut(named, ".")
	switch {
	case status == http.StatusNotFound && slices.Contains([]string{"Session not found", "Contact not found", "Sponsor not found", "Exhibitor not found"}, fmt.Sprint(body["message"])):
	case status == http.StatusConflict && slices.Contains([]string{"HAS_SUBSESSIONS", "PARENT_DELETED", "COMPOSITION_LINKED", "NOT_LINKED", "TOO_MANY_SUBSESSIONS",
		"DUPLICATE_EMAIL", "DUPLICATE_ROLE"}, code):
	case status == http.StatusBadRequest && slices.Contains([]string{"parent_session_id", "custom_status_id", "tag_ids", "track_id", "level_id",
		"format_id", "language_id", "target_id", "source_id", "relationship_type", "sponsor_ids", "exhibitor_ids"}, field):
	case status == http.StatusBadRequest && (place == "contact_id" || place == "email"): // Who is not on the event any more.
	default:
		w.t.Errorf("a write was refused: %d %v", status, body)
	}
}

// call is a request as write does it, on sessions.
func (w *writer) call(method, path string, body any) func() (int, map[string]any) {
	return w.on(w.m.events[0], method, "/sessions"+path, body)
}

// on is a request on an event.
func (w *writer) on(event int64, method, path string, body any) func() (int, map[string]any) {
	return func() (int, map[string]any) {
		s := w.stack().In(event)
		a := s.TrySend(w.t, method, s.EventPath(path), body)
		return a.Status, it.DecodeObject(a.Body)
	}
}

// checkEcho: the answer of a write shows what was written.
func (w *writer) checkEcho(draft, answer map[string]any) {
	shown := rowOf(answer)
	for name, sent := range draft {
		var got any
		switch kind, isID := strings.CutSuffix(name, "_id"); {
		case name == "title":
			got = shown.title
		case name == "status":
			got = shown.status
		case name == "starts_at":
			got = answer["starts_at"]
			if sent != nil {
				at, _ := time.Parse(time.RFC3339, sent.(string))
				sent, got = at.UnixMilli(), shown.starts
			}
		case isID && slices.ContainsFunc(facetKinds, func(f facet) bool { return f.name == kind }):
			if list := shown.ids[kind]; len(list) > 0 {
				got = list[0]
			}
			if got == nil && sent != nil && !w.m.settledLabel(sent.(string)) {
				continue // Deleted meanwhile.
			}
		default:
			continue
		}
		if got != sent {
			w.t.Errorf("%s was written as %v and is answered as %v", name, sent, got)
		}
	}
}

func (w *writer) create(parent string) {
	draft := w.draft()
	touched := []string{}
	if parent != "" {
		draft["parent_session_id"] = parent
		touched = append(touched, parent)
	} else if chance(w.r, 4) {
		draft["is_abstract"] = true
	}
	write(w, w.m.sessions, job{touched, 1, marksOf(draft)}, w.call("POST", "/create", draft), func(body map[string]any) map[string]int64 {
		w.checkEcho(draft, body)
		return map[string]int64{body["id"].(string): 1, cmp.Or(parent, body["id"].(string)): 1}
	})
}

func (w *writer) update(id string) {
	draft, before, since := w.draft(), w.m.sessions.state(id), w.m.watermark().clock
	write(w, w.m.sessions, job{[]string{id}, 0, marksOf(draft)}, w.call("PUT", "/"+id, draft), func(body map[string]any) map[string]int64 {
		w.checkEcho(draft, body)
		return map[string]int64{id: 1}
	})
	w.checkHidden(before, since)
}

// checkHidden: whoever is deleted from the event keeps their place on a session when
// its list is written without them, since nobody who writes it can see them.
func (w *writer) checkHidden(before *state, since int64) {
	after := w.m.sessions.state(before.id)
	if after.version != before.version+1 {
		return // Others have written it too.
	}
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	for _, s := range before.participants {
		k := w.m.contacts.known[s.contact]
		hidden := w.m.contacts.still(k, since) && !k.state.holds(w.m.events[0], "contact")
		if hidden && !after.has(s.contact, func(role string) bool { return role == s.role }) {
			w.t.Errorf("%s was deleted from the event and has lost its place on %s", s.contact, before.id)
		}
	}
}

// family is the session and, if it has one, its parent.
func (w *writer) family(id string) (ids []string, changed map[string]int64) {
	ids, changed = []string{id}, map[string]int64{id: 1}
	if parent := w.m.sessions.state(id).parent; parent != "" {
		ids, changed[parent] = append(ids, parent), 1
	}
	return ids, changed
}

func (w *writer) turn(id, method, path string) {
	ids, changed := w.family(id)
	write(w, w.m.sessions, job{touched: ids}, w.call(method, "/"+id+path, nil), func(map[string]any) map[string]int64 { return changed })
}

// bulk does up to eight operations at once, some of them on the same sessions.
func (w *writer) bulk(live, top []string, full bool) {
	var operations []any
	var j job
	var effects []map[string]int64 // on sessions that are there
	for range 1 + w.r.IntN(8) {
		switch n := w.r.IntN(10); {
		case n < 4 && !full:
			draft, effect := w.draft(), map[string]int64{}
			if chance(w.r, 3) {
				parent := it.OneOf(w.r, top)
				draft["parent_session_id"], effect[parent] = parent, 1
				j.touched = append(j.touched, parent)
			}
			j.creates++
			j.marks = append(j.marks, marksOf(draft)...)
			operations, effects = append(operations, map[string]any{"action": "create", "data": draft}), append(effects, effect)
		case n < 8:
			id, draft := it.OneOf(w.r, live), w.draft()
			j.touched, j.marks = append(j.touched, id), append(j.marks, marksOf(draft)...)
			operations = append(operations, map[string]any{"action": "update", "id": id, "data": draft})
			effects = append(effects, map[string]int64{id: 1})
		default:
			ids, effect := w.family(it.OneOf(w.r, live))
			j.touched = append(j.touched, ids...)
			operations, effects = append(operations, map[string]any{"action": "delete", "id": ids[0]}), append(effects, effect)
		}
	}
	write(w, w.m.sessions, j, w.call("POST", "/bulk", map[string]any{"operations": operations}), func(body map[string]any) map[string]int64 {
		changed := map[string]int64{}
		for i, result := range body["results"].([]any) {
			w.bulkResult(operations[i].(map[string]any), result.(map[string]any), effects[i], changed, w.checkEcho)
		}
		return changed
	})
}

// bulkResult adds what one operation of a bulk has changed.
func (w *writer) bulkResult(operation, result map[string]any, effect, changed map[string]int64, echo func(draft, answer map[string]any)) {
	if result["status"] != "success" {
		failure, ok := result["error"].(map[string]any)
		if !ok { // Of contacts it is a string.
			w.checkFailure(result["error"].(string))
			return
		}
		status := map[any]int{"NOT_FOUND": 404, "VALIDATION_ERROR": 400, "SERVICE_UNAVAILABLE": 503, "INTERNAL_ERROR": 500}[failure["code"]]
		if status >= 500 {
			w.t.Errorf("an operation of a bulk failed: %v", failure)
			return
		}
		w.checkRefused(cmp.Or(status, http.StatusConflict), failure)
		return
	}
	for id, times := range effect {
		changed[id] += times
	}
	if operation["action"] == "create" {
		changed[result["id"].(string)]++
	}
	if draft, ok := operation["data"].(map[string]any); ok {
		echo(draft, result["data"].(map[string]any))
	}
}
