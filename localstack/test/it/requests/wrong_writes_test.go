package requests_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

func TestWrongValues(t *testing.T) {
	w := newTargets(t)
	date, number := w.NewField("Day", "date"), w.NewField("Count", "number")
	owned := w.NewConnectorField("Theirs")
	cases := []struct {
		values      any
		code, field string
	}{
		{object{"nothing": "x"}, "FIELD_NOT_FOUND", "nothing"}, {object{w.note: "y", "Note": "x"}, "FIELD_NOT_FOUND", "Note"},
		{object{"title": "x"}, "FIELD_NOT_FOUND", "title"}, {object{w.noteID: "x"}, "FIELD_NOT_FOUND", w.noteID},
		{object{owned: "x"}, "FIELD_READ_ONLY", owned}, {object{w.note: "y", owned: nil}, "FIELD_READ_ONLY", owned},
		{object{w.note: 1}, "TYPE_MISMATCH", w.note}, {object{w.note: true}, "TYPE_MISMATCH", w.note}, {object{w.note: object{}}, "TYPE_MISMATCH", w.note},
		{object{w.note: strings.Repeat("x", 256)}, validation, w.note}, {object{w.size: "L"}, "TYPE_MISMATCH", w.size},
		{object{w.size: []string{"S"}}, "TYPE_MISMATCH", w.size}, {object{date: "2027-13-01"}, "TYPE_MISMATCH", date},
		{object{date: "11/05/2027"}, "TYPE_MISMATCH", date}, {object{number: "1"}, "TYPE_MISMATCH", number},
		{object{number: []int{1}}, "TYPE_MISMATCH", number}, {[]any{}, validation, ""}, {"x", validation, ""}, {nil, validation, ""},
	}
	var all []mistake
	for _, c := range cases {
		for _, to := range []struct{ method, path, property string }{
			{"PUT", "/sessions/" + w.session + "/fields", "values"}, {"PUT", "/sessions/" + w.session + "/fields", "custom_fields"},
			{"PUT", "/sessions/" + w.session, "custom_fields"}, {"POST", "/sessions/create", "custom_fields"},
		} {
			field := c.field
			if field == "" {
				field = to.property
			}
			body := object{"title": "x", to.property: c.values}
			all = append(all, mistake{to.method, to.path, body, 400, c.code, field, nil})
		}
	}
	one := "/sessions/" + w.session + "/fields"
	all = append(all, bad("PUT", one, object{}, "values"), bad("PUT", one, object{w.note: "x"}, "values"),
		bad("PUT", one, object{"values": object{}, "updated_at": "x"}, "updated_at"),
		bad("PUT", one, object{"values": object{}, "custom_fields": object{}}, "custom_fields"),
		bad("PUT", one, object{"values": object{}, "updated_at": nil}, "updated_at"))
	w.makes(all)
}

func TestWrongBulks(t *testing.T) {
	w := newTargets(t)
	valid := it.Creating(object{"title": "x"})
	bodies := []wrongBody{
		{"operations", object{}}, {"operations", object{"operations": nil}}, {"operations", object{"operations": []any{}}},
		{"operations", object{"operations": valid}}, {"operations", object{"operations": "x"}},
		{"operations", object{"operations": slices.Repeat([]object{valid}, 101)}},
		{"operations[0].data.title", `{"operations":[{"action":"create","data":{"title":"a","title":"b"}}]}`},
		{"operations[0].data.title", `{"operations":[{"action":"create","data":{"title":"a\u0000"}}]}`},
	}
	all := eachOf("POST", "/sessions/bulk", bodies)
	all = append(all, bad("POST", "/sessions/bulk?expand=linked", object{"operations": []object{valid}}, "expand"),
		bad("POST", "/sessions/bulk", object{"operations": []object{valid}}, "Idempotency-Key", "Idempotency-Key", strings.Repeat("x", 256)))
	w.makes(all)
}

