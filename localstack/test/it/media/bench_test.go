package media_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/events/transcriber"
	group "lectern/functions/media"
	"lectern/localstack/local/objects"
	"lectern/localstack/local/transcribe"
	"lectern/localstack/test/it"
	"lectern/shared/api"
	"lectern/shared/blob"
	"lectern/shared/bus"
	"lectern/shared/media"
	"lectern/shared/speech"
	"lectern/shared/speech/amazon"
	"lectern/shared/transcript"
)

// ending is a process that also ends at a call of the transcriber.
type ending struct {
	*it.Process
	jobs speech.Transcriber
}

func (e ending) Start(ctx context.Context, j speech.Job) error {
	c, err := e.Begin()
	if err != nil {
		return err
	}
	return c.Answer(e.jobs.Start(ctx, j))
}

func (e ending) Find(ctx context.Context, name string) (*speech.Found, error) {
	c, err := e.Begin()
	if err != nil {
		return nil, err
	}
	found, err := e.jobs.Find(ctx, name)
	return found, c.Answer(err)
}

// bench has a session whose films are transcribed by workers of the test, with a stand-in of its own. No
// message is sent: the test has them.
type bench struct {
	*desk
	// films is a client of media with a transcriber.
	films  *desk
	jobs   *transcribe.StandIn
	server *httptest.Server
	bucket objects.Bucket
	log    *bytes.Buffer
	// most lowers the number of transcriptions of a session.
	most int64
	mu   sync.Mutex
	// posts are the checks that the worker has sent.
	posts []bus.Post
}

func newBench(t *testing.T) *bench {
	t.Helper()
	d := newDesk(t)
	env := d.Env(t)
	place, err := env.Blobs.Find(t.Context())
	require.NoError(t, err)
	pair, err := place.Config.Credentials.Retrieve(t.Context())
	require.NoError(t, err)
	b := &bench{desk: d, log: new(bytes.Buffer), bucket: objects.Bucket{
		Name: place.Bucket, URL: *place.Config.BaseEndpoint, AWSRegion: place.Config.Region, AccessKey: pair.AccessKeyID, SecretKey: pair.SecretAccessKey,
	}}
	b.films = &desk{d.ServeGroup(group.Group, func(env *api.Env) { env.Transcriber = speech.StandIn }), d.session}
	b.jobs = transcribe.Start(transcribe.Config{Bucket: b.bucket, Log: api.NewLog(t.Output())})
	b.server = httptest.NewServer(b.jobs)
	t.Cleanup(func() { b.server.Close(); b.jobs.Stop() })
	return b
}

// restart makes the stand-in forget its jobs.
func (b *bench) restart() {
	b.T.Helper()
	b.jobs.Stop()
	fresh := b.jobs.Config
	fresh.Moment = 0
	b.jobs = transcribe.Start(fresh)
	b.server.Config.Handler = b.jobs
}

// Send keeps checks (bus.Queue).
func (b *bench) Send(_ context.Context, posts ...bus.Post) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.posts = append(b.posts, posts...)
	return nil
}

