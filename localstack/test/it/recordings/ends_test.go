package recordings_test

import (
	"io"
	"math"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/shared/blob"
)

// long is sound whose converted file has two parts.
var long = wave{channels: 1, rate: 16_000, bits: 8, frames: 4_400_000, tones: []tone{speaking}}

// requireLong checks the converted file of long.
func (b *bench) requireLong(id string) {
	b.T.Helper()
	item, file := b.kept(id)
	require.EqualValues(b.T, 275, item["duration_seconds"])
	all := samples(b.T, file)
	const around = 4 << 20 // The end of the first part.
	found, rest := level(all[around-8000:around+8000], speaking.hertz)
	require.InDelta(b.T, speaking.level, found, 0.004)
	require.Less(b.T, rest, 0.01)
}

// TestAConversionGoesOnAfterAnyEnd: the worker ends at every call, and the next goes on.
func TestAConversionGoesOnAfterAnyEnd(t *testing.T) {
	b := newBench(t)
	id, published := b.received(long.file())
	require.Greater(t, b.untilDone(published), 9)
	b.requireLong(id)
	it.EngineOf(t, b.Stack).RequireWhole(t)
}

// TestALongConversionGoesOnWithTheNextMessage, behind those that wait.
func TestALongConversionGoesOnWithTheNextMessage(t *testing.T) {
	b := newBench(t)
	b.turn = -time.Second
	id, published := b.received(long.file())
	require.Zero(t, b.invoke(published))
	require.Len(t, b.posts, 1)
	require.Equal(t, "recording", data(b.complete(200, id))["status"])
	sent, err := b.Bucket(t).Parts(t.Context(), b.parts(id))
	require.NoError(t, err)
	require.Len(t, sent, 1)
	require.Zero(t, b.invoke(b.posts[0].Body))
	require.Len(t, b.posts, 1)
	b.requireLong(id)
}

// TestAnUploadThatTheBucketHasEndedIsBegunAgain, as after seven days.
func TestAnUploadThatTheBucketHasEndedIsBegunAgain(t *testing.T) {
	b := newBench(t)
	b.turn = -time.Second
	id, published := b.received(long.file())
	require.Zero(t, b.invoke(published))
	require.NoError(t, b.Bucket(t).Abort(t.Context(), b.parts(id)))
	b.turn = time.Hour
	require.Zero(t, b.invoke(published))
	b.requireLong(id)
}

// TestNothingIsLeftOfASessionThatIsPurged before any call of the worker.
func TestNothingIsLeftOfASessionThatIsPurged(t *testing.T) {
	b := newBench(t)
	for calls := int64(1); ; calls++ {
		b.desk = &desk{b.Client, b.NewSessions("A talk")[0]}
		id, published := b.received(stereo.file())
		purged := false
		w := b.worker(calls, func() {
			purged = true
			b.Delete(200, b.session)
			require.EqualValues(t, 1, b.Maintain(31).Uploads)
		})
		require.Zero(t, b.failures(w, published), "before the call %d", calls)
		if !purged {
			b.kept(id)
			require.Greater(t, calls, int64(10))
			break
		}
		b.Maintain(31)
		b.requireGone(id)
		require.Empty(t, b.versions(id), "before the call %d", calls)
		require.Zero(t, b.invoke(published))
		require.Empty(t, b.versions(id))
	}
	it.EngineOf(t, b.Stack).RequireWhole(t)
}

// TestADeletedSessionKeepsItsConversion for its restoration.
func TestADeletedSessionKeepsItsConversion(t *testing.T) {
	b := newBench(t)
	id, published := b.received(stereo.file())
	b.Delete(200, b.session)
	b.complete(404, id)
	require.Zero(t, b.invoke(published))
	b.Do(404, http.MethodGet, b.path("/"+id), nil)
	b.Restore(200, b.session)
	b.kept(id)
}

// TestMissingBytesAreAFailure: the original is gone, by a mistake outside of the service.
func TestMissingBytesAreAFailure(t *testing.T) {
	b := newBench(t)
	id, published := b.received(stereo.file())
	require.NoError(t, b.Bucket(t).Delete(t.Context(), b.object(id)))
	require.Zero(t, b.invoke(published))
	b.complete(422, id)
	require.Zero(t, b.invoke(published))
	b.complete(422, id)
	require.EqualValues(t, 1, b.Maintain(2).Uploads)
	b.requireGone(id)
	it.EngineOf(t, b.Stack).RequireWhole(t)
}

// TestAFailureAfterAnyEnd: the worker ends at every call of a conversion that fails.
func TestAFailureAfterAnyEnd(t *testing.T) {
	b := newBench(t)
	file := wave{channels: 1, rate: 48_000, bits: 64, float: true, frames: 1000, tones: []tone{{0, math.Inf(1)}}}.file()
	id, published := b.received(file)
	require.Greater(t, b.untilDone(published), 7)
	require.Contains(t, b.complete(422, id)["message"], "damaged")
	again := data(b.Do(200, http.MethodGet, b.path("/"+id), nil))
	require.Equal(t, []any{"recording", nil, nil}, []any{again["status"], again["duration_seconds"], again["completed_at"]})
	require.EqualValues(t, 1, b.Maintain(2).Uploads)
	b.requireGone(id)
	require.Empty(t, b.versions(id))
}

// TestABucketThatIsDownDelaysAConversion, and ends none.
func TestABucketThatIsDownDelaysAConversion(t *testing.T) {
	b := newBench(t)
	id, published := b.received(stereo.file())
	w := b.worker(1_000_000, nil)
	w.Recordings.Blobs = it.BucketAt(t, b.Env(t), it.Nowhere)
	require.Equal(t, 1, b.failures(w, published))
	require.Equal(t, "recording", data(b.complete(200, id))["status"])
	_, err := b.Bucket(t).Head(t.Context(), b.object(id))
	require.NoError(t, err)
	require.NotErrorIs(t, err, blob.ErrAbsent)
	require.Zero(t, b.invoke(published))
	b.kept(id)
	for _, bad := range []string{`{"detail": {"kind": "recording.received"}}`, `{"detail": {"kind": "recording.received", "org": 1}}`} {
		require.Equal(t, 1, b.invoke([]byte(bad)), bad)
	}
}

// breaking is a bucket whose every second answer with bytes breaks off.
type breaking struct{ answers atomic.Int64 }

// RoundTrip sends a request.
func (b *breaking) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && r.Method == http.MethodGet && r.Header.Get("Range") != "" && b.answers.Add(1)%2 == 0 {
		answer.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(io.LimitReader(answer.Body, 10), iotest.ErrReader(io.ErrUnexpectedEOF)), answer.Body}
	}
	return answer, err
}

// TestAReadThatBreaksOffIsMadeAgain at once: a message that fails would wait for 90 minutes.
func TestAReadThatBreaksOffIsMadeAgain(t *testing.T) {
	b := newBench(t)
	id, published := b.received(long.file())
	process, env := it.StartProcess(t, b.Stack, b, 1_000_000)
	bucket := &breaking{}
	process.Bucket = bucket
	require.Zero(t, b.failures(b.workerOf(process, env), published))
	require.Greater(t, bucket.answers.Load(), int64(6))
	b.requireLong(id)
}
