package scan_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/local/objects"
	"lectern/localstack/test/clamdtest"
	"lectern/shared/blob"
	"lectern/shared/scan"
)

// store puts texts into a bucket of a local S3 server.
type store struct{ *blob.Store }

func newStore(t *testing.T) store {
	t.Helper()
	door, err := objects.Open("scanned", "us-east-1")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, door.Close()) })
	return store{door.Bucket().Store()}
}

// put stores a text under a key.
func (s store) put(t *testing.T, key, text string) scan.Object {
	t.Helper()
	size := int64(len(text))
	r, err := s.Put(t.Context(), blob.Upload{Key: key, Type: "video/mp4", Size: size}, time.Minute)
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), r.Method, r.URL, strings.NewReader(text))
	require.NoError(t, err)
	for name, value := range r.Headers {
		request.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusOK, answer.StatusCode)
	return scan.Object{Store: s.Store, Key: key, Size: size}
}

// TestClamdReadsAllOfAnObject: the mark lies at the end of the first piece, across two pieces, and at the
// end of the object.
func TestClamdReadsAllOfAnObject(t *testing.T) {
	s := newStore(t)
	by, err := scan.Parse("clamd://" + clamdtest.Start(t, "StreamMaxLength 20M", "MaxFileSize 20M"))
	require.NoError(t, err)
	const piece = 4 << 20
	fill := strings.Repeat("film", 3*piece/4+1)
	for name, at := range map[string]int{"first": piece - len(clamdtest.Mark), "across": piece - 7, "last": len(fill)} {
		verdict, err := by.Scan(t.Context(), s.put(t, "marked/"+name, fill[:at]+clamdtest.Mark+fill[at:]))
		require.NoError(t, err)
		require.Equal(t, scan.Infected, verdict, name)
	}
	for name, text := range map[string]string{"empty": "", "one": "x", "pieces": fill} {
		verdict, err := by.Scan(t.Context(), s.put(t, "clean/"+name, text))
		require.NoError(t, err)
		require.Equal(t, scan.Clean, verdict, name)
	}
	_, err = by.Scan(t.Context(), scan.Object{Store: s.Store, Key: "absent", Size: 5})
	require.ErrorIs(t, err, scan.ErrNoVerdict)
	shorter := s.put(t, "shorter", "text")
	shorter.Size = 5
	_, err = by.Scan(t.Context(), shorter)
	require.ErrorIs(t, err, scan.ErrNoVerdict)
}

// TestTheLimitsOfClamdAreTold: a file above the limit of a stream is an error that names the settings, and
// a file that clamd does not read to the end is not scanned.
func TestTheLimitsOfClamdAreTold(t *testing.T) {
	s := newStore(t)
	o := s.put(t, "large", strings.Repeat("film", 1<<20)+clamdtest.Mark)
	_, err := scan.NewClamd("unix", clamdtest.Start(t, "StreamMaxLength 2M")).Scan(t.Context(), o)
	require.ErrorIs(t, err, scan.ErrNoVerdict)
	require.ErrorContains(t, err, "set StreamMaxLength and MaxFileSize of clamd to 524288000 or more")
	few := scan.NewClamd("unix", clamdtest.Start(t, "MaxFileSize 2M", "AlertExceedsMax yes"))
	verdict, err := few.Scan(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, scan.Unread, verdict)
}

// TestOnlyOneAnswerIsClean: a daemon that is not there, or says anything else, gives no verdict.
func TestOnlyOneAnswerIsClean(t *testing.T) {
	s := newStore(t)
	o := s.put(t, "film", strings.Repeat("film", 2<<20))
	for _, answer := range clamdtest.Nonsense {
		verdict, err := clamdtest.Answering(answer).Start(t).Scan(t.Context(), o)
		require.ErrorIs(t, err, scan.ErrNoVerdict, "%q", answer)
		require.Empty(t, verdict)
	}
	_, err := (&clamdtest.Daemon{Answer: "stream: OK\x00", AtOnce: true}).Start(t).Scan(t.Context(), o)
	require.ErrorIs(t, err, scan.ErrNoVerdict, "clamd has not read the file")
	_, err = scan.NewClamd("tcp", "127.0.0.1:9").Scan(t.Context(), o)
	require.ErrorIs(t, err, scan.ErrNoVerdict)
}

// TestALongScanGoesOnWithoutItsRequest: the next request gets the verdict.
func TestALongScanGoesOnWithoutItsRequest(t *testing.T) {
	s, d := newStore(t), &clamdtest.Daemon{Answer: "stream: Bad FOUND\x00", Release: make(chan struct{})}
	slow, o := d.Start(t), s.put(t, "film", "film")
	slow.Wait = 50 * time.Millisecond
	for range 3 {
		_, err := slow.Scan(t.Context(), o)
		require.ErrorIs(t, err, scan.ErrNoVerdict)
	}
	close(d.Release)
	slow.Wait = 10 * time.Second
	verdict, err := slow.Scan(t.Context(), o)
	require.NoError(t, err)
	require.Equal(t, scan.Infected, verdict)
	require.EqualValues(t, 1, d.Streams.Load())
}

// TestTheNextRequestScansAgain after a scan that failed once its request had gone.
func TestTheNextRequestScansAgain(t *testing.T) {
	s, d := newStore(t), &clamdtest.Daemon{Answer: "nonsense\x00", Release: make(chan struct{})}
	slow, o := d.Start(t), s.put(t, "film", "film")
	slow.Wait = 50 * time.Millisecond
	_, err := slow.Scan(t.Context(), o)
	require.ErrorIs(t, err, scan.ErrNoVerdict)
	close(d.Release)
	time.Sleep(time.Second) // The scan ends, and nobody learns of it.
	slow.Wait = 10 * time.Second
	_, err = slow.Scan(t.Context(), o)
	require.ErrorIs(t, err, scan.ErrNoVerdict)
	require.EqualValues(t, 2, d.Streams.Load())
}
