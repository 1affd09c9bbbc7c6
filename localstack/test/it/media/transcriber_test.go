package media_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/events/transcriber"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// transcribed is the longest wait for a transcription, also where a message comes again on a busy machine.
const transcribed = 3 * time.Minute

// complete sends a film and completes its upload, and returns the media item.
func (d *desk) complete() entity {
	d.T.Helper()
	return data(d.post(201, "complete", d.sent().completion()))
}

// status returns the state of the transcription of a media item.
func (d *desk) status(id string) any {
	d.T.Helper()
	return data(d.Do(200, http.MethodGet, d.path("/"+id), nil))["transcript_status"]
}

// fragments returns the first transcriptions of the session, and their number.
func (d *desk) fragments() (all []entity, total float64) {
	d.T.Helper()
	page := d.Do(200, http.MethodGet, "/sessions/"+d.session+"/transcriptions?page_size=100", nil)
	for _, one := range page["data"].([]any) {
		all = append(all, one.(object))
	}
	return all, page.At("pagination.total_results").(float64)
}

// TestAFilmIsTranscribed by the stand-in, which says that it is one: queued with the completion, ready with
// all fragments.
func TestAFilmIsTranscribed(t *testing.T) {
	stacktest.Everywhere(t)
	d := newDesk(t, stacktest.Transcribing())
	d.NeedsStandIn(t)
	item := d.complete()
	require.Equal(t, "queued", item["transcript_status"])
	require.Eventually(t, func() bool { return d.status(item.ID()) == "ready" }, transcribed, 50*time.Millisecond)
	all, total := d.fragments()
	require.EqualValues(t, 3, total)
	require.Equal(t, []any{"This is a stand-in for a transcription.", "It has heard nothing.", "Every film has the same text here."},
		it.Column(all, "transcription"))
	require.Equal(t, []any{"spk_0", "spk_0", "spk_1"}, it.Column(all, "speaker"))
	require.Equal(t, entity{
		"id": all[1].ID(), "type": "fragment", "session_id": d.session, "transcription": "It has heard nothing.", "speaker": "spk_0",
		"is_partial": false, "provider": "stand-in", "language_code": "en-US", "start_time": 3.5, "end_time": 5.4,
		"source_transcription_id": nil, "created_at": all[1]["created_at"], "updated_at": all[1]["created_at"],
	}, all[1])
	again := data(d.Do(200, http.MethodGet, d.path("/"+item.ID()), nil))
	require.Equal(t, "ready", again["transcript_status"])

	other := d.of(d.NewSessions("Another talk")[0])
	first, second := other.complete(), other.complete()
	require.Eventually(t, func() bool {
		return other.status(first.ID()) == "ready" && other.status(second.ID()) == "ready"
	}, transcribed, 50*time.Millisecond)
	_, total = other.fragments()
	require.EqualValues(t, 6, total, "of both films")
}

// TestATranscriptionHasItsChanges: those of the item, one of each fragment, and one published kind.
func TestATranscriptionHasItsChanges(t *testing.T) {
	b := newBench(t)
	items, texts := b.WatchChanges("media_item"), b.WatchChanges("transcription")
	id, published := b.ordered()
	require.Zero(t, b.invoke(published))
	b.ends()
	require.Zero(t, b.invoke(b.posts[0].Body))
	require.Equal(t, "ready", b.status(id))
	actions := []string{}
	for _, c := range items.Since() {
		actions = append(actions, c.Action)
		if c.Action == "media_item.completed" {
			require.Equal(t, "media_item.completed", c.Kinds[0].Name)
			require.EqualValues(t, 1, c.Kinds[0].Sequence)
		} else {
			require.Empty(t, c.Kinds)
		}
	}
	require.Equal(t, []string{"media_item.created", "media_item.completed", "media_item.transcribing", "media_item.transcribed"}, actions)
	made := texts.Since()
	require.Len(t, made, 3)
	for _, c := range made {
		require.Equal(t, []any{"transcription.created", "session " + b.session, "service"}, []any{c.Action, c.Parent, c.Source})
		require.Empty(t, c.Kinds, "no webhook tells of a transcription")
	}
	it.EngineOf(t, b.Stack).RequireWhole(t)
}

