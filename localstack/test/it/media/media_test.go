package media_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/functions/media"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/blob"
)

// TestAFileInPartsBecomesAMediaItem and an abandoned one nothing.
func TestAFileInPartsBecomesAMediaItem(t *testing.T) {
	stacktest.Everywhere(t)
	d := newDesk(t)
	body := object{"filename": "Keynote.MP4", "size_bytes": size}
	opened := data(d.post(201, "initiate", body, "Idempotency-Key", "one"))
	require.ElementsMatch(t, []string{"key", "upload_id", "part_size", "part_count", "expires_at"}, opened.Keys())
	require.Equal(t, []any{float64(16 << 20), 1.0}, []any{opened["part_size"], opened["part_count"]})
	ends, err := time.Parse(time.RFC3339, opened.Text("expires_at"))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now().AddDate(0, 0, 7), ends, time.Hour)
	require.Equal(t, opened, data(d.post(201, "initiate", body, "Idempotency-Key", "one")), "sent twice, begun once")

	p := &pending{target: object{"key": opened["key"], "upload_id": opened["upload_id"]}}
	d.send(p, 1, first)
	d.send(p, 2, []byte("another end"))
	p.parts = p.parts[:1]
	d.send(p, 2, last) // The last bytes of a part count.
	id := p.key()[strings.LastIndex(p.key(), "/")+1:]
	d.Do(404, http.MethodGet, d.path("/"+id), nil)
	made := d.post(201, "complete", p.completion(object{"duration_seconds": 12.5}))
	item := data(made)
	require.Equal(t, entity{
		"id": id, "type": "media_item", "title": "Keynote.MP4", "platform": nil, "kind": "video", "event_id": float64(d.Event),
		"session_id": d.session, "media_s3_key": p.key(), "transcript_status": nil, "duration_seconds": 12.5,
		"created_at": item["created_at"], "updated_at": item["updated_at"],
	}, item)
	require.Equal(t, made, d.post(201, "complete", p.completion(object{"duration_seconds": 1})), "a second call changes nothing")
	require.Equal(t, made, d.Do(200, http.MethodGet, d.path("/"+id), nil))
	require.Equal(t, "UPLOAD_COMPLETED", d.post(409, "abort", p.target).Text("code"))
	d.post(404, "sign-part", it.Merged(p.target, object{"part_numbers": []int{3}}))

	given := d.sent()
	for range 2 {
		require.Equal(t, object{"aborted": true}, d.post(200, "abort", given.target)["data"])
	}
	d.post(404, "sign-part", it.Merged(given.target, object{"part_numbers": []int{1}}))
	d.post(404, "complete", given.completion())
}

// TestAnEndedUploadIsRemoved by the service's own maintenance, and a completed one not.
func TestAnEndedUploadIsRemoved(t *testing.T) {
	stacktest.Everywhere(t)
	d := newDesk(t)
	abandoned, given, kept, joined := d.sent(), d.sent(), d.sent(), d.sent()
	d.post(201, "complete", kept.completion())
	d.post(200, "abort", given.target)
	d.join(joined)
	for _, p := range []*pending{abandoned, given, joined} {
		d.end(p, 2*time.Hour)
	}
	d.post(404, "sign-part", it.Merged(abandoned.target, object{"part_numbers": []int{1}}))
	d.post(404, "complete", abandoned.completion())
	report := entity(d.Operator(t, "maintain", object{"cursor": object{}}))
	require.EqualValues(t, 3, report.At("purged.uploads"))
	for _, p := range []*pending{abandoned, given, joined} {
		d.requireGone(p)
	}
	stored, err := d.Bucket(t).Head(t.Context(), kept.key())
	require.NoError(t, err)
	require.Equal(t, []any{"video/mp4", int64(size)}, []any{stored.Type, stored.Size})
}

func TestAnUploadEndsAWhileBeforeItsBytes(t *testing.T) {
	d := newDesk(t)
	p, joined := d.sent(), d.sent()
	d.join(joined)
	require.Zero(t, d.maintain(6))
	d.end(p, time.Minute)
	require.Zero(t, d.maintain(0), "a request may be on its way")
	require.EqualValues(t, 2, d.maintain(8))
	d.requireGone(p)
	d.requireGone(joined)
	require.Zero(t, d.maintain(8))
	it.EngineOf(t, d.Stack).RequireWhole(t)
}

// TestALostRowLosesNoMedia: a session without its row still has a body.
func TestALostRowLosesNoMedia(t *testing.T) {
	d := newDesk(t)
	p := d.sent()
	id := data(d.post(201, "complete", p.completion())).ID()
	d.sent() // It is open.
	it.LoseRow(t, d.Stack, d.session)
	require.Zero(t, d.maintain(0))
	require.EqualValues(t, 1, d.maintain(8), "the open upload has ended")
	d.Do(200, http.MethodGet, d.path("/"+id), nil)
}