// transcriber returns the client of the stand-in.
func (b *bench) transcriber() speech.Transcriber {
	return amazon.New(aws.Config{
		Region: "us-east-1", BaseEndpoint: &b.server.URL, Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
}

// worker returns a worker whose process ends at a call.
func (b *bench) worker(calls int64) (*transcriber.Worker, *it.Process) {
	b.T.Helper()
	process, env := it.StartProcess(b.T, b.Stack, b, calls)
	env.Log, env.Transcriber = api.NewLog(b.log), speech.StandIn
	return &transcriber.Worker{Config: transcriber.Config{
		Table: env.Table, Log: env.Log, Media: media.NewStore(env), Texts: &transcript.Store{Table: env.Table, Now: env.Now, Most: b.most},
		Provider: speech.StandIn, Jobs: ending{process, b.transcriber()}, Prefix: transcriber.Prefix("us"), Queue: process, Later: transcriber.Later,
	}}, process
}

// invoke invokes a worker that does not end with messages, and returns the number that failed.
func (b *bench) invoke(bodies ...[]byte) int {
	b.T.Helper()
	w, _ := b.worker(1_000_000)
	return b.failures(w, bodies...)
}

// failures invokes a worker with messages, and returns the number that failed.
func (b *bench) failures(w *transcriber.Worker, bodies ...[]byte) int {
	b.T.Helper()
	var event events.SQSEvent
	for i, body := range bodies {
		event.Records = append(event.Records, events.SQSMessage{MessageId: fmt.Sprint(i), Body: string(body)})
	}
	answer, err := w.Invoke(b.T.Context(), event)
	require.NoError(b.T, err)
	return len(answer.BatchItemFailures)
}

// do invokes workers with a message until one does not end, and returns the number that ended.
func (b *bench) do(body []byte) int {
	b.T.Helper()
	return it.UntilDone(func(calls int64) int { w, _ := b.worker(calls); return b.failures(w, body) })
}

// ordered completes a film, and returns the media item and the message of its change.
func (b *bench) ordered() (id string, published []byte) {
	b.T.Helper()
	id = b.films.complete().ID()
	return id, b.published(id)
}

// published returns the message of the completion of a media item.
func (b *bench) published(id string) []byte {
	b.T.Helper()
	return it.Published(b.T, b.Stack, media.KindCompleted, id)
}

// event returns the event of the end of a job.
func (b *bench) event(id string) []byte {
	return fmt.Appendf(nil, `{"source": "aws.transcribe", "detail": {"TranscriptionJobName": "lectern-us-%s", "TranscriptionJobStatus": "COMPLETED"}}`, id)
}

// ends waits until every job of the stand-in has ended.
func (b *bench) ends() {
	b.T.Helper()
	require.Eventually(b.T, func() bool { return b.jobs.Running() == 0 }, transcribed, time.Millisecond)
}

// startJob starts a job of another application.
func (b *bench) startJob(name, key string) {
	b.T.Helper()
	require.NoError(b.T, b.transcriber().Start(b.T.Context(), speech.Job{
		Name: name, Media: "s3://" + b.bucket.Name + "/" + key, Bucket: b.bucket.Name, Output: "other/" + uuid.NewString(),
	}))
	b.ends()
}

// requireFragments checks that the session has so many fragments, each once and in its place.
func (b *bench) requireFragments(n int) {
	b.T.Helper()
	seen := 0
	for page := 1; ; page++ {
		got := b.Do(200, "GET", fmt.Sprintf("/sessions/%s/transcriptions?page_size=100&page=%d", b.session, page), nil)
		require.EqualValues(b.T, n, got.At("pagination.total_results"))
		for _, one := range got["data"].([]any) {
			if n > 3 {
				require.Equal(b.T, fmt.Sprintf("Word %d.", seen), one.(object)["transcription"])
			}
			seen++
		}
		if page >= int(got.At("pagination.total_pages").(float64)) {
			break
		}
	}
	require.Equal(b.T, n, seen)
}

// requireNoOutput checks that the bucket has no output of a media item.
func (b *bench) requireNoOutput(id string) {
	b.T.Helper()
	_, err := b.bucket.Store().Head(b.T.Context(), fmt.Sprintf("transcripts/%d/%d/%s/%s.json", b.Org, b.Event, b.session, id))
	require.ErrorIs(b.T, err, blob.ErrAbsent)
}

// badTimes is an output with a word without times.
const badTimes = `{"results": {"items": [{"start_time": "1", "end_time": "0", "alternatives": [{"content": "x"}]}]}}`

// word is a word of an output.
func word(text string, start float64) string {
	return fmt.Sprintf(`{"start_time": "%.1f", "end_time": "%.1f", "speaker_label": "spk_0", "alternatives": [{"content": %q}]}`, start, start+0.5, text)
}

// longOutput is an output with so many sentences.
func longOutput(t *testing.T, n int) []byte {
	t.Helper()
	var items []string
	for i := range n {
		items = append(items, word(fmt.Sprintf("Word %d", i), float64(i)), `{"alternatives": [{"content": "."}]}`)
	}
	return []byte(`{"results": {"language_code": "en-US", "items": [` + strings.Join(items, ",") + `]}}`)
}

// longWord is an output with a word that no transcription may have.
func longWord(t *testing.T) []byte {
	t.Helper()
	return []byte(`{"results": {"items": [` + word(strings.Repeat("x", 70<<10), 1) + `]}}`)
}
