package slides_test

import (
	"fmt"
	"image/color"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

// TestSlidesGoOnAfterAnyEnd: the worker ends at every call of table, bucket and queue. No slide is without
// bytes, and after the sweep no bytes are without a slide.
func TestSlidesGoOnAfterAnyEnd(t *testing.T) {
	b := newBench(t)
	ada := b.person("Ada", "Lovelace")
	id := b.talk("A talk", object{"participants": speakers(ada)})
	engine := it.EngineOf(t, b.Stack)
	steps := []func(){
		func() { b.Command("holding-slides", object{"on": true}) },
		func() { b.Put(200, id, object{"title": "Another talk"}) },
		func() { (&it.Contacts{Client: b.Client}).Put(200, ada, object{"last_name": "King"}) },
		func() { b.Put(200, id, object{"status": "declined"}) },
		func() { b.Put(200, id, object{"status": "accepted"}) },
		func() { b.Delete(200, id) },
		func() { b.Restore(200, id) },
	}
	for i, step := range steps {
		step()
		require.Greater(t, b.crash(), 3, i)
		engine.RequireWhole(t)
		if i == 3 || i == 5 {
			continue
		}
		slide := b.slide(id)
		require.NotNil(t, slide, i)
		picture(t, b.Stack, slide)
	}
	b.Maintain(1)
	require.Len(t, b.stored(), 1)
	engine.RequireWhole(t)
	before := engine.Dump(t)
	b.settle()
	require.Equal(t, before, engine.Dump(t))
}

// TestWorkersAtOnce: sixteen workers with messages of many changes agree on the last state.
func TestWorkersAtOnce(t *testing.T) {
	b := newBench(t)
	id := b.talk("A talk")
	b.turn(object{"on": true})
	for i := range 6 {
		b.Put(200, id, object{"title": fmt.Sprint("Talk ", i)})
	}
	all := b.published()
	var running sync.WaitGroup
	for range 4 {
		w := b.worker(never)
		running.Go(func() {
			for range 5 {
				if b.failures(w, 1, all...) == 0 {
					return
				}
			}
		})
	}
	running.Wait()
	require.Zero(t, b.failures(b.worker(never), 1, all...))
	was := b.slide(id)
	b.settle()
	require.Equal(t, was, b.slide(id))
	it.EngineOf(t, b.Stack).RequireWhole(t)
	b.Maintain(1)
	require.Len(t, b.stored(), 1)
}

// TestABackgroundIsReplacedBesideADrawing, at each call of the worker: no message fails, and the slide has the last
// background.
func TestABackgroundIsReplacedBesideADrawing(t *testing.T) {
	b := newBench(t)
	id := b.talk("A talk")
	b.turn(object{"on": true, "background": painted(t, 8, 8, color.White)})
	for calls := int64(1); ; calls++ {
		b.Put(200, id, object{"title": fmt.Sprint("Talk ", calls)})
		gray := color.Gray{Y: uint8(100 + calls)}
		replace := sync.OnceFunc(func() { b.Command("holding-slides", object{"background": painted(t, 8, 8, gray)}) })
		w, process := b.workerWith(calls, replace)
		require.Zero(t, b.failures(w, 1, append(b.published(), b.taken()...)...))
		if process.Left() > 0 {
			require.Greater(t, calls, int64(10))
			return
		}
		b.settle()
		shown, _ := picture(t, b.Stack, b.slide(id))
		require.Equal(t, color.RGBAModel.Convert(gray), color.RGBAModel.Convert(shown.At(0, 0)))
		require.Len(t, b.stored(), 1)
	}
}

// TestAMessageWithoutSenseFails, and one of what is gone does nothing.
func TestAMessageWithoutSenseFails(t *testing.T) {
	b := newBench(t)
	b.turn(object{"on": true})
	for _, bad := range []string{`{`, `{}`, `{"detail": {"org": 1}}`} {
		require.Equal(t, 1, b.failures(b.worker(never), 1, []byte(bad)), bad)
	}
	for _, gone := range []string{
		fmt.Sprintf(`{"visit": {"org": %d, "event": %d, "session": %q}}`, b.Org, b.Event, it.UnknownID),
		`{"visit": {"org": 1, "event": 2, "session": "x"}}`, `{"scan": {"org": 1, "event": 2}}`,
	} {
		require.Zero(t, b.failures(b.worker(never), 1, []byte(gone)), gone)
	}
}
