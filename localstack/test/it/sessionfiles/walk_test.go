package sessionfiles_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/functions/sessionfiles"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
)

// modelSteps is the number of calls of a sequence.
const modelSteps = 12

// TestUploadsAgreeWithTheModel compares the service with the model after each call of random sequences:
// create, send, complete, replace, update, delete, download, list, maintenance and the passing of time.
// A sequence is a subtest, so -run with LECTERN_SEED repeats a single one.
func TestUploadsAgreeWithTheModel(t *testing.T) {
	s, engine := it.StartWithEngine(t, nil)
	seed, tried := it.Seed(t), &tries{cells: map[string]int{}}
	number := it.Size(500, 5_000)
	tokens := make([]string, it.Size(1, 10)) // The clocks of the sequences end in the same hours of the rate limit.
	for i := range tokens {
		tokens[i] = s.NewToken(t, "read:events", "read:sessions", "write:sessions")
	}
	t.Run("sequences", func(t *testing.T) {
		for i := range number {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				tried.begin()
				newWalk(t, s.As(tokens[i%len(tokens)]), it.Source(seed, i), tried).run(i)
			})
		}
	})
	if !t.Failed() {
		engine.RequireWhole(t)
	}
	if !t.Failed() && tried.sequences == number { // Otherwise -run has chosen some.
		tried.report(t)
	}
}

// steps are times that a sequence moves its clock by.
var steps = []time.Duration{11 * time.Minute, 123 * time.Minute, 23 * time.Hour, modelLife, modelLife, modelKeep + modelLife}

// ways are the ways of sending bytes.
var ways = []string{rightBytes, otherBytes, "too few", "too many", "another type", "to another key"}

const (
	// rightBytes are those that the client has announced. otherBytes have the same length.
	rightBytes, otherBytes = "right bytes", "other bytes"
)

// tries counts how often each call met each state.
type tries struct {
	mu        sync.Mutex
	cells     map[string]int
	sequences int
}

// begin counts a sequence.
func (c *tries) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sequences++
}

// add counts a call.
func (c *tries) add(call, state string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cells[call+" | "+state]++
}

// report checks that each call met each state.
func (c *tries) report(t *testing.T) {
	t.Helper()
	var missing []string
	want := func(calls, states string) {
		for call := range strings.SplitSeq(calls, "; ") {
			for state := range strings.SplitSeq(states, "; ") {
				if cell := call + " | " + state; c.cells[cell] == 0 {
					missing = append(missing, cell)
				}
			}
		}
	}
	want("complete; replace; update; delete", "unknown; pending; pending, sent; complete; replacing; replacing, sent; deleted; ended; refused; "+
		"pending, session deleted; complete, session deleted")
	want("send "+strings.Join(ways, "; send ")+"; download", "open; kept; ended; replaced; deleted; refused")
	want("create in the slot; form in the slot", "room; no room; session deleted")
	require.Empty(t, missing)
	t.Logf("%d pairs of call and state, each at least %d times", len(c.cells), slices.Min(slices.Collect(maps.Values(c.cells))))
}

// walk is a sequence of calls with the model of what they do.
type walk struct {
	*desk
	// real serves all groups with the real clock.
	real  *it.Client
	clock atomic.Int64
	m     *shelf
	r     *rand.Rand
	slot  string
	tried *tries
	env   api.Env
	done  []string
}

// newWalk begins a sequence in a new event, served by a group with a clock of its own.
func newWalk(t *testing.T, s *stacktest.Stack, r *rand.Rand, tried *tries) *walk {
	t.Helper()
	here := s.In(s.NewEvent(t, feature))
	w := &walk{real: &it.Client{Stack: here, T: t}, m: &shelf{now: time.Now().Truncate(time.Millisecond)}, r: r, tried: tried}
	w.clock.Store(w.m.now.UnixMilli())
	group := w.real.ServeGroup(sessionfiles.Group, func(env *api.Env) { env.Now = w.now })
	w.desk = &desk{group, w.real.NewSessions("A talk")[0]}
	w.slot = (&desk{w.real, ""}).newSlot("Slides", object{"max_files": modelRoom, "allowed_file_types": []any{"application/pdf"}}).ID()
	w.env = w.real.Env(t)
	t.Cleanup(w.tell)
	return w
}

// now returns the time of the sequence.
func (w *walk) now() time.Time { return time.UnixMilli(w.clock.Load()) }

// tell prints the calls of a sequence that failed.
func (w *walk) tell() {
	if w.T.Failed() {
		w.T.Logf("the calls were:\n%s", strings.Join(w.done, "\n"))
	}
}

// note adds a line to the calls of the sequence.
func (w *walk) note(format string, args ...any) {
	w.done = append(w.done, fmt.Sprintf(format, args...))
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
	for w.compare(); len(w.done) < modelSteps; w.compare() {
		w.step()
	}
	w.compareBytes()
	w.forward(modelKeep + 2*modelLife)
	w.sweep()
	w.compare()
	w.compareBytes()
}

// step makes a random call. A third of the calls go on with the last upload, so that files get replaced.
func (w *walk) step() {
	w.T.Helper()
	if w.m.deleted && w.r.IntN(3) == 0 {
		w.turnSession()
		return
	}
	if len(w.m.parcels) > 0 && w.r.IntN(3) == 0 {
		w.advance(w.m.parcels[len(w.m.parcels)-1])
		return
	}
	switch n := w.r.IntN(28); {
	case len(w.m.parcels) == 0 || n < 2:
		w.begin(w.draw(), "")
	case n > 25:
		w.form(w.draw())
	case n < 9:
		w.send(w.parcel(), it.OneOf(w.r, append(ways, rightBytes, rightBytes, rightBytes)))
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
		w.forward(it.OneOf(w.r, steps))
	default:
		w.turnSession()
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
	case w.r.IntN(2) == 0:
		return all[len(all)-1]
	}
	return it.OneOf(w.r, all)
}

// id draws the id of a file, most often that of the last upload.
func (w *walk) id() string {
	switch n := w.r.IntN(16); {
	case n == 0:
		return uuid.NewString()
	case n < 9:
		return w.m.parcels[len(w.m.parcels)-1].id
	}
	return it.OneOf(w.r, w.m.parcels).id
}

// draw draws what a client sends to begin an upload.
func (w *walk) draw() plan {
	n := len(w.done)
	p := plan{
		filename: fmt.Sprintf("slides %d.pdf", n), kind: "application/pdf", text: fmt.Sprintf("%s%% the bytes of call %d", pdf, n),
		slot: choice(w.r.IntN(3)), stale: w.r.IntN(8) == 0,
	}
	switch w.r.IntN(12) {
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
	w.note("%s %s as %q, titled %q, slot %d, stale %v", call, id, p.filename, p.title, p.slot, p.stale)
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
		w.tried.add(call, w.m.state(id))
		return
	}
	state := "room"
	if w.m.deleted {
		state = "session deleted"
	} else if w.m.taken("") >= modelRoom {
		state = "no room"
	}
	w.tried.add(call+map[choice]string{unsent: "", thatSlot: " in the slot", noSlot: " in no slot"}[slot], state)
}

// seen returns the header with the version of a file that a client has seen: the last, or an earlier one.
func (w *walk) seen(id string, stale bool) []string {
	f := w.m.file(id)
	switch {
	case stale && f != nil:
		return []string{"If-Match", fmt.Sprintf("%q", fmt.Sprint(f.version-1))}
	case f != nil && w.r.IntN(2) == 0:
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