// TestTranscriptionsGoOnAfterAnyEnd: the worker ends at every call, and the next goes on.
// Afterwards each fragment is there once, and messages that come again change nothing.
func TestTranscriptionsGoOnAfterAnyEnd(t *testing.T) {
	b := newBench(t)
	b.jobs.Output, b.jobs.Moment = longOutput(t, 130), time.Hour
	id, published := b.ordered()
	require.Greater(t, b.do(published), 5)
	require.Equal(t, "processing", b.status(id))
	require.Equal(t, 1, b.jobs.Jobs())
	b.restart() // The job that starts again ends at once.
	require.Zero(t, b.invoke(b.posts[0].Body))
	b.ends()
	require.Greater(t, b.do(b.event(id)), 8)
	require.Equal(t, "ready", b.status(id))
	b.requireFragments(130)
	b.requireNoOutput(id)
	before := it.EngineOf(t, b.Stack).Dump(t)
	for _, body := range [][]byte{published, b.posts[0].Body, b.event(id), published} {
		require.Zero(t, b.invoke(body))
	}
	require.Equal(t, before, it.EngineOf(t, b.Stack).Dump(t))
	require.Equal(t, 1, b.jobs.Jobs())
	it.EngineOf(t, b.Stack).RequireWhole(t)
}

// TestMessagesInAnyOrder: the end of a job before the change, every message twice, and workers at once.
func TestMessagesInAnyOrder(t *testing.T) {
	b := newBench(t)
	b.jobs.Output = longOutput(t, 90)
	id, published := b.ordered()
	require.Zero(t, b.invoke(b.event(id)), "there is no such job yet")
	require.Equal(t, "queued", b.status(id))
	require.Zero(t, b.invoke(published, published))
	b.ends()
	require.Equal(t, 1, b.jobs.Jobs())
	require.Zero(t, b.invoke(b.event(id), published, b.event(id), b.posts[0].Body, published))
	require.Zero(t, b.invoke(b.posts[0].Body), "one of them may have met the others")
	require.Equal(t, "ready", b.status(id))
	b.requireFragments(90)
	b.requireNoOutput(id)
}

// TestALostEndIsFoundByTheCheck, which comes again and again while the job runs, and starts a job that the
// transcriber has forgotten.
func TestALostEndIsFoundByTheCheck(t *testing.T) {
	b := newBench(t)
	b.jobs.Moment = time.Hour
	id, published := b.ordered()
	require.Zero(t, b.invoke(published))
	require.Len(t, b.posts, 1)
	require.Equal(t, transcriber.Later, b.posts[0].Delay)
	require.Zero(t, b.invoke(b.posts[0].Body))
	require.Len(t, b.posts, 2)
	require.Equal(t, "processing", b.status(id))
	b.restart()
	require.Zero(t, b.invoke(b.posts[1].Body))
	require.Equal(t, 1, b.jobs.Jobs(), "the job is started again")
	b.ends()
	require.Zero(t, b.invoke(b.posts[2].Body))
	require.Equal(t, "ready", b.status(id))
	b.requireFragments(3)
}

// TestAFailedTranscriptionSaysSo: a job that fails, a format that is not taken, an output that cannot be
// read, too many fragments. No fragment is stored.
func TestAFailedTranscriptionSaysSo(t *testing.T) {
	for name, spoil := range map[string]func(*bench){
		"the job":             func(b *bench) { b.jobs.Fails = "The media has no sound." },
		"the output":          func(b *bench) { b.jobs.Output = []byte(`{"results": {"items": [{"start_time": "x"`) },
		"the times":           func(b *bench) { b.jobs.Output = []byte(badTimes) },
		"too many fragments":  func(b *bench) { b.most = 2 },
		"a text that is long": func(b *bench) { b.jobs.Output = longWord(b.T) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			spoil(b)
			id, published := b.ordered()
			require.Zero(t, b.invoke(published))
			b.ends()
			require.Zero(t, b.invoke(b.event(id)))
			require.Equal(t, "failed", b.status(id))
			require.Contains(t, b.log.String(), `"metric":"transcription_failed"`)
			b.requireFragments(0)
			before := it.EngineOf(t, b.Stack).Dump(t)
			require.Zero(t, b.invoke(published, b.event(id)))
			require.Equal(t, before, it.EngineOf(t, b.Stack).Dump(t), "failed is for good")
			if kept := strings.HasPrefix(name, "the output") || strings.HasPrefix(name, "the times"); !kept {
				b.requireNoOutput(id)
			}
		})
	}
	b := newBench(t)
	p := data(b.films.post(201, "initiate", object{"filename": "talk.avi", "size_bytes": size}))
	given := &pending{target: object{"key": p["key"], "upload_id": p["upload_id"]}}
	b.films.send(given, 1, first)
	b.films.send(given, 2, last)
	item := data(b.films.post(201, "complete", given.completion(object{"filename": "talk.avi"})))
	require.Zero(t, b.invoke(b.published(item.ID())))
	require.Equal(t, "failed", b.status(item.ID()))
	require.Zero(t, b.jobs.Jobs())
}

