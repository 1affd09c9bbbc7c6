package batteries_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/blob"
)

const (
	// largeFile is the most that a large file of the test has beyond its text.
	largeFile = 4 << 20
	// mostKept leaves room for the uploads whose create had no answer: each counts for a day.
	mostKept = 20
)

// parcel is a file as a client knows it.
type parcel struct{ text, path string }

// courier uploads files.
type courier struct {
	sender
	// files are the acknowledged files by id.
	files map[string]*parcel
	// lastID and lastText are the file of the last call, and its bytes.
	lastID, lastText string
}

// path returns a path below the files of the session.
func (c *courier) path(rest string) string { return c.sender.path("/files" + rest) }

// prepare sends nothing (uploader).
func (c *courier) prepare() {}

// work uploads, replaces and deletes files until a call has no answer.
func (c *courier) work() {
	for c.lost = ""; c.lost == "" && !c.t.Failed(); {
		ids := slices.Sorted(maps.Keys(c.files))
		switch n := c.r.IntN(7); {
		case (len(ids) < 3 || n == 6) && len(ids) < mostKept && chance(c.r, 2):
			c.form()
		case len(ids) < 3 || n < 2 && len(ids) < mostKept:
			c.upload("create", "")
		case n < 4:
			c.upload("replace", it.OneOf(c.r, ids))
		default:
			id := it.OneOf(c.r, ids)
			if _, done := c.ask("delete", id, "", http.MethodDelete, "/"+id, nil); done {
				delete(c.files, id)
			}
		}
	}
}

// text returns the bytes of another file.
func (c *courier) text() string {
	c.made++
	text := fmt.Sprintf("%%PDF-1.7\n%% client %d wrote %d\n", c.name, c.made)
	if chance(c.r, 3) {
		text += strings.Repeat("x", c.r.IntN(largeFile))
	}
	return text
}

// form sends a new file in one request under a key. One in four has more than a part of bytes.
func (c *courier) form() {
	key, text := uuid.NewString(), c.text()
	if chance(c.r, 4) {
		text += strings.Repeat("y", blob.MinPart)
	}
	if answer, done := c.ask("form", key, text, http.MethodPost, "/upload", formOf(key, text)); done {
		c.keep(text, answer)
	}
}

// formOf returns a form with a file, under a key.
func formOf(key, text string) any {
	form := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"slides.pdf\"\r\n\r\n" + text + "\r\n--b--\r\n"
	return stacktest.WithHeaders(form, "Content-Type", "multipart/form-data; boundary=b", "Idempotency-Key", key)
}

// upload sends a new file, or other bytes of a file.
func (c *courier) upload(call, id string) {
	text, rest := c.text(), ""
	if id != "" {
		rest = "/" + id + "/replace"
	}
	answer, done := c.ask(call, id, text, http.MethodPost, rest, object{"filename": "slides.pdf", "size_bytes": len(text)})
	if !done {
		return
	}
	var begun struct {
		Data struct {
			ID     string
			Upload stacktest.Signed
		}
	}
	if err := json.Unmarshal(answer.Body, &begun); err != nil {
		c.t.Errorf("%s: %v", answer.Body, err)
		return
	}
	id = begun.Data.ID
	c.lastID = id
	if _, done := c.send("send", begun.Data.Upload, []byte(text)); !done {
		return
	}
	if answer, done = c.ask("complete", id, text, http.MethodPost, "/"+id+"/complete", nil); done {
		c.keep(text, answer)
	}
}

// keep notes a file that the service has shown.
func (c *courier) keep(text string, answer stacktest.Answer) {
	data, _ := it.DecodeObject(answer.Body)["data"].(object)
	id, _ := data["id"].(string)
	shown, _ := data["url"].(string)
	address, err := url.Parse(shown)
	if err != nil || !strings.HasPrefix(address.Path, "/files/") {
		c.t.Errorf("%s has no address: %v", answer.Body, err)
		return
	}
	c.files[id] = &parcel{text, address.Path}
}

// ask sends a call about a file and reports whether it was done.
func (c *courier) ask(call, id, text, method, rest string, body any) (stacktest.Answer, bool) {
	c.lastID, c.lastText = id, text
	return c.sender.ask(call, method, c.path(rest), body)
}

// settle repeats the call without an answer, as a client does. An upload whose create has no answer stays
// for the maintenance.
func (c *courier) settle() {
	c.t.Helper()
	want := map[string][]int{"complete": {200}, "send": {200, 400}, "delete": {204, 404}, "form": {201}}[c.lost]
	if want == nil {
		return
	}
	method, rest, body := http.MethodPost, "/"+c.lastID+"/complete", any(nil)
	switch c.lost {
	case "delete":
		method, rest = http.MethodDelete, "/"+c.lastID
	case "form":
		rest, body = "/upload", formOf(c.lastID, c.lastText)
	}
	answer, err := c.s.Send(c.t, method, c.path(rest), body)
	require.NoError(c.t, err)
	require.Contains(c.t, want, answer.Status, "%s of %s: %s", c.lost, c.lastID, answer.Body)
	switch {
	case c.lost == "delete":
		delete(c.files, c.lastID)
	case answer.Status < http.StatusMultipleChoices:
		c.keep(c.lastText, answer)
	default:
		require.Contains(c.t, string(answer.Body), "have not been uploaded", "bytes are stored whole or not at all")
	}
}

// check downloads each visible file, compares the files with the journal, and returns their number.
func (c *courier) check() int {
	c.t.Helper()
	var shown []string
	for _, f := range entity(c.s.Call(c.t, 200, http.MethodGet, c.path(""), nil).JSON(c.t)).List("data") {
		shown = append(shown, f.ID())
		known := c.files[f.ID()]
		require.NotNil(c.t, known, "client %d: %v is visible", c.name, f)
		require.EqualValues(c.t, len(known.text), f["size"])
		to := c.s.Call(c.t, 302, http.MethodGet, known.path, nil).Header.Get("Location")
		answer, err := stacktest.TrySendBytes(c.t, stacktest.Signed{URL: to, Method: http.MethodGet}, nil)
		require.NoError(c.t, err)
		require.Equal(c.t, 200, answer.Status, "client %d: %v has no bytes: %s", c.name, f, answer.Body)
		require.True(c.t, known.text == string(answer.Body), "client %d: %v has other bytes", c.name, f)
	}
	slices.Sort(shown)
	require.Equal(c.t, slices.Sorted(maps.Keys(c.files)), shown, "client %d", c.name)
	return len(shown)
}