// TestMediaGoWithTheirSession: a deleted session hides its media, a restored one shows them, and the
// purge removes them.
func TestMediaGoWithTheirSession(t *testing.T) {
	d := newDesk(t)
	p, open := d.sent(), d.sent()
	id := data(d.post(201, "complete", p.completion())).ID()
	d.Delete(200, d.session)
	d.Do(404, http.MethodGet, d.path("/"+id), nil)
	d.post(404, "initiate", object{"filename": "a.mp3", "size_bytes": 1})
	d.post(404, "complete", open.completion())
	require.EqualValues(t, 1, d.maintain(29), "the upload that was not completed has ended")
	d.Restore(200, d.session)
	d.Do(200, http.MethodGet, d.path("/"+id), nil)
	d.Delete(200, d.session)
	require.EqualValues(t, 1, d.maintain(31))
	d.requireGone(p)
	it.EngineOf(t, d.Stack).RequireWhole(t)
}

func TestAFileThatIsNotAcceptedIsRefused(t *testing.T) {
	d := newDesk(t)
	for _, c := range []struct {
		body  object
		field string
	}{
		{object{"size_bytes": 1}, "filename"},
		{object{"filename": "", "size_bytes": 1}, "filename"},
		{object{"filename": "a.exe", "size_bytes": 1}, "filename"},
		{object{"filename": "mp4", "size_bytes": 1}, "filename"},
		{object{"filename": "a.mp4.html", "size_bytes": 1}, "filename"},
		{object{"filename": "../a.mp4", "size_bytes": 1}, "filename"},
		{object{"filename": "a\\b.mp4", "size_bytes": 1}, "filename"},
		{object{"filename": "a\r\n.mp4", "size_bytes": 1}, "filename"},
		{object{"filename": strings.Repeat("a", 252) + ".mp4", "size_bytes": 1}, "filename"},
		{object{"filename": "a.mp4"}, "size_bytes"},
		{object{"filename": "a.mp4", "size_bytes": 0}, "size_bytes"},
		{object{"filename": "a.mp4", "size_bytes": 50<<30 + 1}, "size_bytes"},
		{object{"filename": "a.mp4", "size_bytes": "1"}, "size_bytes"},
		{object{"filename": "a.mp4", "size_bytes": 1, "content_type": "text/html"}, "content_type"},
		{object{"filename": "a.mp4", "size_bytes": 1, "content_type": "video"}, "content_type"},
		{object{"filename": "a.mp4", "size_bytes": 1, "content_type": "video/mp4\r\nX: y"}, "content_type"},
	} {
		require.Equal(t, c.field, d.post(400, "initiate", c.body).At("details.field"), "%v", c.body)
	}
	for name, kind := range map[string]string{
		"a.mp4": "video", "a.MOV": "video", "a.mkv": "video", "a.webm": "video", "a.m4v": "video", "a.avi": "video",
		"a.mp3": "audio", "a.m4a": "audio", "a.wav": "audio", "a.aac": "audio", "a.flac": "audio", "ä b.ogg": "audio",
	} {
		opened := data(d.post(201, "initiate", object{"filename": name, "size_bytes": len(last), "content_type": kind + "/x-own"}))
		p := &pending{target: object{"key": opened["key"], "upload_id": opened["upload_id"]}}
		d.send(p, 1, last)
		item := data(d.post(201, "complete", p.completion(object{"filename": name, "size_bytes": len(last)})))
		require.Equal(t, []any{name, kind}, []any{item["title"], item["kind"]})
	}
	large := data(d.post(201, "initiate", object{"filename": "a.mkv", "size_bytes": 50 << 30}))
	require.EqualValues(t, 3200, large["part_count"])
}

