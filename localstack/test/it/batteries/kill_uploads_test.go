package batteries_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/blob"
	"lectern/shared/table"
	"lectern/shared/upload"
)

const (
	// uploadOver and bytesOver are later than the end of an upload, and of the bytes of a deleted file.
	uploadOver, bytesOver = 2 * 24 * time.Hour, 32 * 24 * time.Hour
	// largeFile is the most that a large file of the test has beyond its text.
	largeFile = 4 << 20
	// mostKept leaves room for the uploads whose create had no answer: each counts for a day.
	mostKept = 20
)

// TestKillUploads kills the service, its engine or its bucket at random moments of uploads, and starts them
// again. An acknowledged file stays with its bytes, a call without an answer can be repeated, and after the
// maintenance there is neither a visible file without bytes nor bytes without an owner.
func TestKillUploads(t *testing.T) {
	k := &uploading{service: built(t), r: it.Source(it.Seed(t), killClients), kills: map[string]int{}, lost: map[string]int{}}
	seed := k.r.Uint64()
	for i := range killClients {
		session := (&it.Client{Stack: k.caller, T: t}).NewSessions("A talk")[0]
		k.couriers = append(k.couriers, &courier{t: t, s: k.caller, r: it.Source(seed, i), session: session, name: i, files: map[string]*parcel{}})
	}
	for round := range it.Size(10, 100) {
		k.round(round)
	}
	k.owned(bytesOver, func(u *upload.Upload) bool { return !u.Stored() }) // The bytes of deleted files, too.
	k.report()
}

// uploading kills a service under uploads.
type uploading struct {
	*service
	couriers []*courier
	r        *rand.Rand
	// kills counts the kills by what was killed, lost the calls without an answer by their name.
	kills, lost map[string]int
}

// round kills the service at a random moment, starts it again, and looks at what is left.
func (k *uploading) round(number int) {
	k.t.Helper()
	after := time.Duration(20+k.r.IntN(400)) * time.Millisecond
	worked := make(chan struct{})
	go func() {
		it.Concurrently(killClients, func(client int) { k.couriers[client].work() })
		close(worked)
	}()
	time.Sleep(after)
	k.killPart([]string{"service", "engine", "bucket"}[number%3])
	<-worked
	require.False(k.t, k.t.Failed())
	k.start()
	visible := 0
	for _, c := range k.couriers {
		k.lost[c.lost]++
		c.settle()
		visible += c.check()
	}
	k.owned(uploadOver, func(u *upload.Upload) bool {
		return !u.Stored() && u.Ends.Before(time.Now().Add(uploadOver-upload.Grace))
	})
	require.Len(k.t, k.stored(), visible, "records of visible files")
	for _, c := range k.couriers {
		require.Equal(k.t, len(c.files), c.check(), "after the maintenance")
	}
}

// killPart kills the engine or the bucket, and after a pause the service.
func (k *uploading) killPart(part string) {
	k.t.Helper()
	k.kills[part]++
	if at := map[string]string{"engine": k.engineURL, "bucket": k.bucket.URL}[part]; at != "" {
		require.NoError(k.t, syscall.Kill(k.childPID(at), syscall.SIGKILL))
		time.Sleep(time.Duration(k.r.IntN(50)) * time.Millisecond)
	}
	k.kill(killService, 0)
}

// records returns the records of all uploads, by the key of their bytes.
func (k *uploading) records() map[string]*upload.Upload {
	k.t.Helper()
	all := map[string]*upload.Upload{}
	for _, item := range k.engine.Dump(k.t).Below(upload.At(k.caller.Org, k.caller.Event).Partition()) {
		u, err := upload.DecodeAny(table.Item{Data: []byte(item.Data)})
		require.NoError(k.t, err)
		all[u.Object] = u
	}
	return all
}

// stored returns the records whose bytes stay.
func (k *uploading) stored() []string {
	k.t.Helper()
	return keysWhere(k.records(), func(u *upload.Upload) bool { return u.Stored() })
}

