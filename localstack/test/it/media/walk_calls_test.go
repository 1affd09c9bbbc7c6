package media_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// recordingsOf returns a path below the recordings of a session.
func recordingsOf(session, rest string) string { return "/sessions/" + session + "/recordings" + rest }

// ask sends a call and compares the answer with the verdict of the model.
func (w *walk) ask(to *it.Client, want verdict, method, path string, body any) entity {
	w.T.Helper()
	answer := to.Do(want.status, method, path, body)
	if want.code != "" {
		it.RequireError(w.T, answer, want.code, want.field)
	}
	if want.message != "" {
		require.Equal(w.T, want.message, answer["message"])
	}
	return answer
}

// askStep sends a step of the upload of a media item.
func (w *walk) askStep(want verdict, step string, body object) entity {
	w.T.Helper()
	return w.ask(w.Client, want, http.MethodPost, w.path("/upload/"+step), body)
}

// numbers draws numbers of parts.
func (w *walk) numbers() []int {
	all := []int{1, 2, 3, 10_000}
	w.R.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:1+w.R.IntN(len(all))]
}

// sign signs parts, again where they are signed already.
func (w *walk) sign(t *transfer, numbers []int) {
	w.T.Helper()
	w.count(t, "sign")
	w.Note("sign %v of %s", numbers, t.key)
	want := w.m.sign(t, "")
	answer := w.askStep(want, "sign-part", it.Merged(t.target, object{"part_numbers": numbers}))
	if want.status != http.StatusOK {
		return
	}
	parts := answer.At("data.parts").([]any)
	require.Len(w.T, parts, len(numbers))
	for i, n := range numbers {
		require.EqualValues(w.T, n, parts[i].(object)["part_number"])
		t.signed[n] = signedOf(w, parts[i])
	}
}

// signWrongly asks for numbers that no upload has.
func (w *walk) signWrongly(t *transfer) {
	w.T.Helper()
	w.count(t, "sign wrongly")
	numbers := it.OneOf(w.R, [][]int{{}, {0}, {1, -1}, {10_001}, {1, 1}, make([]int, 1001)})
	field := map[int]string{0: "part_numbers", 1: "part_numbers[0]", 2: "part_numbers[1]", 1001: "part_numbers"}[len(numbers)]
	w.Note("sign %d wrong numbers of %s", len(numbers), t.key)
	w.askStep(w.m.sign(t, field), "sign-part", it.Merged(t.target, object{"part_numbers": numbers}))
}

// bytes draws the bytes of a small part.
func (w *walk) bytes() []byte {
	return []byte(strings.Repeat(it.OneOf(w.R, []string{"a", "b"}), len(last)-1+w.R.IntN(3)))
}

// send sends a part, again over an earlier one.
func (w *walk) send(t *transfer, number int, content []byte) {
	w.T.Helper()
	w.count(t, "send")
	w.Note("send %d bytes as part %d of %s", len(content), number, t.key)
	answer := stacktest.SendBytes(w.T, t.signed[number], content)
	want := w.m.send(t, number, piece{len(content), answer.Header.Get("ETag")})
	require.Equal(w.T, want, answer.Status, "%s", answer.Body)
}

// sendElsewhere sends a part to an address that is signed for another part or object.
func (w *walk) sendElsewhere(t *transfer) {
	w.T.Helper()
	w.count(t, "send elsewhere")
	w.Note("send a part of %s elsewhere", t.key)
	to := t.signed[1]
	to.URL = it.OneOf(w.R, []string{
		strings.Replace(to.URL, "partNumber=1", "partNumber=2", 1), strings.Replace(to.URL, t.id, uuid.NewString(), 1),
	})
	require.Equal(w.T, http.StatusForbidden, stacktest.SendBytes(w.T, to, last).Status)
}

// sendAll sends all that the upload was declared with.
func (w *walk) sendAll(t *transfer) {
	w.T.Helper()
	if t.recording {
		w.put(t, "put speech")
		return
	}
	for i, n := range t.lengths {
		content := []byte(strings.Repeat("x", min(n, len(last))))
		if n == len(first) {
			content = first
		}
		w.send(t, i+1, content)
	}
}

// sendOther sends bytes that the upload was not declared with.
func (w *walk) sendOther(t *transfer) {
	w.T.Helper()
	if t.recording {
		w.put(t, "put no speech")
		return
	}
	w.send(t, 1, []byte("x"))
}

