package sessionfiles_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/blob"
	"lectern/shared/sessionfile"
	"lectern/shared/upload"
)

const (
	megabyte = 1 << 20
	// largest is the size of the largest file of a form.
	largest = 50 * megabyte
	// before and after stand around the bytes of a file in a form.
	before = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"film.dat\"\r\n\r\n"
	after  = "\r\n--b\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nA film\r\n--b--\r\n"
	// ofForm is the Content-Type of a form.
	ofForm = "multipart/form-data; boundary=b"
)

// pattern gives bytes without an end that no form has as a boundary.
type pattern struct{ at int }

func (p *pattern) Read(into []byte) (int, error) {
	for i := range into {
		into[i] = byte(p.at*7 + p.at/251)
		p.at++
	}
	return len(into), nil
}

// film returns so many bytes.
func film(size int64) io.Reader { return io.LimitReader(&pattern{}, size) }

// streamed returns a client of a service that takes forms of any length.
func streamed(t *testing.T) *desk {
	t.Helper()
	d := newDesk(t, feature)
	d.Inside(t, "neither a gateway nor a Lambda takes a large form")
	return d
}

// stream sends a body in chunks, or with its length if that is known. It returns the status and the answer;
// 0 for a connection that the server closes first.
func (d *desk) stream(ctx context.Context, body io.Reader, length int64, header ...string) (int, entity) {
	d.T.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL+d.EventPath(d.path("/upload")), body)
	require.NoError(d.T, err)
	request.ContentLength = length
	request.Header.Set("Content-Type", ofForm)
	request.Header.Set(stacktest.TokenHeader, d.Token)
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, nil
	}
	defer answer.Body.Close()
	var all entity
	require.NoError(d.T, json.NewDecoder(answer.Body).Decode(&all))
	return answer.StatusCode, all
}

// stored returns the records of bytes.
func (d *desk) stored() (all []*upload.Upload) {
	d.T.Helper()
	for item, err := range d.Table(d.T).Between(d.T.Context(), upload.At(d.Org, d.Event).Partition(), "0", "~") {
		require.NoError(d.T, err)
		u, err := upload.DecodeAny(item)
		require.NoError(d.T, err)
		all = append(all, u)
	}
	return all
}

// hasBytes reports whether an upload has parts or an object.
func (d *desk) hasBytes(u *upload.Upload) bool {
	d.T.Helper()
	_, err := d.Bucket(d.T).Head(d.T.Context(), u.Object)
	_, open := d.Bucket(d.T).Parts(d.T.Context(), blob.Multipart{Key: u.Object, ID: u.Multipart})
	return err == nil || open == nil
}

// digest returns the SHA-256 of bytes.
func digest(t *testing.T, from io.Reader) string {
	t.Helper()
	sum := sha256.New()
	_, err := io.Copy(sum, from)
	require.NoError(t, err)
	return hex.EncodeToString(sum.Sum(nil))
}

// TestLargeForms: files of one part, of several, and the largest are stored as they are sent.
func TestLargeForms(t *testing.T) {
	d := streamed(t)
	for _, size := range []int64{blob.MinPart - 1, blob.MinPart, blob.MinPart + 1, largest} {
		body := io.MultiReader(strings.NewReader(before), film(size), strings.NewReader(after))
		status, answer := d.stream(t.Context(), body, int64(len(before)+len(after))+size)
		require.Equal(t, 201, status, "%s", answer)
		made := entity(answer.At("data").(object))
		require.Equal(t, object{"size": float64(size), "title": "A film", "mimetype": "application/octet-stream"}, it.Pick(made, "size", "title", "mimetype"))
		got, err := http.Get(d.follow(302, made))
		require.NoError(t, err)
		require.Equal(t, digest(t, film(size)), digest(t, got.Body), size)
		require.NoError(t, got.Body.Close())
	}
	require.Len(t, d.list(), 4)
	it.EngineOf(t, d.Stack).RequireWhole(t)
}

