package slides_test

import (
	"encoding/base64"
	"fmt"
	"image/color"
	"net/http"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/functions/operator"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/apierr"
)

// TestAClientCannotChangeASlide: 409 for every write of the file, with a reason. Without the slide, the file is
// a 404.
func TestAClientCannotChangeASlide(t *testing.T) {
	b := newBench(t)
	id := b.talk("A talk")
	b.turn(object{"on": true})
	was := b.slide(id)
	path := "/sessions/" + id + "/files/" + was.ID()
	calls := []struct {
		method, path string
		body         any
	}{
		{http.MethodPut, path, object{"title": "Mine"}}, {http.MethodPut, path, was},
		{http.MethodPost, path + "/replace", object{"filename": "a.png", "size_bytes": 10}},
		{http.MethodPost, path + "/complete", nil}, {http.MethodDelete, path, nil},
	}
	for _, c := range calls {
		refused := b.Do(409, c.method, c.path, c.body)
		require.Equal(t, "HOLDING_SLIDE", refused["code"], c.path)
		require.Contains(t, refused["message"], "The service draws the holding slide.")
	}
	require.Equal(t, was, b.slide(id))
	require.Len(t, b.stored(), 1)
	b.turn(object{"on": false})
	for _, c := range calls {
		b.Do(404, c.method, c.path, c.body)
	}
}

// TestASlideTakesNoRoom of a slot or of the session, and a client's own file of the type is a file as any other.
func TestASlideTakesNoRoom(t *testing.T) {
	b := newBench(t)
	b.SetFeature("content_slots", true)
	id := b.talk("A talk")
	b.turn(object{"on": true})
	slot := b.Command("content-slot-create", object{"name": "Slides", "content_type": "holding_slide"}).ID()
	shelf := it.Shelf{Client: b.Client, Session: id}
	file, _ := shelf.Add(object{"content_slot_id": slot})
	require.Len(t, b.filesOf(id, "type=holding_slide"), 2)
	b.Do(200, http.MethodPut, shelf.Path("/"+file), object{"title": "Mine"})
	b.Call(t, 204, http.MethodDelete, b.EventPath(shelf.Path("/"+file)), nil)
	require.NotNil(t, b.slide(id))
	for range 100 {
		b.Do(201, http.MethodPost, shelf.Path(""), object{"filename": "a.txt", "size_bytes": 1})
	}
	b.Do(409, http.MethodPost, shelf.Path(""), object{"filename": "a.txt", "size_bytes": 1})
}

// TestTheCommandShowsTheSlides: off before the first use; pictures stay until null is sent.
func TestTheCommandShowsTheSlides(t *testing.T) {
	stacktest.Everywhere(t)
	c := it.NewClient(t)
	c.NeedsSlides(t)
	shown := c.Command("holding-slides", object{})
	require.Equal(t, object{"on": false, "background": nil, "logo": nil}, it.Pick(shown, "on", "background", "logo"))
	red := painted(t, 64, 36, color.RGBA{R: 0xff, A: 0xff})
	set := c.Command("holding-slides", object{"on": true, "background": red})
	ground := set.At("background").(object)
	require.Equal(t, object{"type": "image/png", "width": 64.0, "height": 36.0}, it.Pick(ground, "type", "width", "height"))
	require.Len(t, ground["sha256"], 64)
	require.Equal(t, set, c.Command("holding-slides", object{}))
	off := c.Command("holding-slides", object{"on": false, "logo": red})
	require.Equal(t, ground, off["background"])
	require.Equal(t, ground, off["logo"])
	require.Equal(t, false, off["on"])
	last := c.Command("holding-slides", object{"background": nil, "logo": nil})
	require.Equal(t, object{"on": false, "background": nil, "logo": nil}, it.Pick(last, "on", "background", "logo"))
	require.Greater(t, last.Text("updated_at"), off.Text("updated_at"))
}

// TestADeploymentWithoutTheWorkerSaysSo: the command is refused, also to show the slides, and writes nothing.
func TestADeploymentWithoutTheWorkerSaysSo(t *testing.T) {
	b := newBench(t)
	b.turn(object{"on": true})
	env, before := b.Env(t), it.EngineOf(t, b.Stack).Dump(t)
	env.HoldingSlides = false
	for _, more := range []object{{}, {"on": false}} {
		input := it.Encode(t, it.Merged(object{"org_id": b.Org, "event_id": b.Event}, more))
		_, err := operator.New(env).Do(t.Context(), "holding-slides", input)
		refused := (*apierr.Error)(nil)
		require.ErrorAs(t, err, &refused)
		require.Equal(t, 409, refused.Status)
		require.Equal(t, "NO_HOLDING_SLIDES", refused.Code)
		require.Equal(t, "The deployment has no worker that draws holding slides. Set the option holdingSlides to true, and deploy again.",
			refused.Message)
	}
	require.Equal(t, before, it.EngineOf(t, b.Stack).Dump(t))
}

