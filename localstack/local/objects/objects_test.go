package objects

import (
	"crypto/md5"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/stretchr/testify/require"

	"lectern/shared/blob"
)

const (
	bucket    = "lectern-files"
	awsRegion = "eu-central-1"
)

// newOn starts a server on a folder, with a bucket.
func newOn(t *testing.T, dir string) *Server {
	t.Helper()
	s, err := Start(t.Context(), dir, awsRegion)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	require.NoError(t, s.CreateBucket(t.Context(), bucket))
	return s
}

// TestAServerKeepsObjectsAfterAKill: the second server has another key pair and the same objects.
func TestAServerKeepsObjectsAfterAKill(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	first := newOn(t, dir)
	for range 2 {
		_, err := first.client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("a/b")})
		require.NoError(t, err)
	}
	require.NoError(t, first.Kill())
	require.ErrorIs(t, syscall.Kill(first.PID(), 0), syscall.ESRCH)
	require.NoError(t, first.Stop(), "ending twice is nothing")
	second := newOn(t, dir)
	require.NotEqual(t, first.SecretKey, second.SecretKey)
	versions, err := second.client.ListObjectVersions(t.Context(), &s3.ListObjectVersionsInput{Bucket: aws.String(bucket)})
	require.NoError(t, err)
	require.Len(t, versions.Versions, 2, "the bucket keeps versions")
}

func TestOtherKeyPairsAreRefused(t *testing.T) {
	s := newOn(t, t.TempDir())
	other := newServer(s.URL[len("http://"):], awsRegion, "another")
	_, err := other.client.ListBuckets(t.Context(), &s3.ListBucketsInput{})
	require.ErrorContains(t, err, "SignatureDoesNotMatch")
	require.Error(t, other.CreateBucket(t.Context(), bucket))
}

func TestATakenPortIsAnError(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	binary, err := find()
	require.NoError(t, err)
	err = newServer(listener.Addr().String(), awsRegion, "secret").run(t.Context(), binary, "posix", t.TempDir())
	require.ErrorContains(t, err, "ended at once")
}

func TestNoServerSaysWhatToDo(t *testing.T) {
	t.Chdir(t.TempDir())
	_, err := Start(t.Context(), t.TempDir(), awsRegion)
	require.ErrorContains(t, err, "make build")
	require.ErrorContains(t, err, EnvBinary)
	t.Setenv(EnvBinary, "/bin/false")
	_, err = Start(t.Context(), t.TempDir(), awsRegion)
	require.ErrorContains(t, err, "ended at once")
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = Start(t.Context(), file, awsRegion)
	require.ErrorContains(t, err, "make the folder")
}

func TestADoorStartsItsServerAtTheFirstCall(t *testing.T) {
	d, err := Open(bucket, awsRegion)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close(), "closing twice is nothing") })
	require.Nil(t, d.server)
	s := d.Bucket().Store()
	_, err = s.Head(t.Context(), "a/b")
	require.ErrorIs(t, err, blob.ErrAbsent)
	require.NotNil(t, d.server)
	put, err := s.Put(t.Context(), blob.Upload{Key: "a/b", Type: "text/plain", Size: 5}, time.Minute)
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), put.Method, put.URL, strings.NewReader("bytes"))
	require.NoError(t, err)
	for name, value := range put.Headers {
		request.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)
	stored, err := s.Head(t.Context(), "a/b")
	require.NoError(t, err)
	require.Equal(t, int64(5), stored.Size)

	require.NoError(t, d.Close())
	require.NoDirExists(t, d.dir)
	require.ErrorIs(t, syscall.Kill(d.server.PID(), 0), syscall.ESRCH)
}

func TestADoorWithoutAServerIsBusy(t *testing.T) {
	t.Setenv(EnvBinary, "/bin/false")
	d, err := Open(bucket, awsRegion)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	_, err = d.Bucket().Store().Head(t.Context(), "a/b")
	require.ErrorIs(t, err, blob.ErrBusy)
}

// TestAFolderMayBeRelative, as that of `make run`.
func TestAFolderMayBeRelative(t *testing.T) {
	binary, err := find()
	require.NoError(t, err)
	t.Setenv("VERSITYGW_BIN", binary)
	t.Chdir(t.TempDir())
	newOn(t, "data")
}

// TestPagesOfBrowsersMayUpload: the browser asks first, sends the bytes, and shows the page the ETag.
func TestPagesOfBrowsersMayUpload(t *testing.T) {
	store := newOn(t, t.TempDir()).Bucket(bucket).Store()
	put, err := store.Put(t.Context(), blob.Upload{Key: "a/b", Type: "text/plain", Size: 5}, time.Minute)
	require.NoError(t, err)
	send := func(method string, headers map[string]string, body string) (int, http.Header) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, put.URL, strings.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("Origin", "https://planner.example")
		for name, value := range headers {
			request.Header.Set(name, value)
		}
		answer, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		return answer.StatusCode, answer.Header
	}
	status, asked := send(http.MethodOptions, map[string]string{
		"Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "content-type,if-none-match",
	}, "")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, []string{"*", "https://planner.example"}, asked.Get("Access-Control-Allow-Origin"))
	require.Contains(t, asked.Get("Access-Control-Allow-Methods"), "PUT")
	require.Contains(t, strings.ToLower(asked.Get("Access-Control-Allow-Headers")), "if-none-match")
	status, _ = send(http.MethodOptions, map[string]string{"Access-Control-Request-Method": "DELETE"}, "")
	require.Equal(t, http.StatusForbidden, status)
	status, sent := send(put.Method, put.Headers, "bytes")
	require.Equal(t, http.StatusOK, status)
	require.NotEmpty(t, sent.Get("ETag"))
	require.Contains(t, sent.Get("Access-Control-Expose-Headers"), "ETag")
}

