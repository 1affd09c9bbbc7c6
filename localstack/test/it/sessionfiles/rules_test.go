package sessionfiles_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

// TestWrongFiles: each refusal of a create and of a replacement names the field, and begins nothing.
func TestWrongFiles(t *testing.T) {
	d := newDesk(t)
	file := d.add(pdf)
	for _, c := range []struct {
		field string
		body  object
	}{
		{"filename", object{"filename": nil}}, {"filename", object{"filename": ""}}, {"filename", object{"filename": strings.Repeat("x", 256)}},
		{"filename", object{"filename": "../slides.pdf"}}, {"filename", object{"filename": `C:\slides.pdf`}}, {"filename", object{"filename": ".."}},
		{"filename", object{"filename": "a\nb.pdf"}}, {"filename", object{"filename": "slides\u202efdp.exe"}}, {"filename", object{"filename": " a.pdf"}},
		{"filename", object{"filename": "a.pdf."}}, {"filename", object{"filename": "a.pdf "}}, {"filename", object{"filename": "slides.pdf.exe"}},
		{"filename", object{"filename": "slides.HTML"}}, {"filename", object{"filename": "a.js"}}, {"filename", object{"filename": ".sh"}},
		{"size_bytes", object{"size_bytes": 0}}, {"size_bytes", object{"size_bytes": -1}}, {"size_bytes", object{"size_bytes": 524288001}},
		{"size_bytes", object{"filename": "a.svg", "size_bytes": 2<<20 + 1}}, {"size_bytes", object{"content_type": "image/svg+xml", "size_bytes": 1 << 28}},
		{"size_bytes", object{"size_bytes": nil}}, {"size_bytes", object{"size_bytes": "1"}}, {"size_bytes", object{"size_bytes": 1.5}},
		{"content_type", object{"content_type": nil}}, {"content_type", object{"content_type": "pdf"}}, {"content_type", object{"content_type": "text/html"}},
		{"content_type", object{"content_type": "Text/HTML; charset=utf-8"}}, {"content_type", object{"content_type": "a/b\nc"}},
		{"content_type", object{"filename": "a.svg", "content_type": "text/plain"}}, {"mimetype", object{"filename": "a.SVG", "mimetype": "application/octet-stream"}},
		{"mimetype", object{"mimetype": "application/x-sh"}}, {"mimetype", object{"mimetype": "image/png", "content_type": "image/jpeg"}},
		{"title", object{"title": nil}}, {"title", object{"title": " "}}, {"title", object{"title": strings.Repeat("x", 256)}},
		{"assigned_participant_id", object{"assigned_participant_id": "x"}}, {"assigned_participant_id", object{"assigned_participant_id": it.UnknownID}},
		{"content_slot_id", object{"content_slot_id": "x"}}, {"content_slot_id", object{"content_slot_id": it.UnknownID}},
	} {
		for _, path := range []string{d.path(), d.path("/", file.ID(), "/replace")} {
			it.RequireInvalid(t, d.Do(400, http.MethodPost, path, draft(pdf, c.body)), c.field)
		}
	}
	for _, field := range []string{"filename", "size_bytes"} {
		body := draft(pdf)
		delete(body, field)
		it.RequireInvalid(t, d.Do(400, http.MethodPost, d.path(), body), field)
	}
	for _, body := range []object{{"title": nil}, {"title": ""}, {"assigned_participant_id": it.UnknownID}, {"updated_at": nil}} {
		d.Do(400, http.MethodPut, d.path("/", file.ID()), body)
	}
	require.Equal(t, []entity{file}, d.list())
	require.Equal(t, []string{"Slides.PDF", "image/png", "text/csv"}, []string{
		d.begin(pdf, object{"filename": "Slides.PDF"}).Text("title"), d.begin(pdf, object{"mimetype": "IMAGE/png"}).Text("mimetype"),
		d.begin(pdf, object{"filename": "a.csv", "content_type": "text/csv; charset=utf-8"}).Text("mimetype"),
	})
	require.Equal(t, "application/octet-stream", d.begin(pdf, object{"filename": "notes"}).Text("mimetype"))
}

