package sessionfiles_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/change"
	"lectern/shared/session"
)

// fileShape is the properties of a file (spec.md 2.7, gaps.md 6.1), with the scan status.
const fileShape = "assigned_participant_email assigned_participant_id assigned_participant_name content_slot_id created_at filename id label mimetype scan_status size title type updated_at url"

// TestTheLifeOfAFile: create, send, complete, read in three ways, update, replace, delete.
func TestTheLifeOfAFile(t *testing.T) {
	stacktest.Everywhere(t)
	c := &it.Client{Stack: stacktest.Start(t, stacktest.Publishing()), T: t}
	d := &desk{c, c.NewSessions("A talk")[0]}
	require.Empty(t, d.list())
	begun := d.begin(pdf, object{"unknown": "ignored"})
	require.Equal(t, fileShape+" upload", strings.ReplaceAll(it.KeysOf(begun), " upload url", " url upload"))
	require.Equal(t, object{
		"filename": "slides.pdf", "title": "slides.pdf", "size": float64(len(pdf)), "mimetype": "application/pdf", "type": "other", "label": "Other",
		"content_slot_id": nil, "assigned_participant_id": nil, "assigned_participant_email": nil, "assigned_participant_name": nil, "scan_status": "not_scanned",
	}, it.Pick(begun, "filename", "title", "size", "mimetype", "type", "label", "content_slot_id", "assigned_participant_id", "assigned_participant_email", "assigned_participant_name", "scan_status"))
	require.Equal(t, "PUT", begun.At("upload.method"))
	require.Equal(t, object{"Content-Type": "application/pdf", "If-None-Match": "*"}, begun.At("upload.headers"))
	require.Empty(t, d.list(), "not complete")
	d.follow(404, begun)
	require.Contains(t, d.complete(400, begun.ID())["message"], "have not been uploaded")
	require.Equal(t, 200, put(t, begun, pdf))
	require.Empty(t, d.list(), "not complete")

	file := d.complete(200, begun.ID())
	require.Equal(t, fileShape, it.KeysOf(file))
	require.Equal(t, begun.Text("url"), file.Text("url"))
	require.Equal(t, file, d.complete(200, begun.ID()), "again")
	require.Equal(t, []entity{file}, d.list())
	require.Equal(t, []entity{file}, d.content())
	require.Equal(t, []entity{file}, d.List().Results[0].List("content"))
	text, header := d.download(file)
	require.Equal(t, pdf, text)
	require.Equal(t, "application/pdf", header.Get("Content-Type"))
	require.Equal(t, `attachment; filename="slides.pdf"; filename*=UTF-8''slides.pdf`, header.Get("Content-Disposition"))

	changed := entity(d.Do(200, http.MethodPut, d.path("/", file.ID()), object{"title": "Opening", "unknown": 1}).At("data").(object))
	require.Equal(t, object{"title": "Opening", "filename": "slides.pdf", "url": file["url"]}, it.Pick(changed, "title", "filename", "url"))
	require.Greater(t, changed.Text("updated_at"), file.Text("updated_at"))
	require.Equal(t, "Opening", d.Do(200, http.MethodPut, d.path("/", file.ID()), changed).At("data.title"))

	png := "\x89PNG\r\n\x1a\n" + strings.Repeat("x", 40)
	again := entity(d.Do(200, http.MethodPost, d.path("/", file.ID(), "/replace"), draft(png, object{"filename": "new.png"})).At("data").(object))
	require.Equal(t, file.ID(), again.ID())
	require.Equal(t, "slides.pdf", d.list()[0].Text("filename"), "the old bytes stay until complete")
	require.Equal(t, 200, put(t, again, png))
	replaced := d.complete(200, file.ID())
	require.Equal(t, object{"id": file.ID(), "title": "Opening", "filename": "new.png", "mimetype": "image/png", "size": float64(len(png)), "created_at": file["created_at"]},
		it.Pick(replaced, "id", "title", "filename", "mimetype", "size", "created_at"))
	require.NotEqual(t, file.Text("url"), replaced.Text("url"))
	text, _ = d.download(replaced)
	require.Equal(t, png, text)
	d.follow(404, file)

	require.Empty(t, d.Call(t, 204, http.MethodDelete, d.EventPath(d.path("/", file.ID())), nil).Body)
	require.Empty(t, d.list())
	require.Empty(t, d.content())
	d.follow(404, replaced)
	for _, call := range []struct{ method, rest string }{{"POST", "/complete"}, {"POST", "/replace"}, {"PUT", ""}, {"DELETE", ""}} {
		body := any(object{})
		if call.rest == "/replace" {
			body = draft(pdf)
		}
		require.Equal(t, "File not found", d.Do(404, call.method, d.path("/", file.ID(), call.rest), body)["message"])
	}
}

