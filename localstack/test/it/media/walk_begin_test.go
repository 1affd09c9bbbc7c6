package media_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// beginAny begins an upload of any kind, whose parts may be such that they can never be joined.
func (w *walk) beginAny() {
	w.T.Helper()
	lengths := w.lengths()
	if w.R.IntN(4) == 0 {
		lengths = []int{len(last), len(last)}
	}
	w.begin(w.R.IntN(2) == 0, it.OneOf(w.R, []string{".mp4", ".mp4", ".mp3", ".exe"}), lengths)
}

// lengths draws those of the parts of a media item. Few items have two parts, since the first is large.
func (w *walk) lengths() []int {
	if w.R.IntN(12) == 0 {
		return []int{len(first), len(last)}
	}
	return []int{len(last)}
}

// begin begins an upload, and signs the parts of a media item.
func (w *walk) begin(recording bool, format string, lengths []int) {
	w.T.Helper()
	name, size := fmt.Sprintf("take %d%s", w.Made(), format), 0
	for _, n := range lengths {
		size += n
	}
	if recording {
		size = len(it.Speech)
	}
	w.Note("begin %s with %v bytes, recording %v", name, lengths, recording)
	want, t := w.m.begin(recording, name, size)
	answer := w.postBegin(want, recording, name, size)
	if t == nil {
		return
	}
	begun := data(answer)
	t.addresses = addresses{sent: name, lengths: lengths, signed: map[int]stacktest.Signed{}}
	if recording {
		t.id, t.key = begun.ID(), begun.Text("s3_key")
	} else {
		t.key, t.target = begun.Text("key"), it.Pick(begun, "key", "upload_id")
		t.id = t.key[strings.LastIndex(t.key, "/")+1:]
	}
	if w.requireBegun(t, begun); !recording {
		w.sign(t, []int{1, 2})
	}
}

// postBegin sends a request that begins an upload, under a key of its own.
func (w *walk) postBegin(want verdict, recording bool, name string, size int) entity {
	w.T.Helper()
	to, path := w.Client, w.path("/upload/initiate")
	if recording {
		to, path = w.archive, recordingsOf(w.session, "")
	}
	return w.ask(to, want, http.MethodPost, path, stacktest.WithHeaders(object{"filename": name, "size_bytes": size}, "Idempotency-Key", name))
}

// beginAgain repeats the request that began an upload, within the day for which its key is kept.
func (w *walk) beginAgain(t *transfer) {
	w.T.Helper()
	if w.m.Now.Sub(t.begun) >= modelKey {
		return
	}
	w.count(t, "begin again")
	w.Note("begin %s again", t.key)
	w.requireBegun(t, data(w.postBegin(verdict{status: http.StatusCreated}, t.recording, t.sent, t.size)))
}

// requireBegun compares what a client gets of an upload that it has begun with the model.
func (w *walk) requireBegun(t *transfer, begun entity) {
	w.T.Helper()
	if !t.recording {
		ends := t.ends
		if t.stage == complete {
			ends = t.changed
		}
		advice := object{"part_size": float64(16 << 20), "part_count": 1.0, "expires_at": stamp(ends)}
		require.Equal(w.T, it.Merged(t.target, advice), object(begun))
		return
	}
	if signed, found := begun["upload"]; found || w.m.live(t) {
		require.True(w.T, w.m.live(t))
		t.signed[0] = signedOf(w, signed)
	}
	delete(begun, "upload")
	w.requireItem(t, begun)
}

// signedOf returns the request of an answer.
func signedOf(w *walk, answer any) (signed stacktest.Signed) {
	w.T.Helper()
	require.NoError(w.T, json.Unmarshal(it.Encode(w.T, answer), &signed))
	return signed
}
