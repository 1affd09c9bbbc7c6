package recordings_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"lectern/events/converter"
	"lectern/events/worker"
	"lectern/localstack/test/it"
	"lectern/shared/api"
	"lectern/shared/blob"
	"lectern/shared/bus"
	"lectern/shared/recording"
	"lectern/shared/upload"
)

// bench has a session whose recordings are converted by workers of the test. No message is sent: the test has
// them.
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
func (b *bench) worker(calls int64, hook func()) *converter.Worker {
	b.T.Helper()
	process, env := it.StartProcess(b.T, b.Stack, b, calls)
	process.Hook = hook
	return b.workerOf(process, env)
}

// workerOf returns the worker of a process.
func (b *bench) workerOf(process *it.Process, env api.Env) *converter.Worker {
	b.T.Helper()
	return &converter.Worker{Config: converter.Config{
		Table: env.Table, Log: api.NewLog(b.T.Output()), Now: time.Now, Recordings: recording.Store{Store: upload.NewStore(env)},
		Work: process, Turn: b.turn,
	}}
}

// failures invokes a worker with messages, and returns the number that failed.
func (b *bench) failures(w *converter.Worker, bodies ...[]byte) int {
	b.T.Helper()
	var event events.SQSEvent
	for i, body := range bodies {
		event.Records = append(event.Records, events.SQSMessage{MessageId: fmt.Sprint(i), Body: string(body)})
	}
	answer, err := worker.Kinds{recording.KindReceived: w.Invoke}.Invoke(b.T.Context(), event)
	require.NoError(b.T, err)
	return len(answer.BatchItemFailures)
}

// untilDone invokes workers with a message until one does not end, and returns the number that ended.
func (b *bench) untilDone(body []byte) int {
	b.T.Helper()
	return it.UntilDone(func(calls int64) int { return b.failures(b.worker(calls, nil), body) })
}

// invoke invokes a worker that does not end with messages, and returns the number that failed.
func (b *bench) invoke(bodies ...[]byte) int {
	b.T.Helper()
	return b.failures(b.worker(1_000_000, nil), bodies...)
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
	return it.Published(b.T, b.Stack, recording.KindReceived, id)
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

// versions returns the key of each version of the bytes of a recording, and of each unfinished upload with
// parts. The bucket ends an upload without parts.
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
