package media_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/functions/media"
	"lectern/functions/recordings"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// modelCalls is the number of calls of a sequence.
const modelCalls = 10

const (
	// noSpeech is no sound. It is as long as it.Speech.
	noSpeech = "<!DOCTYPE html><html><body>No sound</body></html"
	// speechSeconds is the length of it.Speech.
	speechSeconds = 2.0 / 16_000
)

// stereo is sound that is to be converted. It is as long as it.Speech.
var stereo = strings.Replace(it.Speech, "\x01\x00\x80\x3e\x00\x00\x00\x7d\x00\x00\x02\x00",
	"\x02\x00\x80\x3e\x00\x00\x00\xfa\x00\x00\x04\x00", 1)

var (
	// preludes and recordingPreludes bring an upload into each state. A letter is a call: begin an upload, send
	// the right bytes, other bytes, sound to convert, join the parts, complete, abort, let the upload end, do
	// the maintenance after it, delete the session.
	preludes = []string{
		"b", "bo", "bs", "bsj", "bsc", "ba", "bsja", "bse", "bsep", "bx", "bsx", "bscx", "bax",
	}
	recordingPreludes = []string{"b", "bo", "bs", "bt", "bsc", "btc", "btce", "bse", "bsep", "bx", "bsx", "bscx", "btcx"}
	// firsts and recordingFirsts are the calls after a prelude.
	firsts          = slices.Concat([]string{"begin", "begin again"}, steps, []string{"go astray"})
	recordingFirsts = slices.Concat([]string{"begin", "begin again"}, recordingSteps, puts, []string{"go astray"})
	// steps are the calls for a media item, recordingSteps those for a recording.
	steps          = append([]string{"sign", "sign wrongly", "send", "send elsewhere", "abort", "get"}, completions...)
	recordingSteps = []string{"complete", "complete another size", "get", "list"}
	// completions are the ways of completing a media item.
	completions = []string{
		"complete", "complete without quotes", "complete a missing part", "complete another ETag", "complete in another order",
		"complete too few", "complete another size", "complete another format", "complete no media",
	}
	// puts are the ways of sending a recording.
	puts = []string{"put speech", "put stereo", "put no speech", "put too few", "put too many", "put another type", "put elsewhere"}
	// strays are the ways of naming an upload that is not there.
	strays = []string{"a stranger's token", "a stranger's event", "another session", "an unknown session", "an unknown key", "another upload"}
	// times are those by which a sequence moves its clock.
	times = []time.Duration{11 * time.Minute, 123 * time.Minute, recordingLife, modelLost + time.Hour, 3 * 24 * time.Hour, mediaLife}
)

// walk is a sequence of calls with the model of what they do.
type walk struct {
	*it.Walk
	*desk
	// archive is a client of recordings, and stranger of a session of another organization.
	archive  *it.Client
	stranger *desk
	m        *model
	// other is another session of the event; empty before a call needs it.
	other string
}

// TestMediaAgreeWithTheModel compares the service with the model in random sequences: media and recordings
// of a session are begun, signed, sent, completed, aborted, read and listed, by strangers too, while
// maintenance runs, time passes, and the session is deleted and restored.
func TestMediaAgreeWithTheModel(t *testing.T) {
	s := stacktest.Start(t)
	keepFolders(t, s)
	theirs := &it.Client{Stack: s.NewOrganization(t), T: t}
	stranger := &desk{theirs, theirs.NewSessions("Theirs")[0]}
	it.Walks{
		Number: it.Size(500, 5_000), Scopes: stacktest.Scopes,
		Do: func(w *it.Walk, number int) { newWalk(w, stranger).run(number) },
		Cells: map[string]string{
			"begin again; recording: begin again": "open; sent; complete; open, session deleted; sent, session deleted; complete, session deleted",
			"begin; go astray; " + strings.Join(steps, "; "): "open; sent; joined; aborted; complete; ended; purged; " +
				"open, session deleted; sent, session deleted; complete, session deleted; aborted, session deleted",
			"recording: begin; recording: go astray; recording: " + strings.Join(recordingSteps, "; recording: "): "open; sent; converting; " +
				"complete; ended; purged; open, session deleted; sent, session deleted; complete, session deleted; converting, session deleted",
			"recording: " + strings.Join(puts, "; recording: "): "open; sent; converting; complete; ended; open, session deleted",
		},
	}.Run(t, s)
}

// keepFolders stores an item of each kind. The bucket on this machine removes empty folders, and refuses bytes
// for a folder at the moment of its removal.
func keepFolders(t *testing.T, s *stacktest.Stack) {
	t.Helper()
	c := &it.Client{Stack: s, T: t}
	d := &desk{c, c.NewSessions("Kept")[0]}
	p := d.initiate(len(last))
	d.send(p, 1, last)
	d.post(201, "complete", p.completion(object{"size_bytes": len(last)}))
	made := data(c.Do(201, http.MethodPost, recordingsOf(d.session, ""), object{"filename": "a.wav", "size_bytes": len(it.Speech)}))
	require.Equal(t, http.StatusOK, it.SendUpload(t, made, it.Speech))
}

