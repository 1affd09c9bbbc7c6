package media_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/blob"
)

const (
	// mediaLife and recordingLife are the times for which an upload is open (decisions 39 and 42), modelGrace
	// that of a request that began before the end, and modelKeep that of a deleted session.
	mediaLife, recordingLife, modelGrace, modelKeep = 7 * 24 * time.Hour, 24 * time.Hour, time.Hour, 30 * 24 * time.Hour
	// modelLost is the time after which the order of a conversion counts as lost (decision 46).
	modelLost = 24 * time.Hour
	// modelKey is less than the time for which an Idempotency-Key is kept.
	modelKey = 23 * time.Hour
)

// model is the model of a session with its media and recordings.
type model struct {
	*it.State
	// transfers are all uploads that have begun, oldest first.
	transfers []*transfer
}

// stage is how far an upload has come.
type stage int

const (
	open stage = iota
	// joined is the stage of parts that a request has joined, and that ended before it wrote the item.
	joined
	aborted
	// converting is the stage of a recording whose sound is to be converted. The walk has no worker.
	converting
	complete
	purged
)

// transfer is the upload of a media item, or of a recording.
type transfer struct {
	recording     bool
	stage         stage
	id, name, key string
	size          int
	begun, ends   time.Time
	// changed is the time of the last change, finished that of the completion.
	changed, finished time.Time
	// parts has the parts that the bucket has, by their numbers.
	parts map[int]piece
	// bytes are those of a recording that the bucket has. objectSize is the number of bytes under the key.
	bytes      string
	objectSize int
	duration   any
	addresses
}

// addresses are what a client knows of an upload.
type addresses struct {
	// sent is the name in the request that began the upload.
	sent string
	// lengths are those of the parts that the client means to send.
	lengths []int
	// target names the upload of a media item.
	target object
	// signed has the requests that send bytes, by the number of the part; of a recording under 0.
	signed map[int]stacktest.Signed
}

// piece is a part that the bucket has.
type piece struct {
	size int
	etag string
}

// listed is a part in the list of a completion.
type listed struct {
	number int
	etag   string
}

// completion is what a client sends to complete an upload.
type completion struct {
	parts []listed
	name  string
	size  int
	// duration is the length that the client has measured; nil without it.
	duration any
}

// verdict is the answer that the model expects. The code is that of a refusal; a 400 has a field as well, and
// a 404 a message.
type verdict struct {
	status               int
	code, field, message string
}

// invalid returns the 400 of a field.
func invalid(field string) verdict {
	return verdict{status: 400, code: "VALIDATION_ERROR", field: field}
}

// missing returns the 404 of an upload, or of its session.
func (m *model) missing(recording bool) verdict {
	title := "Media item"
	if m.Deleted {
		title = "Session"
	} else if recording {
		title = "Recording"
	}
	return verdict{status: 404, code: "NOT_FOUND", message: title + " not found"}
}

// begin begins an upload of a name and a size.
func (m *model) begin(recording bool, name string, size int) (verdict, *transfer) {
	switch {
	case !recording && strings.HasSuffix(name, ".exe"):
		return invalid("filename"), nil
	case m.Deleted:
		return m.missing(recording), nil
	}
	t := &transfer{
		recording: recording, name: name, size: size, begun: m.Now, changed: m.Now, ends: m.Now.Add(mediaLife), parts: map[int]piece{},
	}
	if recording {
		t.ends = m.Now.Add(recordingLife)
	}
	m.transfers = append(m.transfers, t)
	return verdict{status: 201}, t
}

// change notes the time of a change. A second change in a millisecond is a millisecond later.
func (t *transfer) change(now time.Time) {
	if t.changed = t.changed.Add(time.Millisecond); now.After(t.changed) {
		t.changed = now
	}
}

// live reports whether an upload can be completed.
func (m *model) live(t *transfer) bool { return t.stage <= joined && m.Now.Before(t.ends) }

// kept reports whether the bytes stay.
func (t *transfer) kept() bool { return t.stage == converting || t.stage == complete }

// visible reports whether a client can read the item.
func (m *model) visible(t *transfer) bool { return t.kept() || t.recording && m.live(t) }

// sign signs parts. field is that of a list that no upload takes.
func (m *model) sign(t *transfer, field string) verdict {
	switch {
	case field != "":
		return invalid(field)
	case m.Deleted || !m.live(t):
		return m.missing(t.recording)
	}
	return verdict{status: 200}
}

// send sends a part to its address, which is signed already. The bucket knows nothing of sessions and ends.
func (m *model) send(t *transfer, number int, p piece) (status int) {
	if t.stage != open {
		return 404
	}
	t.parts[number] = p
	return 200
}

