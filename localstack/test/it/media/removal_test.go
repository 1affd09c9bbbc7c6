package media_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/functions/media"
	"lectern/localstack/local/recorder"
	"lectern/localstack/test/it"
	"lectern/shared/api"
	"lectern/shared/blob"
	"lectern/shared/table"
)

// maintainWith does the whole of maintenance with another bucket, as it.Maintained.
func (d *desk) maintainWith(blobs *blob.Store) (failed int, removed int64) {
	d.T.Helper()
	env := d.Env(d.T)
	env.Blobs = blobs
	failed, purged := it.Maintained(d.T, env)
	return failed, purged.Uploads
}

// requireStays checks that a removal failed and left the record of an upload.
func (d *desk) requireStays(p *pending, blobs *blob.Store) {
	d.T.Helper()
	failed, removed := d.maintainWith(blobs)
	require.Equal(d.T, []any{1, int64(0)}, []any{failed, removed})
	_, err := d.Table(d.T).Get(d.T.Context(), d.item(p))
	require.NoError(d.T, err)
}

// TestAnInterruptedRemovalIsFoundAgain by the next maintenance.
func TestAnInterruptedRemovalIsFoundAgain(t *testing.T) {
	d := newDesk(t)
	p := d.sent()
	d.end(p, 2*time.Hour)
	d.requireStays(p, it.BucketAt(d.T, d.Env(t), it.Nowhere))
	require.EqualValues(t, 1, d.Maintain(0).Uploads)
	d.requireGone(p)
}

// TestARefusedRemovalKeepsTheRecord, since the bytes stay: S3 answers 403 to a role without a
// permission, and to a missing object too.
func TestARefusedRemovalKeepsTheRecord(t *testing.T) {
	d := newDesk(t)
	p := d.sent()
	d.join(p)
	d.end(p, 2*time.Hour)
	for _, action := range []string{"AbortMultipartUpload", "ListBucketVersions", "DeleteObjectVersion"} {
		r := recorder.New(&recorder.Permission{Group: "operator", Action: "s3:" + action, Pattern: "media/*"})
		door, err := r.Open("http://127.0.0.1:9")
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, door.Close()) })
		d.requireStays(p, it.BucketAt(t, d.Env(t), func(server string) string {
			address, err := door.Bucket("operator", server)
			require.NoError(t, err)
			return address
		}))
		require.Equal(t, 1, r.Refusals(), action)
		_, err = d.Bucket(t).Head(t.Context(), p.key())
		require.NoError(t, err, action)
	}
	require.EqualValues(t, 1, d.Maintain(0).Uploads)
	d.requireGone(p)
}

// damage writes the record of an upload anew.
func (d *desk) damage(p *pending, change func(stored []byte) []byte) {
	d.T.Helper()
	stored, err := d.Table(d.T).Get(d.T.Context(), d.item(p))
	require.NoError(d.T, err)
	stored.Data = change(stored.Data)
	require.NoError(d.T, d.Table(d.T).Transact(d.T.Context(), table.Replace(stored, stored.Version)))
}

// unreadable returns data that is no record.
func unreadable([]byte) []byte { return []byte("[]") }

// TestABadUploadKeepsNoOther: a record that cannot be read, or whose bytes cannot be removed, fails each
// maintenance, and the others go.
func TestABadUploadKeepsNoOther(t *testing.T) {
	d := newDesk(t)
	for name, change := range map[string]func([]byte) []byte{"unreadable": unreadable, "without an object": func(stored []byte) []byte {
		var all map[string]any
		require.NoError(t, json.Unmarshal(stored, &all))
		all["object"] = ""
		return it.Encode(t, all)
	}} {
		bad, first, second := d.initiate(size), d.initiate(size), d.initiate(size)
		for _, p := range []*pending{bad, first, second} {
			d.end(p, 2*time.Hour)
		}
		stored, err := d.Table(t).Get(t.Context(), d.item(bad))
		require.NoError(t, err)
		d.damage(bad, change)
		failed, removed := d.maintainWith(d.Env(t).Blobs)
		require.Equal(t, []any{1, int64(2)}, []any{failed, removed}, name)
		d.requireGone(first)
		d.requireGone(second)
		failed, removed = d.maintainWith(d.Env(t).Blobs)
		require.Equal(t, []any{1, int64(0)}, []any{failed, removed}, name)
		d.damage(bad, func([]byte) []byte { return stored.Data })
		require.EqualValues(t, 1, d.Maintain(0).Uploads, name)
	}
}

// slow forwards calls to a server with the host of their signatures. It leaves some lists of parts
// without an answer, and all calls that join parts.
type slow struct {
	engine *httputil.ReverseProxy
	lists  atomic.Int32
}

func (s *slow) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost || s.lists.Add(-1) >= 0 {
		_, _ = io.Copy(io.Discard, r.Body) // The server sees that a client has gone once the body is read.
		<-r.Context().Done()
		return
	}
	s.engine.ServeHTTP(w, r)
}

// TestACompletionEndsBeforeTheGatewayDoes, though each of its calls has time left.
func TestACompletionEndsBeforeTheGatewayDoes(t *testing.T) {
	d := newDesk(t)
	p := d.sent()
	hanging := &desk{d.ServeGroup(media.Group, func(env *api.Env) {
		env.Blobs = it.BucketAt(t, d.Env(t), func(server string) string {
			to, err := url.Parse(server)
			require.NoError(t, err)
			door := &slow{engine: &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
				p.Out.URL.Scheme, p.Out.URL.Host, p.Out.Host = to.Scheme, to.Host, p.In.Host
			}}}
			door.lists.Store(2)
			listening := httptest.NewServer(door)
			t.Cleanup(listening.Close)
			return listening.URL
		})
	}), d.session}
	began := time.Now()
	hanging.post(503, "complete", p.completion())
	require.Less(t, time.Since(began), 25*time.Second)
	d.post(201, "complete", p.completion())
}
