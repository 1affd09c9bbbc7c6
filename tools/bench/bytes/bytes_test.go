// Package bytes_test measures how fast bytes are stored. `make bench` runs the whole sizes and prints the
// figures of docs/performance.md.
package bytes_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/blob"
	"lectern/tools/bench/scale"
)

const (
	megabyte = 1 << 20
	// partSize is the size of a part that the service advises.
	partSize = 16 * megabyte
	// clients is how many parts of a film are sent at once.
	clients = 4
	// most is the size of the largest film that the service takes.
	most = 50_000_000_000
)

// bench is a client of the bytes of one session.
type bench struct {
	*it.Client
	session string
}

func start(t *testing.T) *bench {
	t.Helper()
	c := &it.Client{Stack: stacktest.Start(t), T: t}
	return &bench{c, c.NewSessions("A session with bytes")[0]}
}

// post sends a request below the session and returns the data of the answer.
func (b *bench) post(status int, path string, body it.Object) it.Entity {
	b.T.Helper()
	return b.Do(status, http.MethodPost, "/sessions/"+b.session+path, body).At("data").(it.Object)
}

// film is an upload in parts.
type film struct {
	*bench
	target it.Object
	parts  []it.Object
}

// film begins the upload of a film of size bytes.
func (b *bench) film(size int) *film {
	b.T.Helper()
	opened := b.post(201, "/media/upload/initiate", it.Object{"filename": "keynote.mp4", "size_bytes": size})
	return &film{bench: b, target: it.Object{"key": opened["key"], "upload_id": opened["upload_id"]}}
}

// sign signs parts.
func (f *film) sign(numbers ...int) []stacktest.Signed {
	f.T.Helper()
	answer := f.post(200, "/media/upload/sign-part", it.Merged(f.target, it.Object{"part_numbers": numbers}))
	var signed struct{ Parts []stacktest.Signed }
	require.NoError(f.T, json.Unmarshal(it.Encode(f.T, answer), &signed))
	require.Len(f.T, signed.Parts, len(numbers))
	return signed.Parts
}

// send sends n parts, several at once. It returns the ETags in the order of the parts.
func send(t *testing.T, content []byte, signed []stacktest.Signed) []string {
	t.Helper()
	tags := make([]string, len(signed))
	numbers := make(chan int)
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for i := range numbers {
				tags[i] = stacktest.SendBytes(t, signed[i], content).Header.Get("ETag")
			}
		})
	}
	for i := range signed {
		numbers <- i
	}
	close(numbers)
	all.Wait()
	require.NotContains(t, tags, "")
	return tags
}

// numbered returns the numbers of n parts.
func numbered(n int) (all []int) {
	for i := range n {
		all = append(all, i+1)
	}
	return all
}

// perSecond prints how many megabytes went through a second.
func perSecond(size int, took time.Duration) string {
	return fmt.Sprintf("%.0f MB a second", float64(size)/1e6/took.Seconds())
}

// TestAFilmInParts sends 1 GB in parts, signed 16 at once, and beside it the same parts to the store alone.
func TestAFilmInParts(t *testing.T) {
	b := start(t)
	n := scale.Size(2, 64)
	content := make([]byte, partSize)
	began := time.Now()
	f := b.film(n * partSize)
	for some := range slices.Chunk(numbered(n), 16) {
		for i, tag := range send(t, content, f.sign(some...)) {
			f.parts = append(f.parts, it.Object{"part_number": some[i], "etag": tag})
		}
	}
	joins := time.Now()
	f.post(201, "/media/upload/complete", it.Merged(f.target, it.Object{
		"parts": f.parts, "filename": "keynote.mp4", "size_bytes": n * partSize,
	}))
	t.Logf("%d parts of 16 MiB by %d clients: %s, of which complete %.0f ms", n, clients, perSecond(n*partSize, time.Since(began)),
		time.Since(joins).Seconds()*1000)
	t.Logf("the store alone: %s", perSecond(n*partSize, b.alone(n, content)))
}

// alone sends n parts to the store without the service, and returns how long it took.
func (b *bench) alone(n int, content []byte) time.Duration {
	b.T.Helper()
	bucket, ctx, began := b.Bucket(b.T), b.T.Context(), time.Now()
	m, err := bucket.Begin(ctx, "media/alone/"+uuid.NewString(), "video/mp4")
	require.NoError(b.T, err)
	signed := make([]stacktest.Signed, n)
	for i := range signed {
		r, err := bucket.PutPart(ctx, m, int32(i+1), time.Minute)
		require.NoError(b.T, err)
		signed[i] = stacktest.Signed{Method: r.Method, URL: r.URL, Headers: r.Headers}
	}
	parts := make([]blob.Part, n)
	for i, tag := range send(b.T, content, signed) {
		parts[i] = blob.Part{Number: int32(i + 1), ETag: tag}
	}
	require.NoError(b.T, bucket.Complete(ctx, m, parts))
	return time.Since(began)
}

// TestPartsAreSigned for a film of 50 GB, one at a time and many at once.
func TestPartsAreSigned(t *testing.T) {
	f := start(t).film(most)
	for _, together := range []int{1, 100, 1000} {
		var times []time.Duration
		for range scale.Size(5, max(20, 500/together)) {
			began := time.Now()
			f.sign(numbered(together)...)
			times = append(times, time.Since(began))
		}
		slices.Sort(times)
		p99 := times[len(times)*99/100]
		t.Logf("%d parts signed at once: p50 %.1f ms, p99 %.1f ms", together, times[len(times)/2].Seconds()*1000, p99.Seconds()*1000)
		if scale.Whole() && together == 1 {
			require.Less(t, p99, 20*time.Millisecond, "the goal")
		}
	}
}

// TestADirectUpload of 500 MB, from its creation to its completion, beside the same bytes to the store alone.
func TestADirectUpload(t *testing.T) {
	b := start(t)
	size := int64(scale.Size(8*megabyte, 500*megabyte))
	b.direct(size)
	rounds := scale.Size(1, 3)
	var uploads, alone time.Duration
	for range rounds {
		began := time.Now()
		created := b.post(201, "/files", it.Object{"filename": "film", "size_bytes": size})
		var signed stacktest.Signed
		require.NoError(t, json.Unmarshal(it.Encode(t, created["upload"]), &signed))
		b.put(signed, io.LimitReader(zeros{}, size), size)
		b.Do(200, http.MethodPost, "/sessions/"+b.session+"/files/"+created["id"].(string)+"/complete", nil)
		uploads += time.Since(began)
		began = time.Now()
		b.direct(size)
		alone += time.Since(began)
	}
	share := 100 * alone.Seconds() / uploads.Seconds()
	t.Logf("a direct upload of %d MiB: %s, the store alone: %s, a share of %.0f %%", size/megabyte,
		perSecond(rounds*int(size), uploads), perSecond(rounds*int(size), alone), share)
	if scale.Whole() {
		require.GreaterOrEqual(t, share, 80.0, "the goal")
	}
}