// TestWrongBulkEntries: a bulk of nothing but mistakes answers 200 and writes
// nothing either.
func TestWrongBulkEntries(t *testing.T) {
	w := newTargets(t)
	before := w.stock()
	var operations []object
	var fields []string
	for _, b := range w.properties() {
		if body, ok := b.body.(object); ok {
			operations = append(operations, it.Updating(w.session, body), it.Creating(it.Merged(object{"title": "x"}, body)))
			fields = append(fields, b.field, b.field)
		}
	}
	for part := range slices.Chunk(operations, 100) {
		o := w.Bulk(part...)
		for i := range part {
			o.Failed(t, i, validation, fields[0])
			fields = fields[1:]
		}
	}
	require.Empty(t, changed(before, w.stock()))
}

func TestWrongRecords(t *testing.T) {
	w := newTargets(t)
	other := w.otherSession
	one, sub := "/sessions/"+w.session, "/sessions/"+w.sub
	title := object{"title": "x"}
	conflict := func(method, path string, body any, code string, header ...string) mistake {
		return mistake{method, path, body, 409, code, "", header}
	}
	var all []mistake
	for _, id := range []string{w.nobody, w.gone, other, w.track} {
		at := "/sessions/" + id
		all = append(all, mistake{"GET", at, nil, 404, "", "", nil}, mistake{"PUT", at, title, 404, "", "", nil},
			mistake{"DELETE", at, nil, 404, "", "", nil}, mistake{"PUT", at + "/fields", object{"values": object{}}, 404, "", "", nil},
			bad("PUT", at, title, "If-Match", "If-Match", "x"), bad("DELETE", at, nil, "If-Match", "If-Match", "x"),
			bad("POST", at+"/restore", nil, "If-Match", "If-Match", "x"),
			// What is wrong in itself is said before it is known whether the record is there.
			bad("PUT", at, object{"starts_at": "2027-05-11T10:00:00Z", "ends_at": "2027-05-11T09:00:00Z"}, "ends_at"),
			bad("PUT", at, object{"title": ""}, "title"), bad("PUT", at, object{"track_id": w.nobody}, "track_id"),
			mistake{"PUT", at + "/fields", object{"values": object{"nothing": 1}}, 400, "FIELD_NOT_FOUND", "nothing", nil})
		if id != w.gone {
			all = append(all, mistake{"POST", at + "/restore", nil, 404, "", "", nil})
		}
	}
	all = append(all,
		bad("PUT", one, object{"is_abstract": true}, "is_abstract"), bad("PUT", one, object{"parent_session_id": w.sub}, "parent_session_id"),
		bad("PUT", sub, object{"parent_session_id": nil}, "parent_session_id"), bad("PUT", sub, object{"parent_session_id": w.nobody}, "parent_session_id"),
		bad("PUT", one, object{"updated_at": "x"}, "updated_at"), bad("PUT", one, object{"updated_at": nil}, "updated_at"),
		bad("PUT", one, object{"updated_at": 1747000000}, "updated_at"), bad("PUT", one, object{"updated_at": "2027-01-01T00:00:00"}, "updated_at"),
		conflict("PUT", one, object{"updated_at": "2020-01-01T00:00:00Z"}, "STALE_UPDATE"),
		bad("PUT", one, object{"updated_at": "2020-01-01T00:00:00Z", "is_abstract": true}, "is_abstract"),
		bad("PUT", one, object{"source": "admin"}, "source"), bad("POST", "/sessions/create", object{"title": "x", "source": "import"}, "source"),
		bad("PUT", one, object{"source": nil}, "source"),
		conflict("PUT", one, title, "STALE_UPDATE", "If-Match", `"99.x"`), conflict("DELETE", sub, nil, "STALE_UPDATE", "If-Match", `"99"`),
		bad("PUT", one, title, "If-Match", "If-Match", "2"), bad("PUT", one, title, "If-Match", "If-Match", `"2`),
		bad("DELETE", sub, nil, "If-Match", "If-Match", "version 2"), bad("POST", "/sessions/"+w.gone+"/restore", nil, "If-Match", "If-Match", `2"`),
		conflict("DELETE", one, nil, "HAS_SUBSESSIONS"),
		conflict("POST", "/sessions/create", object{"title": "x", "parent_session_id": w.gone}, "PARENT_DELETED"),
		mistake{"POST", "/sessions/" + w.session + "/restore", nil, 404, "", "", nil},
		mistake{"POST", "/sessions/create", object{"title": "x", "is_abstract": true}, 403, "FEATURE_NOT_ENABLED", "", nil},
		mistake{"POST", "/sessions/create", object{"title": "x", "translations": object{"de": object{"title": "y"}}}, 403, "FEATURE_NOT_ENABLED", "", nil},
		mistake{"PUT", one, object{"translations": object{"de": object{"title": "y"}}}, 403, "FEATURE_NOT_ENABLED", "", nil},
		bad("PUT", one+"?expand=linked_sources", title, "expand"), bad("POST", "/sessions/create?expand=x", title, "expand"),
		bad("DELETE", sub+"?expand=x", nil, "expand"), bad("POST", "/sessions/"+w.gone+"/restore?expand=x", nil, "expand"),
		bad("POST", "/sessions/create", title, "Idempotency-Key", "Idempotency-Key", strings.Repeat("k", 256)),
	)
	w.makes(all)
}

