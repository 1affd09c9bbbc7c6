package media_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
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
	"lectern/shared/table"
	"lectern/shared/transcript"
)

// errEnded is the error of each call after the end of a process.
var errEnded = errors.New("the process has ended")

// ending counts the calls of a process that ends at a call: of the table, the bucket, the queue and the
// transcriber. The last call is done without an answer.
type ending struct {
	table.Client
	left atomic.Int64
	// jobs, queue and bucket do the calls.
	jobs   speech.Transcriber
	queue  bus.Queue
	bucket http.RoundTripper
}

// call does a call unless the process has ended before.
func (e *ending) call(do func() error) error {
	left := e.left.Add(-1)
	if left < -1 {
		return errEnded
	}
	err := do()
	if left < 0 {
		return errEnded
	}
	return err
}

func (e *ending) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, o ...func(*dynamodb.Options)) (out *dynamodb.BatchGetItemOutput, err error) {
	return out, e.call(func() error { out, err = e.Client.BatchGetItem(ctx, in, o...); return err })
}

func (e *ending) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (out *dynamodb.GetItemOutput, err error) {
	return out, e.call(func() error { out, err = e.Client.GetItem(ctx, in, o...); return err })
}

func (e *ending) TransactWriteItems(
	ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options),
) (out *dynamodb.TransactWriteItemsOutput, err error) {
	return out, e.call(func() error { out, err = e.Client.TransactWriteItems(ctx, in, o...); return err })
}

func (e *ending) Start(ctx context.Context, j speech.Job) error {
	return e.call(func() error { return e.jobs.Start(ctx, j) })
}

func (e *ending) Find(ctx context.Context, name string) (found *speech.Found, err error) {
	return found, e.call(func() error { found, err = e.jobs.Find(ctx, name); return err })
}

func (e *ending) Send(ctx context.Context, posts ...bus.Post) error {
	return e.call(func() error { return e.queue.Send(ctx, posts...) })
}

// Do calls the bucket.
func (e *ending) Do(r *http.Request) (answer *http.Response, err error) {
	err = e.call(func() error { answer, err = e.bucket.RoundTrip(r); return err }) //nolint:bodyclose // the caller closes an answer
	if err != nil && answer != nil {
		err = errors.Join(err, answer.Body.Close())
		answer = nil
	}
	return answer, err
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
func (b *bench) worker(calls int64) (*transcriber.Worker, *ending) {
	b.T.Helper()
	url, name := b.Engine(b.T)
	client, err := table.Open(b.T.Context(), table.Config{Endpoint: url})
	require.NoError(b.T, err)
	end := &ending{Client: client, jobs: b.transcriber(), queue: b, bucket: http.DefaultTransport}
	end.left.Store(calls)
	env := b.Env(b.T)
	place, err := env.Blobs.Find(b.T.Context())
	require.NoError(b.T, err)
	place.Config.HTTPClient = end
	env.Blobs = &blob.Store{Find: func(context.Context) (blob.Place, error) { return place, nil }}
	env.Table, env.Log, env.Transcriber = table.New(end, name), api.NewLog(b.log), speech.StandIn
	return &transcriber.Worker{Config: transcriber.Config{
		Table: env.Table, Log: env.Log, Media: media.NewStore(env), Texts: &transcript.Store{Table: env.Table, Now: env.Now, Most: b.most},
		Provider: speech.StandIn, Jobs: end, Prefix: transcriber.Prefix("us"), Queue: end, Later: transcriber.Later,
	}}, end
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

// do invokes workers with a message, each of which ends one call later than the one before, until one is
// done. It returns the number of workers that ended.
func (b *bench) do(body []byte) (ended int) {
	b.T.Helper()
	for calls := int64(1); ; calls++ {
		w, _ := b.worker(calls)
		if b.failures(w, body) == 0 {
			return ended
		}
		ended++
	}
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
	for _, c := range it.ChangesOf(b.T, b.Stack) {
		for _, m := range bus.Messages(c) {
			if m.RecordID == id && m.Kind == media.KindCompleted {
				body, err := json.Marshal(map[string]any{"source": bus.Source, "detail": m})
				require.NoError(b.T, err)
				return body
			}
		}
	}
	require.Fail(b.T, "the completion is not published")
	return nil
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
