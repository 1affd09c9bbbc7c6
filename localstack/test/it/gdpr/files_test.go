package gdpr_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/blob"
	"lectern/shared/bus"
	"lectern/shared/keys"
	"lectern/shared/layout"
	"lectern/shared/table"
)

// named describes a file with the person's text.
var named = object{"title": "Slides of " + canary, "filename": canary + ".txt"}

// assigned describes a file of a contact.
func assigned(contact string, more ...object) object {
	return it.Merged(object{"assigned_participant_id": contact}, it.Merged(object{}, more...))
}

// library has files of the person and of Bob in a session, and the keys of their bytes.
type library struct {
	it.Shelf
	ada, bob string
	// gone are the bytes of the person, others are the bytes that stay.
	gone, others []string
	// moved is a file that was the person's and is Bob's, with a replacement that began before.
	moved string
}

func newLibrary(o *office) *library {
	o.T.Helper()
	l := &library{ada: o.Create(200, object{"email": address}).ID(), bob: o.Create(200, object{"email": "bob@example.org"}).ID()}
	l.Shelf = it.Shelf{Client: o.Client, Session: o.Client.Create(200, object{"title": "A talk", "participants": []any{
		object{"contact_id": l.ada, "core_role": "speaker"}, object{"contact_id": l.bob, "core_role": "speaker"},
	}}).ID()}
	l.addGone()
	l.addOthers()
	return l
}

// addGone adds a file of the person, a replaced one with a replacement for Bob, a deleted one, and an upload.
func (l *library) addGone() {
	l.T.Helper()
	_, whole := l.Add(assigned(l.ada, named))
	replaced, former := l.Add(named)
	l.describe(replaced, assigned(l.ada))
	_, bytes := l.Begin("/"+replaced+"/replace", 200, object{"filename": "b " + canary + ".txt"})
	l.Complete(replaced)
	_, next := l.Begin("/"+replaced+"/replace", 200, assigned(l.bob))
	deleted, removed := l.Add(named)
	l.describe(deleted, assigned(l.ada))
	l.Call(l.T, 204, http.MethodDelete, l.EventPath(l.Path("/"+deleted)), nil)
	_, open := l.Begin("", 201, assigned(l.ada, named))
	l.gone = []string{whole, former, bytes, next, removed, open}
}

// addOthers adds files that are not the person's, of which one has a replacement for the person.
func (l *library) addOthers() {
	l.T.Helper()
	_, free := l.Add()
	taken, his := l.Add(assigned(l.bob))
	_, hers := l.Begin("/"+taken+"/replace", 200, assigned(l.ada, object{"filename": canary + ".txt"}))
	moved, former := l.Add(assigned(l.ada))
	_, next := l.Begin("/"+moved+"/replace", 200)
	l.describe(moved, assigned(l.bob))
	l.moved, l.gone, l.others = moved, append(l.gone, hers), []string{free, his, former, next}
}

// describe updates the description of a file.
func (l *library) describe(id string, change object) {
	l.T.Helper()
	l.Do(200, http.MethodPut, l.Path("/"+id), change)
}

// TestFilesOfAnErasedPersonAreRemoved with all bytes that they have and had, also in a deleted session, and
// nobody else's.
func TestFilesOfAnErasedPersonAreRemoved(t *testing.T) {
	o := newOffice(t)
	o.Inside(t, slow)
	engine, l := it.EngineOf(t, o.Stack), newLibrary(o)
	speaking := object{"title": "Another talk", "participants": []any{object{"contact_id": l.ada, "core_role": "speaker"}}}
	deleted := it.Shelf{Client: o.Client, Session: o.Client.Create(200, speaking).ID()}
	_, last := deleted.Add(assigned(l.ada, named))
	deleted.Delete(200, deleted.Session)
	l.gone = append(l.gone, last)
	require.Equal(t, l.gone, l.Remaining(l.gone...))
	requireDeclared(t, engine.Dump(t))
	archived := o.archive(200, o.after(o.ask(201, asking("access", address)).ID(), "completed")).List("contacts")[0].List("events")[0].List("files")
	require.Len(t, archived, len(l.gone))
	require.Contains(t, it.Column(archived, "filename"), canary+".txt")
	engine.RequireWhole(t)

	o.after(o.ask(201, asking("erasure", address)).ID(), "completed")
	require.Empty(t, found(engine.Dump(t)))
	require.Empty(t, l.Remaining(l.gone...))
	require.Equal(t, l.others, l.Remaining(l.others...))
	engine.RequireWhole(t)
	files := l.Do(200, http.MethodGet, l.Path(""), nil).List("data")
	require.Len(t, files, 3)
	require.Equal(t, []any{nil, l.bob, l.bob}, it.Column(files, "assigned_participant_id"))
	l.Complete(l.moved)
	require.EqualValues(t, len(l.gone), l.Maintain(2).Uploads, "the records of the bytes follow")
	require.Equal(t, l.others[:2], l.Remaining(l.others[:2]...))
	engine.RequireWhole(t)
}