// ofTexts returns the mistakes in the bodies of transcriptions.
func ofTexts() []wrongBody {
	bodies := []wrongBody{
		{"", `{`}, {"", "[]"}, {"type", object{"type": "speech"}}, {"type", object{"type": nil}}, {"type", object{"type": 1}},
		{"transcription", object{"transcription": nil}}, {"transcription", object{"transcription": 1}},
		{"start_time", object{"start_time": -1}}, {"start_time", object{"start_time": "0"}}, {"end_time", object{"end_time": -1}}, {"end_time", object{"end_time": true}},
		{"speaker", object{"speaker": 1}}, {"is_partial", object{"is_partial": "true"}}, {"language_code", object{"language_code": "not a code"}},
		{"provider", object{"provider": []string{"x"}}}, {"source_transcription_id", object{"source_transcription_id": "x"}},
	}
	for i, b := range bodies {
		if body, ok := b.body.(object); ok {
			bodies[i].body = it.Merged(object{"type": "fragment", "transcription": "x"}, body)
		}
	}
	return bodies
}

// TestWrongTranscriptions: bodies, places and queries of transcriptions, of content and of documents.
func TestWrongTranscriptions(t *testing.T) {
	w := newTargets(t)
	session := "/sessions/" + w.session
	made := w.Do(201, "POST", session+"/transcriptions", it.SampleDraft("transcriptions")).At("data.id").(string)
	all := append(eachOf("POST", session+"/transcriptions", ofTexts()), eachOf("PUT", session+"/transcriptions/"+made, ofTexts())...)
	for _, path := range []string{"/transcriptions", session + "/transcriptions"} {
		for parameter, value := range map[string]string{"page": "0", "pageSize": "x", "type": "speech", "include_partial": "maybe"} {
			all = append(all, bad("GET", path+"?"+parameter+"="+value, nil, parameter))
		}
	}
	for path, field := range map[string]string{
		"/content?interval_sec=0": "interval_sec", "/content?expand=all": "expand", "/content?session_id=x": "session_id", "/content/event?expand=all": "expand",
		"/content/items/x": "id", "/content/items/summary_pdf": "session_id", session + "/content?provider=x": "provider", "/transcriptions/x": "id",
		"/content/documents/x": "documentType", "/content/documents/event_report?variant=x": "variant", "/content/documents/event_report?variant=": "variant",
		session + "/content/documents/event_report": "documentType", session + "/content/documents/%00": "documentType",
		"/sessions/x/content/documents/summary_pdf": "sessionId", "/sessions/x/content": "sessionId", "/sessions/x/transcriptions": "sessionId",
	} {
		all = append(all, bad("GET", path, nil, field))
	}
	for _, id := range []string{w.nobody, w.gone, w.otherSession} {
		for _, path := range []string{"/transcriptions", "/content", "/content/documents/summary_pdf", "/content/documents/summary_card"} {
			all = append(all, mistake{"GET", "/sessions/" + id + path, nil, 404, "", "", nil})
		}
		all = append(all, mistake{"POST", "/sessions/" + id + "/transcriptions", it.SampleDraft("transcriptions"), 404, "", "", nil},
			mistake{"PUT", "/sessions/" + id + "/transcriptions/" + made, object{"speaker": "x"}, 404, "", "", nil},
			mistake{"DELETE", "/sessions/" + id + "/transcriptions/" + made, nil, 404, "", "", nil})
	}
	for _, path := range []string{"/content/documents/event_report", session + "/content/documents/summary_pdf", session + "/transcriptions/" + w.nobody} {
		all = append(all, mistake{"GET", path, nil, 404, "", "", nil}, mistake{"GET", path, nil, 401, "", "", []string{"X-Access-Token", "x"}})
	}
	for _, path := range []string{"/content", "/content/documents/event_report", session + "/content/documents/summary_pdf"} {
		for _, method := range []string{"POST", "PUT", "DELETE", "PATCH"} {
			all = append(all, mistake{method, path, nil, 405, "", "", nil})
		}
	}
	w.makes(all)
}