// put sends the bytes of a recording to their address, which takes bytes once.
func (t *transfer) put(text string) (status int) {
	if t.bytes != "" {
		return 412
	}
	t.bytes, t.objectSize = text, len(text)
	return 200
}

// complete completes the upload of a media item.
func (m *model) complete(t *transfer, c completion) verdict {
	switch {
	case len(c.parts) == 0:
		return invalid("parts")
	case strings.HasSuffix(c.name, ".exe"):
		return invalid("filename")
	case m.Deleted:
		return m.missing(t.recording)
	case t.stage == complete:
		return verdict{status: 201}
	case !m.live(t):
		return m.missing(t.recording)
	case c.size != t.size:
		return invalid("size_bytes")
	case formatOf(c.name) != formatOf(t.name):
		return invalid("filename")
	}
	if field := t.refused(c.parts); t.stage == open && field != "" {
		return invalid(field)
	}
	t.stage, t.name, t.duration, t.objectSize = complete, c.name, c.duration, t.size
	t.change(m.Now)
	return verdict{status: 201}
}

// formatOf returns the extension of a name.
func formatOf(name string) string { return name[strings.LastIndex(name, "."):] }

// refused returns the field of a list of parts that does not make the file; empty for the right list.
func (t *transfer) refused(parts []listed) string {
	sum := 0
	for i, p := range parts {
		at, found := fmt.Sprintf("parts[%d]", i), t.parts[p.number]
		switch {
		case i > 0 && p.number <= parts[i-1].number, found.size == 0:
			return at + ".part_number"
		case strings.Trim(p.etag, `"`) != strings.Trim(found.etag, `"`):
			return at + ".etag"
		case found.size < blob.MinPart && i < len(parts)-1:
			return at
		}
		sum += found.size
	}
	if sum != t.size {
		return "parts"
	}
	return ""
}

// completeRecording completes a recording. size is that which the client has sent; 0 without it.
func (m *model) completeRecording(t *transfer, size int) verdict {
	switch {
	case m.Deleted || !m.visible(t):
		return m.missing(t.recording)
	case t.stage == converting && m.Now.Sub(t.changed) > modelLost:
		t.change(m.Now)
		return verdict{status: 200}
	case t.kept():
		return verdict{status: 200}
	case size != 0 && size != t.size:
		return invalid("file_size_bytes")
	case t.bytes == "":
		return invalid("")
	case t.bytes == noSpeech:
		return verdict{status: 422, code: "TRANSCODE_ERROR"}
	}
	t.stage = converting
	if t.change(m.Now); t.bytes == it.Speech {
		t.stage, t.duration, t.finished = complete, speechSeconds, m.Now
	}
	return verdict{status: 200}
}

// abort gives up the upload of a media item.
func (m *model) abort(t *transfer) verdict {
	switch {
	case m.Deleted || t.stage == purged:
		return m.missing(t.recording)
	case t.stage == complete:
		return verdict{status: 409, code: "UPLOAD_COMPLETED"}
	}
	t.stage = aborted
	clear(t.parts)
	return verdict{status: 200}
}

// get reads the item of an upload.
func (m *model) get(t *transfer) verdict {
	if m.Deleted || !m.visible(t) {
		return m.missing(t.recording)
	}
	return verdict{status: 200}
}

// recordings returns the recordings of the session's list.
func (m *model) recordings() (all []*transfer) {
	for _, t := range m.transfers {
		if t.recording && m.visible(t) {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b *transfer) int { return cmp.Or(a.begun.Compare(b.begun), cmp.Compare(a.id, b.id)) })
	return all
}

// sweep removes the uploads that ended an hour ago, with their bytes, and returns their number.
func (m *model) sweep() (n int64) {
	for _, t := range m.transfers {
		if !t.kept() && t.stage != purged && t.ends.Before(m.Now.Add(-modelGrace)) {
			t.stage, t.bytes, t.objectSize = purged, "", 0
			clear(t.parts)
			n++
		}
	}
	return n
}

// keys returns the keys of the uploads that keep holds for, sorted.
func (m *model) keys(keep func(*transfer) bool) []string {
	all := []string{}
	for _, t := range m.transfers {
		if keep(t) {
			all = append(all, t.key)
		}
	}
	slices.Sort(all)
	return all
}

// state returns the state of an upload for the count of what was tried.
func (m *model) state(t *transfer) string {
	name := map[stage]string{
		open: "open", joined: "joined", aborted: "aborted", converting: "converting", complete: "complete", purged: "purged",
	}[t.stage]
	switch {
	case t.stage <= joined && !m.live(t):
		name = "ended"
	case t.stage == open && (len(t.parts) > 0 || t.objectSize > 0):
		name = "sent"
	}
	if m.Deleted {
		name += ", session deleted"
	}
	return name
}
