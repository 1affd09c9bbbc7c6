package blob_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"lectern/shared/blob"
)

// bare returns a client of the server for calls that the service never makes.
func bare() *s3.Client {
	return s3.NewFromConfig(server.Bucket(bucket).Place().Config, func(o *s3.Options) { o.UsePathStyle = true })
}

// left returns the number of versions and delete markers of the keys that begin with a prefix.
func left(t *testing.T, prefix string) int {
	t.Helper()
	found, err := bare().ListObjectVersions(t.Context(), &s3.ListObjectVersionsInput{Bucket: aws.String(bucket), Prefix: &prefix})
	require.NoError(t, err)
	return len(found.Versions) + len(found.DeleteMarkers)
}

// TestDeleteRemovesEveryVersionOfItsKey and none of a key that begins alike.
func TestDeleteRemovesEveryVersionOfItsKey(t *testing.T) {
	one, other := own(t), own(t)+"-other"
	for _, key := range []string{one, other, one} {
		_, err := bare().PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: &key})
		require.NoError(t, err)
	}
	for range 2 {
		_, err := bare().DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: aws.String(bucket), Key: &one})
		require.NoError(t, err)
	}
	require.Greater(t, left(t, one), 3, "two versions, a delete marker, and the other key")
	s := at(server.URL)
	require.NoError(t, s.Delete(t.Context(), one))
	require.Equal(t, 1, left(t, one))
	_, err := s.Head(t.Context(), other)
	require.NoError(t, err)
	require.Error(t, s.Delete(t.Context(), ""), "the empty key begins all keys")
	require.NoError(t, s.Delete(t.Context(), other))
}

// TestARefusedRemovalIsAnError and no absence: the bytes are still there.
func TestARefusedRemovalIsAnError(t *testing.T) {
	s := at(server.URL)
	key := own(t)
	_, err := bare().PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: &key})
	require.NoError(t, err)
	m, err := s.Begin(t.Context(), key+"-parts", pdf)
	require.NoError(t, err)
	part := sendPart(t, s, m, 1, "bytes")

	stranger, nowhere := server.Bucket(bucket), server.Bucket("lectern-missing")
	stranger.SecretKey = "another"
	for name, refusing := range map[string]*blob.Store{"another key pair": stranger.Store(), "no bucket": nowhere.Store()} {
		for _, err := range []error{refusing.Delete(t.Context(), key), refusing.Abort(t.Context(), m)} {
			require.Error(t, err, name)
			require.NotErrorIs(t, err, blob.ErrAbsent, name)
			require.NotErrorIs(t, err, blob.ErrBusy, name)
		}
	}
	require.Equal(t, 1, left(t, key))
	parts, err := s.Parts(t.Context(), m)
	require.NoError(t, err)
	require.Equal(t, []blob.Part{part}, parts)
	require.NoError(t, s.Delete(t.Context(), key))
	require.NoError(t, s.Abort(t.Context(), m))
}
