package slides_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/stretchr/testify/require"

	workers "lectern/events"
	"lectern/events/slides"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/bus"
	"lectern/shared/stores"
)

// object is a JSON body; entity a record as the service answers it.
type (
	object = it.Object
	entity = it.Entity
)

// bench has an event whose slides are drawn by workers of the test. The test hands the messages over.
type bench struct {
	*it.Client
	seen map[string]bool
	mu   sync.Mutex
	// posts are the messages that workers have sent to their own queue.
	posts [][]byte
	// log has the lines of the workers.
	log stacktest.Log
}

func newBench(t *testing.T) *bench {
	t.Helper()
	d := it.NewClient(t)
	d.NeedsSlides(t)
	return &bench{Client: d, seen: map[string]bool{}}
}

// Send keeps messages (bus.Queue).
func (b *bench) Send(_ context.Context, posts ...bus.Post) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range posts {
		b.posts = append(b.posts, p.Body)
	}
	return nil
}

// worker returns a worker whose process ends at a call.
func (b *bench) worker(calls int64) *slides.Worker {
	w, _ := b.workerWith(calls, nil)
	return w
}

// workerWith returns a worker with its process. The process ends at a call, or calls the hook before the call and
// goes on.
func (b *bench) workerWith(calls int64, hook func()) (*slides.Worker, *it.Process) {
	b.T.Helper()
	process, env := it.StartProcess(b.T, b.Stack, b, calls)
	process.Hook = hook
	env.Log, env.Memory = api.NewLog(io.MultiWriter(b.T.Output(), &b.log)), &api.Memory{}
	return slides.New(slides.Config{
		Table: env.Table, Log: env.Log, Slides: stores.Slides(env), Files: stores.SessionFiles(env), Queue: process, Part: 100,
	}), process
}

// never is more calls than a worker makes.
const never = 1_000_000

// published returns the messages of changes since the last call that a rule sends to the queue of drawings.
func (b *bench) published() (all [][]byte) {
	b.T.Helper()
	var kinds []string
	_, rules := workers.With(workers.Options{Slides: true})
	for _, r := range rules {
		if r.Queue == workers.Drawings {
			kinds = r.Pattern["detail-type"].([]string)
		}
	}
	for _, c := range it.ChangesOf(b.T, b.Stack) {
		if b.seen[c.ID] {
			continue
		}
		b.seen[c.ID] = true
		for _, kind := range kinds {
			if body := it.MessageOf(b.T, c, kind, c.RecordID); body != nil {
				all = append(all, body)
			}
		}
	}
	return all
}

// taken returns the messages that workers have sent to their own queue since the last call.
func (b *bench) taken() [][]byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.posts
	b.posts = nil
	return all
}

// failures hands messages over to a worker, and returns the number that failed.
func (b *bench) failures(w *slides.Worker, receives int, bodies ...[]byte) int {
	b.T.Helper()
	var event events.SQSEvent
	for i, body := range bodies {
		event.Records = append(event.Records, events.SQSMessage{
			MessageId: fmt.Sprint(i), Body: string(body), Attributes: map[string]string{"ApproximateReceiveCount": fmt.Sprint(receives)},
		})
	}
	answer, err := w.Invoke(b.T.Context(), event)
	require.NoError(b.T, err)
	return len(answer.BatchItemFailures)
}

// settle hands every message over until there are none, and returns the number of messages of changes.
func (b *bench) settle() (n int) {
	b.T.Helper()
	w := b.worker(never)
	for range 50 {
		changes, own := b.published(), b.taken()
		if len(changes)+len(own) == 0 {
			return n
		}
		n += len(changes)
		require.Zero(b.T, b.failures(w, 1, append(changes, own...)...))
	}
	require.Fail(b.T, "the messages do not end: a slide is drawn for its own change")
	return n
}

// crash hands each message over to workers that end at each of their calls, until one does not, and returns the
// number of workers that ended.
func (b *bench) crash() (ended int) {
	b.T.Helper()
	for range 50 {
		all := append(b.published(), b.taken()...)
		if len(all) == 0 {
			return ended
		}
		for _, body := range all {
			ended += it.UntilDone(func(calls int64) int { return b.failures(b.worker(calls), int(calls), body) })
		}
	}
	require.Fail(b.T, "the messages do not end")
	return ended
}

// turn turns the slides on or off, and settles.
func (b *bench) turn(input object) entity {
	b.T.Helper()
	answer := b.Command("holding-slides", input)
	b.settle()
	return answer
}

// talk creates an accepted session.
func (b *bench) talk(title string, more ...object) string {
	b.T.Helper()
	return b.Create(200, it.Merged(object{"title": title, "status": "accepted"}, more...)).ID()
}

// person creates a contact.
func (b *bench) person(first, last string) string {
	b.T.Helper()
	return (&it.Contacts{Client: b.Client}).Create(200, object{"email": strings.ToLower(first) + "@example.org", "first_name": first, "last_name": last}).ID()
}

// speakers returns the participants of a session in order.
func speakers(ids ...string) (all []any) {
	for i, id := range ids {
		all = append(all, object{"contact_id": id, "core_role": "speaker", "order": i})
	}
	return all
}

// filesOf returns the files of a session, of a type or of all.
func (b *bench) filesOf(session string, parts ...string) []entity {
	b.T.Helper()
	return b.Do(200, http.MethodGet, "/sessions/"+session+"/files"+it.Query(parts), nil).List("data")
}

// slide returns the slide of a session; nil without one.
func (b *bench) slide(session string) entity {
	b.T.Helper()
	all := b.filesOf(session, "type=holding_slide")
	require.LessOrEqual(b.T, len(all), 1)
	if len(all) == 0 {
		return nil
	}
	return all[0]
}

// link returns the path of a file's address.
func link(t *testing.T, file entity) string {
	t.Helper()
	address, err := url.Parse(file.Text("url"))
	require.NoError(t, err)
	_, name, found := strings.Cut(address.Path, "/files/")
	require.True(t, found)
	return "/files/" + name
}

// picture downloads a slide and decodes it.
func picture(t *testing.T, s *stacktest.Stack, file entity) (image.Image, []byte) {
	t.Helper()
	to := s.As("").Call(t, http.StatusFound, http.MethodGet, link(t, file), nil).Header.Get("Location")
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, to, nil)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer func() { require.NoError(t, answer.Body.Close()) }()
	require.Equal(t, []string{"image/png"}, answer.Header["Content-Type"])
	var content bytes.Buffer
	_, err = content.ReadFrom(answer.Body)
	require.NoError(t, err)
	decoded, err := png.Decode(bytes.NewReader(content.Bytes()))
	require.NoError(t, err)
	require.Equal(t, image.Pt(1920, 1080), decoded.Bounds().Size())
	require.EqualValues(t, content.Len(), file["size"])
	return decoded, content.Bytes()
}

// stored returns the keys of all bytes of files in the organization.
func (b *bench) stored() []string {
	b.T.Helper()
	return b.StoredKeys(b.T, fmt.Sprintf("files/%d/", b.Org))
}

// painted returns a picture of a color in base64.
func painted(t *testing.T, width, height int, c color.Color) string {
	t.Helper()
	p := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range width * height {
		p.Set(i%width, i/width, c)
	}
	var out bytes.Buffer
	require.NoError(t, png.Encode(&out, p))
	return base64.StdEncoding.EncodeToString(out.Bytes())
}