// TestAFileChangesItsSession: the change is published with the session, and no change record has a
// link.
func TestAFileChangesItsSession(t *testing.T) {
	d := newDesk(t)
	before := d.Get(200, d.session)
	begun := d.begin(pdf)
	require.Equal(t, before["updated_at"], d.Get(200, d.session)["updated_at"], "an upload is hidden")
	changes := it.ChangesOf(t, d.Stack)
	require.Equal(t, 200, put(t, begun, pdf))
	file := d.complete(200, begun.ID())
	d.complete(200, begun.ID())
	d.Do(200, http.MethodPut, d.path("/", file.ID()), object{"title": "Opening"})
	d.Call(t, 204, http.MethodDelete, d.EventPath(d.path("/", file.ID())), nil)
	require.Greater(t, d.Get(200, d.session).Text("updated_at"), before.Text("updated_at"))
	var actions []string
	published := int64(1)
	for _, c := range it.ChangesOf(t, d.Stack)[len(changes):] {
		actions = append(actions, c.Action)
		require.NotContains(t, string(it.Encode(t, c)), link(t, file)[len("/files/"):])
		if c.Type == "session" {
			published++
			require.Equal(t, []change.Kind{it.Publishes(session.KindUpdated, published, "content")}, c.Kinds)
		} else {
			require.Empty(t, c.Kinds)
		}
	}
	require.ElementsMatch(t, []string{
		"session.updated", "session_file.completed", "session.updated", "session.updated", "session_file.deleted",
	}, actions)
}

// TestFilesOfTypes: the filter in all spellings.
func TestFilesOfTypes(t *testing.T) {
	d := newDesk(t, feature)
	in := func(kind string) object {
		return object{"content_slot_id": d.newSlot(kind, object{"content_type": kind}).ID()}
	}
	slides, poster, other := d.add(pdf, in("presentation")), d.add(pdf, in("poster")), d.add(pdf)
	for query, want := range map[string][]entity{
		"": {slides, poster, other}, "type=poster": {poster}, "type=poster,presentation": {slides, poster}, "type=poster&type=other": {poster, other},
		"type=poster,other&type=presentation": {slides, poster, other}, "type=holding_slide": {}, "type=poster,unknown": {poster},
	} {
		require.Equal(t, it.Texts(want, "id"), it.Texts(d.list(query), "id"), query)
	}
	for _, query := range []string{"type=", "type=,", "type=poster,", "type=,poster", "type=Poster", "type=a%20b", "type=poster&type="} {
		answer := d.Do(400, http.MethodGet, d.path()+"?"+query, nil)
		require.Contains(t, answer.At("details.field"), "type", query)
	}
}