// put sends the bytes of a recording in a way. The bucket must refuse what the recording is not for.
func (w *walk) put(t *transfer, way string) {
	w.T.Helper()
	if t.stage == purged { // The address of a removed recording has ended long ago.
		return
	}
	w.count(t, way)
	w.Note("%s for %s", way, t.key)
	to, text := t.signed[0], it.Speech
	to.Headers = maps.Clone(to.Headers)
	switch way {
	case "put stereo":
		text = stereo
	case "put no speech":
		text = noSpeech
	case "put too few":
		text = text[1:]
	case "put too many":
		text += "x"
	case "put another type":
		to.Headers["Content-Type"] = "audio/mpeg"
	case "put elsewhere":
		to.URL = strings.Replace(to.URL, t.id, uuid.NewString(), 1)
	}
	answer := stacktest.SendBytes(w.T, to, []byte(text))
	if slices.Contains(puts[3:], way) {
		require.GreaterOrEqual(w.T, answer.Status, 400, "%s", answer.Body)
		require.Less(w.T, answer.Status, 500, "%s", answer.Body)
		return
	}
	require.Equal(w.T, t.put(text), answer.Status, "%s", answer.Body)
}

// join joins the parts, as a request does that ends before it writes the item.
func (w *walk) join(t *transfer) {
	w.T.Helper()
	w.Note("join the parts of %s", t.key)
	w.desk.join(&pending{target: t.target})
	t.stage, t.objectSize = joined, t.size
	clear(t.parts)
}

// complete completes an upload in a way.
func (w *walk) complete(t *transfer, way string) {
	w.T.Helper()
	w.count(t, way)
	if t.recording {
		w.completeRecording(t, way)
		return
	}
	c := w.completion(t, way)
	w.Note("%s: %s with %v", way, t.key, c)
	want := w.m.complete(t, c)
	parts := make([]object, len(c.parts))
	for i, p := range c.parts {
		parts[i] = object{"part_number": p.number, "etag": p.etag}
	}
	body := it.Merged(t.target, object{"filename": c.name, "size_bytes": c.size, "parts": parts})
	if c.duration != nil {
		body["duration_seconds"] = c.duration
	}
	answer := w.askStep(want, "complete", body)
	if want.status == http.StatusCreated {
		w.requireItem(t, data(answer))
	}
}

// completion returns what a client sends in a way.
func (w *walk) completion(t *transfer, way string) completion {
	c := completion{
		name: it.OneOf(w.R, []string{t.name, "Keynote" + formatOf(t.name)}), size: t.size,
		duration: it.OneOf(w.R, []any{nil, float64(w.Made())}),
	}
	for i := range t.lengths {
		etag := t.parts[i+1].etag
		if etag == "" {
			etag = `"unsent"`
		}
		c.parts = append(c.parts, listed{i + 1, etag})
	}
	end := len(c.parts) - 1
	switch way {
	case "complete without quotes":
		c.parts[end].etag = strings.Trim(c.parts[end].etag, `"`)
	case "complete a missing part":
		c.parts[end].number = 9
	case "complete another ETag":
		c.parts[end].etag = `"another"`
	case "complete in another order":
		if slices.Reverse(c.parts); end == 0 || w.R.IntN(2) == 0 {
			c.parts = []listed{c.parts[end], c.parts[end]}
		}
	case "complete too few":
		c.parts = c.parts[:end]
	case "complete another size":
		c.size++
	case "complete another format":
		c.name = "Keynote" + map[string]string{".mp4": ".mp3", ".mp3": ".mp4"}[formatOf(t.name)]
	case "complete no media":
		c.name += ".exe"
	}
	return c
}

// completeRecording completes a recording, perhaps with another size than the declared one.
func (w *walk) completeRecording(t *transfer, way string) {
	w.T.Helper()
	size := it.OneOf(w.R, []int{0, t.size})
	if way == "complete another size" {
		size = t.size + 1
	}
	w.Note("%s: %s with %d bytes", way, t.key, size)
	body := object{}
	if size > 0 {
		body["file_size_bytes"] = size
	}
	want := w.m.completeRecording(t, size)
	answer := w.ask(w.archive, want, http.MethodPost, recordingsOf(w.session, "/"+t.id+"/complete"), body)
	if want.status == http.StatusOK {
		w.requireItem(t, data(answer))
	}
}

// abort gives up an upload.
func (w *walk) abort(t *transfer) {
	w.T.Helper()
	w.count(t, "abort")
	w.Note("abort %s", t.key)
	want := w.m.abort(t)
	answer := w.askStep(want, "abort", t.target)
	if want.status == http.StatusOK {
		require.Equal(w.T, object{"aborted": true}, answer["data"])
	}
}

// get reads the item of an upload.
func (w *walk) get(t *transfer) {
	w.T.Helper()
	w.count(t, "get")
	w.Note("get %s", t.key)
	w.read(t)
}
