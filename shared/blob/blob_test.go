package blob_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/local/objects"
	"lectern/shared/blob"
)

const (
	bucket = "lectern-files"
	key    = "f/1/2/slides"
	pdf    = "application/pdf"
	life   = time.Minute
)

var server *objects.Server

// TestMain shares a server between the tests. Every test has keys of its own.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "lectern-blob")
	if err == nil {
		server, err = objects.Start(context.Background(), dir, "us-east-1")
	}
	if err == nil {
		err = server.CreateBucket(context.Background(), bucket)
	}
	code := 1
	if err == nil {
		code = m.Run()
	}
	if server != nil {
		err = errors.Join(err, server.Stop())
	}
	if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// at returns a store at an address, with the key pair of the server.
func at(url string) *blob.Store { return server.Bucket(bucket).At(url).Store() }

// own returns a key of the test.
func own(t *testing.T) string { return key + "/" + t.Name() }

// send sends a request with the headers of change in place of its own, and returns the answer.
func send(t *testing.T, r blob.Request, body string, change map[string]string) (status int, answer string, header http.Header) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), r.Method, r.URL, strings.NewReader(body))
	require.NoError(t, err)
	for name, value := range r.Headers {
		request.Header.Set(name, value)
	}
	for name, value := range change {
		if request.Header.Del(name); value != "" {
			request.Header.Set(name, value)
		}
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(text), response.Header
}

func TestASignedUploadTakesTheDeclaredBytesOnce(t *testing.T) {
	s := at(server.URL)
	r, err := s.Put(t.Context(), blob.Upload{Key: own(t), Type: pdf, Size: 5}, life)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"Content-Type": pdf, "If-None-Match": "*"}, r.Headers)
	for name, wrong := range map[string]struct {
		body   string
		change map[string]string
	}{
		"longer": {"%PDF-1", nil}, "shorter": {"%PDF", nil}, "empty": {"", nil},
		"another type": {"%PDF-", map[string]string{"Content-Type": "text/html"}}, "no type": {"%PDF-", map[string]string{"Content-Type": ""}},
		"no condition": {"%PDF-", map[string]string{"If-None-Match": ""}},
	} {
		status, answer, _ := send(t, r, wrong.body, wrong.change)
		require.GreaterOrEqual(t, status, http.StatusBadRequest, "%s: %s", name, answer)
	}
	other := r
	other.URL = strings.Replace(r.URL, key, "f/1/3/slides", 1)
	status, _, _ := send(t, other, "%PDF-", nil)
	require.Equal(t, http.StatusForbidden, status, "another key")
	_, err = s.Head(t.Context(), own(t))
	require.ErrorIs(t, err, blob.ErrAbsent, "nothing refused is stored")

	status, answer, _ := send(t, r, "%PDF-", nil)
	require.Equal(t, http.StatusOK, status, answer)
	status, _, _ = send(t, r, "other", nil)
	require.Equal(t, http.StatusPreconditionFailed, status, "a second use")
	stored, err := s.Head(t.Context(), own(t))
	require.NoError(t, err)
	require.Equal(t, []any{pdf, int64(5)}, []any{stored.Type, stored.Size})
	for n, text := range map[int64]string{2: "%P", 100: "%PDF-"} {
		first, err := s.First(t.Context(), own(t), n)
		require.NoError(t, err)
		require.Equal(t, text, string(first))
	}
}

func TestASignedAddressEnds(t *testing.T) {
	s := at(server.URL)
	r, err := s.Put(t.Context(), blob.Upload{Key: own(t), Type: pdf, Size: 1}, time.Second)
	require.NoError(t, err)
	require.Contains(t, r.URL, "X-Amz-Expires=1&")
	time.Sleep(2100 * time.Millisecond)
	status, answer, _ := send(t, r, "x", nil)
	require.Equal(t, http.StatusForbidden, status, answer)
	r, err = s.Put(t.Context(), blob.Upload{Key: own(t), Type: pdf, Size: 1}, time.Hour)
	require.NoError(t, err)
	require.Contains(t, r.URL, "X-Amz-Expires=900&", "no address outlives the role that signs")
}

func TestDownloadsAreSafe(t *testing.T) {
	s := at(server.URL)
	r, err := s.Put(t.Context(), blob.Upload{Key: own(t), Type: "text/html", Size: 4}, life)
	require.NoError(t, err)
	status, answer, _ := send(t, r, "<p/>", nil)
	require.Equal(t, http.StatusOK, status, answer)
	for declared, shown := range map[string]string{
		pdf: pdf, "image/png": "image/png", "video/mp4": "video/mp4", "text/html": "application/octet-stream",
		"image/svg+xml": "application/octet-stream", "application/xhtml+xml": "application/octet-stream", "": "application/octet-stream",
	} {
		r, err := s.Get(t.Context(), blob.Download{Key: own(t), Name: "Ünï \"x\"\r\n/a+b.html", Type: declared}, life)
		require.NoError(t, err)
		status, answer, header := send(t, r, "", nil)
		require.Equal(t, http.StatusOK, status, answer)
		require.Equal(t, "<p/>", answer)
		require.Equal(t, shown, header.Get("Content-Type"), declared)
		require.Equal(t, `attachment; filename="_n_ _x____a+b.html"; filename*=UTF-8''%C3%9Cn%C3%AF%20%22x%22%0D%0A%2Fa%2Bb.html`,
			header.Get("Content-Disposition"))
	}
	require.NoError(t, s.Delete(t.Context(), own(t)))
	require.NoError(t, s.Delete(t.Context(), own(t)), "deleting twice is nothing")
	r, err = s.Get(t.Context(), blob.Download{Key: own(t)}, life)
	require.NoError(t, err)
	status, _, _ = send(t, r, "", nil)
	require.Equal(t, http.StatusNotFound, status)
	_, err = s.First(t.Context(), own(t), 1)
	require.ErrorIs(t, err, blob.ErrAbsent)
}