// TestUnknownSessions: unknown, foreign and deleted sessions are a 404 everywhere.
func TestUnknownSessions(t *testing.T) {
	d := newDesk(t)
	file := d.add(pdf)
	elsewhere := &desk{d.InNewEvent(), ""}
	deleted := d.NewSessions("Deleted")[0]
	d.Delete(200, deleted)
	for _, other := range []*desk{d.of(it.UnknownID), d.of(deleted), {elsewhere.Client, d.session}} {
		for _, call := range []struct {
			method, rest string
			body         any
		}{
			{"GET", "", nil}, {"POST", "", draft(pdf)}, {"POST", "/" + file.ID() + "/complete", nil}, {"POST", "/" + file.ID() + "/replace", draft(pdf)},
			{"PUT", "/" + file.ID(), object{}}, {"DELETE", "/" + file.ID(), nil},
		} {
			require.Equal(t, "Session not found", other.Do(404, call.method, other.path(call.rest), call.body)["message"], call)
		}
	}
	sibling := d.of(d.NewSessions("Sibling")[0])
	require.Equal(t, "File not found", sibling.Do(404, http.MethodPut, sibling.path("/", file.ID()), object{})["message"])
	d.Delete(200, d.session)
	d.follow(404, file)
	d.Restore(200, d.session)
	text, _ := d.download(file)
	require.Equal(t, pdf, text)
}

// TestTheGuardOfAFile: an update, a replacement and a deletion of an older version are a 409.
func TestTheGuardOfAFile(t *testing.T) {
	d := newDesk(t)
	file := d.add(pdf)
	path := d.path("/", file.ID())
	answer := d.Call(t, 200, http.MethodPut, d.EventPath(path), object{"title": "A", "updated_at": file["updated_at"]})
	tag := answer.Header.Get("ETag")
	require.NotEmpty(t, tag)
	refusal := d.Do(409, http.MethodPut, path, object{"title": "B", "updated_at": file["updated_at"]})
	require.NotEmpty(t, refusal.At("details.updated_at"))
	d.Do(200, http.MethodPut, path, object{"title": "B"}, "If-Match", tag)
	d.Do(409, http.MethodPut, path, object{"title": "C"}, "If-Match", tag)
	d.Do(409, http.MethodPost, d.path("/", file.ID(), "/replace"), draft(pdf), "If-Match", tag)
	d.Do(409, http.MethodDelete, path, nil, "If-Match", tag)
	require.Equal(t, "B", d.list()[0].Text("title"))
}

// TestARepeatedCreate gets the file again, with a new address.
func TestARepeatedCreate(t *testing.T) {
	d := newDesk(t)
	create := func(status int, path string) entity {
		return d.Do(status, http.MethodPost, path, draft(pdf), "Idempotency-Key", path).At("data").(object)
	}
	first, again := create(201, d.path()), create(201, d.path())
	require.Equal(t, first.ID(), again.ID())
	require.Equal(t, 200, put(t, again, pdf))
	require.Equal(t, 412, put(t, first, pdf), "the bytes are there")
	file := d.complete(200, first.ID())
	require.Equal(t, file, func() entity { e := create(201, d.path()); require.Nil(t, e["upload"]); delete(e, "upload"); return e }())
	replace := d.path("/", file.ID(), "/replace")
	require.Equal(t, create(200, replace).At("upload.headers"), create(200, replace).At("upload.headers"))
	d.Call(t, 204, http.MethodDelete, d.EventPath(d.path("/", file.ID())), nil)
	d.Do(404, http.MethodPost, d.path(), draft(pdf), "Idempotency-Key", d.path())
	it.EngineOf(t, d.Stack).RequireWhole(t)
}

// TestARepeatedCreateOfAnEndedUpload is a 409, after refused bytes and after a deletion.
func TestARepeatedCreateOfAnEndedUpload(t *testing.T) {
	d := newDesk(t)
	create := func(status int, key string) entity {
		return d.Do(status, http.MethodPost, d.path(), draft(html), "Idempotency-Key", key)
	}
	refused := entity(create(201, "refused").At("data").(object))
	require.Equal(t, 200, put(t, refused, html))
	d.complete(400, refused.ID())
	it.RequireError(t, create(409, "refused"), "UPLOAD_ENDED", "")
	d.complete(404, refused.ID())

	deleted := entity(create(201, "deleted").At("data").(object))
	d.Call(t, 204, http.MethodDelete, d.EventPath(d.path("/", deleted.ID())), nil)
	it.RequireError(t, create(409, "deleted"), "UPLOAD_ENDED", "")
	require.Empty(t, d.list())
	it.EngineOf(t, d.Stack).RequireWhole(t)
}

