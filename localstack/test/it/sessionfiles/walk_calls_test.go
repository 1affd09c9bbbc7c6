package sessionfiles_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

var (
	// preludes bring a session into each state. A letter is a call: begin an upload, send, send other bytes,
	// complete, delete, let the upload end, delete the session, fill the slot.
	preludes = []string{"", "f", "b", "bs", "bsc", "bscb", "bscbs", "bscbsc", "bscd", "be", "bse", "boc", "bx", "bscx"}
	// firsts are the calls after a prelude.
	firsts = append([]string{"create", "form", "complete", "replace", "update", "delete", "download"}, ways...)
)

// prepare makes a call of a prelude, again where the model has drawn a mistake.
func (w *walk) prepare(letter rune) {
	w.T.Helper()
	id, before := "", len(w.m.parcels)
	if before > 0 {
		id = w.m.parcels[0].id
	}
	switch letter {
	case 'b':
		for len(w.m.parcels) == before {
			w.begin(w.draw(), id)
		}
	case 'f':
		for w.m.taken("") < modelRoom {
			w.begin(w.drawInSlot(), "")
		}
	case 's':
		w.send(w.m.parcels[before-1], rightBytes)
	case 'o':
		w.send(w.m.parcels[before-1], otherBytes)
	case 'c':
		w.complete(id)
	case 'd':
		for w.m.file(id) != nil {
			w.remove(id)
		}
	case 'e':
		w.Forward(modelLife)
	case 'x':
		w.TurnSession(w.session)
	}
}

// drawInSlot draws an upload of a file in the slot.
func (w *walk) drawInSlot() plan {
	p := w.draw()
	p.slot = thatSlot
	return p
}

// first makes a call for the first upload of a prelude.
func (w *walk) first(call string) {
	w.T.Helper()
	id, p := uuid.NewString(), (*parcel)(nil)
	if len(w.m.parcels) > 0 {
		p = w.m.parcels[0]
		id = p.id
	}
	switch call {
	case "create":
		w.begin(w.drawInSlot(), "")
	case "form":
		w.form(w.drawInSlot())
	case "complete":
		w.complete(id)
	case "replace":
		w.begin(w.draw(), id)
	case "update":
		w.update(id)
	case "delete":
		w.remove(id)
	case "download":
		w.follow(p)
	default:
		w.send(p, call)
	}
}

// send sends the bytes of an upload in a way. The bucket must refuse what the upload is not for.
func (w *walk) send(p *parcel, way string) {
	w.T.Helper()
	if p == nil || p.begun["upload"] == nil { // The bytes of a form have no address to send them to.
		return
	}
	w.Count("send "+way, p.state(w.m.Now))
	w.Note("send %s of %s", way, p.key)
	to, text := stacktest.Signed{URL: p.begun.At("upload.url").(string), Method: http.MethodPut, Headers: map[string]string{}}, p.text
	for name, value := range p.begun.At("upload.headers").(object) {
		to.Headers[name] = value.(string)
	}
	switch way {
	case otherBytes:
		text = html + strings.Repeat(" ", len(text))
		text = text[:len(p.text)]
	case "too few":
		text = text[1:]
	case "too many":
		text += "x"
	case "another type":
		to.Headers["Content-Type"] = "text/html"
	case "to another key":
		to.URL = strings.Replace(to.URL, p.key, w.parcel().key+"0", 1)
	}
	answer := stacktest.SendBytes(w.T, to, []byte(text))
	switch {
	case way != rightBytes && way != otherBytes:
		require.GreaterOrEqual(w.T, answer.Status, 400, "%s", answer.Body)
		require.Less(w.T, answer.Status, 500, "%s", answer.Body)
	case p.stored != "":
		require.Equal(w.T, http.StatusPreconditionFailed, answer.Status, "%s", answer.Body)
	default:
		require.Equal(w.T, http.StatusOK, answer.Status, "%s", answer.Body)
		p.stored = text
	}
}

