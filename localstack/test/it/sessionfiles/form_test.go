package sessionfiles_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/stretchr/testify/require"

	"lectern/functions/sessionfiles"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/sessionfile"
	"lectern/shared/table"
	"lectern/shared/upload"
)

// part is a part of a form. The name stands as it is in its Content-Disposition; head has more headers.
type part struct {
	name, text string
	head       textproto.MIMEHeader
}

// text returns a part with a property, and file a part with a file.
func text(name, value string) part { return part{name: `"` + name + `"`, text: value} }

func file(filename, content string) part {
	return part{name: `"file"; filename="` + filename + `"`, text: content}
}

// form returns the body of a form, and its Content-Type.
func form(t *testing.T, parts ...part) (body, contentType string) {
	t.Helper()
	var all bytes.Buffer
	w := multipart.NewWriter(&all)
	for _, p := range parts {
		head := textproto.MIMEHeader{"Content-Disposition": {"form-data; name=" + p.name}}
		for name, values := range p.head {
			head[name] = values
		}
		to, err := w.CreatePart(head)
		require.NoError(t, err)
		_, err = to.Write([]byte(p.text))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return all.String(), w.FormDataContentType()
}

// send sends a form with headers. It returns the file, or a refusal.
func (d *desk) send(status int, parts []part, header ...string) entity {
	d.T.Helper()
	body, contentType := form(d.T, parts...)
	answer := d.Do(status, http.MethodPost, d.path("/upload"), body, append(header, "Content-Type", contentType)...)
	if status != http.StatusCreated {
		return answer
	}
	require.Equal(d.T, []string{"data"}, answer.Keys())
	return answer.At("data").(object)
}

// untouched checks that the event has no file and, but for the records of ended forms, no bytes.
func (d *desk) untouched() {
	d.T.Helper()
	require.Empty(d.T, d.list())
	for item, err := range d.Table(d.T).Between(d.T.Context(), upload.At(d.Org, d.Event).Partition(), "0", "~") {
		require.NoError(d.T, err)
		u, err := upload.DecodeAny(item)
		require.NoError(d.T, err)
		_, err = d.Bucket(d.T).Head(d.T.Context(), u.Object)
		require.Error(d.T, err, "bytes without a file")
	}
	it.EngineOf(d.T, d.Stack).RequireWhole(d.T)
}

// allBytes begins as a picture and has every byte.
func allBytes() string {
	all := []byte(png)
	for i := range 256 {
		all = append(all, byte(i))
	}
	return string(all)
}

// TestAFileOfAForm is visible at once, with the properties before and after it.
func TestAFileOfAForm(t *testing.T) {
	stacktest.Everywhere(t)
	d := newDesk(t, feature)
	ada := d.NewContact("ada@example.org").ID()
	d.Put(200, d.session, object{"title": "A talk", "participants": []any{object{"contact_id": ada, "core_role": "speaker"}}})
	slot := d.newSlot("Slides", object{"max_files": 1})
	sent := []part{
		text("title", "Ouverture \u00e9"), text("unknown", "ignored"), file("Bild 1.PNG", allBytes()),
		text("content_slot_id", strings.ToUpper(slot.ID())), text("assigned_participant_id", ada),
	}
	made := d.send(201, sent, "Idempotency-Key", "one")
	require.Equal(t, fileShape, it.KeysOf(made))
	require.Equal(t, object{
		"filename": "Bild 1.PNG", "title": "Ouverture \u00e9", "size": float64(len(allBytes())), "mimetype": "image/png", "type": "presentation",
		"content_slot_id": slot.ID(), "assigned_participant_id": ada, "assigned_participant_email": "ada@example.org", "scan_status": "not_scanned",
	}, it.Pick(made, "filename", "title", "size", "mimetype", "type", "content_slot_id", "assigned_participant_id", "assigned_participant_email", "scan_status"))
	require.Equal(t, []entity{made}, d.list())
	require.Equal(t, []entity{made}, d.content())
	content, _ := d.download(made)
	require.Equal(t, allBytes(), content)
	require.Equal(t, made, d.complete(200, made.ID()), "a form needs no complete")
	require.Equal(t, made, d.send(201, sent, "Idempotency-Key", "one"), "again")

	refusal := d.send(400, []part{file("b.png", png), text("content_slot_id", slot.ID())})
	it.RequireInvalid(t, refusal, "content_slot_id")
	require.Contains(t, refusal["message"], "takes at most 1 files")
	plain := d.send(201, []part{file("notes", "Good morning.")})
	require.Equal(t, object{"title": "notes", "mimetype": "text/plain", "type": "other", "content_slot_id": nil, "assigned_participant_id": nil},
		it.Pick(plain, "title", "mimetype", "type", "content_slot_id", "assigned_participant_id"))
	require.Equal(t, []entity{made, plain}, d.list())
}

// TestTheBytesOfAFormAreRemoved by the service's own maintenance, after the deletion of the file.
func TestTheBytesOfAFormAreRemoved(t *testing.T) {
	stacktest.Everywhere(t)
	d := newDesk(t)
	made := d.send(201, []part{file("a.pdf", pdf)})
	d.Call(t, 204, http.MethodDelete, d.EventPath(d.path("/", made.ID())), nil)
	d.follow(404, made)
	keys := []table.Key{}
	for item, err := range d.Table(t).Between(t.Context(), upload.At(d.Org, d.Event).Partition(), "0", "~") {
		require.NoError(t, err)
		keys = append(keys, item.Key)
	}
	require.Len(t, keys, 1)
	it.EndUpload(t, d.Table(t), keys[0], 2*time.Hour)
	require.EqualValues(t, 1, entity(d.Operator(t, "maintain", object{"cursor": object{}})).At("purged.uploads"))
	_, err := d.Table(t).Get(t.Context(), keys[0])
	require.ErrorIs(t, err, table.ErrNotFound)
}

// TestWrongForms: each refusal names the property, and nothing is stored.
func TestWrongForms(t *testing.T) {
	d := newDesk(t, feature)
	of := func(name, value string) []part { return []part{file("a.pdf", pdf), text(name, value)} }
	named := func(filename string) []part { return []part{file(filename, pdf)} }
	for _, c := range []struct {
		field string
		parts []part
	}{
		{"file", nil}, {"file", []part{text("title", "A")}}, {"file", []part{text("file", pdf)}}, {"file", named("")},
		{"file", []part{file("a.pdf", pdf), file("b.pdf", pdf)}}, {"file", []part{file("a.pdf", "")}},
		{"file", named("../a.pdf")}, {"file", named(`C:\\slides\\a.pdf`)}, {"file", named("..")}, {"file", named("a.pdf.exe")}, {"file", named("a.HTML")},
		{"file", named(" a.pdf")}, {"file", named("a.pdf.")}, {"file", named("a\tb.pdf")}, {"file", named("a\u202efdp.exe")},
		{"file", named("a\xff.pdf")}, {"file", named(strings.Repeat("x", 252) + ".pdf")},
		{"file", []part{{`"file"; filename="a.pdf"`, "JVBERi0=", textproto.MIMEHeader{"Content-Transfer-Encoding": {"base64"}}}}},
		{"title", of("title", "")}, {"title", of("title", "  ")}, {"title", of("title", strings.Repeat("x", 256))}, {"title", of("title", "a\x00b")},
		{"title", of("title", "\xff")}, {"title", of("title", strings.Repeat("x", 5000))}, {"title", []part{text("title", "A"), text("title", "A"), file("a.pdf", pdf)}},
		{"title", []part{file("a.pdf", pdf), {`"title"`, "QQ==", textproto.MIMEHeader{"Content-Transfer-Encoding": {"BASE64"}}}}},
		{"assigned_participant_id", of("assigned_participant_id", "x")}, {"assigned_participant_id", of("assigned_participant_id", "")},
		{"assigned_participant_id", of("assigned_participant_id", it.UnknownID)},
		{"content_slot_id", of("content_slot_id", "x")}, {"content_slot_id", of("content_slot_id", it.UnknownID)}, {"content_slot_id", of("content_slot_id", "")},
	} {
		it.RequireInvalid(t, d.send(400, c.parts), c.field)
	}
	for _, key := range []string{"\xe9", strings.Repeat("x", 256)} {
		it.RequireInvalid(t, d.send(400, named("a.pdf"), "Idempotency-Key", key), "Idempotency-Key")
	}
	d.untouched()
}

// TestWrongBodiesOfForms: another media type, no boundary, and forms that are broken.
func TestWrongBodiesOfForms(t *testing.T) {
	d := newDesk(t)
	whole, contentType := form(t, text("title", "A"), file("a.pdf", pdf), text("unknown", "x"))
	send := func(status int, body, contentType string) entity {
		t.Helper()
		return d.Do(status, http.MethodPost, d.path("/upload"), body, "Content-Type", contentType)
	}
	for _, wrong := range []string{"", "application/json", "multipart/mixed; boundary=x", "application/x-www-form-urlencoded", "multipart/form-data; boundary=\"", "form-data"} {
		refusal := send(415, whole, wrong)
		it.RequireError(t, refusal, "UNSUPPORTED_MEDIA_TYPE", "")
		require.Contains(t, refusal["message"], "multipart/form-data")
	}
	it.RequireInvalid(t, send(400, whole, "multipart/form-data"), "Content-Type")
	it.RequireInvalid(t, send(400, whole, "multipart/form-data; boundary=\"\""), "Content-Type")
	it.RequireInvalid(t, send(400, whole, "multipart/form-data; boundary=another"), "file")
	for end := range len(whole) - 2 { // The line end after the last boundary may be missing.
		it.RequireInvalid(t, send(400, whole[:end], contentType), "file")
	}
	it.RequireInvalid(t, send(400, strings.Replace(whole, "\r\n\r\n", "\r\n", 1), contentType), "file")
	it.RequireError(t, send(413, strings.Replace(whole, "\r\nx\r\n", "\r\n"+strings.Repeat("x", 70_000)+"\r\n", 1), contentType), "PAYLOAD_TOO_LARGE", "")
	d.untouched()
	send(201, whole[:len(whole)-2], contentType)
	send(201, whole+"An epilogue.", contentType)
}

// TestFormsOfOtherSessions: unknown, foreign and deleted sessions are a 404.
func TestFormsOfOtherSessions(t *testing.T) {
	d := newDesk(t)
	elsewhere := &desk{d.InNewEvent(), d.session}
	deleted := d.NewSessions("Deleted")[0]
	d.Delete(200, deleted)
	for _, other := range []*desk{d.of(it.UnknownID), d.of(deleted), elsewhere} {
		require.Equal(t, "Session not found", other.send(404, []part{file("a.pdf", pdf)})["message"])
	}
	it.RequireInvalid(t, d.of("x").send(400, []part{file("a.pdf", pdf)}), "sessionId")
	reader := &desk{d.WithToken(d.NewToken(t, "read:sessions")), d.session}
	reader.send(403, []part{file("a.pdf", pdf)})
	(&desk{d.WithToken("x"), d.session}).send(401, []part{file("a.pdf", pdf)})
	d.untouched()
}

// TestSlotsOfForms: the rules are those of a create.
func TestSlotsOfForms(t *testing.T) {
	d := newDesk(t, feature)
	slot := d.newSlot("Slides", object{"allowed_file_types": []any{"application/pdf"}, "max_files": 2})
	archived, talks := d.newSlot("Archived"), d.newSlot("Talks", object{"format_ids": []any{d.NewEntry("formats", "Talk").ID()}})
	d.archive(archived.ID())
	for _, c := range []struct{ slot, filename, content, why string }{
		{archived.ID(), "a.pdf", pdf, "is archived"}, {talks.ID(), "a.pdf", pdf, "does not apply"}, {slot.ID(), "a.png", png, "does not take files of the type image/png"},
	} {
		refusal := d.send(400, []part{text("content_slot_id", c.slot), file(c.filename, c.content)})
		it.RequireInvalid(t, refusal, "content_slot_id")
		require.Contains(t, refusal["message"], c.why)
	}
	d.untouched()
	d.begin(pdf, object{"content_slot_id": slot.ID()})
	made, refused := make(chan struct{}, 8), make(chan struct{}, 8)
	body, contentType := form(t, file("a.pdf", pdf), text("content_slot_id", slot.ID()))
	it.Concurrently(8, func(client int) {
		to, sent := d.EventPath(d.path("/upload")), stacktest.WithHeaders(body, "Content-Type", contentType)
		if client%2 == 0 {
			to, sent = d.EventPath(d.path()), draft(pdf, object{"content_slot_id": slot.ID()})
		}
		switch answer := d.TrySend(t, http.MethodPost, to, sent); answer.Status {
		case http.StatusCreated:
			made <- struct{}{}
		case http.StatusBadRequest:
			refused <- struct{}{}
		}
	})
	require.Equal(t, []int{1, 7}, []int{len(made), len(refused)}, "open uploads count")
	it.EngineOf(t, d.Stack).RequireWhole(t)
}

// TestTooManyFilesOfForms: a session may have a hundred, with open uploads.
func TestTooManyFilesOfForms(t *testing.T) {
	d := newDesk(t)
	for range 100 {
		d.begin(pdf)
	}
	it.RequireError(t, d.send(409, []part{file("a.pdf", pdf)}), "LIMIT_REACHED", "")
	d.untouched()
}

// TestHostileForms: the bytes are inspected as those of a direct upload.
func TestHostileForms(t *testing.T) {
	d := newDesk(t)
	for name, c := range map[string]struct{ filename, text string }{
		"HTML as a picture": {"a.png", html}, "HTML as anything": {"a", html}, "a program": {"a.pdf", elf}, "a picture as a PDF": {"a.pdf", png},
		"text as a PDF": {"a.pdf", "Not a PDF."}, "a script": {"a.svg", drawing("<script>alert(1)</script>")}, "an SVG without a name": {"a", drawing("<script/>")},
		"an SVG too large": {"a.svg", drawing("<!--" + strings.Repeat("x", 2<<20) + "-->")},
	} {
		require.Equal(t, "file", d.send(400, []part{file(c.filename, c.text)}).At("details.field"), name)
	}
	d.untouched()
	for filename, kind := range map[string]string{"a.svg": "image/svg+xml", "a": "image/svg+xml", "a.txt": "text/plain"} {
		require.Equal(t, kind, d.send(201, []part{file(filename, drawing(`<rect width="3" height="3"/>`))})["mimetype"])
	}
}

// TestARepeatedForm makes one file. The same key with other properties or bytes is a 422.
func TestARepeatedForm(t *testing.T) {
	d := newDesk(t)
	send := func(status int, parts ...part) entity { return d.send(status, parts, "Idempotency-Key", "one") }
	it.RequireInvalid(t, send(400, file("a.pdf", pdf), text("content_slot_id", it.UnknownID)), "content_slot_id")
	it.Concurrently(6, func(int) { send(201, file("a.pdf", pdf), text("title", "A")) })
	made := send(201, text("title", "A"), text("unknown", "x"), file("a.pdf", pdf))
	require.Equal(t, []entity{made}, d.list())
	require.Len(t, d.StoredKeys(t, "files/"), 1, "the bytes of the other forms are dropped")
	for _, other := range [][]part{
		{file("a.pdf", pdf)}, {file("a.pdf", pdf), text("title", "B")}, {file("b.pdf", pdf), text("title", "A")}, {file("a.pdf", pdf+"\n"), text("title", "A")},
	} {
		it.RequireError(t, send(422, other...), "IDEMPOTENCY_KEY_REUSED", "")
	}
	require.Equal(t, []entity{made}, d.list())
	body, contentType := form(t, file("a.pdf", pdf), text("title", "A"))
	answer := d.Call(t, 201, http.MethodPost, d.EventPath(d.path("/upload")), stacktest.WithHeaders(body, "Content-Type", contentType, "Idempotency-Key", "one"))
	require.Equal(t, "true", answer.Header.Get("Idempotent-Replayed"))
	begun := entity(d.Do(200, http.MethodPost, d.path("/", made.ID(), "/replace"), draft(pdf, object{"filename": "b.pdf"})).At("data").(object))
	require.Equal(t, 200, put(t, begun, pdf))
	require.Equal(t, d.complete(200, made.ID()), send(201, file("a.pdf", pdf), text("title", "A")), "with other bytes since then")
	d.Call(t, 204, http.MethodDelete, d.EventPath(d.path("/", made.ID())), nil)
	send(404, file("a.pdf", pdf), text("title", "A"))
	it.EngineOf(t, d.Stack).RequireWhole(t)
}

// TestAFormAsAnEvent: a function takes the bytes in base64, and names the direct upload to a form over the
// limit.
func TestAFormAsAnEvent(t *testing.T) {
	d := newDesk(t)
	call := api.Proxy(sessionfiles.Group.Handler(d.Env(t)))
	send := func(content string) (int, string) {
		body, contentType := form(t, file("a.png", content))
		answer, err := call(context.WithoutCancel(t.Context()), events.APIGatewayProxyRequest{
			HTTPMethod: http.MethodPost, Path: d.EventPath(d.path("/upload")), Body: base64.StdEncoding.EncodeToString([]byte(body)), IsBase64Encoded: true,
			MultiValueHeaders: map[string][]string{"Content-Type": {contentType}, stacktest.TokenHeader: {d.Token}},
		})
		require.NoError(t, err)
		return answer.StatusCode, answer.Body
	}
	status, text := send(allBytes())
	require.Equal(t, 201, status, text)
	content, _ := d.download(d.list()[0])
	require.Equal(t, allBytes(), content)
	status, text = send(allBytes() + strings.Repeat("x", sessionfile.MaxForm))
	require.Equal(t, 413, status)
	require.Contains(t, text, "POST /v1/event/{eventId}/sessions/{sessionId}/files.")
}

// TestCurlSendsForms as the example of the reference does.
func TestCurlSendsForms(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not there") //nolint:forbidigo // not every machine has it
	}
	d := newDesk(t)
	path := filepath.Join(t.TempDir(), "Präsentation \"1\".pdf")
	require.NoError(t, os.WriteFile(path, []byte(pdf), 0o600))
	out, err := exec.CommandContext(t.Context(), curl, "-sS", "--fail-with-body", "-H", "x-access-token: "+d.Token, "-F", "title=Opening",
		"-F", `file=@"`+strings.ReplaceAll(path, `"`, `\"`)+`"`, d.URL+d.EventPath(d.path("/upload"))).CombinedOutput()
	require.NoError(t, err, "%s", out)
	made := d.list()[0]
	require.Equal(t, object{"title": "Opening", "mimetype": "application/pdf"}, it.Pick(made, "title", "mimetype"))
	require.Contains(t, made["filename"], "Präsentation")
}
