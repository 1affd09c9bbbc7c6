package batteries_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"path"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/local/objects"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/blob"
)

const (
	// mostMedia is the number of media from which a client goes on in another session.
	mostMedia = 8
	// longSound is the most bytes that the sound of a recording has.
	longSound = 200_000
	// firstPart is the length of the first part of a film, which the bucket joins with another one.
	firstPart = blob.MinPart
)

// medium is a film that is sent in two parts, or a recording, as its client knows it.
type medium struct {
	film bool
	// key is the Idempotency-Key of the call that began the upload.
	key     string
	content []byte
	// target names the upload of a film, and parts the sent parts.
	target object
	parts  []object
	// id is the id of a recording, and of a film once it is complete.
	id string
	// shown is the record as the answer of complete showed it.
	shown entity
}

// mediaSender uploads films and recordings.
type mediaSender struct {
	sender
	bucket *objects.Bucket
	// kept are the acknowledged media by the key of their bytes.
	kept map[string]*medium
	// ready is a film whose parts are sent; nil without one. last is the medium of the last call.
	ready, last *medium
}

// newMedium returns another film or recording.
func (c *mediaSender) newMedium(film bool) *medium {
	c.made++
	text := fmt.Appendf(nil, "client %d made %d;", c.name, c.made)
	if film {
		text = bytes.Repeat(text, firstPart/len(text)+2)
		return &medium{film: true, key: uuid.NewString(), content: text}
	}
	text = bytes.Repeat(append(text, text...), 1+c.r.IntN(longSound/len(text)/2)) // Samples have two bytes.
	file := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(it.Speech)-12+len(text)))
	file = append(file, it.Speech[8:40]...)
	return &medium{key: uuid.NewString(), content: append(binary.LittleEndian.AppendUint32(file, uint32(len(text))), text...)}
}

// prepare sends, in every second round, the parts of a film, so that kills come upon completions too.
func (c *mediaSender) prepare() {
	if c.ready = nil; chance(c.r, 2) {
		c.ready = c.newMedium(true)
		require.True(c.t, c.initiate(c.ready) && c.sendParts(c.ready), "client %d: %s: %s", c.name, c.lost, c.reason)
	}
}

// work sends films and recordings until a call has no answer.
func (c *mediaSender) work() {
	for c.lost = ""; c.lost == "" && !c.t.Failed(); c.ready = nil {
		m := c.ready
		if m == nil {
			m = c.newMedium(chance(c.r, 2))
		}
		switch {
		case !m.film:
			if to, done := c.create(m); done && c.sendRecording(m, to) {
				c.complete(m)
			}
		case m != c.ready && (!c.initiate(m) || !c.sendParts(m)):
		case chance(c.r, 4):
			c.askFilm("abort film", m, "abort", m.target)
		default:
			c.complete(m)
		}
	}
}

// askFilm sends a step of an upload in parts.
func (c *mediaSender) askFilm(call string, m *medium, step string, body any) (entity, bool) {
	c.last = m
	answer, done := c.ask(call, http.MethodPost, c.path("/media/upload/"+step), body)
	data, _ := it.DecodeObject(answer.Body)["data"].(object)
	return data, done
}

// initiate begins the upload of a film.
func (c *mediaSender) initiate(m *medium) bool {
	body := object{"filename": "film.mp4", "size_bytes": len(m.content)}
	opened, done := c.askFilm("initiate film", m, "initiate", stacktest.WithHeaders(body, "Idempotency-Key", m.key))
	if done {
		m.target = object{"key": opened["key"], "upload_id": opened["upload_id"]}
	}
	return done
}

// sendParts signs and sends both parts of a film.
func (c *mediaSender) sendParts(m *medium) bool {
	m.parts = nil
	for i, content := range [][]byte{m.content[:firstPart], m.content[firstPart:]} {
		signed, done := c.askFilm("sign film", m, "sign-part", it.Merged(m.target, object{"part_numbers": []int{i + 1}}))
		if !done {
			return false
		}
		var to stacktest.Signed
		if err := json.Unmarshal(it.Encode(c.t, signed.List("parts")[0]), &to); err != nil {
			c.t.Errorf("%v: %v", signed, err)
			return false
		}
		sent, done := c.send("send film", to, content)
		if !done {
			return false
		}
		m.parts = append(m.parts, object{"part_number": i + 1, "etag": sent.Header.Get("ETag")})
	}
	return true
}

