package stacktest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/local/objects"
	"lectern/shared/blob"
)

// Signed is a request that the service has signed for a client, as its answers show it.
type Signed struct {
	URL     string            `json:"url"`
	Method  string            `json:"method"`
	Headers map[string]string `json:"headers"`
}

// SendBytes sends bytes with a signed request, which needs no token, and returns the answer of the
// store.
func SendBytes(t testing.TB, r Signed, content []byte) Answer {
	t.Helper()
	answer, err := TrySendBytes(t, r, content)
	require.NoError(t, err)
	return answer
}

// TrySendBytes does SendBytes. The answer may never come.
func TrySendBytes(t testing.TB, r Signed, content []byte) (Answer, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), r.Method, r.URL, bytes.NewReader(content))
	require.NoError(t, err)
	for name, value := range r.Headers {
		request.Header.Set(name, value)
	}
	response, err := client.Do(request)
	if err != nil {
		return Answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return Answer{Status: response.StatusCode, Header: response.Header, Body: text}, err
}

// Bucket returns the bucket of the region, for a test of stored bytes.
func (s *Stack) Bucket(t testing.TB) *blob.Store {
	t.Helper()
	if s.backend.stack == nil {
		leaveOut(t, "the bucket of the deployed service is its own")
	}
	return s.backend.stack.Bucket.Store()
}

// StoredKeys returns the keys of the region's bucket that begin with a prefix, in order.
func (s *Stack) StoredKeys(t testing.TB, prefix string) []string {
	t.Helper()
	if s.backend.stack == nil {
		leaveOut(t, "the bucket of the deployed service is its own")
	}
	keys, err := s.backend.stack.Bucket.Keys(t.Context(), prefix)
	require.NoError(t, err)
	return keys
}

// GuardDuty stands for Malware Protection of Amazon GuardDuty until the test ends. It tags each object whose key begins
// with a prefix with the result that a function has for the bytes.
func (s *Stack) GuardDuty(t testing.TB, prefix string, result func(content []byte) string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	go func() {
		defer close(ended)
		scanned := map[string]bool{}
		for ctx.Err() == nil {
			tagObjects(ctx, s.backend.stack.Bucket, prefix, result, scanned)
			time.Sleep(20 * time.Millisecond)
		}
	}()
}

// tagObjects tags the objects that have no tag yet. An upload in parts that has not ended has no object, and an object
// may be gone.
func tagObjects(ctx context.Context, bucket objects.Bucket, prefix string, result func([]byte) string, tagged map[string]bool) {
	keys, err := bucket.Keys(ctx, prefix)
	if err != nil {
		return
	}
	for _, key := range keys {
		if tagged[key] {
			continue
		}
		content, err := bucket.Store().Read(ctx, key, 0, 64<<20)
		if err == nil {
			tagged[key] = bucket.Tag(ctx, key, "GuardDutyMalwareScanStatus", result(content)) == nil
		}
	}
}
