package sessionfiles_test

import (
	"bytes"
	"context"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"lectern/functions/sessionfiles"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/table"
)

// holding does something before one transaction, once it is set.
type holding struct {
	table.Client
	before atomic.Pointer[func()]
}

// TransactWriteItems does a transaction.
func (h *holding) TransactWriteItems(
	ctx context.Context, in *dynamodb.TransactWriteItemsInput, options ...func(*dynamodb.Options),
) (*dynamodb.TransactWriteItemsOutput, error) {
	if before := h.before.Swap(nil); before != nil {
		(*before)()
	}
	return h.Client.TransactWriteItems(ctx, in, options...)
}

// TestALateCompletionUndoesNoDeletion: between its plan and its commit, the file is deleted and another
// begins.
func TestALateCompletionUndoesNoDeletion(t *testing.T) {
	h := &holding{}
	stack, engine := it.StartWithEngine(t, func(inner table.Client) table.Client { h.Client = inner; return h })
	c := &it.Client{Stack: stack, T: t}
	d := &desk{c, c.NewSessions("A talk")[0]}
	deleted := d.begin(pdf)
	require.Equal(t, 200, put(t, deleted, pdf))
	var next entity
	meanwhile := func() {
		d.Call(t, 204, http.MethodDelete, d.EventPath(d.path("/", deleted.ID())), nil)
		next = d.begin(pdf)
	}
	h.before.Store(&meanwhile)
	d.complete(404, deleted.ID())
	require.Nil(t, h.before.Load())
	require.Empty(t, d.list())
	require.Equal(t, 200, put(t, next, pdf))
	d.complete(200, next.ID())
	engine.RequireWhole(t)
}

// TestARepeatedReplacement tells of its own upload, and of no other one.
func TestARepeatedReplacement(t *testing.T) {
	d := newDesk(t)
	file := d.add(pdf)
	replace := func(status int, key string) entity {
		return d.Do(status, http.MethodPost, d.path("/", file.ID(), "/replace"), draft(pdf, object{"filename": key + ".pdf"}), "Idempotency-Key", key)
	}
	first := replace(200, "first").At("data").(object)
	require.Equal(t, first["filename"], replace(200, "first").At("data.filename"))
	second := entity(replace(200, "second").At("data").(object))
	it.RequireError(t, replace(409, "first"), "UPLOAD_ENDED", "")
	require.Equal(t, 200, put(t, second, pdf))
	d.complete(200, file.ID())
	require.Nil(t, replace(200, "second").At("data.upload"))
	it.RequireError(t, replace(409, "first"), "UPLOAD_ENDED", "")

	refused := entity(d.Do(200, http.MethodPost, d.path("/", file.ID(), "/replace"), draft(html), "Idempotency-Key", "third").At("data").(object))
	require.Equal(t, 200, put(t, refused, html))
	d.complete(400, file.ID())
	it.RequireError(t, d.Do(409, http.MethodPost, d.path("/", file.ID(), "/replace"), draft(html), "Idempotency-Key", "third"), "UPLOAD_ENDED", "")
	require.Equal(t, "second.pdf", d.complete(200, file.ID()).Text("filename"))
	it.EngineOf(t, d.Stack).RequireWhole(t)
}

// TestSimultaneousCompletesOfRefusedBytes refuse the bytes or find none.
func TestSimultaneousCompletesOfRefusedBytes(t *testing.T) {
	d := newDesk(t)
	for range 10 {
		begun := d.begin(html)
		require.Equal(t, 200, put(t, begun, html))
		it.Concurrently(4, func(int) {
			answer, err := d.Send(t, http.MethodPost, d.EventPath(d.path("/", begun.ID(), "/complete")), nil)
			if err == nil && answer.Status != http.StatusBadRequest && answer.Status != http.StatusNotFound {
				t.Errorf("a completion of refused bytes is a %d", answer.Status)
			}
		})
		d.complete(404, begun.ID())
	}
}

// TestACompletionWithoutTheBucket is a 503, and can be repeated.
func TestACompletionWithoutTheBucket(t *testing.T) {
	d := newDesk(t)
	begun := d.begin(pdf)
	require.Equal(t, 200, put(t, begun, pdf))
	cut := &desk{d.ServeGroup(sessionfiles.Group, func(env *api.Env) { env.Blobs = it.BucketAt(t, d.Env(t), it.Nowhere) }), d.session}
	cut.complete(503, begun.ID())
	require.Empty(t, d.list())
	d.complete(200, begun.ID())
}

// TestNoLinkIsLogged: whoever has a link can download the bytes.
func TestNoLinkIsLogged(t *testing.T) {
	var log bytes.Buffer
	c := &it.Client{Stack: stacktest.Start(t, stacktest.WithLog(&log)), T: t}
	d := &desk{c, c.NewSessions("A talk")[0]}
	file := d.add(pdf)
	d.follow(302, file)
	d.As("").Call(t, 404, http.MethodGet, "/files/forged-link", nil)
	require.Contains(t, log.String(), "/files/{version}")
	require.Contains(t, log.String(), d.session)
	require.NotContains(t, log.String(), link(t, file)[len("/files/"):])
	require.NotContains(t, log.String(), "forged-link")
}