// TestBytesAreRemovedInTheFirstRound, also those of a form.
func TestBytesAreRemovedInTheFirstRound(t *testing.T) {
	stacktest.Everywhere(t)
	o := newOffice(t)
	ada := o.Create(200, object{"email": address}).ID()
	speaking := []any{object{"contact_id": ada, "core_role": "speaker"}}
	s := it.Shelf{Client: o.Client, Session: o.Client.Create(200, object{"title": "A talk", "participants": speaking}).ID()}
	s.Add(assigned(ada, named))
	form := "--b\r\nContent-Disposition: form-data; name=\"assigned_participant_id\"\r\n\r\n" + ada + "\r\n--b\r\n" +
		"Content-Disposition: form-data; name=\"file\"; filename=\"" + canary + ".txt\"\r\n\r\nGood morning.\r\n--b--\r\n"
	sent := stacktest.WithHeaders(form, "Content-Type", "multipart/form-data; boundary=b")
	require.Equal(t, ada, entity(o.Do(201, http.MethodPost, s.Path("/upload"), sent).At("data").(object))["assigned_participant_id"])
	require.Len(t, o.StoredKeys(t, "files/"), 2)
	o.ask(201, asking("erasure", address))
	require.Eventually(t, func() bool { return len(o.StoredKeys(t, "files/")) == 0 }, patience, pause)
	require.Empty(t, s.Do(200, http.MethodGet, s.Path(""), nil).List("data"))
}

// tired is a door to the bucket that fails after some calls.
type tired struct {
	http.Handler
	left int
}

func (d *tired) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if d.left--; d.left < 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	d.Handler.ServeHTTP(w, r)
}

// behind returns the bucket of a worker behind a door that fails after some calls.
func (b *bench) behind(calls int) *blob.Store {
	b.T.Helper()
	return it.BucketAt(b.T, b.Env(b.T), func(address string) string {
		to, err := url.Parse(address)
		require.NoError(b.T, err)
		door := httptest.NewServer(&tired{&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host // The signature has the host of the door.
		}}, calls})
		b.T.Cleanup(door.Close)
		return door.URL
	})
}

// TestAnErasureWaitsForTheBucket: the bucket fails at each call, and the next message goes on. Nothing of the
// person's file is left, although a replacement for Bob was open.
func TestAnErasureWaitsForTheBucket(t *testing.T) {
	b := newBench(t)
	require.Equal(t, b.keys, b.shelf.Remaining(b.keys...))
	id, body := b.asked("erasure")
	failed := 0
	for done := false; !done; {
		w := b.workerOf(func(client table.Client) table.Client { return client })
		w.Files.Blobs = b.behind(failed)
		answer, err := w.Invoke(t.Context(), message(body, 1))
		require.NoError(t, err)
		if done = len(answer.BatchItemFailures) == 0; !done {
			require.Equal(t, "processing", b.request(id)["status"])
			failed++
		}
	}
	require.Greater(t, failed, 2)
	require.Zero(t, b.invoke(b.posts[len(b.posts)-1].Body, 1), "the second round")
	require.Empty(t, b.shelf.Remaining(b.keys...))
	require.Empty(t, found(it.EngineOf(t, b.Stack).Dump(t)))
	require.Empty(t, b.Do(200, http.MethodGet, b.shelf.Path(""), nil).List("data"))
}