// TestFilesInSlots: a slot must be active, apply to the session, take the type and have room.
func TestFilesInSlots(t *testing.T) {
	d := newDesk(t, feature)
	const field = "content_slot_id"
	format := d.NewEntry("formats", "Talk").ID()
	slot := d.newSlot("Slides", object{"allowed_file_types": []any{"application/pdf", "image/*"}, "max_files": 2})
	talks, archived := d.newSlot("Talks", object{"format_ids": []any{format}}), d.newSlot("Archived")
	d.archive(archived.ID())
	other := &desk{d.InNewEvent(feature), ""}
	refuse := func(path, slot, why string, more ...object) {
		t.Helper()
		answer := d.Do(400, http.MethodPost, path, draft(pdf, append([]object{{field: slot}}, more...)...))
		it.RequireInvalid(t, answer, field)
		require.Contains(t, answer["message"], why)
	}
	refuse(d.path(), archived.ID(), `"Archived" is archived`)
	refuse(d.path(), talks.ID(), `"Talks" does not apply`)
	refuse(d.path(), other.newSlot("Foreign").ID(), "no such upload slot")
	refuse(d.path(), slot.ID(), `"Slides" does not take files of the type text/plain`, object{"filename": "a.txt"})
	refuse(d.path(), slot.ID(), "does not take files of the type application/octet-stream", object{"filename": "notes"})

	in := object{field: slot.ID()}
	file := d.add(pdf, in)
	require.Equal(t, object{field: slot.ID(), "type": "presentation", "label": "Presentation"}, it.Pick(file, field, "type", "label"))
	pending := d.begin(pdf, in, object{"content_type": "image/png"})
	refuse(d.path(), slot.ID(), `"Slides" takes at most 2 files`)
	require.Empty(t, d.Call(t, 204, http.MethodDelete, d.EventPath(d.path("/", pending.ID())), nil).Body, "the upload ends")
	second := d.add(pdf, in)
	refuse(d.path(), slot.ID(), "takes at most 2 files")
	plain := d.add(pdf)
	refuse(d.path("/", plain.ID(), "/replace"), slot.ID(), "takes at most 2 files")

	replace := d.path("/", second.ID(), "/replace")
	refuse(replace, slot.ID(), "does not take files", object{"filename": "a.txt"})
	it.RequireInvalid(t, d.Do(400, http.MethodPost, replace, draft(pdf, object{"filename": "a.txt"})), field)
	d.Do(200, http.MethodPost, replace, draft(pdf, in))
	d.archive(slot.ID())
	d.Do(200, http.MethodPost, replace, draft(pdf))
	moved := entity(d.Do(200, http.MethodPost, replace, draft(pdf, object{field: nil})).At("data").(object))
	require.Equal(t, object{field: nil, "type": "other"}, it.Pick(moved, field, "type"))
	require.Equal(t, 200, put(t, moved, pdf))
	require.Nil(t, d.complete(200, second.ID())[field])
	require.Equal(t, slot.ID(), d.list()[0].Text(field))

	d.SetFeature(feature, false)
	refuse(d.path(), slot.ID(), "no such upload slot")
	d.add(pdf)
	for _, listed := range d.list() {
		require.Nil(t, listed[field], "the event uses no slots")
	}
	d.SetFeature(feature, true)
	require.Equal(t, slot.ID(), d.list()[0].Text(field))
}

// TestSimultaneousUploads: a slot has room for so many, also under sixteen at a time.
func TestSimultaneousUploads(t *testing.T) {
	d := newDesk(t, feature)
	slot := d.newSlot("Slides", object{"max_files": 5})
	var begun, refused atomic.Int32
	it.Concurrently(16, func(int) {
		answer, err := d.Send(t, http.MethodPost, d.EventPath(d.path()), draft(pdf, object{"content_slot_id": slot.ID()}))
		if err == nil && answer.Status == http.StatusCreated {
			begun.Add(1)
		} else if err == nil && answer.Status == http.StatusBadRequest {
			refused.Add(1)
		}
	})
	require.Equal(t, []int32{5, 11}, []int32{begun.Load(), refused.Load()})
	it.EngineOf(t, d.Stack).RequireWhole(t)
}

// TestSimultaneousCompletes make a file visible once.
func TestSimultaneousCompletes(t *testing.T) {
	d := newDesk(t)
	begun := d.begin(pdf)
	require.Equal(t, 200, put(t, begun, pdf))
	before := len(it.ChangesOf(t, d.Stack))
	it.Concurrently(8, func(int) { d.complete(200, begun.ID()) })
	require.Len(t, d.list(), 1)
	require.Len(t, it.ChangesOf(t, d.Stack), before+2, "of the session and of the bytes")
}

// TestTooManyFiles: a session may have a hundred, uploads too.
func TestTooManyFiles(t *testing.T) {
	d := newDesk(t)
	first := d.add(pdf)
	for range 99 {
		d.begin(pdf)
	}
	refusal := d.Do(409, http.MethodPost, d.path(), draft(pdf))
	it.RequireError(t, refusal, "LIMIT_REACHED", "")
	require.Equal(t, "files", refusal.At("details.limit"))
	d.Do(200, http.MethodPost, d.path("/", first.ID(), "/replace"), draft(pdf))
	d.Call(t, 204, http.MethodDelete, d.EventPath(d.path("/", first.ID())), nil)
	d.begin(pdf)
}

// TestALaterReplacementWins: the bytes of an earlier one are not completed.
func TestALaterReplacementWins(t *testing.T) {
	d := newDesk(t)
	file := d.add(pdf)
	replace := func(name string) entity {
		return d.Do(200, http.MethodPost, d.path("/", file.ID(), "/replace"), draft(pdf, object{"filename": name})).At("data").(object)
	}
	first, second := replace("first.pdf"), replace("second.pdf")
	require.Equal(t, 200, put(t, first, pdf))
	d.complete(400, file.ID())
	require.Equal(t, 200, put(t, second, pdf))
	require.Equal(t, "second.pdf", d.complete(200, file.ID()).Text("filename"))
	require.Equal(t, "second.pdf", d.list()[0].Text("title"), "a title by default goes with the name")
}

// TestAnUpdateDuringAReplacement stays: complete changes what the client sent with the bytes.
func TestAnUpdateDuringAReplacement(t *testing.T) {
	d := newDesk(t)
	file := d.add(pdf)
	path := d.path("/", file.ID())
	finish := func(more ...object) entity {
		begun := entity(d.Do(200, http.MethodPost, path+"/replace", draft(pdf, append(more, object{"filename": "new.pdf"})...)).At("data").(object))
		d.Do(200, http.MethodPut, path, object{"title": "Opening"})
		require.Equal(t, 200, put(t, begun, pdf))
		return d.complete(200, file.ID())
	}
	require.Equal(t, object{"title": "Opening", "filename": "new.pdf"}, it.Pick(finish(), "title", "filename"))
	require.Equal(t, "Closing", finish(object{"title": "Closing"}).Text("title"))
	begun := entity(d.Do(200, http.MethodPost, path+"/replace", draft(pdf)).At("data").(object))
	require.Equal(t, 200, put(t, begun, pdf))
	d.Call(t, 204, http.MethodDelete, d.EventPath(path), nil)
	d.complete(404, file.ID())
	it.EngineOf(t, d.Stack).RequireWhole(t)
}
