package gdpr_test

import (
	"bytes"
	"fmt"
	"net/http"
	listed "slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/events/slides"
	"lectern/localstack/test/it"
	"lectern/shared/api"
	"lectern/shared/change"
	"lectern/shared/feed"
	"lectern/shared/slide"
	"lectern/shared/slide/drawing"
	"lectern/shared/stores"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// TestHoldingSlidesLoseAnErasedPerson: the slides are drawn without the name, and the bytes with the name are
// gone, also of a session that the person has left.
func TestHoldingSlidesLoseAnErasedPerson(t *testing.T) {
	o := newOffice(t)
	o.Inside(t, slow)
	ada := o.Create(200, object{"email": address, "first_name": canary, "last_name": "Lovelace"}).ID()
	talk := func(title string) string {
		return o.Client.Create(200, object{"title": title, "status": "accepted", "participants": []any{
			object{"contact_id": ada, "core_role": "speaker"},
		}}).ID()
	}
	first, left := talk("A talk"), talk("Another talk")
	o.Command("holding-slides", object{"on": true})
	slide := func(id string) entity {
		all := o.Do(200, http.MethodGet, "/sessions/"+id+"/files?type=holding_slide", nil).List("data")
		if len(all) == 0 {
			return nil
		}
		return all[0]
	}
	drawn := func(id string, not entity) (is entity) {
		o.T.Helper()
		require.Eventually(t, func() bool { is = slide(id); return is != nil && is["url"] != not["url"] }, patience, 5*pause)
		return is
	}
	was, former := drawn(first, nil), drawn(left, nil)
	prefix := fmt.Sprintf("files/%d/", o.Org)
	o.Client.Put(200, left, object{"participants": []any{}})
	drawn(left, former)
	require.Eventually(t, func() bool { return len(o.StoredKeys(t, prefix)) == 2 }, patience, 5*pause)
	before := o.StoredKeys(t, prefix)

	o.after(o.ask(201, asking("erasure", address)).ID(), "completed")
	is := drawn(first, was)
	require.Equal(t, was.ID(), is.ID())
	require.Eventually(t, func() bool { return len(o.StoredKeys(t, prefix)) == 2 }, patience, 5*pause)
	after := o.StoredKeys(t, prefix)
	gone := 0
	for _, key := range before {
		if !listed.Contains(after, key) {
			gone++
		}
	}
	require.Equal(t, 1, gone, "the bytes with the name, and not those of the session that the person had left")
	time.Sleep(time.Second) // Messages that come late change nothing.
	require.Equal(t, after, o.StoredKeys(t, prefix))
	require.Empty(t, found(it.EngineOf(t, o.Stack).Dump(t)))
	it.EngineOf(t, o.Stack).RequireWhole(t)
}

// TestAnErasureTellsNothingOfASessionWithoutASlide: an accepted session may wait for its slide, or have no room.
func TestAnErasureTellsNothingOfASessionWithoutASlide(t *testing.T) {
	b := newBench(t)
	b.Command("holding-slides", object{"on": true})
	ada := b.Create(200, object{"email": "ada@example.org", "first_name": canary}).ID()
	b.Client.Create(200, object{"title": "A talk", "status": "accepted", "participants": []any{object{"contact_id": ada, "core_role": "speaker"}}})
	sessions := b.WatchChanges("session")
	require.NotEmpty(t, sessions.Since())
	_, asked := b.askedFor("erasure", "ada@example.org")
	require.Zero(t, b.invoke(asked, 1))
	require.Empty(t, sessions.Since())
}

// TestADamagedChangeFailsAnErasure: it may be of a session that had the person.
func TestADamagedChangeFailsAnErasure(t *testing.T) {
	b := newBench(t)
	b.Create(200, object{"email": "ada@example.org", "first_name": canary})
	r := change.New(t.Context(), change.Record{At: wire.At(time.Now()), Org: b.Org})
	require.NoError(t, b.Table(t).Mark(t.Context(), feed.HourOf(r.Key())))
	damaged := table.Item{Key: r.Key(), Version: 1, Data: []byte("["), Kind: table.KindChange}
	require.NoError(t, b.Table(t).Transact(t.Context(), table.Insert(damaged)))
	_, asked := b.askedFor("erasure", "ada@example.org")
	require.Equal(t, 1, b.invoke(asked, 1))
	require.NoError(t, b.Table(t).Transact(t.Context(), table.Delete(r.Key())))
	require.Zero(t, b.invoke(asked, 1))
}

// TestAnErasureBesideADrawing: a worker draws the name of a person, and the first round of the erasure comes at each
// of its calls, or after the worker has ended at the call. After the second round, no bytes show the name, and no
// bytes are without a slide.
func TestAnErasureBesideADrawing(t *testing.T) {
	for name, ends := range map[string]bool{"beside": false, "after an end": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.Command("holding-slides", object{"on": true})
			blank, err := drawing.Decode(nil, nil)
			require.NoError(t, err)
			shown, err := blank.PNG(&slide.Facts{Title: "A talk", Speakers: []string{canary + " Lovelace"}})
			require.NoError(t, err)
			calls := int64(1)
			for ; b.eraseBeside(calls, ends, shown); calls++ {
			}
			require.Greater(t, calls, int64(12))
			it.EngineOf(t, b.Stack).RequireWhole(t)
		})
	}
}