// TestWrongSessionFiles: bodies, places, queries and methods of the files of sessions.
func TestWrongSessionFiles(t *testing.T) {
	w := newTargets(t)
	files, draft := "/sessions/"+w.session+"/files", it.SampleDraft("files")
	one := files + "/" + w.Do(201, "POST", files, draft).At("data.id").(string)
	bodies := []wrongBody{
		{"", `{`}, {"", "[]"}, {"filename", object{"filename": nil}}, {"filename", object{"filename": "a/b.pdf"}}, {"filename", object{"filename": 1}},
		{"size_bytes", object{"size_bytes": 0}}, {"size_bytes", object{"size_bytes": "1"}}, {"content_type", object{"content_type": "pdf"}},
		{"title", object{"title": 1}}, {"content_slot_id", object{"content_slot_id": "x"}}, {"assigned_participant_id", object{"assigned_participant_id": "x"}},
	}
	for i, b := range bodies {
		if body, ok := b.body.(object); ok {
			bodies[i].body = it.Merged(draft, body)
		}
	}
	all := append(eachOf("POST", files, bodies), eachOf("POST", one+"/replace", bodies)...)
	for _, body := range []object{{"title": nil}, {"title": " "}, {"assigned_participant_id": "x"}, {"updated_at": "x"}} {
		for field := range body {
			all = append(all, bad("PUT", one, body, field))
		}
	}
	all = append(all, bad("GET", files+"?type=", nil, "type"), bad("GET", "/sessions/x/files", nil, "sessionId"), bad("PUT", files+"/x", object{}, "fileId"),
		bad("POST", files+"/x/complete", nil, "fileId"), bad("POST", files+"/x/replace", draft, "fileId"), bad("DELETE", files+"/x", nil, "fileId"),
		bad("GET", "/content-slots?session_id=x", nil, "session_id"), bad("POST", one+"/complete", nil, ""),
		mistake{"GET", files, nil, 401, "", "", []string{"X-Access-Token", "x"}},
		mistake{"POST", files + "/upload", draft, 415, "UNSUPPORTED_MEDIA_TYPE", "", nil}, bad("POST", "/sessions/x/files/upload", it.SampleForm(), "sessionId"))
	for _, id := range []string{w.nobody, w.gone, w.otherSession} {
		elsewhere := "/sessions/" + id + strings.TrimPrefix(one, "/sessions/"+w.session)
		all = append(all, mistake{"POST", "/sessions/" + id + "/files/upload", it.SampleForm(), 404, "", "", nil},
			mistake{"GET", "/sessions/" + id + "/files", nil, 404, "", "", nil}, mistake{"POST", "/sessions/" + id + "/files", draft, 404, "", "", nil},
			mistake{"POST", elsewhere + "/complete", nil, 404, "", "", nil}, mistake{"POST", elsewhere + "/replace", draft, 404, "", "", nil},
			mistake{"PUT", elsewhere, object{}, 404, "", "", nil}, mistake{"DELETE", elsewhere, nil, 404, "", "", nil})
	}
	for path, methods := range map[string][]string{
		files: {"PUT", "DELETE", "PATCH"}, one: {"GET", "POST", "PATCH"}, one + "/complete": {"GET", "PUT"}, one + "/replace": {"GET", "DELETE"},
		files + "/upload": {"GET", "PUT", "DELETE"},
	} {
		for _, method := range methods {
			all = append(all, mistake{method, path, nil, 405, "", "", nil})
		}
	}
	w.makes(all)
}
