package form_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/shared/apierr"
	"lectern/shared/form"
)

// kept is a sink that keeps the parts.
type kept struct {
	name  string
	parts []int
	bytes.Buffer
}

func (k *kept) Begin(name string, _ []byte) error { k.name = name; return nil }

func (k *kept) Send(_ context.Context, _ int32, part []byte) error {
	k.parts = append(k.parts, len(part))
	_, err := k.Write(part)
	return err
}

var config = form.Config{Texts: []string{"title"}, MaxFile: 6 << 20, Larger: "Send it directly.", PartTime: time.Minute}

// patient is a body without a deadline.
type patient struct{ io.Reader }

func (patient) SetReadDeadline(time.Time) error { return errors.ErrUnsupported }

const (
	before = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n"
	after  = "\r\n--b\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nA\r\n--b--\r\n"
)

// read reads a form, and returns the whole file.
func read(t *testing.T, body io.Reader) (*kept, string, error) {
	t.Helper()
	k := &kept{}
	r, err := form.Open(patient{body}, config, k)
	require.NoError(t, err)
	defer r.Close()
	err = r.Read(t.Context(), "b")
	return k, k.String() + string(r.Rest()), err
}

// TestFilesInParts: all bytes come, in parts of one size but the last.
func TestFilesInParts(t *testing.T) {
	for size, parts := range map[int][]int{1: nil, 5<<20 - 1: nil, 5 << 20: nil, 5<<20 + 1: {5 << 20}, 6 << 20: {5 << 20}} {
		file := strings.Repeat("\r\n--", size/4+1)[:size]
		k, whole, err := read(t, strings.NewReader(before+file+after))
		require.NoError(t, err)
		require.Equal(t, parts, k.parts, size)
		require.True(t, file == whole, size)
		require.Equal(t, "a", k.name)
	}
}

// TestEndsAndLimits: a form that ends early is a 400 at each byte, and one that is too long a 413.
func TestEndsAndLimits(t *testing.T) {
	whole := before + "x" + after
	for end := range len(whole) - 2 {
		_, _, err := read(t, strings.NewReader(whole[:end]))
		refused := (*apierr.Error)(nil)
		require.True(t, errors.As(err, &refused), end)
		require.Equal(t, []any{400, "file"}, []any{refused.Status, refused.Details["field"]}, end)
	}
	_, _, err := read(t, strings.NewReader(whole[:len(whole)-2]))
	require.NoError(t, err)
	for _, long := range []string{before + strings.Repeat("x", 6<<20+1) + after, before + "x\r\n--b\r\n\r\n" + strings.Repeat("x", 70_000) + after} {
		_, _, err := read(t, strings.NewReader(long))
		require.ErrorContains(t, err, "Send it directly.")
	}
}

// TestFormsAtOnce: a process reads so many, and asks one more client to come again.
func TestFormsAtOnce(t *testing.T) {
	open := make([]*form.Reader, 16)
	for i := range open {
		r, err := form.Open(patient{strings.NewReader("")}, config, &kept{})
		require.NoError(t, err)
		open[i] = r
	}
	_, err := form.Open(patient{strings.NewReader("")}, config, &kept{})
	require.Equal(t, apierr.Unavailable(), err)
	for _, r := range open {
		r.Close()
	}
	_, _, err = read(t, strings.NewReader(before+"x"+after))
	require.NoError(t, err)
}

// waiting is a sink whose parts are sent when go on.
type waiting struct {
	kept
	on chan struct{}
}

func (w *waiting) Send(ctx context.Context, number int32, part []byte) error {
	<-w.on
	return w.kept.Send(ctx, number, part)
}

// counting is a sink that counts what is sent at once.
type counting struct {
	kept
	mu         sync.Mutex
	now, most  int
	firstAlone bool
	whole      map[int32][]byte
}

func (c *counting) Send(_ context.Context, number int32, part []byte) error {
	c.mu.Lock()
	c.now++
	c.most = max(c.most, c.now)
	if c.whole == nil {
		c.whole = map[int32][]byte{}
	}
	c.whole[number] = bytes.Clone(part)
	c.mu.Unlock()
	time.Sleep(200 * time.Millisecond) // A slow machine reads the next part in this time.
	c.mu.Lock()
	defer c.mu.Unlock()
	c.firstAlone = c.firstAlone || number == 1 && len(c.whole) == 1
	c.now--
	return nil
}

