package media_test

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/shared/blob"
	"lectern/shared/wire"
)

// read compares the item of an upload with the model.
func (w *walk) read(t *transfer) {
	w.T.Helper()
	to, path := w.Client, w.path("/"+t.id)
	if t.recording {
		to, path = w.archive, recordingsOf(w.session, "/"+t.id)
	}
	want := w.m.get(t)
	answer := w.ask(to, want, http.MethodGet, path, nil)
	if want.status == http.StatusOK {
		w.requireItem(t, data(answer))
	}
}

// list compares the list of recordings with the model.
func (w *walk) list() {
	w.T.Helper()
	path := recordingsOf(w.session, "?pageSize=100")
	if w.m.Deleted {
		w.ask(w.archive, w.m.missing(true), http.MethodGet, path, nil)
		return
	}
	shown, want := w.archive.Do(http.StatusOK, http.MethodGet, path, nil).List("data"), w.m.recordings()
	require.Len(w.T, shown, len(want))
	for i, t := range want {
		w.requireItem(t, shown[i])
	}
}

// requireItem compares an item with the model.
func (w *walk) requireItem(t *transfer, shown entity) {
	w.T.Helper()
	want := entity{
		"id": t.id, "session_id": w.session, "duration_seconds": t.duration, "created_at": stamp(t.begun), "updated_at": stamp(t.changed),
	}
	more := object{
		"type": "media_item", "title": t.name, "platform": nil, "kind": map[string]string{".mp4": "video", ".mp3": "audio"}[formatOf(t.name)],
		"event_id": float64(w.Event), "media_s3_key": t.key, "transcript_status": nil, "scan_status": "not_scanned",
	}
	if t.recording {
		more = object{
			"type": "recording", "s3_bucket": "lectern", "s3_key": t.key, "encoding": "linear16", "sample_rate": 16000.0, "channels": 1.0,
			"status": "recording", "file_size_bytes": float64(t.size), "started_at": stamp(t.begun), "completed_at": nil,
		}
		if t.stage == complete {
			more["status"], more["completed_at"] = "completed", stamp(t.finished)
		}
	}
	require.Equal(w.T, it.Merged(want, more), object(shown))
}

// compare compares all records and bytes with the model.
func (w *walk) compare() {
	w.T.Helper()
	require.Equal(w.T, w.m.keys(func(t *transfer) bool { return t.stage != purged }), w.Keys())
	require.Equal(w.T, w.m.keys((*transfer).hasBytes), w.stored())
	for _, t := range w.m.transfers {
		w.compareBytes(t)
	}
}

// stored returns the keys of all bytes of the event.
func (w *walk) stored() []string {
	w.T.Helper()
	place := fmt.Sprintf("/%d/%d/", w.Org, w.Event)
	return append(w.StoredKeys(w.T, "media"+place), w.StoredKeys(w.T, "recordings"+place)...)
}

// hasBytes reports whether the bucket has bytes of an upload: an object, or parts.
func (t *transfer) hasBytes() bool { return t.objectSize > 0 || t.stage == open && len(t.parts) > 0 }

// compareBytes compares the bytes and the parts of an upload with the model.
func (w *walk) compareBytes(t *transfer) {
	w.T.Helper()
	bucket := w.Bucket(w.T)
	if t.objectSize > 0 {
		found, err := bucket.Head(w.T.Context(), t.key)
		require.NoError(w.T, err)
		require.EqualValues(w.T, t.objectSize, found.Size)
	}
	if t.recording {
		return
	}
	parts, err := bucket.Parts(w.T.Context(), t.multipart())
	if t.stage != open {
		require.ErrorIs(w.T, err, blob.ErrAbsent)
		return
	}
	require.NoError(w.T, err)
	found := map[int]piece{}
	for _, p := range parts {
		found[int(p.Number)] = piece{int(p.Size), p.ETag}
	}
	require.Equal(w.T, t.parts, found)
}

// multipart returns the upload of a media item as the bucket knows it.
func (t *transfer) multipart() blob.Multipart {
	return (&pending{target: t.target}).multipart()
}

// purge deletes the session and does the maintenance after the time in which it can be restored.
func (w *walk) purge() {
	w.T.Helper()
	if !w.m.Deleted {
		w.TurnSession(w.session)
	}
	w.Forward(modelKeep + time.Hour)
	require.EqualValues(w.T, 1, w.SweepSessions())
	left := w.m.keys((*transfer).kept)
	require.EqualValues(w.T, len(left), w.Sweep())
	require.Empty(w.T, w.Keys())
	require.Empty(w.T, w.stored())
}

// stray names an upload that is not there in a way, which is a 404 whatever the state of the upload.
func (w *walk) stray(t *transfer, way string) {
	w.T.Helper()
	w.count(t, "go astray")
	at, id := &desk{w.Client, w.session}, t.id
	if t.recording {
		at.Client = w.archive
	}
	target := it.Merged(object{"key": t.key, "upload_id": "none"}, t.target)
	switch way {
	case "a stranger's token":
		at.Client = at.WithToken(w.stranger.Token)
	case "a stranger's event":
		at = &desk{&it.Client{Stack: at.As(w.stranger.Token).In(w.stranger.Event), T: w.T}, w.stranger.session}
	case "another session":
		if w.other == "" {
			w.other = w.Real.NewSessions("Another")[0]
		}
		at.session = w.other
	case "an unknown session":
		at.session = uuid.NewString()
	case "an unknown key":
		id = uuid.NewString()
		target["key"] = strings.TrimSuffix(t.key, t.id) + id
	case "another upload":
		id, target["upload_id"] = uuid.NewString(), "another"
	}
	w.Note("go astray: %s, for %s", way, t.key)
	w.requireAstray(at, t, id, target)
}

// requireAstray makes a call for an upload that is not there.
func (w *walk) requireAstray(at *desk, t *transfer, id string, target object) {
	w.T.Helper()
	var answer entity
	switch n := w.R.IntN(4); {
	case t.recording && n < 2:
		answer = at.Do(404, http.MethodGet, recordingsOf(at.session, "/"+id), nil)
	case t.recording:
		answer = at.Do(404, http.MethodPost, recordingsOf(at.session, "/"+id+"/complete"), object{})
	case n == 0:
		answer = at.post(404, "sign-part", it.Merged(target, object{"part_numbers": []int{1}}))
	case n == 1:
		answer = at.post(404, "complete", it.Merged(target, object{
			"filename": t.name, "size_bytes": t.size, "parts": []object{{"part_number": 1, "etag": "x"}},
		}))
	case n == 2:
		answer = at.post(404, "abort", target)
	default:
		answer = at.Do(404, http.MethodGet, at.path("/"+id), nil)
	}
	it.RequireError(w.T, answer, "NOT_FOUND", "")
}

// stamp returns a time as answers show it.
func stamp(t time.Time) string { return wire.At(t).String() }
