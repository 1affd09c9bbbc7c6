package recordings_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"lectern/events/converter"
	"lectern/localstack/test/it"
	"lectern/shared/api"
	"lectern/shared/blob"
	"lectern/shared/bus"
	"lectern/shared/change"
	"lectern/shared/recording"
	"lectern/shared/table"
	"lectern/shared/upload"
)

// errEnded is the error of each call after the end of a process.
var errEnded = errors.New("the process has ended")

// ending counts the calls of a process: of the table, the bucket and the queue. A process with an end is done with
// its last call, and gets no answer to the call. A process with a hook does it before its last call, and goes on.
type ending struct {
	table.Client
	left   atomic.Int64
	hook   func()
	queue  bus.Queue
	bucket http.RoundTripper
}

// call does a call unless the process has ended before.
func (e *ending) call(do func() error) error {
	left := e.left.Add(-1)
	if e.hook != nil {
		if left == 0 {
			e.hook()
		}
		return do()
	}
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

// bench has a session whose recordings are converted by workers of the test. No message is sent: the test has them.
type bench struct {
	*desk
	// turn is that of the workers.
	turn time.Duration
	mu   sync.Mutex
	// posts are the messages that the workers have sent.
	posts []bus.Post
}

func newBench(t *testing.T) *bench {
	t.Helper()
	return &bench{desk: newDesk(t), turn: time.Hour}
}

// Send keeps messages (bus.Queue).
func (b *bench) Send(_ context.Context, posts ...bus.Post) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.posts = append(b.posts, posts...)
	return nil
}

// worker returns a worker that has so many calls before its end or its hook.
func (b *bench) worker(calls int64, hook func()) (*converter.Worker, *ending) {
	b.T.Helper()
	url, name := b.Engine(b.T)
	client, err := table.Open(b.T.Context(), table.Config{Endpoint: url})
	require.NoError(b.T, err)
	end := &ending{Client: client, hook: hook, queue: b, bucket: http.DefaultTransport}
	end.left.Store(calls)
	env := b.Env(b.T)
	place, err := env.Blobs.Find(b.T.Context())
	require.NoError(b.T, err)
	place.Config.HTTPClient = end
	env.Blobs = &blob.Store{Find: func(context.Context) (blob.Place, error) { return place, nil }}
	env.Table, env.Log = table.New(end, name), api.NewLog(b.T.Output())
	return &converter.Worker{Config: converter.Config{
		Table: env.Table, Log: env.Log, Now: time.Now, Recordings: recording.Store{Store: upload.NewStore(env)}, Work: end, Turn: b.turn,
	}}, end
}

// failures invokes a worker with messages, and returns the number that failed.
func (b *bench) failures(w *converter.Worker, bodies ...[]byte) int {
	b.T.Helper()
	var event events.SQSEvent
	for i, body := range bodies {
		event.Records = append(event.Records, events.SQSMessage{MessageId: fmt.Sprint(i), Body: string(body)})
	}
	answer, err := w.Before(func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
		return events.SQSEventResponse{}, errors.New("no message is for another worker")
	})(b.T.Context(), event)
	require.NoError(b.T, err)
	return len(answer.BatchItemFailures)
}

// invoke invokes a worker that does not end with messages, and returns the number that failed.
func (b *bench) invoke(bodies ...[]byte) int {
	b.T.Helper()
	w, _ := b.worker(1_000_000, nil)
	return b.failures(w, bodies...)
}

// received sends a file and completes the recording, and returns the recording and the message of its change.
func (b *bench) received(file []byte) (id string, published []byte) {
	b.T.Helper()
	id = b.sent(file)
	waiting := data(b.complete(200, id))
	require.Equal(b.T, []any{"recording", nil, nil}, []any{waiting["status"], waiting["duration_seconds"], waiting["completed_at"]})
	return id, b.published(id)
}

// published returns the message of a received recording.
func (b *bench) published(id string) []byte {
	b.T.Helper()
	for _, c := range it.ChangesOf(b.T, b.Stack) {
		if body := b.order(c, id); body != nil {
			return body
		}
	}
	require.Fail(b.T, "the recording is not published")
	return nil
}

// order returns the message by which a change orders the conversion of a recording; nil for another change.
func (b *bench) order(c change.Record, id string) []byte {
	b.T.Helper()
	for _, m := range bus.Messages(c) {
		if m.RecordID == id && m.Kind == recording.KindReceived {
			body, err := json.Marshal(map[string]any{"source": bus.Source, "detail": m})
			require.NoError(b.T, err)
			return body
		}
	}
	return nil
}

// converted converts a file and returns the item and the bytes.
func (b *bench) converted(file []byte) (entity, []byte) {
	b.T.Helper()
	id, published := b.received(file)
	require.Zero(b.T, b.invoke(published))
	return b.kept(id)
}

// kept returns a completed recording with its bytes, which have one version.
func (b *bench) kept(id string) (entity, []byte) {
	b.T.Helper()
	item := data(b.Do(200, http.MethodGet, b.path("/"+id), nil))
	require.Equal(b.T, "completed", item["status"])
	bytes, err := b.Bucket(b.T).First(b.T.Context(), b.object(id), 64<<20)
	require.NoError(b.T, err)
	require.EqualValues(b.T, len(bytes), item["file_size_bytes"])
	require.Equal(b.T, []string{b.object(id)}, b.versions(id))
	return item, bytes
}

// parts returns the upload of the converted parts of a recording.
func (b *bench) parts(id string) blob.Multipart {
	b.T.Helper()
	stored, err := b.Table(b.T).Get(b.T.Context(), b.item(id))
	require.NoError(b.T, err)
	var r recording.Recording
	require.NoError(b.T, json.Unmarshal(stored.Data, &r))
	return blob.Multipart{Key: r.Object, ID: r.Multipart}
}

// versions returns the key of each version of the bytes of a recording, and of each unfinished upload with parts. The
// bucket ends an upload without parts.
func (b *bench) versions(id string) (all []string) {
	b.T.Helper()
	place, err := b.Bucket(b.T).Find(b.T.Context())
	require.NoError(b.T, err)
	client, key := s3.NewFromConfig(place.Config, func(o *s3.Options) { o.UsePathStyle = true }), b.object(id)
	page, err := client.ListObjectVersions(b.T.Context(), &s3.ListObjectVersionsInput{Bucket: &place.Bucket, Prefix: &key})
	require.NoError(b.T, err)
	for _, v := range page.Versions {
		all = append(all, *v.Key)
	}
	for _, m := range page.DeleteMarkers {
		all = append(all, *m.Key)
	}
	open, err := client.ListMultipartUploads(b.T.Context(), &s3.ListMultipartUploadsInput{Bucket: &place.Bucket, Prefix: &key})
	require.NoError(b.T, err)
	for _, u := range open.Uploads {
		parts, err := b.Bucket(b.T).Parts(b.T.Context(), blob.Multipart{Key: key, ID: *u.UploadId})
		require.NoError(b.T, err)
		if len(parts) > 0 {
			all = append(all, *u.Key+" in parts")
		}
	}
	return all
}