// TestAFullSessionHasNoSlide, and loses no write by it. A slide that has no room for the next version begins anew.
func TestAFullSessionHasNoSlide(t *testing.T) {
	b := newBench(t)
	long := strings.Repeat("x", 64<<10)
	var texts object
	for i := range 2 {
		texts = it.Merged(texts, object{b.NewField(fmt.Sprint("Text ", i), "wysiwyg"): long})
	}
	id := b.talk("Talk 0", object{"custom_fields": texts})
	// fill fills the session, so that one more character is refused.
	fill := func() {
		b.T.Helper()
		put := func(n int) int {
			body := stacktest.WithHeaders(object{"description": long[:n]})
			return b.TrySend(b.T, http.MethodPut, b.EventPath("/sessions/"+id), body).Status
		}
		least := sort.Search(len(long), func(n int) bool { return put(n) == 400 })
		require.Less(t, least, len(long))
		require.Equal(t, 200, put(least-1))
	}
	fill()
	b.turn(object{"on": true})
	require.Nil(t, b.slide(id))
	require.Contains(t, b.log.String(), "a session has no room for a holding slide")
	require.Empty(t, b.stored())
	b.Put(200, id, object{"description": "short"})
	b.settle()
	require.NotNil(t, b.slide(id))
	fill()
	b.settle()
	for i := range 9 {
		b.Put(200, id, object{"title": fmt.Sprint("Talk ", 9-i)})
		b.settle()
	}
	is := b.slide(id)
	require.Equal(t, is["created_at"], is["updated_at"], "the tenth version has one digit more")
	picture(t, b.Stack, is)
	require.Len(t, b.stored(), 1)
	it.EngineOf(t, b.Stack).RequireWhole(t)
}

// noise is a picture of many bytes: random colors do not compress.
func noise(size int) string {
	return base64.StdEncoding.EncodeToString(append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, size)...))
}

// TestWrongPictures: each refusal names the picture, and writes nothing.
func TestWrongPictures(t *testing.T) {
	b := newBench(t)
	whole, err := base64.StdEncoding.DecodeString(painted(t, 30, 20, color.Black))
	require.NoError(t, err)
	half := base64.StdEncoding.EncodeToString(whole[:len(whole)-30])
	before := it.EngineOf(t, b.Stack).Dump(t)
	for _, c := range []struct {
		field string
		body  object
	}{
		{"background", object{"background": "not base64!"}}, {"logo", object{"logo": "bm8gcGljdHVyZQ=="}}, {"logo", object{"logo": ""}},
		{"background", object{"background": base64.StdEncoding.EncodeToString([]byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;"))}},
		{"background", object{"background": half}}, {"background", object{"background": noise(2<<20 + 1)}}, {"logo", object{"logo": noise(600 << 10)}},
		{"background", object{"background": painted(t, 4000, 1100, color.White)}}, {"logo", object{"logo": painted(t, 8193, 1, color.White)}}, {"on", object{"on": nil}}, {"on", object{"on": "yes"}},
	} {
		_, refused := b.TryCommand("holding-slides", it.Merged(object{"on": true}, c.body))
		require.NotNil(t, refused, "%.40v", c.body)
		require.Equal(t, 400, refused.Status)
		require.Equal(t, c.field, refused.Details["field"], refused.Message)
	}
	require.Equal(t, before, it.EngineOf(t, b.Stack).Dump(t))
	_, refused := b.TryCommand("holding-slides", object{"event_id": b.Event + 1000, "on": true})
	require.Equal(t, 404, refused.Status)
}

// parts returns the number of stored parts of pictures.
func (b *bench) parts() (n int) {
	for key := range it.EngineOf(b.T, b.Stack).Dump(b.T) {
		if strings.HasPrefix(key.SK, "P#background#") {
			n++
		}
	}
	return n
}

// TestALargePictureHasParts, and a smaller one in its place leaves none of them.
func TestALargePictureHasParts(t *testing.T) {
	b := newBench(t)
	id := b.talk("A talk")
	large := painted(t, 1300, 800, color.White)
	raw, err := base64.StdEncoding.DecodeString(large)
	require.NoError(t, err)
	tail := base64.StdEncoding.EncodeToString(append(raw, make([]byte, 2<<20-len(raw))...))
	b.turn(object{"on": true, "background": tail})
	was := b.slide(id)
	picture(t, b.Stack, was)
	require.Equal(t, 8, b.parts())
	b.turn(object{"background": painted(t, 8, 8, color.Black)})
	require.Equal(t, 1, b.parts())
	require.NotEqual(t, was["url"], b.slide(id)["url"])
	it.EngineOf(t, b.Stack).RequireWhole(t)
}
