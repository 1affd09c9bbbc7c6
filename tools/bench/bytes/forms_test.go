package bytes_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/stacktest"
	"lectern/shared/blob"
	"lectern/tools/bench/scale"
)

// formSize is the size of the largest file of a form.
const formSize = 50 * megabyte

// zeros gives bytes without memory of their own.
type zeros struct{}

func (zeros) Read(into []byte) (int, error) {
	clear(into)
	return len(into), nil
}

// form sends a form with a file of size bytes, and returns the status.
func (b *bench) form(size int64) int {
	const before = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"film\"\r\n\r\n"
	body := io.MultiReader(strings.NewReader(before), io.LimitReader(zeros{}, size), strings.NewReader("\r\n--b--\r\n"))
	request, err := http.NewRequestWithContext(b.T.Context(), http.MethodPost, b.URL+b.EventPath("/sessions/"+b.session+"/files/upload"), body)
	if err != nil {
		return 0
	}
	request.Header.Set("Content-Type", "multipart/form-data; boundary=b")
	request.Header.Set(stacktest.TokenHeader, b.Token)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode
}

// direct sends the same bytes to the store alone, in one request.
func (b *bench) direct(size int64) {
	b.T.Helper()
	key := "files/alone/" + uuid.NewString()
	signed, err := b.Bucket(b.T).Put(b.T.Context(), blob.Upload{Key: key, Type: "application/octet-stream", Size: size}, time.Minute)
	require.NoError(b.T, err)
	b.put(stacktest.Signed{Method: signed.Method, URL: signed.URL, Headers: signed.Headers}, io.LimitReader(zeros{}, size), size)
}

// put sends size bytes to a signed address.
func (b *bench) put(signed stacktest.Signed, body io.Reader, size int64) {
	b.T.Helper()
	request, err := http.NewRequestWithContext(b.T.Context(), signed.Method, signed.URL, body)
	require.NoError(b.T, err)
	request.ContentLength = size
	for name, value := range signed.Headers {
		request.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(request)
	require.NoError(b.T, err)
	defer answer.Body.Close()
	require.Equal(b.T, http.StatusOK, answer.StatusCode)
}

// TestAFormOfFiftyMegabytes beside the same bytes to the store alone.
func TestAFormOfFiftyMegabytes(t *testing.T) {
	b := start(t)
	require.Equal(t, http.StatusCreated, b.form(formSize))
	b.direct(formSize)
	rounds := scale.Size(1, 10)
	var forms, alone time.Duration
	for range rounds {
		began := time.Now()
		require.Equal(t, http.StatusCreated, b.form(formSize))
		forms += time.Since(began)
		began = time.Now()
		b.direct(formSize)
		alone += time.Since(began)
	}
	share := 100 * alone.Seconds() / forms.Seconds()
	t.Logf("a form of 50 MiB: %s, the store alone: %s, a share of %.0f %%",
		perSecond(rounds*formSize, forms), perSecond(rounds*formSize, alone), share)
	if scale.Whole() {
		require.GreaterOrEqual(t, share, 60.0, "the goal")
	}
}

// TestFormsAtOnceNeedLittleMemory: ten forms of 50 MiB, in a process that also is their client.
func TestFormsAtOnceNeedLittleMemory(t *testing.T) {
	b := start(t)
	require.Equal(t, http.StatusCreated, b.form(megabyte))
	debug.FreeOSMemory()
	idle := resident(t)
	var most atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	var watch, all sync.WaitGroup
	watch.Go(func() {
		for ctx.Err() == nil {
			most.Store(max(most.Load(), resident(t)))
			time.Sleep(2 * time.Millisecond)
		}
	})
	statuses := make([]int, 10)
	for i := range statuses {
		all.Go(func() { statuses[i] = b.form(int64(scale.Size(12*megabyte, formSize))) })
	}
	all.Wait()
	stop()
	watch.Wait()
	for _, status := range statuses {
		require.Equal(t, http.StatusCreated, status)
	}
	above := most.Load() - idle
	t.Logf("%d forms at once: %.1f MiB above the idle %.1f MiB", len(statuses), float64(above)/megabyte, float64(idle)/megabyte)
	if scale.Whole() {
		require.LessOrEqual(t, above, int64(64*megabyte), "the goal")
	}
}

// resident returns the resident memory of the process in bytes; 0 where the system does not say.
func resident(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	if err != nil {
		t.Error(err)
	}
	return pages * int64(os.Getpagesize())
}