// TestALargeFormIsARequestAsOthers: it is in the log of requests with its client, its link begins with the
// stage, and a refusal has the headers of any other.
func TestALargeFormIsARequestAsOthers(t *testing.T) {
	s := stacktest.Start(t, stacktest.Features(feature), stacktest.Ingesting(), stacktest.BelowStage("live"))
	s.Inside(t, "neither a gateway nor a Lambda takes a large form")
	d := &desk{&it.Client{Stack: s, T: t}, ""}
	d.session = d.NewSessions("A talk")[0]
	large, err := io.ReadAll(io.MultiReader(strings.NewReader(before), film(11*megabyte), strings.NewReader(after)))
	require.NoError(t, err)
	made := s.Call(t, 201, http.MethodPost, s.EventPath(d.path("/upload")),
		stacktest.WithHeaders(string(large), "Content-Type", ofForm, "User-Agent", "Slides/1", "X-Request-Id", "a-large-form"))
	require.True(t, strings.HasPrefix(entity(made.JSON(t)).At("data.url").(string), s.URL+"/files/"))
	require.Equal(t, "a-large-form", made.Header.Get(stacktest.RequestID))
	entries := s.Requests(t, made)
	last := entries[len(entries)-1]
	require.Equal(t, []string{"127.0.0.1", "Slides/1", http.MethodPost}, []string{last.IP, last.UserAgent, last.Method})

	small := stacktest.WithHeaders(before+"x"+after, "Content-Type", ofForm)
	refused := s.As("").Call(t, 401, http.MethodPost, s.EventPath(d.path("/upload")), small)
	other := s.As("").Call(t, 401, http.MethodGet, s.EventPath(d.path("")), nil)
	other.Header["Www-Authenticate"] = other.Header["X-Amzn-Remapped-Www-Authenticate"] // No gateway renames it here.
	delete(other.Header, "X-Amzn-Remapped-Www-Authenticate")
	require.ElementsMatch(t, slices.Collect(maps.Keys(other.Header)), slices.Collect(maps.Keys(refused.Header)))
	require.Equal(t, other.Body, refused.Body)
}

// TestARefusalDoesNotWaitForTheBody: a client that may not upload has its answer while its form does not come.
func TestARefusalDoesNotWaitForTheBody(t *testing.T) {
	d := streamed(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	status, answer := (&desk{d.WithToken("x"), d.session}).stream(ctx, silent{ctx}, -1)
	require.Equal(t, 401, status, answer)
	status, answer = d.of(it.UnknownID).stream(ctx, silent{ctx}, -1)
	require.Equal(t, 404, status, answer)
}

// TestFormsOverTheLimit: a length over the limit is refused before the bytes come, and bytes over the limit
// as soon as they come.
func TestFormsOverTheLimit(t *testing.T) {
	d := streamed(t)
	connection, err := net.Dial("tcp", strings.TrimPrefix(d.URL, "http://"))
	require.NoError(t, err)
	defer connection.Close()
	require.NoError(t, connection.SetDeadline(time.Now().Add(20*time.Second)))
	_, err = fmt.Fprintf(connection, "POST %s HTTP/1.1\r\nHost: x\r\n%s: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n",
		d.EventPath(d.path("/upload")), stacktest.TokenHeader, d.Token, ofForm, sessionfile.MaxForm+1)
	require.NoError(t, err)
	answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
	require.NoError(t, err)
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, 413, answer.StatusCode, "%s", text)
	require.Contains(t, string(text), "/files.")
	require.NoError(t, answer.Body.Close())

	over := func() io.Reader {
		return io.MultiReader(strings.NewReader(before), film(largest+1), strings.NewReader(after))
	}
	endless := io.MultiReader(strings.NewReader(before), &pattern{})
	for name, send := range map[string]func() (int, entity){
		"one byte more":    func() (int, entity) { return d.stream(t.Context(), over(), int64(len(before)+len(after)+1)+largest) },
		"one more, chunks": func() (int, entity) { return d.stream(t.Context(), over(), -1) },
		"endless":          func() (int, entity) { return d.stream(t.Context(), endless, -1) },
		"an endless text": func() (int, entity) {
			return d.stream(t.Context(), io.MultiReader(strings.NewReader(strings.Replace(before, "film.dat", "", 1)), &pattern{}), -1)
		},
		"endless parts": func() (int, entity) {
			return d.stream(t.Context(), io.MultiReader(strings.NewReader("--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n"), &pattern{}), -1)
		},
		"an endless header": func() (int, entity) {
			return d.stream(t.Context(), io.MultiReader(strings.NewReader("--b\r\nX: "), letters{}), -1)
		},
	} {
		status, answer := send()
		if status != 0 { // The server closes a connection whose bytes it does not read.
			require.Contains(t, []int{400, 413}, status, "%s: %s", name, answer)
		}
	}
	for _, u := range d.stored() {
		require.False(t, d.hasBytes(u))
	}
	require.Empty(t, d.list())
}

// letters gives letters without an end.
type letters struct{}

func (letters) Read(into []byte) (int, error) {
	for i := range into {
		into[i] = 'x'
	}
	return len(into), nil
}