// form uploads a new file in one request, at times with bytes that are not of its type.
func (w *walk) form(p plan) {
	w.T.Helper()
	wrong := p.kind == "application/pdf" && w.R.IntN(8) == 0
	sent := p.text
	if wrong {
		sent = html
	}
	parts := []part{file(p.filename, sent)}
	if p.title != "" {
		parts = append(parts, text("title", p.title))
	}
	if p.slot == thatSlot {
		parts = append(parts, text("content_slot_id", w.slot))
	}
	w.count("form", "", p.slot)
	w.Note("form %q, titled %q, slot %d, wrong bytes %v", p.filename, p.title, p.slot, wrong)
	want, made := w.m.form(p, wrong)
	answer := w.desk.send(want.status, parts)
	if want.field != "" {
		it.RequireInvalid(w.T, answer, want.field)
	}
	if made == nil {
		return
	}
	known := w.m.keys(func(other *parcel) bool { return other != made })
	made.key = slices.DeleteFunc(w.Keys(), func(key string) bool { return slices.Contains(known, key) })[0]
	if made.id = uuid.NewString(); want.status == http.StatusCreated {
		made.begun, made.id = answer, answer.ID()
		w.requireShown(&made.volume, made, answer)
		w.m.add(made)
	}
}

// complete completes the upload of a file.
func (w *walk) complete(id string) {
	w.T.Helper()
	w.Count("complete", w.m.state(id))
	w.Note("complete %s", id)
	want := w.m.complete(id)
	answer := w.ask(want, http.MethodPost, w.path("/", id, "/complete"), nil)
	if want.status == http.StatusOK {
		f := w.m.file(id)
		w.requireShown(f, f.bytes, answer.At("data").(object))
	}
}

// update changes the title of a file.
func (w *walk) update(id string) {
	w.T.Helper()
	title, stale := fmt.Sprint("Title ", w.Made()), w.R.IntN(4) == 0
	switch f := w.m.file(id); {
	case w.R.IntN(8) == 0:
		title = ""
	case f != nil && w.R.IntN(3) == 0:
		title = f.filename
	}
	w.Count("update", w.m.state(id))
	w.Note("update %s to %q, stale %v", id, title, stale)
	header := w.seen(id, stale)
	want := w.m.update(id, title, stale)
	answer := w.ask(want, http.MethodPut, w.path("/", id), object{"title": title}, header...)
	if want.status == http.StatusOK {
		f := w.m.file(id)
		w.requireShown(f, f.bytes, answer.At("data").(object))
	}
}

// remove deletes a file.
func (w *walk) remove(id string) {
	w.T.Helper()
	stale := w.R.IntN(4) == 0
	w.Count("delete", w.m.state(id))
	w.Note("delete %s, stale %v", id, stale)
	header := w.seen(id, stale)
	w.ask(w.m.remove(id, stale), http.MethodDelete, w.path("/", id), nil, header...)
}

// follow downloads the bytes of an upload.
func (w *walk) follow(p *parcel) {
	w.T.Helper()
	if p == nil || p.begun == nil {
		return
	}
	w.Count("download", p.state(w.m.Now))
	w.Note("download %s", p.key)
	want := w.m.follow(p)
	if want.status != http.StatusFound {
		w.desk.follow(want.status, p.begun)
		return
	}
	text, header := w.download(p.begun)
	require.Equal(w.T, p.text, text)
	require.Contains(w.T, header.Get("Content-Disposition"), "attachment")
}

// sweep does the maintenance of the event.
func (w *walk) sweep() {
	w.T.Helper()
	require.Equal(w.T, w.m.sweep(), w.Sweep())
}

// compare compares the list of files with the model.
func (w *walk) compare() {
	w.T.Helper()
	if w.m.Deleted {
		w.Do(http.StatusNotFound, http.MethodGet, w.path(), nil)
		return
	}
	shown := w.list()
	require.Len(w.T, shown, len(w.m.files))
	for i, f := range w.m.files {
		w.requireShown(f, f.bytes, shown[i])
	}
}

// compareBytes compares records and bytes of the event with the model.
func (w *walk) compareBytes() {
	w.T.Helper()
	require.Equal(w.T, w.m.keys(func(p *parcel) bool { return !p.purged }), w.Keys())
	folder := fmt.Sprintf("files/%d/%d/", w.Org, w.Event)
	require.Equal(w.T, w.m.keys(func(p *parcel) bool { return p.stored != "" }), w.StoredKeys(w.T, folder))
}