// TestARepeatedReplacementOfADeletedFile is a 404, whether the file had the bytes or not.
func TestARepeatedReplacementOfADeletedFile(t *testing.T) {
	d := newDesk(t)
	file := d.add(pdf)
	replace := func(status int, key string) entity {
		return d.Do(status, http.MethodPost, d.path("/", file.ID(), "/replace"), draft(pdf), "Idempotency-Key", key)
	}
	require.Equal(t, 200, put(t, entity(replace(200, "complete").At("data").(object)), pdf))
	d.complete(200, file.ID())
	replace(200, "open")
	d.Call(t, 204, http.MethodDelete, d.EventPath(d.path("/", file.ID())), nil)
	replace(404, "complete")
	replace(404, "open")
}

// TestAssignedParticipants: a file belongs to a participant of the session, as long as there is one.
func TestAssignedParticipants(t *testing.T) {
	d := newDesk(t)
	ada := d.NewContact("ada@example.org", object{"first_name": "Ada", "last_name": "Lovelace"}).ID()
	grace := d.NewContact("grace@example.org").ID()
	const field = "assigned_participant_id"
	it.RequireInvalid(t, d.Do(400, http.MethodPost, d.path(), draft(pdf, object{field: ada})), field)
	speaker := object{"participants": []any{object{"contact_id": ada, "core_role": "speaker"}}}
	d.Put(200, d.session, speaker)
	file := d.add(pdf, object{field: ada})
	shown := object{field: ada, "assigned_participant_email": "ada@example.org", "assigned_participant_name": "Ada Lovelace"}
	of := func(e entity) object {
		return it.Pick(e, field, "assigned_participant_email", "assigned_participant_name")
	}
	require.Equal(t, shown, of(file))
	require.Equal(t, shown, of(d.content()[0]))
	limited := &desk{d.WithToken(d.NewToken(t, "read:sessions")), d.session}
	require.Equal(t, it.Merged(shown, object{"assigned_participant_email": nil}), of(limited.list()[0]))
	require.Equal(t, it.Merged(shown, object{"assigned_participant_email": nil}), of(limited.content()[0]))

	path := d.path("/", file.ID())
	it.RequireInvalid(t, d.Do(400, http.MethodPut, path, object{field: grace}), field)
	it.RequireInvalid(t, d.Do(400, http.MethodPost, path+"/replace", draft(pdf, object{field: grace})), field)
	none := object{field: nil, "assigned_participant_email": nil, "assigned_participant_name": nil}
	d.Put(200, d.session, object{"participants": []any{}})
	require.Equal(t, none, of(d.list()[0]))
	d.Put(200, d.session, speaker)
	require.Equal(t, shown, of(d.content()[0]))
	d.Do(200, http.MethodDelete, "/contacts/"+ada, nil)
	require.Equal(t, none, of(d.list()[0]))
	d.Do(200, http.MethodPut, path, object{field: nil})
	d.Do(200, http.MethodPost, "/contacts/"+ada+"/restore", nil)
	require.Equal(t, none, of(d.list()[0]))
}

// TestACopyOfASessionHasNoFiles, since the bytes belong to the session.
func TestACopyOfASessionHasNoFiles(t *testing.T) {
	d := newDesk(t)
	d.add(pdf)
	copied := d.Command("session-duplicate", object{"session_id": d.session})
	require.Empty(t, copied.List("content"))
	sub := d.of(d.NewSubsession(d.session, "A part").ID())
	file := sub.add(pdf)
	require.Equal(t, file.ID(), d.Get(200, d.session).List("subsessions")[0].List("content")[0].ID())
}
