package recordings_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/functions/recordings"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
)

// TestARecordingIsSentAndCompleted, read and listed.
func TestARecordingIsSentAndCompleted(t *testing.T) {
	stacktest.Everywhere(t)
	d := newDesk(t)
	file := speech.file()
	body := object{"filename": "Hall A.wav", "size_bytes": len(file), "content_type": "audio/x-wav"}
	made := data(d.Do(201, http.MethodPost, d.path(""), body, "Idempotency-Key", "one"))
	require.Equal(t, "recording", made["status"])
	require.Equal(t, map[string]any{"Content-Type": "audio/x-wav", "If-None-Match": "*"}, made.At("upload.headers"))
	again := data(d.Do(201, http.MethodPost, d.path(""), body, "Idempotency-Key", "one"))
	require.Equal(t, made["id"], again["id"], "sent twice, created once")
	signed := again.At("upload").(object)
	id := made.ID()
	waiting := d.Do(200, http.MethodGet, d.path("/"+id), nil)
	require.Nil(t, waiting.At("data.upload"))
	require.Nil(t, waiting.At("data.completed_at"))
	d.complete(400, id)
	to := stacktest.Signed{URL: signed["url"].(string), Method: "PUT", Headers: map[string]string{"Content-Type": "audio/x-wav", "If-None-Match": "*"}}
	require.Equal(t, 200, stacktest.SendBytes(t, to, file).Status)

	item := data(d.complete(200, id, object{"duration_seconds": 7, "file_size_bytes": len(file)}))
	require.Equal(t, entity{
		"id": id, "type": "recording", "session_id": d.session, "s3_bucket": "lectern", "s3_key": d.object(id), "encoding": "linear16",
		"sample_rate": 16000.0, "channels": 1.0, "status": "completed", "duration_seconds": 0.5, "file_size_bytes": float64(len(file)),
		"started_at": made["created_at"], "created_at": made["created_at"], "completed_at": item["completed_at"], "updated_at": item["updated_at"],
	}, item)
	require.Equal(t, item, data(d.complete(200, id)), "a second call changes nothing")
	require.Equal(t, item, data(d.Do(200, http.MethodGet, d.path("/"+id), nil)))
	done := data(d.Do(201, http.MethodPost, d.path(""), body, "Idempotency-Key", "one"))
	require.Equal(t, []any{"completed", nil}, []any{done["status"], done["upload"]})

	open, _ := d.create(1)
	list := d.Do(200, http.MethodGet, d.path("?pageSize=1&page=2"), nil)
	require.Equal(t, open, list.At("data").([]any)[0].(object)["id"])
	require.Equal(t, object{"current_page": 2.0, "page_size": 1.0, "total_pages": 2.0, "total_results": 2.0}, list["pagination"])
}

// TestAnEndedRecordingIsRemoved by the service's own maintenance, with the bytes.
func TestAnEndedRecordingIsRemoved(t *testing.T) {
	stacktest.Everywhere(t)
	d := newDesk(t)
	open := d.sent(speech.file())
	d.end(open, 2*time.Hour)
	d.Do(404, http.MethodGet, d.path("/"+open), nil)
	d.complete(404, open)
	require.EqualValues(t, 0, d.Do(200, http.MethodGet, d.path(""), nil).At("pagination.total_results"))
	require.EqualValues(t, 1, entity(d.Operator(t, "maintain", object{"cursor": object{}})).At("purged.uploads"))
	d.requireGone(open)
}

// TestSimultaneousCompletionsAreOne change.
func TestSimultaneousCompletionsAreOne(t *testing.T) {
	d := newDesk(t)
	changes := d.WatchChanges("recording")
	id := d.sent(speech.file())
	var all sync.WaitGroup
	answers := make([]stacktest.Answer, 8)
	for i := range answers {
		all.Go(func() {
			answers[i] = d.TrySend(t, http.MethodPost, d.EventPath(d.path("/"+id+"/complete")), object{})
		})
	}
	all.Wait()
	for _, a := range answers {
		require.Equal(t, 200, a.Status, "%s", a.Body)
		require.JSONEq(t, string(answers[0].Body), string(a.Body))
	}
	actions := []string{}
	for _, c := range changes.Since() {
		actions = append(actions, c.Action)
	}
	require.Equal(t, []string{"recording.created", "recording.completed"}, actions)
	it.EngineOf(t, d.Stack).RequireWhole(t)
}

// TestBytesThatNeverComeLeaveNothing, with an hour for a request that is on its way.
func TestBytesThatNeverComeLeaveNothing(t *testing.T) {
	d := newDesk(t)
	kept, unfinished := d.sent(speech.file()), d.sent(speech.file())
	d.complete(200, kept)
	unsent, _ := d.create(1)
	d.end(unsent, time.Minute)
	d.Do(404, http.MethodGet, d.path("/"+unsent), nil)
	require.Zero(t, d.Maintain(0).Uploads, "a request may be on its way")
	require.EqualValues(t, 2, d.Maintain(2).Uploads)
	d.requireGone(unsent)
	d.requireGone(unfinished)
	first, err := d.Bucket(t).First(t.Context(), d.object(kept), 4)
	require.NoError(t, err)
	require.Equal(t, "RIFF", string(first))
	it.EngineOf(t, d.Stack).RequireWhole(t)
}

// TestRecordingsGoWithTheirSession: a deleted session hides its recordings, a restored one shows them,
// and the purge removes them.
func TestRecordingsGoWithTheirSession(t *testing.T) {
	d := newDesk(t)
	id, open := d.sent(speech.file()), d.sent(speech.file())
	d.complete(200, id)
	d.Delete(200, d.session)
	d.Do(404, http.MethodGet, d.path("/"+id), nil)
	d.Do(404, http.MethodGet, d.path(""), nil)
	d.Do(404, http.MethodPost, d.path(""), object{"filename": "a.wav", "size_bytes": 1})
	d.complete(404, open)
	require.EqualValues(t, 1, d.Maintain(29).Uploads, "the recording that was not completed has ended")
	d.Restore(200, d.session)
	d.Do(200, http.MethodGet, d.path("/"+id), nil)
	d.Delete(200, d.session)
	require.EqualValues(t, 1, d.Maintain(31).Uploads)
	d.requireGone(id)
	it.EngineOf(t, d.Stack).RequireWhole(t)
}

// TestALostRowLosesNoRecording: a session without its row still has a body.
func TestALostRowLosesNoRecording(t *testing.T) {
	d := newDesk(t)
	id := d.sent(speech.file())
	d.complete(200, id)
	it.LoseRow(t, d.Stack, d.session)
	require.Zero(t, d.Maintain(2).Uploads)
	d.Do(200, http.MethodGet, d.path("/"+id), nil)
}

// TestWithoutTheBucketNothingIsWritten: the answer is a 503, soon, and works afterwards.
func TestWithoutTheBucketNothingIsWritten(t *testing.T) {
	d := newDesk(t)
	id := d.sent(speech.file())
	down := it.BucketAt(t, d.Env(t), it.Nowhere)
	dead := &desk{d.ServeGroup(recordings.Group, func(env *api.Env) { env.Blobs = down }), d.session}
	changes := d.WatchChanges("recording")
	changes.Since()
	began := time.Now()
	dead.complete(503, id)
	require.Less(t, time.Since(began), 8*time.Second)
	require.Empty(t, changes.Since())
	d.complete(200, id)
}