// TestTwoPartsAreSentAtOnce, after the first one.
func TestTwoPartsAreSentAtOnce(t *testing.T) {
	file := make([]byte, 26<<20)
	for i := range file {
		file[i] = byte(i >> 20)
	}
	large, c := config, &counting{}
	large.MaxFile = len(file)
	r, err := form.Open(patient{strings.NewReader(before + string(file) + after)}, large, c)
	require.NoError(t, err)
	defer r.Close()
	require.NoError(t, r.Read(t.Context(), "b"))
	require.Equal(t, []any{2, true, 5}, []any{c.most, c.firstAlone, len(c.whole)})
	var joined []byte
	for number := range int32(5) {
		joined = append(joined, c.whole[number+1]...)
	}
	require.True(t, bytes.Equal(file, append(joined, r.Rest()...)))
}

// TestFormsShareTheMemoryOfAFewParts: more forms than parts are held come to their end, also while the first
// parts of all are not sent.
func TestFormsShareTheMemoryOfAFewParts(t *testing.T) {
	on, done := make(chan struct{}), make(chan string)
	file := strings.Repeat("x", 6<<20)
	for range 12 {
		go func() {
			k := &waiting{on: on}
			r, err := form.Open(patient{strings.NewReader(before + file + after)}, config, k)
			if err == nil {
				defer r.Close()
				err = r.Read(context.Background(), "b")
			}
			if err != nil {
				done <- err.Error()
				return
			}
			done <- k.String() + string(r.Rest())
		}()
	}
	time.Sleep(50 * time.Millisecond)
	close(on)
	for range 12 {
		require.True(t, file == <-done)
	}
}

// TestAFormThatWaitsTooLong for memory is a 503.
func TestAFormThatWaitsTooLong(t *testing.T) {
	var open []*form.Reader
	begin := func(c form.Config) *form.Reader {
		r, err := form.Open(patient{strings.NewReader(before + "x" + after)}, c, &kept{})
		require.NoError(t, err)
		open = append(open, r)
		return r
	}
	for range 6 {
		require.NoError(t, begin(config).Read(t.Context(), "b"))
	}
	quick := config
	quick.PartTime = 20 * time.Millisecond
	require.Equal(t, apierr.Unavailable(), begin(quick).Read(t.Context(), "b"))
	for _, one := range open {
		one.Close()
	}
	_, _, err := read(t, strings.NewReader(before+"x"+after))
	require.NoError(t, err)
}

// TestASlowFormEnds when a part has not come in its time, and the server answers at once.
func TestASlowFormEnds(t *testing.T) {
	quick := config
	quick.PartTime = 500 * time.Millisecond // A slow machine reads a part in this time.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reader, err := form.Open(body{r.Body, http.NewResponseController(w)}, quick, &kept{})
		if err == nil {
			err = reader.Read(r.Context(), "b")
			reader.Close()
		}
		_, _ = io.WriteString(w, err.Error())
	}))
	t.Cleanup(server.Close)
	for _, begun := range []string{"", before[:20], before + "x", before + strings.Repeat("x", 5<<20)} {
		slow, client := io.Pipe()
		go func() { _, _ = client.Write([]byte(begun)) }()
		began := time.Now()
		answer, err := http.Post(server.URL, "multipart/form-data", slow)
		require.NoError(t, err)
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.Contains(t, string(text), "too slowly")
		require.Less(t, time.Since(began), 10*time.Second)
		require.NoError(t, answer.Body.Close())
		require.NoError(t, client.Close())
	}
}

// body is a body that a server reads.
type body struct {
	io.Reader
	*http.ResponseController
}

// refusing is a sink that cannot send.
type refusing struct{ kept }

func (refusing) Send(context.Context, int32, []byte) error { return errors.New("no bucket") }

// TestAPartThatIsNotSentEndsTheForm, also if it is the last one.
func TestAPartThatIsNotSentEndsTheForm(t *testing.T) {
	r, err := form.Open(patient{strings.NewReader(before + strings.Repeat("x", 6<<20) + after)}, config, &refusing{})
	require.NoError(t, err)
	defer r.Close()
	require.EqualError(t, r.Read(t.Context(), "b"), "no bucket")
}

// TestARefusedFormKeepsItsConnection: a form that has come whole leaves no deadline, which would end the
// connection during the answer.
func TestARefusedFormKeepsItsConnection(t *testing.T) {
	ended := make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reader, err := form.Open(body{r.Body, http.NewResponseController(w)}, config, &refusing{})
		if err == nil {
			err = reader.Read(r.Context(), "b")
			reader.Close()
		}
		time.Sleep(1500 * time.Millisecond) // The bucket removes what was sent.
		ended <- r.Context().Err()
		_, _ = io.WriteString(w, err.Error())
	}))
	t.Cleanup(server.Close)
	answer, err := http.Post(server.URL, "multipart/form-data", strings.NewReader(before+strings.Repeat("x", 6<<20)+after))
	require.NoError(t, err)
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, "no bucket", string(text))
	require.NoError(t, <-ended)
}