// TestAnImportThatBeganEnds: its room is reserved, also against another import, and it ends in a deleted
// session.
func TestAnImportThatBeganEnds(t *testing.T) {
	b := newBench(t)
	b.jobs.Output, b.most = longOutput(t, 50), 95
	first, published := b.ordered()
	require.Zero(t, b.invoke(published))
	b.ends()
	total := 0.0
	for calls := int64(1); total == 0; calls++ {
		w, _ := b.worker(calls)
		require.Equal(t, 1, b.failures(w, b.event(first)))
		_, total = b.fragments()
	}
	require.EqualValues(t, 40, total)
	second, published := b.ordered()
	require.Zero(t, b.invoke(published))
	b.ends()
	require.Zero(t, b.invoke(b.event(second)))
	require.Equal(t, "failed", b.status(second), "40 fragments, 10 to come, and 50 are more than 95")
	b.requireFragments(40)
	it.EngineOf(t, b.Stack).RequireWhole(t)
	b.Do(200, http.MethodDelete, "/sessions/"+b.session, nil)
	require.Zero(t, b.invoke(b.event(first)))
	b.Do(200, http.MethodPost, "/sessions/"+b.session+"/restore", nil)
	require.Equal(t, "ready", b.status(first))
	b.requireFragments(50)
	b.requireNoOutput(first)
	it.EngineOf(t, b.Stack).RequireWhole(t)
}

// TestAnOutputThatIsRefusedIsReadLater: the bucket answers 403, as without a permission.
func TestAnOutputThatIsRefusedIsReadLater(t *testing.T) {
	b := newBench(t)
	id, published := b.ordered()
	require.Zero(t, b.invoke(published))
	b.ends()
	w, end := b.worker(1_000_000)
	end.Bucket = refusing{end.Bucket}
	require.Equal(t, 1, b.failures(w, b.event(id)))
	require.Equal(t, "processing", b.status(id))
	require.Zero(t, b.invoke(b.event(id)))
	require.Equal(t, "ready", b.status(id))
}

// refusing answers each read of an object with 403.
type refusing struct{ http.RoundTripper }

func (r refusing) RoundTrip(in *http.Request) (*http.Response, error) {
	answer, err := r.RoundTripper.RoundTrip(in)
	if err == nil && in.Method == http.MethodGet && strings.Contains(in.URL.Path, "/transcripts/") {
		answer.StatusCode = http.StatusForbidden
	}
	return answer, err
}

// TestNothingIsCreatedForWhatIsGone: a session that is purged while its job runs. A deleted session gets the
// fragments, and shows them when it is restored.
func TestNothingIsCreatedForWhatIsGone(t *testing.T) {
	b := newBench(t)
	id, published := b.ordered()
	require.Zero(t, b.invoke(published))
	b.ends()
	b.Do(200, http.MethodDelete, "/sessions/"+b.session, nil)
	require.Zero(t, b.invoke(b.event(id)))
	b.requireNoOutput(id)
	b.Do(200, http.MethodPost, "/sessions/"+b.session+"/restore", nil)
	require.Equal(t, "ready", b.status(id))
	b.requireFragments(3)

	gone, published := b.ordered()
	require.Zero(t, b.invoke(published))
	b.ends()
	b.Do(200, http.MethodDelete, "/sessions/"+b.session, nil)
	b.Maintain(40)
	before := it.EngineOf(t, b.Stack).Dump(t)
	require.Zero(t, b.invoke(b.event(gone), b.posts[len(b.posts)-1].Body, published))
	require.Equal(t, before, it.EngineOf(t, b.Stack).Dump(t))
	b.requireNoOutput(gone)
	it.EngineOf(t, b.Stack).RequireWhole(t)
}

// TestJobsOfOthersAreLeftOut, and messages without sense fail.
func TestJobsOfOthersAreLeftOut(t *testing.T) {
	b := newBench(t)
	id, _ := b.ordered()
	require.Zero(t, b.invoke([]byte(`{"source": "aws.transcribe", "detail": {"TranscriptionJobName": "`+id+`"}}`)))
	b.startJob("lectern-us-"+id, "media/1/2/3/"+id)
	require.Zero(t, b.invoke(b.event(id)), "the media is of no organization")
	require.Equal(t, "queued", b.status(id))
	for _, bad := range []string{`{`, `{}`, `{"source": "aws.transcribe", "detail": []}`, `{"detail": {"org": 1}}`} {
		require.Equal(t, 1, b.invoke([]byte(bad)), bad)
	}
}