// create creates a recording, and returns the request for its bytes.
func (c *mediaSender) create(m *medium) (to stacktest.Signed, done bool) {
	c.last = m
	body := stacktest.WithHeaders(object{"filename": "talk.wav", "size_bytes": len(m.content)}, "Idempotency-Key", m.key)
	answer, done := c.ask("create recording", http.MethodPost, c.path("/recordings"), body)
	if !done {
		return to, false
	}
	var created struct {
		Data struct {
			ID     string
			Upload stacktest.Signed
		}
	}
	if err := json.Unmarshal(answer.Body, &created); err != nil || created.Data.Upload.URL == "" {
		c.t.Errorf("%s: %v", answer.Body, err)
		return to, false
	}
	m.id = created.Data.ID
	return created.Data.Upload, true
}

// sendRecording sends the bytes of a recording.
func (c *mediaSender) sendRecording(m *medium, to stacktest.Signed) bool {
	_, done := c.send("send recording", to, m.content)
	return done
}

// complete completes a film or a recording, and notes the record that the answer shows.
func (c *mediaSender) complete(m *medium) bool {
	call, rest, body := "complete recording", "/recordings/"+m.id+"/complete", object{}
	if m.film {
		call, rest = "complete film", "/media/upload/complete"
		body = it.Merged(m.target, object{"filename": "film.mp4", "size_bytes": len(m.content), "parts": m.parts})
	}
	c.last = m
	answer, done := c.ask(call, http.MethodPost, c.path(rest), body)
	if !done {
		return false
	}
	m.shown, _ = it.DecodeObject(answer.Body)["data"].(object)
	key := m.shown["s3_key"]
	if m.film {
		key = m.target["key"]
	}
	m.id = m.shown.ID()
	if text, _ := key.(string); path.Base(text) == m.id {
		c.kept[text] = m
		return true
	}
	c.t.Errorf("client %d: %s does not show %v", c.name, answer.Body, key)
	return false
}

// settle goes on with the upload whose call had no answer, as a client does. Some uploads whose begin had no
// answer stay for the maintenance.
func (c *mediaSender) settle() {
	c.t.Helper()
	m, lost := c.last, c.lost
	begin := lost == "initiate film" || lost == "create recording"
	if begin && chance(c.r, 2) {
		return
	}
	switch {
	case lost == "abort film":
		for range 2 {
			c.s.Call(c.t, 200, http.MethodPost, c.path("/media/upload/abort"), m.target)
		}
		return
	case lost == "initiate film":
		require.True(c.t, c.initiate(m), c.reason)
	case begin || lost == "send recording":
		to, done := c.create(m)
		require.True(c.t, done, c.reason)
		answer, err := stacktest.TrySendBytes(c.t, to, m.content)
		require.NoError(c.t, err)
		require.Contains(c.t, []int{200, 412}, answer.Status, "the bytes are sent, or were: %s", answer.Body)
	}
	if m.film && lost != "complete film" {
		require.True(c.t, c.sendParts(m), "client %d: %s: %s", c.name, c.lost, c.reason)
	}
	require.True(c.t, c.complete(m), "client %d: %s after %s: %s", c.name, c.lost, lost, c.reason)
	first := m.shown
	require.True(c.t, c.complete(m), c.reason)
	require.Equal(c.t, first, m.shown, "a repeated completion changes nothing")
}

// check compares the media and their bytes with the journal, and returns the number of completed ones.
func (c *mediaSender) check() int {
	c.t.Helper()
	sounds := map[string]entity{}
	for _, shown := range entity(c.s.Call(c.t, 200, http.MethodGet, c.path("/recordings?pageSize=100"), nil).JSON(c.t)).List("data") {
		if shown["status"] == "completed" {
			sounds[shown.Text("s3_key")] = shown
		}
	}
	for key, m := range c.kept {
		shown := sounds[key]
		if m.film {
			shown = c.s.Call(c.t, 200, http.MethodGet, c.path("/media/"+m.id), nil).JSON(c.t)["data"].(object)
		} else {
			require.EqualValues(c.t, len(m.content), shown["file_size_bytes"], key)
		}
		require.Equal(c.t, m.shown, shown)
		stored, err := c.bucket.Store().Head(c.t.Context(), key)
		require.NoError(c.t, err, "client %d: %v has no bytes", c.name, shown)
		require.EqualValues(c.t, len(m.content), stored.Size, key)
		content, err := c.bucket.Store().First(c.t.Context(), key, stored.Size)
		require.NoError(c.t, err)
		require.True(c.t, bytes.Equal(m.content, content), "client %d: %v has other bytes", c.name, shown)
		delete(sounds, key)
	}
	require.Empty(c.t, sounds, "client %d: recordings that were not acknowledged", c.name)
	return len(c.kept)
}

// leaveSession deletes the session with its media, and goes on in another one.
func (c *mediaSender) leaveSession() {
	c.t.Helper()
	d := &it.Client{Stack: c.s, T: c.t}
	d.Delete(200, c.session)
	c.session, c.kept = d.NewSessions("Another talk")[0], map[string]*medium{}
}
