package sessionfiles_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/functions/sessionfiles"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// modelSteps is the number of calls of a sequence.
const modelSteps = 12

// TestUploadsAgreeWithTheModel compares the service with the model after each call of random sequences:
// create, send, complete, replace, update, delete, download, list, maintenance and the passing of time.
func TestUploadsAgreeWithTheModel(t *testing.T) {
	it.Walks{
		Number: it.Size(500, 5_000), Scopes: []string{"read:events", "read:sessions", "write:sessions"}, Features: []string{feature},
		Do: func(w *it.Walk, number int) { newWalk(w).run(number) },
		Cells: map[string]string{
			"complete; replace; update; delete": "unknown; pending; pending, sent; complete; replacing; replacing, sent; deleted; ended; refused; " +
				"pending, session deleted; complete, session deleted",
			"send " + strings.Join(ways, "; send ") + "; download": "open; kept; ended; replaced; deleted; refused",
			"create in the slot; form in the slot":                 "room; no room; session deleted",
		},
	}.Run(t, stacktest.Start(t))
}

// steps are times that a sequence moves its clock by.
var steps = []time.Duration{11 * time.Minute, 123 * time.Minute, 23 * time.Hour, modelLife, modelLife, modelKeep + modelLife}

// ways are the ways of sending bytes.
var ways = []string{rightBytes, otherBytes, "too few", "too many", "another type", "to another key"}

const (
	// rightBytes are those that the client has announced. otherBytes have the same length.
	rightBytes, otherBytes = "right bytes", "other bytes"
)

// walk is a sequence of calls with the model of what they do.
type walk struct {
	*it.Walk
	*desk
	m    *shelf
	slot string
}

// newWalk begins a sequence in a session with a slot.
func newWalk(of *it.Walk) *walk {
	of.Real.T.Helper()
	w := &walk{Walk: of, m: &shelf{State: &of.State}, desk: &desk{of.Serve(sessionfiles.Group), of.Real.NewSessions("A talk")[0]}}
	w.slot = (&desk{w.Real, ""}).newSlot("Slides", object{"max_files": modelRoom, "allowed_file_types": []any{"application/pdf"}}).ID()
	return w
}

// run makes the calls, and compares service and model after each. Together, the first calls of some
// hundred sequences are every call in every state. At the end, all bytes without a file go.
func (w *walk) run(number int) {
	w.T.Helper()
	for _, letter := range preludes[number%len(preludes)] {
		w.prepare(letter)
		w.compare()
	}
	w.first(firsts[number/len(preludes)%len(firsts)])
	for w.compare(); w.Made() < modelSteps; w.compare() {
		w.step()
	}
	w.compareBytes()
	w.Forward(modelKeep + 2*modelLife)
	w.sweep()
	w.compare()
	w.compareBytes()
}

// step makes a random call. A third of the calls go on with the last upload, so that files get replaced.
func (w *walk) step() {
	w.T.Helper()
	if w.m.Deleted && w.R.IntN(3) == 0 {
		w.TurnSession(w.session)
		return
	}
	if len(w.m.parcels) > 0 && w.R.IntN(3) == 0 {
		w.advance(w.m.parcels[len(w.m.parcels)-1])
		return
	}
	switch n := w.R.IntN(28); {
	case len(w.m.parcels) == 0 || n < 2:
		w.begin(w.draw(), "")
	case n > 25:
		w.form(w.draw())
	case n < 9:
		w.send(w.parcel(), it.OneOf(w.R, append(ways, rightBytes, rightBytes, rightBytes)))
	case n < 12:
		w.complete(w.id())
	case n < 15:
		w.begin(w.draw(), w.id())
	case n < 17:
		w.update(w.id())
	case n < 19:
		w.remove(w.id())
	case n < 21:
		w.follow(w.parcel())
	case n < 22:
		w.sweep()
	case n < 24:
		w.Forward(it.OneOf(w.R, steps))
	default:
		w.TurnSession(w.session)
	}
}

// advance makes the call that brings an upload on.
func (w *walk) advance(p *parcel) {
	w.T.Helper()
	switch f := w.m.file(p.id); {
	case w.m.upload(p.id) != p && f == nil:
		w.begin(w.draw(), "")
	case w.m.upload(p.id) != p:
		w.begin(w.draw(), p.id)
	case p.stored == "":
		w.send(p, rightBytes)
	default:
		w.complete(p.id)
	}
}