// TestWhoseADeletedFileWas: that of the last assignment, whatever replacement was begun for somebody else.
func TestWhoseADeletedFileWas(t *testing.T) {
	o := newOffice(t)
	o.Inside(t, slow)
	l := newLibrary(o)
	remove := func(id string) { l.Call(t, 204, http.MethodDelete, l.EventPath(l.Path("/"+id)), nil) }
	his, first := l.Add(assigned(l.bob))
	_, second := l.Begin("/"+his+"/replace", 200)
	l.describe(his, assigned(l.ada, object{"title": canary}))
	remove(his)
	hers, third := l.Add()
	l.describe(hers, assigned(l.ada))
	_, fourth := l.Begin("/"+hers+"/replace", 200, assigned(l.bob, object{"title": canary}))
	remove(hers)
	theirs, kept := l.Add(assigned(l.ada))
	l.describe(theirs, assigned(l.bob))
	_, fifth := l.Begin("/"+theirs+"/replace", 200, assigned(l.ada, named))
	remove(theirs)
	l.gone = append(l.gone, first, second, third, fourth, fifth)
	o.after(o.ask(201, asking("erasure", address)).ID(), "completed")
	require.Empty(t, l.Remaining(l.gone...))
	require.Empty(t, found(it.EngineOf(t, o.Stack).Dump(t)))
	require.Equal(t, []string{kept}, l.Remaining(kept))
	it.EngineOf(t, o.Stack).RequireWhole(t)
}

// TestManyFilesOfAPerson come in several transactions, with one message for many files, and none for a deleted
// session.
func TestManyFilesOfAPerson(t *testing.T) {
	o := newOffice(t)
	o.Inside(t, slow)
	ada := o.Create(200, object{"email": address}).ID()
	speaking := []any{object{"contact_id": ada, "core_role": "speaker"}}
	live := it.Shelf{Client: o.Client, Session: o.Client.Create(200, object{"title": "A talk", "participants": speaking}).ID()}
	gone := it.Shelf{Client: o.Client, Session: o.Client.Create(200, object{"title": "Another", "participants": speaking}).ID()}
	var keys []string
	for range 15 {
		file, key := live.Add(assigned(ada, named))
		_, next := live.Begin("/"+file+"/replace", 200)
		_, other := gone.Add(assigned(ada, named))
		keys = append(keys, key, next, other)
	}
	gone.Delete(200, gone.Session)
	before := len(it.ChangesOf(t, o.Stack))
	o.after(o.ask(201, asking("erasure", address)).ID(), "completed")
	require.Empty(t, live.Remaining(keys...))
	require.Empty(t, found(it.EngineOf(t, o.Stack).Dump(t)))
	told := map[string]int{}
	for _, c := range it.ChangesOf(t, o.Stack)[before:] {
		for _, m := range bus.Messages(c) {
			told[m.Kind+" "+m.RecordID]++
		}
	}
	require.LessOrEqual(t, told["session.updated "+live.Session], 2)
	require.Positive(t, told["session.updated "+live.Session])
	for kind := range told {
		require.NotContains(t, kind, gone.Session)
	}
	it.EngineOf(t, o.Stack).RequireWhole(t)
}

// TestWhatOthersWroteStays: an erasure leaves what is said to stay, such as a transcription with the name of
// its speaker, and nothing else that tells of the person.
func TestWhatOthersWroteStays(t *testing.T) {
	o := newOffice(t)
	o.Inside(t, slow)
	engine, id := it.EngineOf(t, o.Stack), o.Create(200, object{"email": address}).ID()
	session := o.Client.Create(200, object{"title": "A talk", "participants": []any{object{"contact_id": id, "core_role": "speaker"}}}).ID()
	o.Do(201, http.MethodPost, "/sessions/"+session+"/transcriptions", object{
		"type": "fragment", "transcription": "Good morning, I am " + canary, "speaker": canary, "start_time": 0, "end_time": 2,
	})
	o.after(o.ask(201, asking("erasure", address)).ID(), "completed")
	var left []string
	for key, item := range engine.Dump(t) {
		if tells(key.PK + key.SK + item.Data) {
			pattern, _ := layout.Find(key)
			require.Equal(t, keys.Outside, pattern.Personal, "%v: %s", key, item.Data)
			left = append(left, pattern.Name)
		}
	}
	require.Contains(t, left, "segment of transcriptions")
}
