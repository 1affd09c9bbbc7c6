package objects

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"
)

const bucket = "lectern-files"

// start starts a server on a folder, with a bucket.
func start(t *testing.T, dir string) *Server {
	t.Helper()
	s, err := Start(t.Context(), dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	require.NoError(t, s.CreateBucket(t.Context(), bucket))
	return s
}

// TestAServerKeepsObjectsAfterAKill: the second server has another key pair and the same objects.
func TestAServerKeepsObjectsAfterAKill(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	first := start(t, dir)
	for range 2 {
		_, err := first.client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("a/b")})
		require.NoError(t, err)
	}
	require.NoError(t, first.Kill())
	require.ErrorIs(t, syscall.Kill(first.PID(), 0), syscall.ESRCH)
	require.NoError(t, first.Stop(), "ending twice is nothing")
	second := start(t, dir)
	require.NotEqual(t, first.SecretKey, second.SecretKey)
	versions, err := second.client.ListObjectVersions(t.Context(), &s3.ListObjectVersionsInput{Bucket: aws.String(bucket)})
	require.NoError(t, err)
	require.Len(t, versions.Versions, 2, "the bucket keeps versions")
}

func TestOtherKeyPairsAreRefused(t *testing.T) {
	s := start(t, t.TempDir())
	other := newServer(s.URL[len("http://"):])
	_, err := other.client.ListBuckets(t.Context(), &s3.ListBucketsInput{})
	require.ErrorContains(t, err, "No user exists with the provided access key ID")
	other.SecretKey = s.SecretKey
	require.Error(t, other.CreateBucket(t.Context(), bucket))
}

func TestATakenPortIsAnError(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	binary, err := find()
	require.NoError(t, err)
	err = newServer(listener.Addr().String()).run(t.Context(), binary, "posix", t.TempDir())
	require.ErrorContains(t, err, "ended at once")
}

func TestNoServerSaysWhatToDo(t *testing.T) {
	t.Chdir(t.TempDir())
	_, err := Start(t.Context(), t.TempDir())
	require.ErrorContains(t, err, "make test")
	require.ErrorContains(t, err, EnvBinary)
	t.Setenv(EnvBinary, "/bin/false")
	_, err = Start(t.Context(), t.TempDir())
	require.ErrorContains(t, err, "ended at once")
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = Start(t.Context(), file)
	require.ErrorContains(t, err, "make the folder")
}
