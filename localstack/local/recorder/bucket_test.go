package recorder_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/local/objects"
	"lectern/localstack/local/recorder"
	"lectern/shared/blob"
)

const bucket = "lectern-files"

// bucketOf starts a server of S3 with a door of a recorder in front, and returns the bucket as the
// function of a group calls it.
func bucketOf(t *testing.T, r *recorder.Recorder) *blob.Store {
	t.Helper()
	server, err := objects.Start(t.Context(), t.TempDir(), "us-east-1")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	require.NoError(t, server.CreateBucket(t.Context(), bucket))
	door, err := r.Open("http://127.0.0.1:9")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, door.Close()) })
	address, err := door.Bucket("media", server.URL)
	require.NoError(t, err)
	return server.Bucket(bucket).At(address).Store()
}

// sendTo sends a body at a signed address and returns the status.
func sendTo(t *testing.T, signed blob.Request, body string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), signed.Method, signed.URL, strings.NewReader(body))
	require.NoError(t, err)
	for name, value := range signed.Headers {
		request.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	return answer.StatusCode
}

func TestCallsAndSignedAddressesOfABucketAreNotedAndDone(t *testing.T) {
	r := recorder.New(nil)
	s := bucketOf(t, r)
	m, err := s.Begin(t.Context(), "m/1", "video/mp4")
	require.NoError(t, err)
	part, err := s.PutPart(t.Context(), m, 1, time.Minute)
	require.NoError(t, err)
	require.Equal(t, []string{"media\ts3:PutObject\tm/*"}, lines(r))
	require.Equal(t, http.StatusOK, sendTo(t, part, "bytes"))
	parts, err := s.Parts(t.Context(), m)
	require.NoError(t, err)
	require.NoError(t, s.Complete(t.Context(), m, parts))
	require.NoError(t, s.Abort(t.Context(), m))
	get, err := s.Get(t.Context(), blob.Download{Key: "m/1", Name: "a.mp4", Type: "video/mp4"}, time.Minute)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, sendTo(t, get, ""))
	require.NoError(t, s.Delete(t.Context(), "m/1"))
	require.Equal(t, []string{
		"media\ts3:AbortMultipartUpload\tm/*", "media\ts3:DeleteObjectVersion\tm/*", "media\ts3:GetObject\tm/*",
		"media\ts3:ListBucketVersions\tm/*", "media\ts3:ListMultipartUploadParts\tm/*", "media\ts3:PutObject\tm/*",
	}, lines(r))
	unsigned := get
	unsigned.URL, _, _ = strings.Cut(get.URL, "?")
	require.Equal(t, http.StatusBadRequest, sendTo(t, unsigned, ""))
}

func TestAForgedAddressIsNotNoted(t *testing.T) {
	r := recorder.New(nil)
	s := bucketOf(t, r)
	put, err := s.Put(t.Context(), blob.Upload{Key: "f/1", Type: "image/png", Size: 5}, time.Minute)
	require.NoError(t, err)
	forged := put
	forged.Method = http.MethodDelete
	require.Equal(t, http.StatusForbidden, sendTo(t, forged, ""))
	require.Empty(t, lines(r))
	require.Equal(t, http.StatusOK, sendTo(t, put, "bytes"))
	require.Equal(t, []string{"media\ts3:PutObject\tf/*"}, lines(r))
}

func TestASignedAddressNeedsThePermissionOfItsFunction(t *testing.T) {
	r := recorder.New(&recorder.Permission{Group: "media", Action: "s3:PutObject", Pattern: "f/*"})
	s := bucketOf(t, r)
	put, err := s.Put(t.Context(), blob.Upload{Key: "f/1", Type: "image/png", Size: 5}, time.Minute)
	require.NoError(t, err)
	require.Equal(t, http.StatusForbidden, sendTo(t, put, "bytes"))
	require.Equal(t, 1, r.Refusals())
	_, err = s.Head(t.Context(), "f/1")
	require.ErrorIs(t, err, blob.ErrAbsent)
}