// eraseBeside draws the slide of a new session with a new person, whom it erases at a call of the worker, and reports
// whether the worker has made the call. shown is the slide with the person's name.
func (b *bench) eraseBeside(calls int64, ends bool, shown []byte) (more bool) {
	b.T.Helper()
	mail := fmt.Sprintf("ada%d@example.org", calls)
	ada := b.Create(200, object{"email": mail, "first_name": canary, "last_name": "Lovelace"}).ID()
	talk := b.Client.Create(200, object{"title": "A talk", "status": "accepted", "participants": []any{
		object{"contact_id": ada, "core_role": "speaker"},
	}}).ID()
	erase := sync.OnceFunc(func() {
		_, asked := b.askedFor("erasure", mail)
		require.Zero(b.T, b.invoke(asked, 1))
	})
	process, env := it.StartProcess(b.T, b.Stack, b, calls)
	if !ends {
		process.Hook = erase
	}
	env.Log, env.Memory = api.NewLog(b.T.Output()), &api.Memory{}
	w := slides.New(slides.Config{
		Table: env.Table, Log: env.Log, Slides: stores.Slides(env), Files: stores.SessionFiles(env), Queue: b, Part: slides.Part,
	})
	visit := it.Encode(b.T, object{"visit": object{"org": b.Org, "event": b.Event, "session": talk}})
	_, err := w.Invoke(b.T.Context(), message(visit, 1))
	require.NoError(b.T, err)
	if more = process.Left() <= 0; !more {
		require.True(b.T, b.shows(talk, shown), "the worker draws the slide that the test looks for")
	}
	erase()
	require.Zero(b.T, b.invoke(b.posts[len(b.posts)-1].Body, 1))
	require.False(b.T, b.shows(talk, shown), "call %d", calls)
	return more
}

// shows reports whether bytes of a session are a picture. It requires that a slide has all of the bytes.
func (b *bench) shows(session string, picture []byte) (found bool) {
	b.T.Helper()
	stored := 0
	for _, key := range b.StoredKeys(b.T, fmt.Sprintf("files/%d/", b.Org)) {
		if !strings.Contains(key, session) {
			continue
		}
		stored++
		content, err := b.Bucket(b.T).First(b.T.Context(), key, 8<<20)
		require.NoError(b.T, err)
		found = found || bytes.Equal(content, picture)
	}
	files := b.Do(200, http.MethodGet, "/sessions/"+session+"/files?type=holding_slide", nil).List("data")
	require.Len(b.T, files, stored)
	return found
}