// film is an upload of two parts.
type film struct {
	blob.Multipart
	parts []blob.Part
	// folder has the parts, and joining is its name while versitygw joins them.
	folder, joining string
}

// sendFilm begins an upload and sends the parts.
func sendFilm(t *testing.T, s *Server, dir string) *film {
	t.Helper()
	files := s.Bucket(bucket).Store()
	m, err := files.Begin(t.Context(), "media/a", "video/mp4")
	require.NoError(t, err)
	f, sums := &film{Multipart: m}, ""
	for i, content := range [][]byte{make([]byte, blob.MinPart), []byte("end")} {
		part, err := files.Send(t.Context(), m, int32(i+1), content)
		require.NoError(t, err)
		f.parts = append(f.parts, part)
		sum := md5.Sum(content)
		sums += string(sum[:])
	}
	found, err := filepath.Glob(filepath.Join(dir, "buckets", bucket, ".sgwtmp", "multipart", "*", m.ID))
	require.NoError(t, err)
	require.Len(t, found, 1)
	f.folder, f.joining = found[0], fmt.Sprintf("%s.%x-2.inprogress", found[0], md5.Sum([]byte(sums)))
	return f
}

// requireJoined checks that the object is there whole.
func (f *film) requireJoined(t *testing.T, s *Server) {
	t.Helper()
	joined, err := s.Bucket(bucket).Store().Head(t.Context(), f.Key)
	require.NoError(t, err)
	require.Equal(t, []any{int64(blob.MinPart + len("end")), "video/mp4"}, []any{joined.Size, joined.Type})
}

// TestAnUploadOutlivesAKillDuringTheJoin: the next server joins the parts.
func TestAnUploadOutlivesAKillDuringTheJoin(t *testing.T) {
	dir := t.TempDir()
	first := newOn(t, dir)
	f := sendFilm(t, first, dir)
	require.NoError(t, first.Kill())
	require.NoError(t, os.Rename(f.folder, f.joining))
	unknown := filepath.Join(filepath.Dir(f.folder), "unknown.inprogress")
	require.NoError(t, os.Mkdir(unknown, 0o750))
	second := newOn(t, dir)
	require.DirExists(t, unknown)
	files := second.Bucket(bucket).Store()
	stored, err := files.Parts(t.Context(), f.Multipart)
	require.NoError(t, err)
	require.Equal(t, f.parts, stored)
	require.NoError(t, files.Complete(t.Context(), f.Multipart, f.parts))
	f.requireJoined(t, second)
}

// TestPartsOfAnObjectThatIsThereAreRemoved: versitygw was killed before it had removed all parts.
func TestPartsOfAnObjectThatIsThereAreRemoved(t *testing.T) {
	for left := range 3 {
		dir := t.TempDir()
		first := newOn(t, dir)
		f := sendFilm(t, first, dir)
		kept := filepath.Join(t.TempDir(), "kept")
		require.NoError(t, exec.Command("cp", "-a", filepath.Dir(f.folder), kept).Run())
		require.NoError(t, first.Bucket(bucket).Store().Complete(t.Context(), f.Multipart, f.parts))
		require.NoError(t, first.Kill())
		require.NoError(t, exec.Command("cp", "-a", kept, filepath.Dir(f.folder)).Run())
		for number := range 2 - left {
			require.NoError(t, os.Remove(filepath.Join(f.folder, strconv.Itoa(number+1))))
		}
		require.NoError(t, os.Rename(f.folder, f.joining))
		if left == 1 { // A start that was killed before its server ran.
			_, err := reopenUploads(filepath.Join(dir, "buckets"))
			require.NoError(t, err)
		}
		second := newOn(t, dir)
		_, err := second.Bucket(bucket).Store().Parts(t.Context(), f.Multipart)
		require.ErrorIs(t, err, blob.ErrAbsent)
		require.NoDirExists(t, f.folder)
		rest, err := filepath.Glob(filepath.Dir(f.folder) + "/*")
		require.NoError(t, err)
		require.Empty(t, rest)
		f.requireJoined(t, second)
	}
}

// TestAllOpenUploadsAreListed, page by page.
func TestAllOpenUploadsAreListed(t *testing.T) {
	s := newOn(t, t.TempDir())
	files, keys := s.Bucket(bucket).Store(), []string{"media/a", "media/b", "media/c"}
	for _, key := range keys {
		_, err := files.Begin(t.Context(), key, "video/mp4")
		require.NoError(t, err)
	}
	open, err := openUploads(t.Context(), s.client, &s3.ListMultipartUploadsInput{Bucket: aws.String(bucket), MaxUploads: aws.Int32(1)})
	require.NoError(t, err)
	var listed []string
	for _, u := range open {
		listed = append(listed, *u.Key)
	}
	require.Equal(t, keys, listed)
}