func TestPartsOfAnotherListAreRefused(t *testing.T) {
	d := newDesk(t)
	p := d.sent()
	for _, numbers := range []any{[]int{}, []int{0}, []int{10_001}, []int{1, 1}, []string{"1"}, nil, make([]int, 1001)} {
		field := d.post(400, "sign-part", it.Merged(p.target, object{"part_numbers": numbers})).At("details.field")
		require.Contains(t, field, "part_numbers")
	}
	require.Len(t, d.sign(p, 1, 2, 10_000), 3)
	one, two := p.parts[0], p.parts[1]
	small := d.initiate(2 * len(last))
	d.send(small, 1, last)
	d.send(small, 2, last)
	for name, c := range map[string]struct {
		body  object
		field string
	}{
		"no parts":       {p.completion(object{"parts": []object{}}), "parts"},
		"another order":  {p.completion(object{"parts": []object{two, one}}), "parts[0]"},
		"a part twice":   {p.completion(object{"parts": []object{one, one}}), "parts[1].part_number"},
		"a missing part": {p.completion(object{"parts": []object{one, {"part_number": 3, "etag": two["etag"]}}}), "parts[1].part_number"},
		"another ETag":   {p.completion(object{"parts": []object{one, {"part_number": 2, "etag": one["etag"]}}}), "parts[1].etag"},
		"no ETag":        {p.completion(object{"parts": []object{one, {"part_number": 2}}}), "parts[1].etag"},
		"too few parts":  {p.completion(object{"parts": []object{one}}), "parts"},
		"another size":   {p.completion(object{"size_bytes": size + 1}), "size_bytes"},
		"another file":   {p.completion(object{"filename": "a.txt"}), "filename"},
		"another format": {p.completion(object{"filename": "a.mp3"}), "filename"},
		"a small part":   {small.completion(object{"size_bytes": 2 * len(last)}), "parts[0]"},
		"a length":       {p.completion(object{"duration_seconds": -1}), "duration_seconds"},
	} {
		require.Equal(t, c.field, d.post(400, "complete", c.body).At("details.field"), name)
	}
	unquoted := object{"part_number": 2, "etag": strings.Trim(two["etag"].(string), `"`)}
	d.post(201, "complete", p.completion(object{"parts": []object{one, unquoted}}))
}

// TestAnUploadIsOfItsSessionAlone: another session, event or organization finds nothing, as of an
// upload that never was.
func TestAnUploadIsOfItsSessionAlone(t *testing.T) {
	d := newDesk(t)
	p := d.sent()
	id := p.key()[strings.LastIndex(p.key(), "/")+1:]
	stranger := &it.Client{Stack: d.NewOrganization(t), T: t}
	event := d.InNewEvent()
	refused := func(d *desk, target object, message string) {
		t.Helper()
		q := &pending{target: target, parts: p.parts}
		for step, body := range map[string]object{
			"sign-part": it.Merged(target, object{"part_numbers": []int{1}}), "complete": q.completion(), "abort": target,
		} {
			require.Equal(t, message, d.post(404, step, body)["message"], "%s %v", step, target)
		}
	}
	const missing = "Media item not found"
	for _, other := range []*desk{d.of(d.NewSessions("Another")[0]), {stranger, stranger.NewSessions("Theirs")[0]}, {event, event.NewSessions("There")[0]}} {
		refused(other, p.target, missing)
		other.Do(404, http.MethodGet, other.path("/"+id), nil)
	}
	refused(d.of(uuid.NewString()), p.target, "Session not found")
	refused(d, object{"key": p.key(), "upload_id": "another"}, missing)
	refused(d, object{"key": p.key() + "0", "upload_id": p.target["upload_id"]}, missing)
	refused(d, object{"key": "media/1/2/3", "upload_id": p.target["upload_id"]}, missing)
	folder := strings.TrimSuffix(p.key(), id)
	for _, name := range []string{"", "x", strings.Repeat("漢", 500), "{" + id + "}", strings.Repeat("x", 1024-len(folder))} {
		refused(d, object{"key": folder + name, "upload_id": p.target["upload_id"]}, missing)
	}
	refused(d, object{"key": strings.Replace(p.key(), "media/", "recordings/", 1), "upload_id": p.target["upload_id"]}, missing)
	d.post(400, "abort", object{"key": p.key()})
	d.Do(400, http.MethodGet, d.path("/x"), nil)
	d.post(201, "complete", p.completion())
}

// TestWithoutTheBucketNothingIsWritten: the answer is a 503, soon, and works afterwards.
func TestWithoutTheBucketNothingIsWritten(t *testing.T) {
	d := newDesk(t)
	p := d.sent()
	down := d.Env(t)
	dead := &desk{d.ServeGroup(media.Group, func(env *api.Env) {
		place, err := down.Blobs.Find(t.Context())
		require.NoError(t, err)
		nowhere := "http://127.0.0.1:9"
		place.Config.BaseEndpoint = &nowhere
		env.Blobs = &blob.Store{Find: found{place}.find}
	}), d.session}
	changes := d.WatchChanges("media_item")
	changes.Since()
	began := time.Now()
	dead.post(503, "initiate", object{"filename": "a.mp4", "size_bytes": 1})
	dead.post(503, "complete", p.completion())
	require.Less(t, time.Since(began), 8*time.Second)
	require.Empty(t, changes.Since())
	dead.post(503, "abort", p.target)
	require.Len(t, changes.Since(), 1, "the parts go later")
	d.post(200, "abort", p.target)
	d.end(p, 2*time.Hour)
	require.EqualValues(t, 1, d.maintain(0))
	d.requireGone(p)
}
