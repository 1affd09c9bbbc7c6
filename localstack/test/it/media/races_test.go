package media_test

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"lectern/localstack/local/faulty"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/table"
)

// TestSimultaneousCompletionsAreOne item, with one change.
func TestSimultaneousCompletionsAreOne(t *testing.T) {
	d := newDesk(t)
	changes := d.WatchChanges("media_item")
	p := d.sent()
	var all sync.WaitGroup
	answers := make([]stacktest.Answer, 8)
	for i := range answers {
		all.Go(func() {
			answers[i] = d.TrySend(t, http.MethodPost, d.EventPath(d.path("/upload/complete")), p.completion())
		})
	}
	all.Wait()
	for _, a := range answers {
		require.Equal(t, 201, a.Status, "%s", a.Body)
		require.JSONEq(t, string(answers[0].Body), string(a.Body))
	}
	actions := []string{}
	for _, c := range changes.Since() {
		actions = append(actions, c.Action)
	}
	require.Equal(t, []string{"media_item.created", "media_item.completed"}, actions)
}

// TestACompletionOrAnAbortionWins, and an item never lacks its bytes.
func TestACompletionOrAnAbortionWins(t *testing.T) {
	d := newDesk(t)
	var given []*pending
	for range 6 {
		p := d.sent()
		var both sync.WaitGroup
		var completed, aborted stacktest.Answer
		both.Go(func() {
			completed = d.TrySend(t, http.MethodPost, d.EventPath(d.path("/upload/complete")), p.completion())
		})
		both.Go(func() { aborted = d.TrySend(t, http.MethodPost, d.EventPath(d.path("/upload/abort")), p.target) })
		both.Wait()
		if completed.Status == 201 {
			require.Equal(t, 409, aborted.Status)
			_, err := d.Bucket(t).Head(t.Context(), p.key())
			require.NoError(t, err)
			continue
		}
		require.Equal(t, 200, aborted.Status, "%s", aborted.Body)
		require.Contains(t, []int{400, 404}, completed.Status, "%s", completed.Body)
		d.post(404, "complete", p.completion())
		given = append(given, p)
	}
	require.EqualValues(t, len(given), d.maintain(8))
	for _, p := range given {
		d.requireGone(p)
	}
	it.EngineOf(t, d.Stack).RequireWhole(t)
}

// TestACompletionGoesOnAfterACrash between the bucket and the table.
func TestACompletionGoesOnAfterACrash(t *testing.T) {
	stacktest.Everywhere(t)
	d := newDesk(t)
	p := d.sent()
	d.join(p)
	id := data(d.post(201, "complete", p.completion())).ID()
	d.Do(200, http.MethodGet, d.path("/"+id), nil)
}

// TestACompletionBesideAnAbortionIsA404: the abortion has removed the parts that the completion asks for.
func TestACompletionBesideAnAbortionIsA404(t *testing.T) {
	d := newDesk(t)
	p := d.sent()
	require.NoError(t, d.Bucket(t).Abort(t.Context(), p.multipart()))
	d.post(503, "complete", p.completion())
	var both sync.WaitGroup
	var completed stacktest.Answer
	both.Go(func() {
		completed = d.TrySend(t, http.MethodPost, d.EventPath(d.path("/upload/complete")), p.completion())
	})
	time.Sleep(200 * time.Millisecond) // The completion looks for the object.
	d.post(200, "abort", p.target)
	both.Wait()
	require.Equal(t, 404, completed.Status, "%s", completed.Body)
}

// forgetful loses the answers of transactions while lost says so.
type forgetful struct {
	table.Client
	door table.Client
	lost atomic.Bool
}

// TransactWriteItems does a transaction.
func (f *forgetful) TransactWriteItems(
	ctx context.Context, in *dynamodb.TransactWriteItemsInput, options ...func(*dynamodb.Options),
) (*dynamodb.TransactWriteItemsOutput, error) {
	if f.lost.Load() {
		return f.door.TransactWriteItems(ctx, in, options...)
	}
	return f.Client.TransactWriteItems(ctx, in, options...)
}

// TestALostAnswerLosesNoUpload: the request finds its record by the Idempotency-Key, and the parts may be sent.
func TestALostAnswerLosesNoUpload(t *testing.T) {
	f := &forgetful{}
	d := newDesk(t, stacktest.WithClient(func(inner table.Client) table.Client {
		f.Client, f.door = inner, faulty.New(inner, faulty.Config{DropAfter: 1})
		return f
	}))
	f.lost.Store(true)
	opened := data(d.post(201, "initiate", object{"filename": "Keynote.MP4", "size_bytes": size}, "Idempotency-Key", "one"))
	f.lost.Store(false)
	p := &pending{target: object{"key": opened["key"], "upload_id": opened["upload_id"]}}
	d.send(p, 1, first)
	d.send(p, 2, last)
	d.post(201, "complete", p.completion())
}

// TestChangesNameNothingOfTheBucket: neither keys nor ids of S3.
func TestChangesNameNothingOfTheBucket(t *testing.T) {
	d := newDesk(t)
	changes := d.WatchChanges("media_item")
	d.post(201, "complete", d.sent().completion(object{"duration_seconds": 1}))
	fields := []string{}
	for _, c := range changes.Since() {
		for _, v := range c.Values {
			fields = append(fields, c.Action+" "+v.Field)
		}
	}
	require.Equal(t, []string{"media_item.completed duration_seconds"}, fields, "a first version has no values")
}