func TestAnEmptyObjectHasNoFirstBytes(t *testing.T) {
	s := at(server.URL)
	r, err := s.Put(t.Context(), blob.Upload{Key: own(t), Type: pdf}, life)
	require.NoError(t, err)
	status, answer, _ := send(t, r, "", nil)
	require.Equal(t, http.StatusOK, status, answer)
	first, err := s.First(t.Context(), own(t), 1)
	require.NoError(t, err)
	require.Empty(t, first)
}

// sendPart sends a part and returns it with its ETag.
func sendPart(t *testing.T, s *blob.Store, m blob.Multipart, number int32, body string) blob.Part {
	t.Helper()
	r, err := s.PutPart(t.Context(), m, number, life)
	require.NoError(t, err)
	status, answer, header := send(t, r, body, nil)
	require.Equal(t, http.StatusOK, status, answer)
	return blob.Part{Number: number, ETag: header.Get("ETag"), Size: int64(len(body))}
}

func TestPartsAreJoinedIfTheyFit(t *testing.T) {
	s, large := at(server.URL), string(bytes.Repeat([]byte("x"), blob.MinPart))
	m, err := s.Begin(t.Context(), own(t), "video/mp4")
	require.NoError(t, err)
	small, last := sendPart(t, s, m, 1, "small"), sendPart(t, s, m, 2, "last")
	for name, wrong := range map[string][]blob.Part{
		"a small part": {small, last}, "another ETag": {{Number: 1, ETag: last.ETag}}, "a missing part": {small, {Number: 3, ETag: last.ETag}},
		"another order": {last, small}, "no part": {},
	} {
		require.ErrorIs(t, s.Complete(t.Context(), m, wrong), blob.ErrRefused, name)
	}
	_, err = s.Head(t.Context(), own(t))
	require.ErrorIs(t, err, blob.ErrAbsent)
	first := sendPart(t, s, m, 1, large)
	stored, err := s.Parts(t.Context(), m)
	require.NoError(t, err)
	require.Equal(t, []blob.Part{first, last}, stored)
	require.NoError(t, s.Complete(t.Context(), m, stored))
	object, err := s.Head(t.Context(), own(t))
	require.NoError(t, err)
	require.Equal(t, int64(blob.MinPart+len("last")), object.Size)
	require.Equal(t, "video/mp4", object.Type)
	_, err = s.Parts(t.Context(), m)
	require.ErrorIs(t, err, blob.ErrAbsent, "the upload has ended")
	require.NoError(t, s.Abort(t.Context(), m), "and cannot be aborted")

	again, err := s.Begin(t.Context(), own(t), "video/mp4")
	require.NoError(t, err)
	only := sendPart(t, s, again, 1, "other")
	require.ErrorIs(t, s.Complete(t.Context(), again, []blob.Part{only}), blob.ErrRefused, "the key is in use")
	require.NoError(t, s.Abort(t.Context(), again))
	r, err := s.PutPart(t.Context(), again, 2, life)
	require.NoError(t, err)
	status, _, _ := send(t, r, "late", nil)
	require.Equal(t, http.StatusNotFound, status, "the upload was aborted")
	require.NoError(t, s.Delete(t.Context(), own(t)))
}

// TestAStoreThatDoesNotAnswerIsBusy: the error comes long before the gateway gives up, from a server
// that is down and from a server that takes calls and never answers.
func TestAStoreThatDoesNotAnswerIsBusy(t *testing.T) {
	t.Parallel()
	began := time.Now()
	_, err := at("http://127.0.0.1:9").Head(t.Context(), own(t))
	require.ErrorIs(t, err, blob.ErrBusy)
	require.Less(t, time.Since(began), 2*time.Second)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	_, err = at("http://"+silent.Addr().String()).Begin(t.Context(), own(t), pdf)
	require.ErrorIs(t, err, blob.ErrBusy)
	require.Less(t, time.Since(began), 15*time.Second)
}

func TestAStoreNeedsABucket(t *testing.T) {
	s := &blob.Store{Find: blob.Named("")}
	_, err := s.Head(t.Context(), own(t))
	require.ErrorContains(t, err, "names no bucket")
	require.ErrorContains(t, s.Delete(t.Context(), own(t)), "names no bucket")
}