// TestFormsThatEndInTheMiddle leave no file and no bytes, and no record after maintenance.
func TestFormsThatEndInTheMiddle(t *testing.T) {
	d := streamed(t)
	for _, size := range []int64{100, blob.MinPart + 100, 3 * blob.MinPart} {
		status, answer := d.stream(t.Context(), io.MultiReader(strings.NewReader(before), film(size)), -1)
		require.Equal(t, 400, status)
		it.RequireInvalid(t, answer, "file")
	}
	// A client that goes away: the request ends without the end of its body.
	ctx, leave := context.WithCancel(t.Context())
	body, to := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = d.stream(ctx, body, largest)
	}()
	_, err := io.Copy(to, io.MultiReader(strings.NewReader(before), film(2*blob.MinPart+100)))
	require.NoError(t, err)
	// A form waits for the memory of a part while forms of other tests have all of it.
	require.Eventually(t, func() bool { return len(d.stored()) == 3 }, 2*time.Minute, 20*time.Millisecond)
	leave()
	require.NoError(t, to.CloseWithError(context.Canceled))
	<-done
	// A file whose properties are wrong, which the service knows after the bytes.
	wrong := strings.Replace(after, "\"title\"\r\n\r\nA film", "\"content_slot_id\"\r\n\r\n"+it.UnknownID, 1)
	status, answer := d.stream(t.Context(), io.MultiReader(strings.NewReader(before), film(2*blob.MinPart), strings.NewReader(wrong)), -1)
	require.Equal(t, 400, status)
	it.RequireInvalid(t, answer, "content_slot_id")

	require.Empty(t, d.list())
	require.Len(t, d.stored(), 4)
	for _, u := range d.stored() {
		require.Eventually(t, func() bool { return !d.hasBytes(u) }, 20*time.Second, 20*time.Millisecond)
	}
	it.EngineOf(t, d.Stack).RequireWhole(t)
	require.EqualValues(t, 0, d.Maintain(0).Uploads)
	require.EqualValues(t, 4, d.Maintain(2).Uploads)
	require.Empty(t, d.stored())
}

// TestACrashInAForm: the record leads maintenance to the parts, and to an object without a file.
func TestACrashInAForm(t *testing.T) {
	d := newDesk(t, feature)
	d.Do(201, http.MethodPost, d.path("/upload"), before+pdf+after, "Content-Type", ofForm)
	crashed := *d.stored()[0]
	parts, err := d.Bucket(t).Begin(t.Context(), crashed.Object+"-parts", "text/plain")
	require.NoError(t, err)
	_, err = d.Bucket(t).Send(t.Context(), parts, 1, []byte("Good morning."))
	require.NoError(t, err)
	item, err := d.Table(t).Get(t.Context(), upload.At(d.Org, d.Event).Key(d.session, sessionfile.Kind.Name, crashed.ID))
	require.NoError(t, err)
	var stored object
	require.NoError(t, json.Unmarshal(item.Data, &stored))
	id := "00000000-0000-4000-8000-000000000001"
	stored["id"], stored["object"], stored["multipart"], stored["ends"] = id, parts.Key, parts.ID, time.Now().Add(-2*time.Hour).UTC()
	d.insert(t, id, it.Encode(t, stored))
	require.EqualValues(t, 1, d.Maintain(0).Uploads)
	_, err = d.Bucket(t).Parts(t.Context(), parts)
	require.ErrorIs(t, err, blob.ErrAbsent)
	require.Len(t, d.list(), 1)
}

// TestARepeatedLargeForm keeps the bytes of the first.
func TestARepeatedLargeForm(t *testing.T) {
	d := streamed(t)
	send := func(status int, size int64) entity {
		got, answer := d.stream(t.Context(), io.MultiReader(strings.NewReader(before), film(size), strings.NewReader(after)), -1, "Idempotency-Key", "one")
		require.Equal(t, status, got, "%s", answer)
		return answer
	}
	const size = blob.MinPart + 7
	first := send(201, size)
	require.Equal(t, first, send(201, size))
	it.RequireError(t, send(422, size+1), "IDEMPOTENCY_KEY_REUSED", "")
	require.Len(t, d.list(), 1)
	with := 0
	for _, u := range d.stored() {
		if d.hasBytes(u) {
			with++
		}
	}
	require.Equal(t, 1, with)
	it.EngineOf(t, d.Stack).RequireWhole(t)
}

// silent is a body that never comes.
type silent struct{ context.Context }

func (s silent) Read([]byte) (int, error) {
	<-s.Done()
	return 0, s.Err()
}

// TestACallerOverTheLimitSendsNoForm: the 429 comes before a byte of the form.
func TestACallerOverTheLimitSendsNoForm(t *testing.T) {
	d := streamed(t)
	token := d.TokenWith(t, object{"scopes": []any{"write:sessions"}, "limit": 1})
	tight := &desk{d.WithToken(token), d.session}
	tight.begin(pdf)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	status, answer := tight.stream(ctx, silent{ctx}, megabyte)
	require.Equal(t, 429, status, answer)
}