// newWalk begins a sequence in a session.
func newWalk(of *it.Walk, stranger *desk) *walk {
	of.Real.T.Helper()
	return &walk{
		Walk: of, desk: &desk{of.Serve(media.Group), of.Real.NewSessions("A talk")[0]}, archive: of.Serve(recordings.Group),
		stranger: stranger, m: &model{State: &of.State},
	}
}

// run makes the calls. Together, the first calls of some hundred sequences are every call in every state. At the
// end, all bytes without an item go, and then, in some sequences, all bytes of the session.
func (w *walk) run(number int) {
	w.T.Helper()
	recording, n := number%2 == 1, number/2
	begins, calls := preludes, firsts
	if recording {
		begins, calls = recordingPreludes, recordingFirsts
	}
	for _, letter := range begins[n%len(begins)] {
		w.prepare(letter, recording)
	}
	w.first(calls[n/len(begins)%len(calls)])
	for w.Made() < modelCalls {
		w.step()
	}
	w.compare()
	w.Forward(2 * mediaLife)
	w.sweep()
	w.compare()
	w.readAll()
	if w.R.IntN(4) == 0 {
		w.purge()
	}
}

// prepare makes a call of a prelude.
func (w *walk) prepare(letter rune, recording bool) {
	w.T.Helper()
	if letter == 'b' {
		w.begin(recording, ".mp4", w.lengths())
		return
	}
	t := w.m.transfers[0]
	switch letter {
	case 's':
		w.sendAll(t)
	case 'o':
		w.sendOther(t)
	case 't':
		w.put(t, "put stereo")
	case 'j':
		w.join(t)
	case 'c':
		w.complete(t, "complete")
	case 'a':
		w.abort(t)
	case 'e':
		w.Forward(t.ends.Sub(w.m.Now) + time.Minute)
	case 'p':
		w.Forward(2 * modelGrace)
		w.sweep()
	case 'x':
		w.TurnSession(w.session)
	}
}

// first makes a call for the upload of a prelude.
func (w *walk) first(call string) {
	w.T.Helper()
	if call != "go astray" {
		w.call(w.m.transfers[0], call)
		return
	}
	for _, way := range strays {
		w.stray(w.m.transfers[0], way)
	}
}

// step makes a random call. A third of the calls bring the last upload on.
func (w *walk) step() {
	w.T.Helper()
	if w.m.Deleted && w.R.IntN(3) == 0 {
		w.TurnSession(w.session)
		return
	}
	t := w.m.transfers[len(w.m.transfers)-1]
	if w.R.IntN(3) == 0 {
		w.advance(t)
		return
	}
	if w.R.IntN(2) == 0 {
		t = it.OneOf(w.R, w.m.transfers)
	}
	switch n := w.R.IntN(20); {
	case n < 2:
		w.beginAny()
	case n < 4:
		w.Forward(it.OneOf(w.R, times))
	case n < 6:
		w.sweep()
	case n < 7:
		w.TurnSession(w.session)
	case n < 9:
		w.stray(t, it.OneOf(w.R, strays))
	case t.recording:
		w.call(t, it.OneOf(w.R, append([]string{"begin again"}, append(recordingSteps, puts...)...)))
	default:
		w.call(t, it.OneOf(w.R, append([]string{"begin again", "send", "send"}, steps...)))
	}
}

// advance makes the call that brings an upload on.
func (w *walk) advance(t *transfer) {
	w.T.Helper()
	switch {
	case !w.m.live(t):
		w.beginAny()
	case t.objectSize == 0 && len(t.parts) < len(t.lengths):
		w.sendAll(t)
	default:
		w.complete(t, "complete")
	}
}

// call makes a call for an upload.
func (w *walk) call(t *transfer, call string) {
	w.T.Helper()
	switch {
	case call == "begin":
		w.count(t, call)
		w.beginAny()
	case call == "begin again":
		w.beginAgain(t)
	case call == "sign":
		w.sign(t, w.numbers())
	case call == "sign wrongly":
		w.signWrongly(t)
	case call == "send":
		w.send(t, 1+w.R.IntN(2), w.bytes())
	case call == "send elsewhere":
		w.sendElsewhere(t)
	case call == "abort":
		w.abort(t)
	case call == "get":
		w.get(t)
	case call == "list":
		w.count(t, call)
		w.Note("list")
		w.list()
	case strings.HasPrefix(call, "put "):
		w.put(t, call)
	default:
		w.complete(t, call)
	}
}

// count counts a call in the state of an upload.
func (w *walk) count(t *transfer, call string) {
	if t.recording {
		call = "recording: " + call
	}
	w.Count(call, w.m.state(t))
}

// readAll compares all items with the model.
func (w *walk) readAll() {
	w.T.Helper()
	for _, t := range w.m.transfers {
		w.read(t)
	}
	w.list()
}

// sweep does the maintenance of the event.
func (w *walk) sweep() {
	w.T.Helper()
	require.Equal(w.T, w.m.sweep(), w.Sweep())
}