// owned does the maintenance of a later day and checks that the bytes of the bucket are those of the
// records: none without a record, and no record for which over holds.
func (k *uploading) owned(later time.Duration, over func(*upload.Upload) bool) {
	k.t.Helper()
	it.MaintainedLater(k.t, k.env, later)
	records := k.records()
	keys, err := k.bucket.Keys(k.t.Context(), "")
	require.NoError(k.t, err)
	for _, key := range keys {
		require.Contains(k.t, records, key, "bytes without an owner")
	}
	require.Empty(k.t, keysWhere(records, over), "records that have ended")
}

// report logs the numbers, and checks that kills came between all calls.
func (k *uploading) report() {
	k.t.Helper()
	files, calls := 0, 0
	for _, c := range k.couriers {
		files, calls = files+len(c.files), calls+c.calls
	}
	require.NotContains(k.t, k.lost, "", "a client had all its answers")
	k.t.Logf("killed %v under %d calls; without an answer were %v; %d files are left", k.kills, calls, k.lost, files)
}

// parcel is a file as a client knows it.
type parcel struct{ text, path string }

// courier uploads files to a session of its own, and keeps a journal of what was acknowledged.
type courier struct {
	t       *testing.T
	s       *stacktest.Stack
	r       *rand.Rand
	session string
	// name, calls and made are the number of the client, and of its calls and files.
	name, calls, made int
	// files are the acknowledged files by id.
	files map[string]*parcel
	// lost is the name of the call without an answer, of the file lostID with the text lostText.
	lost, lostID, lostText string
}

// path returns a path below the files of the session.
func (c *courier) path(rest string) string {
	return c.s.EventPath("/sessions/" + c.session + "/files" + rest)
}

// work uploads, replaces and deletes files until a call has no answer.
func (c *courier) work() {
	for c.lost = ""; c.lost == "" && !c.t.Failed(); {
		ids := keysWhere(c.files, func(*parcel) bool { return true })
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
	c.calls++
	sent, err := stacktest.TrySendBytes(c.t, begun.Data.Upload, []byte(text))
	if c.unanswered("send", id, text, sent, err) {
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

// ask sends a call and reports whether it was done.
func (c *courier) ask(call, id, text, method, rest string, body any) (stacktest.Answer, bool) {
	c.calls++
	answer, err := c.s.Send(c.t, method, c.path(rest), body)
	return answer, !c.unanswered(call, id, text, answer, err)
}

// unanswered reports whether a call has no answer, and notes the call.
func (c *courier) unanswered(call, id, text string, answer stacktest.Answer, err error) bool {
	switch {
	case err != nil || answer.Status >= 500:
		c.lost, c.lostID, c.lostText = call, id, text
		return true
	case answer.Status >= 400:
		c.t.Errorf("client %d, %s of %s: %d %s", c.name, call, id, answer.Status, answer.Body)
	}
	return answer.Status >= 400
}

// settle repeats the call without an answer, as a client does. An upload whose create has no answer stays
// for the maintenance.
func (c *courier) settle() {
	c.t.Helper()
	want := map[string][]int{"complete": {200}, "send": {200, 400}, "delete": {204, 404}, "form": {201}}[c.lost]
	if want == nil {
		return
	}
	method, rest, body := http.MethodPost, "/"+c.lostID+"/complete", any(nil)
	switch c.lost {
	case "delete":
		method, rest = http.MethodDelete, "/"+c.lostID
	case "form":
		rest, body = "/upload", formOf(c.lostID, c.lostText)
	}
	answer, err := c.s.Send(c.t, method, c.path(rest), body)
	require.NoError(c.t, err)
	require.Contains(c.t, want, answer.Status, "%s of %s: %s", c.lost, c.lostID, answer.Body)
	switch {
	case c.lost == "delete":
		delete(c.files, c.lostID)
	case answer.Status < http.StatusMultipleChoices:
		c.keep(c.lostText, answer)
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
	require.Equal(c.t, keysWhere(c.files, func(*parcel) bool { return true }), shown, "client %d", c.name)
	return len(shown)
}