// parcel draws an upload, most often the last, whose record is still there.
func (w *walk) parcel() *parcel {
	all := slices.DeleteFunc(slices.Clone(w.m.parcels), func(p *parcel) bool { return p.purged })
	switch {
	case len(all) == 0:
		return nil
	case w.R.IntN(2) == 0:
		return all[len(all)-1]
	}
	return it.OneOf(w.R, all)
}

// id draws the id of a file, most often that of the last upload.
func (w *walk) id() string {
	switch n := w.R.IntN(16); {
	case n == 0:
		return uuid.NewString()
	case n < 9:
		return w.m.parcels[len(w.m.parcels)-1].id
	}
	return it.OneOf(w.R, w.m.parcels).id
}

// draw draws what a client sends to begin an upload.
func (w *walk) draw() plan {
	n := w.Made()
	p := plan{
		filename: fmt.Sprintf("slides %d.pdf", n), kind: "application/pdf", text: fmt.Sprintf("%s%% the bytes of call %d", pdf, n),
		slot: choice(w.R.IntN(3)), stale: w.R.IntN(8) == 0,
	}
	switch w.R.IntN(12) {
	case 0:
		p.filename += ".exe"
	case 1, 2:
		p.filename, p.kind, p.text = fmt.Sprintf("notes %d.txt", n), "text/plain", fmt.Sprintf("Notes, as plain text, of call %d", n)
	case 3, 4:
		p.title = fmt.Sprint("Title ", n)
	}
	return p
}

// begin begins the upload of a new file, or of other bytes of the file of an id.
func (w *walk) begin(p plan, id string) {
	w.T.Helper()
	body := draft(p.text, object{"filename": p.filename})
	if p.title != "" {
		body["title"] = p.title
	}
	switch p.slot {
	case thatSlot:
		body["content_slot_id"] = w.slot
	case noSlot:
		body["content_slot_id"] = nil
	}
	path, call, header := w.path(), "create", []string(nil)
	if id != "" {
		path, call, header = w.path("/", id, "/replace"), "replace", w.seen(id, p.stale)
	}
	w.count(call, id, p.slot)
	w.Note("%s %s as %q, titled %q, slot %d, stale %v", call, id, p.filename, p.title, p.slot, p.stale)
	want, made := w.m.begin(p, id)
	answer := w.ask(want, http.MethodPost, path, body, header...)
	if made == nil {
		return
	}
	made.begun = answer.At("data").(object)
	made.id = made.begun.ID()
	to, err := url.Parse(made.begun.At("upload.url").(string))
	require.NoError(w.T, err)
	made.key = to.Path[strings.Index(to.Path, "/files/")+1:]
	w.requireShown(&made.volume, made, made.begun)
}

// count notes what a begin meets.
func (w *walk) count(call, id string, slot choice) {
	if id != "" {
		w.Count(call, w.m.state(id))
		return
	}
	state := "room"
	if w.m.Deleted {
		state = "session deleted"
	} else if w.m.taken("") >= modelRoom {
		state = "no room"
	}
	w.Count(call+map[choice]string{unsent: "", thatSlot: " in the slot", noSlot: " in no slot"}[slot], state)
}

// seen returns the header with the version of a file that a client has seen: the last, or an earlier one.
func (w *walk) seen(id string, stale bool) []string {
	f := w.m.file(id)
	switch {
	case stale && f != nil:
		return []string{"If-Match", fmt.Sprintf("%q", fmt.Sprint(f.version-1))}
	case f != nil && w.R.IntN(2) == 0:
		return []string{"If-Match", fmt.Sprintf("%q", fmt.Sprint(f.version))}
	}
	return nil
}

// ask sends a call and compares the answer with the verdict of the model.
func (w *walk) ask(want verdict, method, path string, body any, header ...string) entity {
	w.T.Helper()
	answer := w.Call(w.T, want.status, method, w.EventPath(path), stacktest.WithHeaders(body, header...))
	if want.status == http.StatusNoContent {
		return nil
	}
	said := entity(answer.JSON(w.T))
	if want.field != "" {
		it.RequireInvalid(w.T, said, want.field)
	}
	return said
}

// requireShown compares a shown file with the model.
func (w *walk) requireShown(f *volume, p *parcel, shown entity) {
	w.T.Helper()
	want := object{
		"id": f.id, "title": f.title, "filename": f.filename, "mimetype": f.kind, "size": float64(len(p.text)), "url": p.begun["url"],
		"content_slot_id": nil, "type": "other",
	}
	if f.inSlot {
		want["content_slot_id"], want["type"] = w.slot, "presentation"
	}
	require.Equal(w.T, want, it.Pick(shown, slices.Collect(maps.Keys(want))...))
}
